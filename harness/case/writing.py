"""Case files made by the harness: plain data to YAML as an author would lay it out."""

from __future__ import annotations

import io
import os
import re
import tempfile
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from harness.case.casefile import CaseFile
from harness.case.plain import Misread, plain_value

WIDTH = 100
SCHEMA = "# yaml-language-server: $schema=../../harness/case/schema.json\n"
_ORDER = (
    *("title", "issue", "tags", "tvm", "ffi", "notes", "module", "passes", "fix", "build", "run"),
    *("after", "expect", "contrasts", "requires", "limits", "repeat"),
)
# What their entries say reads best on lines of its own.
_SPREAD = frozenset({"passes", "run", "expect", "stock", "fixed", "contrasts"})

assert set(_ORDER) == {one.validation_alias or name for name, one in CaseFile.model_fields.items()}


def written(case: Mapping[str, Any], remarks: Mapping[str, Sequence[str]] | None = None) -> str:
    """The text of a case file that says `case`, its keys in their usual order.

    `remarks` are lines to stand as comments in front of a key.
    """
    text = SCHEMA
    for key in sorted(case, key=position):
        text += "".join(map(_remark, (remarks or {}).get(key, ())))
        text += rendered({key: case[key]})
    return text


def _remark(text: str) -> str:
    printable = "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text
    )
    lines = textwrap.wrap(printable, WIDTH - 4, break_on_hyphens=False) or [""]
    return "".join(f"# {'  ' if number else ''}{line}\n" for number, line in enumerate(lines))


def position(key: str) -> int:
    """Where a key stands among those of a case; keys of something else come in no order."""
    return _ORDER.index(key) if key in _ORDER else len(_ORDER)


def rendered(data: Any, column: int = 0, key: str = "") -> str:
    """`data` as YAML that begins at `column`; a newline at its end.

    A text of several lines becomes a literal one, what fits on a line stays on it.
    """
    dumper = _Dumper(io.StringIO(), sort_keys=False)
    node = dumper.represent_data(data)
    _lay_out(node, WIDTH - column, key)
    text: str = yaml.serialize(node, Dumper=_Dumper, width=10_000, allow_unicode=True)
    text = text.removesuffix("...\n")
    return re.sub(r"\n(?=[^\n])", "\n" + " " * column, text)


def in_flow(data: Any) -> str:
    """`data` as YAML on one line, to stand inside braces or brackets."""
    dumper = _Dumper(io.StringIO(), sort_keys=False)
    return _flow(dumper.represent_data(data))


class _Dumper(yaml.SafeDumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)  # lists are indented below their key

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text.strip("\n") or text.endswith("\n") else None
    if style is None:
        try:
            style = None if plain_value(text) == text else "'"
        except Misread:
            style = "'"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(tuple, lambda dumper, items: dumper.represent_list(list(items)))


def _lay_out(node: yaml.Node, room: int, key: str) -> None:
    """Choose for each collection between one line and one line an entry."""
    if isinstance(node, yaml.ScalarNode):
        return
    assert isinstance(node, yaml.CollectionNode)
    line = _flow(node)
    spread = key in _SPREAD or "\n" in line or len(line) + len(key) + 2 > room
    node.flow_style = not (spread and node.value) and key != ""
    if node.flow_style:
        return
    for entry in node.value:
        if isinstance(entry, tuple):
            name, value = entry
            _lay_out(value, room - 2, str(name.value))
        elif isinstance(entry, yaml.MappingNode) and key in _SPREAD:
            entry.flow_style = False
            for name, value in entry.value:
                _lay_out(value, room - 4, str(name.value))
        else:
            _lay_out(entry, room - 2, "-")


def _flow(node: yaml.Node) -> str:
    for each in _collections(node):
        each.flow_style = True
    text: str = yaml.serialize(node, Dumper=_Dumper, width=10_000, allow_unicode=True)
    return text.removesuffix("...\n").removesuffix("\n")


def _collections(node: yaml.Node) -> list[yaml.CollectionNode]:
    if not isinstance(node, yaml.CollectionNode):
        return []
    entries = [one for entry in node.value for one in (entry if type(entry) is tuple else [entry])]
    return [node, *(inner for entry in entries for inner in _collections(entry))]


def put(path: Path, text: str) -> None:
    """Write a case file whole or not at all, whenever it is interrupted; its mode stays.

    Raises
    ------
    OSError
    """
    mode = path.stat().st_mode if path.exists() else 0o644
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
