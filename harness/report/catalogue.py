"""All cases on one page of Markdown: what they are about, and what each release does."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest
from pathlib import Path

from harness.case import (
    KINDS,
    Case,
    CrashPattern,
    ErrorPattern,
    ExitPattern,
    OneOf,
    Pattern,
    area,
    issue_url,
    kinds,
    labels,
    satisfies,
)
from harness.compat import VERIFIED_PAIRS
from harness.verdict.expectation import expects_failure

_HEAD = """# All cases

What TVM does as installed, release by release, by the first stage that fails. This page is made by
`tvm-repro list --markdown`, and what it says is held against each release by `pytest repros/`.
How to add a case stands in [ADDING.md](ADDING.md).
"""


def catalogue(cases: Sequence[Case], folder: Path) -> str:
    """The page, for a file in `folder`; cases in the order of their ids."""
    ordered = sorted(cases, key=lambda case: (area(case), case.id))
    parts = [_HEAD, *_counts(ordered)]
    for name, group in groupby(ordered, key=area):
        parts += ["", f"## {name or 'cases'}", "", *_table(list(group), folder)]
    return "\n".join(parts) + "\n"


def state(case: Case, tvm: str, ffi: str) -> str:
    """What stock TVM does on a pair of versions: the first stage that fails, ``ok``, or "" for
    a case that says nothing of the pair."""
    expect = case.expectation(tvm, ffi)
    if expect is None or not (satisfies(case.tvm, tvm) and satisfies(case.ffi, ffi)):
        return ""
    for stage, pattern in expect.arms["stock"].stages.items():
        if expects_failure(pattern):
            return f"{stage}: {_brief(pattern)}"
    return "ok"


def _counts(cases: Sequence[Case]) -> Iterator[str]:
    number = Counter(kind for case in cases for kind in kinds(case))
    yield f"{len(cases)} cases; select a kind with `pytest repros/ -m KIND`:"
    yield ""
    yield "| kind | cases | |"
    yield "|---|---|---|"
    yield from (f"| {kind} | {number[kind]} | {KINDS[kind]} |" for kind in KINDS if number[kind])


def _table(cases: Sequence[Case], folder: Path) -> Iterator[str]:
    releases = _columns(cases)
    head = ["case", "issue", "labels", *(tvm for tvm, _ in releases), "fix"]
    yield f"| {' | '.join(head)} |"
    yield "|---" * len(head) + "|"
    for case in cases:
        link = f"[{_cell(case.title)}]({os.path.relpath(case.path, folder)})"
        issue = ", ".join(_issue(one) for one in case.issue)
        seen = [state(case, *release) or "not for it" for release in releases]
        own = [label for label in labels(case) if label != area(case)]
        cells = [link, issue, ", ".join(own), *map(_cell, seen), case.fix]
        yield f"| {' | '.join(cells)} |"


def _columns(cases: Sequence[Case]) -> list[tuple[str, str]]:
    """Pairs of TVM and ffi, but for a release whose post release does the same in every case."""
    pairs = [(tvm, ffis[0]) for tvm, ffis in VERIFIED_PAIRS.items()]
    return [
        pair
        for pair, later in zip_longest(pairs, pairs[1:], fillvalue=("", ""))
        if not later[0].startswith(f"{pair[0]}.post")
        or any(state(case, *pair) != state(case, *later) for case in cases)
    ]


def _issue(text: str) -> str:
    address = issue_url(text)
    return text if address == text else f"[{text}]({address})"


def _brief(pattern: Pattern) -> str:
    match pattern:
        case ErrorPattern():
            return pattern.type
        case CrashPattern():
            return pattern.signal
        case ExitPattern():
            return f"exit {pattern.code}"
        case OneOf():
            return " or ".join(map(_brief, pattern.patterns))
        case _:
            return pattern.key


def _cell(text: str) -> str:
    """`text` without what ends a cell or a link, or begins markup; backticks stay."""
    return re.sub(r"([|<>\[\]*\\])", r"\\\1", " ".join(text.split()))
