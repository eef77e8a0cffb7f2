"""What changed from one run to the next, case by case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from harness.compat import canonical
from harness.report.results import Results, verdict_of
from harness.verdict.normalise import normalise
from harness.verdict.word import Verdict


class Kind(str, Enum):
    """What became of a case, the most urgent first."""

    NEWLY_FAILING = "newly failing"
    FIXED = "fixed upstream"
    DRIFTED = "drifted"
    UNRUNNABLE = "unrunnable"
    VOID = "not judged"
    MISSING = "missing"
    SKIPPED = "no longer run"
    NEW = "new"
    RENAMED = "renamed"
    TURNED = "turned, as its case says"
    MOVED = "fails otherwise, as its case allows"
    RECOVERED = "as expected again"
    SAME = "same"

    @property
    def meaning(self) -> str:
        """For the person who has to do something about it."""
        return _MEANING[self]


_MEANING = {
    Kind.NEWLY_FAILING: "right before, or as its case says, and no longer: look first",
    Kind.FIXED: "ok where a failure was expected: bless the case, retire its fix",
    Kind.DRIFTED: "fails in another way than before: look, then bless",
    Kind.UNRUNNABLE: "does not load any more: port the case",
    Kind.VOID: "the run failed there, and says nothing of it",
    Kind.MISSING: "had a result, has none: renamed, removed, or the run broke off",
    Kind.SKIPPED: "is skipped now: a package or a release is not what it was",
    Kind.NEW: "has its first result",
    Kind.RENAMED: "the same failure under names that TVM has changed: bless it",
    Kind.TURNED: "right where it was wrong, or wrong where it was right, and its case says so",
    Kind.MOVED: "still meets its case, by a failure that is another than before",
    Kind.RECOVERED: "differed before",
    Kind.SAME: "nothing changed",
}


@dataclass(frozen=True, slots=True)
class Change:
    """A case in two runs.

    Attributes
    ----------
    case : str
        Its id.
    kind : Kind
    old, new : mapping or None
        Its lines in the two results files; None where it has none.
    """

    case: str
    kind: Kind
    old: Mapping[str, Any] | None
    new: Mapping[str, Any] | None

    @property
    def needs_person(self) -> bool:
        """Whether somebody has to look; a new case only when it is not as it says."""
        if self.kind is Kind.NEW:
            return self.new is not None and not verdict_of(self.new).passes
        return self.kind in _URGENT

    @property
    def signature(self) -> str:
        """Of the first failure in the new run; "" when nothing failed."""
        return next(iter(signatures(self.new or {}).values()), "")


_URGENT = (
    *(Kind.NEWLY_FAILING, Kind.FIXED, Kind.DRIFTED, Kind.UNRUNNABLE, Kind.VOID, Kind.MISSING),
    Kind.SKIPPED,
)


def changes(old: Results, new: Results) -> list[Change]:
    """One change for every case of either run, the most urgent first, then by signature and id."""
    found = [
        Change(
            id, _kind(old.cases.get(id), new.cases.get(id)), old.cases.get(id), new.cases.get(id)
        )
        for id in {**old.cases, **new.cases}
    ]
    order = list(Kind)
    return sorted(found, key=lambda one: (order.index(one.kind), one.signature, one.case))


def _kind(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> Kind:
    if new is None:
        return Kind.MISSING
    if old is None:
        return Kind.NEW
    was, verdict = verdict_of(old), verdict_of(new)
    if verdict is Verdict.INFRA:
        return Kind.VOID
    alike = _failures(old) == _failures(new)
    if verdict.passes:
        return _passing(was, verdict, alike)
    if verdict is was:
        return Kind.SAME if alike else Kind.DRIFTED
    match verdict:
        case Verdict.FIXED_UPSTREAM:
            return Kind.FIXED
        case Verdict.UNRUNNABLE:
            return Kind.UNRUNNABLE
        case Verdict.DRIFTED:
            return Kind.RENAMED if alike and signatures(new) else Kind.DRIFTED
        case _:
            return Kind.NEWLY_FAILING


def _passing(was: Verdict, verdict: Verdict, alike: bool) -> Kind:
    if verdict is Verdict.SKIPPED:
        return Kind.SAME if was is verdict else Kind.SKIPPED
    if was is Verdict.SKIPPED:
        return Kind.NEW
    if not was.passes:
        return Kind.RECOVERED
    if alike:
        return Kind.SAME
    return Kind.MOVED if verdict is was else Kind.TURNED


def signatures(case: Mapping[str, Any]) -> dict[str, str]:
    """The signature of every arm that failed, of the case and its contrasts, by its name."""
    arms = _arms(case)
    return {name: arm["signature"] for name, arm in arms if isinstance(arm.get("signature"), str)}


def _failures(case: Mapping[str, Any]) -> dict[str, list[tuple[str, ...]]]:
    """What failed in every arm, stage by stage, without what varies.

    Names are those of today, so two releases that only call things differently agree.
    """
    return {
        name: [(str(arm.get("signature")),), *(_failure(stage) for stage in _failed(arm))]
        for name, arm in _arms(case)
        if _failed(arm)
    }


def _failed(arm: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [
        stage
        for stage in map(_mapping, _list(arm.get("stages")))
        if stage.get("message") is not None
    ]


def _failure(stage: Mapping[str, Any]) -> tuple[str, ...]:
    names = (canonical(str(stage.get(key))) for key in ("stage", "at", "error"))
    plain = (str(stage.get(key)) for key in ("outcome", "signal", "code"))
    return (*names, *plain, normalise(str(stage.get("message"))))


def _arms(judged: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, arm in _mapping(judged.get("arms")).items():
        yield f"{prefix}{name}", _mapping(arm)
    for title, contrast in _mapping(judged.get("contrasts")).items():
        yield from _arms(_mapping(contrast), f"{title} - ")


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
