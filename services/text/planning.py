"""Words of the room `planning`: key -> (English, Chinese)."""

WORDS: dict[str, tuple[str, str]] = {
    # strategies inside a sentence
    "strategy.single": ("one process", "单进程"),
    "strategy.ddp": ("DDP", "DDP"),
    "strategy.device_map": ("model parallel (device map)", "模型并行（device map）"),
    "strategy.ddp+device_map": ("DDP with model parallel", "DDP 加模型并行"),
    "strategy.zero0": ("ZeRO-0", "ZeRO-0"),
    "strategy.zero1": ("ZeRO-1", "ZeRO-1"),
    "strategy.zero2": ("ZeRO-2", "ZeRO-2"),
    "strategy.zero3": ("ZeRO-3", "ZeRO-3"),
    "strategy.zero2_offload": ("ZeRO-2 with offload", "ZeRO-2 加卸载"),
    "strategy.zero3_offload": ("ZeRO-3 with offload", "ZeRO-3 加卸载"),
    "strategy.fsdp2": ("FSDP2", "FSDP2"),
    "strategy.megatron": ("Megatron", "Megatron"),
    "strategy.qlora": ("{strategy} with QLoRA (4 bits)", "{strategy} 加 QLoRA（4 位）"),
    "strategy.halved": ("{strategy} all in bfloat16", "{strategy}（全部使用 bfloat16）"),
    # the panel of the window
    "fits.true": ("✓ Fits this machine", "✓ 这台机器放得下"),
    "fits.false": ("✗ Does not fit this machine", "✗ 这台机器放不下"),
    "fits.unknown": ("Size not known yet", "大小尚不清楚"),
    "bar_expected": ("Typical rows", "普通样本"),
    "bar_worst": ("Longest rows", "最长样本"),
    "bar_value": ("{total} of {free} GiB", "{total} / {free} GiB（可用）"),
    "part.weights": ("weights", "权重"),
    "part.adapter": ("adapter", "适配器"),
    "part.gradients": ("gradients", "梯度"),
    "part.optimizer": ("optimizer", "优化器"),
    "part.activations": ("activations", "激活"),
    "part.logits": ("logits", "logits"),
    "part.buffers": ("buffers", "缓冲区"),
    "part.rollout": ("generation", "生成"),
    "part.runtime": ("programs", "程序自身"),
    # why a way was chosen: the first sentence
    "why.cpu": (
        "There is no card here, so one process trains on the CPU with all {cores} cores, in {dtype}; more processes would "
        "only share the same cores.",
        "这里没有可用的卡，因此由一个进程使用全部 {cores} 个 CPU 核心训练，精度为 {dtype}；更多进程也只是分享同样的核心。",
    ),
    "why.cpu_ranks": (
        "{processes} processes on the CPU share the {cores} cores and average their gradients (DDP over gloo).",
        "CPU 上的 {processes} 个进程分享 {cores} 个核心，并对梯度取平均（基于 gloo 的 DDP）。",
    ),
    "why.one_card": (
        "One card ({card}) holds the model and all that training adds, so nothing has to be shared or moved.",
        "一张卡（{card}）就放得下模型和训练所需的一切，无需分摊或搬移。",
    ),
    "why.zero2": (
        "ZeRO-2 on {cards} cards keeps a whole model on each and shares gradients and optimizer states, which costs "
        "hardly any time and works with every method.",
        "在 {cards} 张卡上使用 ZeRO-2：每张卡保留完整模型，梯度和优化器状态由各卡分摊，几乎不损失速度，且适用于所有方法。",
    ),
    "why.ddp": (
        "DDP on {cards} cards is the fastest here: every card holds the whole training and only gradients are exchanged.",
        "在 {cards} 张卡上使用 DDP 最快：每张卡都放得下全部训练内容，只需交换梯度。",
    ),
    "why.fsdp2": (
        "FSDP2 splits weights, gradients and optimizer states over {cards} cards, and fetches the weights while it "
        "computes; that fits where a whole model on each card would not, or is faster than the other ways that fit.",
        "FSDP2 把权重、梯度和优化器状态切分到 {cards} 张卡上，并在计算的同时取回权重；在每张卡放不下完整模型时也能训练，或比其他放得下的方式更快。",
    ),
    "why.halved": (
        "FSDP2 splits weights, gradients and optimizer states over {cards} cards and keeps them all in bfloat16, as a "
        "training on one card does: with a float32 copy of the weights none fits, and without it very small changes are "
        "rounded away, so a learning rate of 1e-5 or more learns better than a lower one.",
        "FSDP2 把权重、梯度和优化器状态切分到 {cards} 张卡上，并全部保持 bfloat16（与单卡全参数训练相同）：若再保留一份 float32 权重，任何方式都放不下；"
        "没有这份副本时极小的更新会被舍入掉，因此学习率宜取 1e-5 或更高。",
    ),
    "why.zero3": (
        "ZeRO-3 splits weights, gradients and optimizer states over {cards} cards; no way that keeps more on each card fits.",
        "ZeRO-3 把权重、梯度和优化器状态切分到 {cards} 张卡上；每张卡保留更多内容的方式都放不下。",
    ),
    "why.zero2_offload": (
        "Nothing fits into the cards' own memory, so ZeRO-2 keeps the optimizer states in the host's memory, which takes time "
        "at every step.",
        "仅靠显存放不下，因此 ZeRO-2 把优化器状态放在主机内存中，每一步都会因此变慢。",
    ),
    "why.zero3_offload": (
        "Nothing fits into the cards' own memory, so ZeRO-3 keeps weights and optimizer states in the host's memory, which "
        "takes time at every step.",
        "仅靠显存放不下，因此 ZeRO-3 把权重和优化器状态放在主机内存中，每一步都会因此变慢。",
    ),
    "why.device_map": (
        "The model is spread over {cards} cards by its layers in one process; only one card computes at a time, but "
        "nothing faster fits.",
        "模型按层分布在 {cards} 张卡上，由一个进程训练；同一时刻只有一张卡在计算，但更快的方式都放不下。",
    ),
    "why.megatron": (
        "The model is a mixture of {experts} experts, and Megatron keeps each expert on its card (TP {tp}, PP {pp}, EP "
        "{ep}), where the other ways run the experts one after the other.",
        "该模型是包含 {experts} 个专家的混合模型，Megatron 让每个专家留在自己的卡上（TP {tp}、PP {pp}、EP {ep}），而其他方式只能逐个运行专家。",
    ),
    "why.megatron_dense": (
        "The model is too large for a card in any other way, so Megatron splits every layer over {tp} and all layers over "
        "{pp} cards.",
        "其他方式下单卡都放不下该模型，因此 Megatron 把每一层切分到 {tp} 张卡、所有层切分到 {pp} 组卡上。",
    ),
    "why.sequence": (
        "Rows of up to {length} tokens are each split over {size} cards (sequence parallelism) under {strategy}, because "
        "the activations of a whole row are what fills a card.",
        "长达 {length} 个词元的行在 {strategy} 下切分到 {size} 张卡上（序列并行），因为占满显存的正是整行的激活值。",
    ),
    "why.qlora": (
        "Nothing else fits into the {free} GiB that are free, so the model is loaded in {bits} bits and a LoRA is trained "
        "on it (QLoRA); it is somewhat slower and a little less exact.",
        "其他方式都放不进空闲的 {free} GiB，因此以 {bits} 位精度加载模型并在其上训练 LoRA（QLoRA）；速度稍慢，精度略低。",
    ),
    "why.given": ("You asked for {strategy}, so it stays.", "您指定了 {strategy}，因此保持不变。"),
    "why.given_too_large": (
        "You asked for {strategy}; it does not fit: at worst {worst} GiB against {free} GiB free.",
        "您指定了 {strategy}，但放不下：最多需要 {worst} GiB，而空闲只有 {free} GiB。",
    ),
    "why.unknown": (
        "How large the model is could not be read, so {strategy} on {cards} cards is a cautious choice without an estimate.",
        "无法得知模型大小，因此在 {cards} 张卡上谨慎地选择 {strategy}，没有显存估算。",
    ),
    "why.nothing_fits": (
        "Nothing that was tried fits: the nearest is {strategy} with {worst} GiB at worst against {free} GiB free; more or "
        "larger cards, shorter rows or a smaller model would.",
        "尝试过的方式都放不下：最接近的是 {strategy}，最多需要 {worst} GiB，而空闲只有 {free} GiB；可以使用更多或更大的卡、更短的行或更小的模型。",
    ),
    "why.nothing_fits_cpu": (
        "This does not fit: {worst} GiB at worst against {free} GiB free for a process on the CPU; more memory, a card, "
        "shorter rows or a smaller model would do.",
        "放不下：CPU 上的每个进程最多需要 {worst} GiB，而空闲只有 {free} GiB；可以增加内存、使用显卡、缩短行长或换更小的模型。",
    ),
    "why.host_too_small": (
        "Nothing that was tried fits: {strategy} would fit the cards, but needs {host} GiB of the host's memory, and "
        "{host_free} GiB are free; more of it, LoRA or a smaller model would do.",
        "尝试过的方式都放不下：{strategy} 可以放进显存，但需要 {host} GiB 主机内存，而空闲只有 {host_free} GiB；可以增加内存、改用 LoRA 或更小的模型。",
    ),
    # the second sentence
    "memory_cards": (
        "A card takes {expected} GiB with rows of {tokens} tokens and {worst} GiB at worst (rows of {length}) of {free} GiB "
        "free; {batch} rows × {accumulation} accumulated × {copies} ranks make {total} rows a step.",
        "每行 {tokens} 个词元时每张卡约需 {expected} GiB，最多（每行 {length}）{worst} GiB，空闲 {free} GiB；"
        "{batch} 行 × 累积 {accumulation} × {copies} 个进程，每步共 {total} 行。",
    ),
    "memory_cpu": (
        "A process takes {expected} GiB with rows of {tokens} tokens and {worst} GiB at worst (rows of {length}) of {free} "
        "GiB free; {batch} rows × {accumulation} accumulated × {copies} processes make {total} rows a step.",
        "每行 {tokens} 个词元时每个进程约需 {expected} GiB，最多（每行 {length}）{worst} GiB，空闲 {free} GiB；"
        "{batch} 行 × 累积 {accumulation} × {copies} 个进程，每步共 {total} 行。",
    ),
    "memory_unknown": (
        "Without the model's config.json its memory cannot be estimated; {batch} rows × {accumulation} accumulated × "
        "{copies} ranks make {total} rows a step.",
        "没有模型的 config.json，无法估算显存；{batch} 行 × 累积 {accumulation} × {copies} 个进程，每步共 {total} 行。",
    ),
    "of.heads": ("attention heads", "个注意力头"),
    "of.key_value_heads": ("key and value heads", "个键值头"),
    "of.layers": ("layers", "层"),
    "of.experts": ("experts", "个专家"),
    "of.ranks": ("ranks of a pipeline stage", "个流水线阶段内的进程"),
    "others": ("Other ways:", "其他方式："),
    # what another way costs
    "cost.same": ("{strategy}: as fast, {memory} GiB a card at worst.", "{strategy}：速度相当，每卡最多 {memory} GiB。"),
    "cost.slower": (
        "{strategy}: about {percent} % slower, {memory} GiB a card at worst.",
        "{strategy}：约慢 {percent}%，每卡最多 {memory} GiB。",
    ),
    "cost.faster": (
        "{strategy}: about {percent} % faster, {memory} GiB a card at worst.",
        "{strategy}：约快 {percent}%，每卡最多 {memory} GiB。",
    ),
    "cost.too_large": (
        "{strategy}: does not fit, {memory} GiB a card at worst.",
        "{strategy}：放不下，每卡最多需要 {memory} GiB。",
    ),
    "cost.host_too_small": (
        "{strategy}: does not fit, {host} GiB of the host's memory.",
        "{strategy}：放不下，需要 {host} GiB 主机内存。",
    ),
    "cost.unknown": ("{strategy}: not estimated.", "{strategy}：未估算。"),
    # what was changed
    "rule.cpu_half": (
        "torch_dtype is float32 instead of {dtype}: this CPU has no instructions for half precision and would be over ten "
        "times slower.",
        "torch_dtype 由 {dtype} 改为 float32：这个 CPU 没有半精度指令，否则会慢十倍以上。",
    ),
    "rule.bf16_without": (
        "The {card} cannot multiply bfloat16, so this trains in float16 mixed precision.",
        "{card} 不支持 bfloat16 运算，因此改用 float16 混合精度训练。",
    ),
    "rule.fsdp_checkpointing": (
        "gradient_checkpointing is off: FSDP2 has activation checkpointing of its own, and both together are refused.",
        "已关闭 gradient_checkpointing：FSDP2 有自己的激活检查点，两者不能同时使用。",
    ),
    "rule.through_torchrun": (
        "{strategy} needs a process group even for one process, so it is launched through torchrun (NPROC_PER_NODE=1).",
        "{strategy} 即使只有一个进程也需要进程组，因此通过 torchrun 启动（NPROC_PER_NODE=1）。",
    ),
    "rule.stream_split": (
        "split_dataset_ratio {ratio} has no effect on a stream, so it is 0. For a validation set name a val_dataset.",
        "流式读取时 split_dataset_ratio {ratio} 不起作用，已设为 0。需要验证集请指定 val_dataset。",
    ),
    "rule.split_besides_file": (
        "split_dataset_ratio {ratio} is 0, because a val_dataset is given.",
        "由于指定了 val_dataset，split_dataset_ratio 由 {ratio} 改为 0。",
    ),
    # what is warned of
    "cards_left_out": (
        "Card {cards} stays out of it: {free} GiB of it are free, and {least} GiB of each of the others. To use it all the "
        "same, name the cards under devices.",
        "不使用第 {cards} 号卡：它只有 {free} GiB 空闲，而其余每张卡有 {least} GiB。如仍要使用，请在 devices 中写明。",
    ),
    "rule.several_nodes": (
        "This is the command of one of {nodes} machines; each also needs NNODES, its NODE_RANK and the first one's "
        "MASTER_ADDR, which a target with several nodes sets.",
        "这是 {nodes} 台机器中每一台的命令；每台还需要 NNODES、各自的 NODE_RANK 和首台机器的 MASTER_ADDR，选择多机目标时会自动设置。",
    ),
    "rule.quantized_whole": (
        "{strategy} does not split quantized weights: each card keeps all of them.",
        "{strategy} 不会切分量化权重：每张卡都保留全部权重。",
    ),
    "rule.zero3_generates": (
        "Generating under ZeRO-3 is slow, because every token gathers all weights again. ZeRO-2 or vLLM generates faster.",
        "在 ZeRO-3 下生成很慢，因为每个词元都要重新收集全部权重。ZeRO-2 或 vLLM 生成更快。",
    ),
    "rule.experts_sharded": (
        "Under {strategy} the {experts} experts of this model are gathered and run one after the other. Megatron is "
        "several times as fast for it.",
        "在 {strategy} 下，该模型的 {experts} 个专家会被逐个收集并运行。使用 Megatron 会快数倍。",
    ),
    "rule.longer_than_made_for": (
        "Rows of {length} tokens are longer than the {most} positions this model was made for; what lies beyond is learnt "
        "badly. Set max_length to {most} at most, or a rope_scaling.",
        "每行 {length} 个词元超过了该模型支持的 {most} 个位置，超出部分学习效果很差。请将 max_length 设为不超过 {most}，或设置 rope_scaling。",
    ),
    "rule.early_stop_unevaluated": (
        "early_stop_interval waits for an evaluation, and there are no validation rows. Name a val_dataset or a "
        "split_dataset_ratio.",
        "early_stop_interval 依赖评估结果，但没有验证数据。请指定 val_dataset 或 split_dataset_ratio。",
    ),
    # reasons inside a refusal
    "reason.flash_needs_card": (
        "flash attention runs on NVIDIA's cards only.",
        "Flash Attention 只能在 NVIDIA 显卡上运行。",
    ),
    "reason.flash_old_card": (
        "flash attention needs cards from Ampere (2020) on.",
        "Flash Attention 需要 Ampere（2020 年）及之后的显卡。",
    ),
    "reason.flash_missing": (
        "the package flash-attn is not installed (pip install flash-attn --no-build-isolation).",
        "没有安装 flash-attn 软件包（pip install flash-attn --no-build-isolation）。",
    ),
    # DeepSpeed's own knobs
    "deepspeed.buckets": (
        "Buckets of {size} numbers: on few cards smaller ones let computing and talking take turns more often.",
        "每个通信桶 {size} 个数：卡数较少时，较小的桶能让计算与通信更频繁地交替。",
    ),
    "deepspeed.buckets_many": (
        "Buckets of {size} numbers: on many cards larger ones use the network better.",
        "每个通信桶 {size} 个数：卡数较多时，较大的桶能更好地利用网络。",
    ),
    "deepspeed.offload": (
        "The optimizer states go to the host's memory, which has {host} GiB: less on the cards, slower steps.",
        "优化器状态放到主机内存（共 {host} GiB）：显存占用减少，每步变慢。",
    ),
    "deepspeed.no_offload": (
        "The optimizer states stay on the cards: below 128 GiB of host memory ({host} GiB here) offloading is a risk.",
        "优化器状态留在显存中：主机内存低于 128 GiB（这里为 {host} GiB）时卸载有风险。",
    ),
}
