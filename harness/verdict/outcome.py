"""What a trace says of each stage: one outcome a stage, always all eight of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.run.trace import ArmTrace, End, Raised, Stage, Step, Stopped
from harness.verdict.memory import aborted_for_memory, ran_out_of_memory
from harness.verdict.native import abort_reason, first_signal, native_frames


@dataclass(frozen=True, slots=True)
class Ok:
    """The stage finished."""


@dataclass(frozen=True, slots=True)
class Error:
    """An exception: class name, message (may be empty), function names of the traceback."""

    type: str
    message: str = ""
    frames: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Crash:
    """A signal of the process's own doing, by name.

    `reason` is what a library printed before it aborted, `frames` the functions of the native or
    Python stack that was printed, innermost first; both may be empty.
    """

    signal: str
    reason: str = ""
    frames: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Exit:
    """The process ended by itself, with this code, before it had reported."""

    code: int


@dataclass(frozen=True, slots=True)
class Hang:
    """The time limit ran out."""


@dataclass(frozen=True, slots=True)
class Oom:
    """The memory limit ran out; `form` is the shape in which that showed."""

    detail: str
    form: Error | Crash


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A value, or the IR text, is not as expected."""

    message: str


@dataclass(frozen=True, slots=True)
class NotReached:
    """Something in front of the stage failed, so its input is missing."""


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """The module has nothing for this stage to do."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """The case asks for the stage to be left out."""


Failure = Error | Crash | Exit | Hang | Oom | Mismatch
Outcome = Ok | Failure | NotReached | NotApplicable | Skipped

# How the handler of a first signal dies of what it finds, when it does not hang.
_OF_A_HANDLER = ("SIGABRT", "SIGSEGV", "SIGBUS")
_ABSENT: dict[str, Outcome] = {"not applicable": NotApplicable(), "skipped": Skipped()}


@dataclass(frozen=True, slots=True)
class StageResult:
    """One stage of one arm.

    Attributes
    ----------
    stage : Stage
    at : str
        The pass or call that failed; "" when none did, or when the stage has no parts.
    outcome : Outcome
    seconds : float
        Spent in all parts of the stage that finished.
    """

    stage: Stage
    at: str
    outcome: Outcome
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        return isinstance(self.outcome, Failure)


def first_failure(stages: Sequence[StageResult]) -> StageResult | None:
    """The first stage that failed, if one did."""
    return next((result for result in stages if result.failed), None)


def stages(trace: ArmTrace) -> tuple[StageResult, ...]:
    """All eight stages of an arm, in order.

    A stage of several parts (passes, checks, calls) has the outcome of the first part that
    failed. A process that died between two parts, or before its last record, died at `exit`;
    one that died before it said anything died at `load`. When the fork server was lost the
    outcome of what was under way is unknown: not reached.
    """
    seen = {stage: _of_steps(stage, trace) for stage in Stage}
    fault = _fault_at_the_end(trace)
    if fault is not None and not isinstance(seen[fault.stage].outcome, Failure):
        seen[fault.stage] = fault
    if seen[Stage.PASS].failed and not isinstance(seen[Stage.PASS].outcome, Mismatch):
        # Checks and passes take turns: the checks behind the pass that failed were never made.
        checks = seen[Stage.WELL_FORMED]
        if checks.outcome == Ok():
            seen[Stage.WELL_FORMED] = StageResult(checks.stage, "", NotReached(), checks.seconds)
    return tuple(_or_absent(stage, seen, trace) for stage in Stage)


def _of_steps(stage: Stage, trace: ArmTrace) -> StageResult:
    steps = [step for step in trace.steps if step.stage is stage]
    seconds = sum((step.seconds for step in steps), 0.0)
    for step in steps:
        outcome = _of_step(step, trace)
        if outcome != Ok():
            return StageResult(stage, step.at or "", outcome, seconds)
    return StageResult(stage, "", Ok() if steps else NotReached(), seconds)


def _of_step(step: Step, trace: ArmTrace) -> Outcome:
    if not step.finished:
        return _of_end(trace)
    if step.raised is not None:
        return _of_exception(step.raised)
    if step.mismatch is not None:
        return Mismatch(step.mismatch)
    return Ok()


def _of_exception(raised: Raised) -> Outcome:
    error = Error(raised.type, raised.message, raised.frames)
    if ran_out_of_memory(raised):
        return Oom(_first_line(raised.message) or raised.type, error)
    return error


def _of_end(trace: ArmTrace) -> Outcome:
    """What the death of the process means for the step it was in."""
    end = trace.end
    if end.stopped is Stopped.LOST:
        return NotReached()
    met = first_signal(trace.stderr)
    if end.stopped is Stopped.TIME and not met:
        return Hang()
    if end.signal is None:
        return Exit(end.code if end.code is not None else 0)
    second = end.stopped is Stopped.TIME or end.signal in _OF_A_HANDLER
    signal = met if met and second else end.signal
    reason = abort_reason(trace.stderr) if signal == end.signal else ""
    crash = Crash(signal, reason, native_frames(trace.stderr))
    if signal == "SIGKILL":
        return Oom("killed, and not by the time limit", crash)
    if signal == "SIGABRT" and aborted_for_memory(trace.stderr):
        return Oom(reason or "aborted for want of memory", crash)
    return crash


def _fault_at_the_end(trace: ArmTrace) -> StageResult | None:
    """The fault that no step shows: it lies before the first, or behind the last."""
    if trace.end.stopped is Stopped.LOST or _clean(trace.end):
        return None
    if not trace.steps:
        return StageResult(Stage.LOAD, "", _of_end(trace))
    if not trace.steps[-1].finished:
        return None  # told by that step
    return StageResult(Stage.EXIT, "", _of_end(trace))


def _clean(end: End) -> bool:
    return end.stopped is Stopped.ITSELF and end.final and end.code == 0 and end.signal is None


def _or_absent(stage: Stage, seen: dict[Stage, StageResult], trace: ArmTrace) -> StageResult:
    """Why a stage without a step has none."""
    result = seen[stage]
    if result.outcome != NotReached() or any(step.stage is stage for step in trace.steps):
        return result
    if stage in trace.absent:
        return StageResult(stage, "", _ABSENT.get(trace.absent[stage], NotApplicable()))
    if _came_past(stage, trace):
        return StageResult(stage, "", NotApplicable())
    return result


def _came_past(stage: Stage, trace: ArmTrace) -> bool:
    """Whether work went on behind the stage, so that there was nothing to do in it.

    `exit` comes after everything and says nothing; `well_formed` takes turns with `pass`.
    """
    order: Sequence[Stage] = tuple(Stage)
    behind = set(order[order.index(stage) + 1 :]) - {Stage.EXIT}
    if stage is Stage.PASS:
        behind.discard(Stage.WELL_FORMED)
    return any(step.stage in behind for step in trace.steps) or bool(behind & set(trace.absent))


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]
