"""Which name under ``tvm`` or ``numpy`` an expression stands for, by the imports of its script."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

# What people call so, and forget to import; a module that is pasted alone has no imports at all.
USUAL = {
    "I": "tvm.script.ir",
    "R": "tvm.script.relax",
    "T": "tvm.script.tirx",
    "np": "numpy",
    "relax": "tvm.relax",
    "te": "tvm.te",
    "tirx": "tvm.tirx",
    "topi": "tvm.topi",
    "tvm": "tvm",
}


@dataclass(frozen=True, slots=True)
class Names:
    """The names that imports bind, and what they bind them to."""

    bound: dict[str, str] = field(default_factory=dict)

    def path(self, node: ast.expr) -> str:
        """The dotted name that `node` stands for; "" when it is something else."""
        match node:
            case ast.Name(id=name):
                return self.bound.get(name) or USUAL.get(name, "")
            case ast.Attribute(value=value, attr=attr):
                inside = self.path(value)
                return f"{inside}.{attr}" if inside else ""
        return ""


def names_of(tree: ast.AST) -> Names:
    """The names that the imports anywhere in `tree` bind."""
    bound: dict[str, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=aliases):
                for one in aliases:
                    first = one.name.partition(".")[0]
                    bound[one.asname or first] = one.name if one.asname else first
            case ast.ImportFrom(module=str(module), names=aliases, level=0):
                bound |= {one.asname or one.name: f"{module}.{one.name}" for one in aliases}
    return Names(bound)


def imported(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """The modules that `tree` imports, each with its line."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=aliases):
                yield from ((one.name, node.lineno) for one in aliases)
            case ast.ImportFrom(module=str(module), level=0):
                yield module, node.lineno


@cache
def bound_by(node: ast.AST) -> frozenset[str]:
    """The names that a statement binds in its own scope, however deep inside it."""
    found: set[str] = set()
    todo: list[ast.AST] = [node]
    while todo:
        one = todo.pop()
        match one:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
                continue
            case ast.ClassDef(name=name):
                found.add(name)
                continue
            case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp():
                continue
            case ast.GeneratorExp():
                continue
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                found.add(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                found |= {one.asname or one.name.partition(".")[0] for one in aliases}
            case ast.ExceptHandler(name=str(name)):
                found.add(name)
        todo += ast.iter_child_nodes(one)
    return frozenset(found)


@cache
def free_in(node: ast.AST) -> frozenset[str]:
    """The names that `node` takes from around it: read somewhere in it, and bound nowhere in it.

    A name that is bound in one function of it and read in another counts as bound.
    """
    read = {
        one.id
        for one in ast.walk(node)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)
    }
    bound: set[str] = set()
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
        for one in ast.walk(node):
            match one:
                case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                    bound.add(name)
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name) if one is not node:
                    bound.add(name)
                case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                    bound |= {each.asname or each.name.partition(".")[0] for each in aliases}
                case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                    bound.add(name)
        outside = [*node.decorator_list] if not isinstance(node, ast.Lambda) else []
        read |= {one.id for each in outside for one in ast.walk(each) if isinstance(one, ast.Name)}
    else:
        for one in ast.walk(node):
            match one:
                case ast.Lambda(args=arguments):
                    bound |= {each.arg for each in ast.walk(arguments) if isinstance(each, ast.arg)}
                case ast.comprehension(target=target):
                    bound |= {each.id for each in ast.walk(target) if isinstance(each, ast.Name)}
    return frozenset(read - bound)
