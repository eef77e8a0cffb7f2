"""Strided slices that take nothing (apache/tvm#17768).

When the end of a range lies before its begin, TVM infers a negative size and then refuses to make
the kernel. Here the legaliser is shown the same range with its end at its begin, which it knows to
be empty, and LegalizeOps infers the types of what follows anew. Types inferred before that stay
negative: with another inference, modules made before the fix went in would be ill-formed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from fixes.drift import integer, type_of, with_args
from fixes.fix import Fix
from fixes.targets import OpAttribute

FIX = Fix(
    name="empty_strided_slice",
    issue="apache/tvm#17768",
    title="the legaliser of strided_slice refuses an end that lies before the begin",
    replaces="tvm.relax.transform.LegalizeOps",
    targets=(OpAttribute("relax.strided_slice", ("FLegalize",)),),
    verified_on=("0.25.0.post1", "0.26.0", "0.27.0.post1"),
    module=__name__,
)


def replacement(stock: Callable[..., Any]) -> Callable[..., Any]:
    """A legaliser that shows TVM's own one ranges it can do.

    Parameters
    ----------
    stock
        TVM's own legaliser of the operator.

    Returns
    -------
    Callable
        Takes a block builder and a call, returns the legalised expression.
    """

    def legalize(builder: Any, call: Any) -> Any:
        return stock(builder, _closed(call))

    return legalize


def _closed(call: Any) -> Any:
    """The call with the end of each range that runs backwards moved to the range's begin."""
    from tvm import relax

    data, axes, begins, ends, *strides = call.args
    if not all(isinstance(arg, relax.Tuple) for arg in (axes, begins, ends, *strides)):
        return call
    steps = [integer(step) for step in strides[0].fields] if strides else [1] * len(axes.fields)
    new = [
        begin if _backwards(integer(begin), integer(end), step, _size(data, integer(axis))) else end
        for axis, begin, end, step in zip(
            axes.fields, begins.fields, ends.fields, steps, strict=False
        )
    ]
    # An incomplete call is for TVM to refuse.
    if len(new) != len(ends.fields) or all(map(operator.is_, new, ends.fields)):
        return call
    return with_args(call, [data, axes, begins, relax.Tuple(new), *strides])


def _backwards(begin: int | None, end: int | None, step: int | None, size: int | None) -> bool:
    """Whether the end lies before the begin, seen in the direction of the step."""
    if begin is None or end is None or not step:
        return False
    if size is not None:
        begin, end, step = slice(begin, end, step).indices(size)
    elif (begin < 0) != (end < 0):
        return False
    return (end - begin) * step < 0


def _size(data: Any, axis: int | None) -> int | None:
    from tvm import relax

    shape = getattr(type_of(data), "shape", None)
    if axis is None or not isinstance(shape, relax.ShapeExpr):
        return None
    if not -len(shape.values) <= axis < len(shape.values):
        return None
    return integer(shape.values[axis])


def still_wrong(stock: Callable[..., Any]) -> bool:
    """Whether TVM's own legaliser still refuses a slice backwards."""
    import tvm

    mod = tvm.script.from_source(_PROBE)
    try:
        stock(tvm.relax.BlockBuilder(mod), mod["main"].body.blocks[0].bindings[0].value)
    except Exception:
        return True
    return False


_PROBE = """
@I.ir_module
class Probe:
    @R.function
    def main(x: R.Tensor((8,), "float32")):
        y = R.strided_slice(x, axes=[0], begin=[5], end=[2])
        return y
"""
