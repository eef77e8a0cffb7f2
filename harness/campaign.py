"""From cases to reports: plan the jobs, run them, judge what was seen.

The faces (`cli`, `pytest_plugin`) and the triage tools all come through here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path

import fixes
from harness.case import Case, CaseFileError, Problem, load_case, satisfies
from harness.run.host import ServerError
from harness.run.lane import Job
from harness.run.pool import Isolation, Pool
from harness.run.trace import ArmTrace, TvmInfo
from harness.verdict.judge import Judgement, infra, judge, skipped, with_contrasts
from harness.verdict.word import Verdict

CANARIES = Path(__file__).parent / "canaries"


@dataclass(frozen=True, slots=True)
class CaseReport:
    """What a case came to; `seconds` is the sum over its runs."""

    case: Case
    judgement: Judgement
    seconds: float

    @property
    def verdict(self) -> Verdict:
        return self.judgement.verdict


@dataclass(frozen=True, slots=True)
class Options:
    """How to run.

    Attributes
    ----------
    arms : tuple of str
        Which arms to run, of those that a case has.
    jobs : int
        How many cases at a time.
    isolation : {"fork", "spawn"}
    """

    arms: tuple[str, ...] = ("stock", "fixed")
    jobs: int = 1
    isolation: Isolation = "fork"


Traces = dict[str, dict[str, list[ArmTrace]]]  # variant id -> arm -> its repeats


@dataclass(slots=True)
class _Pending:
    """A case of which some runs are still to come."""

    case: Case
    left: int = 0
    traces: Traces = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))


def read_case(path: Path) -> Case:
    """Read a case file, whose fix must be one of ours. Raises CaseFileError."""
    return load_case(path, fixes=fixes.names())


def read_all(paths: Iterable[Path]) -> tuple[list[Case], list[Problem]]:
    """The cases that can be read, and what is wrong with the other files."""
    cases: list[Case] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            cases.append(read_case(path))
        except CaseFileError as error:
            problems += error.problems
    return cases, problems


def variants(case: Case) -> tuple[Case, ...]:
    """The case itself, and its contrasts."""
    return (case, *(contrast.case for contrast in case.contrasts))


def reason_to_skip(case: Case, info: TvmInfo) -> str:
    """Why a case (or contrast) says nothing about this TVM; "" when it does."""
    for key, wanted, have in (("tvm", case.tvm, info.tvm), ("ffi", case.ffi, info.tvm_ffi)):
        if not satisfies(wanted, have):
            return f"{key}: {wanted} rules out {have}"
    missing = [name for name in case.requires if not _importable(name)]
    if missing:
        return f"requires: {', '.join(missing)} cannot be imported"
    if case.expectation(info.tvm, info.tvm_ffi) is None:
        return f"expect: has no entry for TVM {info.tvm} with ffi {info.tvm_ffi}"
    return ""


@cache
def _importable(name: str) -> bool:
    """Whether there is such a module, without importing even the packages that it is in."""
    first, *others = name.split(".")
    try:
        spec = find_spec(first)
        for other in others:
            if spec is None or spec.submodule_search_locations is None:
                return False
            spec = PathFinder.find_spec(f"{spec.name}.{other}", spec.submodule_search_locations)
    except (ImportError, ValueError):
        return False
    return spec is not None


def jobs_of(case: Case, arms: Sequence[str]) -> list[Job]:
    """Every run of the chosen arms of one variant, its repeats included."""
    return [Job(case, arm) for arm in case.arms if arm in arms for _ in range(case.repeat)]


def run_cases(cases: Iterable[Case], options: Options, pool: Pool) -> Iterator[CaseReport]:
    """Run cases on an entered `pool`; yield a report for each as it ends.

    Nothing is reported as fixed upstream unless the canaries are judged rightly.
    """
    pending: dict[Path, _Pending] = {}
    groups: list[list[Job]] = []
    for case in cases:
        entry = _Pending(case)
        for group in _groups(case, options.arms, pool.info):
            groups.append(group)
            entry.left += len(group)
        if entry.left:
            pending[case.path] = entry
        else:
            yield report(case, {}, pool.info, options)
    for job, trace in pool.run(groups):
        entry = pending[job.case.path]
        entry.traces[job.case.id][job.arm].append(trace)
        entry.left -= 1
        if not entry.left:
            del pending[entry.case.path]
            yield report(entry.case, entry.traces, pool.info, options)


def _groups(case: Case, arms: Sequence[str], info: TvmInfo) -> list[list[Job]]:
    """The jobs of a case and its contrasts, those on the same module together."""
    groups: list[list[Job]] = []
    if reason_to_skip(case, info):
        return groups
    for variant in variants(case):
        jobs = [] if reason_to_skip(variant, info) else jobs_of(variant, arms)
        same = next((group for group in groups if group[0].case.module == variant.module), None)
        if same is not None:
            same.extend(jobs)
        elif jobs:
            groups.append(jobs)
    return groups


def report(case: Case, traces: Traces, info: TvmInfo, options: Options) -> CaseReport:
    """Judge what was seen of a case and its contrasts."""
    main = judge_variant(case, traces.get(case.id, {}), info, options)
    contrasts = {
        contrast.title: judge_variant(
            contrast.case, traces.get(contrast.case.id, {}), info, options
        )
        for contrast in case.contrasts
    }
    seconds = sum(
        trace.seconds for arms in traces.values() for runs in arms.values() for trace in runs
    )
    return CaseReport(case, with_contrasts(main, contrasts), seconds)


def judge_variant(
    case: Case, traces: dict[str, list[ArmTrace]], info: TvmInfo, options: Options
) -> Judgement:
    """Judge one variant; calls nothing fixed when the canaries are misjudged."""
    reason = reason_to_skip(case, info)
    if not reason and not any(arm in options.arms for arm in case.arms):
        reason = f"it has no arm {' or '.join(options.arms)}"
    if reason:
        return skipped(reason)
    judgement = judge(case, case.expectation(info.tvm, info.tvm_ffi), traces)
    if judgement.verdict is Verdict.FIXED_UPSTREAM and not _is_canary(case):
        misjudged = misjudged_canaries(options.isolation)
        if misjudged:
            return infra(f"it looks fixed, but these canaries were misjudged: {misjudged}")
    return judgement


def _is_canary(case: Case) -> bool:
    """Whether no other canary vouches for the case: one that looks fixed is misjudged."""
    return case.path.parent == CANARIES


@cache
def canaries(isolation: Isolation = "fork") -> tuple[CaseReport, ...]:
    """Run the built-in cases through the machinery, once per process, on a pool of their own.

    Raises
    ------
    ServerError
        When there is no TVM.
    """
    cases = [load_case(path) for path in sorted(CANARIES.glob("*.yaml"))]
    with Pool(jobs=2, isolation=isolation) as pool:
        return tuple(run_cases(cases, Options(jobs=2, isolation=isolation), pool))


def misjudged_canaries(isolation: Isolation = "fork") -> str:
    """Names of the built-in cases that come out wrong, each with why; "" when all is well."""
    try:
        reports = canaries(isolation)
    except ServerError as error:
        return f"all ({error})"
    wrong = [one for one in reports if not one.verdict.passes]
    return ", ".join(f"{one.case.id} ({one.judgement.reason})" for one in wrong)
