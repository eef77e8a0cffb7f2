"""Exported programs, run without the harness: they show what the case says, and can show less."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from programs import Runner, runner, trace, unlike

from harness import campaign
from harness.case import Case, discover, parse_case
from harness.cli import main
from harness.run.pool import Pool
from harness.run.trace import TvmInfo
from harness.triage.export.inlined import inlined
from harness.triage.export.script import script

ROOT = Path(__file__).parents[2]
PARTS = 4
# Modules that cases need: imported once, so that no program pays for it.
MODULES = ("onnx",)
# Where the stack overflows is chance; TVM's handler may then wait for a lock of the allocator.
UNSTEADY = {"runtime/vm-deep-recursion"}


@pytest.fixture(scope="session")
def info(pool: Pool) -> TvmInfo:
    return pool.info


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    with runner(tmp_path_factory.mktemp("programs"), MODULES) as found:
        yield found


def shown(case: Case, info: TvmInfo, programs: Runner, folder: Path) -> list[str]:
    """Where the program of a case shows something else than the case says."""
    text = script(case, info)
    file = folder / f"{case.path.stem}.py"
    file.write_text(text, encoding="utf-8")
    return unlike(case, info, trace(text, *programs.run(file)))


@pytest.mark.parametrize("part", range(PARTS))
def test_programs_of_the_corpus_show_the_same(
    part: int, info: TvmInfo, programs: Runner, tmp_path: Path
) -> None:
    cases = [campaign.read_case(path) for path in discover([ROOT / "repros"])[part::PARTS]]
    cases = [case for case in cases if not campaign.reason_to_skip(case, info)]
    cases = [case for case in cases if case.id not in UNSTEADY]
    assert len(cases) > 20
    wrong = [line for case in cases for line in shown(case, info, programs, tmp_path)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "id", ["script/buffer-store-none", "relax/allocate-workspace-dangling-globalvar"]
)
def test_a_program_in_an_interpreter_of_its_own(id: str, info: TvmInfo, tmp_path: Path) -> None:
    case = campaign.read_case(ROOT / "repros" / f"{id}.yaml")
    text = script(case, info)
    (tmp_path / "program.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert unlike(case, info, trace(text, done.returncode, done.stdout, done.stderr)) == []


RELAX = """
title: One of many
module: |
  @I.ir_module
  class Module:
      @R.function
      def main(x: R.Tensor((2, 2), "float32"), y: R.Tensor((2, 2), "float32")):
          with R.dataflow():
              z = R.add(x, y)
              R.output(z)
          return z
      @R.function
      def both(t: R.Tuple(R.Tensor((2,), "int64"), R.Shape([2, 3]))):
          return (t[0], t[1])
      @R.function
      def shape(s: R.Shape([2, 3])) -> R.Shape([2, 3]):
          return s
"""
PRIM = """
title: In place
module: |
  @I.ir_module
  class Module:
      @T.prim_func(s_tir=True)
      def main(a: T.handle, n: T.Buffer((2,), "int64")):
          A = T.match_buffer(a, (2,), "float16")
          for i in range(2):
              A[i] = A[i] + T.float16(1)
              n[i] = n[i] * T.int64(2)
"""
X = "{arange: 4, shape: [2, 2]}"
Y = "{random: [2, 2], seed: 3}"
MAIN = f"call: main, args: [{X}, {Y}]"
RIGHT = f"run: [{{{MAIN}, equals: x + y}}]\n"
ONE_BY_ONE = "np.array([[x[i, j] + y[i, j] for j in (0, 1)] for i in (0, 1)])"
KEYS = {
    "equals": f"{RELAX}{RIGHT}",
    "names of its own": f"{RELAX}run: [{{{MAIN}, equals: '{ONE_BY_ONE}'}}]",
    "same_as": f"""{RELAX}
passes: [relax.transform.LegalizeOps, relax.transform.FuseOps: {{fuse_opt_level: 0}}]
run: [{{{MAIN}, same_as: input, rtol: 0.5, atol: 1}}]""",
    "result_of": f"""{RELAX}
run: [{{{MAIN}}}, {{call: main, args: [{{result_of: 0}}, {Y}], equals: x + y}}]""",
    "tuples and shapes": f"""{RELAX}
run:
  - call: both
    args: [{{tuple: [{{tensor: [7, 8], dtype: int64}}, {{shape: [2, 3]}}]}}]
    equals: (t[0], (2, 3))
  - {{call: shape, args: [{{result_of: 0, item: 1}}], equals: '(2, 3)'}}""",
    "build": f"""{RELAX}{RIGHT}
build:
  pipeline: target
  exec_mode: compiled
  opt_level: 1
  disabled_pass: [FuseOps]
  required_pass: [LegalizeOps]
  config: {{relax.backend.use_cuda_graph: false}}
  target: {{kind: llvm, opt-level: 2}}""",
    "pipeline": f"""{RELAX}{RIGHT}
build: {{pipeline: [relax.transform.LegalizeOps, {{python: 'steps.py:lowered'}}]}}""",
    "renamed by a pass": f"""{RELAX}
passes: [{{python: 'steps.py:renamed', args: {{to: first}}}}]
run: [{{call: first, args: [{X}, {Y}], equals: x + y}}]
after: [{{contains: def first}}, {{lacks: def main}}, {{roundtrip: script}}]""",
    "under": f"""{RELAX}
build: false
passes:
  - relax.transform.BindParams: [main, {{x: {X}}}]
  - relax.transform.FoldConstant: {{under: {{target: llvm}}}}""",
    "in place": f"""{PRIM}
run:
  - call: main
    args: [{{full: 2, shape: [2], dtype: float16}}, {{tensor: [1, 2], dtype: int64}}]
    equals: {{A: A + 1, n: n * 2}}""",
    "in place, by tirx.build": f"""{PRIM}
build: {{with: tirx.build}}
run:
  - call: main
    args: [{{full: .nan, shape: [2], dtype: float16}}, {{tensor: [1, 2], dtype: int64}}]
    equals: {{A: A, n: {{tensor: [2, 4], dtype: int64}}}}""",
    "builder": """
title: Made
module: {python: 'steps.py:made', args: [2]}
run: [{call: main, args: [{tensor: [1, 2]}], equals: p + 2, rtol: 0}]""",
}
WRONG = {
    "equals": ("x + y}", "x + y + 1}"),
    "names of its own": ("] + y", "] - y"),
    "result_of": ("equals: x + y", "equals: x"),
    "tuples and shapes": ("'(2, 3)'}", "'(2, 4)'}"),
    "renamed by a pass": ("x + y}", "x + y + 1}"),
    "in place": ("A + 1", "A + 2"),
    "in place, by tirx.build": ("A: A,", "A: np.nan_to_num(A),"),
    "builder": ("p + 2,", "p + 3,"),
}
STEPS = '''\
"""Steps."""
from __future__ import annotations

import tvm
from tvm import relax

UNUSED = 1 / 1
FACTOR = 1


def unused(): ...


def made(n: int) -> tvm.IRModule:
    builder = relax.BlockBuilder()
    p = relax.Var("p", _shape(n))
    with builder.function("main", [p]):
        builder.emit_func_output(builder.emit(relax.op.add(p, relax.const(2 * FACTOR, "float32"))))
    return builder.get()


def _shape(n):
    return tvm.script.from_source(TEXT % n)["f"].params[0].ty if hasattr(relax, "TensorType") else (
        relax.TensorStructInfo((n,), "float32"))


TEXT = """
@I.ir_module
class M:
    @R.function
    def f(x: R.Tensor((%d,), "float32")):
        return x
"""


def renamed(mod: tvm.IRModule, to: str) -> tvm.IRModule:
    return tvm.IRModule({to: mod["main"].with_attr("global_symbol", to)})


def lowered(mod: tvm.IRModule) -> tvm.IRModule:
    return relax.get_pipeline("default_build")(mod)
'''


def case_of(text: str, folder: Path) -> Case:
    (folder / "steps.py").write_text(STEPS)
    text = text if "expect:" in text else f"{text.rstrip()}\nexpect: ok\n"
    return parse_case(text, folder / "case.yaml")


@pytest.mark.parametrize("name", KEYS)
def test_every_key_means_the_same(
    name: str, info: TvmInfo, programs: Runner, pool: Pool, tmp_path: Path
) -> None:
    case = case_of(KEYS[name], tmp_path)
    (report,) = campaign.run_cases([case], campaign.Options(), pool)
    assert report.verdict.passes, report.judgement.reason
    assert shown(case, info, programs, tmp_path) == []


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_value_is_told(name: str, info: TvmInfo, programs: Runner, tmp_path: Path) -> None:
    right, wrong = WRONG[name]
    assert right in KEYS[name]
    (line,) = shown(case_of(KEYS[name].replace(right, wrong), tmp_path), info, programs, tmp_path)
    assert "run: expected ok, saw mismatch at" in line


@pytest.mark.parametrize("after", ["contains: def first", "lacks: def main"])
def test_a_wrong_text_is_told(after: str, info: TvmInfo, programs: Runner, tmp_path: Path) -> None:
    case = case_of(f"{RELAX}build: false\nafter: [{{{after}}}]", tmp_path)
    (line,) = shown(case, info, programs, tmp_path)
    assert "pass: expected ok, saw mismatch at after" in line


def test_what_the_parser_says_is_not_said_by_python(
    info: TvmInfo, programs: Runner, tmp_path: Path
) -> None:
    text = """
title: A shape without a comma
module: |
  @I.ir_module
  class Module:
      @R.function
      def main(x: R.Tensor((2), "float32")):
          return x
build: false
expect:
  load: {error: DiagnosticError, match: has no len}
"""
    assert shown(parse_case(text, tmp_path / "case.yaml"), info, programs, tmp_path) == []


def test_a_hang_is_ended(info: TvmInfo, programs: Runner, tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text("def endless(mod):\n    while True:\n        pass\n")
    keys = "passes: [{python: 'endless.py:endless'}]\nlimits: {seconds: 6}\nexpect: {pass: hang}"
    text = f"{RELAX}{keys}"
    case = parse_case(text, tmp_path / "case.yaml")
    assert shown(case, info, programs, tmp_path) == []


def test_what_a_program_cannot_do_is_said(info: TvmInfo) -> None:
    path = ROOT / "tests" / "case" / "full.yaml"
    case = parse_case(path.read_text(encoding="utf-8"), path)
    text = script(case, TvmInfo("0.26.0", "0.1.13.post2", "", "3.11", ""))
    ast.parse(text)
    remarks = [line for line in text.splitlines() if line.startswith("#")]
    told = "\n".join(remarks)
    for word in (
        *("0.26.0", ">=0.25,<0.28", ">=0.1.12", "onnx, google.protobuf", "byoc, workspace"),
        *("2.5 s and 1024 MiB", "allocate_workspace", "without the pass", "another build"),
        *("one_of: [ok", "some runs only", "AssertionError", "mismatch"),
    ):
        assert word in told
    for word in ("apache/tvm/issues/20479", "https://discuss.tvm.apache.org/t/1", "Remarks."):
        assert word in text.partition("import")[0]
    for word in (
        *('config={"relax.backend.use_cuda_graph": True}', 'required_pass=["FuseOps"]'),
        *('target.Target({"kind": "llvm", "num-cores": 2})', "atol=0", "rtol=0.001"),
        *("[1.5, np.nan, -np.inf]", 'Matmul(a=[1, None, {"b": True}])', "signal.alarm(2)"),
    ):
        assert word in text


def test_only_what_is_needed_of_a_file_is_put_in(tmp_path: Path) -> None:
    (tmp_path / "steps.py").write_text(STEPS)
    imports, text = inlined(tmp_path / "steps.py", ["made"])
    assert imports == [
        "from __future__ import annotations", "import tvm", "from tvm import relax"
    ]  # fmt: skip
    names = {one for one in ("UNUSED", "FACTOR", "unused", "made", "_shape", "TEXT", "renamed")}
    assert {name for name in names if name in text} == {"FACTOR", "made", "_shape", "TEXT"}


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case: Any = tmp_path / "case.yaml"
    contrast = "\ncontrasts: [{title: not built, build: false, expect: ok}]\n"
    case.write_text(f"{RELAX}expect: ok{contrast}")
    assert main(["export", str(case), "--as", "script"]) == 0
    whole = capsys.readouterr().out
    assert 'step("vm")' in whole and "not built" in whole
    out = tmp_path / "out.py"
    arguments = ["export", str(case), "--as", "script", "--contrast", "not built", "-o", str(out)]
    assert main(arguments) == 0
    assert 'step("vm")' not in out.read_text()
    assert main([*arguments[:-3], "no such", "-o", str(out)]) == 2
    assert main([*arguments[:-1], str(tmp_path / "no" / "out.py")]) == 2
    assert main(["export", str(case), "--as", "issue"]) == 1
    assert "nothing to report" in capsys.readouterr().err
