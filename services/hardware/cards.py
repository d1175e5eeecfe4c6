"""The accelerator cards: NVIDIA GPUs through NVML, Ascend NPUs through npu-smi. None is not an error."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, Literal

import psutil

from services.runs import process

NPU_INTERVAL_S = 15.0
"""npu-smi takes about a second, so it is asked no more often than this."""


@dataclass(frozen=True)
class Card:
    """One accelerator at one moment; memory in bytes."""

    index: int
    """Its physical number, whatever the server itself was limited to."""
    name: str
    kind: Literal["gpu", "npu"]
    used_percent: float | None
    """Share of the last moment in which it computed; None where the driver does not tell."""
    memory_used: int
    memory_total: int
    capability: tuple[int, int] | None = None
    """NVIDIA's compute capability, as (8, 0) for Ampere; None where the driver does not tell."""


def read_cards(visible: Sequence[str] | None) -> tuple[Card, ...]:
    """The cards by number; ``visible`` limits them to these numbers or UUIDs (a beginning is enough)."""
    if visible is not None and not visible:
        return ()
    return (*_gpus(visible), *_npus(visible))


def _gpus(visible: Sequence[str] | None) -> list[Card]:
    cards = []
    for index, uuid, handle in _gpu_handles():
        if _is_visible(index, uuid, visible) and (card := _gpu(index, handle)) is not None:
            cards.append(card)
    return cards


@cache
def _gpu_handles() -> tuple[tuple[int, str, Any], ...]:
    """(physical number, UUID, NVML handle) of each GPU; NVML is started once and stays."""
    try:
        import pynvml

        pynvml.nvmlInit()
        handles = [pynvml.nvmlDeviceGetHandleByIndex(n) for n in range(pynvml.nvmlDeviceGetCount())]
        return tuple((n, str(pynvml.nvmlDeviceGetUUID(handle)), handle) for n, handle in enumerate(handles))
    except Exception:  # no driver, no library, a driver that is being updated: all mean no cards
        return ()


def _gpu(index: int, handle: Any) -> Card | None:
    import pynvml

    try:
        name = str(pynvml.nvmlDeviceGetName(handle))
    except pynvml.NVMLError:  # fallen off the bus
        return None
    try:
        used_percent = float(pynvml.nvmlDeviceGetUtilizationRates(handle).gpu)
    except pynvml.NVMLError:
        used_percent = None
    try:
        memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
        used, total = int(memory.used), int(memory.total)
    except pynvml.NVMLError:  # a GPU that shares the machine's memory has none of its own
        shared = psutil.virtual_memory()
        used, total = shared.total - shared.available, shared.total
    return Card(index, name, "gpu", used_percent, used, total, _capability(handle))


def _capability(handle: Any) -> tuple[int, int] | None:
    import pynvml

    try:
        major, minor = pynvml.nvmlDeviceGetCudaComputeCapability(handle)
        return int(major), int(minor)
    except (pynvml.NVMLError, AttributeError, TypeError, ValueError):
        return None


def _is_visible(index: int, uuid: str, visible: Sequence[str] | None) -> bool:
    if visible is None:
        return True
    return str(index) in visible or any(uuid.startswith(asked) for asked in visible if asked.startswith("GPU-"))


def _npus(visible: Sequence[str] | None) -> list[Card]:
    return [card for card in _npu_reading() if _is_visible(card.index, "", visible)]


_npu_lock = Lock()
_npu_last: tuple[float, tuple[Card, ...]] = (float("-inf"), ())


def _npu_reading() -> tuple[Card, ...]:
    """The newest reading; while one caller waits for npu-smi the others get the one before."""
    global _npu_last  # noqa: PLW0603
    read_at, cards = _npu_last
    if time.monotonic() - read_at < NPU_INTERVAL_S or not _npu_lock.acquire(blocking=False):
        return cards
    try:
        program = shutil.which("npu-smi")
        if program is not None:
            result = process.run([program, "info"], cwd=Path("/"), timeout_s=10)
            cards = parse_npu_smi(result.output) if result.returncode == 0 else ()
        _npu_last = (time.monotonic(), cards)
        return cards
    finally:
        _npu_lock.release()


def parse_npu_smi(text: str) -> tuple[Card, ...]:
    """The cards in the table that ``npu-smi info`` prints: two rows a chip, the first names its card."""
    cards: list[Card] = []
    number, name = "", ""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        first = cells[0].split()
        if len(cells) != 3 or not first or not first[0].isdecimal():
            continue
        if re.match(r"[0-9A-Fa-f]{4}:", cells[1]):
            cards.append(_npu(number, name, first, cells[2], {card.index for card in cards}))
        elif len(first) > 1:
            number, name = first[0], " ".join(first[1:])
    return tuple(cards)


def _npu(number: str, name: str, chip: Sequence[str], readings: str, taken: set[int]) -> Card:
    """``readings``: AI core %, then ``used / total`` MB pairs; the last one not 0 / 0 is the card's own."""
    index = int(chip[1]) if len(chip) > 1 and chip[1].isdecimal() else int(number)
    if index in taken:  # several chips on a card whose table has no column of device numbers
        index = max(taken) + 1
    pairs = [(int(used), int(total)) for used, total in re.findall(r"(\d+)\s*/\s*(\d+)", readings)]
    used, total = next(((used, total) for used, total in reversed(pairs) if total), (0, 0))
    percent = re.match(r"\d+(\.\d+)?", readings)
    mib = 1024 * 1024
    return Card(index, f"Ascend {name}", "npu", float(percent[0]) if percent else None, used * mib, total * mib)
