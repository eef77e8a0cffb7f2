"""Reshape to a shape that is a variable (apache/tvm#20193).

TVM's legaliser asserts that the variable is bound to a shape written out. A parameter, an alias
or a shape read from a tensor is not, so ``LegalizeOps`` and ``FoldConstant`` stop. Here a shape
that the variable's type knows is used, and a call whose shape only the run will know is left to
the virtual machine, which can do it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fixes.drift import type_of, with_args
from fixes.fix import Fix
from fixes.targets import OpAttribute

FIX = Fix(
    name="reshape_to_shape_variable",
    issue="apache/tvm#20193",
    title="the legaliser of reshape asserts that a shape variable is bound to a literal shape",
    replaces="tvm.relax.transform.LegalizeOps",
    targets=(
        OpAttribute("relax.reshape", ("FLegalize",)),
        OpAttribute("relax.broadcast_to", ("FLegalize",)),
        OpAttribute("relax.collapse_sum_to", ("FLegalize",)),
    ),
    verified_on=("0.25.0.post1", "0.26.0", "0.27.0.post1"),
    module=__name__,
)


def replacement(stock: Callable[..., Any]) -> Callable[..., Any]:
    """A legaliser that gives TVM's own one only what that can do.

    Parameters
    ----------
    stock
        TVM's own legaliser of the operator.

    Returns
    -------
    Callable
        Takes a block builder and a call, returns the legalised expression, or the call itself.
    """
    from tvm import relax

    def legalize(builder: Any, call: Any) -> Any:
        data, shape = call.args
        if not isinstance(shape, relax.Var):
            return stock(builder, call)
        values = type_of(shape).values
        if values is None:
            return call
        return stock(builder, with_args(call, [data, relax.ShapeExpr(values)]))

    return legalize


def still_wrong(stock: Callable[..., Any]) -> bool:
    """Whether TVM's own legaliser of reshape still refuses a shape that is a parameter."""
    import tvm

    mod = tvm.script.from_source(_PROBE)
    (function,) = mod.functions.values()
    try:
        stock(tvm.relax.BlockBuilder(mod), function.body.blocks[0].bindings[0].value)
    except AssertionError:
        return True
    return False


_PROBE = """
@I.ir_module
class Probe:
    @R.function
    def main(x: R.Tensor((6,), "float32"), shape: R.Shape([2, 3])) -> R.Tensor((2, 3), "float32"):
        y = R.reshape(x, shape)
        return y
"""
