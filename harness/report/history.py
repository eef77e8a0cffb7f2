"""Cases over many runs: what became of each, night by night."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from harness.report.ladder import verdict_style
from harness.report.results import Results, ResultsError, read_results, results_in, verdict_of
from harness.report.text import line
from harness.verdict.word import Verdict

MOST = 30  # nights side by side
_LETTERS = {
    Verdict.REPRODUCES: "r",
    Verdict.GUARDS: "g",
    Verdict.SKIPPED: "-",
    Verdict.FIXED_UPSTREAM: "F",
    Verdict.FIX_INEFFECTIVE: "I",
    Verdict.FIX_NOT_APPLIED: "N",
    Verdict.FIX_HARMFUL: "H",
    Verdict.FLAKY: "~",
    Verdict.DRIFTED: "D",
    Verdict.REGRESSED: "R",
    Verdict.UNRUNNABLE: "U",
    Verdict.INFRA: "?",
}
_MISSING = "."


def nights_in(folder: Path) -> list[Results]:
    """The runs that `folder` holds, the oldest first: results files, and folders of shards.

    Raises
    ------
    ResultsError
        When there are none, or one is no results file.
    """
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise ResultsError(f"{folder}: {error.strerror}") from None
    runs = [one for one in entries if one.suffix == ".jsonl" or any(one.glob("*.jsonl"))]
    if not runs:
        raise ResultsError(f"{folder}: no results in this folder (*.jsonl, or folders of them)")
    read = [read_results(results_in(one)) for one in runs]
    return sorted(read, key=lambda one: str(one.header.get("started", "")))


def history(nights: Sequence[Results], every: bool) -> RenderableType:
    """A row for each case that was not the same all along, a letter for each night."""
    shown = nights[-MOST:]
    rows = [_head(number, night) for number, night in enumerate(shown, start=1)]
    ids = sorted({id for night in shown for id in night.cases})
    changed = [id for id in ids if every or len({_letter(one, id) for one in shown}) > 1]
    rows += [Text(), *(_row(shown, id) for id in changed)]
    if len(changed) < len(ids):
        rows.append(Text(f"{len(ids) - len(changed)} cases were the same every night"))
    used = {_letter(night, id) for night in shown for id in changed}
    key = [f"{letter} {verdict.value}" for verdict, letter in _LETTERS.items() if letter in used]
    rows.append(Text(", ".join([*key, *([f"{_MISSING} missing"] if _MISSING in used else [])])))
    return Group(*rows)


def _head(number: int, night: Results) -> Text:
    started = line(str(night.header.get("started", "?")), 40)
    text = Text(f"{number:>3}  {started}  {night.pair}, {len(night.cases)} cases", style="quiet")
    return text.append(", cut off" if night.cut_off else "", style="wrong")


def _row(nights: Sequence[Results], id: str) -> Text:
    row = Text("  ")
    for night in nights:
        style = verdict_style(verdict_of(night.cases[id])) if id in night.cases else "wrong"
        row.append(_letter(night, id), style=style)
    return row.append(f"  {line(id)}", style="title")


def _letter(night: Results, id: str) -> str:
    return _LETTERS[verdict_of(night.cases[id])] if id in night.cases else _MISSING
