"""A child of a test: load and encode data files with ms-swift itself, as its own commands do for a task.

``python encode_as_ms_swift.py < [[path, columns or null, task, model], …] > [answer a file]``. An answer is
``{"trained": [trained tokens of each row ms-swift keeps], "error": null}``, or the error that stops it.
"""

from __future__ import annotations

import contextlib
import json
import sys
from types import SimpleNamespace
from typing import Any


def main() -> None:
    from swift.dataset import load_dataset
    from swift.model import get_processor
    from swift.pipelines.train.kto import prepare_kto_dataset
    from swift.template import get_template

    kto = SimpleNamespace(
        loss_type="kto", per_device_train_batch_size=2, gradient_accumulation_steps=2, dataset_num_proc=1, data_seed=1,
        desirable_weight=1.0, undesirable_weight=1.0,
    )  # fmt: skip
    modes = {"dpo": "rlhf", "kto": "kto"}
    answers: list[dict[str, Any]] = []
    for path, columns, task, model in json.load(sys.stdin):
        template = get_template(
            get_processor(model, model_type="llama"), template_type="chatml", agent_template="hermes",
            loss_scale="last_round" if task in modes else "default",
        )  # fmt: skip
        template.max_length = None  # the model takes 512 bytes, and no row is to be lost by that
        template.set_mode(modes.get(task, "train"))
        try:
            rows, _ = load_dataset([path], num_proc=1, strict=False, load_from_cache_file=False, columns=columns)
            if task == "kto":
                rows, _ = prepare_kto_dataset(kto, rows, None)
            answers.append({"trained": list(trained(template, rows)), "error": None})
        except Exception as error:
            answers.append({"trained": [], "error": f"{type(error).__name__}: {error}"})
    print(json.dumps(answers), file=sys.__stdout__)


def trained(template: Any, rows: Any) -> Any:
    for row in rows:
        with contextlib.suppress(Exception):  # as ms-swift does: such a row is dropped
            encoded = template.encode(dict(row))
            labels = encoded.get("labels") or encoded.get("chosen_labels") or []
            yield sum(label != -100 for label in labels)


if __name__ == "__main__":
    with contextlib.redirect_stdout(sys.stderr):
        main()
