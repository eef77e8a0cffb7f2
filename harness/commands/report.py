"""``tvm-repro report``: results files as a page, and as the summary of a CI step."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness import campaign
from harness.case import Case, discover
from harness.report.console import console
from harness.report.html.page import page
from harness.report.html.sides import Sides
from harness.report.markdown import step_summary
from harness.report.matrix import Matrix, Row, matrix
from harness.report.records import ArmRecord
from harness.report.results import Results, ResultsError, read_results, results_in
from harness.run.pool import Pool
from harness.run.trace import TvmInfo
from harness.select import Selection
from harness.triage.passes import changed_by_passes


def report(options: Namespace) -> int:
    """Write the files that the command line asks for.

    Raises
    ------
    ResultsError
        When one is no results file, or a file cannot be written.
    SelectError
        When ``-k`` does not parse.
    """
    chosen = Selection(options.k)
    results, baseline = _read(options.results), _read(options.baseline)
    found = matrix(results, baseline, cases_in(Path(options.cases)))
    ir = _ir(found, chosen if options.k else None) if options.ir else {}
    _write(options.output, page(found, ir))
    if options.markdown:
        _write(options.markdown, step_summary(found, options.budget * 1000))
    for one in results:
        if one.cut_off:
            print(f"warning: {one.name} ends in the middle: its run was killed", file=sys.stderr)
    console().print(
        f"{len(found.rows)} cases on {len(found.releases)} releases: {options.output}",
        soft_wrap=True,
    )
    return 0


def _read(paths: Sequence[str]) -> list[Results]:
    files = [file for path in paths for file in results_in(Path(path))]
    return [read_results([file]) for file in files]


def cases_in(folder: Path) -> dict[str, Case]:
    """Those that can be read, by id: the page does without the others."""
    cases, _ = campaign.read_all(discover([folder]) if folder.is_dir() else ())
    return {case.id: case for case in cases}


def _ir(found: Matrix, chosen: Selection | None) -> dict[str, Sequence[Sides]]:
    """The IR of the cases that `chosen` means, or else of those that need a person."""
    wanted = [
        (row, row.case)
        for row in found.rows
        if row.case is not None
        and (chosen(row.case) if chosen is not None else not row.worst.passes)
    ]
    if not wanted:
        return {}
    with Pool() as pool:
        return {
            row.id: changed_by_passes(case, pool, _arms(found, row, pool.info))
            for row, case in wanted
            if not campaign.reason_to_skip(case, pool.info)
        }


def _arms(found: Matrix, row: Row, info: TvmInfo) -> Mapping[str, ArmRecord]:
    """What the results say of the case on the TVM that prints the IR."""
    for number, release in enumerate(found.releases):
        if (release.header.get("tvm"), release.header.get("tvm_ffi")) == (info.tvm, info.tvm_ffi):
            return row.records[number].arms if number in row.records else {}
    return {}


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8", errors="backslashreplace")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ResultsError(f"{path}: cannot be written: {why}") from None
