"""One arm, all its repeats, against what the case expects of it: the facts a verdict rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.case import ArmExpect, OneOf
from harness.run.trace import NAMES, ArmTrace, Stage, Stopped
from harness.verdict.expectation import Difference, differences, expects_failure
from harness.verdict.outcome import Error, NotReached, Ok, StageResult, stages
from harness.verdict.signature import NoFailure, Signature, signature, signatures


@dataclass(frozen=True, slots=True)
class Run:
    """One repeat of an arm."""

    trace: ArmTrace
    stages: tuple[StageResult, ...]
    differences: tuple[Difference, ...]

    @property
    def failed(self) -> bool:
        return any(result.failed for result in self.stages)

    def outcome_of(self, stage: Stage) -> StageResult:
        return next(result for result in self.stages if result.stage is stage)


@dataclass(frozen=True, slots=True)
class ArmJudgement:
    """An arm held against its expectation.

    `stages`, `differences`, `signature` and `trace` are those of the repeat that tells most: the
    first that is not as expected, else the first in which something failed, else the first.
    """

    arm: str
    expect: ArmExpect
    runs: tuple[Run, ...]

    @property
    def telling(self) -> Run:
        unmet = (run for run in self.runs if run.differences)
        failed = (run for run in self.runs if run.failed)
        return next(unmet, None) or next(failed, None) or self.runs[0]

    @property
    def stages(self) -> tuple[StageResult, ...]:
        return self.telling.stages

    @property
    def differences(self) -> tuple[Difference, ...]:
        return self.telling.differences

    @property
    def signature(self) -> Signature | NoFailure:
        return signature(self.stages)

    @property
    def trace(self) -> ArmTrace:
        return self.telling.trace

    @property
    def as_expected(self) -> bool:
        return not any(run.differences for run in self.runs)

    @property
    def failed(self) -> bool:
        """Whether anything failed in any repeat."""
        return any(run.failed for run in self.runs)

    @property
    def lost(self) -> bool:
        return any(run.trace.end.stopped is Stopped.LOST for run in self.runs)

    @property
    def expects_failure(self) -> bool:
        return any(expects_failure(pattern) for pattern in self.expect.stages.values())

    @property
    def disagrees(self) -> bool:
        """Whether repeats differ in a stage of which the case does not say that it varies."""
        kinds = {
            ("as expected" if not run.differences else "fails" if run.failed else "ok")
            for run in self.runs
        }
        return len(kinds) > 1 and any(
            not isinstance(self.expect.stages.get(difference.stage.value), OneOf)
            for run in self.runs
            for difference in run.differences
        )

    @property
    def refused_to_load(self) -> bool:
        """Whether the case raised while loading, and was not expected to fail there at all.

        A name that this TVM does not have is never what a case is about.
        """
        if any(run.outcome_of(Stage.LOAD).at == NAMES for run in self.runs):
            return True
        pattern = self.expect.stages.get(Stage.LOAD.value)
        if pattern is not None and expects_failure(pattern):
            return False
        return any(isinstance(run.outcome_of(Stage.LOAD).outcome, Error) for run in self.runs)

    @property
    def right_where_failure_was_expected(self) -> bool:
        """Whether all was ok in every repeat, in the stages that should fail above all.

        A stage that had nothing to do, or was left out, has not been seen to be right.
        """
        expected = {
            Stage(name) for name, pattern in self.expect.stages.items() if expects_failure(pattern)
        }
        outcomes = [result.outcome for run in self.runs for result in run.stages]
        if self.failed or NotReached() in outcomes or not expected:
            return False
        return all(run.outcome_of(stage).outcome == Ok() for run in self.runs for stage in expected)

    def signatures(self) -> frozenset[Signature]:
        """Signatures of everything that failed in any repeat."""
        return frozenset(one for run in self.runs for one in signatures(run.stages))


def hold(arm: str, expect: ArmExpect, traces: Sequence[ArmTrace]) -> ArmJudgement:
    """Hold the repeats of an arm, at least one, against `expect`."""
    return ArmJudgement(arm, expect, tuple(_run(expect, trace) for trace in traces))


def _run(expect: ArmExpect, trace: ArmTrace) -> Run:
    seen = stages(trace)
    return Run(trace, seen, differences(expect, seen))
