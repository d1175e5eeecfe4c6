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
    "empty": (
        "Merging puts what a LoRA has learned into the model itself. Choose an adapter above; a finished LoRA run "
        "offers its checkpoints here.",
        "合并会把 LoRA 学到的内容写进模型本身。请在上方选择适配器；完成的 LoRA 运行会在这里列出它的检查点。",
    ),
    "will_merge": (
        "{adapter} is merged into {base}.\nThe new model goes to {folder}; it is checked against base and adapter "
        "before it gets that name.",
        "将 {adapter} 合并进 {base}。\n新模型写入 {folder}；在得到该名称之前，会与基础模型加适配器进行比对。",
    ),
}
