"""Code for an older TVM in the names of today. Lines stay where they are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from harness import compat
from harness.triage.new.names import Names, names_of
from harness.triage.new.report import parse

_SCRIPT = ("tvm.script.tir", "tvm.script.tirx", "tvm.script.parser.tir", "tvm.script.parser.tirx")
_BUFFER = [f"{base}.Buffer" for base in _SCRIPT]
# Their third argument is the type, on every release, when it comes without its name.
_TYPE_IS_THIRD = ("call_tir", "call_dps_packed")


@dataclass(frozen=True, slots=True)
class Change:
    """What one line said, and what it says now; `line` counts from 1 in the text."""

    line: int
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class _Edit:
    start: int
    end: int
    new: str
    told: Change | None


def translated(text: str) -> tuple[str, tuple[Change, ...]]:
    """`text` in the names of today, and what was changed. Text that is not Python stays as it is.

    An old name goes only where the imports, or the usual names of TVMScript, tell that it is TVM's.
    """
    try:
        tree = parse(text)
    except SyntaxError:
        return text, ()
    raw = text.encode()
    edits = sorted(_Translator(raw, names_of(tree)).edits(tree), key=lambda one: -one.start)
    last = len(raw) + 1
    changes = set()
    for edit in edits:
        if edit.end <= last:
            raw = raw[: edit.start] + edit.new.encode() + raw[edit.end :]
            last = edit.start
            changes |= {edit.told} if edit.told else set()
    new = raw.decode()
    try:
        parse(new)
    except SyntaxError:  # rather the old names than none
        return text, ()
    return new, tuple(sorted(changes, key=lambda one: (one.line, one.old)))


class _Translator:
    def __init__(self, raw: bytes, names: Names) -> None:
        self.raw = raw
        self.names = names
        self.starts = [0]
        for line in raw.split(b"\n"):
            self.starts.append(self.starts[-1] + len(line) + 1)

    def edits(self, tree: ast.AST) -> Iterator[_Edit]:
        todo: list[tuple[ast.AST, bool]] = [(tree, False)]
        while todo:
            node, blocks = todo.pop()
            match node:
                case ast.Import() | ast.ImportFrom():
                    yield from self.imports(node)
                case ast.FunctionDef() if self.lacks_s_tir(node):
                    blocks = True
                    yield from self.s_tir(node)
                case ast.Attribute() | ast.Name() if path := self.names.path(node):
                    yield from self.name(node, path, blocks)
                    continue
                case ast.Attribute(attr=attr) if compat.todays_word(attr) != attr:
                    end = self.end(node)
                    yield self.edit(node, end - len(attr.encode()), end, compat.todays_word(attr))
                case ast.Call():
                    yield from self.keywords(node)
                    yield from self.keys(node)
                case ast.Subscript() if self.names.path(node.value) in _BUFFER:
                    told = Change(node.lineno, "T.Buffer[…]", "T.Buffer(…)")
                    yield _Edit(self.end(node.value), self.start(node.slice), "(", told)
                    yield _Edit(self.end(node.slice), self.end(node), ")", None)
            todo += ((child, blocks) for child in ast.iter_child_nodes(node))

    def name(self, node: ast.Attribute | ast.Name, path: str, blocks: bool) -> Iterator[_Edit]:
        if not path.startswith("tvm"):
            return
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        assert isinstance(root, ast.Name)
        old = compat.todays_name(self.names.path(root))
        new = compat.todays_name(path)
        if blocks and new == f"{old}.alloc_buffer":
            new = f"{old}.sblock_alloc_buffer"
        said = new if not new.startswith(f"{old}.") else root.id + new.removeprefix(old)
        said = root.id if new == old else said
        if said != ast.unparse(node):
            yield self.edit(node, self.start(node), self.end(node), said)

    def imports(self, node: ast.Import | ast.ImportFrom) -> Iterator[_Edit]:
        parts = []
        for one in node.names:
            if isinstance(node, ast.Import):
                parts.append(f"import {compat.todays_name(one.name)}" + _as(one.asname))
            elif node.level or not node.module or one.name == "*":
                return
            else:
                new = compat.todays_name(f"{node.module}.{one.name}")
                module, _, name = new.rpartition(".")
                bound = one.asname or one.name
                parts.append(f"from {module} import {name}" + _as(bound if bound != name else None))
        before = [
            f"import {one.name}{_as(one.asname)}"
            if isinstance(node, ast.Import)
            else f"from {node.module} import {one.name}{_as(one.asname)}"
            for one in node.names
        ]
        if parts != before:
            lines = "\n" * ((node.end_lineno or node.lineno) - node.lineno)
            told = Change(
                node.lineno,
                ", ".join(old for old, new in zip(before, parts, strict=True) if old != new),
                ", ".join(new for old, new in zip(before, parts, strict=True) if old != new),
            )
            merged = _merged(parts)
            yield _Edit(self.start(node), self.end(node), merged + lines, told)

    def lacks_s_tir(self, node: ast.FunctionDef) -> bool:
        """Whether it is a PrimFunc that speaks of blocks, and does not say so."""
        if self.decorator(node) is None:
            return False
        called = (one for one in ast.walk(node) if isinstance(one, ast.Attribute))
        words = {self.names.path(one).rpartition(".")[2] for one in called}
        return bool(words & {"block", "sblock", "axis"})

    def decorator(self, node: ast.FunctionDef) -> ast.expr | None:
        for one in node.decorator_list:
            called = one.func if isinstance(one, ast.Call) else one
            if self.names.path(called) in [f"{base}.prim_func" for base in _SCRIPT]:
                keywords = one.keywords if isinstance(one, ast.Call) else []
                return None if any(each.arg == "s_tir" for each in keywords) else one
        return None

    def s_tir(self, node: ast.FunctionDef) -> Iterator[_Edit]:
        one = self.decorator(node)
        assert one is not None
        told = Change(one.lineno, "@T.prim_func", "@T.prim_func(s_tir=True)")
        if not isinstance(one, ast.Call):
            yield _Edit(self.end(one), self.end(one), "(s_tir=True)", told)
        elif not one.args:
            bracket = self.raw.index(b"(", self.end(one.func)) + 1
            yield _Edit(bracket, bracket, "s_tir=True" + (", " if one.keywords else ""), told)

    def keywords(self, node: ast.Call) -> Iterator[_Edit]:
        path = self.names.path(node.func)
        if not path.startswith("tvm."):
            return
        for place, one in enumerate(node.keywords):
            if one.arg is None or compat.todays_word(one.arg) == one.arg:
                continue
            start, value = self.start(one), self.start(one.value)
            bare = re.fullmatch(rb"\w+\s*=\s*", self.raw[start:value]) is not None
            third = path.rpartition(".")[2] in _TYPE_IS_THIRD and len(node.args) == 2
            if bare and third and place == 0:
                yield self.edit(one, start, value, "")
            else:
                end = start + len(one.arg.encode())
                yield self.edit(one, start, end, compat.todays_word(one.arg))

    def keys(self, node: ast.Call) -> Iterator[_Edit]:
        """Keys such as ``tir.noalias`` in attributes of functions, and in PassContext's config."""
        if self.names.path(node.func).rpartition(".")[2] not in ("PassContext", "func_attr"):
            return
        given = [*node.args, *(one.value for one in node.keywords)]
        pairs = [
            pair
            for one in given
            if isinstance(one, ast.Dict)
            for pair in zip(one.keys, one.values, strict=True)
        ]
        for key, value in pairs:
            if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                continue
            new = compat.todays_config(key.value)
            if new != key.value:
                yield self.edit(key, self.start(key), self.end(key), f'"{new}"')
            match value:  # an attribute of these is a plain boolean now
                case ast.Call(args=[ast.Constant(value=bool() as plain)]) if new in compat.BOOLEAN:
                    yield self.edit(value, self.start(value), self.end(value), str(plain))

    def edit(self, node: ast.expr | ast.keyword, start: int, end: int, new: str) -> _Edit:
        old = self.raw[start:end].decode()
        return _Edit(start, end, new, Change(node.lineno, old.rstrip("= "), new))

    def start(self, node: ast.expr | ast.stmt | ast.keyword) -> int:
        return self.starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.starts[node.end_lineno - 1] + node.end_col_offset


def _as(name: str | None) -> str:
    return f" as {name}" if name else ""


def _merged(parts: list[str]) -> str:
    """Import statements on one line, those from the same module as one."""
    grouped: dict[str, list[str]] = {}
    for one in parts:
        head, _, name = one.rpartition(" import ")
        grouped.setdefault(head, []).append(name if head else one.removeprefix("import "))
    return "; ".join(
        f"{head + ' ' if head else ''}import {', '.join(names)}" for head, names in grouped.items()
    )
