"""The one place that knows how TVM releases differ. Imports TVM only inside functions."""

from __future__ import annotations

import importlib.metadata
import re
from typing import Any, Final

# A TVM release works with some ffi releases only, and pip does not know which.
# Measured: each imports, builds, runs and serialises a module.
VERIFIED_PAIRS: dict[str, tuple[str, ...]] = {
    "0.25.0.post1": ("0.1.12",),
    "0.26.0": ("0.1.13.post2",),
    "0.27.0": ("0.1.14.post1",),
    "0.27.0.post1": ("0.1.14.post1", "0.1.14.post0"),
}


# Old name -> the name of today. Patterns match whole words; the first that matches a word wins.
_RENAMES: Final[tuple[tuple[str, str], ...]] = (
    (r"ObjectStructInfo(Node)?", r"AnyType\1"),
    (r"ObjectType(Node)?", r"AnyType\1"),
    (r"(\w*)StructInfo(\w*)", r"\1Type\2"),
    (r"struct_info_?", "ty"),
    (r"(\w+)_sinfo", r"\1_ty"),
    (r"sinfo_args", "ty_args"),
    (r"R\.Object", "R.Any"),
    (r"VMBuiltinLower", "LowerRuntimeBuiltin"),
    (r"(\w*)GetBlock(\w*)", r"\1GetSBlock\2"),
    (r"T\.block", "T.sblock"),
)

# Names that stood for one thing and were split since (tir into tirx and s_tir) meet in one word:
# for comparing what two releases said. Code needs the right one of them: see _MOVED.
_MERGED: Final[tuple[tuple[str, str], ...]] = (
    (r"tir|s_tir", "tirx"),
    (r"ffi::Function|PackedFunc|runtime::PackedFunc", "ffi::Function"),
    (r"RelaxExpr|RelayExpr", "Expr"),
)

# Sentences that TVM has put in other words, or made two of one.
_REWORDED: Final[tuple[tuple[str, str], ...]] = (
    (r"\bSymbolic Var\b", "Var"),
    (r"\bstruct info\b", "type"),
    (r"\b(list of|int or) PrimExpr\b", r"\1 Expr"),
    (r"\bis_float\(\)", "MatchesCode(DLDataTypeCode::kDLFloat)"),
    # Element types are printed as in TVMScript now, sometimes right behind a word.
    (r"T\.((?:bool|u?int|b?float)\d*)\b", r"\1"),
    (r"\bexceeds (?:max|min)imum of\b", "exceeds range of"),
    (
        r"CodeGenVM cannot (?:handle this intrinsic|emit this Relax operator)\b(?s:.*)",
        "CodeGenVM cannot emit this Relax operator",
    ),
)

_RULES: Final = tuple(
    (re.compile(rf"(?<![\w:.])(?:{old})(?!\w)" if "::" in old else rf"\b(?:{old})\b"), new)
    for old, new in _RENAMES + _MERGED
) + tuple((re.compile(old), new) for old, new in _REWORDED)


def installed(package: str) -> str:
    """Version of an installed distribution; "" when there is none."""
    found = importlib.metadata.distributions(name=package)
    return next((one.version for one in found), "")


def pair_state(tvm: str, ffi: str) -> str:
    """What is known of a pair of versions, in a few words that begin with ``verified`` or not."""
    ffis = VERIFIED_PAIRS.get(tvm)
    if ffis is None:
        return f"not a verified pair: known releases of TVM are {', '.join(VERIFIED_PAIRS)}"
    if ffi not in ffis:
        return f"not a verified pair: with this TVM use apache-tvm-ffi=={ffis[0]}"
    return "verified pair"


def check_well_formed(module: Any) -> None:
    """Raise when `module` is ill-formed.

    Before 0.25 TVM's check returned False instead of raising; should it ever do so again, a plain
    call would pass everything.

    Raises
    ------
    Exception
        TVM's, naming the first violation.
    ValueError
        When TVM's check only says no.
    """
    from tvm import relax

    if relax.analysis.well_formed(module) is False:
        raise ValueError("relax.analysis.well_formed returned False")


def canonical(text: str) -> str:
    """`text` with every name and wording that TVM has changed put in today's form.

    Two releases that mean the same thing then say the same thing.

    Parameters
    ----------
    text : str
        A message, a function name, a class name or a pass name.
    """
    for pattern, new in _RULES:
        text = pattern.sub(new, text)
    return text


# Where code finds things today, by dotted name: the first that is the name, or a prefix of it.
_MOVED: Final[tuple[tuple[str, str], ...]] = (
    ("tvm.nd.array", "tvm.runtime.tensor"),
    ("tvm.nd.NDArray", "tvm.runtime.Tensor"),
    ("tvm.nd", "tvm.runtime"),
    ("tvm.runtime.ndarray.array", "tvm.runtime.tensor"),
    ("tvm.runtime.ndarray", "tvm.runtime"),
    ("tvm.runtime.NDArray", "tvm.runtime.Tensor"),
    ("tvm.register_func", "tvm.register_global_func"),
    ("tvm._ffi.register_func", "tvm.register_global_func"),
    ("tvm._ffi.get_global_func", "tvm.get_global_func"),
    ("tvm.dlight", "tvm.s_tir.dlight"),
    ("tvm.meta_schedule", "tvm.s_tir.meta_schedule"),
    ("tvm.tir.tensor_intrin", "tvm.s_tir.tensor_intrin"),
    ("tvm.tir.schedule", "tvm.s_tir.schedule"),
    ("tvm.relax.PrimStructInfo", "tvm.ir.PrimType"),
    ("tvm.script.tir.block_attr", "tvm.script.tirx.sblock_attr"),
    ("tvm.script.tir.block", "tvm.script.tirx.sblock"),
    ("tvm.script.tirx.block_attr", "tvm.script.tirx.sblock_attr"),
    ("tvm.script.tirx.block", "tvm.script.tirx.sblock"),
    ("tvm.script.tir", "tvm.script.tirx"),
    ("tvm.script.parser.tir", "tvm.script.parser.tirx"),
    ("tvm.script.relax.Object", "tvm.script.relax.Any"),
    ("tvm.relax.vm_build.build", "tvm.relax.build"),
    ("tvm.relax.vm.VirtualMachine", "tvm.relax.VirtualMachine"),
)
# What of tvm.tir, of its transform and of its config is in tvm.s_tir now; the rest is in tvm.tirx.
_S_TIR: Final = frozenset(
    """
    Schedule ScheduleError ScheduleState StmtSRef TensorIntrin Trace SBlock SBlockRealize
    """.split()
)
_S_TIR_TRANSFORM: Final = frozenset(
    """
    AnnotateIrregularLoop CanonicalizeLoop CompactBufferAllocation ConvertBlocksToOpaque
    DecorateDeviceScope DefaultGPUSchedule HoistExpression HoistIfThenElse InferFragment
    InjectDoubleBuffer InjectPTXAsyncCopy InjectPTXLDG32 InjectPermutedLayout InjectSoftwarePipeline
    InjectVirtualThread InstrumentBoundCheckers InstrumentProfileIntrinsics LiftThreadBinding
    LoopPartition LowerAsyncDMA LowerAutoCopy LowerCrossThreadReduction LowerInitBlock
    LowerMatchBuffer LowerOpaqueBlock LowerThreadAllreduce LowerVtcmAlloc
    ManifestSharedMemoryLocalStage MergeSharedMemoryAllocations
    PlanAndUpdateBufferAllocationLocation RemoveStoreUndef RemoveWeightLayoutRewriteBlock
    RenormalizeSplitPattern RewriteUnsafeSelect ThreadSync TransformMmaBufferLayout
    UnifyThreadBinding UseAssumeToReduceBranches VerifyVTCMLimit
    """.split()
)
_S_TIR_CONFIG: Final = frozenset(
    """
    HoistExpression HoistIfThenElse InjectDoubleBuffer LoopPartition instr_siblings
    lwp_disable_func_prof lwp_max_depth lwp_min_height reset_start_id
    """.split()
)

# Function attributes that are plain booleans now, and were TIR's.
BOOLEAN: Final = frozenset({"tirx.noalias", "tirx.is_entry_func"})

# What has left TVM, and what to do about it.
GONE: Final[dict[str, str]] = {
    "tvm.relay": "Relay has left TVM: the model has to come through an importer of tvm.relax",
    "tvm.te.create_schedule": "te schedules have left TVM: write it with tvm.s_tir.Schedule",
    "tvm.autotvm": "AutoTVM has left TVM",
    "tvm.auto_scheduler": "the auto-scheduler has left TVM",
    "tvm.contrib.graph_executor": "the graph executor has left TVM: use relax.VirtualMachine",
}


def todays_name(path: str) -> str:
    """Where code finds today what it used to find at a dotted name under ``tvm``."""
    first, _, rest = path.removeprefix("tvm.tir.").partition(".")
    if path == "tvm.tir" or path.startswith("tvm.tir."):
        inner = rest.partition(".")[0]
        split = inner in _S_TIR_TRANSFORM if first == "transform" else first in _S_TIR
        moved = next((one for one in _MOVED if _is_in(path, one[0])), None)
        new = "tvm.s_tir" if split else "tvm.tirx"
        path = path.replace(*moved, 1) if moved else path.replace("tvm.tir", new, 1)
    else:
        old, new = next((one for one in _MOVED if _is_in(path, one[0])), ("", ""))
        path = new + path.removeprefix(old)
    head, dot, last = path.rpartition(".")
    return head + dot + todays_word(last)


def todays_word(word: str) -> str:
    """A name by itself, such as that of a keyword or a method, as code says it today."""
    for old, new in _RENAMES:
        if found := re.fullmatch(old, word):
            return found.expand(new)
    return {"asnumpy": "numpy", "get_block": "get_sblock"}.get(word, word)


def todays_config(key: str) -> str:
    """The name of today of a key of PassContext's config, or of a function attribute."""
    if not key.startswith("tir."):
        return key
    rest = key.removeprefix("tir.")
    return f"{'s_tir' if rest in _S_TIR_CONFIG else 'tirx'}.{rest}"


def gone(path: str) -> str:
    """What to do about a dotted name that is not in TVM any more; "" when it may be there."""
    return next((advice for name, advice in GONE.items() if _is_in(path, name)), "")


def _is_in(path: str, name: str) -> bool:
    return path == name or path.startswith(f"{name}.")
