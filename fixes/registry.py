"""The list of fixes. Adding one: a module beside this file, and a line in the table."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterator, Mapping

from fixes.fix import Fix, UnknownFix

_MODULES = {
    "allocate_workspace": "fixes.allocate_workspace",
    "combine_vector_matmul": "fixes.combine_vector_matmul",
    "empty_strided_slice": "fixes.empty_strided_slice",
    "fuse_ops_tuple_access": "fixes.fuse_ops_tuple_access",
    "nan_propagation": "fixes.nan_propagation",
    "reshape_to_shape_variable": "fixes.reshape_to_shape_variable",
}


class _Registry(Mapping[str, Fix]):
    """Names are there at once, a fix is imported when it is asked for."""

    def __getitem__(self, name: str) -> Fix:
        if name not in _MODULES:
            raise UnknownFix(_unknown(name))
        fix: Fix = importlib.import_module(_MODULES[name]).FIX
        return fix

    def __contains__(self, name: object) -> bool:
        return name in _MODULES

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


def _unknown(name: str) -> str:
    close = difflib.get_close_matches(name, _MODULES, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}?" if close else f"there is: {', '.join(sorted(_MODULES))}"
    return f"no fix is called {name!r}; {hint}"


REGISTRY: Mapping[str, Fix] = _Registry()


def get(name: str) -> Fix:
    """The fix of that name.

    Raises
    ------
    UnknownFix
        With the name that was probably meant.
    """
    return REGISTRY[name]


def names() -> tuple[str, ...]:
    """All names, sorted; imports neither TVM nor a fix."""
    return tuple(sorted(REGISTRY))
