"""Asks real TVM of candidates whether the failure is still there, several at a time."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from harness.case import Case, CaseFileError, ModuleText, parse_case
from harness.case.writing import written
from harness.run.lane import Job
from harness.run.pool import Pool
from harness.run.watch import Watch
from harness.triage.reduce.goal import Goal
from harness.triage.reduce.program import Data, Program
from harness.triage.reduce.values import Types, types_of
from harness.verdict.outcome import StageResult, stages

_HALT = Watch(halt=True)
# The module as given is the IR before the first pass, whatever that is.
_ANY_PASS, _SHOW = "relax.transform.AttachGlobalSymbol", Watch(show=(0, 0))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A program, and the place in its move that it comes from."""

    place: int
    program: Program


@dataclass(slots=True)
class Oracle:
    """Runs candidates of one case.

    Attributes
    ----------
    case : Case
        Gives candidates all that reducing does not touch.
    pool : Pool
    goal : Goal
    told : callable
        Called behind each call.
    calls, seconds : int, float
        How many candidates were run, and the time that took.
    known : dict of str to bool
        Candidates that were run, by key, and whether they met the goal.
    seen : dict of str to tuple of StageResult
        What was seen of those that did.
    """

    case: Case
    pool: Pool
    goal: Goal
    told: Callable[[], None] = lambda: None
    calls: int = 0
    seconds: float = 0.0
    known: dict[str, bool] = field(default_factory=dict)
    seen: dict[str, tuple[StageResult, ...]] = field(default_factory=dict)
    _cases: dict[str, Case | None] = field(default_factory=dict)
    _types: dict[str, Types] = field(default_factory=dict)

    def first(self, candidates: Iterable[Candidate]) -> Candidate | None:
        """The first candidate that meets the goal, in their order, however many run at a time.

        Those behind it may be run as well, on the chance that it does not.
        """
        rest = iter(candidates)
        while True:
            race = self._run(_Race(self, rest))
            winner = race.winner
            if winner is None or self._controls_hold(winner.program):
                return winner
            self.known[winner.program.key] = False
            rest = chain(race.behind(winner), rest)

    def _run(self, race: _Race) -> _Race:
        started = time.monotonic()
        outcomes = self.pool.run(race.jobs())
        try:
            for job, trace in outcomes:
                race.take(job, stages(trace))
                if race.decided:
                    break
        finally:
            outcomes.close()
            self.seconds += time.monotonic() - started
        return race

    def _controls_hold(self, program: Program) -> bool:
        """Whether nothing fails in the siblings: they are run only of what fails as it should."""
        if not self.goal.controls:
            return True
        cases = [(self.as_case(one.program(program)), one.arm) for one in self.goal.controls]
        jobs = [Job(case, arm, _HALT) for case, arm in cases if case is not None]
        seen = [stages(trace) for _, trace in self.pool.run([jobs])]
        return len(seen) == len(cases) and not any(one.failed for arm in seen for one in arm)

    def observe(self, program: Program) -> tuple[StageResult, ...] | None:
        """What one candidate does, stage by stage; None when it is no case."""
        case = self.as_case(program)
        if case is None:
            return None
        return next(stages(trace) for _, trace in self.pool.run([[Job(case, "stock")]]))

    def types(self, program: Program) -> Types:
        """Types of all names, as TVM tells them when it prints the module; those written else."""
        if program.module not in self._types:
            text = self.printed(program)
            self._types[program.module] = {**types_of(text), **types_of(program.module)}
        return self._types[program.module]

    def printed(self, program: Program) -> str:
        """The module as TVM prints it; "" when it cannot."""
        data = {key: value for key, value in program.data.items() if key == "module"}
        case = self.as_case(Program(program.module, {**data, "passes": [_ANY_PASS]}))
        if case is None:
            return ""
        for _, trace in self.pool.run([[Job(case, "stock", _SHOW)]]):
            return trace.ir[0] if trace.ir else ""
        return ""

    def as_case(self, program: Program) -> Case | None:
        """The candidate as a case; None when the keys do not make one."""
        text = json.dumps(program.data, sort_keys=True)
        if text not in self._cases:
            self._cases[text] = self._read(program.data)
        case = self._cases[text]
        if case is None or not program.module:
            return case
        return case.model_copy(update={"module": ModuleText(text=program.module)})

    def _read(self, data: Data) -> Case | None:
        keys: dict[str, Any] = {"module": "pass\n", **data, "title": "candidate", "expect": "ok"}
        if self.case.fix:
            keys["fix"] = self.case.fix
        try:
            case = parse_case(written(keys), self.case.path)
        except CaseFileError:
            return None
        limits = self.case.limits.model_copy(update={"seconds": self.goal.seconds})
        return case.model_copy(update={"limits": limits, "requires": self.case.requires})


class _Race:
    """Candidates on their way through the pool."""

    def __init__(self, oracle: Oracle, candidates: Iterator[Candidate]) -> None:
        self._oracle = oracle
        self._candidates = candidates
        self._drawn: list[Candidate] = []
        self._running: dict[int, int] = {}  # identity of a job -> number of its candidate
        self._won: int | None = None

    @property
    def winner(self) -> Candidate | None:
        return None if self._won is None else self._drawn[self._won]

    @property
    def decided(self) -> bool:
        """Whether none that is still running stands in front of the first that did it."""
        return self._won is not None and all(one > self._won for one in self._running.values())

    def behind(self, winner: Candidate) -> list[Candidate]:
        """What was drawn behind the winner, run or not."""
        return self._drawn[self._drawn.index(winner) + 1 :]

    def jobs(self) -> Iterator[list[Job]]:
        """What to run next, until a candidate has met the goal."""
        while self._won is None and (candidate := next(self._candidates, None)) is not None:
            number, key = len(self._drawn), candidate.program.key
            self._drawn.append(candidate)
            if key in self._oracle.known:
                if self._oracle.known[key]:
                    self._win(number)
                continue
            case = self._oracle.as_case(candidate.program)
            if case is not None:
                job = Job(case, "stock", _HALT)
                self._running[id(job)] = number
                yield [job]

    def take(self, job: Job, seen: tuple[StageResult, ...]) -> None:
        number = self._running.pop(id(job))
        oracle, key = self._oracle, self._drawn[number].program.key
        oracle.calls += 1
        oracle.known[key] = oracle.goal.met(seen)
        if oracle.known[key]:
            oracle.seen[key] = seen
            self._win(number)
        oracle.told()

    def _win(self, number: int) -> None:
        if self._won is None or number < self._won:
            self._won = number
