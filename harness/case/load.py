"""Case files: finding them, and reading one."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from pydantic import ValidationError

from harness.case.base import did_you_mean
from harness.case.builder import check_builders
from harness.case.casefile import CaseFile
from harness.case.explain import explain
from harness.case.model import Case
from harness.case.problems import CaseFileError, Problem, shown
from harness.case.reading import read_tree
from harness.case.references import check_fixes, check_references
from harness.case.resolve import resolve
from harness.case.source import read_source
from harness.case.tree import Flaw, Tree

MOST_PROBLEMS = 100  # told of one file


def load_case(
    path: str | Path, root: str | Path | None = None, fixes: Collection[str] | None = None
) -> Case:
    """Read a case file.

    Parameters
    ----------
    path : str or Path
    root : str or Path, optional
        What the id is relative to, for a file that is under no folder named ``repros``.
    fixes : collection of str, optional
        The fixes there are: `fix:` may name no other. Not checked without.

    Raises
    ------
    CaseFileError
        With everything that is wrong with the file.
    """
    path = Path(path)
    return parse_case(read_source(path), path, root, fixes)


def parse_case(
    text: str, path: Path, root: str | Path | None = None, fixes: Collection[str] | None = None
) -> Case:
    """The case that `text` says, as `load_case` would read it from a file at `path`.

    What the case names beside itself (builders) is looked for beside `path`.

    Raises
    ------
    CaseFileError
    """
    tree = read_tree(text)
    flaws = list(tree.flaws)
    file = None
    if tree.whole:
        file, found = _validated(tree)
        found += [*check_references(tree), *check_builders(tree, path.parent)]
        found += [] if fixes is None else check_fixes(tree, fixes)
        misread = {flaw.spot for flaw in tree.flaws}  # what is more at these places follows
        flaws += [flaw for flaw in found if flaw.spot not in misread]
    if flaws or file is None:
        raise CaseFileError(_problems(path, flaws))
    return resolve(file, tree, path, case_id(path, root))


def _validated(tree: Tree) -> tuple[CaseFile | None, list[Flaw]]:
    if not isinstance(tree.data, dict):
        message = "an empty file" if tree.data is None else "not a case"
        got = "" if tree.data is None else shown(tree.data)
        expected = "a mapping with `title`, `module` and `expect`"
        return None, [Flaw(tree.value_spot(()), message, expected, got)]
    try:
        return CaseFile.model_validate(tree.data, by_alias=True, by_name=False), []
    except ValidationError as error:
        return None, explain(error, CaseFile, tree, MOST_PROBLEMS)


def _problems(path: Path, flaws: list[Flaw]) -> Iterator[Problem]:
    flaws = sorted(dict.fromkeys(flaws), key=lambda flaw: (flaw.spot.line, flaw.spot.column))
    for flaw in flaws[:MOST_PROBLEMS]:
        place = flaw.spot.line, flaw.spot.column
        yield Problem(path, *place, flaw.message, flaw.expected, flaw.got, flaw.hint)
    if more := flaws[MOST_PROBLEMS:]:
        yield Problem(path, more[0].spot.line, 1, f"and {len(more)} more problems from here on")


def case_id(path: Path, root: str | Path | None = None) -> str:
    """The path below the nearest folder named ``repros``, or else below `root`, without suffix."""
    full = Path(os.path.abspath(path)).with_suffix("")
    for folder in full.parents:
        if folder.name == "repros":
            return full.relative_to(folder).as_posix()
    if root is not None and full.is_relative_to(base := os.path.abspath(root)):
        return full.relative_to(base).as_posix()
    return full.name


def discover(paths: Iterable[str | Path]) -> list[Path]:
    """The case files that `paths` name: files as they are, folders with all that is below.

    Sorted, each file once; hidden folders are left out.

    Raises
    ------
    CaseFileError
        A path that is missing, or a file that is not named ``.yaml``.
    """
    found: set[Path] = set()
    problems: list[Problem] = []
    for path in map(Path, paths):
        try:
            if path.is_dir():
                found.update(_below(path))
            elif path.exists():
                found.add(path)
            else:
                beside = [name for name in _names(path.parent) if name != path.name]
                near = did_you_mean(path.name, beside)
                problems.append(Problem(path, 0, 0, "no such file or folder", hint=near))
        except (OSError, ValueError) as error:  # no rights; a NUL in the name
            problems.append(Problem(path, 0, 0, f"cannot be read: {error}"))
    for path in sorted(found):
        if path.suffix != ".yaml":
            hint = f"rename it to {path.stem}.yaml" if path.suffix == ".yml" else ""
            problems.append(Problem(path, 0, 0, "not a case file", "a name in .yaml", hint=hint))
    if problems:
        raise CaseFileError(problems)
    return sorted(found)


def _below(folder: Path) -> Iterator[Path]:
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith("."):
            continue
        if entry.is_dir() and not entry.is_symlink():
            yield from _below(entry)
        elif entry.suffix in (".yaml", ".yml"):
            yield entry


def _names(folder: Path) -> list[str]:
    try:
        return [entry.name for entry in folder.iterdir()]
    except OSError:
        return []
