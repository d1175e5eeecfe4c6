"""DeepSpeed's configuration: ms-swift's own, with what a form asks."""

from __future__ import annotations

from typing import Any

import pytest

from services.errors import Refused
from services.planning.deepspeed import Knobs, advised, deepspeed_config
from services.planning.machine import described
from services.text import explain, say


def zero(stage: int, **knobs: Any) -> dict[str, Any]:
    found: dict[str, Any] = deepspeed_config(stage, Knobs(**knobs))["zero_optimization"]
    return found


@pytest.mark.parametrize("stage", [0, 1, 2, 3])
def test_without_knobs_a_stage_is_as_ms_swift_brings_it(stage: int) -> None:
    config = deepspeed_config(stage)
    assert config["zero_optimization"]["stage"] == stage
    assert config["train_micro_batch_size_per_gpu"] == config["gradient_accumulation_steps"] == "auto"
    config["zero_optimization"]["stage"] = 99
    assert zero(stage)["stage"] == stage  # what one form changes, the next does not see


def test_a_knob_that_is_turned_is_in_the_configuration_and_no_other_is() -> None:
    found = zero(2, reduce_bucket_size=100_000_000, overlap_comm=True)
    assert (found["reduce_bucket_size"], found["overlap_comm"]) == (100_000_000, True)
    assert found["allgather_bucket_size"] == zero(2)["allgather_bucket_size"]
    assert zero(2, offload_optimizer="cpu")["offload_optimizer"] == {"device": "cpu", "pin_memory": True}
    both = zero(3, offload_optimizer="cpu", offload_param="cpu", pin_memory=False)
    assert both["offload_param"] == both["offload_optimizer"] == {"device": "cpu", "pin_memory": False}


@pytest.mark.parametrize(
    ("code", "stage", "knobs"),
    [
        ("deepspeed_stage", 4, {}),
        ("deepspeed_knob", 0, {"offload_optimizer": "cpu"}),
        ("deepspeed_knob", 2, {"offload_param": "cpu"}),
        ("deepspeed_knob", 3, {"allgather_bucket_size": 5}),
        ("argument_number", 2, {"reduce_bucket_size": 0}),
    ],
)
def test_a_knob_that_a_stage_does_not_have_is_refused(code: str, stage: int, knobs: dict[str, Any]) -> None:
    with pytest.raises(Refused) as caught:
        deepspeed_config(stage, Knobs(**knobs))
    assert caught.value.code == code
    assert explain(caught.value, "en") != explain(caught.value, "zh")


@pytest.mark.parametrize(
    ("cards", "host", "fits", "bucket", "offload"),
    [(4, 256, True, 2e8, None), (4, 256, False, 2e8, "cpu"), (4, 64, False, 2e8, None), (16, 512, True, 5e8, None)],
)
def test_the_advice_follows_the_cards_and_the_hosts_memory(
    cards: int, host: int, fits: bool, bucket: float, offload: str | None
) -> None:
    gpus = [{"name": "A100", "memory_gib": 40, "count": cards}]
    knobs, reasons = advised(2, described({"gpus": gpus, "host_memory_gib": host, "cores": 32}), fits)
    assert (knobs.reduce_bucket_size, knobs.allgather_bucket_size, knobs.offload_optimizer) == (bucket, bucket, offload)
    assert reasons and all(say(key, lang, **key.values) for key in reasons for lang in ("en", "zh"))
    assert deepspeed_config(2, knobs)["zero_optimization"]["reduce_bucket_size"] == bucket
