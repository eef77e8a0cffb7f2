"""Strided slices that take nothing (apache/tvm#17768).

When the end of a range lies before its begin, TVM infers a negative size and then refuses to make
the kernel. Here both its inference and its legaliser are shown the same range with its end at its
begin, which they know to be empty. The call itself stays as it was written.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from fixes.drift import INFER, integer, type_of, with_args
from fixes.fix import Fix
from fixes.targets import OpAttribute

FIX = Fix(
    name="empty_strided_slice",
    issue="apache/tvm#17768",
    title="a strided_slice whose end lies before its begin has a negative size and no kernel",
    replaces="tvm.relax.op.strided_slice",
    targets=(
        OpAttribute("relax.strided_slice", INFER),
        OpAttribute("relax.strided_slice", ("FLegalize",)),
    ),
    verified_on=("0.25.0.post1", "0.26.0", "0.27.0.post1"),
    module=__name__,
)


def replacement(stock: Callable[..., Any]) -> Callable[..., Any]:
    """What stands in for the inference of the type, or for the legaliser.

    Parameters
    ----------
    stock
        TVM's own function. One takes the call first, the other the block builder.

    Returns
    -------
    Callable
        Takes and gives what `stock` does.
    """
    from tvm import relax

    def run(*args: Any) -> Any:
        return stock(*(_closed(arg) if isinstance(arg, relax.Call) else arg for arg in args))

    return run


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
    """Whether TVM's own inference still gives a slice backwards anything but size 0."""
    import tvm

    mod = tvm.script.from_source(_PROBE)
    call = mod["main"].body.blocks[0].bindings[0].value
    return integer(stock(call, tvm.relax.BlockBuilder()).shape.values[0]) != 0


_PROBE = """
@I.ir_module
class Probe:
    @R.function
    def main(x: R.Tensor((8,), "float32")):
        y = R.strided_slice(x, axes=[0], begin=[5], end=[2])
        return y
"""
