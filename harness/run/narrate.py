"""The child's account of itself: every step announced before it starts, and how it ended."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from harness.run.trace import Raised, Stage
from harness.run.wire import Records

_HARNESS = str(Path(__file__).parents[1])
_MESSAGE_LIMIT = 16_000
_FRAME_LIMIT = 200
_NAME_LIMIT = 1_000


class StepFailed(Exception):
    """A step ended with an exception, which has been told already."""


class ValueDiffers(Exception):
    """A check of the case does not hold: ends its step as a mismatch, not as an error."""


class Narrator:
    """Announces steps on the records pipe.

    When it `halts`, a check that fails is the end, also where the module could go on.
    """

    def __init__(self, records: Records, halts: bool = False) -> None:
        self._records = records
        self.halts = halts

    @contextmanager
    def step(self, stage: Stage, at: str = "") -> Iterator[None]:
        """Announce a step, run the body, say how it ended.

        Raises
        ------
        StepFailed
            When the body raised anything at all: the text of a case is Python, and may well
            raise SystemExit.
        """
        self._records.send({"begin": stage.value, "at": at})
        started = time.perf_counter()
        end: dict[str, object] = {}
        try:
            yield
        except ValueDiffers as difference:
            end["mismatch"] = clip(str(difference))
        except BaseException as error:
            end["raised"] = describe(error).as_dict()
        self._records.send({"end": end, "seconds": time.perf_counter() - started})
        if end:
            # Outside the except clause: chaining would keep the frames, and what they hold, alive.
            raise StepFailed

    def absent(self, stage: Stage, word: str) -> None:
        self._records.send({"absent": stage.value, "word": word})

    def tell(self, key: str, value: object) -> None:
        """Send a fact that is not a step."""
        self.send({key: value})

    def send(self, record: dict[str, object]) -> None:
        self._records.send(record)


def describe(error: BaseException) -> Raised:
    """What is kept of an exception: class, bounded message, function names of the traceback."""
    try:
        message = str(error)
    except BaseException as second:
        message = f"<its message cannot be printed: {type(second).__name__}>"
    return Raised(type(error).__name__[:_NAME_LIMIT], clip(message), _frames(error.__traceback__))


def clip(text: str) -> str:
    """Bound a message, keeping both ends: the reason may stand on the last of 80 lines."""
    if len(text) <= _MESSAGE_LIMIT:
        return text
    half = _MESSAGE_LIMIT // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters cut …]\n{text[-half:]}"


def _frames(traceback: TracebackType | None) -> tuple[str, ...]:
    names: list[str] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not code.co_filename.startswith(_HARNESS):
            names.append(code.co_name[:_NAME_LIMIT])
        traceback = traceback.tb_next
    return tuple(names[-_FRAME_LIMIT:])
