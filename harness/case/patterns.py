"""What a case expects of a stage: one class per outcome that can be written down."""

from __future__ import annotations

from typing import Literal, Union

from pydantic import Field

from harness.case.base import ErrorClass, Int, Model, Regex, SignalName


class _Pattern(Model):
    """`at` names the pass it happens in, "" for anywhere; `because` is a remark."""

    at: str = ""
    because: str = ""

    def describe(self) -> str:
        """The pattern in the words of the YAML."""
        words = self._words()
        return f"{{{words}, at: {self.at}}}" if self.at else f"{{{words}}}"

    def _words(self) -> str:
        raise NotImplementedError


class _Word(_Pattern):
    def describe(self) -> str:
        return super().describe() if self.at else self._words().partition(":")[0]


class OkPattern(_Word):
    """``ok``: the stage finished."""

    ok: Literal[True] = True

    def _words(self) -> str:
        return "ok: true"


class HangPattern(_Word):
    """``hang``: the time limit ran out."""

    hang: Literal[True] = True

    def _words(self) -> str:
        return "hang: true"


class OomPattern(_Word):
    """``oom``: the memory limit ran out."""

    oom: Literal[True] = True

    def _words(self) -> str:
        return "oom: true"


class MismatchPattern(_Word):
    """``mismatch``: the stage finished with a wrong value, or the IR text is not as expected."""

    mismatch: Literal[True] = True

    def _words(self) -> str:
        return "mismatch: true"


class ErrorPattern(_Pattern):
    """``{error: ValueError, match: regex, in: regex}``: an exception of that class name.

    `match` searches the message, `in_` the names of the functions on the traceback, Python and
    C++ alike; "" matches anything.
    """

    type: ErrorClass = Field(alias="error")
    match: Regex = ""
    in_: Regex = Field(default="", alias="in")

    def _words(self) -> str:
        match = f", match: {self.match!r}" if self.match else ""
        inside = f", in: {self.in_!r}" if self.in_ else ""
        return f"error: {self.type}{match}{inside}"


class CrashPattern(_Pattern):
    """``{crash: SIGSEGV}``: the process died by that signal."""

    signal: SignalName = Field(alias="crash")

    def _words(self) -> str:
        return f"crash: {self.signal}"


class ExitPattern(_Pattern):
    """``{exit: 0}``: the process ended with that code before it reported."""

    code: Int = Field(alias="exit", ge=0, le=255)

    def _words(self) -> str:
        return f"exit: {self.code}"


class OneOf(_Pattern):
    """``{one_of: [ok, {crash: SIGABRT}]}``: what is known to vary."""

    patterns: tuple[SinglePattern, ...] = Field(alias="one_of", min_length=2)

    def _words(self) -> str:
        return f"one_of: [{', '.join(one.describe() for one in self.patterns)}]"


SinglePattern = Union[  # noqa: UP007
    OkPattern, ErrorPattern, CrashPattern, ExitPattern, HangPattern, OomPattern, MismatchPattern
]
Pattern = Union[SinglePattern, OneOf]  # noqa: UP007

OneOf.model_rebuild()
