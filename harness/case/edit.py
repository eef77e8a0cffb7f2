"""Changing a case file and nothing else in it: comments, order and quoting stay as they are."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

import yaml

from harness.case.reading import read_tree
from harness.case.tree import Path
from harness.case.writing import in_flow, position, rendered

_LOADER = getattr(yaml, "CLoader", yaml.SafeLoader)


class _Removed(Enum):
    REMOVED = "removed"


REMOVED: Final = _Removed.REMOVED


def edited(text: str, changes: Mapping[Path, Any]) -> str:
    """The text of a sound case file with other values.

    Parameters
    ----------
    text : str
    changes : mapping
        From the path of a key, such as ``("contrasts", 0, "expect")``, to its new value as plain
        data, or to `REMOVED`. A key that is not there is put where it belongs. What stands in
        braces on one line is written anew as a whole.

    Raises
    ------
    ValueError
        When a path leads nowhere, or the first key of an entry of a list would be removed.
    """
    for path, value in changes.items():
        text = _changed(text, path, value)
    return text


def _changed(text: str, path: Path, value: Any) -> str:
    data = read_tree(text).data
    wanted = copy.deepcopy(data)
    parent = _at(wanted, path[:-1])
    if value is REMOVED:
        parent.pop(path[-1], None)
    else:
        parent[path[-1]] = value
    document = _Document(text)
    line = document.line_around(path)
    if line is not None:
        new = document.with_line(line, _at(wanted, line))
    elif value is REMOVED:
        new = document.without(path)
    else:
        new = document.having(path, value)
    if _form(read_tree(new).data) != _form(wanted):
        raise ValueError(f"cannot write {'.'.join(map(str, path))} into this file")
    return new


def in_front(text: str, path: Path, entry: Mapping[str, Any]) -> str:
    """The text of a sound case file with one more entry in a list.

    Parameters
    ----------
    text : str
    path : tuple of str and int
        Of the entry that the new one comes in front of; its number may be one past the last. A
        value that is no entry becomes one: the second of a new list.
    entry : mapping

    Raises
    ------
    ValueError
        When `path` leads nowhere.
    """
    wanted = copy.deepcopy(read_tree(text).data)
    into = _at(wanted, path[:-1])
    if isinstance(path[-1], int):
        into.insert(path[-1], dict(entry))
    else:
        into[path[-1]] = [dict(entry), into[path[-1]]]
    document = _Document(text)
    line = document.line_around((*path[:-1], 0) if isinstance(path[-1], int) else path)
    if line is not None:
        new = document.with_line(line, _at(wanted, line))
    elif isinstance(path[-1], int):
        new = document.with_item(path[:-1], path[-1], entry)
    else:
        new = document.as_second(path, entry)
    if _form(read_tree(new).data) != _form(wanted):
        raise ValueError(f"cannot put an entry in front of {'.'.join(map(str, path))}")
    return new


def _form(data: Any) -> str:
    """What two equal pieces of data have in common; NaN is no different from itself here."""
    return json.dumps(data, sort_keys=True, ensure_ascii=True)


def _at(data: Any, path: Path) -> Any:
    for item in path:
        try:
            data = data[item]
        except (KeyError, IndexError, TypeError):
            raise ValueError(f"nothing at {'.'.join(map(str, path))}") from None
    return data


@dataclass(frozen=True, slots=True)
class _Entry:
    """A key in a block mapping, by offsets into the text; `end` is behind the value."""

    name: str
    start: int
    end: int
    column: int


class _Document:
    def __init__(self, text: str) -> None:
        self.text = text
        self.root: Any = yaml.compose(text, Loader=_LOADER)
        self.starts = [0]
        for line in text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def line_around(self, path: Path) -> Path | None:
        """The outermost thing in braces or brackets that `path` leads into, if any."""
        node: Any = self.root
        for depth, item in enumerate(path):
            if node.flow_style:
                return path[:depth]
            node = _inner(node, item)
            if not isinstance(node, yaml.CollectionNode):
                break
        return None

    def with_line(self, path: Path, value: Any) -> str:
        """The text with `value` in place of something in braces or brackets."""
        node = self.node(path)
        start, end = self.offset(node.start_mark), self.offset(node.end_mark)
        return self.text[:start] + in_flow(value) + self.text[end:]

    def node(self, path: Path) -> Any:
        node = self.root
        for item in path:
            node = _inner(node, item)
        return node

    def having(self, path: Path, value: Any) -> str:
        """The text with `value` at a key of a block mapping."""
        entries = self.entries(path[:-1])
        key = str(path[-1])
        for entry in entries:
            if entry.name == key:
                new = rendered({key: value}, entry.column).rstrip("\n ")
                return self.text[: entry.start] + new + self.text[entry.end :]
        before = [entry for entry in entries if position(entry.name) <= position(key)]
        last = before[-1] if before else entries[0]
        end = self.line_end(last.end)
        head = self.text[:end] + ("" if self.text[:end].endswith("\n") else "\n")
        new = " " * last.column + rendered({key: value}, last.column).rstrip("\n ") + "\n"
        return head + new + self.text[end:]

    def without(self, path: Path) -> str:
        """The text without a key of a block mapping."""
        for entry in self.entries(path[:-1]):
            if entry.name == path[-1]:
                start = self.text.rfind("\n", 0, entry.start) + 1
                if self.text[start : entry.start].strip():
                    raise ValueError(f"{path[-1]} opens an entry of a list")
                return self.text[:start] + self.text[self.line_end(entry.end) :]
        return self.text

    def with_item(self, path: Path, index: int, item: Mapping[str, Any]) -> str:
        """The text with one more item in a list of lines; remarks above an item stay with it."""
        items = self.node(path)
        column = items.start_mark.column
        if index < len(items.value):
            start = self.line_start(self.offset(items.value[index].start_mark))
            while self.text[start : start + column + 1].strip() != "-":
                start = self.line_start(start - 1)
            while self.text[self.line_start(start - 1) : start].lstrip().startswith("#"):
                start = self.line_start(start - 1)
        else:
            start = self.line_end(self.end(items))
        head = self.text[:start] + ("" if self.text[:start].endswith("\n") else "\n")
        return f"{head}{' ' * column}{_item(item, column)}\n{self.text[start:]}"

    def as_second(self, path: Path, item: Mapping[str, Any]) -> str:
        """The text with a list of `item` and what stands at `path`, word for word."""
        node = self.node(path)
        start, end = self.offset(node.start_mark), self.end(node)
        head, value = self.text[: self.line_start(start)], self.text[start:end]
        column = start - len(head)
        if self.text[len(head) : start].strip():  # on the line of its key
            head = self.text[:start].rstrip() + "\n"
            (key,) = (one for one in self.entries(path[:-1]) if one.name == path[-1])
            column = key.column + 2
        else:
            value = re.sub(r"\n(?=[^\n])", "\n  ", value)
        margin = " " * column
        return f"{head}{margin}{_item(item, column)}\n{margin}- {value}{self.text[end:]}"

    def line_start(self, offset: int) -> int:
        """Where the line around `offset` begins."""
        return self.text.rfind("\n", 0, max(offset, 0)) + 1

    def entries(self, path: Path) -> list[_Entry]:
        """The keys of the block mapping at `path`, in their order."""
        return [
            _Entry(key.value, self.offset(key.start_mark), self.end(value), key.start_mark.column)
            for key, value in self.node(path).value
        ]

    def offset(self, mark: Any) -> int:
        return self.starts[int(mark.line)] + int(mark.column)

    def end(self, node: yaml.Node) -> int:
        """Behind the last line of a value: remarks in front of the next key are not part of it."""
        last = node
        while isinstance(last, yaml.CollectionNode) and not last.flow_style and last.value:
            last = last.value[-1][1] if isinstance(last, yaml.MappingNode) else last.value[-1]
        end = self.offset(last.end_mark)
        if isinstance(last, yaml.ScalarNode) and last.style in ("|", ">"):
            return len(self.text[:end].rstrip())
        return end

    def line_end(self, offset: int) -> int:
        """Behind the line break that comes next."""
        found = self.text.find("\n", offset)
        return len(self.text) if found < 0 else found + 1


def _item(item: Mapping[str, Any], column: int) -> str:
    return "- " + rendered(dict(item), column + 2).rstrip("\n ")


def _inner(node: Any, item: str | int) -> Any:
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == item), None)
    return node.value[item] if isinstance(node, yaml.SequenceNode) else None
