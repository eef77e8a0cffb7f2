"""The course a script takes, statement by statement, as far as it can be told without running it.

Nothing is executed: an expression has a value here when its syntax says what it stands for.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from harness.triage.new.arrays import named
from harness.triage.new.names import Names, bound_by
from harness.triage.new.values import (
    Array,
    Check,
    Effect,
    Function,
    Module,
    Name,
    Text,
    Unbound,
    Unknown,
    Value,
)

MOST_STEPS = 4000
MOST_TURNS = 64
DEEPEST = 8
Variable = tuple[str, int]  # a name, and the number of its scope


@dataclass(frozen=True, slots=True)
class Entry:
    """A statement that was passed.

    `writes` has the variables it binds or changes and, behind it, their values; `kills` says that
    what they were before does not matter any more. `scope` is where its names are looked up.
    """

    node: ast.stmt
    scope: int
    writes: Mapping[Variable, Value]
    kills: bool = True


@dataclass(slots=True)
class Scope:
    parent: int
    values: dict[str, Value] = field(default_factory=dict)


class Return(Exception):
    """A function of the script returns `value`."""

    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value


class TooLong(Exception):
    """The script goes on longer than anybody would read."""


@dataclass(slots=True)
class Course:
    """What was met on the way, in order; lines of `source` are those of the report."""

    source: str
    names: Names
    scopes: list[Scope] = field(default_factory=lambda: [Scope(-1)])
    log: list[Entry] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    remarks: list[tuple[int, str]] = field(default_factory=list)
    unbound: dict[str, int] = field(default_factory=dict)
    gone: dict[str, tuple[int, str]] = field(default_factory=dict)
    as_modules: set[str] = field(default_factory=set)  # functions that are scheduled
    schedules: list[tuple[Unknown, Module]] = field(default_factory=list)
    called: set[str] = field(default_factory=set)
    targets: list[Value] = field(default_factory=list)
    context: dict[str, Value] = field(default_factory=dict)
    scope: int = 0
    # Calls a function of the script: node, arguments by position and by keyword.
    inline: Callable[[Course, Function, ast.Call, list[Value], dict[str, Value]], Value] = field(
        default=lambda *_: None
    )
    depth: int = 0
    quiet: int = 0
    steps: int = 0
    most: int = MOST_STEPS

    def at(self, node: ast.AST) -> int:
        """The line of the report that `node` stands on."""
        return int(getattr(node, "lineno", 0))

    def remark(self, node: ast.AST, text: str) -> None:
        """Something that could not be read: a TODO for whoever goes on with the case."""
        if (self.at(node), text) not in self.remarks:
            self.remarks.append((self.at(node), text))

    def unknown(self, node: ast.expr) -> Unknown:
        return Unknown(node, len(self.log), self.scope, self.at(node))

    # --- names

    def variable(self, name: str, scope: int | None = None) -> Variable:
        """Where a name is looked up."""
        here = self.scope if scope is None else scope
        while here > 0 and name not in self.scopes[here].values:
            here = self.scopes[here].parent
        return name, max(here, 0)

    def lookup(self, node: ast.Name) -> Value:
        name, scope = self.variable(node.id)
        if name in self.scopes[scope].values:
            return self.scopes[scope].values[name]
        if path := self.names.path(node):
            return Name(path)
        if hasattr(builtins, name) or name in ("__name__", "__file__"):
            return "__main__" if name == "__name__" else Name(f"builtins.{name}")
        self.unbound.setdefault(name, self.at(node))
        return Unbound(name, self.at(node))

    def bind(self, target: ast.expr, value: Value) -> None:
        """Give `value` to what an assignment names."""
        match target:
            case ast.Name(id=name):
                value = named(value) if isinstance(value, Array) else value
                self.scopes[self.scope].values[name] = value
            case ast.Starred(value=inner):
                self.bind(inner, self.later(inner))
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                whole = isinstance(value, list | tuple) and len(value) == len(targets)
                starred = any(isinstance(one, ast.Starred) for one in targets)
                for index, one in enumerate(targets):
                    self.bind(one, value[index] if whole and not starred else self.later(one))

    def later(self, target: ast.expr) -> Unknown:
        """What is bound by the statement under way, and not understood."""
        node = _loaded(target)
        return Unknown(node, len(self.log) + 1, self.scope, self.at(target))

    def written(self, names: Set[str]) -> dict[Variable, Value]:
        values = self.scopes[self.scope].values
        return {(name, self.scope): values.get(name) for name in sorted(names)}

    def pass_by(self, node: ast.stmt, names: Set[str], kills: bool = True) -> None:
        """Put a statement in the log; `names` are those it writes."""
        if not self.quiet:
            self.log.append(Entry(node, self.scope, self.written(names), kills))

    def change(self, node: ast.stmt, names: Set[str]) -> None:
        """Put a statement in the log that changes things that have a name."""
        if self.quiet:
            return
        variables = {self.variable(name) for name in names}
        values = {one: self.scopes[one[1]].values.get(one[0]) for one in sorted(variables)}
        self.log.append(Entry(node, self.scope, values, kills=False))

    def entered(self, node: ast.stmt, name: str, caller: int) -> None:
        """Put in the log that a parameter was bound to what the caller gave."""
        if not self.quiet:
            variable = name, self.scope
            value = self.scopes[self.scope].values.get(name)
            self.log.append(Entry(node, caller, {variable: value}))

    def is_own(self, name: str) -> bool:
        """Whether a name is one of the script's own, and no import."""
        variable = self.variable(name)
        return not isinstance(self.scopes[variable[1]].values.get(name, Name("")), Name)

    def is_module(self, name: str) -> bool:
        """Whether a name stands for a module here."""
        variable = self.variable(name)
        return isinstance(self.scopes[variable[1]].values.get(name), Module | Text)

    # --- statements that are one

    @contextmanager
    def whole(self, node: ast.stmt) -> Iterator[None]:
        """Take a compound statement as one: its parts are passed, it is put in the log."""
        self.quiet += 1
        try:
            yield
        finally:
            self.quiet -= 1
            if not self.quiet:
                self.settle(node, understood=True)

    def settle(self, node: ast.stmt, understood: bool) -> None:
        """Put a compound statement in the log; what it leaves unknown has its name alone."""
        changed = {name for name in changed_by(node) if self.is_own(name)}
        names = bound_by(node) | changed
        variables = sorted({self.variable(name) for name in names})
        for name, scope in variables:
            values = self.scopes[scope].values
            if not understood or isinstance(values.get(name), Unknown):
                if name in values or name in bound_by(node):
                    place = ast.copy_location(ast.Name(name, ast.Load()), node)
                    values[name] = self.later(place)
        if not self.quiet:
            written = {one: self.scopes[one[1]].values.get(one[0]) for one in variables}
            self.log.append(Entry(node, self.scope, written, kills=False))

    def step(self) -> None:
        self.steps += 1
        if self.steps > self.most:
            raise TooLong


def _loaded(target: ast.expr) -> ast.expr:
    """The name that an assignment gives, as a name that is read."""
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    return target


def changed_by(node: ast.AST) -> set[str]:
    """The names of what a statement may change by a method call, an item or an attribute."""
    found: set[str] = set()
    for one in ast.walk(node):
        match one:
            case ast.Call(func=ast.Attribute() as function):
                found |= root_of(function)
            case ast.Subscript(ctx=ast.Store()) | ast.Attribute(ctx=ast.Store()):
                found |= root_of(one)
            case ast.With(items=items):
                for item in items:
                    found |= {
                        each.id
                        for each in ast.walk(item.context_expr)
                        if isinstance(each, ast.Name)
                    }
    return found


def root_of(node: ast.expr) -> set[str]:
    """The name at the bottom of attributes, items and calls, if there is one."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def literal(value: Value) -> bool:
    """Whether `value` is plain data, through and through."""
    if isinstance(value, list | tuple):
        return all(map(literal, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and literal(one) for key, one in value.items())
    return value is None or isinstance(value, bool | int | float | str)


def plain_values(course: Course, names: Set[str]) -> dict[str, Any]:
    """Those of the names that stand for plain data here."""
    found = {}
    for name in sorted(names):
        variable = course.variable(name)
        values = course.scopes[variable[1]].values
        if name in values and literal(values[name]):
            found[name] = values[name]
    return found
