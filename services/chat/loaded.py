"""The model a conversation talks to: found in the run folders, so that a reload or a restart forgets nothing."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from services.chat.server import ChatServers
from services.errors import TuneDeskError
from services.runs.folder import Record, RunState
from services.runs.lifecycle import Runs
from services.specs import STARTER, ServeSpec

END_S = 15.0
"""How long a model that is being unloaded is waited for."""


@dataclass(frozen=True)
class Offer:
    """A model that a person can load; ``value`` is what a ServeSpec calls it."""

    value: str
    name: str
    step: int | None = None
    """Of the checkpoint; None for a whole model."""


def current(runs: Runs, preferred: str = "") -> Record | None:
    """The server to talk to: ``preferred`` unless it was stopped, else the newest that lives.

    A session's own that failed is kept, so that its failure is seen, and no other's.
    """
    servers = [record for record in runs.list() if record.kind == "serve" and not record.about.get("one_answer")]
    mine = next((record for record in servers if record.id == preferred), None)
    if mine is not None and mine.state not in (RunState.STOPPED, RunState.SUCCEEDED):
        return mine
    return next((record for record in servers if not record.state.final), None)


def ready(runs: Runs, preferred: str = "") -> Record | None:
    """The server that answers now; None where there is none."""
    record = current(runs, preferred)
    return record if record is not None and record.state is RunState.READY else None


def load(servers: ChatServers, spec: ServeSpec, replacing: str = "") -> Record:
    """Start a server in the place of ``replacing``, which goes on when ``spec`` is refused.

    Raises Refused as ``ChatServers.prepare`` does.
    """
    servers.prepare(spec)
    unload(servers.runs, replacing)
    return servers.start(spec)


def unload(runs: Runs, run_id: str) -> None:
    """End a server, wait until its process is gone, and forget its run; one that has ended already is left as it is."""
    record = next((record for record in runs.list() if record.id == run_id), None)
    if record is not None and not record.state.final:
        with contextlib.suppress(TuneDeskError):  # another page may have unloaded and deleted it meanwhile
            runs.stop(run_id, now=True)
            if runs.wait(run_id, timeout_s=END_S).state is RunState.STOPPED:
                runs.delete(run_id)


def offers(runs: Runs) -> list[Offer]:
    """What can be loaded by name: the starter, then merged models and last checkpoints, the newest first."""
    records = runs.list()
    names = {record.id: record.name for record in records}
    found = [Offer(STARTER, STARTER)]
    for record in records:
        if record.kind == "merge" and record.state is RunState.SUCCEEDED:
            trained = record.about.get("of")
            value = f"{trained}:merged" if trained in names else record.id
            if value not in {offer.value for offer in found}:  # of several merges of one run the newest counts
                found.append(Offer(value, record.name))
        elif record.kind == "train" and record.state.final and (step := _last_step(runs, record.id)) is not None:
            found.append(Offer(record.id, record.name, step))
    return found


def _last_step(runs: Runs, run_id: str) -> int | None:
    try:
        checkpoints = runs.snapshot(run_id).checkpoints
    except TuneDeskError:  # deleted meanwhile
        return None
    return checkpoints[-1].step if checkpoints else None
