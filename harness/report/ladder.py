"""A case for people: the stages of its arms side by side, expected against seen."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harness.case import Case, ModuleText
from harness.report.text import code, line, lines, styled
from harness.run.trace import Stage
from harness.verdict.arm import ArmJudgement
from harness.verdict.judge import Judgement
from harness.verdict.outcome import NotApplicable, NotReached, Ok, Skipped, StageResult
from harness.verdict.seen import as_expectation
from harness.verdict.word import Verdict
from harness.verdict.words import describe, message

_CELL = 150
_TAIL_LINES = 12


def ladder(case: Case, judgement: Judgement) -> RenderableType:
    """Everything that is known of a case, down to the next command to run.

    A contrast that fails follows with a ladder of its own.
    """
    return Group(*_parts(case, judgement))


def stage_table(judgement: Judgement) -> Table:
    """One row a stage, one column an arm."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=False)
    table.add_column("stage", no_wrap=True)
    for name, arm in judgement.arms.items():
        repeats = f" (the telling one of {len(arm.runs)} runs)" if len(arm.runs) > 1 else ""
        table.add_column(f"{name}{repeats}", overflow="fold", ratio=1)
    for stage in Stage:
        table.add_row(
            stage.value, *(_cell(arm, _result(arm, stage)) for arm in judgement.arms.values())
        )
    if any(arm.trace.globals is not None for arm in judgement.arms.values()):
        table.add_row(
            Text("functions", style="quiet"), *(_globals(arm) for arm in judgement.arms.values())
        )
    return table


def verdict_style(verdict: Verdict) -> str:
    """Style name of a verdict."""
    if verdict is Verdict.SKIPPED:
        return "quiet"
    return "right" if verdict.passes else "wrong"


def next_command(case: Case) -> str:
    """What to type to look closer, ready for a shell."""
    return f"tvm-repro compare {shlex.quote(str(near(case.path)))}"


def near(path: Path) -> Path:
    """The path as it is shortest from here."""
    inside = path.is_absolute() and path.is_relative_to(Path.cwd())
    return Path(os.path.relpath(path)) if inside else path


def load_place(case: Case, judgement: Judgement) -> str:
    """``file:line`` of a module text that does not parse; "" when that is not what happened."""
    for arm in judgement.arms.values():
        loaded = _result(arm, Stage.LOAD)
        said = re.search(r"(?:<str>:|\bline )(\d+)", message(loaded.outcome))
        if said and isinstance(case.module, ModuleText):
            return f"{near(case.path)}:{case.module.line + int(said[1]) - 1}"
    return ""


def _parts(case: Case, judgement: Judgement) -> Iterator[RenderableType]:
    yield Text.assemble(
        (judgement.verdict.value, verdict_style(judgement.verdict)),
        "  ",
        (line(case.id), "title"),
    )
    yield styled(case.title, "quiet")
    if judgement.arms:
        yield stage_table(judgement)
    yield Text.assemble(("reason  ", "quiet"), line(judgement.reason, 600))
    if place := load_place(case, judgement):
        yield Text.assemble(("place   ", "quiet"), line(place, 400))
    for name, arm in judgement.arms.items():
        yield from _tail(name, arm)
    for name, arm in judgement.arms.items():
        if arm.differences and not arm.refused_to_load:
            yield from _seen(name, arm)
    titled = {contrast.title: contrast.case for contrast in case.contrasts}
    for title, contrast in judgement.contrasts.items():
        yield from _contrast(title, titled.get(title), contrast)
    if not judgement.verdict.passes:
        yield Text.assemble(("next    ", "quiet"), line(next_command(case), 400))


def _contrast(title: str, case: Case | None, judgement: Judgement) -> Iterator[RenderableType]:
    if case is not None and not judgement.verdict.passes:
        parts = list(_parts(case, judgement))[:-1]  # the next command is that of the whole case
        yield Padding(Group(*parts), (1, 0, 0, 2))
    else:
        word = (judgement.verdict.value, verdict_style(judgement.verdict))
        yield Text.assemble(("contrast ", "quiet"), word, f"  {line(title)}")


def _result(arm: ArmJudgement, stage: Stage) -> StageResult:
    return next(result for result in arm.stages if result.stage is stage)


def _cell(arm: ArmJudgement, result: StageResult) -> Text:
    seen = line(describe(result, short=True), _CELL)
    expected = [one.expected for one in arm.differences if one.stage is result.stage]
    # That a stage behind a difference was not reached is nothing new.
    first = arm.differences[0].stage if arm.differences else result.stage
    if expected and (result.stage is first or result.outcome != NotReached()):
        return Text.assemble(
            (f"≠ {seen}", "wrong"), "\n", (f"expected {line(expected[0], _CELL)}", "expected")
        )
    if result.failed:
        return Text.assemble((seen, "expected"), (" (as expected)", "quiet"))
    quiet = isinstance(result.outcome, NotReached | NotApplicable | Skipped)
    return Text(seen, style="quiet" if quiet else "right" if result.outcome == Ok() else "")


def _globals(arm: ArmJudgement) -> Text:
    names = arm.trace.globals
    return styled("unknown" if names is None else ", ".join(names), "quiet", _CELL)


def _seen(name: str, arm: ArmJudgement) -> Iterator[RenderableType]:
    """What a case would say that expects what was seen, ready to be copied."""
    yield Text(f"seen, as a case says it, once it is understood ({name})", style="quiet")
    said = as_expectation(arm.stages)
    if said == "ok":
        yield Text(f"  {name}: ok")
        return
    yield Text(f"  {name}:")
    yield from (Text(f"    {code(one, 400)}") for one in said.splitlines())


def _tail(name: str, arm: ArmJudgement) -> Iterator[RenderableType]:
    """The end of stderr, where an arm died otherwise than expected."""
    end = arm.trace.end
    if arm.differences and not (end.final and end.code == 0):
        shown = lines(arm.trace.stderr, _TAIL_LINES, 160)
        if shown:
            yield Text(f"end of stderr, {name}", style="quiet")
            yield from (Text(f"  {one}", style="quiet", overflow="fold") for one in shown)
