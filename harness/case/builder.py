"""The Python files beside a case that make its module and passes: there, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.case.base import did_you_mean
from harness.case.problems import shown
from harness.case.tree import Flaw, Tree


def check_builders(tree: Tree, folder: Path) -> Iterator[Flaw]:
    """Flaws of `{python: file.py:function}`, in the case and its contrasts.

    The file has to be inside `folder`, the case's own, also once links are followed.
    """
    for path in tree.values:
        if path[-1:] == ("python",) and path[:-1] and _takes_python(path[:-1]):
            if flaw := _flaw(tree, path, folder):
                yield flaw


def _takes_python(path: tuple[str | int, ...]) -> bool:
    """Whether `path` is a module, or an item of a list of passes."""
    own = path[2:] if path[:1] == ("contrasts",) else path
    return own == ("module",) or own[:-1] in (("passes",), ("build", "pipeline"))


def _flaw(tree: Tree, path: tuple[str | int, ...], folder: Path) -> Flaw | None:
    text = tree.at(path)
    if not isinstance(text, str) or ".py:" not in text:
        return None
    name = text.rpartition(":")[0]
    spot = tree.value_spot(path)
    try:
        file = (folder / name).resolve()
        inside, there = file.is_relative_to(folder.resolve()), file.is_file()
    except (OSError, ValueError, RuntimeError) as error:  # a NUL, a loop of links
        return Flaw(spot, "a builder that cannot be read", got=shown(name), hint=str(error))
    if not inside:
        return Flaw(spot, "a builder outside the case's folder", "a file beside it", shown(name))
    if not there:
        beside = sorted(entry.name for entry in folder.glob("*.py"))
        hint = did_you_mean(name, beside)
        return Flaw(spot, "no such builder", "a file beside the case", shown(name), hint)
    return None
