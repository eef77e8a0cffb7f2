"""What a wrong result is wrong against, while the program that gives it shrinks.

An expression under `equals:` describes one program: of any other that runs it says that it is
wrong. So wrong numbers are held against the same module taken another way, which moves along; or
that other way has to be right by the expression, so that only what it does not speak of can go.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from harness.case import Case, RoundTrip
from harness.run.trace import Stage
from harness.triage.reduce.goal import Control
from harness.triage.reduce.program import Data, Program
from harness.verdict.signature import Signature

_CHECKS = ("equals", "same_as")


@dataclass(frozen=True, slots=True)
class Reference:
    """A way to tell that the result is wrong.

    Attributes
    ----------
    told : str
        What it is, for the user.
    program : Program
        The program, checked against the reference.
    controls : tuple of Control
    kept : tuple of str
        Keys that may not be reduced.
    """

    told: str
    program: Program
    controls: tuple[Control, ...] = ()
    kept: tuple[str, ...] = ()


def references(case: Case, program: Program, signature: Signature) -> Iterator[Reference]:
    """Every reference that may serve, the one that leaves most room for moves first."""
    if signature.failure != "mismatch":
        yield Reference("", program)
    elif signature.stage is Stage.RUN:
        yield from _for_values(case, program)
    else:
        yield from _for_texts(case, program)


def _for_values(case: Case, program: Program) -> Iterator[Reference]:
    if program.data.get("passes"):
        yield Reference(
            "the same calls on the module before the passes",
            _against_input(program),
            (Control("the module before the passes agrees with itself", {"passes": None}),),
        )
    for build, why in _other_builds(case, program.data):
        told = f"its checks, which hold in another build of the module, {why}"
        yield Reference(told, program, (Control(told, {"build": build}),))
    if case.fix:
        told = f"`equals:`, which holds with the fix {case.fix}"
        yield Reference(told, program, (Control("with the fix all is right", {}, "fixed"),))


def _against_input(program: Program) -> Program:
    """The program with every call that is checked held against the module before the passes."""
    calls = [
        {**{k: v for k, v in call.items() if k not in _CHECKS}, "same_as": "input"}
        if any(key in call for key in _CHECKS)
        else call
        for call in program.data.get("run", ())
    ]
    return Program(program.module, {**program.data, "run": calls})


def _other_builds(case: Case, data: Data) -> Iterator[tuple[Data, str]]:
    """Builds that may be right: those of contrasts in which all is ok, then the common ones."""
    own = data.get("build", {})
    own = own if isinstance(own, dict) else {}
    for contrast in case.contrasts:
        same = contrast.case.module == case.module and contrast.case.passes == case.passes
        right = all(not arm.stages for one in contrast.case.expect for arm in one.arms.values())
        if same and right and contrast.case.build != case.build and contrast.case.build.enabled:
            build = contrast.case.build.model_dump(exclude_unset=True, mode="json")
            yield {k.rstrip("_"): v for k, v in build.items()}, f"that of {contrast.title!r}"
    pipeline = "default" if own.get("pipeline") == "target" else "target"
    for key, value in (("opt_level", 0), ("pipeline", pipeline)):
        yield {**own, key: value}, f"with {key}: {value}"


def _for_texts(case: Case, program: Program) -> Iterator[Reference]:
    """For a check on the text: the module before the passes is as the check wants it."""
    checks = program.data.get("after", [])
    for index, (check, written) in enumerate(zip(case.after, checks, strict=True)):
        others = [one for place, one in enumerate(checks) if place != index]
        moved = Program(program.module, {**program.data, "after": [*others, written]})
        if isinstance(check, RoundTrip):
            yield Reference(f"the check {written}", moved, (), ("after",))
        else:
            before: Data = {"passes": None, "after": [written], "build": False, "run": None}
            told = f"the module before the passes, of which {written} is true"
            yield Reference(told, moved, (Control(told, before),), ("after",))
