"""Which functions receive a workspace: the answer of the pass, before anything is rewritten."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from tvm import relax

from fixes.allocate_workspace.calls import (
    WORKSPACE_SIZE,
    Facts,
    Site,
    asks,
    facts_of,
    is_external,
    key,
)
from fixes.allocate_workspace.release import name_of


def largest_size(mod: Any) -> int:
    """The largest workspace that a Relax function of the module asks for, in bytes.

    Raises
    ------
    ValueError
        When a size is negative.
    """
    largest = 0
    for gvar, function in mod.functions_items():
        if isinstance(function, relax.Function) and WORKSPACE_SIZE in function.attrs:
            size = int(function.attrs[WORKSPACE_SIZE])
            if size < 0:
                raise ValueError(f"`{gvar.name_hint}` has a negative {WORKSPACE_SIZE}: {size}")
            largest = max(largest, size)
    return largest


def all_facts(mod: Any) -> dict[int, Facts]:
    """The facts of every Relax function, by the key of its GlobalVar, in the order of names."""
    found = {}
    for gvar, function in sorted(mod.functions_items(), key=lambda item: item[0].name_hint):
        if isinstance(function, relax.Function):
            found[key(gvar)] = facts_of(gvar.name_hint, function)
    return found


def receivers(facts: Mapping[int, Facts]) -> set[int]:
    """The global functions that receive a workspace as their last parameter.

    Those are the codegen and composite functions that ask for one, and those that call such a
    function, directly or through others of their kind. An ordinary function allocates one
    instead, so the chain ends there.
    """
    external = {gvar: one for gvar, one in facts.items() if is_external(one.function)}
    found = {gvar for gvar, one in external.items() if asks(one.function)}
    while True:
        more = {
            gvar
            for gvar, one in external.items()
            if gvar not in found and any(site.callee in found for site in one.sites)
        }
        if not more:
            return found
        found |= more


def stock_is_right(size: int, facts: Mapping[int, Facts], found: Set[int]) -> bool:
    """Whether TVM's own pass gets this module right, so that its result is to be met exactly."""
    if size >= 2**31:  # TVM writes the size as an int32
        return False
    return all(
        _right_inside(one, found)
        if gvar in found
        else not one.refers_to & found
        if is_external(one.function)
        else all(site.direct and site.sees_first_block for site in calls_of(one, found))
        for gvar, one in facts.items()
    )


def calls_of(facts: Facts, found: Set[int]) -> list[Site]:
    """The calls in one function of any of the functions `found`."""
    return [site for site in facts.sites if site.callee in found]


def _right_inside(facts: Facts, found: Set[int]) -> bool:
    """Whether TVM's own pass gets the inside of this receiver right.

    It does when all calls that matter are calls of local composite functions that ask for a
    workspace, by their own names, where the workspace that TVM would pass on is in sight.
    """
    if not asks(facts.function) or facts.refers_to & found:
        return False
    for site in facts.sites:
        local = facts.locals.get(site.callee)
        if local is None:
            continue
        matters = asks(local.function) or (site.direct and "Composite" in local.function.attrs)
        right = (
            site.direct
            and asks(local.function)
            and "Composite" in local.function.attrs
            and key(local.function) not in site.scopes
            and site.stock_scope in site.scopes
        )
        if matters and not right:
            return False
    return True


def local_names(facts: Facts, chosen: Set[int]) -> dict[int, str]:
    return {var: name_of(facts.locals[var].var) for var in chosen}


def asking_locals(facts: Facts) -> set[int]:
    """The local functions that ask for a workspace themselves, by their variable."""
    return {var for var, one in facts.locals.items() if asks(one.function)}


def local_receivers(facts: Facts, found: Set[int]) -> set[int]:
    """The local functions of a receiver that receive the workspace too, by their variable.

    Those that ask for it, and those that hand it on. One that goes on as a value cannot be given
    another signature; when it does not ask itself, it can use the workspace of the function
    around it.
    """
    inside = asking_locals(facts)
    escaped = {escape.callee for escape in facts.escapes}
    while True:
        using = {
            scope
            for site in facts.sites
            if site.callee in found or site.callee in inside
            for scope in site.scopes
        }
        more = {
            var
            for var, one in facts.locals.items()
            if var not in inside and var not in escaped and key(one.function) in using
        }
        if not more:
            return inside
        inside |= more


def refuse_escapes(facts: Facts, changed: Mapping[int, str]) -> None:
    """Refuse a function that goes on as a value though its signature changes.

    Its callers could not be found. `changed` gives the names of such functions.

    Raises
    ------
    ValueError
        Naming both functions and the binding.
    """
    for escape in facts.escapes:
        if escape.callee in changed:
            raise ValueError(
                f"AllocateWorkspace cannot rewrite `{facts.name}`: "
                f"`{changed[escape.callee]}` needs a workspace, but it is {escape.how}, "
                "so its callers cannot be given one"
            )
