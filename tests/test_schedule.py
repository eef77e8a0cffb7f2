"""Shards, and the order in which cases run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.case import Case, parse_case
from harness.report.results import Results
from harness.schedule import Shard, ordered, parse_shard, part, seconds

TEXT = "title: t\nmodule: |\n  x\nexpect: {}\n"


def cases(number: int, expect: str = "ok") -> list[Case]:
    text = TEXT.replace("{}", expect)
    return [parse_case(text, Path(f"repros/relax/c{n:03}.yaml")) for n in range(number)]


def last(**lines: tuple[str, float]) -> Results:
    known: dict[str, Any] = {
        f"relax/{name}": {"case": f"relax/{name}", "verdict": verdict, "seconds": took}
        for name, (verdict, took) in lines.items()
    }
    return Results("last", {}, known)


CASES = cases(30)


@given(st.integers(1, 9), st.dictionaries(st.integers(0, 40), st.floats(0.01, 50), max_size=40))
def test_every_case_is_in_one_shard(count: int, took: dict[int, float]) -> None:
    known = last(**{f"c{n:03}": ("guards", value) for n, value in took.items()})
    parts = [part(CASES, Shard(index, count), known) for index in range(1, count + 1)]
    assert sorted(case.id for one in parts for case in one) == [case.id for case in CASES]
    assert parts == [part(CASES[::-1], Shard(i, count), known) for i in range(1, count + 1)]
    times = seconds(CASES, known)
    loads = [sum(times[case.id] for case in one) for one in parts]
    assert max(loads) - min(loads) <= max(times.values()) + 1e-9


def test_what_differed_comes_first_then_the_slow() -> None:
    known = last(c001=("reproduces", 9.0), c002=("drifted", 0.1), c003=("reproduces", 0.2))
    assert [case.id[-1] for case in ordered(cases(4), known)] == ["2", "1", "0", "3"]


def test_a_case_that_hangs_takes_its_time() -> None:
    slow = cases(3, "{run: hang}")[2]
    assert ordered([*CASES[:2], slow])[0] is slow


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "a/b", "1/", "-1/2", "1/2/3", " 1/2", "²/3"])
def test_what_is_no_shard(text: str) -> None:
    with pytest.raises(ValueError, match="such as 2/4"):
        parse_shard(text)
    assert parse_shard("2/3") == Shard(2, 3)
