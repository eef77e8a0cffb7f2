"""What holds between the parts of a file: checked on plain data, so that a mistake elsewhere in
the file hides nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from harness.case.base import did_you_mean
from harness.case.problems import shown
from harness.case.tree import Flaw, Path, Tree


def check_references(tree: Tree) -> Iterator[Flaw]:
    """Flaws that no key shows by itself."""
    case = _mapping(tree.data)
    yield from _check_body(case, (), tree, bool(case.get("fix")))
    titles: dict[str, int] = {}
    for index, contrast in enumerate(map(_mapping, _list(case.get("contrasts")))):
        path: Path = ("contrasts", index)
        fix = contrast.get("fix", case.get("fix"))
        yield from _check_body(contrast, path, tree, bool(fix))
        title = contrast.get("title")
        if isinstance(title, str):
            if title.strip() in titles:
                first = f"contrast {titles[title.strip()]} has it already"
                spot = tree.value_spot((*path, "title"))
                yield Flaw(spot, "duplicate title of a contrast", "another", shown(title), first)
            titles.setdefault(title.strip(), index)


def check_fixes(tree: Tree, known: Collection[str]) -> Iterator[Flaw]:
    """Flaws of `fix:` keys that name no fix there is."""
    case = _mapping(tree.data)
    contrasts = enumerate(map(_mapping, _list(case.get("contrasts"))))
    bodies = [((), case), *((("contrasts", index), body) for index, body in contrasts)]
    for path, body in bodies:
        fix = body.get("fix")
        if isinstance(fix, str) and fix and fix not in known:
            there = f"there is: {', '.join(sorted(known))}"
            spot = tree.value_spot((*path, "fix"))
            hint = did_you_mean(fix, known) or there
            yield Flaw(spot, "unknown fix", "a name in fixes/", shown(fix), hint)


def _check_body(body: dict[str, Any], path: Path, tree: Tree, fix: bool) -> Iterator[Flaw]:
    yield from _check_module(body, (*path, "module"), tree)
    yield from _check_calls(_list(body.get("run")), (*path, "run"), tree)
    if body.get("build") is False and body.get("run"):
        spot = tree.value_spot((*path, "run"))
        yield Flaw(spot, "calls that are never made: nothing is built", hint="no `build: false`")
    expect = body.get("expect")
    if isinstance(expect, list):
        yield from _check_entries(expect, (*path, "expect"), tree)
    for where, entry in _entries(expect, (*path, "expect")):
        if "fixed" in entry and not fix:
            spot = tree.spot((*where, "fixed"))
            yield Flaw(spot, "`fixed` in a case without a fix", hint="name it: `fix: name`")


def _check_module(body: dict[str, Any], path: Path, tree: Tree) -> Iterator[Flaw]:
    if isinstance(body.get("module"), str) and tree.value_spot(path).style == ">":
        hint = "`>` joins the lines, `|` keeps them"
        yield Flaw(tree.value_spot(path), "TVMScript in a folded block", "`module: |`", hint=hint)


def _check_calls(calls: list[Any], path: Path, tree: Tree) -> Iterator[Flaw]:
    for index, call in enumerate(map(_mapping, calls)):
        if "equals" in call and "same_as" in call:
            spot = tree.spot((*path, index, "same_as"))
            yield Flaw(spot, "both `equals` and `same_as`", "one of them", hint="make it two calls")
        for where, number in _results(call.get("args"), (*path, index, "args")):
            if isinstance(number, int) and number >= index:
                earlier = f"0 to {index - 1}" if index else "none, as this is the first"
                yield Flaw(
                    tree.value_spot(where),
                    "`result_of` names a call that is not earlier",
                    f"the number of an earlier call: {earlier}",
                    shown(number),
                )


def _results(args: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    for index, arg in enumerate(_list(args)):
        if isinstance(arg, dict):
            if "result_of" in arg:
                yield (*path, index, "result_of"), arg["result_of"]
            yield from _results(arg.get("tuple"), (*path, index, "tuple"))


def _check_entries(entries: list[Any], path: Path, tree: Tree) -> Iterator[Flaw]:
    for index, entry in enumerate(entries[:-1]):
        if isinstance(entry, dict) and not {"tvm", "ffi"} & entry.keys():
            spot = tree.spot((*path, index + 1))
            message = "an expectation that is never reached"
            yield Flaw(spot, message, hint=f"item {index} has no `tvm:`, so it always matches")
            return


def _entries(expect: Any, path: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    if isinstance(expect, dict):
        yield path, expect
    for index, entry in enumerate(_list(expect)):
        if isinstance(entry, dict):
            yield (*path, index), entry


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
