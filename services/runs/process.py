"""The one door to other processes: starting them, knowing them, signalling them, sweeping them up.

A process is known by its pid and its start time together. The processes of a run are found by
descent and by a mark in their environment, because torchrun gives each worker a session of its own
and orphans change parents; never by the text of a command line.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import psutil

RUN_MARK = "TUNEDESK_RUN"
"""Environment variable that every process of a run carries: the run's folder."""
RUN_STOP = "TUNEDESK_STOP"
"""Environment variable that tells a trainer which file appears when it is to stop."""

_NOT_INHERITED = {
    "TUNEDESK_PASSWORD", RUN_MARK, RUN_STOP, "PYTHONPATH", "PYTHONSTARTUP",
    # a launcher around TuneDesk must not leak into the launches TuneDesk makes
    "RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "NPROC_PER_NODE", "NNODES", "NODE_RANK",
    "MASTER_ADDR", "MASTER_PORT", "ACCELERATE_USE_FSDP", "ACCELERATE_USE_DEEPSPEED",
}  # fmt: skip
_GONE = (psutil.NoSuchProcess, psutil.ZombieProcess, psutil.AccessDenied, OSError)


@dataclass(frozen=True)
class Identity:
    """A process that is this one and no later one with the same pid."""

    pid: int
    started: float
    """On Linux seconds since the machine's start, which no change of the clock moves; elsewhere since the epoch."""
    boot: str = ""
    """Which start of the machine that was."""

    def alive(self) -> bool:
        """True while it runs; a zombie is not alive."""
        if self.boot != _boot():
            return False
        try:
            process = psutil.Process(self.pid)
            return abs(_started(process) - self.started) < 0.1 and process.status() != psutil.STATUS_ZOMBIE
        except _GONE:
            return False

    def as_json(self) -> dict[str, Any]:
        return {"pid": self.pid, "started": self.started, "boot": self.boot}


def identity(pid: int) -> Identity | None:
    """The identity of a living process, or None."""
    try:
        return Identity(pid, _started(psutil.Process(pid)), _boot())
    except _GONE:
        return None


def me() -> Identity:
    """This very process."""
    return Identity(os.getpid(), _started(psutil.Process()), _boot())


def _started(process: psutil.Process) -> float:
    if sys.platform != "linux":
        return process.create_time()
    # psutil adds the machine's start to it, which moves whenever the clock is set; field 22 of proc_pid_stat(5)
    try:
        stat = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError as error:
        raise psutil.NoSuchProcess(process.pid) from error
    return int(stat.rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")


@cache
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


@dataclass(frozen=True)
class Result:
    """A finished command; ``output`` is stdout and stderr together."""

    returncode: int
    output: str


def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
    on_line: Callable[[str], None] | None = None,
    told: str | None = None,
    stop: Callable[[], bool] | None = None,
) -> Result:
    """Run a short command to its end and return its output; ``on_line`` sees each line as it comes, and
    ``told`` is what it reads from its standard input (less than a pipe holds).

    Past ``timeout_s``, or soon after ``stop()`` is true, its whole tree is killed and the return code is -9. A
    program that does not exist gives 127.
    """
    try:
        child = subprocess.Popen(
            list(argv), cwd=cwd, env=child_environment(env or {}),
            stdin=subprocess.DEVNULL if told is None else subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
            text=True, encoding="utf-8", errors="replace",
        )  # fmt: skip
    except OSError as error:
        return Result(127, str(error))
    lines: list[str] = []
    timer = threading.Timer(timeout_s, kill_tree, [child.pid]) if timeout_s is not None else None
    if timer is not None:
        timer.start()
    ended = threading.Event()
    if stop is not None:
        threading.Thread(target=_kill_when, args=(stop, child.pid, ended), daemon=True).start()
    try:
        assert child.stdout is not None
        if child.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                child.stdin.write(told or "")
                child.stdin.close()
        for line in child.stdout:
            lines.append(line)
            if on_line is not None:
                on_line(line.rstrip("\n"))
        child.wait()
    except BaseException:
        kill_tree(child.pid)
        child.wait()
        raise
    finally:
        ended.set()
        if timer is not None:
            timer.cancel()
        if child.stdout is not None:
            child.stdout.close()
    return Result(child.returncode, "".join(lines))


def _kill_when(stop: Callable[[], bool], pid: int, ended: threading.Event) -> None:
    while not ended.wait(0.1):
        if stop():
            kill_tree(pid)
            return


def spawn(
    argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], log: Path
) -> subprocess.Popen[bytes]:
    """Start a command in a session of its own, all its output appended to ``log``. Raises OSError."""
    with log.open("ab") as output:
        return subprocess.Popen(
            list(argv), cwd=cwd, env=child_environment(env), stdin=subprocess.DEVNULL,
            stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip


def converse(argv: Sequence[str], *, cwd: Path) -> subprocess.Popen[bytes]:
    """Start a command in a session of its own whose input and output are pipes to us; what it says on its
    standard error goes where ours does. Raises OSError.
    """
    return subprocess.Popen(
        list(argv), cwd=cwd, env=child_environment({}), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip


def spawn_free(argv: Sequence[str], *, cwd: Path, log: Path) -> None:
    """Start a command that goes on without us; while we live, its end is noticed, so that it leaves no zombie."""
    child = spawn(argv, cwd=cwd, env={}, log=log)
    threading.Thread(target=child.wait, daemon=True).start()


def child_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """This process's environment for a child, less what would confuse it, plus ``extra``."""
    inherited = {name: value for name, value in os.environ.items() if name not in _NOT_INHERITED}
    return {**inherited, "PYTHONUNBUFFERED": "1", **extra}


def own_environment(names: Iterable[str]) -> dict[str, str]:
    """Those of ``names`` that this process was given, with their values."""
    return {name: os.environ[name] for name in names if name in os.environ}


def python() -> str:
    """The interpreter that runs TuneDesk, by its full path."""
    return sys.executable


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def members(mark: str | None = None, of: int | None = None) -> list[psutil.Process]:
    """The living processes that carry ``mark`` or descend from ``of``; this process is never among them."""
    found: dict[int, psutil.Process] = {}
    if of is not None:
        with contextlib.suppress(*_GONE):
            root = psutil.Process(of)
            found |= {process.pid: process for process in [root, *root.children(recursive=True)]}
    if mark is not None:
        for process in psutil.process_iter():
            with contextlib.suppress(*_GONE):
                if process.pid not in found and process.environ().get(RUN_MARK) == mark:
                    found[process.pid] = process
    found.pop(os.getpid(), None)
    return [process for process in found.values() if _living(process)]


def send(processes: Iterable[psutil.Process], signal_number: int) -> None:
    """Signal each process; one that is already gone is no error."""
    for process in processes:
        with contextlib.suppress(*_GONE):
            process.send_signal(signal_number)


def kill_tree(pid: int) -> None:
    """KILL a process and all that descends from it."""
    send(members(of=pid), signal.SIGKILL)


def sweep(mark: str, of: int | None = None, timeout_s: float = 4.0) -> bool:
    """KILL whatever of a run is left, again and again until nothing is. True when nothing is left."""
    deadline = time.monotonic() + timeout_s
    while remaining := members(mark, of):
        send(remaining, signal.SIGKILL)
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def become_subreaper() -> None:
    """On Linux, orphaned descendants become children of this process, so that none is lost sight of."""
    if sys.platform == "linux":
        pr_set_child_subreaper = 36
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None, use_errno=True).prctl(pr_set_child_subreaper, 1, 0, 0, 0)


def reap(besides: int | None = None) -> None:
    """Collect finished children that nobody waits for, except the one with the pid ``besides``.

    Asks the kernel: to look through all processes five times a second would take time from the run.
    """
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
            if ended.si_pid == besides:
                return  # it is first in line; its owner takes it out
            os.waitpid(ended.si_pid, os.WNOHANG)


def _living(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except _GONE:
        return False


def resident_bytes(pid: int) -> int:
    """The memory of a process and all that descends from it."""
    total = 0
    for process in members(of=pid):
        with contextlib.suppress(*_GONE):
            total += process.memory_info().rss
    return total
