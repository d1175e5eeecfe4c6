"""What the control group of this process allows it (a container, a Slurm job), versions 1 and 2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MOUNT = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")


@dataclass(frozen=True)
class MemoryLimit:
    """A group whose memory is limited, and where it stands."""

    limit: int
    """Bytes."""
    folder: Path

    def used(self) -> int | None:
        """Bytes in use without the file cache that the kernel can take back; None where it cannot be read."""
        usage = _number(self.folder / "memory.current", self.folder / "memory.usage_in_bytes")
        if usage is None:
            return None
        return max(usage - self._reclaimable(), 0)

    def _reclaimable(self) -> int:
        for line in _text(self.folder / "memory.stat").splitlines():
            name, _, value = line.partition(" ")
            if name == self._cache_entry and value.isdigit():
                return int(value)
        return 0

    @property
    def _cache_entry(self) -> str:
        return "inactive_file" if (self.folder / "memory.current").exists() else "total_inactive_file"


def memory_limit() -> MemoryLimit | None:
    """The tightest memory limit above this process, or None."""
    limits = [
        MemoryLimit(limit, folder)
        for folder in _folders("memory")
        if (limit := _number(folder / "memory.max", folder / "memory.limit_in_bytes")) is not None
    ]
    return min(limits, key=lambda found: found.limit, default=None)


def cpu_limit() -> float | None:
    """How many CPUs' worth of time this process may use, or None for no limit."""
    limits = [limit for folder in _folders("cpu") if (limit := _cpu_quota(folder)) is not None]
    return min(limits, default=None)


def _cpu_quota(folder: Path) -> float | None:
    quota, _, period = _text(folder / "cpu.max").partition(" ")
    if not quota:
        quota, period = _text(folder / "cpu.cfs_quota_us"), _text(folder / "cpu.cfs_period_us")
    if not (quota.isdigit() and period.isdigit() and int(quota) and int(period)):
        return None  # "max" and -1 mean no limit
    return int(quota) / int(period)


def _folders(controller: str) -> Iterator[Path]:
    """This process's group and all groups above it. Inside a container the recorded path may not exist."""
    for line in _text(MEMBERSHIP).splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        root = MOUNT / controller if controllers else MOUNT
        here = root / path.lstrip("/")
        for folder in (here, *here.parents):
            yield folder
            if folder == root:
                break


def _number(*candidates: Path) -> int | None:
    for path in candidates:
        text = _text(path)
        if text.isdigit():
            return int(text)
    return None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
