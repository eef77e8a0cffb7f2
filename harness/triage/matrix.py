"""``tvm-repro matrix``: the corpus on several releases, case by release."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from harness.report.ladder import verdict_style
from harness.report.results import Results, ResultsError, read_results, verdict_of
from harness.report.summary import counts
from harness.report.text import line
from harness.triage.releases import Environment, environments, side_by_side
from harness.verdict.word import INFRA


def matrix(
    chosen: Sequence[str],
    arguments: Sequence[str],
    jobs: int,
    folder: Path,
    every: bool,
    out: Console,
) -> int:
    """Run the same cases in each environment and show what they come to.

    Parameters
    ----------
    chosen : sequence of str
        Environments of ``tox.ini``.
    arguments : sequence of str
        Further arguments of ``tvm-repro run``: paths, ``-k``.
    jobs : int
        Cases at a time in each environment.
    folder : Path
        Where the results files go, one an environment.
    every : bool
        Show cases that are as expected everywhere too.
    out : Console

    Returns
    -------
    int
        The worst exit code of the runs.

    Raises
    ------
    EnvironmentFailed, OSError
    """
    folder.mkdir(parents=True, exist_ok=True)
    codes: list[int] = []

    def run(one: Environment) -> None:
        file = folder / f"{one.name}.jsonl"
        file.unlink(missing_ok=True)
        done = one.run("run", *arguments, "-j", str(jobs), "--jsonl", str(file))
        codes.append(done.returncode)
        if not file.exists():
            print(f"{one.name}: {done.stderr.strip()}", file=sys.stderr)

    made = environments(chosen)
    side_by_side(made, run, jobs)
    columns = list(filter(None, (_read(folder / f"{one.name}.jsonl") for one in made)))
    if columns:
        out.print(table(columns, every), soft_wrap=True)
        for column in columns:
            verdicts = [verdict_of(case) for case in column.cases.values()]
            out.print(Text.assemble(f"{_release(column)}: ", counts(verdicts)), soft_wrap=True)
    return max(codes, default=INFRA) if len(columns) == len(made) else INFRA


def table(columns: Sequence[Results], every: bool) -> RenderableType:
    """A row for each case that is not as expected somewhere, or differs from release to release."""
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    shown.add_column("case", overflow="fold")
    for column in columns:
        shown.add_column(_release(column), overflow="fold")
    for id in sorted({id for column in columns for id in column.cases}):
        cells = [_cell(column, id) for column in columns]
        if every or len({cell.plain for cell in cells}) > 1 or not _passes(columns, id):
            shown.add_row(Text(line(id)), *cells)
    return (
        shown if shown.row_count else Text("every case is as expected, and alike, on all of them")
    )


def _passes(columns: Sequence[Results], id: str) -> bool:
    return all(id in one.cases and verdict_of(one.cases[id]).passes for one in columns)


def _cell(column: Results, id: str) -> Text:
    if id not in column.cases:
        return Text("missing", style="wrong")
    verdict = verdict_of(column.cases[id])
    return Text(verdict.value, style=verdict_style(verdict))


def _release(column: Results) -> str:
    return line(str(column.header.get("tvm", "?")), 40)


def _read(path: Path) -> Results | None:
    try:
        return read_results([path])
    except ResultsError as error:
        print(error, file=sys.stderr)
        return None
