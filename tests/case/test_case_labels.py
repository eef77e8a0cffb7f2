"""What selects a case without anybody having written it down."""

from __future__ import annotations

from pathlib import Path

import pytest
from casefiles import GOOD, write

from harness.case import KINDS, area, kinds, labels, load_case


@pytest.mark.parametrize(
    ("expect", "found"),
    [
        ("ok", "guard"),
        ("{stock: ok, fixed: {run: mismatch}}", "guard"),
        ("{build: {crash: SIGSEGV}}", "crash"),
        ("{run: {exit: 0}}", "exit"),
        ("{load: hang}", "hang"),
        ("{pass: oom}", "memory"),
        ("{run: mismatch}", "wrong_result"),
        ("{pass: mismatch}", "wrong_result"),
        ("{pass: {error: E}, vm: {error: F}}", "exception"),
        ("{well_formed: {error: E}}", "ill_formed"),
        ("{input: {error: E}, vm: {error: F}}", "ill_formed exception"),
        ("{run: {one_of: [ok, hang, {crash: SIGABRT}]}}", "crash hang"),
        ('[{tvm: "<1", stock: {run: oom}}, {tvm: ">=1", stock: ok}]', "memory"),
    ],
)
def test_kinds(tmp_path: Path, expect: str, found: str) -> None:
    text = GOOD.replace("expect: ok", f"fix: f\nexpect: {expect}")
    assert kinds(load_case(write(tmp_path / "case.yaml", text))) == tuple(found.split())


def test_every_kind_is_one_that_can_be_had() -> None:
    words = "guard crash exit hang memory wrong_result exception ill_formed"
    assert set(KINDS) == set(words.split())


def test_contrasts_count_where_the_case_is_right(tmp_path: Path) -> None:
    more = "contrasts: [{title: a, expect: ok}, {title: b, expect: {run: {crash: SIGABRT}}}]\n"
    assert kinds(load_case(write(tmp_path / "case.yaml", GOOD + more))) == ("crash",)
    wrong = GOOD.replace("expect: ok", "expect: {run: mismatch}")
    assert kinds(load_case(write(tmp_path / "case.yaml", wrong + more))) == ("wrong_result",)


def test_labels(tmp_path: Path) -> None:
    (tmp_path / "repros" / "relax" / "deep").mkdir(parents=True)
    text = GOOD + "tags: [byoc, guard, relax]\n"
    case = load_case(write(tmp_path / "repros" / "relax" / "deep" / "case.yaml", text))
    assert area(case) == "relax"
    assert labels(case) == ("relax", "guard", "byoc")
    case = load_case(write(tmp_path / "repros" / "case.yaml", GOOD))
    assert (area(case), labels(case)) == ("", ("guard",))
