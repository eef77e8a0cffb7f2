"""A case for somebody who meets it for the first time: what it says, what is seen, where to go."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

import fixes
from harness.case import Case, issue_url, labels
from harness.compat import VERIFIED_PAIRS, pair_state
from harness.report.catalogue import state
from harness.report.ladder import near, verdict_style
from harness.report.rows import rows
from harness.report.text import line
from harness.run.trace import TvmInfo
from harness.verdict.arm import ArmJudgement
from harness.verdict.judge import Judgement
from harness.verdict.words import describe

_NOTES = 500
_MOST_CONTRASTS = 8
_Rows = Iterator[tuple[str, Text | str]]


def about(case: Case) -> Table:
    """What the case file says."""
    return rows(_about(case))


def _about(case: Case) -> _Rows:
    yield "case", Text(line(case.id), style="title")
    yield "", line(case.title)
    yield "file", line(str(near(case.path)), 400)
    yield "issue", line(", ".join(map(issue_url, case.issue)), 400)
    yield "labels", line(", ".join(labels(case)))
    if case.notes:
        yield "notes", line(" ".join(case.notes.split()), _NOTES)
    yield from _expected(case)
    if case.fix:
        fix = fixes.get(case.fix)
        yield "fix", line(f"{fix.name}: {fix.title}")
        yield "", line(f"verified on {', '.join(fix.verified_on)}")


def _expected(case: Case) -> _Rows:
    """What stock TVM does, releases that do the same together."""
    releases: dict[str, list[str]] = {}
    for tvm, ffis in VERIFIED_PAIRS.items():
        releases.setdefault(state(case, tvm, ffis[0]) or "not for it", []).append(tvm)
    key = "expected"
    for what, which in releases.items():
        yield key, line(f"{what}  on {', '.join(which)}")
        key = ""


def seen(case: Case, judgement: Judgement, info: TvmInfo) -> Table:
    """What a run of the case came to."""
    return rows(_seen(case, judgement, info))


def _seen(case: Case, judgement: Judgement, info: TvmInfo) -> _Rows:
    pair = pair_state(info.tvm, info.tvm_ffi)
    yield "at hand", line(f"TVM {info.tvm}, ffi {info.tvm_ffi} ({pair}), LLVM {info.llvm or '?'}")
    yield "verdict", _verdict(judgement)
    yield "", line(judgement.reason, 300)
    for name, arm in judgement.arms.items():
        key = name
        for said in _failures(arm):
            yield key, said
            key = ""
    if stock := judgement.arms.get("stock"):
        yield "signature", line(str(stock.signature))
    shown = list(judgement.contrasts.items())[:_MOST_CONTRASTS]
    for title, contrast in shown:
        yield "contrast", Text.assemble(_verdict(contrast), f"  {line(title)}")
    if more := len(judgement.contrasts) - len(shown):
        yield "", f"and {more} more"


def _failures(arm: ArmJudgement) -> Iterator[str]:
    failed = [one for one in arm.stages if one.failed]
    yield from (line(f"{one.stage.value}: {describe(one, short=True)}", 160) for one in failed)
    fix = arm.trace.fix
    used = f"; calls of the fix: {fix.used}" if fix and fix.applied else ""
    if not failed:
        yield f"all ok{used}"


def _verdict(judgement: Judgement) -> Text:
    return Text(judgement.verdict.value, style=verdict_style(judgement.verdict))


def commands(case: Case) -> Table:
    """What to type next."""
    path = shlex.quote(str(near(case.path)))
    others = "or run -v, compare, reduce, bless, export --as issue: same path"
    return rows([("next", line(f"tvm-repro locate {path}", 400)), ("", others)])
