"""Words of the room `export`: key -> (English, Chinese)."""

WORDS: dict[str, tuple[str, str]] = {
    "adapter": ("LoRA adapter", "LoRA 适配器"),
    "adapter_info": (
        "A checkpoint of a run, or the path of any folder with adapter_config.json",
        "某个运行的检查点，或任何包含 adapter_config.json 的文件夹路径",
    ),
    "base": ("Base model", "基础模型"),
    "base_info": (
        "Leave empty to use the one the adapter names; else a folder, a hub id or “starter”",
        "留空则使用适配器所记录的模型；也可填写文件夹、模型 ID 或“starter”",
    ),
    "name": ("Name of the merged model", "合并后模型的名称"),
    "name_info": ("Leave empty for a name made from the run's", "留空则根据运行名称自动命名"),
    "merge": ("Merge", "合并"),
    "about": (
        "A LoRA training makes a small adapter that works only together with its base model. Merging puts what it learned "
        "into a model of its own, which can be chatted with, trained further and copied anywhere.",
        "LoRA 训练得到的是一个小的适配器，只能与基础模型一起使用。合并会把学到的内容写成一个独立的模型，"
        "可以用来对话、继续训练，或复制到任何地方。",
    ),
    "choose": ("Choose an adapter above: the checkpoints of your LoRA runs are listed.", "请在上方选择适配器：已列出您的 LoRA 运行的检查点。"),
    "empty": (
        "There is nothing to merge yet. Train something with LoRA first, in the Training tab; its checkpoints are then "
        "listed above.",
        "还没有可以合并的内容。请先在“训练”页用 LoRA 训练；之后它的检查点会列在上方。",
    ),
    "will_merge": (
        "{adapter} is merged into {base}.\nThe new model goes to {folder}; it is checked against base and adapter "
        "before it gets that name.",
        "将 {adapter} 合并进 {base}。\n新模型写入 {folder}；在得到该名称之前，会与基础模型加适配器进行比对。",
    ),
}
