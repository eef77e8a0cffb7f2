"""Sweeps on the TVM at hand: faults of each kind are found, and known ones are told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import campaign
from harness.case import Case, discover, parse_case
from harness.cli import main
from harness.run.passes import without_arguments
from harness.run.pool import Pool
from harness.triage.sweep import Known, Tally, grouped, known_in, known_of, sweep, write
from harness.triage.sweep.finds import Find, Kind

REPROS = Path(__file__).parents[2] / "repros"
NOTHING: Known = frozenset()
MATMUL = """
title: A matmul
module: |
  @I.ir_module
  class Module:
      @R.function
      def main(x: R.Tensor((2, 2), "float32"), y: R.Tensor((2, 2), "float32")):
          with R.dataflow():
              z = R.matmul(x, y)
              R.output(z)
          return z
expect: ok
"""


def names(*short: str) -> list[str]:
    return [f"relax.transform.{one}" for one in short]


def repro(slug: str) -> Case:
    return campaign.read_case(REPROS / "relax" / f"{slug}.yaml")


def finds(
    case: Case, passes: list[str], pool: Pool, known: Known = NOTHING
) -> tuple[list[Find], Tally]:
    tally = Tally()
    done: list[None] = []
    found = grouped(sweep([case], passes, pool, tally, lambda: done.append(None)), known)
    assert len(done) == 1
    return found, tally


def test_passes_that_take_no_argument() -> None:
    found = without_arguments()
    assert {*names("LegalizeOps", "AllocateWorkspace", "FuseOps")} <= {*found}
    assert not {*names("ConvertLayout", "BindParams", "PyExprVisitor", "Pass")} & {*found}


def test_what_is_right_is_no_find(pool: Pool, tmp_path: Path) -> None:
    case = parse_case(MATMUL, tmp_path / "case.yaml")
    passes = names("LegalizeOps", "FuseOps", "DeadCodeElimination")
    found, tally = finds(case, passes, pool)
    assert found == []
    assert (tally.inputs, tally.callable, tally.probes) == (1, 1, 5)
    assert (
        tally.changed == tally.compared == 1
    )  # LegalizeOps alone: there is nothing to fuse, and nothing dead


def test_an_ill_formed_output_that_may_be_known(pool: Pool) -> None:
    case = repro("allocate-workspace-dangling-globalvar")
    passes = names("AllocateWorkspace", "DeadCodeElimination")
    (find,), _ = finds(case, passes, pool)
    assert (find.kind, find.passes, find.known) == (Kind.ILL_FORMED, ["AllocateWorkspace"], False)
    assert [one.probe.label for one in find.outcomes] == [
        "AllocateWorkspace",
        "LegalizeOps, AllocateWorkspace",
    ]
    assert find.smallest.probe.label == "AllocateWorkspace"
    (find,), _ = finds(case, passes, pool, known_of([case], pool))
    assert find.known and not find.counts


def test_a_crash_is_the_finding_of_its_pass_alone(pool: Pool) -> None:
    case = repro("fold-constant-division-by-zero")
    (find,), tally = finds(case, names("FoldConstant", "Normalize"), pool)
    assert (find.kind, find.passes) == (Kind.CRASH, ["FoldConstant"])
    assert tally.probes == 4


def test_other_numbers_and_the_case_that_is_written(pool: Pool, tmp_path: Path) -> None:
    large = "{full: 70000, shape: [2, 2]}"  # more than float16 holds
    text = MATMUL + f"run: [{{call: main, args: [{large}, {large}]}}]\n"
    case = parse_case(text, tmp_path / "case.yaml")
    (find,), _ = finds(case, names("ToMixedPrecision"), pool)
    assert (find.kind, find.counts, find.smallest.ran) == (Kind.WRONG, True, True)
    file = write(find, tmp_path / "new")
    assert file is not None and file.name.startswith("to-mixed-precision-other-")
    (report,) = campaign.run_cases([campaign.read_case(file)], campaign.Options(), pool)
    assert report.verdict.value == "reproduces", report.judgement.reason
    assert "observed" in report.case.tags
    # A wrong number of another pass is not known by that.
    (find,), _ = finds(case, names("ToMixedPrecision"), pool, known_of([case], pool))
    assert not find.known
    known = known_of([campaign.read_case(file)], pool)
    (find,), _ = finds(case, names("ToMixedPrecision"), pool, known)
    assert find.known
    # Of an input that is known to give wrong numbers, those that another pass shows are no news.
    known_input = frozenset({("mismatch on", case.id)})
    (find,), _ = finds(case, names("ToMixedPrecision"), pool, known_input)
    assert find.known


def test_an_exception_written_as_a_case(pool: Pool, tmp_path: Path) -> None:
    case = repro("combine-parallel-matmul-vector-left")
    found, _ = finds(case, names("CombineParallelMatmul"), pool)
    assert found
    for find in found:
        file = write(find, tmp_path)
        assert file is not None
    written = [campaign.read_case(path) for path in discover([tmp_path])]
    reports = list(campaign.run_cases(written, campaign.Options(), pool))
    assert [one.verdict.value for one in reports] == ["reproduces"] * len(found)


def test_inputs_that_are_left_out(pool: Pool, tmp_path: Path) -> None:
    ill_formed = MATMUL.replace("return z", "return undefined")
    kernel = MATMUL.replace("@R.function", "@T.prim_func(s_tir=True)").replace(
        'x: R.Tensor((2, 2), "float32"), y: R.Tensor((2, 2), "float32")', "x: T.Buffer((2,))"
    )
    for text in (ill_formed, kernel):
        case = parse_case(text, tmp_path / "case.yaml")
        found, tally = finds(case, names("LegalizeOps"), pool)
        assert (found, tally.inputs, len(tally.left_out)) == ([], 0, 1)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slug = "relax/allocate-workspace-dangling-globalvar"
    case, results, folder = REPROS / f"{slug}.yaml", tmp_path / "results.jsonl", tmp_path / "new"
    assert main(["run", str(case), "--jsonl", str(results)]) == 0
    empty = tmp_path / "empty.jsonl"
    empty.write_text(results.read_text().splitlines()[0] + "\n")
    passes = ["--passes", "AllocateWorkspace,relax.transform.Normalize"]
    capsys.readouterr()
    assert main(["sweep", str(case), *passes, "--known", str(empty), "--write", str(folder)]) == 1
    out = capsys.readouterr().out
    assert "smallest: AllocateWorkspace on " in out and "1 new, 0 known" in out
    (file,) = folder.iterdir()
    assert f"wrote {file}" in out.replace("\n", "")
    assert main(["sweep", str(case), *passes, "--known", str(results)]) == 0
    assert "0 new, 1 known" in capsys.readouterr().out
    assert main(["sweep", str(case), "--passes", "AlocateWorkspace"]) == 2
    assert "did you mean `AllocateWorkspace`?" in capsys.readouterr().err


def test_a_results_file_and_a_run_know_the_same(pool: Pool, tmp_path: Path) -> None:
    case = repro("allocate-workspace-dangling-globalvar")
    results = tmp_path / "results.jsonl"
    assert main(["run", str(case.path), "--jsonl", str(results)]) == 0
    assert known_in(results, [case]) <= known_of([case], pool)
    assert known_in(results, [case])
