"""The data sets of a spec, as ms-swift is to load them."""

from __future__ import annotations

from services.datasets.sample import SAMPLE, SAMPLE_ROWS, sample_rows
from services.paths import resolve
from services.plan import Slot
from services.settings import Settings
from services.specs import TrainSpec
from services.swift.commands import Data

SAMPLE_FILE = "sample.jsonl"


def read_data(spec: TrainSpec, settings: Settings) -> Data:
    """Find every data set of ``spec``."""
    arguments: list[str] = []
    files: dict[str, str] = {}
    rows = 0
    for text in spec.dataset:
        if text == SAMPLE:
            files[SAMPLE_FILE] = sample_rows(spec.model_name, spec.model_author)
            arguments.append(Slot("{run}/" + SAMPLE_FILE))
            rows += SAMPLE_ROWS
        else:
            arguments.append(str(resolve(text, settings, must_be="file")))
    return Data(tuple(arguments), rows or None, files)
