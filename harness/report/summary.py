"""A run for people: how many of each verdict, and the cases to look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

from rich.console import Group, RenderableType
from rich.text import Text

from harness.case import Case
from harness.report.ladder import verdict_style
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
    """A line for every case that differs, then the counts."""
    differ = [_differing(one) for one in finished if not one.judgement.verdict.passes]
    return Group(*differ, counts([one.judgement.verdict for one in finished]))


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


def _differing(one: Finished) -> Text:
    verdict = one.judgement.verdict
    return Text.assemble(
        (f"{verdict.value:<15}", verdict_style(verdict)), " ", (line(one.case.id), "title")
    )
