"""FuseOps makes no function of tuple accesses alone (apache/tvm#20194).

An access of a tuple that is itself an access becomes a fused function without any kernel in it.
FuseOps calls that function ``fused``, which FuseTIR then refuses. Here TVM's own pass does the
work, and such functions are put back where they are called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fixes.fix import Fix
from fixes.inside import run_inside
from fixes.targets import Attribute, GlobalFunction

FIX = Fix(
    name="fuse_ops_tuple_access",
    issue="apache/tvm#20194",
    title="FuseOps makes a function of a nested tuple access, which FuseTIR refuses",
    replaces="tvm.relax.transform.FuseOps",
    targets=(
        Attribute("tvm.relax.transform._ffi_api", "FuseOps"),
        GlobalFunction("relax.transform.FuseOps"),
    ),
    verified_on=("0.25.0.post1", "0.26.0", "0.27.0.post1"),
    module=__name__,
)


def replacement(stock: Callable[..., Any]) -> Callable[..., Any]:
    """What stands in for the entry that makes the pass.

    Parameters
    ----------
    stock
        TVM's own entry.

    Returns
    -------
    Callable
        Takes what `stock` takes, the level of fusion.
    """
    import tvm

    def make(*args: Any) -> Any:
        own = stock(*args)

        def run(mod: Any, context: Any) -> Any:
            return _without_empty(run_inside(own, mod, context), mod)

        return tvm.ir.transform.module_pass(run, opt_level=0, name="FuseOps")

    return make


def _without_empty(fused: Any, before: Any) -> Any:
    """The module with each new function that computes nothing put back where it is called."""
    from tvm import relax

    old = {gvar.name_hint for gvar in before.get_global_vars()}
    empty = {
        gvar.name_hint: function
        for gvar, function in fused.functions_items()
        if gvar.name_hint not in old and _computes_nothing(function)
    }
    if not empty:
        return fused
    functions = {
        gvar: _put_back(function, empty) if isinstance(function, relax.Function) else function
        for gvar, function in fused.functions_items()
        if gvar.name_hint not in empty
    }
    return type(fused)(functions, attrs=fused.attrs, global_infos=fused.global_infos)


def _computes_nothing(function: Any) -> bool:
    from tvm import relax

    return (
        isinstance(function, relax.Function)
        and isinstance(function.body, relax.SeqExpr)
        and all(
            isinstance(binding, relax.VarBinding)
            and isinstance(binding.value, relax.TupleGetItem | relax.Tuple | relax.Var)
            for block in function.body.blocks
            for binding in block.bindings
        )
    )


def _put_back(function: Any, empty: Mapping[str, Any]) -> Any:
    """The function with the bodies of `empty` in place of their calls."""
    from tvm import relax
    from tvm.relax.expr_functor import PyExprMutator, mutator

    @mutator
    class PutBack(PyExprMutator):  # type: ignore[misc]
        def visit_call_(self, call: Any) -> Any:
            if not isinstance(call.op, relax.GlobalVar) or call.op.name_hint not in empty:
                return super().visit_call_(call)
            inner = empty[call.op.name_hint]
            known = dict(zip(inner.params, map(self.visit_expr, call.args), strict=True))
            for block in inner.body.blocks:
                for binding in block.bindings:
                    known[binding.var] = _replaced(binding.value, known)
            return known[inner.body.body]

    return PutBack().visit_expr(function)


def _replaced(value: Any, known: Mapping[Any, Any]) -> Any:
    from tvm import relax

    if isinstance(value, relax.TupleGetItem):
        return relax.TupleGetItem(_replaced(value.tuple_value, known), value.index)
    if isinstance(value, relax.Tuple):
        return relax.Tuple([_replaced(field, known) for field in value.fields])
    return known.get(value, value)


def still_wrong(stock: Callable[..., Any]) -> bool:
    """Whether TVM's own pass still makes a function of the probe, which has nothing to fuse."""
    import tvm

    return len(stock(2)(tvm.script.from_source(_PROBE)).functions) > 1


_PROBE = """
@I.ir_module
class Probe:
    @R.function
    def main(x: R.Tuple(R.Tuple(R.Tensor((4,), "float32")))) -> R.Tensor((4,), "float32"):
        with R.dataflow():
            y = x[0]
            z = y[0]
            R.output(z)
        return z
"""
