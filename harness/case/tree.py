"""What a YAML file says, as plain data, and where each part of it stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import yaml

from harness.case.lines import Lines

Path: TypeAlias = "tuple[str | int, ...]"


class Spot(NamedTuple):
    """A place in the file; lines and columns count from 1. `style` is YAML's mark: ``|``, ``>``."""

    line: int
    column: int
    style: str = ""


@dataclass(frozen=True, slots=True)
class Flaw:
    """Something wrong, and where."""

    spot: Spot
    message: str
    expected: str = ""
    got: str = ""
    hint: str = ""


@dataclass(slots=True)
class Tree:
    """What a file says.

    `values` and `keys` hold, by path, the YAML event that each came as. When `whole` is False the
    text broke off: what was read before that is in `data`, and not worth checking.
    """

    lines: Lines
    data: Any = None
    values: dict[Path, yaml.Event] = field(default_factory=dict)
    keys: dict[Path, yaml.Event] = field(default_factory=dict)
    flaws: list[Flaw] = field(default_factory=list)
    whole: bool = True

    def place(self, event: yaml.Event) -> Spot:
        """Where `event` begins."""
        assert event.start_mark is not None, "parsed, not made"
        place = self.lines.place(event.start_mark.index)
        return Spot(*place, getattr(event, "style", None) or "")

    def spot(self, path: Path) -> Spot:
        """Where `path` stands: its key, or itself in a list; the nearest thing around it else."""
        while path not in self.keys and path not in self.values and path:
            path = path[:-1]
        event = self.keys.get(path) or self.values.get(path)
        return self.place(event) if event else Spot(1, 1)

    def at(self, path: Path, otherwise: Any = None) -> Any:
        """The value at `path`."""
        data = self.data
        for item in path:
            try:
                data = data[item]
            except (KeyError, IndexError, TypeError):
                return otherwise
        return data

    def value_spot(self, path: Path) -> Spot:
        """Where the value at `path` begins."""
        event = self.values.get(path)
        return self.place(event) if event else self.spot(path)
