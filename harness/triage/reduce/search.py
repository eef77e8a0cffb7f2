"""Makes a program smaller, move by move, until no move makes it smaller."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from harness.triage.reduce.edit import applied, merged
from harness.triage.reduce.moves import Move, Slot
from harness.triage.reduce.oracle import Candidate, Oracle
from harness.triage.reduce.program import Program, weight

# Called with the move, and about how many candidates there are.
Told = Callable[[Move, int], None]


@dataclass(slots=True)
class Search:
    """Goes from a program that meets the goal to smaller ones.

    What it comes to does not depend on how many candidates run at a time: of those that meet the
    goal, the first of a move's own order is taken.

    Attributes
    ----------
    oracle : Oracle
    best : Program
        The smallest that has met the goal so far.
    accepted : callable
        Called with each step.
    told : callable
        Called before each batch of candidates.
    history : list of Program
        Every step, in order.
    """

    oracle: Oracle
    best: Program
    accepted: Callable[[Program], None] = lambda _: None
    told: Told = lambda *_: None
    history: list[Program] = field(default_factory=list)

    def run(self, moves: Sequence[Move]) -> Program:
        """Make every move, again and again, until a whole round of them changes nothing.

        Then the program is 1-minimal: no single change that a move knows keeps the failure.
        """
        while True:
            before = self.best
            for move in moves:
                self._sweep(move)
            if self.best is before:
                return self.best

    def _sweep(self, move: Move) -> None:
        """Make one move wherever it can be made: at all places at once, at halves, …, at one."""
        types = self.oracle.types(self.best) if move.typed else {}
        slots = move.slots(self.best, types)
        size = len(slots) if move.together else min(len(slots), 1)
        while size:
            at = 0
            while at < len(slots):
                self.told(move, (len(slots) - at + size - 1) // size)
                found = self.oracle.first(self._candidates(slots, at, size))
                if found is None:
                    break
                self.take(found.program)
                at, slots = found.place, move.slots(self.best, types)
            size = min(size // 2, len(slots))

    def take(self, program: Program) -> None:
        self.best = program
        self.history.append(program)
        self.accepted(program)

    def _candidates(self, slots: list[Slot], at: int, size: int) -> Iterator[Candidate]:
        """Smaller programs, each with `size` places changed from `at` on."""
        most = weight(self.best)
        for start in range(at, len(slots), size):
            chunk = slots[start : start + size]
            edits = chunk[0] if len(chunk) == 1 else (merged(slot[0] for slot in chunk),)
            for edit in edits:
                program = applied(self.best, edit)
                if program is None or weight(program) >= most or not self._keeps(program):
                    continue
                yield Candidate(start, program)

    def _keeps(self, program: Program) -> bool:
        kept = self.oracle.goal.kept
        return all(program.data.get(key) == self.best.data.get(key) for key in kept)
