"""What the tests of fixes need of TVM."""

from __future__ import annotations

from typing import Any

import numpy as np
import tvm
import tvm_ffi
from tvm import relax


def parsed(text: str) -> Any:
    """The module of that text, which has to be well-formed."""
    mod = tvm.script.from_source(text, check_well_formed=False)
    relax.analysis.well_formed(mod)
    return mod


def equal(one: Any, other: Any) -> bool:
    """Whether two modules are structurally equal, with the same names."""
    names = [sorted(g.name_hint for g in mod.get_global_vars()) for mod in (one, other)]
    return names[0] == names[1] and bool(tvm_ffi.structural_equal(one, other))


def outcome(run: Any, *args: Any) -> Any:
    """What a call gives, or the exception it raises."""
    try:
        return run(*args)
    except Exception as error:
        return error


def results(mod: Any, *args: Any, fused: bool = False) -> list[Any]:
    """What ``main`` computes on arrays, as a list also where it is one array.

    `fused` takes the pipeline of the target, which fuses, in place of the default one.
    """
    how = {"relax_pipeline": relax.get_default_pipeline(tvm.target.Target("llvm"))} if fused else {}
    machine = relax.VirtualMachine(relax.build(mod, "llvm", **how), tvm.cpu())
    given = [tvm.runtime.tensor(arg) if isinstance(arg, np.ndarray) else arg for arg in args]
    found = machine["main"](*given)
    fields = [found] if hasattr(found, "numpy") else list(found)
    return [field.numpy() for field in fields]
