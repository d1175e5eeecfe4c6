"""What a person wants: the specs. A spec says it in ms-swift's own words and knows nothing of how it is run."""

from __future__ import annotations

import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from services.errors import Key, Refused
from services.target_specs import HERE, Network, Target, as_target

STARTER = "starter"
SAMPLE = "sample"
"""How a spec's ``dataset`` names the built-in sample."""
Command = Literal["sft", "pt", "rlhf", "megatron sft", "megatron pt", "megatron rlhf"]
Strategy = Literal[
    "auto", "single", "ddp", "device_map", "ddp+device_map", "zero0", "zero1", "zero2", "zero3",
    "zero2_offload", "zero3_offload", "fsdp2", "megatron",
]  # fmt: skip
Engine = Literal["transformers", "vllm"]


class Spec(BaseModel):
    """Common to all: frozen, and no field is ever ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class TrainSpec(Spec):
    """A training run. ``args`` holds every ms-swift argument that has no field of its own here."""

    command: Command = "sft"
    name: str = ""
    model: str = STARTER
    dataset: tuple[str, ...] = (SAMPLE,)
    strategy: Strategy = "auto"
    processes: int | None = Field(default=None, ge=1, le=1024)
    """Ranks on this machine; default: one a card, one on a CPU."""
    devices: tuple[str, ...] | None = None
    """Cards by their numbers; default: all that are free."""
    env: dict[str, str] = Field(default_factory=dict)
    target: Target = HERE
    """Where it runs."""
    network: Network = Network()
    """How its ranks talk to each other."""
    max_restarts: int = Field(default=0, ge=0, le=100)
    """How often a run that failed goes on by itself from its last whole checkpoint."""
    expected_tokens: int | None = Field(default=None, ge=1)
    """Mean tokens of a row, for estimates; default: of the checked data, else 512."""
    model_name: str = "TuneBot"
    """The name that the sample data set teaches."""
    model_author: str = "TuneDesk"
    args: dict[str, Any] = Field(default_factory=dict)

    @field_validator("name", "model_name", "model_author", mode="before")
    @classmethod
    def _number_as_name(cls, value: object) -> object:
        return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value

    @field_validator("target", mode="before")
    @classmethod
    def _word_as_target(cls, value: object) -> object:
        return as_target(value)

    @field_validator("dataset", mode="before")
    @classmethod
    def _list_of_sources(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value

    @field_validator("devices", mode="before")
    @classmethod
    def _numbers_as_text(cls, value: object) -> object:
        if isinstance(value, int | str):
            value = str(value).split(",")
        if not isinstance(value, list | tuple):
            return value
        return list(dict.fromkeys(text for item in value if (text := str(item).strip()))) or None

    @field_validator("env", mode="before")
    @classmethod
    def _values_as_text(cls, value: object) -> object:
        return {str(key): _text(item) for key, item in value.items()} if isinstance(value, dict) else value

    @field_validator("env")
    @classmethod
    def _passable(cls, value: dict[str, str]) -> dict[str, str]:
        for name, text in value.items():
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or "\0" in text:
                raise ValueError(f"{name} cannot be an environment variable with this value")
        return value

    @property
    def teaches_swifts_own(self) -> bool:
        """Whether ms-swift's own self-cognition set is among the data, into which it puts a name and an author."""
        return any("self-cognition" in one for one in self.dataset)

    def flat(self) -> dict[str, Any]:
        """The spec as its YAML file shows it: our fields and ms-swift's arguments side by side."""
        ours = self.model_dump(exclude={"args"}, exclude_defaults=True, mode="json")
        kept = {"model": self.model, "dataset": list(self.dataset)}
        if SAMPLE in self.dataset or self.teaches_swifts_own:
            kept |= {"model_name": self.model_name, "model_author": self.model_author}
        return {**ours, **kept, **self.args}


class MergeSpec(Spec):
    """Merge a LoRA adapter into its base model."""

    adapter: str
    base: str | None = None
    """Needed where the adapter does not name its base or another one is meant."""
    name: str = ""
    devices: tuple[str, ...] | None = None


class AuditSpec(Spec):
    """Count the tokens of all rows of one data file as ms-swift's template makes them."""

    dataset: str
    """The path of the file."""
    model: str = STARTER
    task: Literal["sft", "pt", "dpo", "orpo", "simpo", "cpo", "rm", "kto", "ppo", "grpo", "gkd"] = "sft"
    columns: dict[str, str] = Field(default_factory=dict)
    validation: tuple[str, ...] = ()
    """The paths of validation files, whose rows are looked for in ``dataset``."""
    template: dict[str, Any] = Field(default_factory=dict)
    """Arguments of a training run that change its tokens: system, agent_template, loss_scale …"""
    name: str = ""


class ServeSpec(Spec):
    """Serve a model for chatting, on this machine only."""

    model: str
    engine: Engine = "transformers"
    tensor_parallel: int = Field(default=1, ge=1)
    name: str = ""
    devices: tuple[str, ...] | None = None


class DownloadSpec(Spec):
    """Fetch one split of a hub's data set into the data folder."""

    dataset: str
    """``[hf::|ms::]owner/name[:subset][:split]``."""
    revision: str | None = None
    """A branch, tag or commit; default: the hub's newest."""
    name: str = ""


def train_spec(flat: Mapping[str, Any]) -> TrainSpec:
    """The spec that a flat mapping (a YAML file) describes.

    Raises Refused("spec_field") for a value of the wrong kind. Names that are not ours become ``args``,
    which the catalogue of ms-swift's arguments checks later.
    """
    ours = {key: value for key, value in flat.items() if key in TrainSpec.model_fields and key != "args"}
    args = {key: value for key, value in flat.items() if key not in ours}
    if "command" not in ours and "rlhf_type" in args:
        ours["command"] = "rlhf"
    try:
        return TrainSpec(**ours, args=args)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        value = str(first.get("input"))[:80]
        raise Refused("spec_field", field=field, value=value, why=_why(first["type"], first.get("ctx", {}))) from error


def _why(kind: str, context: Mapping[str, Any]) -> Key:
    """pydantic's kinds of error, in our words."""
    if kind in ("literal_error", "union_tag_invalid"):
        choices = str(context.get("expected") or context.get("expected_tags", ""))
        return Key("error.why_choice", choices=choices.replace(" or ", ", "))
    if kind.startswith(("int", "greater", "less")):
        return Key("error.why_number", least=context.get("ge", 1), most=context.get("le", "∞"))
    if kind.startswith(("tuple", "list")):
        return Key("error.why_list")
    if kind.startswith(("dict", "mapping")):
        return Key("error.why_map")
    return Key("error.why_passable" if kind == "value_error" else "error.why_text")


def read_train_spec(path: Path) -> TrainSpec:
    """Read a YAML file: a spec, or a preset that holds one. Raises Refused("spec_unreadable" or "spec_field")."""
    value = read_yaml(path)
    return train_spec(value["spec"] if isinstance(value.get("spec"), dict) else value)


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file. Raises Refused("spec_unreadable")."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe that nobody writes into would be read for ever
            raise Refused("spec_unreadable", path=str(path), why=Key("error.spec_no_file"))
        with path.open("rb") as file:
            text = file.read(LARGEST_SPEC_BYTES + 1)
        value = yaml.load(text.decode("utf-8"), _Reader) if len(text) <= LARGEST_SPEC_BYTES else None
    except RecursionError:
        value = None
    except OSError as error:
        raise Refused("spec_unreadable", path=str(path), why=error.strerror or str(error)) from error
    except (ValueError, yaml.YAMLError) as error:
        raise Refused("spec_unreadable", path=str(path), why=str(error).splitlines()[0]) from error
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise Refused("spec_unreadable", path=str(path), why=Key("error.spec_not_lines"))
    return value


LARGEST_SPEC_BYTES = 1 << 20


class _Reader(yaml.SafeLoader):
    """Reads no references (``*name``): a few lines of them stand for gigabytes, or for themselves."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("a reference (*name) to another place; write the value out")
        return super().compose_node(parent, index)


class _Writer(yaml.SafeDumper):
    """Writes out what is there twice, as ``_Reader`` wants it."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def as_yaml(value: Mapping[str, Any]) -> str:
    """A mapping as YAML, in its own order."""
    return yaml.dump(dict(value), Dumper=_Writer, allow_unicode=True, sort_keys=False, width=1000)
