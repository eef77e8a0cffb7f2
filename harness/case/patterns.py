"""What a case expects of a stage: one class per outcome that can be written down."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, Tag

from harness.case.base import TAG, Model, tell_apart
from harness.case.vocabulary import ErrorClass, Int, Regex, SignalName, Text


class _Pattern(Model):
    at: Text = Field(default="", description="The pass it happens in, by its dotted name.")
    because: str = Field(default="", description="A remark.")

    def describe(self) -> str:
        """The pattern in the words of the YAML."""
        return f"{{{self._words()}{f', at: {self.at}' if self.at else ''}}}"

    def _words(self) -> str:
        raise NotImplementedError


class _Word(_Pattern):
    """Written as a word, or as `{word: true, at: ...}` when there is more to say."""

    def describe(self) -> str:
        return super().describe() if self.at else self.key

    def _words(self) -> str:
        return f"{self.key}: true"


class OkPattern(_Word):
    """`ok`: the stage finished."""

    key: ClassVar[str] = "ok"
    ok: Literal[True] = True


class HangPattern(_Word):
    """`hang`: the time limit ran out."""

    key: ClassVar[str] = "hang"
    hang: Literal[True] = True


class OomPattern(_Word):
    """`oom`: the memory limit ran out."""

    key: ClassVar[str] = "oom"
    oom: Literal[True] = True


class MismatchPattern(_Word):
    """`mismatch`: a wrong value (stage run), or not the expected IR text (stage pass)."""

    key: ClassVar[str] = "mismatch"
    mismatch: Literal[True] = True


class ErrorPattern(_Pattern):
    """`{error: ValueError, match: regex, in: regex}`: an exception of that class name.

    `match` searches the message, `in` the names of the functions on the traceback, Python and
    C++ alike; left out, anything does.
    """

    key: ClassVar[str] = "error"
    type: ErrorClass = Field(validation_alias="error")
    match: Regex = ""
    in_: Regex = Field(default="", validation_alias="in")

    def _words(self) -> str:
        match = f", match: {self.match!r}" if self.match else ""
        return f"error: {self.type}{match}{_inside(self.in_)}"


class CrashPattern(_Pattern):
    """`{crash: SIGSEGV, in: regex}`: the process died by that signal.

    `in` searches the names of the functions on the stack that it printed as it died; left out,
    any stack does.
    """

    key: ClassVar[str] = "crash"
    signal: SignalName = Field(validation_alias="crash")
    in_: Regex = Field(default="", validation_alias="in")

    def _words(self) -> str:
        return f"crash: {self.signal}{_inside(self.in_)}"


class ExitPattern(_Pattern):
    """`{exit: 0}`: the process ended with that code before it reported."""

    key: ClassVar[str] = "exit"
    code: Int = Field(validation_alias="exit", ge=0, le=255)

    def _words(self) -> str:
        return f"exit: {self.code}"


class OneOf(_Pattern):
    """`{one_of: [ok, {crash: SIGABRT}]}`: what is known to vary."""

    key: ClassVar[str] = "one_of"
    patterns: tuple[SinglePattern, ...] = Field(validation_alias="one_of", min_length=2)

    def _words(self) -> str:
        return f"one_of: [{', '.join(one.describe() for one in self.patterns)}]"


def _inside(regex: str) -> str:
    return f", in: {regex!r}" if regex else ""


def _spelled_out(value: object) -> object:
    return {} if isinstance(value, str) else value


def _word(word: str, model: type[_Word]) -> BeforeValidator:
    return BeforeValidator(_spelled_out, json_schema_input_type=Literal[word] | model)


WORDS = ("ok", "hang", "oom", "mismatch")
SINGLE_KEYS = (*WORDS, "error", "crash", "exit")
_EXPECTED = (
    "ok, hang, oom, mismatch, {error: ValueError, match: regex}, {crash: SIGSEGV} or {exit: 0}"
)

_Single = (
    Annotated[OkPattern, _word("ok", OkPattern), Tag(TAG + "ok")]
    | Annotated[HangPattern, _word("hang", HangPattern), Tag(TAG + "hang")]
    | Annotated[OomPattern, _word("oom", OomPattern), Tag(TAG + "oom")]
    | Annotated[MismatchPattern, _word("mismatch", MismatchPattern), Tag(TAG + "mismatch")]
    | Annotated[ErrorPattern, Tag(TAG + "error")]
    | Annotated[CrashPattern, Tag(TAG + "crash")]
    | Annotated[ExitPattern, Tag(TAG + "exit")]
)
SinglePattern = Annotated[_Single, tell_apart(_EXPECTED, SINGLE_KEYS, words=WORDS)]
Pattern = Annotated[
    _Single | Annotated[OneOf, Tag(TAG + "one_of")],
    tell_apart(f"{_EXPECTED}, or {{one_of: [...]}}", ("one_of", *SINGLE_KEYS), words=WORDS),
]
