"""The stages of one arm, each a small function from one value to the next. Imports TVM."""

from __future__ import annotations

import difflib
import gc
import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Any

import tvm
from tvm import relax

import fixes
from harness import compat
from harness.case import (
    ArangeArg,
    Builder,
    BuildSpec,
    Case,
    FullArg,
    ModuleText,
    New,
    PassSpec,
    RandomArg,
    TensorArg,
)
from harness.run import calls
from harness.run.narrate import Narrator, StepFailed, ValueDiffers, clip
from harness.run.trace import Stage
from harness.run.wire import ALL_STAGES

_IR_TEXT_LIMIT = 2_000_000


def load_module(case: Case) -> tvm.IRModule:
    """Parse the module text, or call the case's builder.

    The parser's own check stays off: it hides the reason, and an ill-formed input is a finding of
    the stage `input`.
    """
    match case.module:
        case ModuleText(text=text):
            module = tvm.script.from_source(text, check_well_formed=False)
        case Builder():
            module = _call_builder(case.module)
    if isinstance(module, tvm.tirx.PrimFunc | relax.Function):
        module = tvm.IRModule.from_expr(module)
    if not isinstance(module, tvm.IRModule):
        raise TypeError(f"expected an IRModule, came {type(module).__name__}")
    return module


def _call_builder(builder: Builder) -> Any:
    name = f"_builder_{builder.file.stem}"
    spec = importlib.util.spec_from_file_location(name, builder.file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{builder.file.name} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    function = getattr(module, builder.function, None)
    if function is None:
        near = difflib.get_close_matches(builder.function, vars(module), n=1)
        raise AttributeError(
            f"{builder.file.name} has no function {builder.function!r}"
            + (f"; did you mean {near[0]!r}?" if near else "")
        )
    return function()


def lookup(name: str) -> Any:
    """What a dotted name under ``tvm`` stands for, importing modules on the way.

    Raises
    ------
    LookupError
        Naming the first part that this TVM does not have, and near names.
    """
    found: Any = tvm
    path = "tvm"
    for part in name.split("."):
        if not hasattr(found, part):
            try:
                importlib.import_module(f"{path}.{part}")
            except ImportError:
                near = difflib.get_close_matches(part, dir(found), n=3)
                raise LookupError(
                    f"{path} has no {part!r} in TVM {tvm.__version__}"
                    + (f"; did you mean {', '.join(near)}?" if near else "")
                ) from None
        found = getattr(found, part)
        path = f"{path}.{part}"
    return found


def run_arm(case: Case, arm: str, module: tvm.IRModule, narrator: Narrator, show: int) -> None:
    """Take `module` through all stages, telling each; nothing of it outlives the call."""
    try:
        with ExitStack() as stack:
            stack.enter_context(_installed_fix(case, arm, narrator))
            if show == ALL_STAGES:
                _all_stages(case, module, narrator)
            else:
                _show_pass(case, module, narrator, show)
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


def _all_stages(case: Case, module: tvm.IRModule, narrator: Narrator) -> None:
    with narrator.step(Stage.LOAD, "passes"):
        factories = [(spec, _factory(spec)) for spec in case.passes]
        context = _pass_context(case.build)
    _check(module, narrator, Stage.INPUT)
    if not factories:
        narrator.absent(Stage.WELL_FORMED, "not applicable")
    after = module
    for spec, factory in factories:
        with narrator.step(Stage.PASS, spec.name):
            after = _apply(spec, factory, after, context)
        _check(after, narrator, Stage.WELL_FORMED, spec.name)
    if case.after:
        _check_text(case, after, narrator)
    narrator.tell("globals", sorted(var.name_hint for var in after.functions))
    if not case.build.enabled:
        for stage in (Stage.BUILD, Stage.VM, Stage.RUN):
            narrator.absent(stage, "skipped")
        return
    _build_and_run(case, module, after, context, narrator)


def _build_and_run(
    case: Case,
    module: tvm.IRModule,
    after: tvm.IRModule,
    context: Callable[[], tvm.transform.PassContext],
    narrator: Narrator,
) -> None:
    with narrator.step(Stage.BUILD):
        executable = build(case.build, after, context)
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
        built = build(case.build, module, context)
        return calls.machine(built, case.build) if has_relax(module) else built

    runner = calls.Runner(case, after, machine, run_input)
    for call in case.run:
        with narrator.step(Stage.RUN, call.function):
            runner.run(call)


def _factory(spec: PassSpec) -> Callable[..., Any]:
    factory = lookup(spec.name)
    if not callable(factory):
        raise LookupError(f"tvm.{spec.name} is a {type(factory).__name__}, not a pass")
    for value in _values(spec.args):
        if isinstance(value, New):
            lookup(value.name)
    return factory  # type: ignore[no-any-return]


def _values(args: Mapping[str, Any] | tuple[Any, ...]) -> list[Any]:
    """Every value in pass arguments, however deep."""
    found: list[Any] = []
    for value in args.values() if isinstance(args, Mapping) else args:
        found.append(value)
        if isinstance(value, New):
            found += _values(value.args)
        elif isinstance(value, Mapping | list | tuple):
            found += _values(tuple(value) if isinstance(value, list) else value)
    return found


def make_pass(spec: PassSpec) -> Any:
    """The pass object that `spec` describes. Raises whatever its factory raises."""
    return _call_with(lookup(spec.name), spec.args)


def _call_with(factory: Callable[..., Any], args: Mapping[str, Any] | tuple[Any, ...]) -> Any:
    if isinstance(args, Mapping):
        return factory(**{name: _argument(value) for name, value in args.items()})
    return factory(*(_argument(value) for value in args))


def _argument(value: Any) -> Any:
    match value:
        case New():
            return _call_with(lookup(value.name), value.args)
        case TensorArg() | FullArg() | ArangeArg() | RandomArg():
            return calls.tensor(calls.array(value))
        case Mapping():
            return {name: _argument(item) for name, item in value.items()}
        case list() | tuple():
            return [_argument(item) for item in value]
    return value


def _apply(
    spec: PassSpec,
    factory: Callable[..., Any],
    module: tvm.IRModule,
    context: Callable[[], tvm.transform.PassContext],
) -> tvm.IRModule:
    target = spec.under.get("target")
    scope = tvm.target.Target(target) if target else nullcontext()
    with scope, context():
        after = _call_with(factory, spec.args)(module)
    if not isinstance(after, tvm.IRModule):
        raise TypeError(f"expected an IRModule from {spec.name}, came {type(after).__name__}")
    return after


def _check(module: tvm.IRModule, narrator: Narrator, stage: Stage, at: str = "") -> None:
    """The check after a pass. An ill-formed module still goes on."""
    try:
        with narrator.step(stage, at):
            compat.check_well_formed(module)
    except StepFailed:
        pass


def _check_text(case: Case, module: tvm.IRModule, narrator: Narrator) -> None:
    try:
        with narrator.step(Stage.PASS, "after"):
            text = module.script()
            for check in case.after:
                if (check.text in text) != (check.kind == "contains"):
                    raise ValueDiffers(
                        f"the IR after the last pass {'lacks' if check.kind == 'contains' else 'contains'}"
                        f" {check.text!r}"
                    )
    except StepFailed:
        pass


def has_relax(module: tvm.IRModule) -> bool:
    return any(isinstance(function, relax.Function) for function in module.functions.values())


def _pass_context(spec: BuildSpec) -> Callable[[], tvm.transform.PassContext]:
    """A maker of pass contexts: each is entered once, around one pass or the build."""
    keywords: dict[str, Any] = {"config": dict(spec.config)} if spec.config else {}
    if spec.opt_level is not None:
        keywords["opt_level"] = spec.opt_level
    if spec.disabled_pass:
        keywords["disabled_pass"] = list(spec.disabled_pass)
    return lambda: tvm.transform.PassContext(**keywords)


def build(
    spec: BuildSpec, module: tvm.IRModule, context: Callable[[], tvm.transform.PassContext]
) -> Any:
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
    with context():
        if with_ == "tirx.build":
            return tvm.tirx.build(module, target=target, **pipeline)
        if with_ == "tvm.compile":
            return tvm.compile(module, target=target, **pipeline)
        return relax.build(module, target=target, exec_mode=spec.exec_mode, **pipeline)


def _show_pass(case: Case, module: tvm.IRModule, narrator: Narrator, show: int) -> None:
    context = _pass_context(case.build)
    before = after = module
    for spec in case.passes[: show + 1]:
        before = after
        with narrator.step(Stage.PASS, spec.name):
            after = _apply(spec, lookup(spec.name), before, context)
    with narrator.step(Stage.PASS, "print"):
        texts = [clip_ir(before.script()), clip_ir(after.script())]
    narrator.tell("ir", texts)


def clip_ir(text: str) -> str:
    return text if len(text) <= _IR_TEXT_LIMIT else clip(text)
