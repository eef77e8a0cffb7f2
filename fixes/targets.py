"""The kinds of places where a fix goes in."""

from __future__ import annotations

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
