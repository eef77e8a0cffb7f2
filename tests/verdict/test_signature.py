"""Signatures, rule by rule; what real releases say of the whole corpus is in test_golden.py."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from harness.compat import canonical
from harness.run.trace import ArmTrace, End, Raised, Stage, Step, Stopped
from harness.verdict.frames import function_name
from harness.verdict.normalise import normalise
from harness.verdict.outcome import Oom, stages
from harness.verdict.signature import NO_FAILURE, same_bug, signature


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
            "tvm::WorkspaceProvider::VisitExpr_",
        ),
        (
            "tvm::relax::NTypeFrom(const StructInfo&, tvm::DataType)::<lambda(const StructInfo&)>",
            "tvm::NTypeFrom",
        ),
        (
            "std::pair<tvm::Expr, tvm::Expr> tvm::relax::VMShapeLowerMutator::Make(const tvm::E&)",
            "tvm::VMShapeLowerMutator::Make",
        ),
        (
            "const tvm::ffi::Any& tvm::ffi::SeqBaseObj::operator[](int64_t) const",
            "tvm::SeqBaseObj::operator",
        ),
        ("void tvm::codegen::CodeGenLLVM::Verify() const", "tvm::CodeGenLLVM::Verify"),
        (
            "tvm::runtime::vm::Impl::Get(String const&)::{lambda(int)#4}::operator()(int)",
            "tvm::Impl::Get",
        ),
        ("tvm::arith::TryConstFold<tvm::Div>(tvm::PrimExpr)", "tvm::TryConstFold"),
        ("tvm::prim::detail::TryConstFold(tvm::Expr)", "tvm::TryConstFold"),
        ("tvm::pow(tvm::Expr, tvm::Expr, tvm::Span)", "tvm::pow"),
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
        ("expected 1.5, came nan", "expected -inf, came 3e-08"),
        ("Expected TensorStructInfo", "Expected TensorType"),
        ("tir.Var", "tirx.Var"),
        (
            "error: Check failed: a < b (3 vs. 2) : too long",
            "error: Check failed: (c) is false: too long",
        ),
        (
            "CodeGenVM cannot handle this intrinsic now:\nir.Op(name=add)",
            "CodeGenVM cannot emit this Relax operator directly. Lower it. Call: R.add(x)",
        ),
        ("f has struct info R.Any", "f has type R.Any"),
        ("cast None to list of PrimExpr", "cast None to list of Expr"),
        (
            "Check failed: (t.is_float()) is false: ",
            "Check failed: (t.MatchesCode(DLDataTypeCode::kDLFloat)) is false: ",
        ),
        ("min_value for typebool", "min_value for typeT.bool"),
        ("float32 and T.int64", "T.float32 and int64"),
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
        ("expects T.float16", "expects T.float32"),
        ("module 'tvm' has no attribute 'te'", "module 'tvm' has no attribute 'tir'"),
        ("conv1d is unsupported", "conv2d is unsupported"),
        ("Check failed: (a.defined()) is false: ", "Check failed: (b.defined()) is false: "),
    ],
)
def test_what_matters_stays(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)


def test_where_a_long_message_is_cut_changes_nothing() -> None:
    quoted = [f'    x_{number} = f("a", {number})' for number in range(1000)]
    ways = {
        normalise("\n".join(["changed at:", *quoted[:count], "# end"])) for count in range(900, 960)
    }
    assert ways == {"changed at:"}


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
