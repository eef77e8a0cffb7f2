"""A run for people: how many of each verdict, and the cases to look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

from rich.console import Group, RenderableType
from rich.text import Text

from harness.case import Case
from harness.report.ladder import next_command, verdict_style
from harness.report.text import line
from harness.verdict.judge import Judgement
from harness.verdict.word import Verdict


class Finished(Protocol):
    """A case that was run and judged."""

    @property
    def case(self) -> Case: ...

    @property
    def judgement(self) -> Judgement: ...

    @property
    def seconds(self) -> float: ...


def summary(finished: Sequence[Finished]) -> RenderableType:
    """Every case that differs with its reason and the next command, then the counts."""
    differ = [one for one in finished if not one.judgement.verdict.passes]
    parts = [row for one in differ for row in _differing(one)]
    return Group(*parts, counts([one.judgement.verdict for one in finished]))


def counts(verdicts: Iterable[Verdict]) -> Text:
    """``12 reproduces, 3 guards, 1 drifted``, in the order of the verdict table."""
    number = Counter(verdicts)
    words = [
        Text(f"{number[verdict]} {verdict.value}", style=verdict_style(verdict))
        for verdict in Verdict
        if number[verdict]
    ]
    return Text(", ").join(words) if words else Text("no cases")


def one_line(case: Case, judgement: Judgement) -> Text:
    """A case as it ends: its verdict and id, and the reason when it differs or was skipped."""
    verdict = judgement.verdict
    text = Text.assemble((f"{verdict.value:<15}", verdict_style(verdict)), " ", line(case.id))
    if verdict is Verdict.SKIPPED or not verdict.passes:
        text.append(f"  {line(judgement.reason)}", style="quiet")
    return text


def _differing(one: Finished) -> Iterable[Text]:
    verdict = one.judgement.verdict
    yield Text.assemble((verdict.value, verdict_style(verdict)), "  ", (line(one.case.id), "title"))
    yield Text(f"  {line(one.judgement.reason, 300)}")
    yield Text(f"  {line(next_command(one.case), 400)}", style="quiet")
