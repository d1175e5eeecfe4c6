"""A child process: what ms-swift's own template makes of rows, token by token, and which tokens are trained.

``python -P -m services.swift.supervision JOB RESULT`` reads a job (JSON, see ``Job``), prints how far it is as a bar
(``Audit:  25%|…| 250/1000 [00:02<00:06, 0.01s/it]``), and writes the result as JSON. Rows are loaded, preprocessed
and encoded by ms-swift, without a limit on their length: what a limit does to a row follows from the places of its
trained tokens.
"""

from __future__ import annotations

import multiprocessing
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson

PAIRED = ("dpo", "orpo", "simpo", "cpo", "rm")
MODES = {"kto": "kto", "ppo": "transformers", **dict.fromkeys(PAIRED, "rlhf")}
"""Task -> the mode of ms-swift's template; all others: train."""
ALONE_ROWS = 5_000
"""Up to so many rows one process encodes before several have started."""
_LONGEST_SHOWN = 2_000
"""Tokens of a row that are listed."""


@dataclass(frozen=True)
class Job:
    """What to look at."""

    model: str
    path: str
    """A data file that ms-swift can load."""
    task: str = "sft"
    flags: Mapping[str, str] = field(default_factory=dict)
    """``model_type`` and ``template`` of the model, where it must be told."""
    use_hf: bool = False
    columns: Mapping[str, str] | None = None
    template: Mapping[str, Any] = field(default_factory=dict)
    """Settings that change the tokens: agent_template, loss_scale, system, use_chat_template …"""
    numbers: Sequence[int] | None = None
    """The row numbers of the file's rows; None: 1, 2, 3 …"""
    shown: Sequence[int] = ()
    """Row numbers whose tokens are listed."""
    processes: int = 1


@dataclass
class Encoded:
    """One list entry a row that ms-swift keeps; places and lengths in tokens."""

    rows: list[int] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    firsts: list[int] = field(default_factory=list)
    """Place of the first trained token, from 0; -1: none is trained."""
    lasts: list[int] = field(default_factory=list)
    trained: list[int] = field(default_factory=list)
    ends: list[bool] = field(default_factory=list)
    """Whether an end mark is among the last trained tokens."""
    dropped: list[tuple[int, str]] = field(default_factory=list)
    """(row, reason) of those it drops."""
    special: list[tuple[int, str]] = field(default_factory=list)
    """(row, token) of those whose text holds a special token of this model."""
    tokens: dict[str, list[tuple[str, bool]]] = field(default_factory=dict)
    """Row number -> (text, trained) of its tokens."""
    template: str = ""
    model_max_length: int | None = None
    total: int = 0

    def append(self, other: Encoded) -> None:
        for name in ("rows", "lengths", "firsts", "lasts", "trained", "ends", "dropped", "special"):
            getattr(self, name).extend(getattr(other, name))
        self.tokens |= other.tokens


def run(job: Job, say: Callable[[int, int], None]) -> Encoded:
    """Load, preprocess and encode the rows of ``job``; ``say`` hears (rows done, rows to do)."""
    template = make_template(job)
    with tempfile.TemporaryDirectory(prefix="tunedesk-audit-") as folder:
        dataset, total = load(job, Path(folder))
        say(0, len(dataset))
        done = Encoded(
            template=template.template_meta.template_type,
            model_max_length=getattr(template.model_info, "max_model_len", None),
            total=total,
        )
        for part in _encoded(job, dataset, template):
            done.append(part)
            say(len(done.rows) + len(done.dropped), len(dataset))
    kept = set(done.rows) | {row for row, _ in done.dropped}
    numbers = job.numbers or range(1, total + 1)
    done.dropped += [(row, "") for row in numbers if row not in kept]
    done.dropped.sort()
    return done


def make_template(job: Job) -> Any:
    """ms-swift's template for the model, in the mode of the task. Its limit on the length is taken off."""
    from swift.model import get_processor
    from swift.template import get_template

    model_type = job.flags.get("model_type")
    processor = get_processor(job.model, use_hf=job.use_hf or None, model_type=model_type, download_model=False)
    settings = {"template_type": job.flags.get("template"), **template_settings(job.task), **job.template}
    template = get_template(processor, **settings)
    template.set_mode(MODES.get(job.task, "train"))
    template.max_length = None
    return template


def template_settings(task: str) -> dict[str, Any]:
    """What ms-swift's commands set by themselves: swift/arguments/{pretrain,rlhf}_args.py."""
    if task == "pt":
        return {"use_chat_template": False, "loss_scale": "all"}
    if task in ("sft", "gkd", "orpo"):
        return {"loss_scale": "default"}
    return {"loss_scale": "last_round"}


def load(job: Job, folder: Path) -> tuple[Any, int]:
    """The rows that ms-swift's preprocessing keeps, each with its number as ``channel``; and how many there were."""
    from datasets import load_dataset
    from swift.dataset import AutoPreprocessor, RowPreprocessor

    path = Path(job.path)
    ending = path.suffix.lstrip(".")
    kind = {"jsonl": "json", "txt": "text"}.get(ending, ending)
    options: dict[str, Any] = {"na_filter": False} if kind == "csv" else {}
    if path.is_dir():
        dataset = load_dataset(job.path, split="train", cache_dir=str(folder))
    else:
        dataset = load_dataset(kind, data_files=job.path, split="train", cache_dir=str(folder), **options)
    total = len(dataset)
    if "channel" in dataset.column_names:
        dataset = dataset.remove_columns("channel")
    dataset = dataset.add_column("channel", [str(number) for number in job.numbers or range(1, total + 1)])
    dataset = RowPreprocessor.safe_rename_columns(dataset, dict(job.columns or {}))
    dataset = AutoPreprocessor()(
        dataset, num_proc=1, load_from_cache_file=False, strict=False, enable_auto_mapping=True
    )
    return RowPreprocessor.remove_useless_columns(dataset), total


_at_work: tuple[Job, Any, Any] | None = None
"""For the processes of a pool: what they encode and with what."""


def _encoded(job: Job, dataset: Any, template: Any) -> Iterator[Encoded]:
    """The encoded rows batch by batch, with several processes where that is worth it."""
    global _at_work  # noqa: PLW0603 - forked processes find it there, so that nothing is copied to them
    _at_work = job, dataset, template
    size = 200 if len(dataset) <= ALONE_ROWS else 1_000
    batches = [range(start, min(start + size, len(dataset))) for start in range(0, len(dataset), size)]
    if job.processes < 2 or len(dataset) <= ALONE_ROWS:
        yield from map(_encode_batch, batches)
        return
    with multiprocessing.get_context("fork").Pool(job.processes) as pool:
        yield from pool.imap(_encode_batch, batches)


def _encode_batch(places: range) -> Encoded:
    assert _at_work is not None
    job, dataset, template = _at_work
    found = Encoded()
    special = special_tokens(template.tokenizer)
    for place in places:
        row = dict(dataset[place])
        _encode_row(job, template, row, special, found)
    return found


def _encode_row(job: Job, template: Any, row: dict[str, Any], special: re.Pattern[str] | None, found: Encoded) -> None:
    number = int(row.pop("channel"))
    if special is not None and (mark := _first_special(special, row)):
        found.special.append((number, mark))
    try:
        encoded = template.encode(row)
    except Exception as error:
        lines = str(error).strip().splitlines()
        found.dropped.append((number, f"{type(error).__name__}: {lines[0] if lines else ''}"[:200]))
        return
    sides = [encoded[f"{side}input_ids"] for side in ("", "chosen_", "rejected_") if f"{side}input_ids" in encoded]
    labels = next((encoded[name] for name in ("labels", "chosen_labels") if encoded.get(name) is not None), None)
    ids = list(sides[0])
    trained = [place for place, label in enumerate(labels or ()) if label != -100]
    found.rows.append(number)
    found.lengths.append(max(len(side) for side in sides))
    found.firsts.append(trained[0] if trained else -1)
    found.lasts.append(trained[-1] if trained else -1)
    found.trained.append(len(trained))
    found.ends.append(any(ids[place] in end_marks(template) for place in trained[-3:]))  # a line end may follow
    if number in job.shown:
        found.tokens[str(number)] = marked(template.tokenizer, ids, set(trained))


def _first_special(special: re.Pattern[str], row: Mapping[str, Any]) -> str:
    for turn in row.get("messages") or ():
        content = turn.get("content")
        if isinstance(content, str) and (mark := special.search(content)) is not None:
            return mark[0]
    return ""


def special_tokens(tokenizer: Any) -> re.Pattern[str] | None:
    """The marks that this tokenizer reads as one special token, wherever they stand."""
    added = getattr(tokenizer, "added_tokens_decoder", {})
    marks = {token.content for token in added.values() if token.special and len(token.content) > 2}
    return re.compile("|".join(sorted(map(re.escape, marks), key=len, reverse=True))) if marks else None


def end_marks(template: Any) -> set[int]:
    """Tokens that end an answer: the tokenizer's end of text and what the template puts behind an answer."""
    tokenizer, meta = template.tokenizer, template.template_meta
    marks = {tokenizer.eos_token_id} - {None}
    for part in [*(meta.suffix or []), *(meta.chat_sep or [])]:
        ids = [part] if isinstance(part, int) else part if isinstance(part, list) else []
        if isinstance(part, str) and part.strip():
            ids = tokenizer.encode(part.strip(), add_special_tokens=False)
        marks.update(one for one in ids if isinstance(one, int))
    return marks


def marked(tokenizer: Any, ids: Sequence[int], trained: set[int]) -> list[tuple[str, bool]]:
    """(text, trained) of each token; tokens that make a character only together are one entry."""
    shown: list[tuple[str, bool]] = []
    waiting: list[int] = []
    for place, token in enumerate(ids[:_LONGEST_SHOWN]):
        waiting.append(token)
        text = tokenizer.decode(waiting)
        if "\ufffd" in text and len(waiting) < 4 and place + 1 < len(ids):
            continue
        shown.append((text, place in trained))
        waiting = []
    return shown


class _Bar:
    """Progress in the words of tqdm, so that a run's page shows it; several times a second at most."""

    def __init__(self) -> None:
        self._began, self._said = time.monotonic(), 0.0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._said < 0.2 and done < total:
            return
        self._said = now
        share = done / max(1, total)
        pace = (now - self._began) / max(1, done)
        full = "█" * round(20 * share)
        times = f"{_clock(now - self._began)}<{_clock(pace * (total - done))}, {pace:.4f}s/it"
        sys.stdout.write(f"Audit: {share:4.0%}|{full:20}| {done}/{total} [{times}]\n")
        sys.stdout.flush()


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60:02d}:{int(seconds) % 60:02d}"


def main(words: list[str]) -> None:
    """Read the job, write the result; see the head of this module."""
    job = Job(**orjson.loads(Path(words[0]).read_bytes()))
    result = Path(words[1])
    partial = result.with_name(result.name + ".partial")
    partial.write_bytes(orjson.dumps(asdict(run(job, _Bar()))))
    partial.rename(result)


if __name__ == "__main__":
    main(sys.argv[1:])
