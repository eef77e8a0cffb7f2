"""Reducing on real TVM: what is kept, what goes, and what is left when somebody interrupts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from itertools import starmap
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks.planting import planted
from harness import campaign
from harness.case import Case, load_case
from harness.case.edit import edited
from harness.case.reading import read_tree
from harness.cli import main
from harness.run.pool import Pool
from harness.triage.reduce.begin import CannotReduce, begin
from harness.triage.reduce.command import search_all
from harness.triage.reduce.oracle import Candidate
from harness.triage.reduce.program import KEYS, Program, size
from harness.triage.reduce.search import Search

ROOT = Path(__file__).parents[2]
SEED = ROOT / "repros/relax/allocate-workspace-dangling-globalvar.yaml"

# These passes are wrong in ways of their own; what TVM does in between is real.
WRONG = """
import time
from tvm import relax

@relax.expr_functor.mutator
class Swapping(relax.PyExprMutator):
    def visit_call_(self, call):
        call = self.visit_expr_post_order(call)
        if getattr(call.op, "name", "") == "relax.subtract":
            return relax.Call(call.op, list(call.args)[::-1])
        return call

@relax.expr_functor.mutator
class Forgetting(relax.PyExprMutator):
    def visit_call_(self, call):
        call = self.visit_expr_post_order(call)
        return call.args[0] if getattr(call.op, "name", "") == "relax.tanh" else call

def swap_operands(module):
    return changed(module, Swapping(module))

def forget_tanh(module):
    return changed(module, Forgetting(module))

def changed(module, mutator):
    for variable, function in module.functions.items():
        if isinstance(function, relax.Function):
            mutator.builder_.update_func(variable, mutator.visit_expr(function))
    return mutator.builder_.get()

def endless(module):
    while "R.tanh" in module.script():
        time.sleep(0.01)
    return module
"""


def module_of(*statements: str, parameters: str = "x, y") -> str:
    """`main` with statements in a dataflow block; all is of one type, the last is returned."""
    typed = ", ".join(f'{name}: R.Tensor((3, 4), "float32")' for name in parameters.split(", "))
    last = statements[-1].split()[0]
    body = "".join(f"            {line}\n" for line in (*statements, f"R.output({last})"))
    return (
        "@I.ir_module\nclass Module:\n    @R.function\n"
        f"    def main({typed}):\n        with R.dataflow():\n{body}        return {last}\n"
    )


def write_case(folder: Path, **keys: Any) -> Path:
    (folder / "wrong.py").write_text(WRONG, encoding="utf-8")
    file = folder / "large.yaml"
    body = {"title": "a fault", "build": False, "expect": "ok", **keys}
    file.write_text(yaml.safe_dump(body, sort_keys=False), encoding="utf-8")
    return file


def reduced_by_command(file: Path) -> Case:
    """The case that the command makes of a file."""
    small = file.with_name("small.yaml")
    assert main(["reduce", str(file), "-o", str(small), "-j", "2"]) == 0
    return campaign.read_case(small)


def searched(file: Path, pool: Pool) -> Search:
    """What is made of a file, without the check from scratch."""
    case, written = campaign.read_case(file), read_tree(file.read_text()).data
    start = begin(case, written, pool)
    search = Search(start.oracle, start.program)
    search_all(search, case, written)
    return search


def text_of(case: Case) -> str:
    text: str = case.module.text  # type: ignore[union-attr]
    return text


def large_seed(bindings: int) -> str:
    """The text of the first bug's case, hidden in a module of so many bindings."""
    original = SEED.read_text(encoding="utf-8")
    written = read_tree(original).data
    program = Program(written["module"], {key: written[key] for key in KEYS if key in written})
    large = planted(program, bindings, seed=3)[0]
    assert size(large).bindings == bindings
    return edited(original, {("module",): large.module})


def test_a_planted_fault_comes_out_smaller_than_by_hand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "seed.yaml"
    file.write_text(large_seed(40), encoding="utf-8")
    case = reduced_by_command(file)
    by_hand = size(Program(text_of(load_case(SEED)), {}))
    small = size(Program(text_of(case), {}))
    assert small.functions <= by_hand.functions
    assert small.bindings <= by_hand.bindings
    assert small.characters < by_hand.characters
    assert not case.contrasts and not case.run
    assert case.fix == "allocate_workspace", "what the author says besides stays"
    said = capsys.readouterr().out
    assert "calls" in said and "checked from scratch" in said


def test_another_failure_is_not_taken_though_it_is_nearer(tmp_path: Path, pool: Pool) -> None:
    """The second pass fails as soon as the first no longer does."""
    statements = ["a = R.add(x, y)", "b = R.tanh(a)", "c = R.matmul(b, v)", "d = R.matmul(b, w)"]
    module = module_of(*statements, parameters="x, y").replace(
        "y: R", 'v: R.Tensor((4,), "float32"), w: R.Tensor((4,), "float32"), y: R', 1
    )
    passes = ["relax.transform.CombineParallelMatmul", {"python": "wrong.py:raising"}]
    file = write_case(tmp_path, module=module, passes=passes)
    with (tmp_path / "wrong.py").open("a") as more:
        more.write('\ndef raising(module):\n    raise IndexError("an easier failure")\n')
    best = searched(file, pool).best
    assert best.data["passes"] == passes[:1]
    assert best.module.count("R.matmul") == 2
    assert "tanh" not in best.module


def test_a_crash_in_a_pass(pool: Pool) -> None:
    best = searched(ROOT / "repros/relax/fold-constant-division-by-zero.yaml", pool).best
    assert "T.Div" in best.module and "R.const(" in best.module
    assert "R.add" not in best.module and "private" not in best.module
    assert "a[" in best.module, "the kernel goes on reading what it is given"


def test_a_hang(tmp_path: Path, pool: Pool) -> None:
    module = module_of("a = R.exp(x)", "b = R.tanh(a)", "c = R.add(b, y)", "d = R.negative(c)")
    passes = ["relax.transform.LegalizeOps", {"python": "wrong.py:endless"}]
    file = write_case(tmp_path, module=module, passes=passes[::-1], limits={"seconds": 3})
    best = searched(file, pool).best
    assert best.module.count("R.tanh") == 1
    assert not any(op in best.module for op in ("exp", "add", "negative", "y:"))
    assert best.data["passes"] == passes[1:]


def test_wrong_numbers_of_a_pass(tmp_path: Path, pool: Pool) -> None:
    """An `equals:` would call any other module wrong: the module before the passes is held to."""
    module = module_of("a = R.exp(x)", "b = R.subtract(a, y)", "c = R.add(b, y)")
    arguments = [{"arange": 12, "dtype": "float32", "shape": [3, 4]} for _ in range(2)]
    call = {"call": "main", "args": arguments, "equals": "np.exp(x)"}
    passes = [{"python": "wrong.py:swap_operands"}]
    file = write_case(tmp_path, module=module, passes=passes, build=True, run=[call])
    best = searched(file, pool).best
    assert best.module.count("R.subtract") == 1
    assert "exp" not in best.module and "add" not in best.module
    assert best.data["run"][0]["same_as"] == "input"


def test_a_text_that_a_pass_loses_is_there_before_it(tmp_path: Path, pool: Pool) -> None:
    """Without that, the smallest module that lacks the text is an empty one."""
    module = module_of("a = R.exp(x)", "b = R.tanh(a)", "c = R.add(b, y)")
    passes = [{"python": "wrong.py:forget_tanh"}]
    file = write_case(tmp_path, module=module, passes=passes, after=[{"contains": "R.tanh"}])
    best = searched(file, pool).best
    assert best.module.count("R.tanh") == 1
    assert "exp" not in best.module and "add" not in best.module
    assert best.data["passes"] == passes


def test_wrong_numbers_without_a_reference_are_refused(tmp_path: Path, pool: Pool) -> None:
    call = {"call": "main", "args": [{"full": 1, "shape": [3, 4]}], "equals": "x"}
    module = module_of("a = R.negative(x)", parameters="x")
    file = write_case(tmp_path, module=module, build=True, run=[call])
    with pytest.raises(CannotReduce, match="nothing to hold them against"):
        searched(file, pool)


def test_what_does_not_fail_is_refused(tmp_path: Path, pool: Pool) -> None:
    file = write_case(tmp_path, module=module_of("a = R.negative(x)", parameters="x"))
    with pytest.raises(CannotReduce, match="nothing fails"):
        searched(file, pool)


def test_nothing_is_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_case(tmp_path, module=module_of("a = R.negative(x)", parameters="x"))
    before = file.read_text()
    assert main(["reduce", str(file), "-o", str(file), "--force"]) == 2
    assert main(["reduce", str(file), "-o", str(file)]) == 2
    assert file.read_text() == before
    assert "is there already" in capsys.readouterr().err


def test_the_first_in_order_is_taken_and_not_the_fastest() -> None:
    """So what comes out does not depend on how many run at a time."""
    written = read_tree(SEED.read_text(encoding="utf-8")).data
    with Pool(3) as pool:
        start = begin(load_case(SEED), written, pool)
        large = planted(start.program, 150, seed=3)[0]
        right = Program(large.module.replace("WorkspaceSize", "Other"), large.data)
        small = Program(start.program.module.replace("outer", "other"), start.program.data)
        medium = planted(start.program, 60, seed=3)[0]
        asked = [(right, small, medium), (large, medium)]
        found = [start.oracle.first(starmap(Candidate, enumerate(one))) for one in asked]
    assert [one and one.place for one in found] == [1, 0]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_the_best_so_far_is_kept(
    number: signal.Signals, tmp_path: Path, pool: Pool
) -> None:
    file, small = tmp_path / "seed.yaml", tmp_path / "small.yaml"
    file.write_text(large_seed(40), encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "harness.cli", "reduce", str(file), "-o", str(small), "-j", "2"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    while not small.exists() and process.poll() is None:
        time.sleep(0.01)
    time.sleep(0.3)
    os.killpg(process.pid, number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, b""), out
    assert b"the best so far is in" in out
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".")] == []
    case = campaign.read_case(small)
    (report,) = campaign.run_cases([case], campaign.Options(), pool)
    assert report.verdict.passes, report.judgement.reason
