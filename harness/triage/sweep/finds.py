"""What a sweep found: outcomes grouped by signature, those that the corpus has told apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from harness import campaign
from harness.case import Case, ModuleText
from harness.report.records import JudgementRecord
from harness.report.results import read_results
from harness.run.pool import Pool
from harness.run.trace import Stage
from harness.triage.sweep.probes import Outcome
from harness.verdict.judge import Judgement
from harness.verdict.outcome import Crash, Error, Exit, Hang, Mismatch, Oom, StageResult
from harness.verdict.signature import signatures

_IMPURE = "set relax.force_pure to true"
_PRINTED = re.compile(r"\S+\(…\)")
# A wrong number says nothing of the bug: then the pass has to be the same as well.
Known = frozenset[tuple[str, ...]]


class Kind(str, Enum):
    """What is wrong, the worst first."""

    CRASH = "crash"
    WRONG = "other numbers"
    HANG = "hang or memory"
    ILL_FORMED = "ill-formed"
    EXCEPTION = "exception"
    LATER = "refused later"
    IMPURE = "impure"

    @property
    def is_fault(self) -> bool:
        """Whether it is one whatever the pass is meant for."""
        return self not in (Kind.LATER, Kind.IMPURE)

    @property
    def means(self) -> str:
        return {
            Kind.CRASH: "the process dies",
            Kind.WRONG: "the calls return something else than for the input",
            Kind.HANG: "time or memory runs out",
            Kind.ILL_FORMED: "a well-formed module becomes an ill-formed one",
            Kind.EXCEPTION: "the pass raises",
            Kind.IMPURE: "the output is meant for RemovePurityChecking, which did not come before",
            Kind.LATER: "the output is well-formed, and the build, the VM or the call raises",
        }[self]


@dataclass(slots=True)
class Find:
    """Outcomes with one signature."""

    kind: Kind
    signature: str
    known: bool
    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def counts(self) -> bool:
        """Whether somebody has to look."""
        return self.kind.is_fault and not self.known

    @property
    def smallest(self) -> Outcome:
        """The outcome on the shortest text, alone before behind LegalizeOps; no builder if any."""
        return min(self.outcomes, key=_size)

    @property
    def passes(self) -> list[str]:
        return sorted({one.probe.name.rpartition(".")[2] for one in self.outcomes})

    @property
    def inputs(self) -> list[str]:
        return sorted({one.probe.case.id for one in self.outcomes})


def grouped(outcomes: Iterable[Outcome], known: Known) -> list[Find]:
    """One find for each signature, new ones first, the worst first."""
    found: dict[tuple[str, ...], Find] = {}
    for outcome in outcomes:
        first = next(one for one in outcome.stages if one.failed)
        text = str(signatures(outcome.stages)[0])
        key = _key(text, outcome.probe.name)
        own = "mismatch on", outcome.probe.case.id
        if key[0] == "mismatch" and own in known:
            key = own  # the pass may but show what is known of this input
        if key not in found:
            found[key] = Find(_kind(first), text, key in known)
        found[key].outcomes.append(outcome)
    order = list(Kind)
    return sorted(found.values(), key=lambda one: (one.known, order.index(one.kind), one.signature))


def known_of(cases: Sequence[Case], pool: Pool) -> Known:
    """The failures that the stock arms of cases and their contrasts show now."""
    options = campaign.Options(arms=("stock",))
    return frozenset(
        key
        for report in campaign.run_cases(cases, options, pool)
        for variant, judgement in _judged(report)
        for arm in judgement.arms.values()
        for one in arm.signatures()
        for spec in _names(variant)
        for key in _keys(str(one), spec, report.case.id)
    )


def known_in(file: Path, cases: Sequence[Case]) -> Known:
    """The failures of the stock arms in a results file; `cases` say by which passes.

    Raises
    ------
    ResultsError
        When it cannot be read, or is no results file.
    """
    variants = {one.id: one for case in cases for one in campaign.variants(case)}
    found: set[tuple[str, ...]] = set()
    for line in read_results([file]).records.values():
        parts: dict[str, JudgementRecord] = {line.case: line}
        parts |= {f"{line.case}#{title}": one for title, one in line.contrasts.items()}
        for id, part in parts.items():
            text = part.arms["stock"].signature if "stock" in part.arms else None
            for name in _names(variants[id]) if id in variants else [""]:
                found |= _keys(text, name, line.case) if text else set()
    return frozenset(found)


def _judged(report: campaign.CaseReport) -> Iterator[tuple[Case, Judgement]]:
    yield report.case, report.judgement
    for contrast in report.case.contrasts:
        if contrast.title in report.judgement.contrasts:
            yield contrast.case, report.judgement.contrasts[contrast.title]


def _names(case: Case) -> list[str]:
    return [spec.name for spec in case.passes] or [""]


def _keys(signature: str, name: str, id: str) -> set[tuple[str, ...]]:
    """What is known by a failure of case `id`; of a wrong number, that this input gives one."""
    key = _key(signature, name)
    return {key, ("mismatch on", id)} if key[0] == "mismatch" else {key}


def _key(signature: str, name: str) -> tuple[str, ...]:
    """What makes two failures one find.

    Where something is noticed, in the pass itself or in the build that runs it, does not matter
    when there is a message or a stack; for wrong numbers, and for an ill-formed output, whose
    messages say little, the pass does.
    """
    place, *rest = signature.split(" | ")
    if "mismatch" in rest[:1]:
        return "mismatch", name
    if place.startswith(Stage.WELL_FORMED.value) or len(rest) < 2:
        rest = [place, *rest]
    return tuple(_PRINTED.sub("…", part) for part in rest)


def _kind(first: StageResult) -> Kind:
    match first.outcome:
        case Crash() | Exit():
            return Kind.CRASH
        case Mismatch():
            return Kind.WRONG
        case Hang() | Oom():
            return Kind.HANG
        case Error(message=message) if _IMPURE in message:
            return Kind.IMPURE
        case Error() if first.stage is Stage.WELL_FORMED:
            return Kind.ILL_FORMED
        case Error() if first.stage is Stage.PASS:
            return Kind.EXCEPTION
    return Kind.LATER


def _size(outcome: Outcome) -> tuple[bool, int, bool]:
    module = outcome.probe.case.module
    text = module.text if isinstance(module, ModuleText) else ""
    return not text, len(text), outcome.probe.legalized
