"""Maximum, minimum, relu and clip keep NaN (apache/tvm#19579).

TVM lowers ``T.max(a, b)`` to a comparison and a choice, which gives `b` when `a` is NaN. Here the
kernels that TVM's own legalisers make get a test of `a` for NaN around each such choice. Numbers
that are not NaN come out as before, to the bit. Reductions (``R.max``, pooling) lose NaN as well,
but schedules know a reduction by its shape, so those stay.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fixes.drift import dtype_of, mapped, type_of, with_args
from fixes.fix import Fix
from fixes.targets import OpAttribute

FIX = Fix(
    name="nan_propagation",
    issue="apache/tvm#19579",
    title="maximum, minimum, relu and clip lose a NaN that comes first",
    replaces="tvm.relax.transform.LegalizeOps",
    targets=tuple(
        OpAttribute(f"relax.{name}", ("FLegalize",))
        for name in ("maximum", "minimum", "nn.relu", "clip")
    ),
    verified_on=("0.25.0.post1", "0.26.0", "0.27.0.post1"),
    module=__name__,
)

_FLOATS = ("float16", "bfloat16", "float32", "float64")


def replacement(stock: Callable[..., Any]) -> Callable[..., Any]:
    """A legaliser whose kernel keeps NaN.

    Parameters
    ----------
    stock
        TVM's own legaliser of the operator; its kernel is the start of the new one.

    Returns
    -------
    Callable
        Takes a block builder and a call, returns the legalised expression.
    """
    from tvm import relax

    def legalize(builder: Any, call: Any) -> Any:
        if str(type_of(call.args[0]).dtype) not in _FLOATS:
            return stock(builder, call)
        # Made aside: in the module itself, TVM's own kernel would stay behind unused.
        aside = relax.BlockBuilder()
        made = stock(aside, call)
        gvar, *others = made.args
        kernel = builder.add_func(_keeping_nan(aside.get()[gvar]), gvar.name_hint)
        return with_args(made, [kernel, *others])

    return legalize


def _keeping_nan(kernel: Any) -> Any:
    from tvm import tirx

    def guarded(choice: Any) -> Any:
        first = choice.a
        if isinstance(first, tirx.FloatImm):
            return choice
        if isinstance(first, tirx.Select) and isinstance(first.false_value.b, tirx.FloatImm):
            # A limit above a limit, as in clip: the test that is there says it for both.
            inner = type(choice)(first.false_value, choice.b)
            return tirx.Select(first.condition, first.true_value, inner)
        wide = first.astype("float32") if dtype_of(choice) == "bfloat16" else first
        return tirx.Select(tirx.isnan(wide), first, choice)

    return kernel.with_body(mapped(kernel.body, (tirx.Max, tirx.Min), guarded))


def still_wrong(stock: Callable[..., Any]) -> bool:
    """Whether the kernel of TVM's own legaliser of maximum still loses a NaN that comes first."""
    import math

    import numpy as np
    import tvm
    from tvm import relax

    mod = tvm.script.from_source(_PROBE)
    custom = relax.transform.LegalizeOps({"relax.maximum": stock})
    machine = relax.VirtualMachine(relax.build(custom(mod), "llvm"), tvm.cpu())
    inputs = (tvm.runtime.tensor(np.array([value], "float32")) for value in (math.nan, 0.0))
    return not math.isnan(machine["main"](*inputs).numpy()[0])


_PROBE = """
@I.ir_module
class Probe:
    @R.function
    def main(x: R.Tensor((1,), "float32"), y: R.Tensor((1,), "float32")):
        z = R.maximum(x, y)
        return z
"""
