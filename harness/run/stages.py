"""The stages of one arm, each a small function from one value to the next. Imports TVM."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import cache
from typing import Any

import tvm
from tvm import relax

import fixes
from harness import compat
from harness.case import BuildSpec, Case, PassSpec, RoundTrip, TextCheck
from harness.run import calls
from harness.run.names import call_with, factory, make_pass
from harness.run.narrate import Narrator, StepFailed, ValueDiffers
from harness.run.trace import NAMES, Stage
from harness.run.watch import Watch
from harness.run.watcher import Watcher

PassContexts = Callable[..., tvm.transform.PassContext]  # takes the instruments to put in


def run_arm(case: Case, arm: str, module: tvm.IRModule, narrator: Narrator, watch: Watch) -> None:
    """Take `module` through all stages, telling each; nothing of it outlives the call."""
    try:
        with ExitStack() as stack:
            stack.enter_context(_installed_fix(case, arm, narrator))
            _all_stages(case, module, narrator, Watcher(watch, narrator))
    except StepFailed:
        pass  # told; the stages behind it are not reached
    with narrator.step(Stage.EXIT):
        del module
        gc.collect()
    narrator.tell("final", True)


def _installed_fix(case: Case, arm: str, narrator: Narrator) -> AbstractContextManager[object]:
    if arm != "fixed":
        return nullcontext()
    stack = ExitStack()
    try:
        applied = stack.enter_context(fixes.applied(case.fix))
    except fixes.FixNotApplied as missing:
        state = {"name": case.fix, "applied": False, "used": 0, "detail": str(missing)}
        narrator.tell("fix", state)
        return nullcontext()

    def tell_use() -> None:
        state = {"name": case.fix, "applied": True, "used": applied.used, "detail": ""}
        narrator.tell("fix", state)

    stack.callback(tell_use)
    return stack


def _all_stages(case: Case, module: tvm.IRModule, narrator: Narrator, watcher: Watcher) -> None:
    with narrator.step(Stage.LOAD, NAMES):
        factories = [(spec, factory(spec)) for spec in case.passes]
        for spec in case.build.pipeline if isinstance(case.build.pipeline, tuple) else ():
            factory(spec)
        context = _pass_context(case.build)
    _check(module, narrator, Stage.INPUT)
    if not factories:
        narrator.absent(Stage.WELL_FORMED, "not applicable")
    after = module
    for spec, make in factories:
        with narrator.step(Stage.PASS, spec.name):
            after = _apply(spec, make, after, context, watcher)
        _check(after, narrator, Stage.WELL_FORMED, spec.name)
    if case.after:
        _check_after(case, after, narrator)
    narrator.tell("globals", sorted(var.name_hint for var in after.functions))
    if not case.build.enabled:
        for stage in (Stage.BUILD, Stage.VM, Stage.RUN):
            narrator.absent(stage, "skipped")
        return
    _build_and_run(case, module, after, context, narrator, watcher)


def _build_and_run(
    case: Case,
    module: tvm.IRModule,
    after: tvm.IRModule,
    context: PassContexts,
    narrator: Narrator,
    watcher: Watcher,
) -> None:
    with narrator.step(Stage.BUILD):
        executable = build(case.build, after, context(watcher.instruments()))
    relaxed = has_relax(after)
    if relaxed:
        with narrator.step(Stage.VM):
            machine = calls.machine(executable, case.build)
    else:
        narrator.absent(Stage.VM, "not applicable")
        machine = executable
    if not case.run:
        narrator.absent(Stage.RUN, "skipped")
        return

    def run_input() -> Any:
        built = build(case.build, module, context())
        return calls.machine(built, case.build) if has_relax(module) else built

    runner = calls.Runner(case, after, machine, run_input)
    for call in case.run:
        with narrator.step(Stage.RUN, call.function):
            runner.run(call)


def _apply(
    spec: PassSpec,
    make: Callable[..., Any],
    module: tvm.IRModule,
    context: PassContexts,
    watcher: Watcher,
) -> tvm.IRModule:
    target = spec.under.get("target")
    scope = tvm.target.Target(target) if target else nullcontext()
    with scope, context(watcher.instruments()):
        after = watcher.as_pass(call_with(make, spec.args), spec.name)(module)
    if not isinstance(after, tvm.IRModule):
        raise TypeError(f"expected an IRModule from {spec.name}, came {type(after).__name__}")
    return after


def _check(module: tvm.IRModule, narrator: Narrator, stage: Stage, at: str = "") -> None:
    """The check after a pass. An ill-formed module still goes on."""
    try:
        with narrator.step(stage, at):
            compat.check_well_formed(module)
    except StepFailed:
        if narrator.halts:
            raise


def _check_after(case: Case, module: tvm.IRModule, narrator: Narrator) -> None:
    printed = cache(module.script)  # only where a text is looked at: printing may be what fails
    try:
        with narrator.step(Stage.PASS, "after"):
            for check in case.after:
                match check:
                    case TextCheck():
                        _check_text(check, printed())
                    case RoundTrip():
                        _check_round_trip(check, module)
    except StepFailed:
        if narrator.halts:
            raise


def _check_text(check: TextCheck, text: str) -> None:
    there = check.text in text
    if there != (check.kind == "contains"):
        verb = "contains" if there else "lacks"
        raise ValueDiffers(f"the IR after the last pass {verb} {check.text!r}")


def _check_round_trip(check: RoundTrip, module: tvm.IRModule) -> None:
    """Write the module out and read it again. Raises what the reader raises."""
    if check.form == "script":
        text = module.script(show_meta=True)
        again = tvm.script.from_source(text, check_well_formed=False)
    else:
        again = tvm.ir.load_json(tvm.ir.save_json(module))
    try:
        tvm.ir.assert_structural_equal(again, module, map_free_vars=True)
    except ValueError as difference:
        raise ValueDiffers(f"came back from {check.form} changed: {difference}") from None


def has_relax(module: tvm.IRModule) -> bool:
    return any(isinstance(function, relax.Function) for function in module.functions.values())


def _pass_context(spec: BuildSpec) -> PassContexts:
    """A maker of pass contexts: each is entered once, around one pass or the build."""
    keywords: dict[str, Any] = {"config": dict(spec.config)} if spec.config else {}
    if spec.opt_level is not None:
        keywords["opt_level"] = spec.opt_level
    if spec.disabled_pass:
        keywords["disabled_pass"] = list(spec.disabled_pass)
    if spec.required_pass:
        keywords["required_pass"] = list(spec.required_pass)

    def context(instruments: Sequence[Any] = ()) -> tvm.transform.PassContext:
        watching = {"instruments": list(instruments)} if instruments else {}
        return tvm.transform.PassContext(**keywords, **watching)

    return context


def build(spec: BuildSpec, module: tvm.IRModule, context: tvm.transform.PassContext) -> Any:
    """Compile `module` as the case's ``build:`` says. Raises whatever TVM raises."""
    with_ = spec.with_
    if with_ == "auto":
        with_ = "relax.build" if has_relax(module) else "tvm.compile"
    target = tvm.target.Target(spec.target)
    pipeline: dict[str, Any] = {}
    name = "pipeline" if with_ == "tirx.build" else "relax_pipeline"
    match spec.pipeline:
        case "default":
            pass  # TVM's own default argument, whatever it is on this release
        case "none":
            pipeline[name] = None
        case "target":
            pipeline[name] = relax.get_default_pipeline(target)
        case passes:
            pipeline[name] = tvm.transform.Sequential([make_pass(each) for each in passes])
    with context:
        if with_ == "tirx.build":
            return tvm.tirx.build(module, target=target, **pipeline)
        if with_ == "tvm.compile":
            return tvm.compile(module, target=target, **pipeline)
        return relax.build(module, target=target, exec_mode=spec.exec_mode, **pipeline)
