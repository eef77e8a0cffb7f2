"""What is said of a fix that does not do its job, on real TVM."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from runs import report_on, write_case

from harness.case import Case, load_case
from harness.run.pool import Pool
from harness.verdict.word import Verdict

BUILDER = Path(__file__).parent / "cases" / "odd_fixes.py"
DANGLING = {
    "well_formed": {"error": "ValueError", "match": "not defined"},
    "vm": {"error": "InternalError", "match": "Cannot find"},
}


def odd_case(folder: Path, module: str, fix: str, expect: Any) -> Case:
    """Loaded without the check that the fix is one of ours."""
    path = write_case(
        folder,
        module=f"python: {module}",
        passes=["relax.transform.AllocateWorkspace"],
        fix=fix,
        expect=expect,
    )
    shutil.copy(BUILDER, path.parent)
    text = path.read_text().replace(f"'python: {module}'", f"{{python: odd_fixes.py:{module}}}")
    path.write_text(text)
    return load_case(path)


@pytest.mark.parametrize(
    ("fix", "verdict", "reason"),
    [
        ("does_nothing", Verdict.FIX_INEFFECTIVE, "still fails as stock does"),
        ("breaks", Verdict.FIX_HARMFUL, "this fix breaks everything"),
        ("misses", Verdict.FIX_NOT_APPLIED, "found nothing to patch"),
        ("allocate_workspace", Verdict.REPRODUCES, "fails as expected"),
    ],
)
def test_fix_where_stock_is_wrong(
    fix: str, verdict: Verdict, reason: str, tmp_path: Path, pool: Pool
) -> None:
    case = odd_case(tmp_path, "wrong_in_stock", fix, {"stock": DANGLING, "fixed": "ok"})
    judgement = report_on(case, pool).judgement
    assert (judgement.verdict, reason in judgement.reason) == (verdict, True), judgement.reason


@pytest.mark.parametrize(
    ("fix", "verdict"),
    [
        ("does_nothing", Verdict.GUARDS),
        ("breaks", Verdict.FIX_HARMFUL),
        ("misses", Verdict.FIX_NOT_APPLIED),
    ],
)
def test_fix_where_stock_is_right(fix: str, verdict: Verdict, tmp_path: Path, pool: Pool) -> None:
    judgement = report_on(odd_case(tmp_path, "right_in_stock", fix, "ok"), pool).judgement
    assert judgement.verdict is verdict, judgement.reason


def test_upstream_no_longer_needs_it(tmp_path: Path, pool: Pool) -> None:
    case = odd_case(
        tmp_path, "right_in_stock", "allocate_workspace", {"stock": DANGLING, "fixed": "ok"}
    )
    judgement = report_on(case, pool).judgement
    assert judgement.verdict is Verdict.FIXED_UPSTREAM, judgement.reason
