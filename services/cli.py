"""TuneDesk without a screen: the same services, no rule of its own. ``--json`` prints one JSON value on stdout."""

from __future__ import annotations

import codecs
import contextlib
import io
import math
import shlex
import sys
import time
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from services.bootstrap import Services, build
from services.chat import server
from services.datasets.formats import TASKS
from services.datasets.said import finding_as_json, finding_as_text, outcome_as_json, outcome_as_text
from services.demo import demo as run_demo
from services.errors import Failed, Key, Refused, TuneDeskError
from services.paths import printable, resolve
from services.plan import Plan
from services.planning.machine import read_description
from services.planning.shown import plan_as_json, plan_as_text
from services.runs import diagnosis
from services.runs.folder import Record, RunState
from services.runs.snapshot import Snapshot
from services.settings import read_settings
from services.specs import STARTER, MergeSpec, ServeSpec, as_yaml, read_train_spec
from services.swift.exporter import FORMS, Script, by_hand, export
from services.swift.importer import import_file, import_text
from services.targets.check import report_as_json
from services.targets.placement import node_part, retarget
from services.targets.states import node_states
from services.targets.written import KINDS, written
from services.text import LANGUAGES, explain, say

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
Json = Annotated[bool, typer.Option("--json", help="Print one JSON value on standard output.")]
FOLLOW_S = 0.5


@dataclass
class Context:
    """What every command needs: the language and, when asked for, the services."""

    lang: str = "en"
    open_window: Callable[..., None] | None = None
    """What opens the window; a floor above knows it."""
    _services: Services | None = None

    @property
    def services(self) -> Services:
        """The services. On the command line a person may name any folder that they can read."""
        if self._services is None:
            self._services = build(replace(read_settings(), roots=(Path("/"),)))
        return self._services

    def say(self, key: str, **values: object) -> None:
        print(say(key, self.lang, **values), file=sys.stderr, flush=True)


context = Context()


def _speak(lang: str) -> str:
    if lang and lang not in LANGUAGES:
        raise Refused("language", lang=lang)
    context.lang = lang or context.lang
    return lang


Lang = Annotated[str, typer.Option("--lang", callback=_speak, help="en or zh.")]


@app.callback(invoke_without_command=True)
def window(
    ctx: typer.Context,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port; where it is busy, the next free one.")] = 7860,
    share: Annotated[bool, typer.Option("--share", help="Make a temporary public link, behind a password.")] = False,
    lang: Lang = "",
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
) -> None:
    """Fine-tune, merge and chat with language models. Without a command: open the window."""
    if ctx.invoked_subcommand is None:
        if context.open_window is None:
            print(ctx.get_help())
            return
        context.open_window(host=host, port=port, share=share, lang=lang or None, browser=not no_browser)


@app.command()
def demo(
    name: Annotated[str, typer.Option(help="The name to teach.")] = "TuneBot",
    author: Annotated[str, typer.Option(help="The author to teach.")] = "TuneDesk",
    as_json: Json = False,
    _lang: Lang = "",
) -> None:
    """Teach the starter model a name, merge it and ask it who it is. Takes some minutes."""
    result = run_demo(context.services, name, author, context.say)
    if as_json:
        _print_json(result.as_json())
    else:
        print(say("cli.demo_done", context.lang, **result.as_json()))


@app.command()
def train(
    spec: Annotated[Path, typer.Argument(help="A YAML file.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would run.")] = False,
    detach: Annotated[bool, typer.Option("--detach", help="Print the id and return.")] = False,
    now: Annotated[bool, typer.Option("--now", help="Do not wait in the queue.")] = False,
    as_json: Json = False,
    _lang: Lang = "",
) -> None:
    """Train as SPEC says and follow the log; Ctrl-C leaves the run alone and prints its id."""
    wanted = read_train_spec(spec)
    if dry_run:
        plan = context.services.trainings.prepare(wanted).plan
        if as_json:
            _print_json({"argv": list(plan.argv), "env": dict(plan.env), "files": sorted(plan.files),
                         "total_steps": plan.total_steps})  # fmt: skip
        else:
            print(plan)
        return
    _follow_or_detach(context.services.trainings.start(wanted, now=now), detach, as_json)


@app.command()
def plan(
    spec: Annotated[Path, typer.Argument(help="A YAML file.")],
    machine: Annotated[Path | None, typer.Option(help="A JSON file that describes another machine.")] = None,
    as_json: Json = False,
    _lang: Lang = "",
) -> None:
    """Say how SPEC would be trained here, or on a described machine, and why; nothing is started."""
    wanted = read_train_spec(spec)
    hardware = read_description(machine) if machine is not None else None
    prepared = context.services.trainings.plan(wanted, hardware)
    if as_json:
        _print_json(plan_as_json(prepared.advice, prepared.plan, context.lang))
    else:
        print(plan_as_text(prepared.advice, prepared.plan, context.lang))


@app.command()
def check(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Data files or folders.")],
    task: Annotated[str, typer.Option(help=f"What they are for: {', '.join(TASKS)}.")] = "sft",
    max_length: Annotated[int | None, typer.Option(min=1, help="Tokens a row may have.")] = None,
    model: Annotated[str, typer.Option(help="Whose tokens are counted.")] = STARTER,
    validation: Annotated[list[str] | None, typer.Option(help="Look for its rows in PATH too.")] = None,
    as_json: Json = False,
    _lang: Lang = "",
) -> None:
    """Say whether data can be trained on, which rows are lost, and why. Exit code 0 also for blocked data."""
    if task not in TASKS:
        raise Refused("check_task", task=task, tasks=", ".join(TASKS))
    services = context.services
    files = [resolve(path, services.settings) for path in paths]
    held = [resolve(path, services.settings) for path in validation or ()]
    outcomes = []
    for path in files:
        show = _progress(path.name)
        outcomes.append(services.audits.check(path, task=task, model=model, max_length=max_length, progress=show))
        show("", 1.0)
    leaks = services.audits.leaks(files, held, task=task) if held else None
    if as_json:
        values = [outcome_as_json(outcome, context.lang) for outcome in outcomes]
        for value in values:
            value["leaks"] = leaks and finding_as_json(leaks, context.lang)
        _print_json(values[0] if len(values) == 1 else values)
        return
    texts = [outcome_as_text(outcome, context.lang) for outcome in outcomes]
    print("\n\n".join([*texts, *([finding_as_text(leaks, context.lang)] if leaks else [])]))


def _progress(name: str) -> Callable[[str, float], None]:
    """Shows how far a check has come, on a terminal only."""
    live = sys.stderr.isatty()

    def show(stage: str, part: float) -> None:
        if live:
            what = say(f"dataset.stage.{stage}", context.lang) if stage else ""
            text = f"{printable(name, 60)} · {what} · {part:.0%}" if stage else ""
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)

    return show


@app.command("import")
def import_command(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="A script, Python, YAML or JSON; - reads it here.")],
    as_json: Json = False,
    _lang: Lang = "",
) -> None:
    """Say what a command for ms-swift, of version 2 to 4, is in TuneDesk; nothing is executed."""
    settings = context.services.settings
    if file == "-":
        found = import_text(sys.stdin.buffer.read().decode("utf-8", "replace"), Path.cwd(), settings)
    else:
        found = import_file(resolve(file, settings, must_be="file"), settings)
    value = found.as_json(context.lang)
    if as_json:
        _print_json(value)
        return
    print(as_yaml(value["spec"]).rstrip() if value["spec"] is not None else shlex.join(value["argv"]))
    for one in value["translated"]:
        new = one["to"] or say("cli.import_default", context.lang)
        context.say("cli.import_translated", old=one["from"], new=new, why=one["why"])
    for one in value["refused"]:
        context.say("cli.import_refused", flag=f"{one['flag']} {one['value']}".strip(), why=one["why"])
    for note in value["notes"]:
        context.say("cli.import_note", note=note)


@app.command("export-command")
def export_command(
    source: Annotated[str, typer.Argument(metavar="SPEC.yaml|RUN")],
    form: Annotated[str, typer.Option("--as", help=f"One of {', '.join((*FORMS, *KINDS))}.")] = "shell",
    into: Annotated[Path | None, typer.Option(help=f"For {', '.join(KINDS)}: write the files there.")] = None,
    _lang: Lang = "",
) -> None:
    """Print what a spec or a run starts, as a shell script, as YAML for swift, as Python, or for another place."""
    services = context.services
    path = Path(source)
    if form in KINDS:
        is_file = path.suffix in (".yaml", ".yml") and path.is_file()
        asked = read_train_spec(path) if is_file else services.trainings.spec_of(services.runs.find(source).id)
        prepared = services.trainings.prepare(asked)
        _print_files(written(prepared.node_plan, prepared.spec, form), into)
        return
    if form not in FORMS:
        raise Refused("export_which", form=form, forms=", ".join((*FORMS, *KINDS)))
    if path.suffix in (".yaml", ".yml") and path.is_file():
        wanted = read_train_spec(path)
        prepared = services.trainings.prepare(wanted)
        name = wanted.name.strip() or path.stem
        folder = Path.cwd() / name
        script = Script(by_hand(prepared.node_plan, str(folder), name), str(folder), prepared.spec, name)
    else:
        record = services.runs.find(source)
        run = services.runs.folder(record.id)
        folder = run.path
        plan = by_hand(node_part(run.read_plan(record.attempt)), str(folder), record.id)
        spec = services.trainings.spec_of(record.id) if record.kind == "train" else None
        script = Script(plan, str(folder), spec, record.name)
    text = export(script, form)
    if form == "yaml":
        for name, content in script.plan.files.items():
            if not (folder / name).exists():
                folder.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(content, encoding="utf-8")
    print(text, end="")


@app.command()
def resume(
    run: str,
    detach: Annotated[bool, typer.Option("--detach")] = False,
    target: Annotated[str, typer.Option(help="Go on elsewhere: here, machines as a,b, or a hostfile.")] = "",
    as_json: Json = False,
    _lang: Lang = "",
) -> None:
    """Go on with a run from its last checkpoint."""
    trainings = context.services.trainings
    record = context.services.runs.find(run)
    elsewhere = retarget(trainings.spec_of(record.id).target, target) if target else None
    resumed = trainings.resume(record.id, elsewhere) if elsewhere else context.services.resume(record.id)
    _follow_or_detach(resumed, detach, as_json)


@app.command()
def nodes(
    spec: Annotated[Path, typer.Argument(help="A YAML file.")], as_json: Json = False, _lang: Lang = ""
) -> None:
    """Check the machines that SPEC names, one line each; nothing is started. Exit code 1 where one is not ready."""
    reports = context.services.trainings.nodes(read_train_spec(spec))
    if as_json:
        _print_json([report_as_json(one, context.lang) for one in reports])
    else:
        for one in reports:
            print(say(one.line, context.lang, **one.line.values))
        if not reports:
            context.say("targets.no_nodes")
    if not all(one.fit for one in reports):
        raise SystemExit(1)


@app.command()
def runs(as_json: Json = False, _lang: Lang = "") -> None:
    """List the runs, the newest first."""
    services = context.services
    rows = []
    for record in services.runs.list():
        with contextlib.suppress(Refused):  # deleted meanwhile
            rows.append(_summary(services.runs.snapshot(record.id)))
    if as_json:
        _print_json(rows)
        return
    for row in rows:
        steps = f"{row['step']}/{row['total_steps']}" if row["step"] is not None else ""
        state = say("runs.state." + row["state"], context.lang)
        print(f"{row['id']:<40} {padded(state, 12)} {steps:<12} {printable(row['name'])}")
    if not rows:
        context.say("runs.none")


@app.command()
def show(run: str, as_json: Json = False, _lang: Lang = "") -> None:
    """Everything about one run."""
    services = context.services
    record = services.runs.find(run)
    details = _details(services, services.runs.snapshot(record.id))
    if as_json:
        _print_json(details)
        return
    for key in ("id", "name", "kind", "state", "step", "total_steps", "folder"):
        print(f"{key:<12} {'' if details[key] is None else details[key]}")
    print(f"\n{_plan_text(services, record)}\n\n{details['log_tail'][-4000:]}")
    if details["error"]:
        print(details["error"]["message"])


@app.command()
def stop(
    run: str, now: Annotated[bool, typer.Option("--now", help="Without saving first.")] = False, _lang: Lang = ""
) -> None:
    """Stop a run: save, then end. Returns when it has ended."""
    services = context.services
    record = services.runs.find(run)
    services.runs.stop(record.id, now=now)
    ended = services.runs.wait(record.id)
    context.say("cli.ended", name=ended.name, state=say("runs.state." + ended.state, context.lang))


@app.command()
def merge(
    adapter: Annotated[str, typer.Argument(metavar="RUN|FOLDER")],
    base: Annotated[str | None, typer.Option(help="Base model, where the adapter does not name it.")] = None,
    as_json: Json = False,
    _lang: Lang = "",
) -> None:
    """Merge a run's LoRA (or any adapter folder) into its base model."""
    services = context.services
    record = services.merges.start(MergeSpec(adapter=adapter, base=base))
    _follow(record.id, quiet=as_json)
    ended = services.runs.folder(record.id).read()
    _raise_unless_succeeded(ended)
    if as_json:
        _print_json({"run": ended.id, "merged": ended.output_dir})
    else:
        print(ended.output_dir)


@app.command()
def chat(
    model: str,
    message: Annotated[str, typer.Option("-m", "--message", help="What to say.")],
    system: Annotated[str | None, typer.Option(help="System prompt.")] = None,
    max_tokens: Annotated[int, typer.Option(min=1)] = 256,
    as_json: Json = False,
    _lang: Lang = "",
) -> None:
    """Ask a model one thing; its server ends afterwards."""
    text = server.answer(context.services.chats, model, message, system=system, max_tokens=max_tokens)
    if as_json:
        _print_json({"model": model, "answer": text})
    else:
        print(text)


@app.command()
def serve(
    model: str,
    engine: Annotated[str, typer.Option(help="transformers or vllm.")] = "transformers",
    tensor_parallel: Annotated[int, typer.Option(min=1)] = 1,
    as_json: Json = False,
    _lang: Lang = "",
) -> None:
    """Serve a model on this machine until it is stopped; prints its address."""
    if engine not in ("transformers", "vllm"):
        raise Refused("spec_field", field="engine", value=engine, why="transformers, vllm")
    services = context.services
    record = services.chats.start(
        ServeSpec(model=model, engine=engine, tensor_parallel=tensor_parallel)  # type: ignore[arg-type]
    )
    ready = services.chats.wait_until_ready(record.id)
    value = {"run": ready.id, "url": server.base_url(ready) + "/v1", "model": ready.id}
    if as_json:
        _print_json(value)
    else:
        print(say("cli.serving", context.lang, **value))


@app.command()
def delete(run: str, _lang: Lang = "") -> None:
    """Delete a run that has ended, with everything in its folder; a merge with the model it made here."""
    record = context.services.runs.find(run)
    kept = context.services.runs.kept(record)
    freed = context.services.runs.delete(record.id)
    context.say("cli.deleted", name=record.name, mb=round(freed / 1e6))
    if kept:
        context.say("cli.deleted_kept", path=kept)


def _print_files(files: dict[str, str], into: Path | None) -> None:
    """Print each file under its name; with ``into`` write them there and print where they are."""
    for name, text in files.items():
        if into is None:
            print((f"# ── {name} ──\n" if len(files) > 1 else "") + text)
            continue
        path = into / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path)


def _follow_or_detach(record: Record, detach: bool, as_json: bool) -> None:
    if detach:
        _print_id(record, as_json)
        return
    try:
        _follow(record.id, quiet=as_json)
    except KeyboardInterrupt:
        print(file=sys.stderr if as_json else sys.stdout)  # the log may have stopped within a line
        _print_id(record, as_json)
        context.say("cli.detached", id=record.id)
        return
    services = context.services
    snapshot = services.runs.snapshot(record.id)
    if as_json:
        _print_json(_summary(snapshot))
    _raise_unless_succeeded(snapshot.record)


def _print_id(record: Record, as_json: bool) -> None:
    if as_json:
        _print_json({"id": record.id, "name": record.name})
    else:
        print(record.id)


def _follow(run_id: str, quiet: bool = False) -> None:
    """Copy the run's log to the terminal until it ends."""
    services = context.services
    record = services.runs.record(run_id)
    path, offset, out = services.runs.folder(run_id).log(record.attempt), 0, sys.stderr if quiet else sys.stdout
    text = codecs.getincrementaldecoder("utf-8")(errors="replace")
    while True:
        record = services.runs.record(run_id)
        with contextlib.suppress(OSError), path.open("rb") as log:
            log.seek(offset)
            data = log.read()
            offset += len(data)
            out.write(text.decode(data))
            out.flush()
        if record.state.final:
            return
        time.sleep(FOLLOW_S)


def _raise_unless_succeeded(record: Record) -> None:
    if record.error is not None and record.state is RunState.FAILED:
        raise Failed("run_ended_badly", name=record.name, message=failure(record, context.lang))
    if record.state is not RunState.SUCCEEDED:
        raise Failed("run_failed", name=record.name, state=Key(f"runs.state.{record.state}"))


def failure(record: Record, lang: str) -> str:
    """What happened to a failed run, why, and what to do next."""
    told = diagnosis.failure(record)
    return say(told, lang, **told.values) if told is not None else ""


def _summary(snapshot: Snapshot) -> dict[str, Any]:
    record = snapshot.record
    return {
        "id": record.id,
        "name": record.name,
        "kind": record.kind,
        "state": record.state.value,
        "step": snapshot.step,
        "total_steps": snapshot.total_steps,
        "folder": str(context.services.runs.root / record.id),
    }


def _details(services: Services, snapshot: Snapshot) -> dict[str, Any]:
    record = snapshot.record
    plan = _plan_of(services, record)
    error = None
    if record.error is not None:
        error = {**record.error, "message": failure(record, context.lang)}
    return {
        **_summary(snapshot),
        "attempts": record.attempt,
        "argv": list(plan.argv) if plan is not None else [],
        "env": dict(plan.env) if plan is not None else {},
        "metrics": [{"step": item.step, "name": item.name, "value": _finite(item.value)} for item in snapshot.metrics],
        "log_tail": snapshot.log_tail[-8000:],
        "checkpoints": [{"step": item.step, "path": str(item.path)} for item in snapshot.checkpoints],
        "error": error,
        "failures": list(record.failures),
        "nodes": node_states(services.runs.folder(record.id), record.attempt),
        "output_dir": record.output_dir,
        "exit_code": record.exit_code,
        "parent": record.parent,
    }


def _plan_of(services: Services, record: Record) -> Plan | None:
    """The plan of the run's last attempt; None where it is gone or damaged."""
    try:
        return services.runs.folder(record.id).read_plan(record.attempt)
    except (OSError, ValueError):
        return None


def _plan_text(services: Services, record: Record) -> str:
    plan = _plan_of(services, record)
    return str(plan) if plan is not None else say("cli.no_plan", context.lang)


def padded(text: str, width: int) -> str:
    """``text`` with blanks up to ``width`` columns of a terminal, where a Chinese character takes two."""
    taken = sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)
    return text + " " * (width - taken)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _print_json(value: object) -> None:
    sys.stdout.buffer.write(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    sys.stdout.flush()


@contextlib.contextmanager
def _sentences(details: Callable[[str], None]) -> Iterator[None]:
    """Turn what goes wrong into a sentence and an exit code: 1 failed, 2 refused."""
    try:
        yield
    except TuneDeskError as error:
        details(error.details)
        print(explain(error, context.lang), file=sys.stderr)
        raise SystemExit(2 if isinstance(error, Refused) else 1) from None
    except OSError as error:
        print(say("error.system", context.lang, why=error), file=sys.stderr)
        raise SystemExit(1) from None


def main(open_window: Callable[..., None] | None = None) -> None:
    """Run the command line; without a command it calls ``open_window``."""
    context.open_window = open_window
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that has no Chinese shows it as \u6570
            stream.reconfigure(errors="backslashreplace")
    with _sentences(lambda text: print(text[-3000:], file=sys.stderr) if text else None):
        app()


if __name__ == "__main__":
    main()
