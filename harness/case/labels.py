"""What a case is called by its folder and by how it fails: nobody has to write that down."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from harness.case.model import Case
from harness.case.patterns import (
    CrashPattern,
    ErrorPattern,
    ExitPattern,
    HangPattern,
    MismatchPattern,
    OneOf,
    OomPattern,
    Pattern,
)

KINDS = {
    "crash": "the process dies by a signal",
    "exit": "the process vanishes without a word",
    "hang": "the time limit runs out",
    "memory": "the memory limit runs out",
    "wrong_result": "a wrong value, or the wrong IR, and no complaint",
    "ill_formed": "a pass leaves an ill-formed module, or the module is so from the start",
    "exception": "TVM raises",
    "guard": "right on every release",
}


def area(case: Case) -> str:
    """The folder below ``repros/``; "" for a case beside it."""
    return next(iter(PurePosixPath(case.id).parts[:-1]), "")


def kinds(case: Case) -> tuple[str, ...]:
    """How the case fails as TVM is installed, on whatever release, in the order of `KINDS`.

    Contrasts count where the case itself is right: then they show what it guards against.
    """
    found = _own_kinds(case)
    for contrast in () if found else case.contrasts:
        found |= _own_kinds(contrast.case)
    return tuple(kind for kind in KINDS if kind in (found or {"guard"}))


def _own_kinds(case: Case) -> set[str]:
    return {
        kind
        for expect in case.expect
        for stage, pattern in expect.arms["stock"].stages.items()
        for kind in _kinds(stage, pattern)
    }


def labels(case: Case) -> tuple[str, ...]:
    """Everything that selects the case by a word: its area, its kinds and its own tags."""
    own = (area(case), *kinds(case), *case.tags)
    return tuple(dict.fromkeys(label for label in own if label))


def _kinds(stage: str, pattern: Pattern) -> Iterator[str]:
    match pattern:
        case OneOf():
            for one in pattern.patterns:
                yield from _kinds(stage, one)
        case CrashPattern():
            yield "crash"
        case ExitPattern():
            yield "exit"
        case HangPattern():
            yield "hang"
        case OomPattern():
            yield "memory"
        case MismatchPattern():
            yield "wrong_result"
        case ErrorPattern():
            yield "ill_formed" if stage in ("input", "well_formed") else "exception"


def issue_url(issue: str) -> str:
    """The address of ``owner/repo#number``; anything else as it stands."""
    known = re.fullmatch(r"([\w.-]+/[\w.-]+)#(\d+)", issue)
    return f"https://github.com/{known[1]}/issues/{known[2]}" if known else issue
