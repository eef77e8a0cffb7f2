"""Which functions receive a workspace: the answer of the pass, before anything is rewritten."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tvm import relax

from fixes.allocate_workspace.calls import Facts, facts_of, key

WORKSPACE_SIZE = "WorkspaceSize"


def is_external(function: Any) -> bool:
    """Whether the body of the function is for another compiler to read."""
    return "Codegen" in function.attrs or "Composite" in function.attrs


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
    found = {gvar for gvar, one in external.items() if WORKSPACE_SIZE in one.function.attrs}
    while True:
        more = {
            gvar
            for gvar, one in external.items()
            if gvar not in found and any(site.callee in found for site in one.sites)
        }
        if not more:
            return found
        found |= more


def local_receivers(facts: Facts, found: set[int]) -> set[int]:
    """The local functions of a receiver that receive the workspace too, by their variable.

    One that does not ask for it, and that nobody calls, is left alone, as TVM does: it can use
    the workspace of the function around it.
    """
    external = {var: one for var, one in facts.locals.items() if is_external(one.function)}
    called = {site.callee for site in facts.sites}
    inside = {var for var, one in external.items() if WORKSPACE_SIZE in one.function.attrs}
    while True:
        using = {
            scope
            for site in facts.sites
            if site.callee in found or site.callee in inside
            for scope in site.scopes
        }
        more = {
            var
            for var, one in external.items()
            if var not in inside and var in called and key(one.function) in using
        }
        if not more:
            return inside
        inside |= more


def refuse_escapes(facts: Facts, names: Mapping[int, str]) -> None:
    """Refuse a function that goes on as a value: its callers could not be found.

    Raises
    ------
    ValueError
        Naming both functions and the binding.
    """
    for escape in facts.escapes:
        if escape.callee in names:
            raise ValueError(
                f"AllocateWorkspace cannot rewrite `{facts.name}`: "
                f"`{names[escape.callee]}` needs a workspace, but it is {escape.how}, "
                "so its callers cannot be given one"
            )
