"""``tvm-repro bless``: a case file that says what was seen, and nothing else in it changed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from packaging.version import Version
from rich.console import Console

from harness import campaign
from harness.case import ArmExpect, Case, VersionedExpect, parse_case, satisfies
from harness.case.edit import edited, in_front
from harness.case.reading import read_tree
from harness.case.source import read_source
from harness.case.tree import Path
from harness.compat import VERIFIED_PAIRS
from harness.report import ir
from harness.report.text import line
from harness.run.pool import Pool
from harness.run.trace import ArmTrace, TvmInfo
from harness.triage.entry import ARMS, as_entry, as_seen, changes
from harness.verdict.judge import Judgement
from harness.verdict.word import Verdict, exit_code

ANY = "any"
LEAST_RUNS = 2

# What no other expectation makes right.
_REFUSED = {
    Verdict.INFRA: "the run says nothing",
    Verdict.FLAKY: "the runs disagree: write what varies as `one_of`, with `repeat:`",
    Verdict.UNRUNNABLE: "port the case to this TVM, or give it `tvm:`",
    Verdict.FIX_NOT_APPLIED: "the fix took no part: mend the fix",
    Verdict.FIX_INEFFECTIVE: "mend the fix",
    Verdict.FIX_HARMFUL: "mend the fix",
}


@dataclass(frozen=True, slots=True)
class Blessing:
    """What came of a case: its new `text` with why, or why it stays as it is.

    `text` is "" when nothing is to change, or nothing may.
    """

    case: Case
    verdict: Verdict
    text: str = ""
    why: tuple[str, ...] = ()
    refused: bool = False


def bless(
    cases: Sequence[Case], options: campaign.Options, pool: Pool, scope: str
) -> Iterator[Blessing]:
    """Run cases, twice at least, and write each as it would be right on the TVM at hand.

    Parameters
    ----------
    cases : sequence of Case
    options : campaign.Options
    pool : Pool
    scope : str
        The releases that are spoken of, ``any`` for no word about releases, "" for the one at
        hand.
    """
    asked = [_asked(case, pool.info) for case in cases]
    for report in campaign.run_cases(asked, options, pool):
        yield _blessing(report, pool.info, options, scope)


def show(blessing: Blessing, out: Console) -> None:
    """Tell why, and print the diff."""
    case = blessing.case
    out.print(f"{blessing.verdict.value:<15} {line(case.id)}", style="title", soft_wrap=True)
    for why in blessing.why:
        out.print(f"  {line(why, 400)}", soft_wrap=True)
    if blessing.text:
        name = os.path.relpath(case.path)
        diff = ir.diff(read_source(case.path), blessing.text, (name, name))
        out.print(diff, soft_wrap=True)


def conclude(done: Sequence[Blessing], written: bool, out: Console) -> int:
    """Count what came of it; returns the exit code."""
    changed = sum(bool(one.text) for one in done)
    refused = [one.verdict for one in done if one.refused]
    told = (
        [f"{changed} {'written' if written else 'to change: --write does it'}"] if changed else []
    )
    told += [f"{len(refused)} refused"] if refused else []
    told += [f"{left} left as they are"] if (left := len(done) - changed - len(refused)) else []
    out.print(", ".join(told))
    return (exit_code(refused) or 1) if refused else int(bool(changed and not written))


def _asked(case: Case, info: TvmInfo) -> Case:
    """The case, to be run often enough, with an expectation of the TVM at hand."""
    contrasts = tuple(
        one.model_copy(update={"case": _asked(one.case, info)}) for one in case.contrasts
    )
    update = {"repeat": max(case.repeat, LEAST_RUNS), "contrasts": contrasts}
    if case.expectation(info.tvm, info.tvm_ffi) is None:
        all_ok = VersionedExpect(arms={name: ArmExpect() for name in ARMS})
        update["expect"] = (*case.expect, all_ok)
    return case.model_copy(update=update)


def _blessing(
    report: campaign.CaseReport, info: TvmInfo, options: campaign.Options, scope: str
) -> Blessing:
    case = report.case
    old = text = read_source(case.path)
    why: list[str] = []
    for variant, path, judgement in _variants(report, info, options):
        if hint := _REFUSED.get(judgement.verdict):
            why = [f"{judgement.verdict.value}: {judgement.reason}", hint]
            return _refused(report, f"{variant.id}: {'; '.join(why)}")
        if judgement.verdict is Verdict.SKIPPED:
            why.append(f"{variant.id}: skipped: {judgement.reason}")
            continue
        new = _rewritten(text, path, variant, judgement, info, scope)
        if new != text:
            why += _why(variant, judgement)
        text = new
    if text == old:
        return Blessing(case, report.verdict, why=tuple(why))
    again = campaign.report(
        parse_case(text, case.path), _traces(report, info, options), info, options
    )
    if not again.verdict.passes:
        said = f"{again.verdict.value}: {again.judgement.reason}"
        return _refused(report, f"what would be written does not hold: {said}")
    return Blessing(case, report.verdict, text, tuple(why))


def _refused(report: campaign.CaseReport, why: str) -> Blessing:
    return Blessing(report.case, report.verdict, why=(f"refused: {why}",), refused=True)


def _variants(
    report: campaign.CaseReport, info: TvmInfo, options: campaign.Options
) -> Iterator[tuple[Case, Path, Judgement]]:
    """The case without its contrasts, and these, each with the path of its `expect:`."""
    case, whole = report.case, report.judgement
    own = campaign.judge_variant(case, _runs(whole), info, options)
    yield case, ("expect",), own if whole.arms else whole
    for index, one in enumerate(case.contrasts):
        yield one.case, ("contrasts", index, "expect"), whole.contrasts[one.title]


def _traces(
    report: campaign.CaseReport, info: TvmInfo, options: campaign.Options
) -> campaign.Traces:
    return {one.id: _runs(judgement) for one, _, judgement in _variants(report, info, options)}


def _runs(judgement: Judgement) -> dict[str, list[ArmTrace]]:
    return {name: [run.trace for run in arm.runs] for name, arm in judgement.arms.items()}


def _rewritten(
    text: str, path: Path, case: Case, judgement: Judgement, info: TvmInfo, scope: str
) -> str:
    """The case file with another `expect:` at `path`, as far as it has to be another."""
    here = read_tree(text).at(path)
    expect = case.expectation(info.tvm, info.tvm_ffi)
    assert expect is not None
    entry_path, entry, missing = path, here, False
    if isinstance(here, list):
        index = case.expect.index(expect)
        entry_path, missing = (*path, index), index == len(here)
        entry = "ok" if missing else here[index]
    new = as_seen(entry, judgement.arms, bool(case.fix))
    if new == entry and not missing:
        return text
    if not missing and _in_place(expect.tvm, info, scope):
        try:
            return edited(text, dict(changes(entry, new, entry_path)))
        except ValueError:  # it opens an entry of a list
            whole = [*here]
            whole[index] = new
            return edited(text, {path: whole})
    added = as_entry(new, scope if scope not in ("", ANY) else _release(info))
    if here == "ok":
        return edited(text, {path: [added, {"stock": "ok"}]})
    return in_front(text, entry_path, added)


def _in_place(tvm: str, info: TvmInfo, scope: str) -> bool:
    """Whether an entry for the releases `tvm` is to change, or to get one in front of it."""
    if scope:
        return scope in (ANY, tvm)
    here = Version(info.tvm).release[:2]
    others = (one for one in VERIFIED_PAIRS if Version(one).release[:2] != here)
    return not any(satisfies(tvm, other) for other in others)


def _release(info: TvmInfo) -> str:
    major, minor = Version(info.tvm).release[:2]
    return f"=={major}.{minor}.*"


def _why(case: Case, judgement: Judgement) -> Iterator[str]:
    differs = False
    for name, arm in judgement.arms.items():
        for one in arm.differences:
            if not differs or one.seen != "not reached":
                differs = True
                told = f"expected {one.expected}, saw {one.seen}"
                yield f"{case.id}: {name}: {one.stage.value}: {told}"
    if not differs:
        yield f"{case.id}: no entry of its expect: speaks of this TVM"
    if judgement.verdict is Verdict.FIXED_UPSTREAM and case.fix:
        yield f"{case.id}: on this release the fix {case.fix} can be retired (tvm-repro fixes)"
