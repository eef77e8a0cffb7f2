"""Blessing cases on the TVM at hand: what is written, what stays, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness import campaign
from harness.case import satisfies
from harness.case.writing import put
from harness.cli import main
from harness.run.pool import Pool
from harness.triage.bless import Blessing, bless
from harness.verdict.word import Verdict

# x + 1 is held against x + `more`; the second call, where asked for, is wrong in the same way.
CASE = """\
title: Adds one      # of all things
module: |
  @I.ir_module
  class Module:
      @R.function
      def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
          y = R.add(x, R.const(1, "float32"))
          return y
passes: [relax.transform.{name}]
run: [{{call: main, args: [{{full: 1, shape: [2]}}], equals: 'x + {more}'}}]
{expect}
tags:   [a,  b]      # last
"""


def blessed(
    folder: Path,
    pool: Pool,
    expect: str,
    scope: str = "any",
    name: str = "LegalizeOps",
    more: int = 2,
) -> tuple[Blessing, str]:
    """What comes of `expect:`, and the lines that stand in its place."""
    file = folder / "case.yaml"
    text = CASE.format(name=name, more=more, expect=expect.strip("\n"))
    file.write_text(text, encoding="utf-8")
    (blessing,) = bless([campaign.read_case(file)], campaign.Options(), pool, scope)
    head, tail = CASE.format(name=name, more=more, expect="\0").split("\0")
    if not blessing.text:
        return blessing, ""
    assert blessing.text.startswith(head) and blessing.text.endswith(tail)
    put(blessing.case.path, blessing.text)
    (again,) = bless([campaign.read_case(file)], campaign.Options(), pool, scope)
    assert again.verdict.passes and not again.text
    return blessing, blessing.text[len(head) : -len(tail)]


REWRITTEN = [
    pytest.param("expect: ok", "expect:\n  stock:\n    run: mismatch", id="ok"),
    pytest.param(
        "expect:  # as seen\n  vm: hang  # no\n",
        "expect:  # as seen\n  run: mismatch",
        id="another stage",
    ),
    pytest.param(
        'expect:\n  # above\n  stock:   # here\n    run: {crash: "SIGSEGV", because: "old"}  # b',
        "expect:\n  # above\n  stock:   # here\n    run: {because: old, mismatch: true}  # b",
        id="in braces, with a remark",
    ),
    pytest.param(
        "expect:\n  run:\n    one_of: [ok, {crash: SIGSEGV}]",
        "expect:\n  run:\n    one_of: [ok, {crash: SIGSEGV}, mismatch]",
        id="one more of what varies",
    ),
]


@pytest.mark.parametrize("before, after", REWRITTEN)
def test_only_what_differs_is_written(before: str, after: str, tmp_path: Path, pool: Pool) -> None:
    blessing, expect = blessed(tmp_path, pool, before)
    assert expect == after, blessing.why
    assert blessing.why[0].startswith("case: stock: ") and "saw " in blessing.why[0]


def test_a_pattern_that_holds_is_left_and_the_other_is_replaced(tmp_path: Path, pool: Pool) -> None:
    text = """\
title: Two stages
module: |
  @I.ir_module
  class Module:
      @R.function
      def main(x: R.Tensor((2,), "float32")):
          gv = R.call_pure_packed("not.there", x, sinfo_args=R.Tensor((2,), "float32"))
          return undefined
expect:
  load: {error: "DiagnosticError", match: 'never said'}   # kept: the class
"""
    file = tmp_path / "case.yaml"
    file.write_text(text)
    (blessing,) = bless([campaign.read_case(file)], campaign.Options(), pool, "any")
    old, new = text.splitlines(), blessing.text.splitlines()
    assert new[:-1] == old[:-1], blessing.why
    assert re.fullmatch(
        r"  load: \{error: DiagnosticError, match: .*\}   # kept: the class", new[-1]
    )


def test_an_expectation_of_other_releases_stays_behind_the_new_one(
    tmp_path: Path, pool: Pool
) -> None:
    release = ".".join(pool.info.tvm.split(".")[:2])
    new = f"  - tvm: =={release}.*\n    stock:\n      run: mismatch\n"
    old = "expect:\n  # why\n  stock: ok  # so\n  because: 'it is'"
    _, expect = blessed(tmp_path, pool, old, scope="")
    because = new.rstrip("\n") + "\n    because: it is\n"
    assert expect == f"expect:\n  # why\n{because}  - stock: ok  # so\n    because: 'it is'"
    _, expect = blessed(tmp_path, pool, "expect: ok", scope="")
    assert expect == f"expect:\n{new}  - stock: ok"
    listed = (
        'expect:\n  - tvm: "<0.1"\n    stock: ok\n  # all others\n  - tvm: ">=0.2"\n    stock: ok'
    )
    _, expect = blessed(tmp_path, pool, listed, scope="")
    assert expect == listed.replace("  # all", f"{new}  # all")


def test_an_entry_for_this_release_alone_changes_in_its_place(tmp_path: Path, pool: Pool) -> None:
    release = ".".join(pool.info.tvm.split(".")[:2])
    listed = f'expect:\n  - tvm: "=={release}.*"  # mine\n    run: hang\n  - stock: ok  # others'
    _, expect = blessed(tmp_path, pool, listed, scope="")
    assert expect == listed.replace("hang", "mismatch")
    _, expect = blessed(tmp_path, pool, listed, scope="", more=1)
    assert expect == listed.replace("run: hang", "stock: ok")


def test_the_releases_can_be_named(tmp_path: Path, pool: Pool) -> None:
    assert satisfies(">=0.25", pool.info.tvm)
    _, expect = blessed(tmp_path, pool, "expect: ok", scope=">=0.25")
    assert expect == "expect:\n  - tvm: '>=0.25'\n    stock:\n      run: mismatch\n  - stock: ok"


def test_a_release_of_which_nothing_is_said_gets_an_entry(tmp_path: Path, pool: Pool) -> None:
    release = ".".join(pool.info.tvm.split(".")[:2])
    listed = 'expect:\n  - tvm: "<0.1"\n    run: hang'
    _, expect = blessed(tmp_path, pool, listed, scope="", more=1)
    assert expect == f"{listed}\n  - tvm: =={release}.*\n    stock: ok"


def test_contrasts_are_blessed_and_right_ones_left(tmp_path: Path, pool: Pool) -> None:
    contrasts = """\
expect: {run: mismatch}
contrasts:
  - title: right
    passes: []
    expect:   {run: mismatch}
  - title: wrong
    passes: []
    expect:   {vm: hang}"""
    blessing, expect = blessed(tmp_path, pool, contrasts)
    assert expect == contrasts.replace("{vm: hang}", "{run: mismatch}"), blessing.why
    assert all(one.startswith("case#wrong: ") for one in blessing.why)


def test_a_case_that_holds_is_left_alone(tmp_path: Path, pool: Pool) -> None:
    blessing, _ = blessed(tmp_path, pool, "expect: {run: mismatch}")
    assert not (blessing.text or blessing.refused)


def test_a_name_that_is_not_there_is_no_expectation(tmp_path: Path, pool: Pool) -> None:
    blessing, _ = blessed(tmp_path, pool, "expect: ok", name="NotThere")
    assert (blessing.verdict, blessing.refused) == (Verdict.UNRUNNABLE, True)


def test_runs_that_disagree_are_refused(tmp_path: Path, pool: Pool) -> None:
    (tmp_path / "moody.py").write_text(
        "from pathlib import Path\n"
        "def every_other_time(module):\n"
        f"    mark = Path({str(tmp_path / 'mark')!r})\n"
        "    if mark.exists():\n"
        "        mark.unlink()\n"
        "        raise ValueError('not now')\n"
        "    mark.touch()\n"
        "    return module\n"
    )
    file = tmp_path / "case.yaml"
    text = CASE.format(name="LegalizeOps", more=1, expect="expect: ok")
    file.write_text(
        text.replace("relax.transform.LegalizeOps", "python: moody.py:every_other_time")
    )
    (blessing,) = bless([campaign.read_case(file)], campaign.Options(), pool, "any")
    assert (blessing.verdict, blessing.refused, blessing.text) == (Verdict.FLAKY, True, "")


def test_a_fix_that_takes_no_part_is_no_expectation(tmp_path: Path, pool: Pool) -> None:
    expect = "fix: allocate_workspace\nexpect: {stock: {run: mismatch}, fixed: ok}"
    blessing, _ = blessed(tmp_path, pool, expect)
    assert (blessing.verdict, blessing.refused) == (Verdict.FIX_NOT_APPLIED, True)


def test_the_command_shows_first_and_writes_when_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "case.yaml"
    text = CASE.format(name="LegalizeOps", more=2, expect="expect: ok")
    file.write_text(text)
    assert main(["bless", str(file), "--for", "any"]) == 1
    out = capsys.readouterr().out
    assert "-expect: ok\n+expect:\n+  stock:\n+    run: mismatch\n" in out
    assert "expected ok, saw mismatch at main" in out
    assert file.read_text() == text
    assert main(["bless", str(file), "--for", "any", "--write"]) == 0
    assert main(["bless", str(file)]) == 0
    assert main(["bless", str(file), "--for", "<0.1"]) == 2
    assert [one.name for one in tmp_path.iterdir()] == ["case.yaml"]


def test_nothing_is_blessed_when_a_canary_is_misjudged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "canaries"
    folder.mkdir()
    canary = CASE.format(name="LegalizeOps", more=2, expect="expect: ok")
    (folder / "wrong.yaml").write_text(canary)
    monkeypatch.setattr(campaign, "CANARIES", folder)
    campaign.canaries.cache_clear()
    try:
        assert main(["bless", str(folder / "wrong.yaml"), "--write"]) == 3
    finally:
        campaign.canaries.cache_clear()
    assert "canaries were misjudged: wrong" in capsys.readouterr().err
    assert (folder / "wrong.yaml").read_text() == canary
