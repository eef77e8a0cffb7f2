"""In which order cases run, and on which machine: by what the last run came to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from harness.case import Case, kinds
from harness.report.results import Results, verdict_of

_UNKNOWN = 0.3  # seconds of a case where no run is at hand to tell


@dataclass(frozen=True, slots=True)
class Shard:
    """One of `count` parts of a run; `index` counts from 1."""

    index: int
    count: int


def parse_shard(text: str) -> Shard:
    """``2/4``. Raises ValueError."""
    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise ValueError(f"expected i/n with i from 1 to n, such as 2/4, came {text!r}")
    return Shard(int(found[1]), int(found[2]))


def ordered(cases: Sequence[Case], last: Results | None = None) -> list[Case]:
    """What differed last time first, then the slow ones: news come early, and no core waits."""

    def rank(case: Case) -> tuple[bool, float, str]:
        line = last.cases.get(case.id) if last else None
        differed = line is not None and not verdict_of(line).passes
        return not differed, -times[case.id], case.id

    times = seconds(cases, last)
    return sorted(cases, key=rank)


def part(cases: Sequence[Case], shard: Shard, last: Results | None = None) -> list[Case]:
    """The cases of a shard, in the order in which they are to run.

    Each case goes, the slowest first, to the shard that has least to do so far. All machines that
    know the same cases and the same last run come to the same parts.
    """
    times = seconds(cases, last)
    loads = [0.0] * shard.count
    own: list[Case] = []
    for case in sorted(cases, key=lambda one: (-times[one.id], one.id)):
        least = loads.index(min(loads))
        loads[least] += times[case.id]
        if least == shard.index - 1:
            own.append(case)
    return ordered(own, last)


def seconds(cases: Sequence[Case], last: Results | None = None) -> dict[str, float]:
    """What each case is expected to take, by its id: as last time, or else as most do."""
    told: dict[str, float] = {}
    for id, line in last.cases.items() if last else ():
        took = line.get("seconds")
        if isinstance(took, int | float) and took > 0:
            told[id] = float(took)
    usual = median(told.values()) if told else _UNKNOWN
    return {case.id: told.get(case.id) or _guess(case, usual) for case in cases}


def _guess(case: Case, usual: float) -> float:
    """A case that hangs takes all the time it is given."""
    return case.limits.seconds if "hang" in kinds(case) else usual
