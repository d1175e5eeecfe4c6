"""A run that is a Slurm job: submits it, copies its log, follows its state, and cancels it when the run is to end.

The run's own keeper starts it, in the run's folder, as
``python -P -m services.targets.slurm_job --env NAME,NAME OPTIONS -- command``.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from services.runs import process
from services.runs.folder import RunFolder, write_whole
from services.targets import slurm
from services.targets.slurm import JobState

POLL_S = 1.0
ASK_EVERY_S = 3.0
ASK_S = 30.0
UNKNOWN_S = 60.0
"""How long Slurm may not know a job before it counts as gone."""
CHUNK_BYTES = 1 << 16


@dataclass
class Job:
    """``run``, ``clock`` and ``sleep`` are replaceable, so that tests replay histories."""

    folder: RunFolder
    attempt: int
    options: tuple[str, ...]
    words: tuple[str, ...]
    env: dict[str, str]
    run: Callable[..., process.Result] = process.run
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    say: Callable[[bytes], None] = field(default_factory=lambda: _print)
    id: str = ""
    offset: int = 0
    asked: bool = False
    """Somebody ends this process."""

    @property
    def log(self) -> Path:
        return self.folder.attempt(self.attempt) / "slurm.log"

    def see_through(self) -> int:
        """From sbatch to the job's end; its exit code."""
        if not self.submit():
            return 1
        state, known_at, asked_at = JobState("PENDING"), self.clock(), float("-inf")
        while not state.over and not self.asked:
            if self.clock() - asked_at >= ASK_EVERY_S:
                asked_at, found = self.clock(), self.state()
                if found is not None:
                    self.tell(found, state)
                    state, known_at = found, self.clock()
                elif self.clock() - known_at > UNKNOWN_S:
                    state = JobState("UNKNOWN", 1)
            self.copy_log()
            self.sleep(POLL_S)
        if not state.over:
            return self.cancel()
        self.copy_log()
        if state.name != "COMPLETED":
            self.note(f"Slurm job {self.id} ended as {state.name}")
        return 0 if state.name == "COMPLETED" else state.exit_code or 1

    def submit(self) -> bool:
        """Write the script and hand it in; False, with Slurm's words in the log, where it was refused."""
        for earlier in range(1, self.attempt):
            if (left := job_of(self.folder, earlier)) is not None:  # its keeper may have been killed
                self.run(["scancel", "--quiet", left], cwd=Path("/"), timeout_s=ASK_S)
        env = {**self.env, process.RUN_STOP: str(self.folder.stop)}  # the nodes share this folder, as is usual there
        path = self.folder.attempt(self.attempt) / "job.sbatch"
        path.touch(mode=0o600)  # what it exports may be secret
        text = slurm.script(self.options, env, self.words, name=self.folder.read().name, log=str(self.log))
        path.write_text(text, encoding="utf-8")
        argv = ["sbatch", "--parsable", f"--chdir={self.folder.path}", str(path)]
        result = self.run(argv, cwd=self.folder.path, timeout_s=ASK_S)
        self.id = slurm.job_id(result.output) or ""
        if result.returncode or not self.id:
            self.note(f"Slurm did not take the job: {result.output.strip()}")
            return False
        self.note(f"Slurm job {self.id} submitted")
        write_whole(self.folder.attempt(self.attempt) / "slurm.json", orjson.dumps({"job": self.id}))
        return True

    def state(self) -> JobState | None:
        """From the controller, and from the accounting once the controller has forgotten it; None: neither answers."""
        asked = self.run(["scontrol", "show", "job", self.id], cwd=Path("/"), timeout_s=ASK_S)
        found = slurm.state_from_scontrol(asked.output) if asked.returncode == 0 else None
        if found is not None:
            return found
        words = ["sacct", "-X", "-n", "-P", "-o", "State,ExitCode", "-j", self.id]
        return slurm.state_from_sacct(self.run(words, cwd=Path("/"), timeout_s=ASK_S).output)

    def cancel(self) -> int:
        """Slurm sends TERM, and KILL to what is left after its KillWait."""
        self.run(["scancel", self.id], cwd=Path("/"), timeout_s=ASK_S)
        self.copy_log()
        return -signal.SIGTERM

    def copy_log(self) -> None:
        with contextlib.suppress(OSError), self.log.open("rb") as file:
            file.seek(self.offset)
            while data := file.read(CHUNK_BYTES):
                self.offset += len(data)
                self.say(data)

    def tell(self, found: JobState, before: JobState) -> None:
        if found.name != before.name:
            self.note(f"Slurm job {self.id} is {found.name}")

    def note(self, text: str) -> None:
        self.say(f"[tunedesk] {text}\n".encode())


def job_of(folder: RunFolder, attempt: int) -> str | None:
    """The id of the job an attempt was; None where it was none."""
    try:
        return str(orjson.loads((folder.attempt(attempt) / "slurm.json").read_bytes())["job"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _print(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def main(words: Sequence[str]) -> int:
    folder, split = RunFolder(Path.cwd()), list(words).index("--")
    env = process.own_environment(words[1].split(","))
    job = Job(folder, folder.read().attempt, tuple(words[2:split]), tuple(words[split + 1 :]), env)
    signal.signal(signal.SIGTERM, lambda *_: setattr(job, "asked", True))
    return job.see_through()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
