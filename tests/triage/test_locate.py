"""Locating bugs on the TVM at hand: the pass that is named, the grounds, and what else is known."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness import campaign
from harness.case import Case
from harness.cli import main
from harness.report.console import as_text
from harness.report.passes import change, located
from harness.run.pool import Pool
from harness.run.trace import Stage
from harness.triage.locate import locate
from harness.triage.trials import in_a_hurry
from harness.verdict.finding import Finding, Ground, Trial
from harness.verdict.outcome import Hang, Ok, StageResult
from harness.verdict.words import describe

ROOT = Path(__file__).parents[2]
ADD = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        with R.dataflow():
            z = R.add(x, y)
            w = R.multiply(z, z)
            R.output(w)
        return w
"""
RUN = [{"call": "main", "args": [{"arange": 4}, {"full": 1, "shape": [4]}]}]
RIGHT, WRONG = ([{**RUN[0], "equals": equals}] for equals in ("(x + y) ** 2", "x"))
LOWERING = [
    f"relax.transform.{name}"
    for name in (
        "LegalizeOps ToNonDataflow RemovePurityChecking CallTIRRewrite LowerAllocTensor "
        "KillAfterLastUse LowerRuntimeBuiltin ComputePrimValue VMShapeLower AttachGlobalSymbol"
    ).split()
]


def make(folder: Path, passes: list[str], module: Any = ADD, **keys: Any) -> Case:
    """A case whose passes without a dot are those of spoil.py."""
    shutil.copy(Path(__file__).with_name("spoil.py"), folder)
    file = folder / "case.yaml"
    body = {"title": "A case", "module": module, "passes": _passes(passes), "expect": "ok", **keys}
    file.write_text(yaml.safe_dump(body, sort_keys=False), encoding="utf-8")
    return campaign.read_case(file)


def _passes(names: list[str]) -> list[Any]:
    return [name if "." in name else {"python": f"spoil.py:{name}"} for name in names]


def named(finding: Finding) -> str:
    return finding.culprit.run.name if finding.culprit else ""


def without(finding: Finding) -> dict[str, Trial]:
    return {finding.recording.by_path[path].name: one for path, one in finding.trials.items()}


@pytest.mark.parametrize(
    ("case", "name", "ground", "noticed"),
    [
        ("allocate-workspace-dangling-globalvar", "AllocateWorkspace", "ILL_FORMED", "vm: error"),
        ("fuse-ops-above-match-cast", "FuseOps", "ILL_FORMED", "build: error"),
        ("static-plan-block-memory-if-else", "StaticPlanBlockMemory", "ILL_FORMED", "run: crash"),
        ("vm-shape-lower-bundled-params", "VMShapeLower", "INSIDE", "build: crash"),
    ],
)
def test_known_bugs(pool: Pool, case: str, name: str, ground: str, noticed: str) -> None:
    read = campaign.read_case(ROOT / "repros" / "relax" / f"{case}.yaml")
    if reason := campaign.reason_to_skip(read, pool.info):
        pytest.skip(reason)
    finding = locate(read, "stock", pool)
    assert (named(finding), finding.culprit.ground) == (name, Ground[ground])
    assert f"{finding.noticed.stage.value}: {describe(finding.noticed)}".startswith(noticed)
    if finding.culprit.ground is Ground.ILL_FORMED:
        assert without(finding) == {name: Trial.RIGHT}
        before, after = finding.ir
        assert before != after and after


def test_the_fix_leaves_nothing_to_locate(pool: Pool) -> None:
    file = ROOT / "repros" / "relax" / "allocate-workspace-dangling-globalvar.yaml"
    finding = locate(campaign.read_case(file), "fixed", pool)
    assert (finding.culprit, finding.why_none) == (None, "nothing fails in this arm")


def test_wrong_values_name_the_pass_without_which_they_are_right(
    tmp_path: Path, pool: Pool
) -> None:
    build = {"pipeline": _passes(["mark", "subtract", "subtract", *LOWERING])}
    finding = locate(make(tmp_path, [], build=build, run=RIGHT), "stock", pool)
    assert (named(finding), finding.culprit.ground) == ("subtract", Ground.NEEDED)
    tried = without(finding)
    assert tried["mark"] is Trial.SAME and tried["LegalizeOps"] is Trial.OTHER
    assert [name for name, one in tried.items() if one is Trial.RIGHT] == ["subtract"]
    # The second of that name would do what the first did not: they were left out together.
    assert finding.culprit.run.path == (0, 0, 1)
    assert "R.subtract(" in finding.ir[1] and "R.subtract(" not in finding.ir[0]
    assert finding.recording.by_path[(0, 0)].looked.container


def test_of_two_passes_that_it_takes_the_last_is_named(tmp_path: Path, pool: Pool) -> None:
    case = make(tmp_path, ["mark", "subtract_if_marked"], run=RIGHT)
    finding = locate(case, "stock", pool)
    assert named(finding) == "subtract_if_marked"
    assert without(finding)["mark"] is Trial.RIGHT


def test_values_that_no_pass_makes_wrong(tmp_path: Path, pool: Pool) -> None:
    finding = locate(make(tmp_path, [], run=WRONG), "stock", pool)
    assert (named(finding), finding.culprit.ground) == ("LegalizeOps", Ground.FIRST)
    assert Trial.RIGHT not in without(finding).values()


def test_a_builder_may_have_made_it_wrong(tmp_path: Path, pool: Pool) -> None:
    keys = {
        "run": [{**RUN[0], "equals": "x - y"}],
        "module": {"python": "spoil.py:unlike_its_name"},
    }
    finding = locate(make(tmp_path, [], **keys), "stock", pool)
    assert finding.culprit is None and without(finding)["LegalizeOps"] is Trial.OTHER
    assert "the module as it was given" in finding.why_none


@pytest.mark.parametrize("where", ["passes", "build"])
@pytest.mark.parametrize(
    ("name", "noticed"), [("die", "crash SIGSEGV"), ("hang", "hang"), ("refuse", "error")]
)
def test_a_pass_that_does_not_come_back(
    tmp_path: Path, pool: Pool, name: str, noticed: str, where: str
) -> None:
    spoilt = ["survive", "relax.transform.LegalizeOps", name]
    keys = {"build": {"pipeline": _passes(spoilt)}} if where == "build" else {}
    passes = [] if where == "build" else spoilt
    case = make(tmp_path, passes, limits={"seconds": 2}, run=RIGHT, **keys)
    started = time.monotonic()
    finding = locate(case, "stock", pool)
    assert (named(finding), finding.culprit.ground) == (name, Ground.INSIDE)
    assert describe(finding.noticed).startswith(noticed)
    assert time.monotonic() - started < 30
    # What an outer pass survived is not where the run ended.
    assert not finding.recording.by_path[(*_path(finding, "survive"), 0)].finished
    assert finding.ir[0] and not finding.ir[1]


def _path(finding: Finding, name: str) -> tuple[int, ...]:
    return next(one.path for one in finding.recording.runs if one.name == name)


def test_a_pass_that_leaves_a_sound_module_ill_formed_too_is_not_accused(
    tmp_path: Path, pool: Pool
) -> None:
    build = {"pipeline": _passes(["misname", "subtract", *LOWERING])}
    finding = locate(make(tmp_path, [], build=build, run=RIGHT), "stock", pool)
    assert finding.recording.ill_formed[0].name == "misname"
    assert named(finding) == "subtract"


def test_a_hang_is_not_waited_for_in_full_with_every_pass_left_out(tmp_path: Path) -> None:
    case = make(tmp_path, [], limits={"seconds": 100})
    seen = (StageResult(Stage.PASS, "", Ok(), 0.5), StageResult(Stage.BUILD, "", Hang(), 0.0))
    assert in_a_hurry(case, seen).limits.seconds == 5
    quick = make(tmp_path, [], limits={"seconds": 1})
    assert in_a_hurry(quick, seen).limits.seconds == 1


def test_nothing_fails(tmp_path: Path, pool: Pool) -> None:
    finding = locate(make(tmp_path, ["mark"], run=RIGHT), "stock", pool)
    assert (finding.culprit, finding.noticed) == (None, None)
    assert [one.name for one in finding.recording.runs][:1] == ["mark"]
    assert "nothing fails" in as_text(located(make(tmp_path, ["mark"]), finding))


def test_passes_without_a_build(tmp_path: Path, pool: Pool) -> None:
    case = make(tmp_path, ["mark", "stray"], build=False)
    finding = locate(case, "stock", pool)
    assert (named(finding), finding.culprit.ground) == ("stray", Ground.ILL_FORMED)
    assert {one.path[0] for one in finding.recording.runs} == {0, 1}


def test_a_check_of_the_text_names_the_only_pass_that_did_anything(
    tmp_path: Path, pool: Pool
) -> None:
    passes = ["survive", "subtract_and_tidy"]
    case = make(tmp_path, passes, after=[{"contains": "R.divide("}], build=False)
    finding = locate(case, "stock", pool)
    assert (named(finding), finding.culprit.ground) == ("subtract_and_tidy", Ground.ONLY)


def test_a_module_that_cannot_be_printed(tmp_path: Path, pool: Pool) -> None:
    deep = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(a: T.Buffer((2,), "int32"), k: T.int32):
        a[0] = sum([k] * 4500, a[1])
"""
    case = make(tmp_path, ["refuse"], module=deep, build=False)
    finding = locate(case, "stock", pool)
    assert (named(finding), finding.ir) == ("refuse", None)
    assert "in front of refuse cannot be printed" in as_text(change(finding))


def test_a_module_that_does_not_load_or_is_ill_formed_as_given(tmp_path: Path, pool: Pool) -> None:
    finding = locate(make(tmp_path, ["mark"], module="class Module: x"), "stock", pool)
    assert (finding.culprit, finding.recording.runs) == (None, ())
    assert "does not load" in finding.why_none
    case = make(tmp_path, ["mark"], module={"python": "spoil.py:ill_formed"})
    finding = locate(case, "stock", pool)
    assert (finding.culprit, finding.why_none) == (None, "the module is ill-formed as it was given")


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    case = make(tmp_path, ["mark", "stray"], build=False)
    assert main(["locate", str(case.path)]) == 0
    said = capsys.readouterr().out
    conclusion = " ".join(said.split())
    assert "introduced at stray: leaves the module ill-formed: Var x is not defined" in conclusion
    assert "noticed at" in said and "+    def stray(" in said
    table, _, _ = said.partition("what stray changes")
    assert max(map(len, table.splitlines())) <= 80
    assert main(["locate", str(make(tmp_path, ["mark"]).path), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["introduced"] is None and told["why_none"] == "nothing fails in this arm"
    assert told["passes"][0]["name"] == "mark" and told["passes"][0]["changed"]
    assert main(["locate", str(case.path), "--arm", "fixed"]) == 2
    assert "no such arm" in capsys.readouterr().err
