"""For ``swift deploy --external_plugins``, so in the server's process: a reader who leaves ends his answer.

ms-swift 4.6 goes on to ``max_tokens`` after the connection is closed, and the next question waits
for that. Here each streamed request carries a flag, set when its reader is gone, and generation
asks the flags of its batch at each token. An ms-swift with other insides is left as it is.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from threading import Event
from typing import Any

import torch
from swift.infer_engine.transformers_engine import TransformersEngine
from swift.template import Template
from transformers import StoppingCriteria, StoppingCriteriaList


class ReaderGone(StoppingCriteria):  # type: ignore[misc]
    """Ends each row of a batch whose reader is gone."""

    def __init__(self, gone: list[Event]) -> None:
        self._gone = gone

    def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        return torch.tensor([event.is_set() for event in self._gone], device=input_ids.device)


async def infer_async(self: Any, infer_request: Any, *args: Any, **kwargs: Any) -> Any:
    gone = infer_request.reader_gone = Event()
    answer = await _infer_async(self, infer_request, *args, **kwargs)
    return _watched(answer, gone) if hasattr(answer, "__aiter__") else answer


async def _watched(answer: AsyncIterator[Any], gone: Event) -> AsyncIterator[Any]:
    try:
        async for piece in answer:
            yield piece
    finally:
        gone.set()


def infer(self: Any, infer_requests: list[Any], *args: Any, **kwargs: Any) -> Any:
    # one batch runs at a time, and its generation begins before the next one comes here
    self.template.readers_gone = [getattr(request, "reader_gone", Event()) for request in infer_requests]
    return _infer(self, infer_requests, *args, **kwargs)


def generate(self: Any, model: Any, *args: Any, **kwargs: Any) -> Any:
    gone = getattr(self, "readers_gone", None)
    if gone and len(gone) == len(kwargs.get("input_ids", ())):
        criteria = kwargs.get("stopping_criteria") or []
        kwargs["stopping_criteria"] = StoppingCriteriaList([*criteria, ReaderGone(gone)])
    return _generate(self, model, *args, **kwargs)


if all(hasattr(TransformersEngine, name) for name in ("infer_async", "_infer")) and hasattr(Template, "generate"):
    _infer_async, TransformersEngine.infer_async = TransformersEngine.infer_async, infer_async
    _infer, TransformersEngine._infer = TransformersEngine._infer, infer
    _generate, Template.generate = Template.generate, generate
