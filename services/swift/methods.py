"""The training methods: what each learns from, what it needs to start in ms-swift 4.6, and its defaults. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from services.errors import Refused
from services.swift.argument import words

Learns = Literal["sft", "pt", "preference", "kto", "prompts"]
"""What a row holds: a conversation, plain text, two answers to compare, one judged answer, a question alone."""
MEGATRON = "megatron "
MEGATRON_RLHF = ("dpo", "kto", "grpo", "gkd", "rm")
PACKS = ("grpo", "dpo", "kto", "gkd")
"""Of rlhf, what takes packing or padding_free (RLHFArguments._check_padding_free)."""
SPLITS_SEQUENCES = ("grpo", "dpo")
"""Of rlhf, what takes sequence_parallel_size (RLHFArguments._check_sequence_parallel)."""
LORA_RATE = 10
"""LoRA learns best at about ten times the rate of full training (Schulman et al. 2025, "LoRA Without Regret")."""
SMALL_RATE = 10
"""A model of a few hundred million parameters takes ten times the rate of one of several billions."""
GENERATIONS = 8
"""ms-swift's and TRL's own number of answers to one prompt."""


@dataclass(frozen=True)
class Method:
    """One way of training."""

    name: str
    command: str
    learns: Learns
    full_rate: float
    """Learning rate of full training."""
    fields: tuple[str, ...] = ()
    """Arguments of its own that are worth a field on a form."""
    reference: bool = False
    """A full training keeps a second, frozen copy of the model; LoRA switches its adapter off instead."""
    pairs: bool = False
    """Two sequences go through the model for each row."""
    generates: bool = False
    """The model answers prompts while it trains."""

    @property
    def rlhf_type(self) -> str | None:
        """ms-swift's name of it; None outside ``swift rlhf``."""
        return self.name if self.command == "rlhf" else None


_GENERATION = (
    "max_completion_length", "temperature", "use_vllm", "vllm_mode", "vllm_server_host", "vllm_server_port",
    "vllm_gpu_memory_utilization", "vllm_tensor_parallel_size", "vllm_max_model_len", "sleep_level",
)  # fmt: skip
METHODS: Mapping[str, Method] = MappingProxyType(
    {
        one.name: one
        for one in (
            # ms-swift's own rate for full training, where no paper below says otherwise
            Method("pt", "pt", "pt", 1e-5, ("packing", "packing_length", "streaming")),
            Method("sft", "sft", "sft", 1e-5, ("loss_scale", "packing", "neftune_noise_alpha", "system")),
            # TRL's DPOConfig; Rafailov et al. 2023
            Method(
                "dpo", "rlhf", "preference", 1e-6, ("beta", "loss_type", "rpo_alpha", "label_smoothing"),
                reference=True, pairs=True,
            ),
            # Hong et al. 2024: 8e-6
            Method("orpo", "rlhf", "preference", 8e-6, ("beta",), pairs=True),
            # Meng et al. 2024: 3e-7 to 1e-6
            Method("simpo", "rlhf", "preference", 1e-6, ("beta", "simpo_gamma", "cpo_alpha"), pairs=True),
            Method("cpo", "rlhf", "preference", 1e-6, ("beta", "loss_type", "cpo_alpha"), pairs=True),
            # Ethayarajh et al. 2024: 5e-7 to 5e-6 with AdamW
            Method(
                "kto", "rlhf", "kto", 1e-6, ("beta", "desirable_weight", "undesirable_weight", "loss_type"),
                reference=True, pairs=True,
            ),
            Method("rm", "rlhf", "preference", 1e-5, ("center_rewards_coefficient",), pairs=True),
            # Shao et al. 2024 (DeepSeekMath): 1e-6
            Method(
                "grpo", "rlhf", "prompts", 1e-6,
                ("reward_funcs", "reward_weights", "reward_model", "num_generations", *_GENERATION, "beta", "epsilon",
                 "epsilon_high", "loss_type", "scale_rewards", "num_iterations", "dynamic_sample", "log_completions"),
                reference=True, generates=True,
            ),
            Method(
                "gkd", "rlhf", "sft", 1e-5,
                ("teacher_model", "teacher_model_server", "gkd_logits_topk", "beta", "lmbda", "sft_alpha",
                 "offload_teacher_model", *_GENERATION),
                generates=True,
            ),
            # without a form of its own: reached through the catalogue
            Method("ppo", "rlhf", "prompts", 1e-6, reference=True, generates=True),
        )
    }
)  # fmt: skip

LORA_FIELDS = ("lora_rank", "lora_alpha", "lora_dropout", "target_modules", "use_rslora", "use_dora", "init_weights",
               "lorap_lr_ratio", "modules_to_save", "freeze_llm", "freeze_vit", "freeze_aligner")  # fmt: skip
FULL_FIELDS = ("freeze_parameters_ratio", "freeze_parameters", "trainable_parameters", "freeze_llm", "freeze_vit",
               "freeze_aligner")  # fmt: skip
QLORA_FIELDS = ("quant_method", "quant_bits", "bnb_4bit_compute_dtype", "bnb_4bit_quant_type",
                "bnb_4bit_use_double_quant")  # fmt: skip
COMMON_FIELDS = (
    "attn_impl", "padding_free", "use_liger_kernel", "gradient_checkpointing", "split_dataset_ratio", "val_dataset",
    "eval_strategy", "eval_steps", "early_stop_interval", "load_best_model_at_end", "metric_for_best_model",
    "save_strategy", "save_steps", "save_total_limit", "save_only_model",
)  # fmt: skip
RSLORA_ALPHA = 16
"""rsLoRA scales by alpha over the root of the rank (Kalajdzievski 2023), so ms-swift's 32 would be far too much."""


def method_of(command: str, args: Mapping[str, Any]) -> Method:
    """The method of a spec. Raises KeyError for a command that does not train."""
    plain = command.removeprefix(MEGATRON)
    return METHODS[str(args.get("rlhf_type") or "dpo") if plain == "rlhf" else plain]


def fields(method: Method, tuner: str, quantized: bool = False) -> tuple[str, ...]:
    """The arguments worth a field on a form for ``method`` with ``tuner`` (lora, full, …), in a form's order."""
    of_tuner = FULL_FIELDS if tuner == "full" else LORA_FIELDS if tuner == "lora" else ()
    return (*method.fields, *of_tuner, *(QLORA_FIELDS if quantized else ()), *COMMON_FIELDS)


def method_settings(
    args: Mapping[str, Any], command: str = "sft", on_cpu: bool = False, small: bool = False
) -> dict[str, Any]:
    """Defaults for what ``args`` leave open: the tuner's, the learning rate, and what the method needs to start.

    Never holds a name that ``args`` have.
    """
    method = method_of(command, args)
    tuner = str(args.get("tuner_type") or "lora")
    settings = {
        "tuner_type": tuner,
        **_tuner_settings(tuner, args),
        "lr" if command.startswith(MEGATRON) else "learning_rate": learning_rate(method, tuner, args, small),
        **_start_settings(method, command, args, on_cpu),
    }
    return {name: value for name, value in settings.items() if name not in args}


def learning_rate(method: Method, tuner: str, args: Mapping[str, Any], small: bool = False) -> float:
    """The learning rate for a method and a tuner; LoRA+ starts from LoRA's, for its A matrices (Hayou et al. 2024)."""
    rate = method.full_rate * (1 if tuner == "full" else LORA_RATE)
    return float(f"{rate * (SMALL_RATE if small and tuner != 'full' else 1):.0e}")


def _tuner_settings(tuner: str, args: Mapping[str, Any]) -> dict[str, Any]:
    if tuner != "lora":
        return {}
    settings: dict[str, Any] = {
        "lora_rank": 8,
        "lora_alpha": RSLORA_ALPHA if args.get("use_rslora") else 32,
        "target_modules": ["all-linear"],
    }
    if str(args.get("init_weights", "")).startswith("pissa"):
        # with dropout the split weights do not sum to the model's any more: PEFT warns and training starts off it
        settings["lora_dropout"] = 0.0
    if args.get("quant_method") in ("bnb", "hqq"):
        settings["quant_bits"] = 4
    return settings


def _start_settings(method: Method, command: str, args: Mapping[str, Any], on_cpu: bool) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    if method.rlhf_type is not None:
        settings["rlhf_type"] = method.rlhf_type
    if method.name == "kto" and not command.startswith(MEGATRON):
        # TRL estimates the KL term from the other rows of a rank's batch
        settings["per_device_train_batch_size"] = least_batch(command, args)
    if method.name in ("grpo", "gkd") and not command.startswith(MEGATRON):
        asks_vllm = bool(args.get("vllm_mode") or args.get("vllm_server_host") or args.get("vllm_server_base_url"))
        settings["use_vllm"] = asks_vllm and not on_cpu
        if args.get("vllm_server_host") or args.get("vllm_server_base_url"):
            settings["vllm_mode"] = "server"
        elif args.get("use_vllm"):
            settings["vllm_mode"] = "colocate"
    return settings


def least_batch(command: str, args: Mapping[str, Any]) -> int:
    """The fewest rows a rank may take at once."""
    return 2 if method_of(command, args).name == "kto" and args.get("loss_type") != "apo_zero_unpaired" else 1


def generations_fitting(batch: int, accumulation: int, processes: int, wanted: int = GENERATIONS) -> int:
    """The most answers to a prompt, up to ``wanted``, that fill a generation batch evenly.

    The generation batch is ``batch * accumulation * processes`` answers, as ms-swift counts it
    (RolloutTrainerArgumentsMixin). Raises Refused("generations_one") where it is one.
    """
    total = batch * accumulation * processes
    fitting = [count for count in range(2, min(total, wanted) + 1) if total % count == 0]
    if not fitting and total < 2:
        raise Refused("generations_one")
    return fitting[-1] if fitting else total


def fitted(settings: Mapping[str, Any], command: str, processes: int) -> dict[str, Any]:
    """What is added once batch, accumulation and processes stand; never a name that ``settings`` have."""
    if method_of(command, settings).name != "grpo" or command.startswith(MEGATRON):
        return {}
    added: dict[str, Any] = {}
    counts = _generation_counts(settings, processes)
    if "num_generations" not in settings:
        added["num_generations"] = generations_fitting(*counts)
    generations = int(added.get("num_generations") or settings["num_generations"])
    if _evaluates(settings) and "per_device_eval_batch_size" not in settings:
        evaluated = int(settings.get("num_generations_eval") or generations)
        added["per_device_eval_batch_size"] = _least_multiple(evaluated, processes)
    return added


def _least_multiple(generations: int, processes: int) -> int:
    """The fewest rows a rank with which all ranks together hold whole groups."""
    return next(rows for rows in range(1, generations + 1) if rows * processes % generations == 0)


def _generation_counts(settings: Mapping[str, Any], processes: int) -> tuple[int, int, int]:
    batch = int(settings.get("per_device_train_batch_size") or 1)
    if settings.get("generation_batch_size"):
        return int(settings["generation_batch_size"]), 1, 1
    steps = settings.get("steps_per_generation") or settings.get("gradient_accumulation_steps") or 1
    return batch, int(steps), processes


def _evaluates(settings: Mapping[str, Any]) -> bool:
    has_rows = bool(settings.get("val_dataset") or float(settings.get("split_dataset_ratio") or 0))
    return has_rows and settings.get("eval_strategy") != "no"


def check_method(settings: Mapping[str, Any], command: str, processes: int) -> None:
    """Raises Refused for what ms-swift would stop at: of the method, of its data and of its generation."""
    method = method_of(command, settings)
    if command == "megatron rlhf" and method.name not in MEGATRON_RLHF:
        raise Refused("method_not_megatron", method=method.name, methods=", ".join(MEGATRON_RLHF))
    if method.rlhf_type is None or command.startswith(MEGATRON):
        return
    _check_packing(method, settings)
    _check_reference(method, settings)
    if method.name == "kto":
        _check_kto(settings, command, processes)
    if method.name == "grpo":
        _check_grpo(settings, processes)
    if method.rlhf_type == "ppo" and not settings.get("reward_model"):
        raise Refused("ppo_without_reward")
    if method.name in ("grpo", "gkd"):
        _check_rollout(settings)
    if method.name == "gkd":
        _check_teacher(settings)


def _check_packing(method: Method, settings: Mapping[str, Any]) -> None:
    for name in ("packing", "padding_free"):
        if settings.get(name) and method.name not in PACKS:
            raise Refused("method_without", method=method.name, name=name, methods=", ".join(PACKS))
    if int(settings.get("sequence_parallel_size") or 1) > 1 and method.name not in SPLITS_SEQUENCES:
        methods = ", ".join(SPLITS_SEQUENCES)
        raise Refused("method_without", method=method.name, name="sequence_parallel_size", methods=methods)


def _check_reference(method: Method, settings: Mapping[str, Any]) -> None:
    keeps = method.reference and settings.get("tuner_type", "lora") == "full"
    if settings.get("ref_model") and not keeps:
        raise Refused("reference_not_taken", method=method.name)
    if settings.get("ref_adapters") and method.name not in ("dpo", "kto", "grpo"):
        raise Refused("reference_not_taken", method=method.name)


def _check_kto(settings: Mapping[str, Any], command: str, processes: int) -> None:
    rows = int(settings.get("per_device_train_batch_size") or 1)
    accumulation = int(settings.get("gradient_accumulation_steps") or 1)
    if least_batch(command, settings) > 1 and rows * accumulation * processes < 2:
        raise Refused("kto_batch_one")


def _check_grpo(settings: Mapping[str, Any], processes: int) -> None:
    teacher = settings.get("teacher_model") or settings.get("teacher_model_server")
    if not (settings.get("reward_funcs") or settings.get("reward_model") or settings.get("use_gym_env") or teacher):
        raise Refused("grpo_without_reward")
    batch, steps, ranks = _generation_counts(settings, processes)
    total, generations = batch * steps * ranks, int(settings.get("num_generations") or GENERATIONS)
    if generations < 2 and not teacher:
        raise Refused("generations_one")
    if total % generations:
        fitting = ", ".join(str(count) for count in range(2, total + 1) if total % count == 0) or "–"
        raise Refused("generations_do_not_divide", generations=generations, total=total, fitting=fitting)
    if settings.get("truncation_strategy") not in (None, "left", "delete"):
        raise Refused("grpo_truncation", given=settings["truncation_strategy"])
    if "soft_overlong" in words(settings.get("reward_funcs")) and not settings.get("soft_cache_length"):
        raise Refused("soft_overlong_length")


def _check_rollout(settings: Mapping[str, Any]) -> None:
    if settings.get("vllm_mode") and not settings.get("use_vllm"):
        raise Refused("vllm_mode_without_vllm")
    if settings.get("use_vllm") and not settings.get("vllm_mode"):
        raise Refused("vllm_without_mode")
    has_server = settings.get("vllm_server_host") or settings.get("vllm_server_base_url")
    if settings.get("vllm_mode") == "server" and not has_server:
        raise Refused("vllm_server_nowhere")


def _check_teacher(settings: Mapping[str, Any]) -> None:
    server = settings.get("teacher_model_server")
    if server and settings.get("teacher_model"):
        raise Refused("two_teachers")
    if server and not settings.get("gkd_logits_topk"):
        raise Refused("teacher_server_topk")
    if settings.get("use_liger_kernel") and not (server or settings.get("teacher_model")):
        raise Refused("liger_needs_teacher")
