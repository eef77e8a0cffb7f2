"""Putting fixes in, taking them out, and telling whether they are needed."""

from __future__ import annotations

import dataclasses
import importlib
import subprocess
import sys
import types
from collections.abc import Iterator
from typing import Any

import pytest
import tvm
import tvm_ffi
from tvm.relax.transform import AllocateWorkspace, _ffi_api

import fixes
from fixes import FixState, applied
from fixes.allocate_workspace.probe import is_well_formed, probe
from fixes.targets import Attribute, GlobalFunction

NAME = "allocate_workspace"
REGISTERED = "relax.transform.AllocateWorkspace"
OTHER = "relax.transform.DeadCodeElimination"


def works() -> bool:
    """Whether the wrapper, bound before any fix went in, is right on the probe."""
    return is_well_formed(AllocateWorkspace()(probe()))


def registered_works() -> bool:
    return is_well_formed(tvm_ffi.get_global_func(REGISTERED)()(probe()))


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    before = _ffi_api.AllocateWorkspace
    yield
    assert _ffi_api.AllocateWorkspace is before
    assert not works() and not registered_works()


@pytest.fixture
def other(monkeypatch: pytest.MonkeyPatch) -> str:
    """A second fix, on the same place as the first and on another one."""
    module = types.ModuleType("other_fix")
    fix = dataclasses.replace(
        fixes.get(NAME),
        name="other",
        module="other_fix",
        targets=(*fixes.get(NAME).targets, GlobalFunction(OTHER)),
    )
    module.FIX = fix  # type: ignore[attr-defined]
    module.replacement = lambda stock: lambda *args: ("other", stock)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "other_fix", module)
    monkeypatch.setitem(importlib.import_module("fixes.registry")._MODULES, "other", "other_fix")
    return "other"


def test_earlier_bound_import_gets_it_and_gives_it_back() -> None:
    assert not works()
    with applied(NAME) as fix:
        assert fix.used == 0
        assert works()
        assert fix.used == 1
        assert registered_works()
        assert fix.counts == {NAME: 2}
    assert not works()
    assert fix.used == 2, "the count stays readable, and stands still"


def test_cpp_sees_it_too() -> None:
    with applied(NAME):
        made = tvm_ffi.get_global_func(REGISTERED)()
    assert is_well_formed(made(probe())), "a pass that was made inside stays fixed"


def test_exception_restores() -> None:
    with pytest.raises(KeyError), applied(NAME):
        raise KeyError
    assert not works()


def test_decorator() -> None:
    @applied(NAME)
    def run(depth: int) -> bool:
        """A docstring."""
        return works() and (depth == 0 or run(depth - 1)) and works()

    assert run(2) and run(0)
    assert run.__doc__ == "A docstring."
    assert not works()


def test_same_fix_nested() -> None:
    with applied(NAME) as outer:
        with applied([NAME]) as inner:
            assert works()
        assert works()
        assert (outer.used, inner.used) == (2, 1)


def test_left_in_another_order() -> None:
    first, second = applied(NAME), applied(NAME)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert works()
    second.__exit__(None, None, None)
    assert not works()


def test_different_fixes_nested(other: str) -> None:
    with applied(NAME) as outer:
        with applied(other) as inner:
            word, stock = AllocateWorkspace()
            assert word == "other"
            assert not is_well_formed(stock()(probe())), "a fix is given TVM's own function"
            assert tvm_ffi.get_global_func(OTHER)()[0] == "other"
        assert works()
        assert (outer.used, inner.used) == (1, 2)
    with applied([other, NAME]) as both:
        assert works()
        assert both.counts == {"other": 0, NAME: 1}


def test_nothing_to_patch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(_ffi_api, "AllocateWorkspace")
    with pytest.raises(fixes.FixNotApplied, match=r"this TVM lacks tvm\.relax\.transform\._ffi"):
        applied(NAME).__enter__()
    assert fixes.state(NAME) is FixState.NOT_APPLICABLE
    monkeypatch.undo()


def test_half_of_it_to_patch_changes_nothing(other: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = sys.modules["other_fix"]
    missing = GlobalFunction("relax.transform.NoSuchPass")
    module.FIX = dataclasses.replace(module.FIX, targets=(*module.FIX.targets, missing))
    with pytest.raises(fixes.FixNotApplied, match="lacks the global function relax"):
        applied([NAME, other]).__enter__()
    assert not works()


def test_unknown_name() -> None:
    with pytest.raises(fixes.UnknownFix, match="did you mean 'allocate_workspace'"):
        applied("alocate_workspace")
    with pytest.raises(fixes.UnknownFix, match=r"there is: .*allocate_workspace"):
        fixes.get("zzz")
    assert "zzz" not in fixes.REGISTRY


def test_missing_module_is_not_applied() -> None:
    with pytest.raises(fixes.FixNotApplied):
        Attribute("tvm.no_such_module", "x").read()


def test_state(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fixes.state(NAME) is FixState.NEEDED
    with applied(NAME):
        assert fixes.state(NAME) is FixState.NEEDED, "asks TVM itself, not what is installed"
    monkeypatch.setattr(tvm, "__version__", "0.99.0")
    assert fixes.state(NAME) is FixState.UNVERIFIED
    monkeypatch.undo()


def test_state_once_upstream_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    right = importlib.import_module("fixes.allocate_workspace").replacement(None)
    monkeypatch.setattr(_ffi_api, "AllocateWorkspace", right)
    assert fixes.state(NAME) is FixState.NOT_NEEDED
    monkeypatch.undo()


def test_registry() -> None:
    assert NAME in fixes.names() == tuple(sorted(fixes.REGISTRY))
    fix = fixes.REGISTRY[NAME]
    assert (fix.name, fix.issue) == (NAME, "apache/tvm#20479")
    assert fix.replaces == "tvm.relax.transform.AllocateWorkspace"
    assert tvm.__version__ in fix.verified_on


def test_listing_imports_no_tvm() -> None:
    code = (
        "import sys, fixes; fixes.names(); fixes.get('allocate_workspace');"
        "assert not {'tvm', 'harness'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
