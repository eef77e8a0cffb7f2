"""Passes in Python that spoil a module, each in a way of its own. Copied beside a case."""

import os
import signal
import time

import tvm
from tvm import relax


@relax.expr_functor.mutator
class _Subtract(relax.PyExprMutator):
    def visit_call_(self, call):
        call = self.visit_expr_post_order(call)
        added = call.op == tvm.ir.Op.get("relax.add")
        return relax.op.subtract(*call.args) if added else call


def subtract(module):
    """Puts a subtraction where an addition was."""
    functions = {name: _Subtract().visit_expr(body) for name, body in module.functions.items()}
    return tvm.IRModule(functions, attrs=module.attrs)


def subtract_and_tidy(module):
    """Has another pass run behind its own work."""
    tidy = tvm.transform.module_pass(lambda module, _: module, 0, name="tidy")
    return tidy(subtract(module))


def mark(module):
    return module.with_attr("marked", 1)


def subtract_if_marked(module):
    return subtract(module) if module.attrs and "marked" in module.attrs else module


def stray(module):
    """Puts a function without its parameter beside the others."""
    lost = relax.Function([], module["main"].params[0])
    return tvm.IRModule({**dict(module.functions.items()), tvm.ir.GlobalVar("stray"): lost})


def misname(module):
    """Ill-formed to the end of the pipeline, and harmless."""
    spare = module["main"].with_attr("global_symbol", "other")
    return tvm.IRModule({**dict(module.functions.items()), tvm.ir.GlobalVar("spare"): spare})


def die(module):
    os.kill(os.getpid(), signal.SIGSEGV)


def hang(module):
    time.sleep(600)


def refuse(module):
    raise ValueError("no")


def survive(module):
    try:
        return tvm.transform.module_pass(lambda module, _: refuse(module), 0, name="inner")(module)
    except Exception:
        return module


def unlike_its_name():
    """Adds, where a subtraction is meant."""
    text = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        z = R.add(x, y)
        return z
"""
    return tvm.script.from_source(text)


def ill_formed():
    text = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        return x
"""
    return stray(tvm.script.from_source(text))
