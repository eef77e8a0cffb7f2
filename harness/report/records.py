"""What the line of a case in a results file says, typed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.verdict.word import Verdict


class _Part(BaseModel):
    """Part of a results file. Keys that are not known here are those of a later release."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class StageRecord(_Part):
    """A stage of an arm; `frames` innermost first."""

    stage: str
    outcome: str
    at: str | None = None
    error: str | None = None
    message: str | None = None
    signal: str | None = None
    code: int | None = None
    seconds: float = 0.0
    frames: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether the stage was reached and went wrong."""
        return self.outcome not in ("ok", "not reached", "not applicable", "skipped")

    @property
    def brief(self) -> str:
        """What went wrong, in a word or two: ``ValueError``, ``SIGSEGV``, ``hang``."""
        if self.code is not None:
            return f"{self.outcome} {self.code}"
        return self.error or self.signal or self.outcome


class DifferenceRecord(_Part):
    """What was expected of a stage, and what was seen, in a case's words."""

    stage: str
    expected: str
    seen: str


class FixRecord(_Part):
    """What installing a fix did."""

    name: str
    applied: bool
    used: int = 0
    detail: str = ""


class ArmRecord(_Part):
    """An arm of a case."""

    stages: tuple[StageRecord, ...] = ()
    signature: str | None = None
    expected: dict[str, str] = Field(default_factory=dict)
    differences: tuple[DifferenceRecord, ...] = ()
    runs: int = 1
    globals: tuple[str, ...] | None = None
    fix: FixRecord | None = None
    stdout: str = ""
    stderr: str = ""

    @property
    def telling(self) -> StageRecord | None:
        """The first stage that failed, if one did."""
        return next((stage for stage in self.stages if stage.failed), None)

    @property
    def brief(self) -> str:
        """``ok``, or the first stage that failed and how."""
        telling = self.telling
        return "ok" if telling is None else f"{telling.stage}: {telling.brief}"


class JudgementRecord(_Part):
    """What a case, or one of its contrasts, came to."""

    verdict: Verdict
    reason: str = ""
    arms: dict[str, ArmRecord] = Field(default_factory=dict)


class Record(JudgementRecord):
    """The line of a case."""

    case: str
    seconds: float = 0.0
    contrasts: dict[str, JudgementRecord] = Field(default_factory=dict)


def record_of(case: Mapping[str, Any]) -> Record:
    """The line of a case, checked. What cannot be understood loses its details, not its verdict."""
    try:
        return Record.model_validate(case)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
    where = ".".join(map(str, first["loc"]))
    reason = f"its line cannot be read: {where}: {first['msg']}"
    return Record(case=str(case["case"]), verdict=Verdict(case["verdict"]), reason=reason)
