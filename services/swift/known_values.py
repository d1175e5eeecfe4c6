"""Values that an argument is known to take though ms-swift does not declare them, read out of the installed ms-swift.

Runs in the child that imports the trainer (read_arguments.py), never in the window's process.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable
from typing import Any

ATTENTION = ("sdpa", "flash_attn", "flash_attention_2", "flash_attention_3", "flash_attention_4", "flex_attention",
             "eager")  # fmt: skip
"""ms-swift passes them on to transformers, which also takes the name of a kernel on the hub."""
Known = dict[str, Any]
"""``known``: the values. ``plugin``: true where only a plugin can bring another one."""


def known_values(command: str) -> dict[str, Known]:
    """Argument name -> its known values for ``command``."""
    from swift.agent_template import agent_template_map
    from swift.callbacks import callbacks_map
    from swift.loss import loss_map
    from swift.loss_scale.base import ALL_BASE_STRATEGY
    from swift.loss_scale.mapping import loss_scale_map
    from swift.metrics import eval_metrics_map
    from swift.model import MODEL_MAPPING
    from swift.optimizers.mapping import optimizers_map
    from swift.rewards import orms, prms, rm_plugins
    from swift.rollout.multi_turn import multi_turns
    from swift.template import TEMPLATE_MAPPING

    found = {
        "agent_template": _closed(agent_template_map),
        "callbacks": _closed(callbacks_map),
        "eval_metric": _closed(eval_metrics_map),
        "loss_scale": _closed([*ALL_BASE_STRATEGY, *(name for name in loss_scale_map if name != "base")]),
        "model_type": _closed(MODEL_MAPPING),
        "multi_turn_scheduler": _closed(multi_turns),
        "optimizer": _closed(optimizers_map),
        "orm_model": _open(orms),
        "prm_model": _open(prms),
        "reward_funcs": _closed(orms),
        "reward_model_plugin": _closed(rm_plugins),
        "template": _closed(TEMPLATE_MAPPING),
        **_of_libraries(),
    }
    if command in ("sft", "pt"):
        found["loss_type"] = _closed(loss_map)
    if command.endswith("rlhf"):
        found["loss_type"] = _open(_rlhf_losses())
    if command.startswith("megatron"):
        del found["callbacks"], found["optimizer"]  # a table of its own, which needs Megatron to be read
    return found


def _of_libraries() -> dict[str, Known]:
    from transformers.integrations.integration_utils import INTEGRATION_TO_CALLBACK
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    zero = [f"zero{stage}" for stage in range(4)]
    return {
        "attn_impl": _open(ATTENTION),
        "ddp_backend": _open(["nccl", "gloo", "mpi", "ccl", "hccl", "cncl", "mccl"]),
        "deepspeed": _open([*zero, "zero2_offload", "zero3_offload"]),
        "fsdp": _open(["fsdp2"]),
        # what PEFT's LoraConfig takes, and LoRA-GA, which ms-swift adds
        "init_weights": _open(["true", "false", "gaussian", "pissa", "pissa_niter_16", "olora", "loftq", "orthogonal",
                               "eva", "corda", "lora-ga"]),
        "modules_to_save": _open(["all-embedding", "all-norm"]),
        "report_to": _open(["none", "all", *sorted(INTEGRATION_TO_CALLBACK)]),
        "rope_scaling": _open(sorted(ROPE_INIT_FUNCTIONS)),
        "target_modules": _open(["all-linear", "all-embedding", "all-router"]),
        "teacher_deepspeed": _open([*zero, "zero2_offload", "zero3_offload"]),
    }  # fmt: skip


def _rlhf_losses() -> list[str]:
    """The names that ms-swift's and TRL's trainers compare ``loss_type`` with."""
    from swift.rlhf_trainers import cpo_trainer, dpo_trainer, grpo_trainer
    from trl.experimental.cpo import cpo_trainer as trl_cpo_trainer
    from trl.experimental.kto import kto_trainer as trl_kto_trainer

    names: set[str] = set()
    for module in (dpo_trainer, cpo_trainer, grpo_trainer, trl_cpo_trainer, trl_kto_trainer):
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.Compare) and _name(node.left) == "loss_type":
                names |= {one for side in node.comparators for one in _texts(side)}
    return sorted(names - {"kto_pair"})  # compared with only to refuse it


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _texts(node: ast.expr) -> list[str]:
    parts = node.elts if isinstance(node, ast.List | ast.Tuple | ast.Set) else [node]
    return [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]


def _open(values: Iterable[str]) -> Known:
    return {"known": list(values)}


def _closed(values: Iterable[str]) -> Known:
    return {"known": sorted(values), "plugin": True}
