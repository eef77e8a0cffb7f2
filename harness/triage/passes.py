"""The IR before and after each pass that changes it, those of the build included."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harness.case import Case
from harness.report.html.sides import Sides
from harness.report.records import ArmRecord
from harness.run.lane import Job
from harness.run.pool import Pool
from harness.run.trace import PassRun
from harness.run.watch import LOOKING, Path, Watch
from harness.verdict.recording import Recording

_MOST = 40
_Texts = dict[Path, tuple[str, str]]  # before and after


def changed_by_passes(case: Case, pool: Pool, arms: Mapping[str, ArmRecord]) -> list[Sides]:
    """The IR around each pass that changes it or does not come to an end.

    In arm ``stock`` all of them; in arm ``fixed`` the case's own where the fix makes a difference,
    and that difference.

    Parameters
    ----------
    case : Case
    pool : Pool
        Entered; prints the IR in children of its own.
    arms : mapping
        What was seen of each arm, for the lines to mark; may be empty.
    """
    titles = _passes(case, pool)
    texts = {arm: _printed(case, arm, list(titles), pool) for arm in case.arms}
    found: list[Sides] = []
    for path, title in titles.items():
        own = path[0] < len(case.passes)
        for arm in case.arms if own else ("stock",):
            if path in texts[arm] and _differs(arm, path, texts):
                before, after = texts[arm][path]
                what = f"{title}, {arm}" if after else f"{title}, {arm}: does not end"
                said = _said(case, path, arms.get(arm), ended=bool(after))
                found.append(Sides(pool.info.tvm, what, ("before", "after"), before, after, said))
        if own and "fixed" in texts:
            found += _with_the_fix(path, title, texts, pool.info.tvm)
    return found


def _passes(case: Case, pool: Pool) -> dict[Path, str]:
    """Where those passes stand, and what they are called."""
    recording = Recording(())
    for _, trace in pool.run([[Job(case, "stock", LOOKING)]]):
        recording = Recording(trace.passes)
    stuck = (recording.unfinished,) if recording.unfinished else ()
    runs: tuple[PassRun, ...] = (*recording.changing, *stuck)
    found = {one.path: recording.title(one) for one in runs[:_MOST]}
    # Where recording itself died, the case's own passes are still known.
    own: dict[Path, str] = {(index, 0): spec.name for index, spec in enumerate(case.passes)}
    return found if recording.runs else own


def _printed(case: Case, arm: str, paths: list[Path], pool: Pool) -> _Texts:
    if arm == "fixed":
        paths = [path for path in paths if path[0] < len(case.passes)]
    shown = [Job(case, arm, Watch(show=path)) for path in paths]
    texts: _Texts = {}
    for job, trace in pool.run([shown] if shown else []):
        if trace.ir is not None and job.watch.show is not None:
            texts[job.watch.show] = trace.ir
    return texts


def _differs(arm: str, path: Path, texts: Mapping[str, _Texts]) -> bool:
    """Whether the pass changes the text, and in arm ``fixed`` not to what it is in ``stock``."""
    before, after = texts[arm][path]
    return before != after and (arm == "stock" or texts["stock"].get(path) != (before, after))


def _with_the_fix(path: Path, title: str, texts: Mapping[str, _Texts], tvm: str) -> Iterator[Sides]:
    stock, fixed = (texts[arm].get(path, ("", ""))[1] for arm in ("stock", "fixed"))
    if stock and fixed and stock != fixed:
        yield Sides(tvm, f"{title}: stock against fixed", ("stock", "fixed"), stock, fixed)


def _said(case: Case, path: Path, arm: ArmRecord | None, ended: bool) -> str:
    """The complaint about a pass, or about what it left."""
    for stage in arm.stages if arm is not None else ():
        own = path[0] < len(case.passes) and stage.at == case.passes[path[0]].name
        if stage.failed and stage.message and (own or (stage.stage == "build" and not ended)):
            return stage.message
    return ""
