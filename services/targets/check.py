"""Are the nodes fit for a run? Asked over SSH before anything starts, one line a node."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import orjson

from services.errors import Key, Refused
from services.plan import Plan, Slot
from services.runs import process
from services.settings import Settings
from services.swift.commands import RESUME
from services.target_specs import Node, Ssh
from services.targets import ssh
from services.targets.messages import message_of
from services.targets.placement import nodes_of
from services.text import say

CHECK_S = 45.0
MOST_CLOCK_SKEW_S = 30.0
_SSH_SAYS = (
    ("Permission denied", "login"), ("Host key verification failed", "host_key"), ("Could not resolve", "name"),
    ("No route to host", "unreachable"), ("Network is unreachable", "unreachable"), ("timed out", "unreachable"),
    ("Connection refused", "refused"), ("No module named 'services", "not_installed"),
    ("No module named services", "not_installed"), ("not found", "no_python"), ("No such file", "no_python"),
)  # fmt: skip


@dataclass(frozen=True)
class Wanted:
    """What every node must have."""

    paths: tuple[str, ...] = ()
    cards: int = 0
    """On each."""
    ranks: int = 1
    port: int | None = None
    """On the first."""
    token: str = ""
    """A file of this machine that the first node must see: both share the runs' folder."""
    swift: str = field(default_factory=lambda: version("ms-swift"))
    tunedesk: str = field(default_factory=lambda: version("tunedesk"))


@dataclass(frozen=True)
class NodeReport:
    """One node's line; ``problems`` are keys of services/text, none when it is fit."""

    node: str
    problems: tuple[Key, ...]
    facts: dict[str, Any]

    @property
    def fit(self) -> bool:
        return not self.problems

    @property
    def line(self) -> Key:
        """What a person reads."""
        if self.fit:
            cards = ", ".join(self.facts["cards"]) or "–"
            swift, cores = self.facts["ms-swift"], self.facts["cores"]
            return Key("targets.node_fit", node=self.node, cards=cards, cores=cores, swift=swift)
        return Key("targets.node_unfit", node=self.node, problems=joined(self.problems, "targets.and"))


def joined(keys: Sequence[Key], by: str) -> Key:
    """Several sentences as one: ``by`` names a text with {first} and {rest}."""
    first, *rest = keys
    return Key(by, first=first, rest=joined(rest, by)) if rest else first


Run = Callable[..., process.Result]


def check_nodes(target: Ssh, plan: Plan, settings: Settings, run: Run = process.run) -> list[NodeReport]:
    """The report of each node, in their order; ``plan`` is what is to run on one node."""
    machines = nodes_of(target)
    settings.runs.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=settings.runs, prefix=".seen-") as token:
        wanted = Wanted(
            paths=paths_of(plan), cards=target.gpus or plan.device_count, port=target.master_port, token=token.name
        )
        with ThreadPoolExecutor(max_workers=min(32, len(machines))) as pool:
            asked = [pool.submit(ask, one, rank, target, wanted, run) for rank, one in enumerate(machines)]
            return [one.result() for one in asked]


def ask(node: Node, rank: int, target: Ssh, wanted: Wanted, run: Run = process.run) -> NodeReport:
    """One node's report."""
    words = ssh.node_command(node.python or target.python or process.python(), "--check")
    argv = ssh.reach(node, words, ssh_config=target.ssh_config, node_timeout_s=target.node_timeout_s)
    request = {"paths": wanted.paths, "token": wanted.token if rank == 0 else "",
               "port": wanted.port if rank == 0 else None}  # fmt: skip
    sent = time.time()
    result = run(argv, cwd=Path("/"), timeout_s=CHECK_S, told=orjson.dumps(request).decode() + "\n")
    return report(node, rank, wanted, result, (sent, time.time()))


def report(node: Node, rank: int, wanted: Wanted, result: process.Result, between: tuple[float, float]) -> NodeReport:
    """What the answer of a node, given ``between`` these two times, comes to."""
    answers = [message_of(line.encode()) for line in result.output.splitlines()]
    facts = next((one["here"] for one in answers if one and isinstance(one.get("here"), dict)), None)
    if facts is None:
        return NodeReport(node.label, (unreached(node, result),), {})
    return NodeReport(node.label, tuple(problems(node, rank, wanted, facts, between)), facts)


def unreached(node: Node, result: process.Result) -> Key:
    """Why a node gave no answer, from what ssh or its shell said."""
    said = [line.strip() for line in result.output.splitlines() if line.strip()]
    code = next((code for text, code in _SSH_SAYS if text in result.output), "no_answer")
    last = said[-1][:200] if said else f"exit code {result.returncode}"
    return Key(f"targets.problem.{'unreachable' if result.returncode == -9 else code}", why=last)


def problems(node: Node, rank: int, wanted: Wanted, facts: dict[str, Any], between: tuple[float, float]) -> list[Key]:
    """What is wrong with a node that answered."""
    found = []
    for package, name, here in (("tunedesk", "TuneDesk", wanted.tunedesk), ("ms-swift", "ms-swift", wanted.swift)):
        if facts[package] != here:
            found.append(Key("targets.problem.version", package=name, there=facts[package] or "–", here=here))
    if facts["missing"]:
        found.append(Key("targets.problem.missing", paths=", ".join(facts["missing"][:5])))
    if facts["shared"] is False:
        found.append(Key("targets.problem.not_shared", folder=str(Path(wanted.token).parent)))
    if facts["port_free"] is False:
        found.append(Key("targets.problem.port", port=wanted.port))
    skew = max(between[0] - facts["time"], facts["time"] - between[1], 0.0)
    if skew > MOST_CLOCK_SKEW_S:
        found.append(Key("targets.problem.clock", seconds=round(skew)))
    cards = node.slots or wanted.cards if wanted.cards else 0
    if len(facts["cards"]) < cards:
        found.append(Key("targets.problem.cards", there=len(facts["cards"]), wanted=cards))
    return found


def report_as_json(report: NodeReport, lang: str) -> dict[str, Any]:
    """``{"node", "ok", "line", "problems": [{"code", "text"}], "facts"}``."""
    problems = [
        {"code": key.removeprefix("targets.problem."), "text": say(key, lang, **key.values)} for key in report.problems
    ]
    line = say(report.line, lang, **report.line.values)
    return {"node": report.node, "ok": report.fit, "line": line, "problems": problems, "facts": report.facts}


def refuse_unfit(reports: Sequence[NodeReport]) -> None:
    """Raises Refused("nodes_unfit") with a line for every node where one is not fit."""
    if not all(one.fit for one in reports):
        raise Refused("nodes_unfit", lines=joined([one.line for one in reports], "targets.below"))


def paths_of(plan: Plan) -> tuple[str, ...]:
    """The files and folders of this machine that the command names, and so must be on every node."""
    found = []
    for before, word in pairwise(plan.argv):
        path = Path(word.partition("#")[0])
        if before == RESUME:  # is sent to the nodes that lack it
            continue
        if not isinstance(word, Slot) and word.startswith("/") and len(word) < 4096 and path.exists():
            found.append(str(path))
    return tuple(dict.fromkeys(found))
