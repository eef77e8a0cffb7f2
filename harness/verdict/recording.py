"""The passes of a run as they were recorded: which of them did something, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from harness.run.trace import PassRun
from harness.run.watch import Path

_LISTS = ("sequential", "_pipeline")


@dataclass(frozen=True)
class Recording:
    """The passes of one run, in the order in which they began.

    A pass inside another counts when all that the outer one did is what those inside it did; else
    (FoldConstant builds what it folds) it worked on something of its own.
    """

    runs: tuple[PassRun, ...]

    @cached_property
    def by_path(self) -> dict[Path, PassRun]:
        return {one.path: one for one in self.runs}

    def outer(self, one: PassRun) -> tuple[PassRun, ...]:
        """The passes around `one`, outermost first."""
        return tuple(
            self.by_path[one.path[:end]]
            for end in range(2, len(one.path))
            if one.path[:end] in self.by_path
        )

    def title(self, one: PassRun) -> str:
        """The name of a pass, and of those around it that are more than a list of passes."""
        around = [outer.name for outer in self.outer(one) if outer.name not in _LISTS]
        return " in ".join([one.name, *around[::-1]])

    @cached_property
    def leaves(self) -> tuple[PassRun, ...]:
        """The passes that took the module on from one to the next, and contain none that did."""
        return tuple(
            one
            for one in self.runs
            if all(map(self.is_open, self.outer(one))) and not self.is_open(one)
        )

    @cached_property
    def changing(self) -> tuple[PassRun, ...]:
        """Those leaves that changed the module."""
        return tuple(one for one in self.leaves if one.looked and one.looked.changed)

    @cached_property
    def first_changing(self) -> tuple[PassRun, ...]:
        """Of those that changed the module the first of each name."""
        return tuple({_own_name(one): one for one in reversed(self.changing)}.values())[::-1]

    def namesakes(self, one: PassRun) -> tuple[Path, ...]:
        """Where `one` stands, and then where the other leaves of the same name do."""
        others = (other.path for other in self.leaves if _own_name(other) == _own_name(one))
        return tuple(dict.fromkeys((one.path, *others)))

    @cached_property
    def unfinished(self) -> PassRun | None:
        """The innermost pass that the last step did not come out of."""
        last = max((one.path[0] for one in self.runs), default=-1)
        stuck = [
            one
            for one in self.runs
            if not one.finished
            and one.path[0] == last
            # What an outer pass has survived is over.
            and not any(outer.finished for outer in self.outer(one))
        ]
        return max(stuck, key=lambda one: len(one.path), default=None)

    @cached_property
    def out_of_sight(self) -> PassRun | None:
        """The pass whose result could not be looked at: comparing or checking it went wrong."""
        return next((one for one in self.runs if one.finished and one.looked is None), None)

    @cached_property
    def ill_formed(self) -> tuple[PassRun, ...]:
        """Leaves that left an ill-formed module, which the passes around them left so."""
        return tuple(
            one
            for one in self.changing
            if _is_ill_formed(one)
            and all(_is_ill_formed(outer) or not outer.finished for outer in self.outer(one))
        )

    def is_open(self, one: PassRun) -> bool:
        """Whether `one` did nothing but run those inside it, as far as it came."""
        if not one.finished:
            return one is not self.unfinished
        if one.looked is not None:
            return one.looked.container
        return (*one.path, 0) in self.by_path  # nobody looked: it may well be so


def merged(plain: Sequence[PassRun], looked: Sequence[PassRun]) -> Recording:
    """Two recordings of the same run: the times of the first, what was looked at in the second."""
    seen = {(one.path, one.name): one.looked for one in looked}
    return Recording(tuple(replace(one, looked=seen.get((one.path, one.name))) for one in plain))


def _own_name(one: PassRun) -> str:
    """``StmtSimplify``, as the case's own passes and those of a pipeline are called alike."""
    return one.name.rpartition(".")[2]


def _is_ill_formed(one: PassRun) -> bool:
    return one.looked is not None and one.looked.ill_formed is not None
