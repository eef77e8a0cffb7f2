"""Outcomes in the words of a case file, for people."""

from __future__ import annotations

from harness.verdict.outcome import (
    Crash,
    Error,
    Exit,
    Hang,
    Mismatch,
    NotApplicable,
    NotReached,
    Ok,
    Oom,
    Outcome,
    Skipped,
    StageResult,
)

_GIST = 500


def kind(outcome: Outcome) -> str:
    """One word: ``error``, ``crash``, ``not reached``."""
    return _KINDS[type(outcome)]


def message(outcome: Outcome) -> str:
    """What was said on the occasion, in full; "" when nothing was."""
    match outcome:
        case Error() | Mismatch():
            return outcome.message
        case Crash():
            return outcome.reason
        case Oom():
            return outcome.detail
        case _:
            return ""


def describe(result: StageResult, short: bool = False) -> str:
    """What happened in a stage, on one line, without the message's further lines.

    `short` gives the place by the last part of its dotted name.
    """
    head = _head(result.outcome)
    said = gist(message(result.outcome))
    at = result.at.rpartition(".")[2] if short else result.at
    place = f" at {at}" if at and result.failed else ""
    return f"{head}{place}: {said}" if said else f"{head}{place}"


def gist(text: str) -> str:
    """The line of a message that says why, bounded: its first, unless it announces another."""
    _, announced, why = text.rpartition("Error message: ")
    said = (why if announced else text).strip().partition("\n")[0].strip()
    return said if len(said) <= _GIST else f"{said[: _GIST - 1]}…"


def _head(outcome: Outcome) -> str:
    match outcome:
        case Error():
            return f"error {outcome.type}"
        case Crash():
            return f"crash {outcome.signal}"
        case Exit():
            return f"exit {outcome.code}"
        case _:
            return kind(outcome)


_KINDS: dict[type[Outcome], str] = {
    Ok: "ok",
    Error: "error",
    Crash: "crash",
    Exit: "exit",
    Hang: "hang",
    Oom: "oom",
    Mismatch: "mismatch",
    NotReached: "not reached",
    NotApplicable: "not applicable",
    Skipped: "skipped",
}
