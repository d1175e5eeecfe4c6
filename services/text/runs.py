"""Words of the room `runs`: key -> (English, Chinese)."""

WORDS: dict[str, tuple[str, str]] = {
    "none": ("No runs yet.", "还没有运行。"),
    "kind.train": ("Training", "训练"),
    "kind.merge": ("Merge", "合并"),
    "kind.serve": ("Chat server", "对话服务"),
    "state.queued": ("queued", "排队中"),
    "state.starting": ("starting", "启动中"),
    "state.running": ("running", "运行中"),
    "state.ready": ("ready", "就绪"),
    "state.stopping": ("stopping", "正在停止"),
    "state.succeeded": ("finished", "已完成"),
    "state.failed": ("failed", "失败"),
    "state.stopped": ("stopped", "已停止"),
    "state.lost": ("lost", "已中断"),
    "phase.queued": ("Waiting for its turn", "等待轮到它"),
    "phase.starting": ("Starting ms-swift", "正在启动 ms-swift"),
    "phase.loading": ("Loading the model", "正在加载模型"),
    "phase.reading_data": ("Reading the data set", "正在读取数据集"),
    "phase.preparing": ("Preparing the first step", "正在准备第一步"),
    "phase.training": ("Training", "正在训练"),
    "phase.running": ("Running", "正在运行"),
    "phase.ready": ("Ready to chat", "可以对话了"),
    "phase.stopping": ("Stopping: saving first", "正在停止：先保存"),
    "phase.succeeded": ("Finished", "已完成"),
    "phase.failed": ("Failed", "失败"),
    "phase.stopped": ("Stopped", "已停止"),
    "phase.lost": ("Lost: its keeper is gone", "已中断：看护进程不在了"),
    "failure.disk_full": (
        "The disk is full ({what}). Free some space, or choose another output folder, then press Resume.",
        "磁盘已满（{what}）。请清理空间或另选输出文件夹，然后点击“继续”。",
    ),
    "failure.out_of_memory": (
        "The memory was not enough ({what}). Lower the batch size, then the maximum length, or train with LoRA; "
        "then start again.",
        "内存不足（{what}）。请先减小批大小，再减小最大长度，或改用 LoRA，然后重新开始。",
    ),
    "failure.port_taken": (
        "Its network port was taken by another program ({what}). Start it again: another port is chosen.",
        "网络端口被其他程序占用（{what}）。请重新开始：会换用另一个端口。",
    ),
    "failure.argument_rejected": (
        "ms-swift did not accept an argument: {what}. Correct it under “Further arguments” and start again.",
        "ms-swift 不接受某个参数：{what}。请在“更多参数”中更正后重新开始。",
    ),
    "failure.model_not_found": (
        "The model was not found ({what}). Check its path or id, then start again.",
        "找不到模型（{what}）。请检查路径或模型 ID，然后重新开始。",
    ),
    "failure.model_type_unknown": (
        "ms-swift could not tell which family of models this is. For training, name it under “Further arguments” "
        "(--model_type and --template); for merging and chatting, use a model that was trained or merged here.",
        "ms-swift 无法判断这是哪一类模型。训练时请在“更多参数”中指定 --model_type 和 --template；"
        "合并和对话时请使用在这里训练或合并过的模型。",
    ),
    "failure.hub_unreachable": (
        "The model hub could not be reached ({what}). Check the network or the hub's mirror settings, "
        "or use a model in a local folder.",
        "无法连接模型中心（{what}）。请检查网络或镜像设置，或使用本地文件夹中的模型。",
    ),
    "failure.dataset_empty": (
        "No row of the data set was left to train on ({what}). Check the file in the Dataset tab.",
        "数据集中没有可以训练的行（{what}）。请在“数据集”页检查该文件。",
    ),
    "failure.needs_compiler": (
        "DeepSpeed compiles a small part at first use and found no C++ compiler ({what}). Install g++, or choose "
        "DDP or FSDP2.",
        "DeepSpeed 首次使用时需要编译一小部分代码，但找不到 C++ 编译器（{what}）。请安装 g++，或改用 DDP 或 FSDP2。",
    ),
    "failure.module_missing": (
        "The Python package “{what}” is missing. Install it into TuneDesk's environment "
        "(.venv/bin/python -m pip install {what}) and start again.",
        "缺少 Python 包“{what}”。请安装到 TuneDesk 的环境中（.venv/bin/python -m pip install {what}），然后重新开始。",
    ),
    "failure.permission": (
        "A file or folder may not be read or written ({what}). Choose another folder or correct its permissions.",
        "没有读写某个文件或文件夹的权限（{what}）。请另选文件夹或更正权限。",
    ),
    "failure.merge_lost_tuning": (
        "The merged model does not answer as base and adapter do together, so it was thrown away ({what}). "
        "Was the adapter trained on this very base? Pick the base it was trained on and merge again.",
        "合并后的模型与“基础模型加适配器”的回答不一致，因此已丢弃（{what}）。"
        "适配器是在这个基础模型上训练的吗？请选择训练时所用的基础模型后重新合并。",
    ),
    "failure.killed": (
        "The system ended the process by force, most often because the memory was full. Lower the batch size or the "
        "maximum length, or close other programs, then press Resume.",
        "进程被系统强制结束，多半是内存已满。请减小批大小或最大长度，或关闭其他程序，然后点击“继续”。",
    ),
    "failure.trainer_error": (
        "ms-swift ended with an error (exit code {exit_code}): {what}. The log below shows where; correct the "
        "setting it names and start again.",
        "ms-swift 因错误而结束（退出码 {exit_code}）：{what}。出错位置见下方日志；请更正它指出的设置后重新开始。",
    ),
    "failure.exited": (
        "The command ended with exit code {exit_code} without naming an error. The last lines of the log are below; "
        "start again, or copy the command and try it in a terminal.",
        "命令以退出码 {exit_code} 结束，没有给出错误信息。日志的最后几行见下方；请重新开始，或复制命令到终端中尝试。",
    ),
    "failure.cannot_start": (
        "The command could not be started at all ({what}). Run the installation again (make install), then start again.",
        "命令根本无法启动（{what}）。请重新安装（make install），然后再次开始。",
    ),
    "warning.teardown_failed": (
        "Training was complete and the last checkpoint is saved; only the clean-up afterwards failed. "
        "The model can be used.",
        "训练已完成，最后的检查点已保存；只是之后的清理出了错。模型可以使用。",
    ),
    "empty": (
        "Here you will see a run as it happens: its progress, charts and log. Press “Start training” on the left.",
        "这里会实时显示运行的进度、曲线和日志。请点击左侧的“开始训练”。",
    ),
    "stop": ("Stop (saves first)", "停止（先保存）"),
    "stop_now": ("Stop now", "立即停止"),
    "resume": ("Resume", "继续"),
    "merge": ("Merge", "合并"),
    "chat": ("Chat", "对话"),
    "delete": ("Delete ({size})", "删除（{size}）"),
    "delete_confirm": ("Yes, delete it for good", "确认永久删除"),
    "log": ("Log", "日志"),
    "command": ("What ran", "实际运行的命令"),
    "chart_loss": ("Loss", "损失"),
    "chart_learning_rate": ("Learning rate", "学习率"),
    "chart_speed": ("Time per step", "每步用时"),
    "chart_accuracy": ("Token accuracy", "词元准确率"),
    "chart_empty": ("No points yet", "还没有数据点"),
    "step": ("step {step} of {total}", "第 {step} 步，共 {total} 步"),
    "eta": ("{time} left", "剩余 {time}"),
    "stopping_left": ("Stopping: saving, at most {seconds} s more", "正在停止：保存中，最多还需 {seconds} 秒"),
    "figure_elapsed": ("{time} so far", "已用 {time}"),
    "figure_loss": ("loss {loss}", "损失 {loss}"),
    "figure_rate": ("{rate} rows/s", "{rate} 行/秒"),
    "figure_memory": ("{size} memory", "内存 {size}"),
    "figure_attempt": ("attempt {number}", "第 {number} 次尝试"),
    "figure_address": ("at {address}", "地址 {address}"),
    "ended_with_checkpoint": (
        "The run is {state}. Its last checkpoint is from step {step}: Resume goes on from there.",
        "运行{state}。最后的检查点来自第 {step} 步：点击“继续”会从那里接着训练。",
    ),
    "ended_without_checkpoint": (
        "The run is {state}, before its first checkpoint. Resume starts it from the beginning.",
        "运行{state}，此时还没有检查点。点击“继续”会从头开始。",
    ),
    "ended_other": ("The run is {state}.", "运行{state}。"),
    "saved_in": ("The model is saved in {path}", "模型保存在 {path}"),
    "merged_into": (
        "The merged model loads, and answers like base and adapter together. It is in {path}",
        "合并后的模型可以加载，且与“基础模型加适配器”的回答一致。它位于 {path}",
    ),
    "lost_alive": (
        "The process that kept this run is gone, but its command still runs, unwatched. Stop now ends it; "
        "Resume ends it and goes on from its last checkpoint.",
        "看护这次运行的进程不在了，但它的命令仍在无人看护地运行。“立即停止”会结束它；“继续”会结束它并从最后的检查点接着训练。",
    ),
}
