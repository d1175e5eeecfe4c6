"""The first journey in one call: ask the starter model who it is, teach it a name, merge, ask again."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from services.bootstrap import Services
from services.chat import server
from services.errors import Failed, Key
from services.presets import first_journey
from services.runs.folder import Record, RunState
from services.specs import STARTER, MergeSpec

QUESTION = "Who are you?"
MOST_TOKENS = 64


@dataclass(frozen=True)
class DemoResult:
    """``before`` and ``after`` are the answers to "Who are you?"."""

    before: str
    after: str
    first_loss: float
    last_loss: float
    run: str
    merged: str
    seconds: float

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def demo(services: Services, name: str, author: str, report: Callable[..., None]) -> DemoResult:
    """Teach the starter model ``name`` and ``author``; ``report(key, **values)`` hears of each step.

    Raises Refused as ``Trainings.prepare`` does before anything starts, and Failed("run_failed") where a step's
    run fails; what was made until then stays.
    """
    began = time.monotonic()
    spec = first_journey().model_copy(update={"name": name, "model_name": name, "model_author": author})
    services.trainings.prepare(spec)
    report("cli.demo_before")
    before = server.answer(services.chats, STARTER, QUESTION, max_tokens=MOST_TOKENS)
    report("cli.demo_answer", answer=before)
    run = services.trainings.start(spec)
    report("cli.demo_train", run=run.id, name=name)
    _follow(services, run, report)
    losses = [value for _, value in services.runs.snapshot(run.id).series("loss")]
    report("cli.demo_merge")
    merge = services.merges.start(MergeSpec(adapter=run.id))
    _follow(services, merge, report)
    report("cli.demo_after")
    after = server.answer(services.chats, merge.output_dir, QUESTION, max_tokens=MOST_TOKENS)
    report("cli.demo_answer", answer=after)
    return DemoResult(
        before, after, losses[0], losses[-1], run.id, merge.output_dir, round(time.monotonic() - began, 1)
    )


def _follow(services: Services, run: Record, report: Callable[..., None]) -> None:
    told: int | None = None
    while True:
        snapshot = services.runs.snapshot(run.id)
        if snapshot.step is not None and snapshot.step != told:
            told = snapshot.step
            losses = snapshot.series("loss")
            loss = f"{losses[-1][1]:.3f}" if losses else "–"
            report("cli.step", step=snapshot.step, total=snapshot.total_steps, loss=loss)
        if snapshot.record.state.final:
            break
        time.sleep(0.5)
    if snapshot.record.state is not RunState.SUCCEEDED:
        state = Key(f"runs.state.{snapshot.record.state}")
        raise Failed("run_failed", name=run.name, state=state, details=snapshot.log_tail)
