"""A conversation: what was asked and answered, what the model is told of it, and an answer as it grows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from services.chat.markdown import split_thought
from services.errors import TuneDeskError

FASTEST_S = 0.08
"""Between two looks at an answer under way; a long one costs the page more, so it is shown less often."""
CHARS_PER_S = 40_000


@dataclass(frozen=True)
class Exchange:
    """A question as it was typed, and all that the model wrote, its thoughts included."""

    question: str
    model: str
    """What answers: the label in the server's record."""
    written: str = ""

    @property
    def thought(self) -> str:
        return split_thought(self.written)[0]

    @property
    def answer(self) -> str:
        return split_thought(self.written)[1]


@dataclass(frozen=True)
class Conversation:
    """Its exchanges, the oldest first."""

    exchanges: tuple[Exchange, ...] = ()

    def asked(self, question: str, model: str) -> Conversation:
        return Conversation((*self.exchanges, Exchange(question, model)))

    def answered(self, written: str) -> Conversation:
        """The last question with its answer, as far as it has come."""
        *before, last = self.exchanges
        return Conversation((*before, replace(last, written=written)))

    def without_last(self) -> Conversation:
        return Conversation(self.exchanges[:-1])

    def history(self) -> list[dict[str, str]]:
        """The messages for the model: its own answers without the thoughts, and the last question.

        What another model answered is left out, and so is a question that never got an answer.
        """
        *before, last = self.exchanges
        messages: list[dict[str, str]] = []
        for exchange in before:
            if exchange.model != last.model:
                messages = []
            elif answer := exchange.answer:
                messages += [{"role": "user", "content": exchange.question}, {"role": "assistant", "content": answer}]
        return [*messages, {"role": "user", "content": last.question}]


def growing(deltas: Iterable[str], clock: Callable[[], float] = time.monotonic) -> Iterator[str]:
    """The whole text so far, again and again, at a pace that a page can follow; always once at the end.

    What had arrived before an error is given before the error is raised.
    """
    text, shown, next_look = "", "", 0.0
    try:
        for delta in deltas:
            text += delta
            if clock() >= next_look:
                yield text
                shown, next_look = text, clock() + max(FASTEST_S, len(text) / CHARS_PER_S)
    except TuneDeskError:
        if text != shown:
            yield text
        raise
    if text != shown:
        yield text
