"""YAML text to plain data, with the position of everything; what YAML 1.1 would misread is refused.

Reads events, not nodes: they nest without recursion, and tell aliases and tags apart from what
they would turn into.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import yaml

from harness.case.lines import Lines
from harness.case.plain import Misread, plain_value
from harness.case.tree import Flaw, Path, Spot, Tree

DEEPEST = 40  # levels; a case needs ten
_LOADER = getattr(yaml, "CLoader", yaml.SafeLoader)

_ADVICE = {
    "mapping values are not allowed": "a text with `: ` in it needs quotes",
    "cannot start any token": "a text that begins with a sign of YAML's own needs quotes",
    "undefined alias": "a text that begins with `*` needs quotes",
    "alphabetic or numeric": "a text that begins with `&` or `*` needs quotes",
}


class _Stop(Exception):
    """No use in reading on; the flaw is noted."""


@dataclass(slots=True)
class _Open:
    """A list or mapping being read; `key` is the path item of the value that comes next."""

    into: dict[str, Any] | list[Any]
    path: Path
    key: str | None = None
    throw_away: bool = False  # the value that comes next has no place: its key was refused
    is_key: bool = False  # itself the key of the mapping around it, which was refused


def read_tree(text: str) -> Tree:
    """Read one YAML document. Never raises: what is wrong is in `flaws`."""
    tree = Tree(Lines(text))
    reader = _Reader(tree)
    try:
        for event in _events(text):
            reader.take(event)
    except yaml.MarkedYAMLError as error:
        tree.whole = False
        tree.flaws.append(_syntax_flaw(error, tree.lines))
    except _Stop:
        tree.whole = False
    return tree


def _events(text: str) -> Iterator[Any]:
    loader = _LOADER(text)
    try:
        while loader.check_event():
            yield loader.get_event()
    finally:
        loader.dispose()


def _syntax_flaw(error: yaml.MarkedYAMLError, lines: Lines) -> Flaw:
    mark = error.problem_mark or error.context_mark
    spot = Spot(*lines.place(mark.index)) if mark else Spot(1, 1)
    problem = error.problem or "not YAML"
    said = f"{error.context}, {problem}" if error.context else problem
    line = lines.text_of(spot.line)
    indentation = line[: len(line) - len(line.lstrip())]
    if "\t" in indentation or line[spot.column - 1 : spot.column] == "\t":
        return Flaw(spot, "a tab in the indentation", "spaces", hint="YAML indents with spaces")
    hint = next((hint for part, hint in _ADVICE.items() if part in problem), "")
    return Flaw(spot, f"not YAML: {said}", hint=hint)


class _Reader:
    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.stack: list[_Open] = []
        self.documents = 0

    def take(self, event: Any) -> None:
        match event:
            case yaml.ScalarEvent():
                self._scalar(event)
            case yaml.MappingStartEvent():
                self._open(event, {})
            case yaml.SequenceStartEvent():
                self._open(event, [])
            case yaml.CollectionEndEvent():
                if not self.stack.pop().is_key:
                    self._placed()
            case yaml.AliasEvent():
                self._flaw(event, "an alias", f"*{event.anchor}", "write the value out")
                if self._wants_key():
                    self.stack[-1].key, self.stack[-1].throw_away = "", True
                else:
                    self._place(event, "")
                    self._placed()
            case yaml.DocumentStartEvent():
                self.documents += 1
                if self.documents > 1:
                    self._stop(event, "a second document", "one document in a file")

    def _scalar(self, event: Any) -> None:
        self._refuse_tag_and_anchor(event)
        plain = not event.style
        if self._wants_key():
            self._key(event, plain)
            return
        self._place(event, self._plain(event) if plain else event.value)
        self._placed()

    def _plain(self, event: Any) -> Any:
        try:
            return plain_value(event.value)
        except Misread as trap:
            self._flaw(
                event, "YAML versions disagree on this", event.value, trap.hint, trap.expected
            )
            return event.value

    def _wants_key(self) -> bool:
        return bool(self.stack) and self.stack[-1].key is None and type(self.stack[-1].into) is dict

    def _key(self, event: Any, plain: bool) -> None:
        top = self.stack[-1]
        key: str = event.value
        bad = plain and key == "<<"
        if bad:
            self._flaw(event, "a merge key", key, "write the keys out")
        elif not key.isprintable():
            bad = True
            self._flaw(event, "a key with control characters", key)
        elif plain and not isinstance(self._plain(event), str):
            self._flaw(event, "a key that is not a text", key, "quote it if it is one", "a text")
        path = (*top.path, key)
        if path in self.tree.keys:
            bad = True
            hint = f"first given on line {self.tree.place(self.tree.keys[path]).line}"
            self._flaw(event, f"duplicate key `{key}`", hint=hint)
        if not bad:
            self.tree.keys[path] = event
        top.key, top.throw_away = key, bad

    def _open(self, event: Any, container: dict[str, Any] | list[Any]) -> None:
        self._refuse_tag_and_anchor(event)
        if len(self.stack) >= DEEPEST:
            self._stop(event, "nested too deep", f"at most {DEEPEST} levels")
        if self._wants_key():
            self._flaw(event, "a key that is not a text", expected="a text")
            top = self.stack[-1]
            top.key, top.throw_away = "", True
            self.stack.append(_Open(container, (*top.path, "\0"), is_key=True))
        else:
            self.stack.append(_Open(container, self._place(event, container)))

    def _place(self, event: Any, value: Any) -> Path:
        """Put `value` where it belongs; returns its path."""
        if not self.stack:
            self.tree.data = value
            self.tree.values[()] = event
            return ()
        top = self.stack[-1]
        if isinstance(top.into, list):
            path: Path = (*top.path, len(top.into))
            top.into.append(value)
        elif top.throw_away:
            return (*top.path, f"\0{len(self.tree.flaws)}")
        else:
            path = (*top.path, str(top.key))
            top.into[str(top.key)] = value
        self.tree.values[path] = event
        return path

    def _placed(self) -> None:
        """A value has ended: the mapping around it waits for a key again."""
        if self.stack:
            self.stack[-1].key = None

    def _refuse_tag_and_anchor(self, event: Any) -> None:
        if event.tag is not None:
            self._flaw(event, "a tag", event.tag, "leave it out: a case is plain data")
        if event.anchor is not None:
            self._flaw(event, "an anchor", f"&{event.anchor}", "leave it out, write values out")

    def _flaw(
        self, event: Any, message: str, got: str = "", hint: str = "", expected: str = ""
    ) -> None:
        self.tree.flaws.append(Flaw(self.tree.place(event), message, expected, got, hint))

    def _stop(self, event: Any, message: str, expected: str) -> NoReturn:
        self._flaw(event, message, expected=expected)
        raise _Stop
