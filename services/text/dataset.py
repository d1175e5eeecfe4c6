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
    "upload": ("Upload files (.jsonl, .csv, .parquet, .txt …)", "上传文件（.jsonl、.csv、.parquet、.txt 等）"),
    "check": ("Check", "检查"),
    "cancel": ("Stop checking", "停止检查"),
    "use": ("Use for training", "用于训练"),
    "checking": ("Reading the file · {percent} %", "正在读取文件 · {percent} %"),
    "counting": ("Counting tokens · {percent} %", "正在统计词元 · {percent} %"),
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
    "mix.source": ("Data set", "数据集"),
    "mix.rows": ("Rows", "行数"),
    "mix.taken": ("Trained on", "用于训练"),
    "mix.held_out": ("Validation", "用于验证"),
    "mix.total": ("Together", "合计"),
    "mix.for_validation": ("{source} (validation)", "{source}（验证）"),
    "mix.not_downloaded": ("on its hub; fetched at the start", "在数据集平台上，启动时下载"),
    "mix.incomplete": ("downloaded in part: go on with it in the Dataset tab", "只下载了一部分：请在“数据集”页继续下载"),
    "mix.repeats": (
        "{source} has {rows} rows and {asked} are asked for: ms-swift repeats rows.",
        "{source} 只有 {rows} 行，而要求 {asked} 行：ms-swift 会重复使用部分数据行。",
    ),
    "mix.split_off_file": (
        "With a validation file nothing is split off: split_dataset_ratio has no effect.",
        "已指定验证文件，不再划分验证集：split_dataset_ratio 不起作用。",
    ),
    "mix.split_off_streaming": (
        "With streaming nothing is split off: split_dataset_ratio has no effect. Name a validation file.",
        "流式读取时不划分验证集：split_dataset_ratio 不起作用。请指定验证文件。",
    ),
    "mix.streaming_needs_steps": (
        "With streaming the number of rows is not known, so max_steps must be set.",
        "流式读取时行数未知，因此必须设置 max_steps。",
    ),
    "mix.streaming_offered": (
        "{gib} GiB of data: ms-swift first writes all of it to its cache. With streaming it reads as it trains.",
        "数据共 {gib} GiB：ms-swift 会先把它们全部写入缓存。使用流式读取则边读边训练。",
    ),
    "no_repeats": (
        "{count} rows compared: none is nearly the same as another ({share} of its text or more).",
        "已比较 {count} 行：没有几乎相同（文字重合 {share} 及以上）的行。",
    ),
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
        "and ms-swift refuses the whole file. Fetch it again, or delete that line: {rows_left} rows are left without it.",
        "文件在最后一行（第 {line} 行）被截断：{text} 下载或导出没有完成，ms-swift 会拒绝整个文件。请重新获取，或删除这一行（还剩 {rows_left} 行）。",
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
        "{count} rows come with {media}: {references} references to {files} different files. A text-only model keeps only the placeholder as text and learns nothing from them, so choose a model that can see or hear.",
        "{count} 行带有 {media}：共 {references} 处引用，{files} 个不同的文件。纯文本模型只会把占位符当作文字，学不到其中的内容，请选择多模态模型。",
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
        "The chosen and the rejected answer (rejected_response) are the same text in {count} of {total} rows (rows {rows}); ms-swift drops them. Write a worse answer or delete the rows.",
        "{total} 行中有 {count} 行的“选中”与“拒绝”回答（rejected_response）完全相同（行 {rows}），ms-swift 会丢弃它们。请改写或删除。",
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
    "finding.packed_broken": (
        "The compressed file is damaged or was cut off ({reason}). Download or pack it again.",
        "压缩文件已损坏或不完整（{reason}）。请重新下载或重新压缩。",
    ),
    "finding.arrow_broken": (
        "The Arrow file cannot be read ({reason}). It is damaged or was cut off: download or write it again.",
        "无法读取该 Arrow 文件（{reason}）。文件已损坏或不完整，请重新下载或导出。",
    ),
    "finding.folder_no_data": (
        "The folder holds no file that ms-swift reads as data ({names}). Choose the file itself, or a folder with .jsonl, .json, .csv or .parquet files.",
        "文件夹里没有 ms-swift 能当作数据读取的文件（{names}）。请直接选择数据文件，或选择含有 .jsonl、.json、.csv、.parquet 文件的文件夹。",
    ),
    "finding.folder_no_split": (
        "ms-swift takes the split “train” of a folder, and this one has only {split} ({names}). Choose the file itself, or give it a name that begins with train.",
        "ms-swift 会读取文件夹中的 train 部分，而这里只有 {split}（{names}）。请直接选择该文件，或将其改名为以 train 开头。",
    ),
    "finding.folder_media": (
        "Most files of the folder are pictures, sounds or films ({names}), so it would be read as a collection of those and not as your data. Choose the data file itself.",
        "文件夹中大多是图片、音频或视频（{names}），会被当作媒体集合读取，而不是您的数据。请直接选择数据文件。",
    ),
    "finding.folder_columns_differ": (
        "The file {name} has columns that {first} lacks; the loader stops there. Choose one of the files, or give all of them the same columns.",
        "文件 {name} 含有 {first} 没有的列，读取会在此中止。请只选择其中一个文件，或让所有文件的列一致。",
    ),
    "finding.folder_mixed_kinds": (
        "The folder holds files of several kinds; only those ending in .{ending} are read, not {names}.",
        "文件夹中有多种类型的文件；只读取以 .{ending} 结尾的文件，不读取 {names}。",
    ),
    "finding.folder_ignored": (
        "From the folder {files} is read; {names} is not data and is ignored.",
        "从文件夹中读取的是 {files}；{names} 不是数据，会被忽略。",
    ),
    "finding.json_columns": (
        "The file holds one list a column ({columns}) instead of one object a row; ms-swift would read it as a single row. Write one row a line.",
        "文件是按列存放的（{columns}，每列一个列表），而不是每行一个对象；ms-swift 会把它当作一行。请改为每行一条数据。",
    ),
    "finding.line_too_long": (
        "Line {line} is longer than {mib} MiB; it is most likely a whole file on one line. Write one row a line.",
        "第 {line} 行超过 {mib} MiB，很可能整个文件都写在了一行。请改为每行一条数据。",
    ),
    "finding.columns_pair": (
        "ms-swift does not know the names chosen and rejected; they are mapped by a setting (columns): {pairs}. Nothing to do.",
        "ms-swift 不认识 chosen 和 rejected 这两个列名，已通过设置（columns）对应好：{pairs}。无需操作。",
    ),
    "finding.columns_guessed": (
        "No column has a name ms-swift knows; by the words in their names they are taken as {pairs} (setting columns). Look at the preview to see whether that is right.",
        "没有 ms-swift 认识的列名；按列名中的单词，已通过设置（columns）理解为：{pairs}。请查看预览，确认是否正确。",
    ),
    "finding.columns_offered": (
        "The column {columns} is not used; if it belongs to the question, map it to system in the table's header.",
        "{columns} 列没有使用；如果它是问题的一部分，可在表头中把它对应到 system。",
    ),
    "finding.columns_for_rewards": (
        "Not part of the prompt, but handed to the reward functions: {columns}.",
        "不属于提示，但会传给奖励函数的列：{columns}。",
    ),
    "finding.no_rejected_column": (
        "This method learns from pairs, and no column holds the worse answers (columns: {columns}). ms-swift would drop every row. Name the column rejected_response, or train with another method (sft, kto).",
        "该方法需要成对的回答，但没有存放较差回答的列（现有列：{columns}），ms-swift 会丢弃每一行。请将该列命名为 rejected_response，或改用其他方法（sft、kto）。",
    ),
    "finding.no_label_column": (
        "KTO needs a column label with true (good answer) or false (bad answer); the columns are {columns}. ms-swift stops without it.",
        "KTO 需要 label 列，值为 true（好的回答）或 false（坏的回答）；现有列为 {columns}。没有它 ms-swift 会中止。",
    ),
    "finding.pairs_without_prompt": (
        "chosen and rejected each hold a whole dialogue or turns written as text, or the prompt stands apart from their turns or is missing (columns: {columns}). As it is, the model would learn answers to an empty question, or the notation itself. A copy with prompt, better and worse answer can be made of it.",
        "chosen 和 rejected 各自是完整的对话或写成文字的轮次，或者提示与它们的轮次分开、甚至缺失（现有列：{columns}）。照此训练，模型学到的是对空问题的回答，或者连同记号一起学。可以生成一份含提示、优选与被拒回答的副本。",
    ),
    "finding.name_sign": (
        "The name {name} has a “#”, which ms-swift also uses for sampling (file#500). It loads as long as the file is there; rename it to be safe.",
        "文件名 {name} 含有“#”，而 ms-swift 也用它表示抽样（file#500）。文件存在时可以正常读取；稳妥起见请改名。",
    ),
    "finding.file_same_time": (
        "The file's content has changed since it was last used, but its date has not, and ms-swift would go on with its old copy of it. It is read under a new name, so that what you see is what is trained.",
        "文件内容与上次使用时不同，但修改时间没有变，ms-swift 会继续使用旧的缓存。现已换用新的名称读取，确保训练的就是您看到的内容。",
    ),
    "finding.tools_setting": (
        "{count} of {total} rows come with tools. The model's template has no agent template, so the setting agent_template {agent_template} is added; without one ms-swift would drop these rows.",
        "{total} 行中有 {count} 行带有工具（tools）。模型的模板没有智能体模板，因此已加上设置 agent_template {agent_template}；否则 ms-swift 会丢弃这些行。",
    ),
    "finding.media_folder": (
        "{count} of the paths are relative; ms-swift does not look beside the data file, so the environment variable ROOT_IMAGE_DIR={folder} is set for the run.",
        "有 {count} 个路径是相对路径；ms-swift 不会在数据文件旁边查找，因此运行时会设置环境变量 ROOT_IMAGE_DIR={folder}。",
    ),
    "finding.media_missing": (
        "A file that is not there is named in {count} of {total} rows (rows {rows}): {words}. ms-swift drops these rows, or trains on another row in their place. Put the files beside the data file.",
        "{total} 行中有 {count} 行引用了不存在的文件（行 {rows}）：{words}。ms-swift 会丢弃这些行，或用别的行代替。请把文件放到数据文件旁边。",
    ),
    "finding.kto_labels": (
        "{good} good and {bad} bad answers (column label).",
        "好的回答 {good} 条，坏的回答 {bad} 条（label 列）。",
    ),
    "finding.kto_unbalanced": (
        "{good} good and {bad} bad answers (column label): unbalanced. ms-swift advises desirable_weight {desirable_low} to {desirable_high}, or undesirable_weight {undesirable_low} to {undesirable_high}, not both.",
        "好的回答 {good} 条，坏的回答 {bad} 条（label 列），不平衡。ms-swift 建议 desirable_weight 取 {desirable_low} 到 {desirable_high}，或 undesirable_weight 取 {undesirable_low} 到 {undesirable_high}，二者取一。",
    ),
    "finding.kto_one_kind": (
        "{good} good and {bad} bad answers (column label): KTO needs both kinds to learn a difference. Add rows of the missing kind, or train with sft.",
        "好的回答 {good} 条，坏的回答 {bad} 条（label 列）：KTO 需要两种回答才能学到差别。请补充缺少的一种，或改用 sft。",
    ),
    "finding.kto_batch": (
        "KTO needs more than one row a step and a given gradient_accumulation_steps, so it is set ({steps} where nothing else is chosen).",
        "KTO 每步需要多于一行数据，并且必须给出 gradient_accumulation_steps，因此会自动设置（未另选时为 {steps}）。",
    ),
    "finding.label_number": (
        "The label is a number other than 0 and 1 in {count} of {total} rows (rows {rows}). ms-swift would count every such answer as good, −1 too. Write true or false.",
        "{total} 行中有 {count} 行的 label 是 0 和 1 以外的数字（行 {rows}）。ms-swift 会把它们都当作好的回答，−1 也不例外。请写成 true 或 false。",
    ),
    "finding.label_text": (
        "The label is text in {count} of {total} rows (rows {rows}); ms-swift stops at that. Write true or false without quotes.",
        "{total} 行中有 {count} 行的 label 是文字（行 {rows}），ms-swift 会因此中止。请写成不带引号的 true 或 false。",
    ),
    "finding.label_missing": (
        "The label is missing in {count} of {total} rows (rows {rows}); ms-swift stops at that. Fill it in or delete the rows.",
        "{total} 行中有 {count} 行缺少 label（行 {rows}），ms-swift 会因此中止。请补全或删除这些行。",
    ),
    "finding.row_kto_no_answer": (
        "The conversation does not end with an answer in {count} of {total} rows (rows {rows}); KTO stops at the first of them. Add the answer or delete the rows.",
        "{total} 行中有 {count} 行的对话不是以回答结尾（行 {rows}），KTO 遇到第一个就会中止。请补上回答或删除这些行。",
    ),
    "finding.row_rejected_missing": (
        "No rejected answer (rejected_response) in {count} of {total} rows (rows {rows}); ms-swift drops them. Fill it in or delete the rows.",
        "{total} 行中有 {count} 行缺少“拒绝”的回答（rejected_response）（行 {rows}），ms-swift 会丢弃它们。请补全或删除。",
    ),
    "finding.row_rejected_spaces": (
        "The two answers differ only in blanks in {count} of {total} rows (rows {rows}): ms-swift keeps them, but there is nothing to learn from them. Delete the rows.",
        "{total} 行中有 {count} 行的两个回答只有空白不同（行 {rows}）：ms-swift 会保留，但学不到有用的东西。请删除这些行。",
    ),
    "finding.row_rejected_equal": (
        "The chosen and the rejected dialogue end in the same answer in {count} of {total} rows (rows {rows}): ms-swift keeps them, but there is nothing to learn from them. Delete the rows.",
        "{total} 行中有 {count} 行的“选中”与“拒绝”对话以同样的回答结束（行 {rows}）：ms-swift 会保留，但学不到有用的东西。请删除这些行。",
    ),
    "finding.row_rejected_blank": (
        "The rejected answer is blank in {count} of {total} rows (rows {rows}): the model would only learn not to be silent. Fill it in or delete the rows.",
        "{total} 行中有 {count} 行的“拒绝”回答是空白（行 {rows}）：模型只会学到不要沉默。请补全或删除。",
    ),
    "finding.row_garbled": (
        "Garbled characters in {count} of {total} rows (rows {rows}), for example in “{example}”: text was once read in the wrong encoding, and the model would learn to write it so. Export the data again as UTF-8, or delete the rows.",
        "{total} 行中有 {count} 行含有乱码（行 {rows}），例如“{example}”：文字曾以错误的编码读取，模型会照着学。请重新以 UTF-8 导出，或删除这些行。",
    ),
    "finding.rows_repeated": (
        "{count} of {total} rows repeat an earlier one word for word: {words} (row = the row it repeats). Repeated rows are learnt more often than the others.",
        "{total} 行中有 {count} 行与前面的某行完全相同：{words}（行 = 与之相同的行）。重复的行会比其他行多学几遍。",
    ),
    "finding.rows_similar": (
        "{count} of {total} rows looked at are nearly the same as an earlier one: {words} (row ≈ the row it resembles).",
        "检查的 {total} 行中有 {count} 行与前面的某行几乎相同：{words}（行 ≈ 与之相似的行）。",
    ),
    "finding.rows_leak": (
        "{count} rows of the validation data stand in the training data too ({words}), so the validation result would look better than it is. Delete them from one of the two.",
        "有 {count} 行验证数据同时出现在训练数据中（{words}），验证结果会偏乐观。请从其中一方删除。",
    ),
    "finding.rows_leak_near": (
        "{count} rows of the validation data are, or are nearly, rows of the training data ({words}), so the validation result would look better than it is. Delete them from one of the two.",
        "有 {count} 行验证数据与训练数据中的行相同或几乎相同（{words}），验证结果会偏乐观。请从其中一方删除。",
    ),
    "finding.length_over": (
        "At max_length {max_length}, {count} of {total} rows are too long: {words}. ms-swift drops them (truncation_strategy delete); cut at the end instead (right), {cut} of them lose the end of the answer and {empty} keep no answer at all. max_length {needed} keeps all.",
        "当 max_length 为 {max_length} 时，{total} 行中有 {count} 行过长：{words}。ms-swift 会丢弃它们（truncation_strategy delete）；若改为从末尾截断（right），其中 {cut} 行会失去回答的结尾，{empty} 行完全没有回答。max_length 设为 {needed} 可全部保留。",
    ),
    "finding.length_cut": (
        "At max_length {max_length}, {count} of {total} rows are cut ({strategy}): {words}. {cut} of them lose part of the answer, and the end mark with it. max_length {needed} keeps all.",
        "当 max_length 为 {max_length} 时，{total} 行中有 {count} 行会被截断（{strategy}）：{words}。其中 {cut} 行会失去部分回答以及结束标记。max_length 设为 {needed} 可全部保留。",
    ),
    "finding.length_no_trained": (
        "{count} of {total} rows keep no trained token at max_length {max_length} (rows {rows}); they need {needed}. They would cost time and teach nothing.",
        "{total} 行中有 {count} 行在 max_length {max_length} 下不含任何可训练的词元（行 {rows}）；它们需要 {needed}。这些行只耗时间，学不到东西。",
    ),
    "finding.length_none_left": (
        "{count} of {total} rows keep no trained token at {max_length}; they need {needed}. Set max_length to {needed} (needs more memory), or shorten the texts.",
        "{total} 行中有 {count} 行在 max_length {max_length} 下不含任何可训练的词元；它们需要 {needed}。请将 max_length 设为 {needed}（需要更多内存），或缩短文字。",
    ),
    "finding.lengths": (
        "{tokens} tokens in {rows_audited} rows as the model reads them: {mean} a row on average, {longest} the longest.",
        "按模型读取的方式，{rows_audited} 行共有 {tokens} 个词元：平均每行 {mean} 个，最长 {longest} 个。",
    ),
    "finding.audit_sample": (
        "Token counts are from {audited} of {total} rows, chosen evenly over the file.",
        "词元统计来自 {total} 行中均匀抽取的 {audited} 行。",
    ),
    "finding.audit_dropped": (
        "ms-swift drops {count} more of {total} rows (rows {rows}) when it encodes them: {words}",
        "ms-swift 在编码时还会丢弃 {total} 行中的 {count} 行（行 {rows}）：{words}",
    ),
    "finding.audit_nothing": (
        "ms-swift itself keeps none of these rows: {words}",
        "ms-swift 自身一行也不保留：{words}",
    ),
    "finding.audit_missing": (
        "Tokens were not counted: {reason}",
        "未统计词元：{reason}",
    ),
    "finding.end_not_trained": (
        "The end mark of the answers is not trained in {count} of {total} rows: the model may not learn to stop.",
        "{total} 行中有 {count} 行没有训练回答的结束标记：模型可能学不会停下来。",
    ),
    "finding.special_tokens": (
        "Special tokens of this model stand in the text of {count} of {total} rows (rows {rows}): {words}. They become real marks. Take them out of the text.",
        "{total} 行中有 {count} 行的文字里含有该模型的特殊词元（行 {rows}）：{words}。它们会变成真正的标记，请从文字中去掉。",
    ),
    "stage.look": (
        "look",
        "查看",
    ),
    "stage.scan": (
        "read",
        "读取",
    ),
    "stage.audit": (
        "count tokens",
        "统计词元",
    ),
    # the tab
    "model": ("Count tokens with", "统计词元用的模型"),
    "find_box": ("Find a data set", "查找数据集"),
    "find": ("Words", "关键词"),
    "find_info": ("In ms-swift's own list of data sets: a name, a language, a task", "在 ms-swift 自带的数据集列表中查找：名称、语言、任务"),
    "subset": ("Subset", "子集"),
    "split": ("Split", "划分"),
    "ask_hub": ("What does it hold?", "查看子集"),
    "subsets": ("It holds: {subsets}.", "包含：{subsets}。"),
    "fetch": ("Download", "下载"),
    "fetching": (
        "Downloading {name}: the run on the right shows how far it is. Check it here once it is there.",
        "正在下载 {name}：右侧的运行显示进度。完成后可在此检查。",
    ),
    "hub_incomplete": (
        "{id} is here only in part. Press Download to go on with it; until then it cannot be used.",
        "{id} 只下载了一部分。请点击“下载”继续；在此之前无法使用。",
    ),
    "rows_tab": ("Rows", "数据行"),
    "tokens_tab": ("Tokens", "词元"),
    "search": ("Search (Enter: next)", "搜索（回车：下一个）"),
    "row_number": ("Row", "行号"),
    "page": ("Rows {first}–{last} of {total}", "第 {first}–{last} 行，共 {total} 行"),
    "page_open": ("Rows {first}–{last}", "第 {first}–{last} 行"),
    "page_none": ("No rows here.", "这里没有数据行。"),
    "searching": ("Searching", "正在搜索"),
    "search_none": ("No further row holds this.", "没有其他行包含它。"),
    "column.query": ("question", "问题"),
    "column.response": ("answer", "回答"),
    "column.system": ("system", "系统提示"),
    "column.messages": ("conversation", "对话"),
    "column.history": ("history", "历史"),
    "column.rejected_response": ("rejected answer", "被拒回答"),
    "column.label": ("good or bad", "好坏标记"),
    "column.images": ("pictures", "图片"),
    "column.tools": ("tools", "工具"),
    "repairs": ("What can be mended in a copy", "可在副本中修正的问题"),
    "mend": ("Write a mended copy", "生成修正后的副本"),
    "mending": ("Writing the copy", "正在生成副本"),
    "mend_none": ("Tick at least one repair.", "请至少勾选一项修正。"),
    "mended": (
        "Written: {path} ({rows} rows; {dropped} left out). The original is as it was.",
        "已生成：{path}（{rows} 行，略去 {dropped} 行）。原文件未改动。",
    ),
    "fix.convert": ("Write it as UTF-8 JSON lines", "改写为 UTF-8 的 JSON Lines"),
    "fix.join_ragged": ("Join the surplus fields of lines {rows} into the last column", "把第 {rows} 行多出的字段并入最后一列"),
    "fix.drop_broken": (
        "Leave out lines that are no whole row ({rows}), and rewrite those in Python's notation",
        "略去不完整的行（{rows}），并改写以 Python 记法写成的行",
    ),
    "fix.text_cells": ("Write numbers and dates as text", "把数字和日期写成文本"),
    "fix.rename_columns": ("Give the columns the names ms-swift knows", "把列名改为 ms-swift 认识的名称"),
    "fix.to_messages": ("Write every row as a conversation", "把每一行写成对话"),
    "fix.to_preference": ("Write every row as a question with a chosen and a rejected answer", "把每一行写成带优选与被拒回答的问题"),
    "fix.kto_labels": ("Write the labels as true and false", "把标签写成 true 和 false"),
    "fix.lower_roles": ("Give the roles their usual names (rows {rows})", "把角色改为通常的名称（第 {rows} 行）"),
    "fix.join_turns": ("Join two turns of one side (rows {rows})", "合并同一方的连续发言（第 {rows} 行）"),
    "fix.trim_turns": ("Leave out turns without a partner (rows {rows})", "略去没有对应的发言（第 {rows} 行）"),
    "fix.ungarble": ("Read garbled text again as UTF-8 (rows {rows})", "把乱码按 UTF-8 重新读取（第 {rows} 行）"),
    "fix.drop_duplicates": ("Leave out rows that repeat another ({count})", "略去重复的行（{count} 行）"),
    "fix.neutral_tokens": ("Break control tokens inside the text (rows {rows})", "打断文本中的控制词元（第 {rows} 行）"),
    "fix.drop_unusable": ("Leave out every row that teaches nothing", "略去所有学不到东西的行"),
    "fix.drop": ("Leave out rows {rows}", "略去第 {rows} 行"),
    "audit_all": ("Count the tokens of all rows (as a run)", "统计所有行的词元（作为一次运行）"),
    "tokens_none": (
        "Here you will see how long the rows are in tokens, and which of them are trained, once the check has counted them.",
        "检查统计完词元后，这里会显示每行有多少词元、哪些会被训练。",
    ),
    "tokens_histogram": ("{rows} rows by length in tokens; the line is the limit of {max_length}", "{rows} 行按词元长度分布；竖线为上限 {max_length}"),
    "tokens_total": ("Tokens in all", "词元总数"),
    "tokens_mean": ("Mean of a row", "每行平均"),
    "tokens_longest": ("Longest row", "最长的行"),
    "tokens_over": ("Rows over the limit", "超过上限的行"),
    "tokens_steps": ("Steps an epoch (16 rows each)", "每轮步数（每步 16 行）"),
    "tokens_padding": ("Filling", "填充比例"),
    "tokens_padding_value": ("{plain}; packed {packed}", "{plain}；打包后 {packed}"),
    "tokens_legend": ("As the model sees them: what is trained is marked.", "模型看到的样子：被训练的部分已标出。"),
}
