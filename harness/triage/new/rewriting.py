"""Expressions over arrays, in words that need nothing of the script: for `equals:`."""

from __future__ import annotations

import ast
import copy
import math

from harness.triage.new.course import Course, literal
from harness.triage.new.values import Array, Name, Tensor, Value


class _Rewriter(ast.NodeTransformer):
    """An expression over arrays with what they are made of in place of their names."""

    def __init__(self, course: Course) -> None:
        self.course = course

    def visit_Name(self, node: ast.Name) -> ast.AST:
        value = self.course.lookup(node) if isinstance(node.ctx, ast.Load) else None
        match value:
            case Array(node=made) | Tensor(array=Array(node=made)):
                return made
            case Name(path=path) if path == "numpy" or path.startswith("numpy."):
                return ast.parse("np" + path.removeprefix("numpy"), mode="eval").body
            case bool() | int() | float() | str() | list() | tuple() if literal(value):
                return ast.parse(shown(value), mode="eval").body
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node.func:
            case ast.Attribute(attr="numpy", value=ast.Name() as inner):
                if isinstance(self.course.lookup(inner), Tensor):
                    return self.visit_Name(inner)
        return self.generic_visit(node)


def rewritten(course: Course, node: ast.expr) -> ast.expr:
    """`node`, an expression over arrays, over the names of their leaves, with NumPy as ``np``."""
    made = _Rewriter(course).visit(copy.deepcopy(node))
    assert isinstance(made, ast.expr)
    return made


def shown(value: Value) -> str:
    """Plain data as Python that needs nothing but NumPy."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"nan": "np.nan", "inf": "np.inf", "-inf": "(-np.inf)"}[str(value)]
    if isinstance(value, list):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(shown, value))}{',' if len(value) == 1 else ''})"
    return repr(value)
