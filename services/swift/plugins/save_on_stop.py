"""For ``swift sft --external_plugins``, so in the trainer's processes: save when asked to stop, and every few minutes.

transformers' own checkpoint on SIGTERM lets each rank decide by its own clock; ranks that decide at
different steps then wait for each other and nothing is saved. Here the first rank alone decides. It names
the step after the present one in a file, and the gradients that every step exchanges keep the ranks so
close that all of them have read it when they get there. Ranks on several machines share no file for sure, so
there it names the step in the key-value store at which they met.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import Any

from swift.callbacks import TrainerCallback, callbacks_map

STOP = "TUNEDESK_STOP"
"""Environment variable: the file that appears when the run is to stop. Without it nothing happens."""
NODES = "TUNEDESK_NODES"
"""Environment variable: the number of machines, where they are several."""
STORE_KEY = "tunedesk/step"
SAVE_EVERY_S = 300.0
"""How much work may be at risk."""
LARGEST_SHARE = 0.05
"""Saving takes no more of the time than this, however long one save takes."""


class SaveOnStop(TrainerCallback):  # type: ignore[misc]
    """Lets all ranks save, and end, at the same step."""

    def __init__(self, args: Any, trainer: Any) -> None:
        super().__init__(args, trainer)
        request = os.environ.get(STOP)
        self.request = Path(request) if request else None
        self.on_several_machines = int(os.environ.get(NODES) or 1) > 1
        self.saved_at = time.monotonic()
        self.asked_at: float | None = None
        self.save_s = 0.0

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.saved_at = time.monotonic()
        if self.request is not None and state.is_world_process_zero:
            with contextlib.suppress(OSError):  # a full disk must not end the training
                self._beside("listening").touch()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self.request is None:
            return
        named, what = self._named() if args.world_size > 1 else (-1, "")
        # a step that was named is over for every rank once the first rank has gone a step beyond it
        if state.is_world_process_zero and state.global_step > named and (wanted := self._wanted()):
            if args.world_size > 1:
                self._name(state.global_step + 1, wanted)
            else:
                named, what = state.global_step, wanted
        if state.global_step == named:
            self.asked_at = time.monotonic()
            control.should_save = True
            control.should_training_stop = control.should_training_stop or what == "stop"

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.saved_at = time.monotonic()
        if self.asked_at is not None:
            self.save_s, self.asked_at = self.saved_at - self.asked_at, None

    def _wanted(self) -> str:
        assert self.request is not None
        if self.request.exists():
            return "stop"
        pause_s = max(SAVE_EVERY_S, self.save_s / LARGEST_SHARE)
        return "save" if time.monotonic() - self.saved_at > pause_s else ""

    def _name(self, step: int, what: str) -> None:
        if self.on_several_machines:
            store = _store()
            store.set(STORE_KEY, f"{step} {what}")
            store.get(STORE_KEY)  # has an answer, so the name is there before this rank goes on
            return
        partial = self._beside("partial")
        with contextlib.suppress(OSError):  # on a full disk it is tried again at the next step
            partial.write_text(f"{step} {what}")
            partial.replace(self._beside("step"))

    def _named(self) -> tuple[int, str]:
        if self.on_several_machines:
            store = _store()
            text = bytes(store.get(STORE_KEY)).decode() if store.check([STORE_KEY]) else ""
        else:
            try:
                text = self._beside("step").read_text()
            except OSError:
                text = ""
        step, _, what = text.partition(" ")
        return (int(step), what) if step else (-1, "")

    def _beside(self, name: str) -> Path:
        assert self.request is not None
        return self.request.with_name(f"{self.request.name}.{name}")


def _store() -> Any:
    from torch.distributed import distributed_c10d

    return distributed_c10d._get_default_store()


callbacks_map["save_on_stop"] = SaveOnStop
