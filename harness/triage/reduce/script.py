"""TVMScript as what it is, Python: its functions, its names, and where they are used."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, TypeAlias

Kind = Literal["relax", "kernel"]
# The statement, the name, the value.
Binding: TypeAlias = "tuple[ast.stmt, str, ast.expr]"
DIALECTS = frozenset({"I", "R", "T"})


class NotPython(ValueError):
    """A module text that Python's own parser does not take."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the module, as it is written."""

    node: ast.FunctionDef
    kind: Kind

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def parameters(self) -> list[ast.arg]:
        return self.node.args.args

    def bindings(self) -> tuple[Binding, ...]:
        """Statements that give a name to a value, those inside blocks too, in their order."""
        return bindings(self.node)


@dataclass(frozen=True, slots=True)
class Script:
    """A module text, parsed. Never changed: see `harness.triage.reduce.edit`."""

    text: str
    tree: ast.Module
    functions: tuple[Function, ...]
    parents: dict[ast.AST, ast.AST] = field(repr=False)

    def function(self, name: str) -> Function | None:
        return next((one for one in self.functions if one.name == name), None)

    def references(self, name: str) -> Iterator[tuple[Function, ast.Attribute]]:
        """Where a function of the module is mentioned, as in ``cls.inner``."""
        for function in self.functions:
            for node in ast.walk(function.node):
                if isinstance(node, ast.Attribute) and node.attr == name and is_global(node):
                    yield function, node

    def up(self, node: ast.AST) -> Iterator[ast.AST]:
        """What `node` stands in, from the inside out."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent


@lru_cache(maxsize=32)
def parsed(text: str) -> Script:
    """`text` as a script. Raises NotPython."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NotPython(str(error)) from None
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    return Script(text, tree, tuple(_functions(tree)), parents)


def _functions(tree: ast.Module) -> Iterator[Function]:
    for one in members(tree):
        if isinstance(one, ast.FunctionDef):
            made_by = " ".join(ast.unparse(decorator) for decorator in one.decorator_list)
            yield Function(one, "relax" if "R.function" in made_by else "kernel")


def members(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements of a module text, those of its classes in place of them."""
    for node in tree.body:
        yield from node.body if isinstance(node, ast.ClassDef) else [node]


def in_order(node: ast.AST) -> Iterator[ast.AST]:
    """All that is below `node`, in the order of the text."""
    for child in ast.iter_child_nodes(node):
        yield child
        yield from in_order(child)


def binding(node: ast.AST) -> Binding | None:
    """``name = value``, typed or not; None for anything else."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return node, name, value
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            return node, name, value
    return None


def is_global(node: ast.Attribute) -> bool:
    """Whether it is a function of the module, and no part of a dialect."""
    return isinstance(node.value, ast.Name) and node.value.id not in DIALECTS


def called(node: ast.AST) -> str:
    """``R.call_tir`` of a call of that; "" for what is no call of a name."""
    if not isinstance(node, ast.Call):
        return ""
    names = []
    at = node.func
    while isinstance(at, ast.Attribute):
        names.append(at.attr)
        at = at.value
    return ".".join([at.id, *reversed(names)]) if isinstance(at, ast.Name) else ""


def is_output(node: ast.AST) -> bool:
    """Whether it is the statement, or the call, that ends a dataflow block."""
    return called(node.value if isinstance(node, ast.Expr) else node) == "R.output"


def is_dataflow(node: ast.AST) -> bool:
    return isinstance(node, ast.With) and called(node.items[0].context_expr) == "R.dataflow"


def stored(node: ast.AST) -> list[str]:
    """Names that are given a value in `node`, each once, in their order."""
    found = [
        one.id
        for one in in_order(node)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    ]
    found += [one.name for one in in_order(node) if isinstance(one, ast.FunctionDef)]
    if isinstance(node, ast.FunctionDef):
        found.append(node.name)
    return list(dict.fromkeys(found))


def loads(node: ast.AST) -> Iterator[ast.Name]:
    """Uses of names in `node`; what a dataflow block puts out is not a use."""
    if is_output(node):
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield node
    for child in ast.iter_child_nodes(node):
        yield from loads(child)


@lru_cache(maxsize=512)
def uses(function: ast.FunctionDef) -> Counter[str]:
    """How often each name is used in a function."""
    return Counter(name.id for name in loads(function))


@lru_cache(maxsize=512)
def bindings(function: ast.FunctionDef) -> tuple[Binding, ...]:
    """Statements of a function that give a name to a value, in their order."""
    return tuple(found for node in in_order(function) if (found := binding(node)) is not None)
