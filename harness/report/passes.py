"""Where a bug comes from, for people: the passes of a run, the one that is named, what it does."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from harness.case import Case
from harness.report import ir
from harness.report.rows import rows
from harness.report.text import line, styled
from harness.run.trace import PassRun, Stage
from harness.verdict.finding import Finding, Ground, Trial
from harness.verdict.words import describe, gist, message

_WITHOUT = {Trial.RIGHT: "right", Trial.SAME: "same", Trial.OTHER: "other"}


def located(case: Case, finding: Finding) -> RenderableType:
    """The table of passes and the conclusion."""
    head = Text.assemble((line(case.id), "title"), f"  arm {finding.arm}")
    table = [passes(case, finding)] if finding.recording.runs else []
    legend = [Text(_LEGEND, style="quiet")] if finding.trials else []
    return Group(head, styled(case.title, "quiet"), *table, *legend, conclusion(finding))


def change(finding: Finding) -> RenderableType:
    """What the pass that is named does to the IR, or what it fails on."""
    if finding.culprit is None:
        return Text()
    name = line(finding.culprit.run.name)
    if finding.ir is None:
        return Text(f"\nthe IR in front of {name} cannot be printed", style="quiet")
    before, after = finding.ir
    if after:
        head, body = f"what {name} changes", ir.diff(before, after, ("before", "after"))
    elif finding.culprit.ground is Ground.INSIDE:
        said = message(finding.noticed.outcome) if finding.noticed else ""
        head, body = f"what {name} is given", ir.around(before, said)
    else:
        head, body = (
            f"in front of {name}; the IR behind it cannot be printed",
            ir.around(before, ""),
        )
    return Group(Text(f"\n{head}", style="title"), body)


_REST_UNKNOWN = "what it and those behind it did is not known"
_LEGEND = "without it: all is right; the same is noticed; or something other fails"


def passes(case: Case, finding: Finding) -> Table:
    """One row a pass, those that do nothing folded into one."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=False)
    table.add_column("#", justify="right", style="quiet")
    table.add_column("pass", overflow="ellipsis", no_wrap=True, ratio=1)
    table.add_column("ms", justify="right", style="quiet")
    table.add_column("module", no_wrap=True)
    table.add_column("without it", no_wrap=True)
    numbered = list(enumerate(finding.recording.runs, 1))
    for step, runs in groupby(numbered, key=lambda item: item[1].path[0]):
        own = step < len(case.passes)
        table.add_row("", styled(case.passes[step].name if own else "build", "title"))
        for quiet, group in groupby(runs, key=lambda item: _is_quiet(finding, item[1])):
            if quiet:
                table.add_row(*_folded([one for _, one in group]))
            else:
                for number, one in group:
                    table.add_row(*_row(finding, number, one))
    return table


def conclusion(finding: Finding) -> Table:
    """Who is named, who noticed, and what is known of it: a line each."""
    return rows(_conclusion(finding))


def _conclusion(finding: Finding) -> Iterator[tuple[str, Text]]:
    yield "introduced at", Text(*_introduced(finding))
    yield "noticed at", Text(_noticed(finding))
    if finding.odd:
        yield "but", Text(finding.odd, style="expected")
    if (lost := finding.recording.out_of_sight) is not None:
        said = f"looking at what {line(lost.name)} left came to no end; {_REST_UNKNOWN}"
        yield "but", Text(said, style="expected")


def as_dict(case: Case, finding: Finding) -> dict[str, object]:
    """A finding for scripts."""
    recording, culprit, noticed = finding.recording, finding.culprit, finding.noticed
    introduced = culprit and {
        "pass": culprit.run.name,
        "title": recording.title(culprit.run),
        "path": culprit.run.path,
        "ground": culprit.ground.name.lower(),
    }
    return {
        "schema": 1,
        "case": case.id,
        "arm": finding.arm,
        "introduced": introduced,
        "why_none": finding.why_none,
        "noticed": noticed and {"stage": noticed.stage.value, "what": describe(noticed)},
        "recorded_otherwise": bool(finding.odd),
        "passes": [_pass_as_dict(finding, one) for one in recording.runs],
        "ir": finding.ir,
    }


def _pass_as_dict(finding: Finding, one: PassRun) -> dict[str, object]:
    looked, tried = one.looked, finding.trials.get(one.path)
    ill_formed = looked.ill_formed.message if looked and looked.ill_formed else None
    return {
        "path": one.path,
        "name": one.name,
        "finished": one.finished,
        "seconds": round(one.seconds, 6),
        "changed": looked and looked.changed,
        "ill_formed": ill_formed,
        "without": tried and tried.value,
    }


def _introduced(finding: Finding) -> tuple[str, str]:
    culprit = finding.culprit
    if culprit is None:
        return f"not known: {finding.why_none}", "expected"
    name = line(finding.recording.title(culprit.run))
    return f"{name}: {line(_ground(finding), 400)}", "title"


def _ground(finding: Finding) -> str:
    """Why the pass is named."""
    culprit = finding.culprit
    assert culprit is not None
    said = culprit.ground.value
    looked = culprit.run.looked
    if culprit.ground is Ground.ILL_FORMED and looked and looked.ill_formed:
        said = f"{said}: {gist(looked.ill_formed.message).rstrip('.')}"
    if culprit.ground is Ground.FIRST:
        said = (
            "its result is the first that can run, and the values are wrong whichever pass is left "
            "out. It may be the pass, what it was given, or code generation"
        )
    without = finding.trials.get(culprit.run.path)
    if culprit.ground is Ground.ILL_FORMED and without is Trial.RIGHT:
        said += "; right without it"
    if culprit.ground is Ground.ILL_FORMED and without is Trial.SAME:
        said += "; but what was noticed is there without it, too"
    return said


def _noticed(finding: Finding) -> str:
    result = finding.noticed
    if result is None:
        return "nowhere"
    inside = finding.recording.unfinished
    at = result.stage.value
    if inside is not None and result.stage in (Stage.PASS, Stage.BUILD):
        at = f"{at}, inside {finding.recording.title(inside)}"
    return line(f"{at}: {describe(result)}", 240)


def _is_quiet(finding: Finding, one: PassRun) -> bool:
    """Whether nothing is to be said of a pass: it did nothing, or worked on something else."""
    recording = finding.recording
    if one is recording.unfinished or one.path in finding.trials:
        return False
    if finding.culprit and one.path == finding.culprit.run.path:
        return False
    if any(not recording.is_open(outer) for outer in recording.outer(one)):
        return True
    return one.finished and (one.looked is None or not one.looked.changed)


def _folded(runs: list[PassRun]) -> Iterator[Text]:
    yield Text()
    depth = "  " * min(len(one.path) - 1 for one in runs)
    known = any(one.looked for one in runs)
    many = "that change nothing" if known else "that nobody could look at"
    what = f"{len(runs)} {many}" if len(runs) > 1 else runs[0].name
    yield Text(f"{depth}· {line(what)}", style="quiet")


def _row(finding: Finding, number: int, one: PassRun) -> Iterator[Text]:
    named = finding.culprit is not None and one.path == finding.culprit.run.path
    yield Text(str(number))
    name = "  " * (len(one.path) - 1) + line(one.name)
    yield Text(name, style="wrong" if named else "")
    yield Text(f"{1000 * one.seconds:.1f}" if one.finished else "")
    yield _module(finding, one)
    tried = finding.trials.get(one.path)
    yield Text(_WITHOUT[tried], style="right" if tried is Trial.RIGHT else "") if tried else Text()


def _module(finding: Finding, one: PassRun) -> Text:
    if not one.finished:
        stuck = one is finding.recording.unfinished
        return Text("fails here" if stuck else "", style="wrong")
    if one.looked is None:
        return Text("?", style="quiet")
    if one.looked.ill_formed is not None:
        return Text("ill-formed", style="wrong")
    return Text("changed" if one.looked.changed else "")
