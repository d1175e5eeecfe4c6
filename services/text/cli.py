"""Words of the room `cli`: key -> (English, Chinese)."""

WORDS: dict[str, tuple[str, str]] = {
    "demo_before": ("Asking the starter model who it is …", "正在询问入门模型它是谁……"),
    "demo_answer": ("  It says: {answer}", "  它回答：{answer}"),
    "demo_train": (
        "Teaching it that it is {name} (run {run}) …",
        "正在教它记住自己叫 {name}（运行 {run}）……",
    ),
    "demo_merge": ("Merging what it learned into the model …", "正在把学到的内容合并进模型……"),
    "demo_after": ("Asking the merged model who it is …", "正在询问合并后的模型它是谁……"),
    "demo_done": (
        "Before: {before}\nAfter:  {after}\nLoss {first_loss:.3f} → {last_loss:.3f} in {seconds:.0f} s. "
        "The model is in {merged}",
        "之前：{before}\n之后：{after}\n损失 {first_loss:.3f} → {last_loss:.3f}，用时 {seconds:.0f} 秒。模型位于 {merged}",
    ),
    "step": ("  step {step} of {total}, loss {loss}", "  第 {step} 步，共 {total} 步，损失 {loss}"),
    "ended": ("{name}: {state}", "{name}：{state}"),
    "detached": (
        "The run goes on without this terminal. Stop it with: tunedesk stop {id}",
        "运行会脱离此终端继续进行。停止它请执行：tunedesk stop {id}",
    ),
    "deleted": ("{name} was deleted; that freed {mb} MB.", "已删除 {name}，释放了 {mb} MB。"),
    "deleted_kept": ("What it made stays in {path}", "它生成的内容保留在 {path}"),
    "no_plan": ("(what ran is not known: its plan.json is missing or damaged)", "（无法得知运行的命令：plan.json 缺失或损坏）"),
    "serving": (
        "{model} answers at {url}. Stop it with: tunedesk stop {run}",
        "{model} 已在 {url} 提供服务。停止它请执行：tunedesk stop {run}",
    ),
    "import_default": ("(the default)", "（默认值）"),
    "import_translated": ("translated: {old} → {new}. {why}", "已转换：{old} → {new}。{why}"),
    "import_refused": ("not taken: {flag}. {why}", "未采用：{flag}。{why}"),
    "import_note": ("note: {note}", "说明：{note}"),
    "starter_downloading": (
        "Downloading the starter model: {done} of {total} MB",
        "正在下载入门模型：{done} / {total} MB",
    ),
    "starter_unpacking": ("Unpacking the starter model", "正在解包入门模型"),
    "starter_converting": (
        "Converting the starter model: {seconds} s (takes about half a minute, once)",
        "正在转换入门模型：{seconds} 秒（约需半分钟，只做一次）",
    ),
    "starter_waiting": (
        "Another TuneDesk is preparing the starter model; waiting for it.",
        "另一个 TuneDesk 正在准备入门模型，请稍候。",
    ),
    "starter_interrupted": (
        "Interrupted. Nothing is broken: run it again and it goes on.",
        "已中断。没有任何损坏：再次运行即可继续。",
    ),
    "starter_ready": ("The starter model is ready in {folder}", "入门模型已就绪：{folder}"),
}
