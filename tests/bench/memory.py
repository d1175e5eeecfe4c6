"""The memory estimate against what ms-swift's authors state, and against trainings run here and now."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import median

from services.planning.estimate import estimate
from services.settings import read_settings
from services.specs import TrainSpec
from tests.bench.figures import Figure
from tests.bench.memory_figures import MEASURED, NOT_YET_MEASURED, STATED, Measured, Stated
from tests.bench.random_model import SHAPES, make_random_model
from tests.bench.resident import train_watched
from tests.bench.settings import Settings, note, own_folder

TARGET = 0.20
FITS_BOUND = 1.10
"""A training that is said to fit may need this much more than was said."""
CARD_GIB = 80.0
LENGTHS = range(128, 2049, 128)
STEPS = 2
"""The optimizer's states are there from the second on."""


def measure(settings: Settings) -> list[Figure]:
    """Stated figures in no time; then one training for each line measured or to be measured (in rehearsal: one)."""
    lines = MEASURED[:1] if settings.rehearsal else (*MEASURED, *NOT_YET_MEASURED)
    return [*stated_figures(), measured_figure(lines)]


def stated_figures() -> list[Figure]:
    """How far off the estimate is where all is stated, and where the rows' length is not."""
    packed = [row for row in STATED if row.setup.packing and not row.is_a_limit]
    limits = [estimated(row, row.setup.length) for row in STATED if row.is_a_limit]
    loose = [row for row in STATED if not row.setup.packing]
    length = best_length(loose)
    left = [row.what for row in loose if off(row, length) > TARGET]
    note(f"{length} tokens explain {len(loose) - len(left)} of {len(loose)} figures without a length; not: {left}")
    return [
        Figure("estimate, packed rows: off by", "stated by ms-swift", tuple(off(row) for row in packed), TARGET),
        Figure("  worst need over the estimate", "stated by ms-swift", (max(need(row) for row in packed),), FITS_BOUND),
        Figure("  said to fit a card of 80 GiB", "", (max(limits),), CARD_GIB, "GiB"),
        Figure(f"  rows of unstated length, as if {length} tokens", "stated by ms-swift",
               tuple(off(row, length) for row in loose)),
    ]  # fmt: skip


def estimated(row: Stated, tokens: int) -> float:
    """GiB a card."""
    return estimate(row.facts, row.setup, tokens).total


def off(row: Stated, tokens: int | None = None) -> float:
    """How far the estimate is from the stated figure, as a share of it."""
    return abs(estimated(row, tokens or row.setup.length) / row.gib - 1)


def need(row: Stated) -> float:
    """What is stated, over what is estimated for the longest rows there can be."""
    return row.gib / estimated(row, row.setup.length)


def best_length(rows: list[Stated]) -> int:
    """The length of rows at which the estimate explains most of the figures."""
    return max(LENGTHS, key=lambda tokens: (explained(rows, tokens), -median(off(row, tokens) for row in rows)))


def explained(rows: list[Stated], tokens: int) -> int:
    """How many figures the estimate comes near, with rows of ``tokens`` tokens."""
    return sum(off(row, tokens) <= TARGET for row in rows)


def measured_figure(lines: tuple[Measured, ...]) -> Figure:
    """The estimate against peak resident memory of trainings on this machine's CPU, the furthest off."""
    values = []
    for line in lines:
        with own_folder() as home:
            now = replace(line, gib=train(line, home))
        guess = estimate(now.facts, now.setup, now.tokens).total
        note(f"{now.model} {now.tuner} {now.batch} x {now.tokens}: {now.gib:.3f} GiB, estimated {guess:.3f}")
        values.append(abs(guess / now.gib - 1))
    return Figure("estimate, trainings on this CPU: furthest off", "measured", (max(values),), TARGET)


def train(line: Measured, home: Path) -> float:
    """GiB of peak resident memory, of the whole family of processes."""
    model = make_random_model(home / "model", SHAPES[line.model], read_settings().starter)
    data = home / "rows.jsonl"
    data.write_text("".join(row(number, line.tokens) for number in range(4 * line.batch)), encoding="utf-8")
    args = {
        "tuner_type": line.tuner, "max_steps": STEPS, "per_device_train_batch_size": line.batch,
        "gradient_accumulation_steps": 1, "gradient_checkpointing": False, "max_length": line.tokens,
        "truncation_strategy": "right", "save_strategy": "no",
    }  # fmt: skip
    return train_watched(home, TrainSpec(model=str(model), dataset=(str(data),), args=args)).peak_gib


def row(number: int, tokens: int) -> str:
    """A row that is longer than ``tokens``, for a number takes at least one token a digit."""
    words = " ".join(str((number * 7919 + word * 31) % 9973) for word in range(tokens))
    return f'{{"messages": [{{"role": "user", "content": "Count."}}, {{"role": "assistant", "content": "{words}"}}]}}\n'
