"""The kinds of places where a fix goes in."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fixes.fix import FixNotApplied


@dataclass(frozen=True)
class Attribute:
    """A name in a Python module; also the FFI entries in TVM's ``_ffi_api`` modules."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"

    def read(self) -> Callable[..., Any]:
        try:
            found: Callable[..., Any] = getattr(importlib.import_module(self.module), self.name)
        except (ImportError, AttributeError) as error:
            raise FixNotApplied(f"this TVM lacks {self}") from error
        return found

    def write(self, function: Callable[..., Any]) -> None:
        setattr(importlib.import_module(self.module), self.name, function)


@dataclass(frozen=True)
class GlobalFunction:
    """A function in TVM's global registry, where C++ and late lookups find it."""

    name: str

    def __str__(self) -> str:
        return f"the global function {self.name}"

    def read(self) -> Callable[..., Any]:
        import tvm  # noqa: F401  (fills the registry)
        import tvm_ffi

        found: Callable[..., Any] | None = tvm_ffi.get_global_func(self.name, allow_missing=True)
        if found is None:
            raise FixNotApplied(f"this TVM lacks {self}")
        return found

    def write(self, function: Callable[..., Any]) -> None:
        import tvm_ffi

        tvm_ffi.register_global_func(self.name, function, override=True)


@dataclass(frozen=True)
class OpAttribute:
    """A function that TVM keeps for an operator: how to legalise it, how to infer its type.

    Attributes
    ----------
    op
        The operator, as in ``relax.reshape``.
    keys
        The name of the attribute, and the names other releases have for it.
    """

    op: str
    keys: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.keys[0]} of {self.op}"

    def read(self) -> Callable[..., Any]:
        return self._find()[1]

    def write(self, function: Callable[..., Any]) -> None:
        key, _ = self._find()
        self._op().reset_attr(key)  # a second value of the same level would be refused
        self._op().set_attr(key, function)

    def _op(self) -> Any:
        import tvm
        from tvm import relax  # noqa: F401  (registers what it legalises)

        try:
            return tvm.ir.Op.get(self.op)
        except AttributeError as error:
            raise FixNotApplied(f"this TVM lacks the operator {self.op}") from error

    def _find(self) -> tuple[str, Callable[..., Any]]:
        op = self._op()
        for key in self.keys:
            # TVM raises for a key that no operator has.
            with contextlib.suppress(Exception):
                found = op.get_attr(key)
                if found is not None:
                    return key, found
        raise FixNotApplied(f"this TVM lacks {self}")
