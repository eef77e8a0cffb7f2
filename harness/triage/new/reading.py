"""The scripts of a report: which belong together, and the course that each takes."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from harness.triage.new.course import Course, Return, TooLong
from harness.triage.new.names import bound_by, free_in, names_of
from harness.triage.new.report import Report, Script, parse
from harness.triage.new.statements import call_function, run_tests, walk
from harness.triage.new.translate import Change, translated


@dataclass(frozen=True, slots=True)
class Read:
    """Scripts that go on from one another, as one; lines are those of the report."""

    course: Course
    changes: tuple[Change, ...]
    lines: tuple[int, ...]  # where its parts begin

    @property
    def told(self) -> int:
        """How much it has TVM do: more than to parse a module."""
        return sum(effect.stage != "load" for effect in self.course.effects)


def read_scripts(report: Report) -> list[Read]:
    """The course of every script; what goes on from another is one with it."""
    groups: list[list[Script]] = []
    for script in report.scripts:
        wanted = _wanted(script)
        before = next((one for one in reversed(groups) if wanted & _bound(one)), None)
        if before is not None:
            before.append(script)
        else:
            groups.append([script])
    return [read_script(group) for group in groups]


def _bound(scripts: Sequence[Script]) -> set[str]:
    imports = (ast.Import, ast.ImportFrom)
    body = [node for script in scripts for node in script.tree.body]
    return {name for node in body if not isinstance(node, imports) for name in bound_by(node)}


def _wanted(script: Script) -> set[str]:
    """The names that a script reads and has not bound before."""
    bound: set[str] = set()
    wanted: set[str] = set()
    for node in script.tree.body:
        own = set() if isinstance(node, ast.Assign | ast.AugAssign) else bound_by(node)
        wanted |= free_in(node) - bound - own
        bound |= bound_by(node)
    return wanted


def read_script(scripts: Sequence[Script]) -> Read:
    """Go through scripts as if they were one."""
    text = ""
    for script in scripts:
        text += "\n" * (script.line - 1 - text.count("\n")) + script.text.rstrip("\n") + "\n"
    source, changes = translated(text)
    tree = parse(source)
    course = Course(source, names_of(tree), inline=call_function)
    try:
        walk(course, tree.body)
        if not any(effect.stage != "load" for effect in course.effects):
            run_tests(course, tree)
    except Return:
        pass  # `return` outside a function: Python would refuse it
    except (TooLong, RecursionError):
        course.remark(tree.body[-1], "the script goes on for too long: the rest is not read")
    course.most = sys.maxsize  # what follows is bounded by what was read
    return Read(course, changes, tuple(script.line for script in scripts))
