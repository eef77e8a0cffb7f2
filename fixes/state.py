"""How the fixes stand to the installed TVM."""

from __future__ import annotations

import importlib

from fixes.fix import FixNotApplied, FixState
from fixes.install import stock_of
from fixes.quiet import quiet
from fixes.registry import get


def state(name: str) -> FixState:
    """Try TVM's own function on the fix's probe, and say whether the fix is still needed.

    Raises
    ------
    fixes.UnknownFix
        For a name that no fix has.
    """
    import tvm

    fix = get(name)
    try:
        stock = [stock_of(target) for target in fix.targets]
    except FixNotApplied:
        return FixState.NOT_APPLICABLE
    with quiet():
        wrong = importlib.import_module(fix.module).still_wrong(stock[0])
    if not wrong:
        return FixState.NOT_NEEDED
    return FixState.NEEDED if tvm.__version__ in fix.verified_on else FixState.UNVERIFIED
