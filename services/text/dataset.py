"""Words of the room `dataset`: key -> (English, Chinese)."""

WORDS: dict[str, tuple[str, str]] = {
    "summary": ("{usable} of {rows} rows can be trained on.", "{rows} 行中有 {usable} 行可用于训练。"),
    "verdict.ok": ("Ready to train", "可以训练"),
    "verdict.ok-with-warnings": ("Can be trained on, with remarks", "可以训练，但有需要注意的地方"),
    "verdict.blocked": ("Cannot be trained on as it is", "目前无法用于训练"),
    "level.blocked": ("Stops training", "阻止训练"),
    "level.warning": ("Worth a look", "请注意"),
    "level.info": ("Good to know", "供参考"),
    "source": ("Data set", "数据集"),
    "source_info": (
        "The sample, a file of yours (its path), or a hub id (hf::… for Hugging Face)",
        "示例数据、您的文件（填写路径）或数据集 ID（Hugging Face 请写 hf::…）",
    ),
    "upload": ("Upload a .jsonl, .json, .csv or .parquet file", "上传 .jsonl、.json、.csv 或 .parquet 文件"),
    "check": ("Check", "检查"),
    "cancel": ("Stop checking", "停止检查"),
    "use": ("Use for training", "用于训练"),
    "checking": ("Reading the file · {percent} %", "正在读取文件 · {percent} %"),
    "empty": (
        "The first rows will be here as conversations. Choose a data set or upload a file.",
        "前几行会以对话的形式显示在这里。请选择数据集或上传文件。",
    ),
    "hub": (
        "{id} is a data set of a hub: it is downloaded when training starts, so its rows cannot be shown or checked "
        "before. To see them first, download a file of it and choose that.",
        "{id} 是模型中心上的数据集：训练开始时才会下载，因此无法事先显示或检查。如需先查看，请下载其中的文件后选择它。",
    ),
    "after_fix": (
        "Rows that can be trained on once this is mended: {after_fix}.",
        "修正之后，有 {after_fix} 行可用于训练。",
    ),
    "mapping": ("Read as: {mapping}", "读取方式：{mapping}"),
    "row": ("Row {row}", "第 {row} 行"),
    "raw": ("as it stands in the file", "文件中的原样"),
    "more": ("Show all", "显示全部"),
    "less": ("Show less", "收起"),
    "more_turns": ("… and {count} more turns", "……还有 {count} 轮"),
    "no_text": ("(empty)", "（空）"),
    "preview": ("First rows", "前几行"),
    "role.messages": ("conversation", "对话"),
    "role.text": ("text", "文本"),
    "role.system": ("System", "系统"),
    "role.user": ("User", "用户"),
    "role.assistant": ("Assistant", "助手"),
    "role.tool": ("Tool result", "工具结果"),
    "role.tool_call": ("Tool call", "工具调用"),
    "finding.file_ending": (
        "ms-swift chooses its reader by the file's ending and has none for .{ending}. Save or unpack the "
        "data as .jsonl, .json, .csv, .parquet or .txt (lower case) and choose that file.",
        "ms-swift 按文件扩展名选择读取方式，而 .{ending} 没有对应的方式。请将数据另存或解压为 .jsonl、.json、.csv、.parquet 或 .txt（小写）后再选择。",
    ),
    "finding.file_no_ending": (
        "The file's name has no ending, and ms-swift chooses its reader by it. Rename the file so that "
        "it ends in .jsonl, .json, .csv, .parquet or .txt.",
        "文件名没有扩展名，而 ms-swift 靠扩展名选择读取方式。请重命名，使其以 .jsonl、.json、.csv、.parquet 或 .txt 结尾。",
    ),
    "finding.file_empty": (
        "The file is empty: there is nothing to train on. Most often a download or an export did not "
        "finish; fetch the file again.",
        "文件是空的，没有可训练的内容。多半是下载或导出没有完成，请重新获取该文件。",
    ),
    "finding.file_is_page": (
        "This is a web page (HTML), not data; its title is “{title}”. The download most likely needs a "
        "login or accepted terms: download the file again in your browser, or with your token.",
        "这是一个网页（HTML），不是数据；网页标题为“{title}”。下载多半需要登录或先同意条款：请在浏览器中或带上令牌重新下载。",
    ),
    "finding.file_is_pointer": (
        "This is a Git LFS pointer, a small note in place of the real file. Fetch the data itself (git "
        "lfs pull, or download the file from the web site).",
        "这是 Git LFS 指针，只是真实文件的占位说明。请取得数据本身（git lfs pull，或从网站下载该文件）。",
    ),
    "finding.file_is_binary": (
        "Under this ending lies an archive, an Excel or a Parquet file, not text. Unpack it, or save it "
        "as CSV or JSON lines, or give it its right ending (.parquet).",
        "这个扩展名下的内容其实是压缩包、Excel 或 Parquet 文件，而不是文本。请解压，或另存为 CSV、JSON Lines，或改回正确的扩展名（.parquet）。",
    ),
    "finding.not_utf8": (
        "The file is not UTF-8 (line {line}); it reads cleanly as {encoding}: {sample} ms-swift reads "
        "UTF-8 only and would stop. Save the file as UTF-8 and choose it again.",
        "文件不是 UTF-8 编码（第 {line} 行），按 {encoding} 可以正常读取：{sample} ms-swift 只读 UTF-8，会因此中止。请将文件另存为 UTF-8 后重新"
        "选择。",
    ),
    "finding.not_utf8_unknown": (
        "The file is not UTF-8: line {line} holds the byte {byte}. ms-swift would stop there. Save the "
        "file as UTF-8 in the program it came from and choose it again.",
        "文件不是 UTF-8 编码：第 {line} 行含有字节 {byte}，ms-swift 会在此中止。请在原来的程序中将文件另存为 UTF-8 后重新选择。",
    ),
    "finding.parquet_broken": (
        "The Parquet file cannot be read ({reason}). It is damaged or was cut off: download or write it "
        "again.",
        "无法读取该 Parquet 文件（{reason}）。文件已损坏或不完整，请重新下载或导出。",
    ),
    "finding.json_array_start": (
        "The list does not start with the very first byte: a byte-order mark, blanks or empty lines come "
        "before the “[”, and ms-swift stops at that. Delete what stands before it (save as UTF-8 without "
        "BOM).",
        "列表没有从文件的第一个字节开始：“[”之前有 BOM、空格或空行，ms-swift 会因此中止。请删除它前面的内容（保存为不带 BOM 的 UTF-8）。",
    ),
    "finding.json_broken": (
        "Not JSON in {count} place(s), first in line {line}: {text} ({reason}). One broken line makes "
        "ms-swift refuse the whole file: mend or delete it (lines: {lines}).",
        "有 {count} 处不是有效的 JSON，首先是第 {line} 行：{text}（{reason}）。只要有一行损坏，ms-swift 就会拒绝整个文件：请修正或删除这些行（行号："
        "{lines}）。",
    ),
    "finding.json_cut": (
        "The file is cut off in line {line}, its last one: {text} The download or export did not finish, "
        "and ms-swift refuses the whole file. Fetch it again, or delete that line.",
        "文件在最后一行（第 {line} 行）被截断：{text} 下载或导出没有完成，ms-swift 会拒绝整个文件。请重新获取，或删除这一行。",
    ),
    "finding.json_no_object": (
        "{count} entries are not objects with named fields, first in line {line}: {text} ms-swift stops "
        "at that. Write every row as {{\"messages\": […]}} or {{\"query\": …, \"response\": …}} (lines: "
        "{lines}).",
        "有 {count} 条不是带字段名的对象，首先是第 {line} 行：{text} ms-swift 会因此中止。请把每一行写成 {{\"messages\": […]}} 或 "
        "{{\"query\": …, \"response\": …}}（行号：{lines}）。",
    ),
    "finding.csv_delimiter": (
        "The fields are separated by “{delimiter}”, and ms-swift reads only commas. Save the table with "
        "commas, or as JSON lines.",
        "字段以“{delimiter}”分隔，而 ms-swift 只认逗号。请改用逗号保存该表格，或另存为 JSON Lines。",
    ),
    "finding.csv_shifted": (
        "The rows have {found} fields, the header has {wanted} (line {line}: {text}). ms-swift would "
        "silently shift the columns and train on the wrong ones. Delete the extra comma at the line "
        "ends, or name the extra column in the header.",
        "数据行有 {found} 个字段，而表头只有 {wanted} 个（第 {line} 行：{text}）。ms-swift 会不声不响地让各列错位，训练到错误的列。请删除行尾多余的逗号，或在表"
        "头中补上列名。",
    ),
    "finding.csv_long": (
        "Line {line} has {found} fields, the header has {wanted}: {text} ms-swift then refuses the whole "
        "file. Put text that holds a comma in double quotes ({count} such line(s): {lines}).",
        "第 {line} 行有 {found} 个字段，而表头有 {wanted} 个：{text} ms-swift 会因此拒绝整个文件。请给含有逗号的文字加上双引号（共 {count} 行："
        "{lines}）。",
    ),
    "finding.csv_short": (
        "Line {line} has {found} field(s), the header has {wanted}: {text} ms-swift fills the rest with "
        "empty text. Complete or delete such lines ({count}: {lines}).",
        "第 {line} 行只有 {found} 个字段，而表头有 {wanted} 个：{text} ms-swift 会用空文字补足。请补全或删除这样的行（共 {count} 行：{lines}）。",
    ),
    "finding.csv_quote_open": (
        "A double quote that opens in line {line} is never closed, so the rest of the file is one field: "
        "{reason} Close it, or double a quote that is meant as text.",
        "第 {line} 行开始的双引号始终没有闭合，文件余下部分都成了一个字段：{reason} 请补上右引号；若引号本身是文字，请写成两个引号。",
    ),
    "finding.no_rows": (
        "The file holds a header or blanks, but not a single row. Export the data again.",
        "文件只有表头或空白，一行数据也没有。请重新导出数据。",
    ),
    "finding.nothing_usable": (
        "Nothing would be learnt from any of the {total} rows; ms-swift would stop or train on nothing. "
        "The remarks below say what is wrong with them.",
        "全部 {total} 行都学不到任何东西，ms-swift 会中止或空转。具体原因见下面的说明。",
    ),
    "finding.partial": ("Only the first {count} rows were looked at.", "只检查了前 {count} 行。"),
    "finding.columns_unknown": (
        "ms-swift knows none of these columns: {columns}. Rename them to query and response (or "
        "messages), or add the argument columns with your own mapping.",
        "这些列 ms-swift 都不认识：{columns}。请将它们改名为 query 和 response（或 messages），或用 columns 参数给出对应关系。",
    ),
    "finding.columns_twice": (
        "Two columns differ only in upper and lower case ({columns}); ms-swift stops when it renames one "
        "to the other. Rename or delete one of them.",
        "有两列仅大小写不同（{columns}），ms-swift 改名时会冲突并中止。请重命名或删除其中一列。",
    ),
    "finding.columns_clash": (
        "Several columns stand for the same thing ({clashing}); ms-swift then uses none of them and "
        "trains on nothing, without a warning. Keep one, or say which with the argument columns, for "
        "example {{\"answer\": \"response\"}}.",
        "有多列表示同一内容（{clashing}），这时 ms-swift 一列也不用，会毫无提示地空转。请只保留一列，或用 columns 参数指明，例如 {{\"answer\": "
        "\"response\"}}。",
    ),
    "finding.no_question_column": (
        "There is text to learn in the column {answer}, but no column with questions (all columns: "
        "{columns}). As it is, the model would learn answers to an empty question. Train it as "
        "pretraining (pt), or name the question column query.",
        "{answer} 列有可学习的文字，但没有问题列（所有列：{columns}）。照此训练，模型学到的是对空问题的回答。请改用预训练（pt），或将问题所在的列命名为 query。",
    ),
    "finding.no_answer_column": (
        "No column holds answers (columns: {columns}). Name the one that does response, or answer, "
        "output or completion.",
        "没有回答列（现有列：{columns}）。请将回答所在的列命名为 response，或 answer、output、completion。",
    ),
    "finding.rows_nested": (
        "The whole file is one object, and its rows lie inside the field {column}. Save that list alone "
        "as .json, or one row a line as .jsonl.",
        "整个文件是一个对象，数据行都在字段 {column} 里面。请只把这个列表另存为 .json，或每行一条存为 .jsonl。",
    ),
    "finding.preference_set": (
        "This is a preference set ({columns}): pairs of a chosen and a rejected answer, made for DPO, "
        "not for supervised training. Training on it as it is would learn nothing. To learn the chosen "
        "answers only, rename chosen to response.",
        "这是偏好数据集（{columns}）：每行是一对“选中”和“拒绝”的回答，用于 DPO，而不是监督训练。照此训练什么也学不到。如果只想学习选中的回答，请把 chosen 改名为 "
        "response。",
    ),
    "finding.columns_spelling": (
        "Column names are mended by a setting (columns): {pairs}. Nothing to do.",
        "列名已通过设置（columns）更正：{pairs}。无需操作。",
    ),
    "finding.columns_translated": (
        "ms-swift does not know these column names; they are taken as {pairs} by a setting (columns). "
        "Look at the preview to see whether that is right.",
        "ms-swift 不认识这些列名，已通过设置（columns）理解为：{pairs}。请查看预览，确认是否正确。",
    ),
    "finding.columns_chosen": (
        "Several columns could be the question or the answer; taken are {pairs} (setting columns), left "
        "out are {ignored}. Look at the preview; rename the columns if you meant others.",
        "有多列都可能是问题或回答；已通过设置（columns）选用 {pairs}，未使用 {ignored}。请查看预览；如果想用别的列，请重命名。",
    ),
    "finding.columns_unused": ("Not used for training: {columns}.", "训练时不使用的列：{columns}。"),
    "finding.cells_number": (
        "All cells of {columns} are numbers; ms-swift needs text there and would drop every row. Save "
        "the file as .jsonl with these values in quotes (\"43\"); quotes in a CSV file do not help.",
        "{columns} 列的内容全是数字（number），而 ms-swift 需要文字，会丢弃每一行。请另存为 .jsonl，并给这些值加引号（\"43\"）；在 CSV 里加引号没有用。",
    ),
    "finding.cells_bool": (
        "All cells of {columns} are true or false; ms-swift needs text there and would drop every row. "
        "Save the file as .jsonl with these values in quotes.",
        "{columns} 列的内容全是 true 或 false，而 ms-swift 需要文字，会丢弃每一行。请另存为 .jsonl，并给这些值加引号。",
    ),
    "finding.cells_date": (
        "All texts of {columns} look like dates, so the reader turns them into dates and ms-swift drops "
        "every row. Write at least one of them out in words, or save the file as .csv.",
        "{columns} 列的文字都像日期，读取时会被转成日期类型，ms-swift 会丢弃每一行。请至少把其中一个写成文字，或另存为 .csv。",
    ),
    "finding.late_column": (
        "In a large file the columns are fixed by the first 10 MB, and {count} later row(s) bring new "
        "ones ({words}); ms-swift stops there. Rows {rows}: delete that field, or put one such row at "
        "the beginning.",
        "大文件的列由开头的 10 MB 决定，而后面有 {count} 行带来了新的列（{words}），ms-swift 会在此中止。请删除这些行（{rows}）中的该字段，或把其中一行移到文件开头。",
    ),
    "finding.late_key": (
        "In a large file the fields inside a column are fixed by the first 10 MB, and {count} later "
        "row(s) bring new ones in {words}; ms-swift stops there. Rows {rows}: delete that field, or put "
        "one such row at the beginning.",
        "大文件中列内部的字段由开头的 10 MB 决定，而后面有 {count} 行在 {words} 中带来了新字段，ms-swift 会在此中止。请删除这些行（{rows}）中的该字段，或把其中一"
        "行移到文件开头。",
    ),
    "finding.late_type": (
        "The beginning of the file fixes what kind of value a column holds, and {count} later row(s) "
        "have another kind in {words}; ms-swift stops there. Rows {rows}: write these values like the "
        "first ones, or move one such row to the beginning.",
        "文件开头决定了每列的数据类型，而后面有 {count} 行在 {words} 中类型不同，ms-swift 会在此中止。请把这些行（{rows}）的值改得与开头一致，或把其中一行移到文件开头。",
    ),
    "finding.tools_used": (
        "Rows with tools: they need an agent template. ms-swift takes the model's own; if the model has "
        "none, choose one in the settings (agent_template, for example hermes), else these rows are "
        "dropped.",
        "含有工具（tools）的行需要智能体模板（agent template）。ms-swift 会使用模型自带的；如果模型没有，请在设置中选择（agent_template，例如 hermes），"
        "否则这些行会被丢弃。",
    ),
    "finding.media_used": (
        "The rows come with {media}: a text-only model sees only a placeholder and learns without them, "
        "so choose a model that can see or hear. Relative paths are looked up in the run's folder: write "
        "absolute paths, or set ROOT_IMAGE_DIR to the folder of the file.",
        "数据带有 {media}：纯文本模型只会看到占位符，学不到其中的内容，请选择多模态模型。相对路径从运行文件夹开始查找：请写绝对路径，或将 ROOT_IMAGE_DIR 设为数据文件所在的文件夹。",
    ),
    "finding.preference_ignored": (
        "Rejected answers are in the file; supervised training leaves them aside and learns the "
        "conversations only.",
        "文件中含有“拒绝”的回答；监督训练会忽略它们，只学习对话本身。",
    ),
    "finding.label_ignored": (
        "The column label marks good and bad answers; supervised training does not look at it and learns "
        "the bad ones too. Delete the rows with label false first, or keep the set for KTO.",
        "label 列标记了回答的好坏；监督训练不看它，坏的回答也会照学。请先删除 label 为 false 的行，或把数据留给 KTO 使用。",
    ),
    "finding.row_no_turns": (
        "Nothing in the conversation of {count} of {total} rows (rows {rows}); ms-swift drops them "
        "without a word. Delete them or fill them in.",
        "{total} 行中有 {count} 行的对话是空的（行 {rows}），ms-swift 会直接丢弃。请删除或补全。",
    ),
    "finding.row_other_format": (
        "Several formats in one file: ms-swift takes the whole file as {format} and drops the other "
        "{count} of {total} rows without a word: {words} (rows {rows}). Write all rows in one format, "
        "best messages.",
        "一个文件里混有多种格式：ms-swift 把整个文件当作 {format}，会不声不响地丢弃其余 {count} 行（共 {total} 行）：{words}（行 {rows}）。请统一成一种"
        "格式，最好是 messages。",
    ),
    "finding.row_null_content": (
        "Text missing (null) in {count} of {total} rows (rows {rows}); ms-swift drops them. Fill it in "
        "or delete the rows.",
        "{total} 行中有 {count} 行缺少文字（null）（行 {rows}），ms-swift 会丢弃它们。请补全或删除。",
    ),
    "finding.row_unknown_role": (
        "Unknown role in {count} of {total} rows (rows {rows}): {words}; ms-swift drops them. Roles are "
        "system, user, assistant and tool, in lower case.",
        "{total} 行中有 {count} 行含有未知角色（行 {rows}）：{words}，ms-swift 会丢弃它们。角色只能是小写的 system、user、assistant、tool。",
    ),
    "finding.row_no_role": (
        "A turn without a role in {count} of {total} rows (rows {rows}); ms-swift drops them. Give every "
        "turn a role.",
        "{total} 行中有 {count} 行的某个轮次没有角色（行 {rows}），ms-swift 会丢弃它们。请为每个轮次写明角色。",
    ),
    "finding.row_system_not_first": (
        "The system turn is not the first one in {count} of {total} rows (rows {rows}); ms-swift drops "
        "them. Move it to the beginning.",
        "{total} 行中有 {count} 行的 system 不在最前面（行 {rows}），ms-swift 会丢弃它们。请把它移到开头。",
    ),
    "finding.row_not_text": (
        "A number, a list or another value where text must be in {count} of {total} rows (rows {rows}); "
        "ms-swift drops them. Put it in quotes.",
        "{total} 行中有 {count} 行该写文字的地方是数字、列表等（行 {rows}），ms-swift 会丢弃它们。请加上引号写成文字。",
    ),
    "finding.row_turn_order": (
        "The turns are in an impossible order in {count} of {total} rows (rows {rows}): a tool's result "
        "must follow a call or a question and be followed by an answer. ms-swift drops these rows.",
        "{total} 行中有 {count} 行的轮次顺序不成立（行 {rows}）：工具结果必须跟在调用或提问之后，其后必须有回答。ms-swift 会丢弃这些行。",
    ),
    "finding.row_bad_call": (
        "A tool call that is not JSON with a name in {count} of {total} rows (rows {rows}); ms-swift "
        "drops them. Write it as {{\"name\": …, \"arguments\": …}}.",
        "{total} 行中有 {count} 行的工具调用不是带 name 的 JSON（行 {rows}），ms-swift 会丢弃它们。请写成 {{\"name\": …, "
        "\"arguments\": …}}。",
    ),
    "finding.row_bad_tools": (
        "Blank text as tools in {count} of {total} rows (rows {rows}); ms-swift drops them. Leave the "
        "field out, or write [].",
        "{total} 行中有 {count} 行的 tools 是空白文字（行 {rows}），ms-swift 会丢弃它们。请去掉该字段，或写成 []。",
    ),
    "finding.row_bad_shape": (
        "The conversation is not a list of turns in {count} of {total} rows (rows {rows}); ms-swift "
        "drops them. Write [{{\"role\": \"user\", \"content\": …}}, {{\"role\": \"assistant\", \"content\": …}}].",
        "{total} 行中有 {count} 行的对话不是轮次列表（行 {rows}），ms-swift 会丢弃它们。请写成 [{{\"role\": \"user\", \"content\": …}}, "
        "{{\"role\": \"assistant\", \"content\": …}}]。",
    ),
    "finding.row_no_question": (
        "No instruction in {count} of {total} rows (rows {rows}); ms-swift drops them. Fill it in or "
        "delete the rows.",
        "{total} 行中有 {count} 行没有指令（行 {rows}），ms-swift 会丢弃它们。请补全或删除。",
    ),
    "finding.row_rejected_same": (
        "The rejected answer is missing or the same as the good one in {count} of {total} rows (rows "
        "{rows}); ms-swift drops them (column rejected_response). Fill it in, or delete the column for "
        "supervised training.",
        "{total} 行中有 {count} 行的“拒绝”回答缺失或与正确回答相同（行 {rows}），ms-swift 会丢弃它们（rejected_response 列）。请补全；如果只做监督训"
        "练，可删除该列。",
    ),
    "finding.row_no_answer": (
        "No answer in {count} of {total} rows (rows {rows}): nothing is learnt from them. Add the answer "
        "or delete the rows.",
        "{total} 行中有 {count} 行没有回答（行 {rows}），学不到任何东西。请补上回答或删除。",
    ),
    "finding.row_blank_answer": (
        "Empty or blank answer in {count} of {total} rows (rows {rows}): the model would learn to say "
        "nothing. Fill it in or delete the rows.",
        "{total} 行中有 {count} 行的回答是空的或只有空白（行 {rows}），模型会学成什么都不说。请补全或删除。",
    ),
    "finding.row_part_blank": (
        "One of the answers is blank in {count} of {total} rows (rows {rows}): the model would learn to "
        "say nothing there. Fill it in or delete that turn.",
        "{total} 行中有 {count} 行的某个回答是空白（行 {rows}），模型会在那里学成什么都不说。请补全或删除该轮次。",
    ),
    "finding.row_blank_text": (
        "No text in {count} of {total} rows (rows {rows}): nothing is learnt from them. Delete them.",
        "{total} 行中有 {count} 行没有文字（行 {rows}），学不到任何东西。请删除。",
    ),
    "finding.row_not_trained": (
        "All answers are switched off (loss: false) in {count} of {total} rows (rows {rows}): nothing is "
        "learnt from them.",
        "{total} 行中有 {count} 行的回答全部设为不训练（loss: false）（行 {rows}），学不到任何东西。",
    ),
    "finding.row_part_not_trained": (
        "An answer is switched off (loss: false) in {count} of {total} rows (rows {rows}): it is context "
        "only and not learnt.",
        "{total} 行中有 {count} 行的某个回答设为不训练（loss: false）（行 {rows}），只作为上下文。",
    ),
    "finding.row_blank_question": (
        "Empty or blank question in {count} of {total} rows (rows {rows}): the model would learn the "
        "answer to nothing. Fill it in or delete the rows.",
        "{total} 行中有 {count} 行的问题是空的或只有空白（行 {rows}），模型会学成对空问题作答。请补全或删除。",
    ),
    "finding.row_same_role_twice": (
        "Two turns of the same role in a row in {count} of {total} rows (rows {rows}): ms-swift glues "
        "them together without a space. Join them yourself, or put the missing turn between them.",
        "{total} 行中有 {count} 行出现同一角色连续发言（行 {rows}），ms-swift 会不加分隔地拼在一起。请自行合并，或补上中间缺少的轮次。",
    ),
    "finding.row_starts_with_assistant": (
        "The assistant speaks first in {count} of {total} rows (rows {rows}): ms-swift puts an empty "
        "question in front. Add the question, or make it the system turn.",
        "{total} 行中有 {count} 行由助手先开口（行 {rows}），ms-swift 会在前面加一个空问题。请补上问题，或把它改为 system。",
    ),
    "finding.row_ends_with_user": (
        "The last question has no answer in {count} of {total} rows (rows {rows}): that turn is not "
        "learnt. Add the answer or delete the turn.",
        "{total} 行中有 {count} 行的最后一个问题没有回答（行 {rows}），这一轮不会被学习。请补上回答或删除该轮次。",
    ),
    "finding.row_control_tokens": (
        "Control marks such as <|im_end|> stand in the text of {count} of {total} rows (rows {rows}): "
        "they become real marks, and the model may learn to break off or to play another role. Take them "
        "out of the text.",
        "{total} 行中有 {count} 行的文字里含有 <|im_end|> 之类的控制标记（行 {rows}）：它们会变成真正的标记，模型可能学会中途停止或冒充其他角色。请从文字中去掉。",
    ),
}
