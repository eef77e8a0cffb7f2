"""Modules of a script, and what is done with them before they are built."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from harness.triage.new import forms
from harness.triage.new.course import Course
from harness.triage.new.slicing import start_of
from harness.triage.new.values import (
    Effect,
    Made,
    Module,
    Printed,
    Step,
    Text,
    Unknown,
    Value,
)

Keywords = Mapping[str, Value]
Args = Sequence[Value]


def as_module(course: Course, value: Value) -> Module | None:
    """`value` as a module; None when it cannot be one."""
    match value:
        case Module():
            return value
        case Text(function=True, name=name) if name in course.as_modules:
            return Module(_as_class(course, {"main": value}, value.line))
        case Text():
            return Module(value)
        case Made(origin=unknown) | (Unknown() as unknown):
            if forms.is_pass(value):
                return None
            _, start = start_of(course, unknown.node, unknown.at, unknown.scope)
            begin = as_module(course, start) if start is not None else None
            if begin is None:
                return Module(unknown)
            name, _ = start_of(course, unknown.node, unknown.at, unknown.scope)
            step = Step(None, unknown.line, unknown, name, unknown.at, unknown.scope)
            return Module(begin.origin, (*begin.steps, step))
    return None


def loaded(course: Course, text: Text, node: ast.AST) -> None:
    """A module in TVMScript is parsed where it stands."""
    course.effects.append(Effect("load", course.at(node), Module(text)))


def apply(course: Course, node: ast.Call, function: Value, module: Module) -> Module:
    given = forms.pass_forms(function)
    line = course.at(node)
    if given is None:
        unknown = course.unknown(node)
        name, _ = start_of(course, node, unknown.at, unknown.scope)
        steps = [Step(None, line, unknown, name, unknown.at, unknown.scope)]
    else:
        scope = forms.target(course.targets[-1]) if course.targets else None
        steps = [Step(_under(one, scope), line) for one in given]
    after = Module(module.origin, (*module.steps, *steps))
    for count, _ in enumerate(steps, 1):
        part = Module(module.origin, after.steps[: len(module.steps) + count])
        course.effects.append(Effect("pass", line, part))
    return after


def _under(form: Any, scope: Any) -> Any:
    """A pass in the scope of a target."""
    if scope is None:
        return form
    if isinstance(form, str):
        return {form: {"under": {"target": scope}}}
    ((name, args),) = form.items()
    given = {"args": args} if isinstance(args, list) else args
    return {name: {**given, "under": {"target": scope}}}


def module_checked(course: Course, node: ast.stmt, value: Unknown) -> bool:
    """Take a statement that does something with a module as a pass; whether it is one."""
    at = len(course.log)
    direct = {one.id for one in ast.walk(value.node) if isinstance(one, ast.Name)}
    if course.quiet or not any(map(course.is_module, direct)):
        return False
    name, start = start_of(course, value.node, at, course.scope)
    module = as_module(course, start) if name in direct else None
    if module is None:
        return False
    step = Step(None, course.at(node), node, name, at, course.scope)
    after = Module(module.origin, (*module.steps, step))
    variable = course.variable(name)
    course.scopes[variable[1]].values[name] = after
    course.effects.append(Effect("pass", course.at(node), after))
    course.change(node, {name})
    return True


def well_formed(course: Course, node: ast.Call, args: list[Value], keywords: Keywords) -> Value:
    module = as_module(course, args[0]) if args else None
    if module is None:
        return course.unknown(node)
    course.effects.append(Effect("well_formed", course.at(node), module))
    return True


def schedule(course: Course, node: ast.Call, args: list[Value], keywords: Keywords) -> Value:
    unknown = course.unknown(node)
    if args and isinstance(args[0], Text):
        course.as_modules.add(args[0].name)
    module = as_module(course, args[0]) if args else None
    if module is not None:
        course.schedules.append((unknown, module))
    return unknown


def from_source(course: Course, node: ast.Call, args: list[Value], keywords: Keywords) -> Value:
    match args[0] if args else None:
        case str() as text:
            found = Text(text, "", course.at(node))
            loaded(course, found, node)
            return found
        case Printed() as printed:
            return _round_trip(course, node, printed)
    return course.unknown(node)


def _round_trip(course: Course, node: ast.Call, printed: Printed) -> Module:
    module = printed.module
    step = Step({"roundtrip": printed.form}, course.at(node))
    after = Module(module.origin, (*module.steps, step))
    course.effects.append(Effect("pass", course.at(node), after, at="after"))
    return after


def save_json(course: Course, node: ast.Call, args: list[Value], keywords: Keywords) -> Value:
    module = as_module(course, args[0]) if args else None
    return course.unknown(node) if module is None else Printed(module, "json")


def load_json(course: Course, node: ast.Call, args: list[Value], keywords: Keywords) -> Value:
    match args:
        case [Printed() as printed]:
            return _round_trip(course, node, printed)
    return course.unknown(node)


def module_of(course: Course, node: ast.Call, args: list[Value], keywords: Keywords) -> Value:
    """``tvm.IRModule({"main": f})`` and ``from_expr(f)``, for functions in TVMScript."""
    given = args[0] if args else keywords.get("functions")
    match given:
        case Text(function=True):
            return given
        case dict() if given and all(isinstance(one, Text) for one in given.values()):
            if all(isinstance(one, Text) and one.function for one in given.values()):
                return _as_class(course, given, course.at(node))
    return Made("tvm.IRModule", tuple(args), dict(keywords), course.unknown(node))


def _as_class(course: Course, functions: Mapping[str, Any], line: int) -> Text:
    parts = ["@I.ir_module", "class Module:"]
    lacking: list[Any] = []
    for name, one in functions.items():
        text = one.text.replace(f"def {one.name}(", f"def {name}(", 1)
        parts += [f"    {row}" if row else "" for row in text.rstrip("\n").split("\n")]
        lacking += one.lacking
    return Text("\n".join(parts) + "\n", "Module", line, False, tuple(lacking))
