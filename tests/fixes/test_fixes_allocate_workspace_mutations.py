"""Each rewrite of the corrected pass is needed: without any one of them, some module shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import tvm
import tvm_ffi
from aw_right import RIGHT_IN_STOCK
from aw_wrong import WRONG_IN_STOCK
from tvm import relax
from tvm.relax.expr_functor import PyExprMutator

from fixes import differential
from fixes.allocate_workspace import module_pass, needs, rewrite
from fixes.allocate_workspace.rewrite import Rewriter

Patch = Callable[[pytest.MonkeyPatch], None]


def method(name: str, function: Callable[..., Any]) -> Patch:
    # The decorator of TVM's mutators keeps the class that was written under this name.
    return lambda patch: patch.setattr(Rewriter._cls, name, function)


def call_without_workspace(self: Any, call: Any) -> Any:
    return PyExprMutator.visit_call_(self, call)


def calls_by_name_only(value: Any, values: Any) -> Any:
    return rewrite.key(value) if isinstance(value, relax.GlobalVar | relax.Var) else None


def plan_with(**changes: Any) -> Patch:
    """Every plan of an allocating function, changed."""
    original = module_pass._allocating

    def allocating(facts: Any, plan: Any) -> Any:
        return replace(original(facts, plan), **changes)

    return lambda patch: patch.setattr(module_pass, "_allocating", allocating)


def in_module_pass(name: str, function: Callable[..., Any]) -> Patch:
    return lambda patch: patch.setattr(module_pass, name, function)


def in_needs(name: str, function: Callable[..., Any]) -> Patch:
    return lambda patch: patch.setattr(needs, name, function)


def only_those_that_ask(facts: Any) -> set[int]:
    """Receivers without those that only hand the workspace on."""
    return {
        gvar
        for gvar, one in facts.items()
        if needs.is_external(one.function) and needs.asks(one.function)
    }


def keeps_asking(function: Any, workspace: Any, body: Any) -> Any:
    return WITH_WORKSPACE(function, workspace, body).with_attr("WorkspaceSize", 16)


WITH_WORKSPACE = rewrite.with_workspace
RECEIVER = module_pass._receiver

MUTATIONS: dict[str, Patch] = {
    "GlobalVars keep their old names": method("visit_global_var_", lambda self, gvar: gvar),
    "calls do not pass the workspace": method("visit_call_", call_without_workspace),
    "only calls by name pass it": lambda patch: patch.setattr(
        rewrite, "value_of", calls_by_name_only
    ),
    "only functions that ask receive it": in_needs("receivers", only_those_that_ask),
    "local functions receive nothing": method(
        "_receiver", lambda self, binding: self.visit_expr(binding.value)
    ),
    "nothing is allocated": plan_with(in_first_block=False, allocating=frozenset()),
    "always allocated in the first block": plan_with(in_first_block=True, allocating=frozenset()),
    "functions ask still": lambda patch: patch.setattr(module_pass, "with_workspace", keeps_asking),
    "global_symbol keeps the old name": in_module_pass(
        "_receiver",
        lambda mod, facts, plan, new, param: RECEIVER(mod, facts, plan, new, param).with_attr(
            "global_symbol", facts.name
        ),
    ),
    "never as stock": in_needs("stock_is_right", lambda size, facts, found: False),
    "always as stock": in_needs("stock_is_right", lambda size, facts, found: True),
}


@pytest.fixture(scope="module")
def modules() -> list[tuple[str, Any, Any]]:
    """Name, module, and what TVM makes of it: None where that is wrong."""
    stock = differential.stock_of(differential.get("allocate_workspace").targets[0])
    found = []
    for kind, texts in {"right": RIGHT_IN_STOCK, "wrong": WRONG_IN_STOCK}.items():
        for name, text in texts.items():
            mod = tvm.script.from_source(text, check_well_formed=False)
            found.append((f"{kind}: {name}", mod, stock()(mod) if kind == "right" else None))
    return found


def caught(mod: Any, stock: Any) -> str:
    """What is wrong with the pass on one module; empty when nothing is."""
    try:
        result = module_pass.allocated(mod)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if stock is not None and not tvm_ffi.structural_equal(result, stock):
        return "differs from TVM"
    return differential.well_formed(result)


def test_without_a_mutation_nothing_is_wrong(modules: list[tuple[str, Any, Any]]) -> None:
    assert {name: caught(mod, stock) for name, mod, stock in modules} == {
        name: "" for name, _, _ in modules
    }


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_mutation_is_caught(
    mutation: str, modules: list[tuple[str, Any, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    MUTATIONS[mutation](monkeypatch)
    assert any(caught(mod, stock) for _, mod, stock in modules)
