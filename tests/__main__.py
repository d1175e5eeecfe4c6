"""``python -m tests [part …]``: every test, part by part, with the time of each and one line that counts them."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from tests.browser.chromium import NoChromium, provide_chromium

PROJECT = Path(__file__).resolve().parents[1]
LIMITS_S = {"unit": 300, "integration": 480, "real": 900, "browser": 780}
"""How long a part may take before it counts as hung, in the order in which the parts run."""
TIDY_S = 60
"""What a part that is told to end may take to clean up."""


@dataclass(frozen=True)
class Outcome:
    """What one part came to."""

    part: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    why: str = ""
    """Where the part failed as a whole: the reason."""


def main(parts: list[str]) -> int:
    """Run the parts (default: all), print the table and the closing line, and return the exit code."""
    unknown = [part for part in parts if part not in LIMITS_S]
    if unknown:
        print(f"There is no part {unknown[0]!r}. The parts are: {', '.join(LIMITS_S)}.", file=sys.stderr)
        return 2
    outcomes = [run_part(part) for part in LIMITS_S if part in (parts or LIMITS_S)]
    print("\n" + "\n".join(table(outcomes)))
    passed, failed, skipped = (sum(getattr(one, name) for one in outcomes) for name in ("passed", "failed", "skipped"))
    print(f"\n{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    return 1 if failed else 0


def run_part(part: str) -> Outcome:
    """Run one part as a pytest of its own; its output goes straight through."""
    print(f"\n── {part} ──", flush=True)
    began = time.monotonic()
    if part == "browser":
        try:
            print(f"Chromium: {provide_chromium()}", flush=True)
        except NoChromium as error:
            print(error, file=sys.stderr, flush=True)
            return Outcome(part, failed=1, seconds=time.monotonic() - began, why=str(error))
    with tempfile.TemporaryDirectory(prefix="tunedesk-tests-") as folder:
        report = Path(folder) / "report.xml"
        argv = [sys.executable, "-m", "pytest", f"tests/{part}", f"--junitxml={report}", "--durations=8",
                "--durations-min=5"]  # fmt: skip
        code = _finished(subprocess.Popen(argv, cwd=PROJECT, stdin=subprocess.DEVNULL), LIMITS_S[part])
        return outcome(part, report, code, time.monotonic() - began)


def outcome(part: str, report: Path, code: int | None, seconds: float) -> Outcome:
    """What pytest's report says; a part that hung (no ``code``), broke off or ran no test has failed."""
    counts = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    with contextlib.suppress(OSError, ElementTree.ParseError):
        for suite in ElementTree.parse(report).getroot().iter("testsuite"):
            counts = {name: number + int(suite.get(name, 0)) for name, number in counts.items()}
    failed = counts["failures"] + counts["errors"]
    passed = max(0, counts["tests"] - failed - counts["skipped"])
    why = ""
    if code is None:
        why = f"it was not done after {LIMITS_S[part]} s and was ended"
    elif not passed + failed:
        why = f"no test ran (pytest ended with exit code {code})"
    elif code and not failed:
        why = f"pytest ended with exit code {code}"
    return Outcome(part, passed, failed + bool(why and not failed), counts["skipped"], seconds, why)


def table(outcomes: list[Outcome]) -> list[str]:
    """The time by part."""
    lines = [f"{'part':<12} {'passed':>7} {'failed':>7} {'skipped':>8} {'time':>9}"]
    for one in outcomes:
        line = f"{one.part:<12} {one.passed:>7} {one.failed:>7} {one.skipped:>8} {clock(one.seconds):>9}"
        lines.append(line + (f"   {one.why}" if one.why else ""))
    total = sum(one.seconds for one in outcomes)
    return [*lines, f"{'together':<12} {'':>7} {'':>7} {'':>8} {clock(total):>9}"]


def clock(seconds: float) -> str:
    """``4 min 07 s``."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def _as_interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def _finished(child: subprocess.Popen[bytes], limit_s: float) -> int | None:
    """The exit code; None for one that had to be ended: with a chance to clean up, then by force."""
    try:
        return child.wait(limit_s)
    except (subprocess.TimeoutExpired, KeyboardInterrupt) as error:
        child.send_signal(signal.SIGINT)  # pytest tears its fixtures down, so that no process is left
        try:
            child.wait(TIDY_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        if isinstance(error, KeyboardInterrupt):
            raise
    return None


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _as_interrupt)
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
