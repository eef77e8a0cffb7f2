"""The page of all cases."""

from __future__ import annotations

from pathlib import Path

import pytest
from handmade import case, expects

from harness.case import Case, CrashPattern, ErrorPattern, OkPattern, discover, load_case
from harness.report.catalogue import catalogue, state

REPROS = Path(__file__).parents[2] / "repros"
PAIR = ("0.27.0.post1", "0.1.14.post1")


def test_the_page_that_is_kept_is_the_one_that_would_be_made() -> None:
    cases = [load_case(path) for path in discover([REPROS])]
    page = (REPROS / "README.md").read_text(encoding="utf-8")
    assert page == catalogue(cases, REPROS), "tvm-repro list --markdown > repros/README.md"
    assert page.count(".yaml)") == len(cases)


ERROR = ErrorPattern(type="ValueError")


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (case(expects()), "ok"),
        (case(expects(build=OkPattern())), "ok"),
        (case(expects(well_formed=ERROR, vm=ERROR)), "well_formed: ValueError"),
        (case(expects(build=OkPattern(), run=CrashPattern(signal="SIGFPE"))), "run: SIGFPE"),
        (case(expects()).model_copy(update={"tvm": "<0.27"}), ""),
        (case(expects()).model_copy(update={"ffi": ">=0.1.15"}), ""),
    ],
)
def test_state(of: Case, said: str) -> None:
    assert state(of, *PAIR) == said


def test_a_release_and_its_post_release_share_a_column_while_they_do_the_same(
    tmp_path: Path,
) -> None:
    same = case().model_copy(update={"path": tmp_path / "same.yaml"})
    (post,) = case(expects(run=ERROR)).expect
    of_both = (post.model_copy(update={"tvm": "==0.27.0.post1"}), *same.expect)
    other = same.model_copy(update={"expect": of_both})
    assert " 0.26.0 | 0.27.0.post1 | " in catalogue([same], tmp_path)
    page = catalogue([same, other], tmp_path)
    assert " 0.26.0 | 0.27.0 | 0.27.0.post1 | " in page
    assert " ok | ok | run: ValueError | " in page.splitlines()[-1]


def test_hostile_titles_stay_in_their_cells(tmp_path: Path) -> None:
    hostile = case(expects()).model_copy(
        update={"title": "a | b\n](http://x) <script> *c* `d`", "path": tmp_path / "x.yaml"}
    )
    row = catalogue([hostile], tmp_path).splitlines()[-1]
    assert row.startswith(r"| [a \| b \](http://x) \<script\> \*c\* `d`](x.yaml) | ")
