"""What changed from one run to the next, case by case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from harness.compat import canonical
from harness.report.records import ArmRecord, Record, StageRecord
from harness.report.results import Results
from harness.verdict.normalise import normalise
from harness.verdict.word import INFRA, Verdict


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
    old, new : Record or None
        Its lines in the two results files; None where it has none.
    """

    case: str
    kind: Kind
    old: Record | None
    new: Record | None

    @property
    def needs_person(self) -> bool:
        """Whether somebody has to look; a new case only when it is not as it says."""
        if self.kind is Kind.NEW:
            return self.new is not None and not self.new.verdict.passes
        return self.kind in _URGENT

    @property
    def signature(self) -> str:
        """Of the first failure in the new run; "" when nothing failed."""
        return next(iter(signatures(self.new).values()), "") if self.new else ""


_URGENT = (
    *(Kind.NEWLY_FAILING, Kind.FIXED, Kind.DRIFTED, Kind.UNRUNNABLE, Kind.VOID, Kind.MISSING),
    Kind.SKIPPED,
)


def changes(old: Results, new: Results) -> list[Change]:
    """One change for every case of either run, the most urgent first, then by signature and id."""
    pairs = {id: (old.records.get(id), new.records.get(id)) for id in {**old.cases, **new.cases}}
    found = [Change(id, _kind(*pair), *pair) for id, pair in pairs.items()]
    order = list(Kind)
    return sorted(found, key=lambda one: (order.index(one.kind), one.signature, one.case))


def _kind(old: Record | None, new: Record | None) -> Kind:
    if new is None:
        return Kind.MISSING
    if old is None:
        return Kind.NEW
    was, verdict = old.verdict, new.verdict
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


def signatures(case: Record) -> dict[str, str]:
    """The signature of every arm that failed, of the case and its contrasts, by its name."""
    return {name: arm.signature for name, arm in _arms(case) if arm.signature is not None}


def _failures(case: Record) -> dict[str, list[tuple[object, ...]]]:
    """What failed in every arm, stage by stage, without what varies.

    Names are those of today, so two releases that only call things differently agree.
    """
    return {
        name: [(arm.signature,), *(_failure(stage) for stage in arm.stages if stage.failed)]
        for name, arm in _arms(case)
        if arm.telling is not None
    }


def _failure(stage: StageRecord) -> tuple[object, ...]:
    names = (canonical(str(one)) for one in (stage.stage, stage.at, stage.error))
    return (*names, stage.outcome, stage.signal, stage.code, normalise(str(stage.message)))


def _arms(case: Record) -> Iterator[tuple[str, ArmRecord]]:
    yield from case.arms.items()
    for title, contrast in case.contrasts.items():
        yield from ((f"{title} - {name}", arm) for name, arm in contrast.arms.items())


def exit_code(found: Sequence[Change]) -> int:
    """0 nothing to do, 1 somebody has to look, 3 some case was not judged."""
    if any(change.kind is Kind.VOID for change in found):
        return INFRA
    return int(any(change.needs_person for change in found))
