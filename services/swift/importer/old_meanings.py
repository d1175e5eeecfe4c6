"""What one flag of an older ms-swift is today, where that is more than another name."""

from __future__ import annotations

from collections.abc import Callable

from services.errors import Key
from services.swift.argument import FALSE, TRUE
from services.swift.importer import old_flags
from services.swift.importer.flags import Flag
from services.swift.importer.text import Text
from services.swift.importer.translation import Translation


def _first(flag: Flag) -> str:
    return flag.values[0].value if flag.values else "true"


def _is_true(flag: Flag) -> bool:
    return _first(flag).lower() in TRUE


def _is_false(flag: Flag) -> bool:
    return _first(flag).lower() in FALSE


def _quantization_bit(found: Translation, flag: Flag) -> None:
    if _first(flag) == "0":
        found.move(flag, "2", "importing.why_default")
    else:
        found.move(flag, "2", "importing.why_renamed", ("quant_method", (Text("bnb"),)), ("quant_bits", flag.values))


def _use_flash_attn(found: Translation, flag: Flag) -> None:
    new = "attention_backend" if found.command.startswith("megatron") else "attn_impl"
    value = "flash" if new == "attention_backend" else "flash_attn"
    if _is_true(flag):
        found.move(flag, "2, 3", "importing.why_renamed", (new, (Text(value),)))
    else:
        found.move(flag, "2, 3", "importing.why_default")


def _do_sample(found: Translation, flag: Flag) -> None:
    if _is_false(flag) and "temperature" in found.known:
        found.move(flag, "2", "importing.why_renamed", ("temperature", (Text("0"),)))
    else:
        found.move(flag, "2", "importing.why_default")


def _freeze_parameters(found: Translation, flag: Flag) -> None:
    try:
        float(_first(flag))
    except ValueError:
        found.set(flag, flag.name, flag.values)
    else:
        found.move(flag, "2", "importing.why_renamed", ("freeze_parameters_ratio", flag.values[:1]))


def _ckpt_dir(found: Translation, flag: Flag) -> None:
    """A checkpoint of ms-swift 2 and 3: an adapter, or a whole model where the name says that it was merged."""
    whole = "merged" in _first(flag) or _first(flag).rstrip("/").endswith("merges")
    found.move(flag, "2, 3", "importing.why_ckpt", ("model" if whole else "adapters", flag.values))


def _model_type(found: Translation, flag: Flag) -> None:
    """In ms-swift 2 it named one model; in 4 it names an architecture."""
    model = old_flags.old_model(_first(flag))
    if not model or _first(flag) in found.known[flag.name].known:
        found.set(flag, flag.name, flag.values)
    elif flag.name.removesuffix("_type") in found.settings:
        found.move(flag, "2", "importing.why_model_type")
    else:
        found.move(flag, "2", "importing.why_model_type", (flag.name.removesuffix("_type"), (Text(model),)))


def _add_to(name: str) -> Callable[[Translation, Flag], None]:
    """A flag whose values were added to those of ``name``."""

    def add(found: Translation, flag: Flag) -> None:
        values = tuple(Text(part, value.unknown) for value in flag.values for part in value.value.split(",") if part)
        before = tuple(found.settings.pop(name, []))
        found.move(flag, "2", "importing.why_renamed", (name, (*before, *values)))

    return add


def _dataset_sample(found: Translation, flag: Flag) -> None:
    """``--train_dataset_sample 1000`` is ``#1000`` behind the data set."""
    data = found.settings.get("dataset", [])
    count = _first(flag)
    if not count.isdigit():
        found.move(flag, "2", "importing.why_default")
    elif len(data) == 1 and "#" not in data[0].value:
        found.settings.pop("dataset")
        found.move(flag, "2", "importing.why_renamed", ("dataset", (data[0] + Text(f"#{count}"),)))
    else:
        found.reject(flag, Key("importing.why_sample", count=count), "--dataset name#count")


def _self_cognition(found: Translation, flag: Flag) -> None:
    count = _first(flag)
    if count == "0":
        found.move(flag, "2", "importing.why_default")
        return
    before = tuple(found.settings.pop("dataset", []))
    found.move(flag, "2", "importing.why_renamed", ("dataset", (*before, Text(f"swift/self-cognition#{count}"))))


def _negated(new: str) -> Callable[[Translation, Flag], None]:
    def move(found: Translation, flag: Flag) -> None:
        value = "false" if not _is_false(flag) else "true"
        found.move(flag, "3", "importing.why_renamed", (new, (Text(value),)))

    return move


def _minutes(found: Translation, flag: Flag) -> None:
    text = _first(flag)
    if text.isdigit():
        found.move(flag, "3", "importing.why_minutes", ("ddp_timeout", (Text(str(int(text[:9]) * 60)),)))
    else:
        found.reject(flag, Key("importing.why_gone", version="3"), "--ddp_timeout")


SPECIAL: dict[str, Callable[[Translation, Flag], None]] = {
    "ckpt_dir": _ckpt_dir,
    "custom_train_dataset_path": _add_to("dataset"),
    "custom_val_dataset_path": _add_to("val_dataset"),
    "data_sample": _dataset_sample,
    "dataset_sample": _dataset_sample,
    "do_sample": _do_sample,
    "freeze_parameters": _freeze_parameters,
    "model_type": _model_type,
    "ref_model_type": _model_type,
    "quantization_bit": _quantization_bit,
    "self_cognition_sample": _self_cognition,
    "train_dataset_sample": _dataset_sample,
    "use_flash_attn": _use_flash_attn,
}
MEGATRON_SPECIAL: dict[str, Callable[[Translation, Flag], None]] = {
    "distributed_timeout_minutes": _minutes,
    **{old: _negated(new) for old, new in old_flags.MEGATRON_3_NEGATED.items()},
}
ALSO_TODAY = ("freeze_parameters", "model_type", "ref_model_type")
"""Names that mean something else today."""
LAST = (
    "custom_train_dataset_path", "custom_val_dataset_path", "self_cognition_sample", "data_sample", "dataset_sample",
    "train_dataset_sample", "model_type", "ref_model_type",
)  # fmt: skip
"""What needs to know the other flags."""
