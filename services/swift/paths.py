"""Which ms-swift arguments name files: a run works in its own folder, so a relative path must become absolute first."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

WRITTEN = ("logging_dir", "output_dir")
READ = (
    "adapters", "cached_dataset", "cached_val_dataset", "chord_sft_dataset", "custom_dataset_info",
    "custom_register_path", "external_plugins", "local_repo_path", "ref_adapters", "ref_model",
    "resume_from_checkpoint", "reward_adapters", "reward_model", "teacher_adapters", "teacher_model", "val_dataset",
)  # fmt: skip
"""Many of these also take a hub id, so only what is there as a file becomes a path."""
READ_BY_ENDING = {"deepspeed": ".json", "fsdp": ".json", "teacher_deepspeed": ".json", "system": ".txt"}
"""These hold a word or a text, and a file only where the name ends so."""


def absolute(args: Mapping[str, Any], here: Path) -> dict[str, Any]:
    """``args`` with the files they name given by absolute paths; relative ones are read from ``here``."""
    found = dict(args)
    for name, value in args.items():
        if name in WRITTEN and value == "":  # the same as not given; here it would be the current directory
            del found[name]
        elif name in WRITTEN and isinstance(value, str | int | float):  # a folder 5 is a number in YAML
            found[name] = str(here / Path(str(value)).expanduser())
        elif name in READ or str(value).endswith(READ_BY_ENDING.get(name, "\0")):
            found[name] = [existing(one, here) for one in value] if isinstance(value, list) else existing(value, here)
    return found


def existing(value: Any, here: Path) -> Any:
    """``value`` as an absolute path where it names something that is there (``#N`` may follow), else as it is."""
    if not isinstance(value, str):
        return value
    path, mark, count = value.rpartition("#")
    for text, rest in ((value, ""), (path, mark + count)):
        try:
            place = here / Path(text).expanduser()
            if text and place.exists():
                return str(place) + rest
        except (OSError, RuntimeError, ValueError):  # too long, no such user, no path at all
            continue
    return value
