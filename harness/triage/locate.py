"""``tvm-repro locate``: which pass makes a bug, and who notices it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness import campaign
from harness.case import Builder, Case, ModuleText
from harness.run.lane import Job
from harness.run.pool import Pool
from harness.run.trace import ArmTrace, PassRun, Stage
from harness.run.watch import LOOKING, Path, Watch
from harness.triage.trials import leave_out
from harness.verdict.finding import Culprit, Finding, Ground, Trial, noticed
from harness.verdict.outcome import Mismatch, StageResult, stages
from harness.verdict.recording import Recording, merged
from harness.verdict.signature import signature

_PLAIN = Watch(record=True)
# Before it an operator has no meaning that could be run.
_GIVES_MEANING = "LegalizeOps"
_MOST_TRIALS = 60

_SOUND = """@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), c: R.Tensor((), "bool")):
        n = T.int64()
        with R.dataflow():
            y = R.add(x, x)
            z = R.reshape(y, (n * 4,))
            R.output(z)
        if c:
            w = R.exp(z)
        else:
            w = R.negative(z)
        return w
"""


def locate(case: Case, arm: str, pool: Pool, quick: bool = False) -> Finding:
    """Find the pass that makes the bug of `case`.

    A run that nobody watches says what the bug is. Two more record the passes, the second one
    looks at what each left. Where that does not tell, runs follow that leave out one pass each.

    Parameters
    ----------
    quick : bool
        Do without the latter, and without the IR.
    """
    judged, plain, looked = _first_look(case, arm, pool)
    seen = next((one for one in judged if any(stage.failed for stage in one)), judged[0])
    recording = merged(plain.passes, looked.passes)
    finding = Finding(arm, seen, recording, odd=_odd(seen, plain))
    complaint = noticed(seen)
    if complaint is None:
        return replace(finding, why_none="nothing fails in this arm")
    if complaint.stage is Stage.LOAD:
        return replace(finding, why_none="the module does not load, so no pass has run")
    if any(one.failed for one in seen if one.stage is Stage.INPUT):
        return replace(finding, why_none="the module is ill-formed as it was given")
    suspects = _before(case, complaint, recording)
    culprit = _ill_formed(case, arm, recording, pool) or _only_one(complaint, suspects)
    tried = [culprit.run] if culprit else suspects[:_MOST_TRIALS]
    results = leave_out(case, arm, seen, recording, tried, pool) if not quick else {}
    if culprit is None and recording.unfinished and complaint.stage in (Stage.PASS, Stage.BUILD):
        culprit = Culprit(recording.unfinished, Ground.INSIDE)
    if culprit is None:
        culprit = _last_needed(suspects, results)
    if culprit is None and isinstance(complaint.outcome, Mismatch):
        culprit = _first_that_runs(case, recording, results)
    finding = replace(finding, trials=results, culprit=culprit)
    if culprit is None:
        return replace(finding, why_none=_no_difference(recording, results, quick))
    return finding if quick else replace(finding, ir=_ir_around(case, arm, culprit, pool))


def _first_look(
    case: Case, arm: str, pool: Pool
) -> tuple[list[tuple[StageResult, ...]], ArmTrace, ArmTrace]:
    """Runs that nobody watches, and two that record."""
    jobs = [*campaign.jobs_of(case, [arm]), Job(case, arm, _PLAIN), Job(case, arm, LOOKING)]
    traces: dict[Watch, list[ArmTrace]] = {}
    for job, trace in pool.run([jobs]):
        traces.setdefault(job.watch, []).append(trace)
    judged = [stages(trace) for trace in traces[Watch()]]
    return judged, traces[_PLAIN][0], traces[LOOKING][0]


def _odd(seen: Sequence[StageResult], plain: ArmTrace) -> str:
    if signature(seen) == signature(stages(plain)):
        return ""
    return "the run that was recorded failed otherwise: what is said of its passes may not hold"


def _ill_formed(case: Case, arm: str, recording: Recording, pool: Pool) -> Culprit | None:
    """The first pass that leaves the module ill-formed and does not do so to a sound one."""
    if not recording.ill_formed:
        return None
    usual = _ill_formed_in_sound_runs(case, arm, pool)
    unusual = (one for one in recording.ill_formed if one.name not in usual)
    first = next(unusual, None)
    return Culprit(first, Ground.ILL_FORMED) if first else None


def _ill_formed_in_sound_runs(case: Case, arm: str, pool: Pool) -> set[str]:
    """Names of passes whose result is ill-formed where nothing is wrong.

    TVM's check is meant for modules that are not lowered yet.
    """
    small = case.model_copy(
        update={"module": ModuleText(text=_SOUND), "run": (), "passes": (), "after": ()}
    )
    found: set[str] = set()
    for _, trace in pool.run([[Job(small, arm, LOOKING)]]):
        if not any(one.failed for one in stages(trace)):
            found |= {one.name for one in Recording(trace.passes).ill_formed}
    return found


def _before(case: Case, complaint: StageResult, recording: Recording) -> list[PassRun]:
    """The first pass of each name that changed the module in front of the complaint."""
    steps = len(case.passes) if _of_the_ir(complaint) else len(case.passes) + 1
    return [one for one in recording.first_changing if one.path[0] < steps]


def _of_the_ir(complaint: StageResult) -> bool:
    """Whether a check of the text behind the case's own passes complained."""
    return complaint.stage is Stage.PASS and complaint.at == "after"


def _only_one(complaint: StageResult, suspects: Sequence[PassRun]) -> Culprit | None:
    """Of a complaint about the IR: the pass that made it what it is, when that is one alone."""
    if _of_the_ir(complaint) and len(suspects) == 1:
        return Culprit(suspects[0], Ground.ONLY)
    return None


def _last_needed(suspects: Sequence[PassRun], results: Mapping[Path, Trial]) -> Culprit | None:
    """Of the passes without which all is right, the one that completes the bug.

    FuseOps does nothing without AnnotateTIROpPattern, so all is right without either; but with
    only the first of the two it is right as well.
    """
    needed = [one for one in suspects if results.get(one.path) is Trial.RIGHT]
    return Culprit(needed[-1], Ground.NEEDED) if needed else None


def _first_that_runs(
    case: Case, recording: Recording, results: Mapping[Path, Trial]
) -> Culprit | None:
    """LegalizeOps, when nothing in front of it can run and all behind it makes no difference.

    A module that a builder made, with an importer perhaps, may be wrong from the start.
    """
    if isinstance(case.module, Builder):
        return None
    for one in recording.first_changing:
        if one.name == _GIVES_MEANING and results.get(one.path) is Trial.OTHER:
            return Culprit(one, Ground.FIRST)
    return None


def _no_difference(recording: Recording, results: Mapping[Path, Trial], quick: bool) -> str:
    if not recording.runs:
        return "no pass was seen"
    if quick:
        return "every pass comes to an end and leaves a well-formed module"
    fixed = [one.name for one in recording.changing if results.get(one.path) is Trial.OTHER]
    needed = f"; these cannot be left out: {', '.join(dict.fromkeys(fixed))}" if fixed else ""
    return (
        "no pass makes the difference: it is there whichever is left out. What is left is the "
        f"module as it was given, and code generation{needed}"
    )


def _ir_around(case: Case, arm: str, culprit: Culprit, pool: Pool) -> tuple[str, str] | None:
    for _, trace in pool.run([[Job(case, arm, Watch(show=culprit.run.path))]]):
        return trace.ir
    return None
