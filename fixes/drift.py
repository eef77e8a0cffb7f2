"""What fixes need from TVM that its releases name differently."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def type_of(expr: Any) -> Any:
    """The type of a Relax expression; 0.25 calls it its struct info."""
    return expr.ty if hasattr(expr, "ty") else expr.struct_info


def with_args(call: Any, args: list[Any]) -> Any:
    """The call with other arguments; all else stays."""
    from tvm import relax

    types = call.ty_args if hasattr(call, "ty_args") else call.sinfo_args
    return relax.Call(call.op, args, call.attrs, types, call.span)


def integer(expr: Any) -> int | None:
    """The value of an integer constant, or None; 0.25 wraps those in a ``PrimValue``."""
    from tvm import tirx

    inner = getattr(expr, "value", None) if type(expr).__name__ == "PrimValue" else expr
    return int(inner.value) if isinstance(inner, tirx.IntImm) else None


def dtype_of(expr: Any) -> str:
    """The data type of a TIR expression."""
    return str(expr.dtype if hasattr(expr, "dtype") else expr.ty.dtype)


def mapped(body: Any, kinds: tuple[type, ...], change: Callable[[Any], Any]) -> Any:
    """A TIR statement with each expression of some `kinds` changed, the innermost first."""
    import tvm_ffi

    if hasattr(tvm_ffi, "structural_map"):
        return tvm_ffi.structural_map(body, (kinds, change), order="post")
    from tvm.tirx.stmt_functor import ir_transform

    return ir_transform(body, None, change, [f"tirx.{kind.__name__}" for kind in kinds])
