"""What a fix says about itself."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol


class FixError(Exception):
    """Something is wrong with a fix itself, not with the code it is meant for."""


class UnknownFix(FixError, LookupError):
    """No fix has that name."""


class FixNotApplied(FixError, RuntimeError):
    """The installed TVM has nothing where the fix would go in."""


class Target(Protocol):
    """A place below TVM's Python wrappers where a fix goes in."""

    def read(self) -> Callable[..., Any]:
        """What stands there now; raises `FixNotApplied` when there is no such place."""

    def write(self, function: Callable[..., Any]) -> None:
        """Put something else there."""


@dataclass(frozen=True)
class Fix:
    """A fix, as the registry lists it.

    Attributes
    ----------
    name
        What `applied` takes.
    issue
        The public report, ``owner/repo#number``.
    title
        The bug in one line.
    replaces
        The function that users call, dotted.
    targets
        The places below it that are replaced, all of them or none.
    verified_on
        TVM releases on which the fix was tried.
    module
        The module that holds ``replacement(stock)`` and ``still_wrong(stock)``.
    """

    name: str
    issue: str
    title: str
    replaces: str
    targets: tuple[Target, ...]
    verified_on: tuple[str, ...]
    module: str


class FixState(enum.Enum):
    """How a fix stands to the installed TVM."""

    NEEDED = "needed"
    NOT_NEEDED = "upstream no longer needs it"
    NOT_APPLICABLE = "nothing to patch"
    UNVERIFIED = "needed, but not verified on this release"
