"""Statements of a script, one behind the other."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from harness.triage.new import meaning, modules, scopes
from harness.triage.new.course import DEEPEST, MOST_TURNS, Course, Return, changed_by, root_of
from harness.triage.new.course import Scope as _Scope
from harness.triage.new.expressions import evaluate, truth
from harness.triage.new.names import bound_by
from harness.triage.new.script import script_of
from harness.triage.new.values import Check, Function, Name, Result, Unknown, Value


def walk(course: Course, body: Sequence[ast.stmt]) -> None:
    """Go through statements.

    Raises
    ------
    Return
        Inside a function of the script.
    TooLong
    """
    for statement in body:
        course.step()
        _one(course, statement)


def _one(course: Course, node: ast.stmt) -> None:
    match node:
        case ast.Import() | ast.ImportFrom():
            _import(course, node)
        case ast.FunctionDef(name=name):
            text = script_of(course, node)
            course.scopes[course.scope].values[name] = text or Function(node, course.scope)
            course.pass_by(node, {name})
        case ast.ClassDef(name=name):
            value = script_of(course, node)
            place = ast.copy_location(ast.Name(name, ast.Load()), node)
            course.scopes[course.scope].values[name] = value or course.later(place)
            course.pass_by(node, {name})
            if value is not None:
                modules.loaded(course, value, node)
        case ast.Assign(targets=targets, value=expression):
            _assign(course, node, targets, expression)
        case ast.AnnAssign(target=target, value=ast.expr() as expression):
            _assign(course, node, [target], expression)
        case ast.AugAssign():
            _augment(course, node)
        case ast.Expr(value=expression):
            _expression(course, node, expression)
        case ast.With() | ast.AsyncWith():
            _with(course, node)
        case ast.If():
            _if(course, node)
        case ast.For():
            _for(course, node)
        case ast.Try():
            walk(course, [*node.body, *node.orelse, *node.finalbody])
        case ast.Assert():
            _assert(course, node)
        case ast.Return(value=expression):
            raise Return(None if expression is None else evaluate(course, expression))
        case ast.Raise():
            raise Return(course.unknown(ast.copy_location(ast.Constant(None), node)))
        case ast.Pass() | ast.Global() | ast.Nonlocal() | ast.AnnAssign():
            pass
        case _:
            course.settle(node, understood=False)


def _import(course: Course, node: ast.Import | ast.ImportFrom) -> None:
    for one in node.names:
        bound = one.asname or one.name.partition(".")[0]
        module = node.module if isinstance(node, ast.ImportFrom) else None
        path = f"{module}.{one.name}" if module else one.name if one.asname else bound
        course.scopes[course.scope].values[bound] = Name(path)
        meaning.imported(course, path, node)
    course.pass_by(node, bound_by(node))


def _assign(course: Course, node: ast.stmt, targets: list[ast.expr], given: ast.expr) -> None:
    value = evaluate(course, given)
    names: set[str] = set()
    for target in targets:
        if isinstance(target, ast.Subscript | ast.Attribute):
            if not meaning.item_assigned(course, target, value):
                names |= _touched(course, node, target)
        else:
            course.bind(target, value)
            names |= bound_by(target)
    plain = all(isinstance(one, ast.Name | ast.Tuple | ast.List) for one in targets)
    if plain:
        course.pass_by(node, names)
    else:
        course.change(node, names | {name for one in targets for name in root_of(one)})


def _touched(course: Course, node: ast.stmt, target: ast.expr) -> set[str]:
    """What is changed in a way that is not understood is known by its name alone from here on."""
    roots = root_of(target)
    for name in roots:
        variable = course.variable(name)
        values = course.scopes[variable[1]].values
        if name in values and not isinstance(values[name], Name | dict | list):
            place = ast.copy_location(ast.Name(name, ast.Load()), node)
            values[name] = course.later(place)
    return roots


def _augment(course: Course, node: ast.AugAssign) -> None:
    if isinstance(node.target, ast.Name):
        left = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        whole = ast.copy_location(ast.BinOp(left, node.op, node.value), node)
        value = evaluate(course, whole)
        value = course.later(left) if isinstance(value, Unknown) else value
        course.bind(node.target, value)
    course.change(node, root_of(node.target))


def _expression(course: Course, node: ast.Expr, expression: ast.expr) -> None:
    value = evaluate(course, expression)
    if meaning.is_idle(course, expression):
        return
    if isinstance(value, Unknown) and modules.module_checked(course, node, value):
        return
    roots = changed_by(node)
    if isinstance(expression, ast.Call):
        roots |= {name for one in expression.args for name in root_of(one)}
    course.change(node, {name for name in roots if course.is_own(name)})


def _with(course: Course, node: ast.With | ast.AsyncWith) -> None:
    entered = [(item, evaluate(course, item.context_expr)) for item in node.items]
    if not all(scopes.is_scope(value) for _, value in entered):
        course.settle(node, understood=False)
        return
    for item, value in entered:
        scopes.enter(course, value, node)
        if item.optional_vars is not None:
            course.bind(item.optional_vars, value)
            course.pass_by(node, bound_by(item.optional_vars))
    try:
        walk(course, node.body)
    finally:
        for _, value in reversed(entered):
            scopes.leave(course, value)


def _if(course: Course, node: ast.If) -> None:
    known = truth(evaluate(course, node.test))
    if known is not None:
        walk(course, node.body if known else node.orelse)
        return
    if any(isinstance(one, ast.Call) for each in node.body for one in ast.walk(each)):
        what = ast.unparse(node.test)
        course.remark(node, f"whether `{what[:60]}` holds is not known: what is below is left out")
    course.settle(node, understood=False)


def _for(course: Course, node: ast.For) -> None:
    items = evaluate(course, node.iter)
    if isinstance(items, dict):
        items = list(items)
    if not isinstance(items, list | tuple | range) or len(items) > MOST_TURNS:
        if any(isinstance(one, ast.Call) for one in ast.walk(node)):
            what = ast.unparse(node.iter)
            course.remark(node, f"what `{what[:60]}` goes through is not known: a loop left out")
        course.settle(node, understood=False)
        return
    with course.whole(node):
        for item in items:
            course.bind(node.target, item)
            walk(course, node.body)
        walk(course, node.orelse)


def _assert(course: Course, node: ast.Assert) -> None:
    checks = len(course.checks)
    value = evaluate(course, node.test)
    match node.test:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            sides = evaluate(course, left), evaluate(course, right)
            if any(isinstance(one, Result) for one in sides):
                course.checks.append(Check(sides, {}, course.at(node)))
    if isinstance(value, Unknown) and len(course.checks) == checks:
        modules.module_checked(course, node, value)


def call_function(
    course: Course, function: Function, node: ast.Call, args: list[Value], named: dict[str, Value]
) -> Value:
    """What a function of the script returns, its effects taken in as if it stood in the course."""
    bound = _arguments(course, function.node.args, args, named)
    if bound is None or course.depth >= DEEPEST or function.node.decorator_list:
        return course.unknown(node)
    course.called.add(function.node.name)
    unknown = course.unknown(node)
    back, course.scope = course.scope, len(course.scopes)
    course.scopes.append(_Scope(function.scope, bound))
    course.depth += 1
    try:
        for name, argument in _given(function.node.args, node):
            assign = ast.Assign([ast.Name(name, ast.Store())], argument)
            course.entered(ast.copy_location(assign, node), name, back)
        walk(course, function.node.body)
    except Return as end:
        return unknown if isinstance(end.value, Unknown) else end.value
    finally:
        course.depth -= 1
        course.scope = back
    return None


def _arguments(
    course: Course, arguments: ast.arguments, args: list[Value], named: dict[str, Value]
) -> dict[str, Any] | None:
    """The parameters of a function as a call of it binds them; None when that cannot be told."""
    positional = [one.arg for one in [*arguments.posonlyargs, *arguments.args]]
    names = {*positional, *(one.arg for one in arguments.kwonlyargs)}
    more = args[len(positional) :]
    if arguments.kwarg or (more and not arguments.vararg):
        return None
    defaults = dict(zip(reversed(positional), reversed(arguments.defaults), strict=False))
    for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        defaults |= {one.arg: default} if default is not None else {}
    bound = {**dict(zip(positional, args, strict=False)), **named}
    for name, default in defaults.items():
        if name not in bound:
            bound[name] = evaluate(course, default)
    if set(bound) != names:
        return None
    return bound | ({arguments.vararg.arg: tuple(more)} if arguments.vararg else {})


def _given(arguments: ast.arguments, node: ast.Call) -> list[tuple[str, ast.expr]]:
    """Parameters with the expressions of the caller, where those are one by one."""
    if any(isinstance(one, ast.Starred) for one in node.args):
        return []
    positional = [one.arg for one in [*arguments.posonlyargs, *arguments.args]]
    given = list(zip(positional, node.args, strict=False))
    return given + [(one.arg, one.value) for one in node.keywords if one.arg is not None]


def run_tests(course: Course, tree: ast.Module) -> None:
    """Go through `main` and the tests of a script that calls nothing itself."""
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef) or not node.name.startswith(("test_", "main")):
            continue
        if node.name in course.called or _needed(node):
            continue
        value = course.scopes[0].values.get(node.name)
        if isinstance(value, Function):
            plain = Function(_undecorated(node), 0)
            call = ast.Call(ast.Name(node.name, ast.Load()), [], [])
            for one in ast.walk(call):
                ast.copy_location(one, node)
            call_function(course, plain, call, [], {})


def _needed(node: ast.FunctionDef) -> bool:
    return len(node.args.args) > len(node.args.defaults)


def _undecorated(node: ast.FunctionDef) -> ast.FunctionDef:
    copied = ast.FunctionDef(node.name, node.args, node.body, [], node.returns)
    return ast.copy_location(copied, node)
