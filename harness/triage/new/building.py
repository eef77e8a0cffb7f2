"""Building, the virtual machine, and calls."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any, Final

from harness.triage.new import forms
from harness.triage.new.course import Course
from harness.triage.new.modules import as_module
from harness.triage.new.values import (
    Built,
    Call,
    Effect,
    Machine,
    Made,
    Module,
    Result,
    Text,
    Value,
)

Keywords = Mapping[str, Value]
Args = Sequence[Value]


# Their parameters, and the word of `build: {with: …}`.
BUILDS: Final[dict[str, tuple[str, str]]] = {
    "tvm.relax.build": ("relax.build", "mod target params relax_pipeline tir_pipeline exec_mode"),
    "tvm.compile": ("tvm.compile", "mod target"),
    "tvm.build": ("tirx.build", "mod target pipeline"),
    "tvm.tirx.build": ("tirx.build", "mod target pipeline"),
}


def build(course: Course, node: ast.Call, path: str, args: Args, keywords: Keywords) -> Value:
    word, names = BUILDS[path]
    given = {**dict(zip(names.split(), args, strict=False)), **keywords}
    module = as_module(course, given.get("mod", given.get("ir_mod")))
    if module is None:
        return course.unknown(node)
    keys: dict[str, Any] = dict(course.context)
    if path == "tvm.compile" or (path == "tvm.build" and _has_relax(module)):
        word = "tvm.compile" if path == "tvm.compile" else "relax.build"
    if word != ("relax.build" if _has_relax(module) else "tvm.compile"):
        keys["with"] = word
    target = given.get("target", course.targets[-1] if course.targets else None)
    if target is not None:
        said = forms.target(target)
        if said is None:
            course.remark(node, "the target cannot be read: write `build: {target: …}`")
        elif said != "llvm":
            keys["target"] = said
    pipeline = given.get("relax_pipeline", given.get("pipeline", "default"))
    _pipeline(course, node, pipeline, keys)
    if given.get("tir_pipeline", "default") != "default":
        course.remark(node, "`tir_pipeline` is left out: a case has no key for it")
    if given.get("exec_mode", "bytecode") == "compiled":
        keys["exec_mode"] = "compiled"
    if given.get("params"):
        course.remark(node, "`params` is left out: a case binds them by a pass, BindParams")
    built = Built(module, keys, course.at(node))
    course.effects.append(Effect("build", course.at(node), module, built=built))
    return built


def _pipeline(course: Course, node: ast.Call, pipeline: Value, keys: dict[str, Any]) -> None:
    match pipeline:
        case "default":
            pass
        case None:
            keys["pipeline"] = "none"
        case str():
            keys["pipeline"] = [{"relax.get_pipeline": [pipeline]}]
        case Made(path="tvm.relax.get_default_pipeline"):
            keys["pipeline"] = "target"
        case _:
            given = forms.pass_forms(pipeline)
            if given is None:
                course.remark(node, "the pipeline cannot be read: write `build: {pipeline: […]}`")
            else:
                keys["pipeline"] = given


def _has_relax(module: Module) -> bool:
    """Whether a module has Relax functions; one that is built in Python is taken to have some."""
    return not isinstance(module.origin, Text) or "R.function" in module.origin.text


def machine(course: Course, node: ast.Call, args: list[Value], keywords: Keywords) -> Value:
    built = args[0] if args else keywords.get("rt_mod", keywords.get("exec"))
    if not isinstance(built, Built):
        return course.unknown(node)
    course.effects.append(Effect("vm", course.at(node), built.module, built=built))
    return Machine(built)


def called(course: Course, node: ast.Call, machine: Machine, name: str, args: Args) -> Result:
    made = Call(machine, name, tuple(args), course.at(node))
    built = machine.built
    course.effects.append(Effect("run", course.at(node), built.module, built=built, call=made))
    return Result(made)
