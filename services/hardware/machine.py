"""What this machine has and how busy it is: cores, memory, disk, cards. No threads, a few milliseconds."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock

import psutil

from services.hardware import cgroup
from services.hardware.cards import Card, read_cards
from services.settings import Settings

CPUINFO = Path("/proc/cpuinfo")
TOPOLOGY = Path("/sys/devices/system/cpu")
CPU_INTERVAL_S = 0.5
"""The CPU's use is a mean over at least this long."""


@dataclass(frozen=True)
class Machine:
    """The machine as this process may use it, at one moment; memory and disk in bytes."""

    cores: int
    """Physical cores, within the CPU affinity and the control group's share."""
    cpu_percent: float
    """Mean use of the CPUs this process may run on, 0 to 100."""
    memory_total: int
    memory_used: int
    disk_total: int
    disk_free: int
    """On the file system of the data folder."""
    cards: tuple[Card, ...]
    has_cxx_compiler: bool
    has_bf16: bool
    """The CPU multiplies bfloat16 itself (AVX512-BF16, AMX or Arm's BF16)."""


def read_machine(settings: Settings) -> Machine:
    """A reading of this machine. Never raises for something that is not there."""
    memory_total, memory_used = _memory()
    disk_total, disk_free = _disk(settings.home)
    return Machine(
        cores=_cores(),
        cpu_percent=_cpu_use.percent(),
        memory_total=memory_total,
        memory_used=memory_used,
        disk_total=disk_total,
        disk_free=disk_free,
        cards=read_cards(settings.visible_devices),
        has_cxx_compiler=any(shutil.which(name) for name in ("g++", "c++", "clang++")),
        has_bf16=_has_bf16(),
    )


@cache
def _usable_cpus() -> tuple[int, ...]:
    """Numbers of the logical CPUs this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(range(psutil.cpu_count() or 1))


@cache
def _cores() -> int:
    cpus = _usable_cpus()
    cores = len({_core_of(cpu) for cpu in cpus})
    limit = cgroup.cpu_limit()
    return max(1, cores if limit is None else min(cores, int(limit)))


def _core_of(cpu: int) -> str:
    """The logical CPUs that share its physical core; one whose place is not told counts as a core."""
    try:
        return (TOPOLOGY / f"cpu{cpu}" / "topology" / "thread_siblings_list").read_text().strip()
    except OSError:
        return str(cpu)


@cache
def _has_bf16() -> bool:
    try:
        text = CPUINFO.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    flags = next((line for line in text.splitlines() if line.startswith(("flags", "Features"))), "")
    return not {"avx512_bf16", "amx_bf16", "bf16"}.isdisjoint(flags.split())


@cache
def _memory_limit() -> cgroup.MemoryLimit | None:
    limit = cgroup.memory_limit()
    return limit if limit is not None and limit.limit < psutil.virtual_memory().total else None


def _memory() -> tuple[int, int]:
    """(total, used) bytes; used leaves out caches that give way."""
    limit = _memory_limit()
    if limit is not None and (used := limit.used()) is not None:
        return limit.limit, min(used, limit.limit)
    memory = psutil.virtual_memory()
    return memory.total, memory.total - memory.available


def _disk(folder: Path) -> tuple[int, int]:
    """(total, free) bytes where ``folder`` is or would be."""
    for place in (folder, *folder.parents):
        try:
            usage = psutil.disk_usage(str(place))
        except OSError:
            continue
        return usage.total, usage.free
    return 0, 0


class _CpuUse:
    """Use between two looks. psutil.cpu_percent remembers a look for each thread, and a server has many."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._looked_at = time.monotonic()
        self._last = _cpu_seconds()
        self._percent: float | None = None

    def percent(self) -> float:
        with self._lock:
            now = time.monotonic()
            if now - self._looked_at >= CPU_INTERVAL_S:
                busy, total = _cpu_seconds()
                if total > self._last[1]:
                    share = (busy - self._last[0]) / (total - self._last[1])
                    self._percent = round(min(max(share, 0.0), 1.0) * 100, 1)
                self._looked_at, self._last = now, (busy, total)
            return _load_percent() if self._percent is None else self._percent


def _cpu_seconds() -> tuple[float, float]:
    """(busy, total) seconds since the start of the machine, of the CPUs this process may run on."""
    busy = total = 0.0
    times = psutil.cpu_times(percpu=True)
    for cpu in _usable_cpus():
        if cpu < len(times):  # a CPU that was switched off moves the rows up
            seconds = times[cpu]._asdict()
            guest = seconds.get("guest", 0.0) + seconds.get("guest_nice", 0.0)  # also counted as user
            whole = sum(seconds.values()) - guest
            total += whole
            busy += whole - seconds["idle"] - seconds.get("iowait", 0.0)
    return busy, total


def _load_percent() -> float:
    """Until there are two looks: the last minute's load as a share of all CPUs."""
    return round(min(psutil.getloadavg()[0] / (psutil.cpu_count() or 1), 1.0) * 100, 1)


_cpu_use = _CpuUse()
