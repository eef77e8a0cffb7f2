"""Corrections of Apache TVM that can be put in at run time, and taken out again.

Needs nothing but TVM::

    import fixes

    with fixes.applied("allocate_workspace") as fix:
        mod = tvm.relax.transform.AllocateWorkspace()(mod)
    assert fix.used
"""

from fixes.fix import Fix, FixError, FixNotApplied, FixState, UnknownFix
from fixes.install import applied
from fixes.registry import REGISTRY, get, names
from fixes.state import state

__all__ = [
    "REGISTRY",
    "Fix",
    "FixError",
    "FixNotApplied",
    "FixState",
    "UnknownFix",
    "applied",
    "get",
    "names",
    "state",
]
