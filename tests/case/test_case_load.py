"""A case that says everything means what it says."""

from __future__ import annotations

import math
import pickle
from pathlib import Path

import pytest
from casefiles import FULL, GOOD, write

from harness.case import (
    STAGES,
    ArangeArg,
    ArmExpect,
    Builder,
    Case,
    CrashPattern,
    ErrorPattern,
    ExitPattern,
    Expression,
    FullArg,
    HangPattern,
    Limits,
    MismatchPattern,
    New,
    NoCheck,
    NumberArg,
    OkPattern,
    OneOf,
    OomPattern,
    PassSpec,
    PythonPass,
    RandomArg,
    ResultOf,
    RoundTrip,
    ShapeArg,
    TensorArg,
    TextCheck,
    TupleArg,
    load_case,
)
from harness.run.trace import Stage


@pytest.fixture(scope="module")
def full() -> Case:
    return load_case(FULL, root=FULL.parent)


def line_of(text: str) -> int:
    """The line of the full case that holds `text`."""
    lines = FULL.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_plain_keys(full: Case) -> None:
    assert full.id == "full"
    assert full.issue == ("apache/tvm#20479", "https://discuss.tvm.apache.org/t/1")
    assert full.tags == ("byoc", "workspace")
    assert (full.tvm, full.ffi) == (">=0.25,<0.28", ">=0.1.12")
    assert full.notes == "Remarks.\n"
    assert full.requires == ("onnx", "google.protobuf")
    assert full.limits == Limits(seconds=2.5, memory_mb=1024)
    assert (full.repeat, full.fix, full.arms) == (3, "allocate_workspace", ("stock", "fixed"))
    assert full.after == (
        TextCheck(kind="contains", text="R.call_tir"),
        TextCheck(kind="lacks", text="workspace"),
        RoundTrip(form="script"),
    )


def test_module_text_knows_its_line(full: Case) -> None:
    lines = FULL.read_text(encoding="utf-8").splitlines()
    for offset, line in enumerate(full.module.text.splitlines()):
        assert line == lines[full.module.line - 1 + offset].removeprefix("  ")


def test_positional_arguments_under_a_target(tmp_path: Path) -> None:
    passes = "passes:\n- a.B: {args: [1, x], under: {target: cuda}}\n- a.C: {args: [1], b: 2}\n"
    first, second = load_case(write(tmp_path / "x.yaml", GOOD + passes)).passes
    assert (first.args, first.under) == ((1, "x"), {"target": "cuda"})
    assert second.args == {"args": [1], "b": 2}


def test_passes(full: Case) -> None:
    allocate, fuse, bind, schedule = full.passes
    assert (allocate.name, allocate.args) == ("relax.transform.AllocateWorkspace", {})
    assert allocate.line == line_of("- relax.transform.AllocateWorkspace")
    assert fuse.args == {"fuse_opt_level": 1}
    assert fuse.under == {"target": {"kind": "llvm", "num-cores": 2}}
    assert bind.args[0] == "main"
    assert math.isnan(bind.args[1]["x"].data[1])
    assert schedule.args == (
        New(name="s_tir.dlight.gpu.GEMV"),
        New(name="s_tir.dlight.gpu.Matmul", args={"a": [1, None, {"b": True}]}),
    )


def test_build(full: Case) -> None:
    build = full.build
    assert (build.enabled, build.with_, build.exec_mode) == (True, "relax.build", "compiled")
    assert build.target == {"kind": "llvm", "mcpu": "core-avx2"}
    assert [one.name for one in build.pipeline] == [
        "relax.transform.LegalizeOps",
        "relax.transform.ToMixedPrecision",
    ]
    assert build.pipeline[1].args == {"out_dtype": "float16"}
    assert build.config == {"relax.backend.use_cuda_graph": True}
    assert (build.opt_level, build.disabled_pass, build.required_pass) == (
        2,
        ("FoldConstant",),
        ("FuseOps",),
    )


def test_run(full: Case) -> None:
    main, other, kernel, quiet = full.run
    assert main.args == (
        TensorArg(data=[[1, 2], [3, 4]], dtype="int8", shape=(2, 2)),
        TensorArg(data=[], shape=(0, 4)),
        FullArg(value=True, shape=(), dtype="bool"),
        ArangeArg(n=6, dtype="float16", shape=(2, 3)),
        RandomArg(shape=(2, 3), seed=7),
        ShapeArg(dims=(2, 3)),
        TupleArg(
            items=(
                NumberArg(value=1),
                NumberArg(value=0.5),
                NumberArg(value=False),
                TupleArg(items=()),
            )
        ),
    )
    assert main.args[2].value is True
    assert (main.equals, main.rtol, main.atol) == (Expression(text="x + np.float32(1)"), 1e-3, 0)
    assert other.args == (ResultOf(call=0), ResultOf(call=0, item=1))
    assert other.same_as_input and not main.same_as_input
    assert kernel.equals == {"y": Expression(text="x * 2"), "n": FullArg(value=3, shape=(1,))}
    assert kernel.args[0] == ArangeArg(n=3, shape=(3,))
    assert quiet.equals == NoCheck()
    assert quiet.line == line_of("call: quiet")


def test_expect(full: Case) -> None:
    first, second, third = full.expect
    assert (first.tvm, first.ffi) == ("<0.27", "<0.1.14")
    stock, fixed = first.arms["stock"], first.arms["fixed"]
    assert list(stock.stages) == ["well_formed", "build", "vm", "run", "exit"]
    assert stock.because == "as the report says"
    assert stock.line == line_of("    stock:")
    assert stock.stages["well_formed"] == ErrorPattern(
        type="ValueError", match="not defined", at="relax.transform.AllocateWorkspace"
    )
    assert stock.stages["build"] == OneOf(
        patterns=(
            OkPattern(),
            CrashPattern(signal="SIGABRT"),
            HangPattern(),
            ExitPattern(code=0),
        )
    )
    assert stock.stages["vm"] == ErrorPattern(type="AssertionError", in_="FuseOps")
    assert stock.stages["run"] == MismatchPattern()
    assert fixed.stages == {
        "pass": HangPattern(at="relax.transform.FoldConstant", because="an endless loop"),
        "run": OomPattern(),
    }
    # Without arms it is for both; an arm that is left out is ok.
    assert second.arms["stock"] == second.arms["fixed"]
    assert second.arms["fixed"].stages == {"vm": ErrorPattern(type="InternalError")}
    assert third.arms["fixed"].stages == third.arms["stock"].stages == {}
    assert third.arms["stock"].because == "mended"


@pytest.mark.parametrize(
    ("tvm", "ffi", "index"),
    [
        ("0.26.0", "0.1.13.post2", 0),
        ("0.26.0", "0.1.14.post1", 1),
        ("0.27.0.post1", "0.1.14.post1", 1),
        ("0.28.dev12", "0.1.14", 2),
    ],
)
def test_first_expectation_that_fits(full: Case, tvm: str, ffi: str, index: int) -> None:
    assert full.expectation(tvm, ffi) is full.expect[index]


def test_contrasts_are_cases_of_their_own(full: Case) -> None:
    without, another = (contrast.case for contrast in full.contrasts)
    assert without.id == "full#without the pass"
    assert without.title == "without the pass"
    assert (without.passes, without.contrasts) == ((), ())
    assert without.run == full.run and without.module == full.module and without.fix == full.fix
    assert without.expect[0].arms["stock"] == ArmExpect(line=line_of("    expect: ok"))
    assert not another.build.enabled and another.run == ()
    assert another.passes == full.passes


def test_survives_pickling(full: Case) -> None:
    assert repr(pickle.loads(pickle.dumps(full))) == repr(full)


def test_defaults(tmp_path: Path) -> None:
    case = load_case(write(tmp_path / "case.yaml", GOOD))
    assert case.arms == ("stock",)
    assert case.issue == ("unreported",)
    assert case.build.enabled and case.build.with_ == "auto" and case.build.target == "llvm"
    assert case.limits == Limits(seconds=60, memory_mb=4096)
    assert case.expect[0].arms["stock"].stages == {}
    assert case.expectation("0.1", "0.1") is case.expect[0]


def test_python_beside_the_case(tmp_path: Path) -> None:
    file = write(tmp_path / "sub" / "make.py", "").resolve()
    one = "{python: sub/make.py:tile, args: {n: 2}}"
    text = f"""title: t
module: {{python: sub/make.py:build, args: [3, {{new: a.B}}]}}
passes: [relax.X, {one}]
build: {{pipeline: [{one}]}}
expect: ok
"""
    case = load_case(write(tmp_path / "case.yaml", text))
    assert case.module == Builder(file=file, function="build", args=(3, New(name="a.B")))
    tile = PythonPass(file=file, name="tile", args={"n": 2}, line=3)
    assert case.passes == (PassSpec(name="relax.X", line=3), tile)
    assert case.build.pipeline == (tile.model_copy(update={"line": 4}),)


@pytest.mark.parametrize(
    ("below", "root", "id"),
    [
        ("repros/relax/a-b.yaml", None, "relax/a-b"),
        ("repros/old/repros/a.yaml", None, "a"),
        ("repros/x/../relax/a.yaml", None, "relax/a"),
        ("other/x/a.v1.yaml", "other", "x/a.v1"),
        ("other/x/a.yaml", None, "a"),
        ("other/x/a.yaml", "elsewhere", "a"),
    ],
)
def test_id(tmp_path: Path, below: str, root: str | None, id: str) -> None:
    (tmp_path / "repros" / "x").mkdir(parents=True)
    path = write(tmp_path / below, GOOD)
    assert load_case(path, root=None if root is None else tmp_path / root).id == id


@pytest.mark.parametrize("letter", ["y", "n", "N"])
def test_single_letters_are_texts(tmp_path: Path, letter: str) -> None:
    text = GOOD.replace("A case", letter)
    assert load_case(write(tmp_path / "case.yaml", text)).title == letter


def test_windows_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "case.yaml"
    path.write_bytes(GOOD.replace("\n", "\r\n").encode())
    case = load_case(path)
    assert (case.module.text.count("\r"), case.module.line) == (0, 3)


def test_without_the_c_loader(monkeypatch: pytest.MonkeyPatch, full: Case) -> None:
    import yaml

    monkeypatch.setattr("harness.case.reading._LOADER", yaml.SafeLoader)
    assert repr(load_case(FULL, root=FULL.parent)) == repr(full)


def test_stage_names_are_those_of_a_run() -> None:
    assert STAGES == tuple(stage.value for stage in Stage)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (OkPattern(), "ok"),
        (HangPattern(at="a.B"), "{hang: true, at: a.B}"),
        (ErrorPattern(type="E", match="x'y", in_="f"), "{error: E, match: \"x'y\", in: 'f'}"),
        (CrashPattern(signal="SIGSEGV"), "{crash: SIGSEGV}"),
        (ExitPattern(code=0), "{exit: 0}"),
        (OneOf(patterns=(OkPattern(), OomPattern())), "{one_of: [ok, oom]}"),
    ],
)
def test_patterns_tell_themselves_in_yaml(pattern: OkPattern, words: str) -> None:
    assert pattern.describe() == words
