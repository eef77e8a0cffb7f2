"""Traces of real runs as lines of JSON, bounded: what a signature is made of, and no more."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from harness.report.text import cut
from harness.run.trace import ArmTrace, End, Raised, Stage, Step, Stopped


def as_record(trace: ArmTrace) -> dict[str, Any]:
    """The steps that failed and the last one, how the process ended, and what a dying one said."""
    clean = trace.end == End(Stopped.ITSELF, code=0, final=True)
    record: dict[str, Any] = {"steps": [_step(step) for step in _telling(trace)]}
    if not clean:
        record["end"] = {**asdict(trace.end), "stopped": trace.end.stopped.value}
        record["stderr"] = trace.stderr
    return record


def as_trace(record: dict[str, Any]) -> ArmTrace:
    """The trace of a record of `as_record`."""
    end = End(Stopped.ITSELF, code=0, final=True)
    if "end" in record:
        end = End(**{**record["end"], "stopped": Stopped(record["end"]["stopped"])})
    steps = tuple(_as_step(step) for step in record["steps"])
    return ArmTrace("stock", steps, end, stderr=record.get("stderr", ""))


def bounded(trace: ArmTrace, room: int) -> ArmTrace:
    """`trace` with messages and stderr of `room` characters, and the innermost frames."""
    return replace(
        trace,
        steps=tuple(replace(step, raised=_bounded(step.raised, room)) for step in trace.steps),
        stderr=cut(trace.stderr, 2 * room),
    )


def _bounded(raised: Raised | None, room: int) -> Raised | None:
    if raised is None:
        return None
    return Raised(raised.type, cut(raised.message, room), raised.frames[-room // 100 :])


def _telling(trace: ArmTrace) -> tuple[Step, ...]:
    last = len(trace.steps) - 1
    return tuple(
        step
        for number, step in enumerate(trace.steps)
        if step.raised or step.mismatch or number == last
    )


def _step(step: Step) -> dict[str, Any]:
    record: dict[str, Any] = {"stage": step.stage.value, "at": step.at, "finished": step.finished}
    if step.raised is not None:
        record["raised"] = asdict(step.raised)
    if step.mismatch is not None:
        record["mismatch"] = step.mismatch
    return record


def _as_step(record: dict[str, Any]) -> Step:
    raised = record.get("raised")
    return Step(
        Stage(record["stage"]),
        record["at"],
        record["finished"],
        raised and Raised(raised["type"], raised["message"], tuple(raised["frames"])),
        record.get("mismatch"),
    )
