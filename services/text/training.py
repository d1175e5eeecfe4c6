"""Words of the room `training`: key -> (English, Chinese)."""

WORDS: dict[str, tuple[str, str]] = {
    "reason.needs_gxx": (
        "DeepSpeed compiles a small part of itself here and needs a C++ compiler. Install g++ (sudo apt "
        "install g++) and look again; nothing has to be restarted.",
        "DeepSpeed 在这台机器上需要先编译一小部分代码，因此要有 C++ 编译器。"
        "请安装 g++（sudo apt install g++）后再看，无需重启 TuneDesk。",
    ),
    "reason.zero3_cpu": (
        "ZeRO-3 cannot start without a GPU or NPU: DeepSpeed fails while it splits the model. Use ZeRO-2 or FSDP2.",
        "没有 GPU 或 NPU 时 ZeRO-3 无法启动：DeepSpeed 在切分模型时就会出错。请改用 ZeRO-2 或 FSDP2。",
    ),
    "reason.one_core": (
        "It trains in several processes at once, and only one CPU core may be used here. Use a single process.",
        "它要同时用多个进程训练，而这里只能使用一个 CPU 核心。请使用单进程。",
    ),
    "reason.one_card": (
        "It spreads the work over several cards, and there is one here. Use a single process.",
        "它把训练分摊到多张卡上，而这里只有一张。请使用单进程。",
    ),
    "reason.no_cards": (
        "It needs a GPU or NPU, and none is visible here. On the CPU use a single process, DDP, ZeRO-2 or FSDP2.",
        "它需要 GPU 或 NPU，而这里没有可见的卡。在 CPU 上请使用单进程、DDP、ZeRO-2 或 FSDP2。",
    ),
    "reason.qlora_needs_card": (
        "QLoRA keeps the model in 4 bits, which only works on an NVIDIA GPU. Use LoRA: it trains the "
        "same adapter from unquantized weights.",
        "QLoRA 以 4 位精度保存模型，只能在 NVIDIA GPU 上使用。请改用 LoRA：它用未量化的权重训练同样的适配器。",
    ),
    "reason.qlora_needs_package": (
        "QLoRA needs the package bitsandbytes. Install it into TuneDesk's own environment (pip install "
        "bitsandbytes), then look again.",
        "QLoRA 需要 bitsandbytes 软件包。请将它安装到 TuneDesk 自己的环境中（pip install bitsandbytes），然后再看。",
    ),
}
