"""Signatures, tested on what real TVM releases said of the same small modules."""

from __future__ import annotations

import functools
import itertools
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.compat import canonical
from harness.run.trace import ArmTrace, End, Raised, Stage, Step, Stopped
from harness.verdict.frames import function_name
from harness.verdict.normalise import normalise
from harness.verdict.outcome import Oom, stages
from harness.verdict.signature import NO_FAILURE, Signature, same_bug, signature

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.json"))
STAGES = {
    "load": Stage.LOAD,
    "check": Stage.WELL_FORMED,
    "build": Stage.BUILD,
    "vm": Stage.VM,
    "call": Stage.RUN,
    "kernel": Stage.RUN,
}


def as_trace(seen: dict[str, Any]) -> ArmTrace:
    stage = STAGES.get(seen["at"], Stage.PASS)
    at = seen["at"] if "." in seen["at"] else None
    if "signal" in seen:
        end = End(Stopped.ITSELF, signal=seen["signal"])
        return ArmTrace("stock", (Step(stage, at),), end, stderr=seen["stderr"])
    raised = Raised(seen["type"], seen["message"], tuple(seen["frames"]))
    step = Step(stage, at, finished=True, raised=raised)
    return ArmTrace("stock", (step,), End(Stopped.ITSELF, code=0, final=True))


@functools.cache
def golden() -> list[tuple[str, str, Signature]]:
    found = []
    for path in GOLDEN:
        release = json.loads(path.read_text(encoding="utf-8"))
        for seen in release["failures"]:
            name = f"{release['tvm']} {seen['variant']}".strip()
            one = signature(stages(as_trace(seen)))
            assert isinstance(one, Signature), (name, seen["bug"])
            found.append((seen["bug"], name, one))
    return found


BUGS = sorted({bug for bug, _, _ in golden()})


def test_three_releases_are_held() -> None:
    releases = {json.loads(path.read_text(encoding="utf-8"))["tvm"] for path in GOLDEN}
    assert releases >= {"0.25.0.post1", "0.26.0", "0.27.0.post1"}
    assert len(BUGS) >= 15


@pytest.mark.parametrize("bug", BUGS)
def test_one_bug_has_one_signature_in_every_release(bug: str) -> None:
    seen = {str(one): name for found, name, one in golden() if found == bug}
    assert len(seen) == 1, seen


def test_two_bugs_have_two_signatures() -> None:
    for (bug, _, one), (other_bug, _, other) in itertools.combinations(golden(), 2):
        assert same_bug(one, other) == (bug == other_bug), (bug, other_bug)


@pytest.mark.parametrize("bug", BUGS)
def test_nothing_that_varies_is_left(bug: str) -> None:
    text = " ".join(str(one) for found, _, one in golden() if found == bug)
    assert "0x" not in text
    assert "site-packages" not in text
    assert "StructInfo" not in text


def test_the_same_error_of_another_pass_is_another_bug() -> None:
    one = golden()[0][2]
    assert same_bug(one, replace(one))
    assert not same_bug(one, replace(one, at="relax.transform.Elsewhere"))


def test_no_failure_is_the_same_bug_as_nothing() -> None:
    clean = ArmTrace("stock", (), End(Stopped.ITSELF, code=0, final=True))
    assert signature(stages(clean)) is NO_FAILURE
    assert not same_bug(NO_FAILURE, NO_FAILURE)


def test_memory_is_one_bug_in_all_its_forms() -> None:
    def trace(step: Step, end: End, stderr: str = "") -> ArmTrace:
        return ArmTrace("stock", (step,), end, stderr=stderr)

    at = "tirx.transform.UnrollLoop"
    died = Step(Stage.PASS, at)
    raised = replace(died, finished=True, raised=Raised("InternalError", "std::bad_alloc"))
    python = replace(died, finished=True, raised=Raised("MemoryError", ""))
    terminate = "terminate called after throwing an instance of 'std::bad_alloc'\n"
    forms = [
        trace(raised, End(Stopped.ITSELF, code=0, final=True)),
        trace(python, End(Stopped.ITSELF, code=0, final=True)),
        trace(died, End(Stopped.ITSELF, signal="SIGABRT"), terminate + "  what():  std::bad_alloc"),
        trace(died, End(Stopped.ITSELF, signal="SIGKILL")),
    ]
    assert all(isinstance(stages(form)[2].outcome, Oom) for form in forms)
    assert len({signature(stages(form)) for form in forms}) == 1


def test_a_storage_that_is_too_small_is_not_memory() -> None:
    raised = Raised("InternalError", "Storage allocation failure, attempted to allocate 4100 at 0")
    step = Step(Stage.RUN, "main", finished=True, raised=raised)
    trace = ArmTrace("stock", (step,), End(Stopped.ITSELF, code=0, final=True))
    assert not isinstance(stages(trace)[6].outcome, Oom)


@pytest.mark.parametrize(
    ("frame", "name"),
    [
        (
            "virtual tvm::relax::Expr tvm::relax::WorkspaceProvider::VisitExpr_(const CallNode*)",
            "tvm::relax::WorkspaceProvider::VisitExpr_",
        ),
        (
            "tvm::relax::NTypeFrom(const StructInfo&, tvm::DataType)::<lambda(const StructInfo&)>",
            "tvm::relax::NTypeFrom",
        ),
        (
            "std::pair<tvm::Expr, tvm::Expr> tvm::relax::VMShapeLowerMutator::Make(const tvm::E&)",
            "tvm::relax::VMShapeLowerMutator::Make",
        ),
        (
            "const tvm::ffi::Any& tvm::ffi::SeqBaseObj::operator[](int64_t) const",
            "tvm::ffi::SeqBaseObj::operator",
        ),
        ("void tvm::codegen::CodeGenLLVM::Verify() const", "tvm::codegen::CodeGenLLVM::Verify"),
        (
            "tvm::runtime::vm::Impl::Get(String const&)::{lambda(int)#4}::operator()(int)",
            "tvm::runtime::vm::Impl::Get",
        ),
        ("call_te", "call_te"),
    ],
)
def test_the_name_of_a_function(frame: str, name: str) -> None:
    assert function_name(frame) == name


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("lv12 is not a tensor", "lv7 is not a tensor"),
        ("cannot fuse fused_add3", "cannot fuse fused_add"),
        ("failed in /usr/lib/tvm/relax/x.py:12", "failed in /home/a/tvm/relax/x.py:9"),
        (
            "src/relax/ir/block_builder.cc:66: too late",
            "src/relax/ir/block_builder.cc:71: too late",
        ),
        ("Expected TensorStructInfo", "Expected TensorType"),
        ("tir.Var", "tirx.Var"),
        ("Cannot find PackedFunc f", "Cannot find ffi::Function f"),
    ],
)
def test_what_varies_is_normalised(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("exceeds range of int32", "exceeds range of int64"),
        ("expects float16", "expects float32"),
        ("module 'tvm' has no attribute 'te'", "module 'tvm' has no attribute 'tir'"),
        ("conv1d is unsupported", "conv2d is unsupported"),
        ("Check failed: (a.defined()) is false: ", "Check failed: (b.defined()) is false: "),
    ],
)
def test_what_matters_stays(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)


def test_long_messages_are_bounded() -> None:
    assert len(normalise("word " * 10_000)) <= 300


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("relax.transform.VMBuiltinLower", "relax.transform.LowerRuntimeBuiltin"),
        ("tir.transform.UnrollLoop", "tirx.transform.UnrollLoop"),
        ("tvm::relax::A::VisitStructInfo_", "tvm::relax::A::VisitType_"),
        ("out_sinfo", "out_ty"),
        ("sinfo_args", "ty_args"),
        ("R.Object", "R.Any"),
        ("ObjectStructInfo", "AnyType"),
    ],
)
def test_renames(old: str, new: str) -> None:
    assert canonical(old) == canonical(new) == new


def test_words_that_only_look_renamed_are_left() -> None:
    assert canonical("stirring attire") == "stirring attire"


@pytest.mark.parametrize(
    "flood", ["x", "a1", "a.", "a/", "'", "' ", '"', "(", "f(", "PrimExpr ", "-1", "Var "]
)
def test_a_flood_costs_little(flood: str) -> None:
    started = time.monotonic()
    normalise(flood * 200_000)
    normalise(f"Check failed: {flood * 200_000}")
    assert time.monotonic() - started < 2
