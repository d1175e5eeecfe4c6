"""The hardware that is planned for: this machine as it is now, or one that a file describes."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_core import PydanticCustomError

from services.errors import Key, Refused
from services.hardware.cards import Card
from services.hardware.machine import Machine
from services.planning.setup import Gpu, Hardware
from services.runs import process
from services.swift.commands import Device
from services.units import GIB

WITHOUT_BF16 = re.compile(
    r"\b(V100|GV100|P100|GP100|P40|P4|K80|K40|M40|M60|T4|T4G|T40|T10)\b|TITAN|GTX|RTX 20\d\d"
    r"|RTX [4568]000(?!.*\bada)|Quadro|Tesla [PVKMT]\d|910A|910Pro",
    re.IGNORECASE,
)
"""Names of cards before Ampere, and of the first Ascend 910."""
AMPERE = (8, 0)
"""The compute capability from which NVIDIA's cards multiply bfloat16 (CUDA C++ Programming Guide, arithmetic)."""
LARGEST_DESCRIPTION = 1 << 20
_TOPOLOGY = re.compile(r"^GPU(\d+)\s.*\bX\b")
_UNDERLINED = re.compile(r"\x1b\[[0-9;]*m")


def hardware_of(machine: Machine, topology: str = "") -> Hardware:
    """This machine as planning sees it; ``topology`` is what ``nvidia-smi topo -m`` prints, or ""."""
    return Hardware(
        gpus=tuple(_gpu(card) for card in machine.cards),
        link=link_of(topology, [card.index for card in machine.cards]),
        host_memory_gib=machine.memory_total / GIB,
        host_free_gib=(machine.memory_total - machine.memory_used) / GIB,
        cores=machine.cores,
        disk_free_gib=machine.disk_free / GIB,
        has_bf16=machine.has_bf16,
        has_cxx_compiler=machine.has_cxx_compiler,
    )


def _gpu(card: Card) -> Gpu:
    by_name = has_bf16(card.name)
    return Gpu(
        name=card.name,
        memory_gib=card.memory_total / GIB,
        free_gib=max(card.memory_total - card.memory_used, 0) / GIB,
        index=str(card.index),
        kind=card.kind,
        has_bf16=by_name if card.capability is None else card.capability >= AMPERE,
    )


def has_bf16(name: str) -> bool:
    """True unless ``name`` is that of a card known to lack bfloat16."""
    return WITHOUT_BF16.search(name) is None


_topologies: dict[tuple[int, ...], str] = {}


def read_topology(machine: Machine) -> str:
    """What ``nvidia-smi topo -m`` prints, asked once; "" where there are not several NVIDIA cards."""
    cards = tuple(card.index for card in machine.cards if card.kind == "gpu")
    if len(cards) < 2:
        return ""
    if cards not in _topologies:
        found = process.run(["nvidia-smi", "topo", "-m"], cwd=Path("/"), timeout_s=10)
        _topologies[cards] = found.output if found.returncode == 0 else ""
    return _topologies[cards]


def link_of(topology: str, cards: list[int]) -> str:
    """How all of ``cards`` reach each other, by their slowest pair: nvlink, pcie, system, or "" where not told.

    ``topology`` is the matrix of ``nvidia-smi topo -m``: NV# is NVLink; PIX, PXB, PHB and NODE are PCIe within a
    socket; SYS crosses the sockets.
    """
    lines = _UNDERLINED.sub("", topology).splitlines()
    head = next((line for line in lines if "GPU" in line and not _TOPOLOGY.match(line)), "")
    columns = re.findall(r"\bGPU\d+", head)
    kinds = set()
    for line in lines:
        row = _TOPOLOGY.match(line)
        if row is None or int(row[1]) not in cards:
            continue
        cells = line.split()[1 : 1 + len(columns)]
        kinds |= {
            cell
            for column, cell in zip(columns, cells, strict=False)
            if cell != "X" and int(column.removeprefix("GPU")) in cards
        }
    if not kinds:
        return ""
    if "SYS" in kinds:
        return "system"
    return "nvlink" if all(kind.startswith("NV") for kind in kinds) else "pcie"


class _GpuDescription(BaseModel):
    model_config = ConfigDict(extra="allow")

    name: str = Field(min_length=1)
    memory_gib: float = Field(gt=0, le=4096)
    free_gib: float | None = Field(default=None, ge=0)
    count: int = Field(default=1, ge=1, le=1024)
    kind: Literal["gpu", "npu"] | None = None

    @field_validator("memory_gib", "free_gib", "count", mode="before")
    @classmethod
    def _a_number(cls, value: object) -> object:
        return _no_truth(value)

    @model_validator(mode="after")
    def _free_within(self) -> _GpuDescription:
        if self.free_gib is not None and self.free_gib > self.memory_gib:
            raise ValueError("free_gib is more than memory_gib")
        return self


class _Description(BaseModel):
    model_config = ConfigDict(extra="allow")

    gpus: tuple[_GpuDescription, ...] = ()
    link: str = ""
    host_memory_gib: float = Field(gt=0, le=1 << 20)
    host_free_gib: float | None = Field(default=None, ge=0)
    cores: int = Field(ge=1, le=1 << 16)
    nodes: int = Field(default=1, ge=1, le=1 << 14)
    disk_free_gib: float | None = Field(default=None, ge=0)
    has_bf16: bool = False

    @field_validator("host_memory_gib", "host_free_gib", "cores", "nodes", "disk_free_gib", mode="before")
    @classmethod
    def _a_number(cls, value: object) -> object:
        return _no_truth(value)

    @field_validator("gpus", mode="before")
    @classmethod
    def _none(cls, value: object) -> object:
        return () if value is None else value

    @model_validator(mode="after")
    def _free_within(self) -> _Description:
        if self.host_free_gib is not None and self.host_free_gib > self.host_memory_gib:
            raise ValueError("host_free_gib is more than host_memory_gib")
        return self


def _no_truth(value: object) -> object:
    """pydantic reads true as 1."""
    if isinstance(value, bool):
        raise PydanticCustomError("number", "true and false are no numbers")
    return value


def read_description(path: Path) -> Hardware:
    """The machine that a JSON file describes.

    ``{"gpus": [{"name", "memory_gib", "free_gib", "count"}], "link", "host_memory_gib", "cores", "nodes",
    "disk_free_gib"}``; memory in GiB. Raises Refused("machine_unreadable" or "machine_field").
    """
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_DESCRIPTION + 1)
        value = orjson.loads(data) if len(data) <= LARGEST_DESCRIPTION else None
    except (OSError, ValueError) as error:
        raise Refused("machine_unreadable", path=str(path), why=str(error).splitlines()[0]) from error
    if not isinstance(value, dict):
        raise Refused("machine_unreadable", path=str(path), why=Key("error.machine_no_object"))
    return described(value)


def described(value: dict[str, Any]) -> Hardware:
    """The machine that a mapping describes, as ``read_description``. Raises Refused("machine_field")."""
    try:
        found = _Description.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "host_free_gib"
        missing = first["type"] == "missing"
        shown = "–" if missing else _shown(first.get("input"))
        raise Refused("machine_field", field=field, value=shown, why=_why(first["type"], missing)) from error
    for part in (found, *found.gpus):
        _refuse_misspelt(part.model_extra or {}, list(type(part).model_fields))
    gpus = [gpu for gpu in found.gpus for _ in range(gpu.count)]
    return Hardware(
        gpus=tuple(
            Gpu(
                name=gpu.name,
                memory_gib=gpu.memory_gib,
                free_gib=gpu.memory_gib if gpu.free_gib is None else gpu.free_gib,
                index=str(index),
                kind=gpu.kind or ("npu" if re.search(r"ascend|\b910|\bnpu\b", gpu.name, re.IGNORECASE) else "gpu"),
                has_bf16=has_bf16(gpu.name),
            )
            for index, gpu in enumerate(gpus)
        ),
        link=_link(found.link),
        host_memory_gib=found.host_memory_gib,
        host_free_gib=found.host_memory_gib if found.host_free_gib is None else found.host_free_gib,
        cores=found.cores,
        disk_free_gib=found.disk_free_gib,
        nodes=found.nodes,
        has_bf16=found.has_bf16,
    )


def device_of_description(hardware: Hardware) -> Device:
    """The part of a described machine that a plan depends on."""
    cards = tuple(gpu.index for gpu in hardware.gpus)
    return Device(cards, hardware.gpus[0].kind if hardware.gpus else "gpu", hardware.cores)


def _shown(value: object) -> str:
    if isinstance(value, dict) and "host_memory_gib" in value:  # the whole of it: more free than there is
        return f"{value.get('host_free_gib')} / {value.get('host_memory_gib')}"
    return str(value)[:80]


def _why(kind: str, missing: bool) -> Key:
    if missing:
        return Key("error.machine_missing")
    if kind == "value_error":
        return Key("error.machine_free")
    if kind == "literal_error":
        return Key("error.why_choice", choices="gpu, npu")
    if kind in ("tuple_type", "model_type", "model_attributes_type", "dict_type"):
        return Key("error.machine_list")
    return Key("error.why_text") if kind.startswith("string") else Key("error.machine_number")


def _refuse_misspelt(extra: dict[str, Any], known: list[str]) -> None:
    """What is near a known name was meant to be it; anything else is a note of the person's own."""
    for name in extra:
        close = difflib.get_close_matches(name, known, 1, 0.75) or [word for word in known if name in word.split("_")]
        if close:
            raise Refused("machine_field", field=name, value="…", why=Key("error.machine_misspelt", close=close[0]))


def _link(text: str) -> str:
    word = text.strip().lower()
    if word.startswith("nv"):
        return "nvlink"
    if word.startswith("sys"):
        return "system"
    return "pcie" if word.startswith(("pci", "pix", "pxb", "phb", "node")) else ""
