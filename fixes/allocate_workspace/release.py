"""What TVM 0.25 to 0.27 call differently, as far as this pass meets it."""

from __future__ import annotations

from typing import Any

from tvm import relax


def type_of(expr: Any) -> Any:
    """The type of a Relax expression; 0.25 calls it its struct info."""
    return expr.ty if hasattr(expr, "ty") else expr.struct_info


def return_type(func: Any) -> Any:
    return func.ret_ty if hasattr(func, "ret_ty") else func.ret_struct_info


def tensor_type(shape: list[Any], dtype: str) -> Any:
    make = getattr(relax, "TensorStructInfo", None) or relax.TensorType
    return make(shape, dtype)


def type_args(call: Any) -> Any:
    return call.ty_args if hasattr(call, "ty_args") else call.sinfo_args


def retyped(mutator: Any, var: Any, ty: Any) -> Any:
    """`var` itself when it has that type already, else a new variable that has."""
    change = getattr(mutator, "with_type", None) or mutator.with_struct_info
    return change(var, ty)


def remap(mutator: Any, old: Any, new: Any) -> None:
    """Have the mutator put `new` wherever `old` is used from here on."""
    mutator.set_var_remap(getattr(old, "vid", old), new)


def typed_global(name: str, like: Any) -> Any:
    """A new GlobalVar of that name whose type is that of the function `like`."""
    return relax.BlockBuilder().add_func(like, name)


def name_of(var: Any) -> str:
    """The name of a Relax variable; not unique, and only for people to read."""
    return str(var.name_hint if hasattr(var, "name_hint") else var.name)
