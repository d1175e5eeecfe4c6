"""Words of the room `runs`: key -> (English, Chinese)."""

WORDS: dict[str, tuple[str, str]] = {
    "none": ("No runs yet.", "还没有运行。"),
    "older": ("and {count} older ones: tunedesk runs lists them all", "另有 {count} 个更早的运行：tunedesk runs 会全部列出"),
    "chat_with": ("Chat · {model}", "对话 · {model}"),
    "kind.train": ("Training", "训练"),
    "kind.merge": ("Merge", "合并"),
    "kind.audit": ("Token count", "统计词元"),
    "kind.download": ("Download", "下载"),
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
        "The disk is full ({what}). Free some space and press Resume; or press “Use these settings”, choose another "
        "output folder and start it as a new run.",
        "磁盘已满（{what}）。请清理空间后点击“继续”；或点击“使用这些设置”，另选输出文件夹，作为新的运行开始。",
    ),
    "failure.disk_full_other": (
        "The disk is full ({what}). Free some space, then start it again.",
        "磁盘已满（{what}）。请清理空间，然后重新开始。",
    ),
    "failure.out_of_memory": (
        "The memory was not enough ({what}). Press “Use these settings”, lower the batch size, then the maximum length, "
        "or choose LoRA, and start it as a new run.",
        "内存不足（{what}）。请点击“使用这些设置”，先减小批大小，再减小最大长度，或改用 LoRA，然后作为新的运行开始。",
    ),
    "failure.out_of_memory_serve": (
        "The memory was not enough for this model ({what}). Close other programs, or stop a training that is under way, "
        "and load it again; or load a smaller model.",
        "内存不足以加载这个模型（{what}）。请关闭其他程序或停止正在进行的训练后重新加载，或加载更小的模型。",
    ),
    "failure.out_of_memory_other": (
        "The memory was not enough ({what}). Close other programs, unload the chat model or stop a training that is "
        "under way, then start it again.",
        "内存不足（{what}）。请关闭其他程序、卸载对话模型或停止正在进行的训练，然后重新开始。",
    ),
    "failure.port_taken": (
        "Its network port was taken by another program ({what}). Start it again: another port is chosen.",
        "网络端口被其他程序占用（{what}）。请重新开始：会换用另一个端口。",
    ),
    "failure.argument_rejected": (
        "ms-swift did not accept an argument: {what}. Press “Use these settings”, correct it under “Further arguments” "
        "and start it as a new run.",
        "ms-swift 不接受某个参数：{what}。请点击“使用这些设置”，在“更多参数”中更正后作为新的运行开始。",
    ),
    "failure.argument_rejected_other": (
        "ms-swift did not accept an argument that TuneDesk gave it: {what}. Most often another version of ms-swift is "
        "installed: run make install, then start it again.",
        "ms-swift 不接受 TuneDesk 给出的某个参数：{what}。多半是安装了其他版本的 ms-swift：请运行 make install，然后重新开始。",
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
    "failure.node_lost": (
        "node {what} lost ({why}); the run was ended on the others too. When it is back, or without it, press Resume: "
        "it goes on from the last checkpoint.",
        "节点 {what} 失联（{why}），其他节点上的运行也已结束。待它恢复后，或不再使用它，点击“继续”即可从最后的检查点接着训练。",
    ),
    "failure.killed": (
        "The system ended the process by force, most often because the memory was full. Close other programs and press "
        "Resume; or press “Use these settings”, lower the batch size or the maximum length, and start it as a new run.",
        "进程被系统强制结束，多半是内存已满。请关闭其他程序后点击“继续”；或点击“使用这些设置”，减小批大小或最大长度，作为新的运行开始。",
    ),
    "failure.killed_serve": (
        "The system ended the model's server by force, most often because the memory was full. Close other programs, or "
        "stop a training that is under way, and load it again; or load a smaller model.",
        "模型服务被系统强制结束，多半是内存已满。请关闭其他程序或停止正在进行的训练后重新加载，或加载更小的模型。",
    ),
    "failure.killed_other": (
        "The system ended the process by force, most often because the memory was full. Close other programs, unload the "
        "chat model or stop a training that is under way, then start it again.",
        "进程被系统强制结束，多半是内存已满。请关闭其他程序、卸载对话模型或停止正在进行的训练，然后重新开始。",
    ),
    "failure.nothing_trained": (
        "ms-swift ended without training a single step, so nothing was learned. Press “Use these settings”, look at the "
        "number of epochs, the steps and the data, and start it as a new run.",
        "ms-swift 一步也没有训练就结束了，因此什么也没有学到。请点击“使用这些设置”，检查训练轮数、步数和数据，然后作为新的运行开始。",
    ),
    "failure.trainer_error": (
        "ms-swift ended with an error (exit code {exit_code}): {what}. The log shows where. Press “Use these settings”, "
        "correct what it names, and start it as a new run.",
        "ms-swift 因错误而结束（退出码 {exit_code}）：{what}。出错位置见日志。请点击“使用这些设置”，更正它指出的内容，作为新的运行开始。",
    ),
    "failure.trainer_error_serve": (
        "The model's server ended with an error (exit code {exit_code}): {what}. The log shows where. Load it again, or "
        "choose another model.",
        "模型服务因错误而结束（退出码 {exit_code}）：{what}。出错位置见日志。请重新加载，或选择其他模型。",
    ),
    "failure.trainer_error_other": (
        "It ended with an error (exit code {exit_code}): {what}. The log shows where; correct what it names and start "
        "it again.",
        "因错误而结束（退出码 {exit_code}）：{what}。出错位置见日志；请更正它指出的内容后重新开始。",
    ),
    "failure.exited": (
        "The command ended with exit code {exit_code} without naming an error. The last lines of the log may say more; "
        "start it again, or copy the command and try it in a terminal.",
        "命令以退出码 {exit_code} 结束，没有给出错误信息。日志的最后几行可能有更多说明；请重新开始，或复制命令到终端中尝试。",
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
        "Here you will see a run as it happens: its progress, charts and log. There is none yet: start a training in the "
        "Training tab.",
        "这里会实时显示运行的进度、曲线和日志。现在还没有运行：请在“训练”页开始训练。",
    ),
    "stop": ("Stop (saves first)", "停止（先保存）"),
    "stop_plain": ("Stop", "停止"),
    "stop_queued": ("Remove from the queue", "移出队列"),
    "stop_unload": ("Unload", "卸载"),
    "stop_now": ("Stop now", "立即停止"),
    "resume": ("Resume", "继续"),
    "reuse": ("Use these settings", "使用这些设置"),
    "merge": ("Merge…", "合并…"),
    "chat": ("Chat", "对话"),
    "delete": ("Delete ({size})", "删除（{size}）"),
    "delete_question": ("Delete {name}? That frees {size}.", "删除 {name}？这会释放 {size}。"),
    "delete_model": ("The merged model goes with it: {path}", "合并后的模型会一起删除：{path}"),
    "delete_keeps": (
        "What it made stays, and the run is no longer there to find it by: {path}",
        "它生成的内容会保留，但之后不能再通过这个运行找到：{path}",
    ),
    "delete_cancel": ("Keep it", "保留"),
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
    "waits_for": ("Waiting for its turn, after {names}", "等待轮到它，排在 {names} 之后"),
    "figure_elapsed": ("{time} so far", "已用 {time}"),
    "figure_took": ("took {time}", "用时 {time}"),
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
    "merged_gone": (
        "The merge ended well, but its model is no longer in {path}",
        "合并已成功完成，但模型已不在 {path}",
    ),
    "lost_alive": (
        "The process that kept this run is gone, but its command still runs, unwatched. Stop now ends it; "
        "Resume ends it and goes on from its last checkpoint.",
        "看护这次运行的进程不在了，但它的命令仍在无人看护地运行。“立即停止”会结束它；“继续”会结束它并从最后的检查点接着训练。",
    ),
}
