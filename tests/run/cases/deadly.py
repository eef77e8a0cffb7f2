"""A module whose run is struck by a signal at the stage that the case names."""

import gc
import os

import tvm
from tvm import relax

ONE_CALL = """
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        _ = R.call_packed("deadly.call", ty_args=(R.Tuple,))
        return x
"""


def strike(number):
    os.kill(os.getpid(), number)


def make(stage, number):
    """The module; the stages before `stage` are sound."""
    if stage == "load":
        strike(number)
    elif stage in ("input", "well_formed"):
        sound, seen = relax.analysis.well_formed, []

        def struck(module):
            seen.append(module)
            if len(seen) == (1 if stage == "input" else 2):
                strike(number)
            return sound(module)

        relax.analysis.well_formed = struck
    elif stage == "vm":
        machine = relax.VirtualMachine

        def struck(*args, **keywords):
            strike(number)
            return machine(*args, **keywords)

        relax.VirtualMachine = struck
    elif stage == "exit":
        gc.collect = lambda *_: strike(number)
    tvm.register_global_func(
        "deadly.call", lambda *_: strike(number) if stage == "run" else None, override=True
    )
    old = tvm.__version__.startswith("0.25")
    text = ONE_CALL.replace("ty_args", "sinfo_args") if old else ONE_CALL
    return tvm.script.from_source(text, check_well_formed=False)


def through(module, *number):
    """A pass that does nothing but strike, when it has a number to do that with."""
    if number:
        strike(*number)
    return module
