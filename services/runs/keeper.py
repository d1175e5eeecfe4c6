"""The keeper: a small process of its own that sees one run through, from its turn to its verdict.

Started as ``python -P -m services.runs.keeper <run folder>`` in a new session, so it outlives the window,
the terminal and the tab. It alone writes the run's state; others ask through files.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx
import orjson

from services.plan import Plan, partial_of
from services.runs import diagnosis, process, queue
from services.runs.folder import Record, RunFolder, RunState
from services.settings import read_settings
from services.swift import log as swift_log
from services.swift.checkpoints import list_checkpoints
from services.swift.commands import resumed

POLL_S = 0.2
QUEUE_POLL_S = 0.5
RESTART_PAUSE_S = 2.0
"""Before a failed run is tried again, so that ports and memory of the last attempt are free."""
TERM_S = 2.0
"""Between asking the last processes to end and killing them."""


@dataclass
class Keeper:
    """One run's keeper. ``clock`` and ``sleep`` are replaceable, so that tests replay histories."""

    folder: RunFolder
    cpu_slots: int = 1
    clock: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep
    record: Record = field(init=False)

    def __post_init__(self) -> None:
        self.record = replace(self.folder.read(), keeper=process.me())

    @property
    def mark(self) -> str:
        return str(self.folder.path)

    def keep(self) -> Record:
        """See the run through and return its final record."""
        process.become_subreaper()
        plan = self.folder.read_plan(self.record.attempt)
        self.save()
        turn = self.wait_for_turn(plan)
        if turn is None:
            return self.end(RunState.STOPPED)
        while not self.see_through(plan, turn).state.final:
            plan = self.folder.read_plan(self.record.attempt)
        return self.record

    def see_through(self, plan: Plan, turn: queue.Turn) -> Record:
        """One attempt; its verdict, or where it is tried again the record of the next."""
        filled = plan.filled(
            {
                "run": str(self.folder.path),
                "id": self.folder.id,
                "port": str(turn.port),
                "devices": ",".join(turn.devices),
            }
        )
        self.record = replace(self.record, output_dir=filled.output_dir)
        for step, argv in enumerate((filled.argv, filled.then)):
            if not argv:
                break
            child = self.launch(filled, argv)
            if child is None:
                return self.record
            code = self.watch(filled, child)
            process.sweep(self.mark)
            process.reap()
            if self.record.stopping_since is not None or code != 0 or step or not filled.then:
                return self.verdict(filled, code)
        return self.verdict(filled, 0)

    def wait_for_turn(self, plan: Plan) -> queue.Turn | None:
        """Wait in the queue; None when a stop came first."""
        while self.stop_request() is None:
            with queue.lock(self.folder.path.parent):
                turn = queue.take_turn(self.folder, self.record, plan, self.cpu_slots)
                if turn is not None:
                    self.save(
                        state=RunState.STARTING,
                        started=self.clock(),
                        devices=turn.devices,
                        port=turn.port,
                        child=None,
                    )
                    return turn
            self.sleep(QUEUE_POLL_S)
        return None

    def launch(self, plan: Plan, argv: tuple[str, ...]) -> subprocess.Popen[bytes] | None:
        """Write the plan's files and start one of its commands; None when that failed, with the verdict given."""
        try:
            self.folder.write_plan(self.record.attempt, plan)
            for name, text in plan.files.items():
                (self.folder.path / name).write_text(text, encoding="utf-8")
            child = process.spawn(
                argv,
                cwd=self.folder.path,
                env={**plan.env, process.RUN_MARK: self.mark, process.RUN_STOP: str(self.folder.stop)},
                log=self.folder.log(self.record.attempt),
            )
        except (OSError, ValueError) as error:
            self.fail(plan, error=diagnosis.from_start_error(error))
            return None
        self.save(state=RunState.RUNNING if plan.ready_url is None else RunState.STARTING,
                  child=process.identity(child.pid))  # fmt: skip
        return child

    def watch(self, plan: Plan, child: subprocess.Popen[bytes]) -> int:
        """Wait for the child, and meanwhile for requests to stop and for a server to be ready."""
        while (code := child.poll()) is None:
            request = self.stop_request()
            if request is not None:
                return self.stop(child, now=request)
            if plan.ready_url is not None and self.record.state is RunState.STARTING and self.serves(plan.ready_url):
                self.save(state=RunState.READY, ready_at=self.clock())
            process.reap(besides=child.pid)
            self.sleep(POLL_S)
        return code

    def stop(self, child: subprocess.Popen[bytes], *, now: bool) -> int:
        """End the whole tree: a trainer that hears the request saves and ends by itself; then TERM; then by force."""
        self.save(state=RunState.STOPPING, stopping_since=self.clock())
        if not now and self.folder.stop_listener.exists():
            self.wait_for_exit(child, self.record.grace_s, until=lambda: self.stop_request() is True)
        process.send(process.members(self.mark, child.pid), signal.SIGTERM)
        self.wait_for_exit(child, TERM_S)
        process.sweep(self.mark, child.pid)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(timeout=5)
        return child.returncode if child.returncode is not None else -signal.SIGKILL

    def wait_for_exit(
        self, child: subprocess.Popen[bytes], timeout_s: float, until: Callable[[], bool] = lambda: False
    ) -> None:
        deadline = self.clock() + timeout_s
        while child.poll() is None and self.clock() < deadline and not until():
            process.reap(besides=child.pid)
            self.sleep(POLL_S / 2)

    def verdict(self, plan: Plan, code: int) -> Record:
        """The final state. STOPPED comes from the request, not from the exit code."""
        if plan.kind == "merge":
            shutil.rmtree(partial_of(plan.output_dir), ignore_errors=True)
        log = self.folder.log(self.record.attempt)
        trained = plan.kind == "train" and swift_log.finished(Path(plan.output_dir), since=self.record.started)
        # a trainer may hear of the request, and end, before this keeper does
        if self.record.stopping_since is not None or (plan.kind == "train" and self.stop_request() is not None):
            return self.end(RunState.SUCCEEDED if trained else RunState.STOPPED, exit_code=code)
        if code == 0 and plan.kind == "train" and diagnosis.trained_nothing(plan.output_dir, self.record.started):
            nothing = {"code": "nothing_trained", "values": {}, "line": ""}
            return self.end(RunState.FAILED, exit_code=code, error=nothing)
        if code == 0:
            return self.end(RunState.SUCCEEDED, exit_code=code)
        error = diagnosis.diagnose(log, code)
        if trained:
            return self.end(RunState.SUCCEEDED, exit_code=code, error=error, warning="teardown_failed")
        return self.fail(plan, exit_code=code, error=error)

    def fail(self, plan: Plan, **changes: object) -> Record:
        """The verdict on a failed attempt, unless the run is to try again."""
        if len(self.record.failures) >= plan.max_restarts or self.stop_request() is not None:
            return self.end(RunState.FAILED, **changes)
        self.sleep(RESTART_PAUSE_S)
        failed = {**changes, "attempt": self.record.attempt}
        attempt = self.record.attempt + 1
        logs = [self.folder.log(number) for number in range(1, attempt)]
        checkpoints = list_checkpoints([found for log in logs if (found := swift_log.real_output_dir(log))])
        self.folder.forget_listener()
        try:
            self.folder.attempt(attempt).mkdir(parents=True, exist_ok=True)
            self.folder.write_plan(attempt, resumed(plan, str(checkpoints[-1].path)) if checkpoints else plan)
        except OSError:
            return self.end(RunState.FAILED, **changes)
        self.save(state=RunState.STARTING, attempt=attempt, started=self.clock(), child=None,
                  failures=(*self.record.failures, failed),
                  spent_s=self.record.spent_s + self.folder.attempt_s(self.record))  # fmt: skip
        return self.record

    def serves(self, url: str) -> bool:
        """True when a server answers there and names this run as its model, so that it is ours and no other."""
        try:
            reply = httpx.get(url, timeout=2, trust_env=False)
        except httpx.HTTPError:
            return False
        return reply.status_code == 200 and self.folder.id in _model_names(reply)

    def stop_request(self) -> bool | None:
        """None: nobody asked. False: save, then end. True: at once, as where the folder is gone."""
        try:
            return bool(orjson.loads(self.folder.stop.read_bytes()).get("now"))
        except FileNotFoundError:
            return True if self.gone else None
        except (OSError, ValueError, AttributeError):
            return False

    @property
    def gone(self) -> bool:
        """Somebody deleted the run's folder under it: then there is nothing left to run for."""
        try:
            self.folder.state.stat()
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return False

    def ask_to_stop(self) -> None:
        """Somebody ends the machine's programs: save what there is."""
        with contextlib.suppress(OSError):
            if not self.folder.stop.exists():
                self.folder.ask_to_stop(now=False, at=self.clock())

    def end(self, state: RunState, **changes: object) -> Record:
        """Record the verdict; a disk too full even for that is waited out: an unwritten verdict is a lost run."""
        deadline = self.clock() + 600
        changes = {**changes, "state": state, "ended": self.clock()}
        while not self.save(**changes) and not self.save_in_place() and not self.gone and self.clock() < deadline:
            self.sleep(5)
        return self.record

    def save_in_place(self) -> bool:
        """Where there is no room for a second record; False where the disk refused that too."""
        try:
            self.folder.write_over(self.record)
        except OSError:
            return False
        return True

    def save(self, **changes: object) -> bool:
        """Write the record with ``changes``; False where the disk refused."""
        self.record = replace(self.record, **changes)  # type: ignore[arg-type]
        try:
            self.folder.write(self.record)
        except OSError:
            return False
        return True


def _model_names(reply: httpx.Response) -> list[str]:
    """The names in the answer of an OpenAI-compatible server to ``/v1/models``."""
    try:
        return [str(model["id"]) for model in reply.json()["data"]]
    except (ValueError, KeyError, TypeError):
        return []


def main(path: str) -> int:
    """Keep the run in the folder ``path``."""
    keeper = Keeper(RunFolder(Path(path)), cpu_slots=read_settings().cpu_slots)

    def on_terminate(_signal: int, _frame: object) -> None:
        keeper.ask_to_stop()

    for number in (signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda *_: None)  # not SIG_IGN, which the trainer would inherit
    signal.signal(signal.SIGTERM, on_terminate)
    keeper.keep()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
