"""What every candidate is held against: one failure, and siblings that have to go well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.run.trace import Stage
from harness.triage.reduce.program import Data, Program
from harness.triage.reduce.script import parsed
from harness.verdict.outcome import StageResult
from harness.verdict.signature import Signature, signature

_ORDER = tuple(Stage)
# What a candidate may take, in what the case took; and at least (s).
_PATIENCE, _LEAST, _LEAST_HANG = 20, 10.0, 2.0


@dataclass(frozen=True, slots=True)
class Control:
    """A run of the same module in which nothing may fail.

    Without it any module that gives wrong numbers would do, or any that lacks a text.

    Attributes
    ----------
    told : str
        What it is, for the user.
    arm : str
    keys : dict
        Keys of the case that it has in place of the candidate's; None leaves one out.
    """

    told: str
    keys: Data
    arm: str = "stock"

    def program(self, program: Program) -> Program:
        data = {**program.data, **self.keys}
        return Program(program.module, {k: v for k, v in data.items() if v is not None})


@dataclass(frozen=True, slots=True)
class Goal:
    """The failure to keep.

    Attributes
    ----------
    signature : Signature
    seconds : float
        Time limit of a candidate.
    controls : tuple of Control
    kept : tuple of str
        Keys that may not be reduced.
    """

    signature: Signature
    seconds: float
    controls: tuple[Control, ...] = ()
    kept: tuple[str, ...] = ()

    def met(self, stages: Sequence[StageResult]) -> bool:
        """Whether the first stage that failed did so in just this way."""
        return signature(stages) == self.signature

    def careful(self, program: Program) -> bool:
        """Whether what kernels compute has to stay.

        A kernel that reads or writes what is not its own gives wrong numbers, dies or hangs for a
        reason of its own, also in a pass that runs it (FoldConstant). So where the failure does not
        say that it is TVM's own code that fails, kernels are left alone. Where there are no other
        functions, the case itself gives all that they read.
        """
        one = self.signature
        relaxed = any(each.kind == "relax" for each in parsed(program.module).functions)
        if one.failure == "mismatch":
            return relaxed and one.stage is Stage.RUN
        silent = one.failure == "hang" or one.failure.startswith(("SIG", "exit"))
        if not silent or any(frame.startswith("tvm::") for frame in one.frames):
            return False
        runs_kernels = (Stage.PASS, Stage.BUILD) if relaxed else ()
        return one.stage in (*runs_kernels, Stage.RUN, Stage.EXIT)


def time_limit(stages: Sequence[StageResult], failure: str, limit: float) -> float:
    """Seconds for a candidate: a hang need not be waited for as long as the case does."""
    spent = sum(result.seconds for result in stages)
    if failure == "hang":
        return min(limit, max(_LEAST_HANG, 10 * spent))
    return min(limit, max(_LEAST, _PATIENCE * spent))


def without_what_is_behind(program: Program, goal: Signature) -> list[Program]:
    """The program without the stages behind the failure, which only cost time.

    The first is without all of them; the others are for when that changes what fails.
    """
    place = _ORDER.index(goal.stage)
    data = dict(program.data)
    steps: list[Data] = []
    if place < _ORDER.index(Stage.RUN):
        steps.append({"run": None})
    if goal.at != "after":
        steps.append({"after": None})
    if place < _ORDER.index(Stage.BUILD):
        steps.append({"build": False})
    if place < _ORDER.index(Stage.PASS):
        steps.append({"passes": None})
    found = []
    for count in range(len(steps), 0, -1):
        keys: Data = {**data}
        for step in steps[:count]:
            keys.update(step)
        found.append(Program(program.module, {k: v for k, v in keys.items() if v is not None}))
    return found
