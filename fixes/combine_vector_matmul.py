"""CombineParallelMatmul beside matmuls with a 1-D operand (apache/tvm#20197).

TVM's pass takes every matmul with the same left operand together, also those where an operand is
a vector, whose results it then cannot split. Here TVM's own pass does the work; where it stops on
a function, it is given that function again with those matmuls out of its sight.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fixes.drift import type_of, with_args
from fixes.fix import Fix
from fixes.inside import run_inside
from fixes.targets import Attribute, GlobalFunction

FIX = Fix(
    name="combine_vector_matmul",
    issue="apache/tvm#20197",
    title="CombineParallelMatmul stops on matmuls that have a 1-D operand",
    replaces="tvm.relax.transform.CombineParallelMatmul",
    targets=(
        Attribute("tvm.relax.transform._ffi_api", "CombineParallelMatmul"),
        GlobalFunction("relax.transform.CombineParallelMatmul"),
    ),
    verified_on=("0.25.0.post1", "0.26.0", "0.27.0.post1"),
    module=__name__,
)


def replacement(stock: Callable[..., Any]) -> Callable[..., Any]:
    """What stands in for the entry that makes the pass.

    Parameters
    ----------
    stock
        TVM's own entry; takes the callback that may refuse a combination.

    Returns
    -------
    Callable
        Takes that callback too. It is asked twice about a function on which TVM stops.
    """
    from tvm import relax

    def make(check: Any) -> Any:
        own = stock(check)

        def run(function: Any, mod: Any, context: Any) -> Any:
            def combined(one: Any) -> Any:
                gvar = relax.GlobalVar("main")
                return run_inside(own, type(mod)({gvar: one}), context)["main"]

            try:
                return combined(function)
            except Exception:
                hidden, kept = _hidden(function)
                if not kept:
                    raise
                return _shown(combined(hidden), kept)

        return relax.transform.function_pass(run, opt_level=0, name="CombineParallelMatmul")

    return make


def _hidden(function: Any) -> tuple[Any, list[Any]]:
    """The function with each matmul of a vector behind a call of something else, and those."""
    import tvm
    from tvm import relax
    from tvm.relax.expr_functor import PyExprMutator, mutator

    matmul = tvm.ir.Op.get("relax.matmul")
    pure = tvm.ir.Op.get("relax.call_pure_packed")
    kept: list[Any] = []

    @mutator
    class Hide(PyExprMutator):  # type: ignore[misc]
        def visit_call_(self, call: Any) -> Any:
            new = super().visit_call_(call)
            if call.op != matmul or not any(type_of(arg).ndim == 1 for arg in call.args):
                return new
            name = relax.ExternFunc(f"{_NAME}{len(kept)}")
            kept.append(new)
            return relax.Call(pure, [name, *new.args], None, [type_of(call)], call.span)

    return Hide().visit_expr(function), kept


def _shown(function: Any, kept: list[Any]) -> Any:
    """The function with its own matmuls again, on whatever their operands have become."""
    from tvm import relax
    from tvm.relax.expr_functor import PyExprMutator, mutator

    @mutator
    class Show(PyExprMutator):  # type: ignore[misc]
        def visit_call_(self, call: Any) -> Any:
            new = super().visit_call_(call)
            first = new.args[0] if new.args else None
            if not isinstance(first, relax.ExternFunc):
                return new
            if not str(first.global_symbol).startswith(_NAME):
                return new
            number = int(str(first.global_symbol)[len(_NAME) :])
            return with_args(kept[number], list(new.args)[1:])

    return Show().visit_expr(function)


_NAME = "fixes.combine_vector_matmul."


def still_wrong(stock: Callable[..., Any]) -> bool:
    """Whether TVM's own pass still stops on either side being a vector."""
    import tvm

    own = stock(lambda *_: True)
    for left, right in (("(4,)", "(4, 3)"), ("(2, 4)", "(4,)")):
        try:
            own(tvm.script.from_source(_PROBE.format(left=left, right=right)))
        except Exception:
            return True
    return False


_PROBE = """
@I.ir_module
class Probe:
    @R.function
    def main(x: R.Tensor({left}, "float32"), v: R.Tensor({right}, "float32"),
             w: R.Tensor({right}, "float32")):
        with R.dataflow():
            a = R.matmul(x, v)
            b = R.matmul(x, w)
            R.output(a, b)
        return (a, b)
"""
