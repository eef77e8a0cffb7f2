"""Targets and PassContexts that a script works under."""

from __future__ import annotations

import ast
from typing import Final

from harness.triage.new import forms
from harness.triage.new.course import Course
from harness.triage.new.values import (
    Made,
    Value,
)

_CONTEXT: Final = ("tvm.transform.PassContext", "tvm.ir.transform.PassContext")
_TARGET: Final = ("tvm.target.Target", "tvm.target.target.Target")


def is_scope(value: Value) -> bool:
    """Whether `with` a value changes nothing but how TVM works."""
    return isinstance(value, Made) and value.path in (*_CONTEXT, *_TARGET)


def enter(course: Course, value: Value, node: ast.stmt) -> None:
    """Begin a `with` of a target or a PassContext."""
    assert isinstance(value, Made)
    if value.path in _TARGET:
        course.targets.append(value)
        return
    names = ("opt_level", "required_pass", "disabled_pass", "instruments", "config")
    given = {**dict(zip(names, value.args, strict=False)), **value.keywords}
    if given.pop("instruments", None) is not None:
        course.remark(node, "`instruments` are left out: a case has no key for them")
    for key, one in given.items():
        said = forms.argument(one)
        if said is None:
            course.remark(node, f"`{key}` of PassContext cannot be read: see `build:`")
        elif one is not None:
            course.context[key] = said[0]


def leave(course: Course, value: Value) -> None:
    """End a `with`. What a PassContext says goes for the whole of a case."""
    if isinstance(value, Made) and value.path in _TARGET:
        course.targets.pop()
