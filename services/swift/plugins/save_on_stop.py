"""For ``swift sft --external_plugins``, so in the trainer's processes: a request to stop saves first.

transformers' own checkpoint on SIGTERM lets each rank decide by its own clock; ranks that decide at
different steps then wait for each other and nothing is saved. Here the first rank alone looks for the
request and names the step after the next; the gradients that every step exchanges keep the ranks so close
that all of them have read it by then.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from swift.callbacks import TrainerCallback, callbacks_map

STOP = "TUNEDESK_STOP"
"""Environment variable: the file that appears when the run is to stop. Without it nothing happens."""


class SaveOnStop(TrainerCallback):  # type: ignore[misc]
    """Saves and ends all ranks at the same step."""

    def __init__(self, args: Any, trainer: Any) -> None:
        super().__init__(args, trainer)
        request = os.environ.get(STOP)
        self.request = Path(request) if request else None

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self.request is not None and state.is_world_process_zero:
            self._beside("listening").touch()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self.request is None:
            return
        agreed = self._beside("step")
        if state.is_world_process_zero and not agreed.exists() and self.request.exists():
            partial = self._beside("partial")
            partial.write_text(str(state.global_step + (1 if args.world_size > 1 else 0)))
            partial.replace(agreed)
        if agreed.exists() and state.global_step >= int(agreed.read_text()):
            control.should_save = True
            control.should_training_stop = True

    def _beside(self, name: str) -> Path:
        assert self.request is not None
        return self.request.with_name(f"{self.request.name}.{name}")


callbacks_map["save_on_stop"] = SaveOnStop
