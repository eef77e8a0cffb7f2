"""Results of several releases side by side, and what changed between them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from made import (
    DRIFTED,
    GUARDS,
    REGRESSED,
    REPRODUCES,
    SEED,
    SKIPPED,
    UPSTREAM,
    named,
    results,
)

from harness.report.matrix import Matrix, matrix
from harness.report.records import record_of
from harness.verdict.word import Verdict

ID = SEED.id


def of(
    tmp_path: Path, *columns: tuple[str, list[Any]], baseline: list[Any] | None = None
) -> Matrix:
    new = [results(tmp_path / f"{n}", lines, tvm) for n, (tvm, lines) in enumerate(columns)]
    old = [] if baseline is None else [results(tmp_path / "old", baseline)]
    return matrix(new, old, {ID: SEED})


def shifts(made: Matrix) -> list[tuple[str, str, str]]:
    return [
        (release.name, shift.case, shift.word)
        for release in made.releases
        for shift in release.shifts
    ]


def test_releases_are_in_their_order_and_cases_meet_in_rows(tmp_path: Path) -> None:
    made = of(
        tmp_path,
        ("0.27.0.post1", [REPRODUCES]),
        ("0.9.0", [UPSTREAM, named("x/other", GUARDS)]),
        ("0.27.0", [DRIFTED]),
    )
    assert [release.name for release in made.releases] == ["0.9.0", "0.27.0", "0.27.0.post1"]
    rows = {row.id: [record.verdict for record in row.records.values()] for row in made.rows}
    assert rows == {
        ID: [Verdict.FIXED_UPSTREAM, Verdict.DRIFTED, Verdict.REPRODUCES],
        "x/other": [Verdict.GUARDS],
    }
    assert made.rows[0].case is SEED
    assert made.rows[1].case is None
    assert made.count(Verdict.DRIFTED, 1) == 1


def test_files_of_one_pair_are_one_column_and_a_skip_hides_nothing(tmp_path: Path) -> None:
    made = of(
        tmp_path,
        ("0.27.0", [REPRODUCES, named("x/a", SKIPPED)]),
        ("0.27.0", [SKIPPED, named("x/a", GUARDS), named("x/b", GUARDS)]),
    )
    (release,) = made.releases
    assert {id: one.verdict.value for id, one in release.records.items()} == {
        ID: "reproduces",
        "x/a": "guards",
        "x/b": "guards",
    }


def test_two_ffis_of_one_tvm_are_told_apart(tmp_path: Path) -> None:
    one = results(tmp_path / "a", [REPRODUCES])
    other = results(tmp_path / "b", [REPRODUCES], tvm_ffi="0.1.15")
    made = matrix([one, other], [], {})
    names = [release.name for release in made.releases]
    assert names == ["0.27.0 with ffi 0.1.14", "0.27.0 with ffi 0.1.15"]


def test_what_needs_a_person_comes_first(tmp_path: Path) -> None:
    lines = [named("a", GUARDS), named("b", UPSTREAM), named("c", REGRESSED), named("d", SKIPPED)]
    assert [row.id for row in of(tmp_path, ("0.27.0", lines)).rows] == ["c", "b", "a", "d"]


def test_what_changed_since_the_baseline_comes_before_that(tmp_path: Path) -> None:
    old = [named("a", REPRODUCES), named("b", REGRESSED), named("gone", GUARDS)]
    new = [named("a", UPSTREAM), named("b", REGRESSED), named("c", GUARDS)]
    made = of(tmp_path, ("0.27.0", new), baseline=old)
    assert [row.id for row in made.rows] == ["a", "c", "b"]
    assert shifts(made) == [
        ("0.27.0", "a", "fixed upstream"),
        ("0.27.0", "gone", "missing"),
        ("0.27.0", "c", "new"),
    ]
    first = made.releases[0].shifts[0]
    assert (first.was, first.came) == (
        "reproduces (well_formed: ValueError)",
        "fixed-upstream (ok)",
    )


def test_nothing_changed(tmp_path: Path) -> None:
    made = of(tmp_path, ("0.27.0", [REPRODUCES]), baseline=[REPRODUCES])
    assert made.has_baseline
    assert shifts(made) == []


def test_without_a_baseline_each_release_is_held_against_the_one_before(tmp_path: Path) -> None:
    quiet = {**UPSTREAM, "verdict": "guards"}
    made = of(
        tmp_path,
        ("0.25.0", [named("a", REPRODUCES), named("b", GUARDS), named("c", SKIPPED)]),
        ("0.26.0", [named("a", quiet), named("b", REPRODUCES), named("c", REPRODUCES)]),
        ("0.27.0", [named("a", quiet), named("b", REPRODUCES), named("d", REPRODUCES)]),
    )
    assert shifts(made) == [("0.26.0", "b", "fails since"), ("0.26.0", "a", "ok since")]


@pytest.mark.parametrize(
    "broken",
    [
        {"arms": []},
        {"arms": {"stock": {"stages": [{"stage": 5}]}}},
        {"contrasts": {"x": {"verdict": "no such"}}},
        {"seconds": "long"},
        {"reason": None},
    ],
)
def test_a_line_that_cannot_be_understood_keeps_its_verdict(broken: dict[str, Any]) -> None:
    record = record_of({**REPRODUCES, **broken})
    assert (record.case, record.verdict) == (ID, Verdict.REPRODUCES)
    assert "cannot be read" in record.reason
    assert next(iter(broken)) in record.reason


def test_frames_are_kept_innermost_first() -> None:
    stage = record_of(REPRODUCES).arms["stock"].telling
    assert stage is not None
    assert stage.frames[0] == "tvm::relax::WellFormedChecker::VisitExpr_"
    assert stage.frames[-1] == "main"
