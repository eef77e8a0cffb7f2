"""Passes on inputs, each in a process of its own: what is run, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from harness.case import BuildSpec, Case, Limits, ModuleText, PassSpec, VersionedExpect
from harness.run.lane import Job
from harness.run.pool import Pool
from harness.run.trace import ArmTrace, Stage
from harness.run.watch import LOOKING, NOTHING
from harness.triage.sweep.inputs import calls, compared
from harness.verdict.outcome import Ok, StageResult, stages

LEGALIZE = "relax.transform.LegalizeOps"
SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Probe:
    """A pass on an input, alone or behind LegalizeOps."""

    case: Case
    name: str
    legalized: bool

    @property
    def passes(self) -> tuple[PassSpec, ...]:
        names = (LEGALIZE, self.name) if self.legalized else (self.name,)
        return tuple(PassSpec(name=name) for name in names)

    @property
    def label(self) -> str:
        short = self.name.rpartition(".")[2]
        return f"LegalizeOps, {short}" if self.legalized else short


@dataclass(frozen=True, slots=True)
class Outcome:
    """A probe in which something failed; `ran` when its output was built and called."""

    probe: Probe
    stages: tuple[StageResult, ...]
    ran: bool


@dataclass(slots=True)
class Tally:
    """How much there was to do."""

    inputs: int = 0
    left_out: list[str] = field(default_factory=list)
    callable: int = 0
    probes: int = 0
    changed: int = 0
    compared: int = 0


def sweep(
    cases: Sequence[Case],
    passes: Sequence[str],
    pool: Pool,
    tally: Tally,
    advance: Callable[[], None],
) -> Iterator[Outcome]:
    """Run every pass on every input; yield those in which something failed.

    An input that is ill-formed itself, does not load, or has no Relax function is left out. Where
    a pass changes the module and the output is well-formed, both are built and called, if the
    input can be.

    Parameters
    ----------
    cases : sequence of Case
    passes : sequence of str
        Names under ``tvm``.
    pool : Pool
    tally : Tally
        Is kept while the sweep goes on.
    advance : callable
        Called once for each input that is done with.
    """
    baselines = {_key(job): (case, job) for case in cases for job in [_baseline(case)]}
    seen_of = {
        _key(job): {one.stage: one for one in stages(trace)}
        for job, trace in pool.run([[job] for _, job in baselines.values()])
    }
    for key, (case, _) in baselines.items():
        seen = seen_of[key]
        sound = all(seen[stage].outcome == Ok() for stage in (Stage.LOAD, Stage.INPUT))
        if sound and _may_have_relax(case):
            tally.inputs += 1
            ran = seen[Stage.RUN].outcome == Ok() and not any(one.failed for one in seen.values())
            tally.callable += ran
            yield from _probed(case, passes, pool, tally, ran)
        else:
            tally.left_out.append(case.id)
        advance()


def _may_have_relax(case: Case) -> bool:
    return not isinstance(case.module, ModuleText) or "@R.function" in case.module.text


def _probed(
    case: Case, passes: Sequence[str], pool: Pool, tally: Tally, can_run: bool
) -> Iterator[Outcome]:
    probes = [Probe(case, name, False) for name in passes]
    probes += [Probe(case, name, True) for name in passes if name != LEGALIZE]
    tally.probes += len(probes)
    again: list[Probe] = []
    for probe, trace in _run(probes, pool, ran=False):
        seen = stages(trace)
        tally.changed += (changed := _changes(probe, trace))
        if any(one.failed for one in seen):
            if not _of_legalize(probe, seen):
                yield Outcome(probe, seen, ran=False)
        elif changed and can_run:
            again.append(probe)
    tally.compared += len(again)
    for probe, trace in _run(again, pool, ran=True):
        seen = stages(trace)
        if any(one.failed for one in seen):
            yield Outcome(probe, seen, ran=True)


def _run(probes: Sequence[Probe], pool: Pool, ran: bool) -> Iterator[tuple[Probe, ArmTrace]]:
    by_key = {}
    halves: list[list[Job]] = [[], []]
    for number, probe in enumerate(probes):
        job = Job(as_case(probe, ran), "stock", NOTHING if ran else LOOKING)
        by_key[_key(job)] = probe
        halves[number % 2].append(job)
    for job, trace in pool.run([half for half in halves if half]):
        yield by_key[_key(job)], trace


def _key(job: Job) -> str:
    return f"{job.case.path}\0{job.case.id}"


def _baseline(case: Case) -> Job:
    return Job(_stripped(case, case.id, (), calls(case)), "stock")


def as_case(probe: Probe, ran: bool) -> Case:
    """The probe as a case of its own, `ran` to the end or checked only."""
    made = tuple(map(compared, calls(probe.case))) if ran else ()
    id = f"{probe.case.id}#{probe.label}"
    return _stripped(probe.case, id, probe.passes, made, BuildSpec(enabled=ran))


def _stripped(
    case: Case,
    id: str,
    passes: tuple[PassSpec, ...],
    run: tuple[object, ...],
    build: BuildSpec | None = None,
) -> Case:
    return case.model_copy(
        update={
            "id": id,
            "passes": passes,
            "run": run,
            "build": build or BuildSpec(),
            "fix": "",
            "after": (),
            "contrasts": (),
            "repeat": 1,
            "expect": (VersionedExpect(arms={}),),
            "limits": Limits(seconds=min(SECONDS, case.limits.seconds)),
        }
    )


def _changes(probe: Probe, trace: ArmTrace) -> bool:
    """Whether the pass, the last of the probe's, leaves another module than it was given."""
    place = (len(probe.passes) - 1, 0)
    return any(one.path == place and one.looked and one.looked.changed for one in trace.passes)


def _of_legalize(probe: Probe, seen: tuple[StageResult, ...]) -> bool:
    """Whether it is LegalizeOps that failed: that is told where it stands alone."""
    first = next(one for one in seen if one.failed)
    return probe.legalized and first.at == LEGALIZE
