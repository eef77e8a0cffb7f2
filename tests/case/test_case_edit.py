"""Case files that the harness writes, and changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.case import parse_case
from harness.case.edit import REMOVED, edited
from harness.case.reading import read_tree
from harness.case.writing import rendered, written

CORPUS = sorted((Path(__file__).parents[2] / "repros").glob("*/*.yaml"))


def same(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def data_of(text: str) -> Any:
    tree = read_tree(text)
    assert not tree.flaws
    return tree.data


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_the_corpus_written_again_says_the_same(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    data = data_of(text)
    assert same(data_of(written(data)), data)
    assert len(parse_case(written(data), path).contrasts) == len(data.get("contrasts", ()))
    for key in {"passes", "expect"} & set(data):
        without = edited(text, {(key,): REMOVED})
        assert same(data_of(without), {name: data[name] for name in data if name != key})
        assert same(data_of(edited(without, {(key,): data[key]})), data)


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"])) | st.sampled_from(
    ["no", "1_0", "0.26", "a: b", "- a", "# a", "'", '"', "*a", "&a", "{", "2020-01-01", "0o7", "~"]
)
KEYS = TEXTS.filter(str.isprintable).filter(lambda key: key != "<<")
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@given(PLAIN, st.sampled_from([0, 2, 8]))
@example("x\n  y\n\nz\n", 4)
@example({"a": ["b" * 120, {"c": "d\ne"}]}, 0)
def test_any_plain_data(data: Any, column: int) -> None:
    text = rendered({"key": data}, column)
    assert same(read_tree(" " * column + text).data, {"key": data})


FILE = """\
# yaml-language-server: $schema=../../harness/case/schema.json
title: "Quoted"   # a remark
# about the module
module: |
  @I.ir_module
  class Module:
      # not a remark of YAML

# in front of the expectation
expect:
  stock: {vm: hang}   # for now

contrasts:
- title: ünïcode ✓ 😀
  expect: ok  # as it is
- {title: on one line, passes: [], expect: ok}
# the end
"""


def test_nothing_else_is_touched() -> None:
    changes: dict[tuple[str | int, ...], Any] = {
        ("expect",): {"stock": {"vm": {"error": "ValueError", "match": "a: b"}}},
        ("contrasts", 0, "expect"): {"run": "mismatch"},
        ("contrasts", 1, "expect"): {"run": "mismatch"},
        ("module",): "x = 1\ny = 2\n",
        ("issue",): "apache/tvm#1",
    }
    assert edited(FILE, changes).splitlines() == [
        "# yaml-language-server: $schema=../../harness/case/schema.json",
        'title: "Quoted"   # a remark',
        "issue: apache/tvm#1",
        "# about the module",
        "module: |",
        "  x = 1",
        "  y = 2",
        "",
        "# in front of the expectation",
        "expect:",
        "  stock:",
        "    vm: {error: ValueError, match: 'a: b'}   # for now",
        "",
        "contrasts:",
        "- title: ünïcode ✓ 😀",
        "  expect:",
        "    run: mismatch  # as it is",
        "- {title: on one line, passes: [], expect: {run: mismatch}}",
        "# the end",
    ]


def test_a_path_that_leads_nowhere() -> None:
    with pytest.raises(ValueError, match="nothing at contrasts\\.7"):
        edited(FILE, {("contrasts", 7, "expect"): "ok"})
    with pytest.raises(ValueError, match="opens an entry"):
        edited(FILE, {("contrasts", 0, "title"): REMOVED})


@given(st.lists(TEXTS, max_size=3))
def test_remarks_say_nothing(lines: list[str]) -> None:
    data = {"title": "a", "module": "x\ny\n", "expect": "ok"}
    text = written(data, {"module": lines, "expect": ["TODO"]})
    assert same(data_of(text), data)
    assert text.endswith("\n# TODO\nexpect: ok\n")
