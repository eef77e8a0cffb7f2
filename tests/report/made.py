"""Results put together by hand, as files: what real ones look like is in tests/test_report.py."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from handmade import PASS, arm, case, expects, fixed, raised

from harness.case import Case, ErrorPattern
from harness.report.jsonl import case_line
from harness.report.results import Results, read_results
from harness.run.trace import Stage
from harness.verdict.judge import judge, skipped

SEED = case(
    expects(well_formed=ErrorPattern(type="ValueError", match="not defined")),
    fix="allocate_workspace",
)
FRAMES = ("main", "tvm::relax::WellFormed", "tvm::relax::WellFormedChecker::VisitExpr_")


def _line(of: Case, *stock: Any, **keys: Any) -> dict[str, Any]:
    traces = {"stock": [arm(*stock, **keys)], "fixed": [fixed()] if of.fix else []}
    return case_line(of, judge(of, of.expect[0], traces), 1.5)


def ill(message: str) -> Any:
    return raised(Stage.WELL_FORMED, "ValueError", message, PASS, *FRAMES)


REPRODUCES = _line(SEED, ill('GlobalVar I.GlobalVar("inner") is not defined.'))
DRIFTED = _line(SEED, raised(Stage.BUILD, "InternalError", "Check failed: (other) is false"))
UPSTREAM = _line(SEED)
GUARDS = _line(case())
REGRESSED = _line(case(), raised(Stage.BUILD, "InternalError", "Check failed: x"))
SKIPPED = case_line(SEED, skipped("requires: onnx cannot be imported"), 0.0)


def named(id: str, line: dict[str, Any]) -> dict[str, Any]:
    """`line` as that of another case."""
    return {**line, "case": id}


def results(
    path: Path, lines: Iterable[dict[str, Any]], tvm: str = "0.27.0", **head: Any
) -> Results:
    """A results file with these lines, written and read back."""
    header = {"schema": 1, "tvm": tvm, "tvm_ffi": "0.1.14", "llvm": "22", "python": "3.11.7"}
    rows = [{**header, "platform": "Linux", "started": "2026-11-01T00:00:00+00:00", **head}, *lines]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="ascii")
    return read_results([path])
