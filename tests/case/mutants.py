"""Case files gone wrong: real ones with their lines, values and structure changed at random."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from hypothesis import strategies as st

REPROS = Path(__file__).parents[2] / "repros"
SEEDS = sorted(
    path.read_text(encoding="utf-8")
    for path in (*REPROS.rglob("*.yaml"), Path(__file__).with_name("full.yaml"))
)
TREES = [yaml.safe_load(text) for text in SEEDS]

# Values that are out of place nearly everywhere, as one would write them in YAML.
ODD = (
    "null ~ true no on 0 -1 1e999 .nan -.inf 1_0 0x10 010 1:30 2026-01-01 "
    '[] {} [[]] [null] {a: 1} {a: {a: {a: []}}} \'\' "\\0" "\\ud800" "\\U0001F600" '
    "*a &a !t !!python/name:os.system << ? : - > | % @ ` ok hang main relax.transform.X"
).split(" ")
ODD += ["9" * 30, "9" * 399, "0x" + "f" * 390, "1" + "0" * 5000, "[" * 60, "{a: " * 60, "((" * 300]
ODD += [
    "é",
    "\u202e",
    "\u2028",
    "\x85",
    "\r",
    "\t",
    "\u200b",
    "\ufeff",
    "\x1b[31m",
    "a\u0301",
    "\U0001d518",
]
# The same as data, to be written as sound YAML.
ODD_DATA: list[Any] = [None, True, 0, -1, 1.5, float("nan"), float("inf"), "", " ", "ok", "\n"]
ODD_DATA += [
    10**30,
    10**399,
    -(10**399),
    [],
    {},
    [[]],
    {"": 1},
    {"a": {}},
    ["a", 1, None],
    "9" * 500,
]
ODD_DATA += [
    "é\u202e\u2028",
    "\U0001f600",
    "{expected}",
    "%s{0}{}",
    "(" * 300,
    "a.b",
    "a: b",
    "[a]",
]
ODD_DATA += [[0] * 50, [[1, 2], [3]], {"tensor": [[1, 2], [3]]}, {"random": [10**399] * 12}]
ODD_DATA += [{"arange": 4, "shape": [2**62] * 300}, {"new": "a.b", "args": {"a": [1]}}]
ODD_DATA += [{"tuple": [{"tuple": [{"result_of": 10**30}]}]}, {"one_of": ["ok", {"one_of": []}]}]

ODD_KEYS = [one for one in ODD_DATA if isinstance(one, str)]
PUNCTUATION = ("\n", "\n  ", "\n- ", ": ", ", ", "title", "expect")
raw = st.one_of(
    st.binary(max_size=2_000),
    st.text(max_size=2_000).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.lists(st.sampled_from([*ODD, *PUNCTUATION]), max_size=60).map(
        lambda parts: "".join(parts).encode("utf-8")
    ),
)


# --- lines ---------------------------------------------------------------------------------------

Draw = Callable[[st.SearchStrategy[Any]], Any]


def delete(draw: Draw, lines: list[str], at: int) -> None:
    del lines[at : at + draw(st.integers(1, 5))]


def duplicate(draw: Draw, lines: list[str], at: int) -> None:
    lines[at:at] = lines[at : at + draw(st.integers(1, 5))]


def swap(draw: Draw, lines: list[str], at: int) -> None:
    other = draw(st.integers(0, len(lines) - 1))
    lines[at], lines[other] = lines[other], lines[at]


def splice(draw: Draw, lines: list[str], at: int) -> None:
    other = draw(st.sampled_from(SEEDS)).split("\n")
    lines[at:] = other[draw(st.integers(0, len(other) - 1)) :]


def indent(draw: Draw, lines: list[str], at: int) -> None:
    lines[at] = (
        draw(st.sampled_from(["", " ", "  ", "\t", "    ", "- ", "? "])) + lines[at].lstrip()
    )


def replace_value(draw: Draw, lines: list[str], at: int) -> None:
    key, colon, _ = lines[at].partition(": ")
    lines[at] = key + (colon or ": ") + draw(st.sampled_from(ODD))


def insert(draw: Draw, lines: list[str], at: int) -> None:
    line, odd = lines[at], draw(st.sampled_from(ODD))
    column = draw(st.integers(0, len(line)))
    lines[at] = line[:column] + odd + line[column:]


def cut(draw: Draw, lines: list[str], at: int) -> None:
    lines[at:] = [lines[at][: draw(st.integers(0, len(lines[at])))]]


LINES = (delete, duplicate, swap, splice, indent, replace_value, insert, cut)


@st.composite
def lines_changed(draw: Draw) -> bytes:
    """A case file with some of its lines changed."""
    lines = draw(st.sampled_from(SEEDS)).split("\n")
    for change in draw(st.lists(st.sampled_from(LINES), min_size=1, max_size=5)):
        change(draw, lines, draw(st.integers(0, max(0, len(lines) - 1))))
        lines = lines or [""]
    return "\n".join(lines).encode("utf-8", "surrogatepass")


# --- data ----------------------------------------------------------------------------------------


def _containers(data: Any) -> list[Any]:
    found = [data] if isinstance(data, dict | list) and data else []
    items = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    return found + [one for item in items for one in _containers(item)]


def _copy(data: Any) -> Any:
    """A deep copy; what occurs twice becomes two, as a case file may not have anchors."""
    if isinstance(data, dict):
        return {key: _copy(value) for key, value in data.items()}
    return [_copy(value) for value in data] if isinstance(data, list) else data


class _Plain(yaml.CSafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


@st.composite
def values_changed(draw: Draw) -> bytes:
    """A case with some of its values put elsewhere, exchanged or taken out, as sound YAML."""
    tree = _copy(draw(st.sampled_from(TREES)))
    for _ in range(draw(st.integers(1, 4))):
        places = _containers(tree)
        if not places:
            break
        into = draw(st.sampled_from(places))
        keys = list(into) if isinstance(into, dict) else list(range(len(into)))
        key = draw(st.sampled_from(keys))
        match draw(st.integers(0, 4)):
            case 0:
                del into[key]
            case 1:
                into[key] = _copy(draw(st.sampled_from(ODD_DATA)))
            case 2:
                place = draw(st.sampled_from(_containers(draw(st.sampled_from(TREES)))))
                into[key] = _copy(place)
            case 3:
                for _ in range(draw(st.integers(1, 50))):
                    into[key] = [into[key]] if draw(st.booleans()) else {"a": into[key]}
            case 4 if isinstance(into, dict):
                into[draw(st.sampled_from(ODD_KEYS))] = into.pop(key)
            case _:
                into.append(into[key]) if isinstance(into, list) else None
    text: str = yaml.dump(tree, Dumper=_Plain, sort_keys=False, allow_unicode=True)
    return text.encode("utf-8", "surrogatepass")
