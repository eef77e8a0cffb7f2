"""Traces and expectations put together by hand: what real ones look like is in tests/run."""

from __future__ import annotations

from pathlib import Path

from harness.case import ArmExpect, Case, ModuleText, Pattern, VersionedExpect
from harness.run.trace import ArmTrace, End, FixState, Raised, Stage, Step, Stopped

CLEAN = End(Stopped.ITSELF, code=0, final=True)
LOST = End(Stopped.LOST)
TIME = End(Stopped.TIME, signal="SIGKILL")
PASS = "relax.transform.AllocateWorkspace"


def died(signal: str) -> End:
    return End(Stopped.ITSELF, signal=signal)


def done(stage: Stage, at: str | None = None) -> Step:
    return Step(stage, at, finished=True, seconds=0.5)


def raised(stage: Stage, type: str, message: str, at: str | None = None, *frames: str) -> Step:
    return Step(stage, at, finished=True, raised=Raised(type, message, frames))


def wrong(stage: Stage, message: str) -> Step:
    return Step(stage, "main", finished=True, mismatch=message)


def cut_short(stage: Stage, at: str | None = None) -> Step:
    return Step(stage, at)


# What a sound case with one pass goes through.
SOUND = (
    done(Stage.LOAD),
    done(Stage.INPUT),
    done(Stage.PASS, PASS),
    done(Stage.WELL_FORMED, PASS),
    done(Stage.BUILD),
    done(Stage.VM),
    done(Stage.RUN, "main"),
    done(Stage.EXIT),
)
APPLIED = FixState("allocate_workspace", applied=True, used=1)


def arm(
    *others: Step,
    name: str = "stock",
    end: End = CLEAN,
    stderr: str = "",
    fix: FixState | None = None,
    absent: dict[Stage, str] | None = None,
) -> ArmTrace:
    """A sound arm in which some stages went otherwise.

    What stops an arm stops it here: a step that raised (a check excepted) has nothing behind it
    but `exit`, one that was cut short has nothing behind it at all.
    """
    by_stage = {step.stage: step for step in others}
    steps: list[Step] = []
    stopped = False
    for sound in SOUND:
        step = by_stage.get(sound.stage, sound)
        if sound.stage in (absent or {}) or (stopped and sound.stage is not Stage.EXIT):
            continue
        steps.append(step)
        if not step.finished:
            break
        checks = (Stage.INPUT, Stage.WELL_FORMED)
        stopped |= step.stage not in checks and bool(step.raised or step.mismatch)
    return ArmTrace(name, tuple(steps), end, absent or {}, stderr=stderr, fix=fix)


def fixed(*others: Step, end: End = CLEAN, fix: FixState | None = APPLIED) -> ArmTrace:
    return arm(*others, name="fixed", end=end, fix=fix)


def expects(**stages: Pattern) -> ArmExpect:
    return ArmExpect(stages=stages)


def case(
    stock: ArmExpect = ArmExpect(), fixed: ArmExpect = ArmExpect(), fix: str = "", **keys: object
) -> Case:
    expect = VersionedExpect(arms={"stock": stock, "fixed": fixed})
    return Case(
        id="relax/some-case",
        path=Path("repros/relax/some-case.yaml"),
        title="A case",
        module=ModuleText(text="…"),
        fix=fix,
        expect=(expect,),
        **keys,  # type: ignore[arg-type]
    )
