"""Putting fixes in and taking them out again."""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from fixes.fix import Fix, Target
from fixes.registry import get


@dataclass(eq=False)
class _Layer:
    """One installation of one fix; `used` counts while it lasts."""

    fix: Fix
    used: int = 0


@dataclass
class _Place:
    """A target with what TVM had there, and the layers over it, the topmost last."""

    stock: Callable[..., Any]
    layers: list[_Layer]


_places: dict[Target, _Place] = {}


def stock_of(target: Target) -> Callable[..., Any]:
    """What TVM itself has at a target, whatever is installed over it."""
    place = _places.get(target)
    return place.stock if place else target.read()


def _show(target: Target, place: _Place) -> None:
    """Make the topmost layer the one that is called, or TVM's own when there is none.

    Nothing is kept from one layer in another, so layers may go in any order.
    """
    if not place.layers:
        del _places[target]
        target.write(place.stock)
        return
    fix = place.layers[-1].fix
    function = importlib.import_module(fix.module).replacement(place.stock)

    @functools.wraps(function)
    def counted(*args: Any, **kwargs: Any) -> Any:
        for layer in place.layers:
            if layer.fix.name == fix.name:
                layer.used += 1
        return function(*args, **kwargs)

    target.write(counted)


def _push(target: Target, layer: _Layer) -> None:
    place = _places.get(target) or _Place(target.read(), [])
    _places[target] = place
    place.layers.append(layer)
    _show(target, place)


def _pop(target: Target, layer: _Layer) -> None:
    place = _places[target]
    place.layers.remove(layer)
    _show(target, place)


class applied(contextlib.ContextDecorator):  # lower case: reads as a verb
    """Run TVM with fixes installed: ``with applied("allocate_workspace") as fix: ...``.

    Also a decorator. The fixes go in below TVM's Python wrappers, so names that were imported
    earlier get them too; they hold for the whole process, and leaving restores what was there.

    Parameters
    ----------
    names
        The name of a fix, or several.

    Raises
    ------
    fixes.UnknownFix
        At once, for a name that no fix has.
    fixes.FixNotApplied
        On entering, when this TVM has nothing where the fix would go in; nothing is changed then.
    """

    def __init__(self, names: str | Iterable[str]) -> None:
        self.fixes = tuple(get(name) for name in ([names] if isinstance(names, str) else names))
        self._entered: list[contextlib.ExitStack] = []
        self._layers: list[_Layer] = []

    def __enter__(self) -> applied:
        with contextlib.ExitStack() as undo:
            for fix in self.fixes:
                layer = _Layer(fix)
                for target in fix.targets:
                    _push(target, layer)
                    undo.callback(_pop, target, layer)
                self._layers.append(layer)
            self._entered.append(undo.pop_all())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._entered.pop().close()

    @property
    def counts(self) -> dict[str, int]:
        """How often each fix stood in for TVM's own function, so far."""
        total = {fix.name: 0 for fix in self.fixes}
        for layer in self._layers:
            total[layer.fix.name] += layer.used
        return total

    @property
    def used(self) -> int:
        """How often any of the fixes stood in for TVM's own function, so far."""
        return sum(self.counts.values())
