"""Words of the room `importing`: key -> (English, Chinese)."""

WORDS: dict[str, tuple[str, str]] = {
    "a_process_a_card": (
        "{launcher} starts one process for each visible card, and the command does not limit them.",
        "{launcher} 会为每张可见的卡启动一个进程，而该命令没有限制卡数。",
    ),
    "added_by_tunedesk": (
        "TuneDesk added these itself when it wrote this script, and does so again at the start: {flags}.",
        "这些参数是 TuneDesk 写出此脚本时自行添加的，启动时会再次添加：{flags}。",
    ),
    "alias": (
        "Line {line} defines an alias. Aliases are not followed; write the command out if it matters.",
        "第 {line} 行定义了别名。别名不会被展开；如有需要，请写出完整命令。",
    ),
    "all_cards": (
        "The command names no cards, so ms-swift would take all visible ones in one process: with two or more that is "
        "model parallel (device_map), not DDP. Choose the cards and processes here.",
        "该命令没有指定显卡，ms-swift 会在一个进程中使用所有可见的卡：两张或更多时是模型并行（device_map），"
        "而不是 DDP。请在这里选择显卡和进程数。",
    ),
    "assumed_unset": (
        "Where the script decides by variables that it does not set itself, they were taken as unset: {names}.",
        "脚本中用于判断、但脚本自身没有设置的变量按未设置处理：{names}。",
    ),
    "batch_inference": (
        "The command answers the rows of a data set (--val_dataset or --load_data_args). Chatting with the model does "
        "not; run the command itself for that.",
        "该命令会对数据集的各行生成回答（--val_dataset 或 --load_data_args）。对话功能不会这样做；如需要，请直接运行该命令。",
    ),
    "branch_skipped": (
        "Line {line}: not taken, because its condition does not hold ({head}): {flags}.",
        "第 {line} 行：条件不成立（{head}），未采用：{flags}。",
    ),
    "chosen_at_start": (
        "{names} from the script: TuneDesk chooses the address, rank and a free port itself at the start.",
        "脚本中的 {names}：TuneDesk 会在启动时自行选择地址、编号和空闲端口。",
    ),
    "config_missing": (
        "The settings in {file} (--config) could not be read, so they are missing here: {why}",
        "无法读取 {file}（--config）中的设置，因此这里缺少它们：{why}",
    ),
    "config_open": (
        "The settings stand in {text} (--config), which the script does not say. Import that file, or paste its content.",
        "设置写在 {text}（--config）中，而脚本没有给出它。请导入该文件，或粘贴其内容。",
    ),
    "config_read": (
        "From accelerate's configuration {file} (--config_file): {text}.",
        "来自 accelerate 的配置 {file}（--config_file）：{text}。",
    ),
    "config_taken": (
        "The settings of {file} (--config) are taken in.",
        "已读入 {file}（--config）中的设置。",
    ),
    "config_unread": (
        "accelerate's configuration {file} (--config_file) could not be read beside the script, so its number of "
        "processes and its strategy are missing here.",
        "无法在脚本旁读取 accelerate 的配置 {file}（--config_file），因此这里缺少其中的进程数和策略。",
    ),
    "count_open": (
        "{name} is {value}, which is no number that can be known from the text. Set it here.",
        "{name} 的值是 {value}，无法从文本中得知具体数字。请在这里设置。",
    ),
    "cut_off": (
        "Line {line}: a shell would not pass {flags} to the command (a backslash is missing or too many before this line, "
        "or a comment cuts it). They are taken as meant.",
        "第 {line} 行：shell 不会把 {flags} 传给该命令（此行之前缺少或多了反斜杠，或被注释截断）。这里按原意读入。",
    ),
    "defaults": (
        "The command leaves these to ms-swift's defaults: {names}. TuneDesk starts with values of its own where the "
        "form says nothing; set them if the command's are wanted.",
        "该命令对以下参数使用 ms-swift 的默认值：{names}。表单未填写时 TuneDesk 使用自己的值；如需与命令一致，请填写。",
    ),
    "device_map": (
        "{cards} visible cards and one process: that is model parallel (device_map), not DDP. The layers are laid over "
        "the cards, and one card works at a time. For DDP set as many processes as cards.",
        "{cards} 张可见的卡和一个进程：这是模型并行（device_map），而不是 DDP。各层分布在不同的卡上，同一时刻只有一张卡在工作。"
        "如需 DDP，请让进程数等于卡数。",
    ),
    "device_map_groups": (
        "{cards} visible cards and {processes} processes: each process lays its model over {each} cards "
        "(DDP with device_map).",
        "{cards} 张可见的卡和 {processes} 个进程：每个进程把模型分布在 {each} 张卡上（DDP 加 device_map）。",
    ),
    "docker": (
        "{launcher} starts a container of {image} and runs in it: {inside}. TuneDesk starts no containers; its options: "
        "{options}",
        "{launcher} 会启动 {image} 的容器并在其中运行：{inside}。TuneDesk 不启动容器；其选项：{options}",
    ),
    "empty": ("there is nothing in it", "内容为空"),
    "engine": (
        "The engine {engine} (--infer_backend) is not one of TuneDesk's; Transformers is used.",
        "TuneDesk 没有引擎 {engine}（--infer_backend），将使用 Transformers。",
    ),
    "env_open": (
        "The variable {name} is left out: {parts} cannot be known without running something.",
        "变量 {name} 未被采用：不运行就无法得知 {parts}。",
    ),
    "file_in_script": (
        "{flag} names {file}, which the script writes itself; its content is taken.",
        "{flag} 指向脚本自己写出的 {file}；已采用其内容。",
    ),
    "flags_open": (
        "Line {line}: {text} may hold further flags, but the script does not set it. Add here what it holds.",
        "第 {line} 行：{text} 可能包含更多参数，但脚本没有设置它。请在这里补上其内容。",
    ),
    "folder": (
        "The command runs in {folder}, to which the script changes; relative paths are meant from there.",
        "该命令在脚本切换到的 {folder} 中运行；相对路径以那里为准。",
    ),
    "hostfile": (
        "The machines stand in the hostfile {file} (--hostfile).",
        "机器列在主机文件 {file} 中（--hostfile）。",
    ),
    "include": (
        "--include {include} names the machines and their cards.",
        "--include {include} 指定了机器及其显卡。",
    ),
    "launcher_options": (
        "Options of {launcher} that have no place in the form: {options}.",
        "{launcher} 的以下选项在表单中没有对应项：{options}。",
    ),
    "launcher_taken": (
        "From {launcher} into the form: {options}.",
        "从 {launcher} 填入表单：{options}。",
    ),
    "left_over": (
        "The form for {command} does not take these; they stay in the command: {flags}.",
        "{command} 的表单没有这些项，它们保留在命令中：{flags}。",
    ),
    "mixed_precision": (
        "--mixed_precision {value} of accelerate: ms-swift decides by --torch_dtype, --bf16 and --fp16.",
        "accelerate 的 --mixed_precision {value}：ms-swift 由 --torch_dtype、--bf16 和 --fp16 决定精度。",
    ),
    "no_cards": (
        "The command hides all cards, so it runs on the CPU.",
        "该命令隐藏了所有显卡，因此在 CPU 上运行。",
    ),
    "no_command": ("there is no command in it", "其中没有命令"),
    "loop_first": (
        "Line {line}: the loop runs its commands for several values of {name}; here it is the first, {first}. "
        "The others: {others}.",
        "第 {line} 行：循环会对 {name} 的多个值运行其中的命令；这里取第一个：{first}。其余：{others}。",
    ),
    "mcore_model_alone": (
        "The command names weights (--mcore_model) but no model, so TuneDesk's own stands there; choose the model that "
        "those weights were made from.",
        "该命令只给出了权重（--mcore_model），没有指定模型，这里填的是 TuneDesk 自己的；请选择这些权重所对应的模型。",
    ),
    "no_dataset": (
        "The command names no data set, so TuneDesk's own stands there; choose one.",
        "该命令没有指定数据集，这里填的是 TuneDesk 自己的；请选择一个。",
    ),
    "no_form": (
        "TuneDesk has no form for swift {command}; the command for the installed ms-swift is shown.",
        "TuneDesk 没有 swift {command} 的表单；这里给出适用于已安装 ms-swift 的命令。",
    ),
    "no_mapping": (
        "it is not made of `name: value` lines that can be read without references",
        "它不是由可读取的 `名称: 值` 行组成（且不支持引用）",
    ),
    "no_model": (
        "The command names no model, so TuneDesk's own stands there; choose one.",
        "该命令没有指定模型，这里填的是 TuneDesk 自己的；请选择一个。",
    ),
    "no_module": (
        "{module}: ms-swift has no such module and never had; it is read as swift.cli.{command}.",
        "{module}：ms-swift 没有也从未有过这个模块；按 swift.cli.{command} 读取。",
    ),
    "no_such_command": ("ms-swift has no command {command}", "ms-swift 没有命令 {command}"),
    "no_swift": (
        "none of its commands starts ms-swift ({commands})",
        "其中没有启动 ms-swift 的命令（{commands}）",
    ),
    "no_training": (
        "No command of ms-swift is in it, so the form stays as it is.",
        "其中没有 ms-swift 的命令，表单保持不变。",
    ),
    "nodes": (
        "The command is one of {nodes} machines' (NNODES). Name the machines under “where it runs”; here it is one.",
        "该命令属于 {nodes} 台机器中的一台（NNODES）。请在“运行位置”中列出各台机器；这里只算一台。",
    ),
    "not_exported": (
        "{names}: the script sets this without exporting it, so ms-swift does not see it.",
        "{names}：脚本设置了它但没有 export，因此 ms-swift 看不到。",
    ),
    "not_preference": (
        "Its paths speak of {kind}, but the command is sft, which trains on the answers alone. For {kind} choose rlhf "
        "with rlhf_type {kind}.",
        "路径中提到 {kind}，但命令是 sft，只会按回答训练。如需 {kind}，请选择 rlhf 并设置 rlhf_type {kind}。",
    ),
    "not_read": (
        "Line {line}: {file} is another script, which was not read.",
        "第 {line} 行：{file} 是另一个脚本，没有读取。",
    ),
    "nproc_all_cards": (
        "{processes} processes and no cards named: each process takes all visible cards divided by {processes}, so with "
        "more cards than processes this is not plain DDP.",
        "{processes} 个进程且未指定显卡：每个进程分得全部可见显卡的 {processes} 分之一，卡数多于进程数时就不是单纯的 DDP。",
    ),
    "nproc_ignored": (
        "NPROC_PER_NODE has no effect here: {launcher} starts the processes.",
        "NPROC_PER_NODE 在这里不起作用：进程由 {launcher} 启动。",
    ),
    "old_command": (
        "swift {old} is swift {new} today.",
        "swift {old} 现在是 swift {new}。",
    ),
    "on_host": (
        "Line {line} runs on {host}, over SSH.",
        "第 {line} 行通过 SSH 在 {host} 上运行。",
    ),
    "one_adapter": (
        "TuneDesk merges one adapter at a time; {taken} is taken of --adapters.",
        "TuneDesk 一次合并一个适配器；--adapters 中取用 {taken}。",
    ),
    "one_name": (
        "{flag} has several names; {taken} is taken, and left out: {left}.",
        "{flag} 有多个名称；取用 {taken}，未采用：{left}。",
    ),
    "only_if": (
        "The command of line {line} runs only inside: {conditions}",
        "第 {line} 行的命令只在以下范围内运行：{conditions}",
    ),
    "other_commands": (
        "Other commands of the script, which TuneDesk does not run (line in brackets): {commands}.",
        "脚本中的其他命令，TuneDesk 不会运行（括号内为行号）：{commands}。",
    ),
    "parallel_fails": (
        "As it stands, ms-swift refuses this command: {cards} visible cards and {processes} process(es) mean device_map, "
        "which does not go with {what}. Use as many processes as cards.",
        "照原样，ms-swift 会拒绝该命令：{cards} 张可见的卡和 {processes} 个进程意味着 device_map，它不能与 {what} 同用。"
        "请让进程数等于卡数。",
    ),
    "prefix_unknown": (
        "Line {line}: what {text} stands for before the command is not known; it is left out.",
        "第 {line} 行：命令前的 {text} 的内容未知，已略去。",
    ),
    "python_none": (
        "{flag} is empty, which is ms-swift's default.",
        "{flag} 为空，即 ms-swift 的默认值。",
    ),
    "python_open": (
        "Line {line}: {text} cannot be known without running the program.",
        "第 {line} 行：不运行程序就无法得知 {text}。",
    ),
    "python_read": (
        "The arguments stand in {file}, which was read.",
        "参数写在 {file} 中，已读取。",
    ),
    "quant_bits_alone": (
        "--quant_bits alone quantizes nothing: ms-swift needs --quant_method bnb (or another) too.",
        "只有 --quant_bits 不会量化任何内容：ms-swift 还需要 --quant_method bnb（或其他方法）。",
    ),
    "rendezvous": (
        "{options}: TuneDesk chooses the address and a free port itself at the start.",
        "{options}：TuneDesk 会在启动时自行选择地址和空闲端口。",
    ),
    "rlhf_in_sft": (
        "--rlhf_type belongs to swift rlhf; swift sft does not take it.",
        "--rlhf_type 属于 swift rlhf，swift sft 不接受它。",
    ),
    "same_as_default": (
        "{flag} {value} is ms-swift's default, so it is not kept.",
        "{flag} {value} 就是 ms-swift 的默认值，因此不保留。",
    ),
    "secret": (
        "{name} is a secret: it is not taken into the spec. Set it where TuneDesk is started.",
        "{name} 是机密：不会写入配置。请在启动 TuneDesk 的环境中设置。",
    ),
    "several": (
        "The script has several commands of ms-swift. {chosen} (line {line}) fills the form; the others: {others}.",
        "脚本中有多个 ms-swift 命令。{chosen}（第 {line} 行）填入表单；其他：{others}。",
    ),
    "slurm": (
        "The script asks Slurm for: {options}.",
        "脚本向 Slurm 申请：{options}。",
    ),
    "stars": (
        "{flag} {value}: a shell would put the matching files in its place. Name the files, or their folder.",
        "{flag} {value}：shell 会将其替换为匹配的文件。请列出文件或所在文件夹。",
    ),
    "too_deep": ("it is nested too deeply", "嵌套过深"),
    "too_few_cards": (
        "{processes} processes share {cards} visible card(s): that fails at the start.",
        "{processes} 个进程共用 {cards} 张可见的卡：启动时会失败。",
    ),
    "too_many": ("there are too many commands", "命令过多"),
    "too_many_words": ("the command has too many words", "命令的词过多"),
    "torn": (
        "it cannot be read as shell here; look for a quote, bracket or keyword that is not closed",
        "此处无法按 shell 语法读取；请检查是否有未闭合的引号、括号或关键字",
    ),
    "torn_elsewhere": (
        "Lines {line} to {last} cannot be read as shell; the command itself is not concerned.",
        "第 {line} 至 {last} 行无法按 shell 语法读取；不影响该命令本身。",
    ),
    "tuner_default": (
        "No --tuner_type (--train_type in ms-swift 3) is given, so it trains with: {tuner}.",
        "没有给出 --tuner_type（ms-swift 3 中为 --train_type），因此训练方式为：{tuner}。",
    ),
    "twice": (
        "{before} does not count: {flag} sets the same again.",
        "{before} 不起作用：{flag} 再次设置了同一项。",
    ),
    "unused": (
        "The variable {name} is never used, so no command gets its {flags}.",
        "变量 {name} 从未使用，因此没有命令得到其中的 {flags}。",
    ),
    "value_missing": (
        "{flag} is left out: {parts} cannot be known without running something. Set it here.",
        "{flag} 未被采用：不运行就无法得知 {parts}。请在这里设置。",
    ),
    "value_open": (
        "{flag} holds {parts}, which the script does not say. Replace it.",
        "{flag} 中的 {parts} 在脚本里没有给出。请替换它。",
    ),
    "why_ckpt": (
        "ms-swift {version} took one folder for both; today an adapter is --adapters and a whole model is --model.",
        "ms-swift {version} 用一个参数表示两者；现在适配器用 --adapters，完整模型用 --model。",
    ),
    "why_commas": (
        "ms-swift {version} took the commas apart; today the words are separate.",
        "ms-swift {version} 会按逗号拆分；现在各个词要分开写。",
    ),
    "why_dataset": (
        "A short name of ms-swift {version}; today data sets have their hub ids.",
        "ms-swift {version} 的简称；现在使用数据集在社区中的 id。",
    ),
    "why_default": (
        "In ms-swift {version} this said what is the default today.",
        "在 ms-swift {version} 中，这表示的就是现在的默认行为。",
    ),
    "why_gone": (
        "It was an argument of ms-swift {version}; today nothing takes its place for this command.",
        "这是 ms-swift {version} 的参数；对于该命令，现在没有对应的参数。",
    ),
    "why_minutes": (
        "ms-swift {version} counted minutes; today it is seconds.",
        "ms-swift {version} 以分钟计；现在以秒计。",
    ),
    "why_model_type": (
        "In ms-swift {version} it named one model; today the model's own id does.",
        "在 ms-swift {version} 中它指定一个模型；现在由模型自己的 id 指定。",
    ),
    "why_renamed": (
        "ms-swift {version} called it so.",
        "这是 ms-swift {version} 的名称。",
    ),
    "why_sample": (
        "ms-swift 2 took {count} rows of all data sets together; today each data set has its own #count behind its name.",
        "ms-swift 2 从所有数据集中共取 {count} 行；现在在每个数据集名称后写 #数量。",
    ),
    "why_shape": (
        "ms-swift {version} was told the model's shape; today Megatron-SWIFT reads it from the model's config.json.",
        "ms-swift {version} 需要指定模型结构；现在 Megatron-SWIFT 从模型的 config.json 读取。",
    ),
    "why_short": (
        "A beginning that means --{new} alone.",
        "缩写，只能表示 --{new}。",
    ),
    "why_stray": (
        "Line {line}: a word that belongs to no flag; ms-swift refuses it.",
        "第 {line} 行：不属于任何参数的词，ms-swift 会拒绝。",
    ),
    "why_switch": (
        "This is ms-swift's short form for turning the switch off.",
        "这是 ms-swift 关闭该开关的简写。",
    ),
    "why_value": (
        "ms-swift {version} called this value so.",
        "这是 ms-swift {version} 中该值的名称。",
    ),
    "wrapper": (
        "Line {line}: what stands before the command is left out: {text}.",
        "第 {line} 行：命令之前的内容已略去：{text}。",
    ),
}
