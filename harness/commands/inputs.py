"""What the command line names: cases, shards, files; and what is wrong with it."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness import campaign
from harness.case import (
    Case,
    Problem,
    discover,
)
from harness.compat import pair_state
from harness.report.jsonl import ResultsFile
from harness.report.results import read_results, results_in
from harness.run.pool import Pool
from harness.schedule import Shard, ordered, parse_shard, part
from harness.select import Selection

DEFAULT = Path("repros")


class UsageError(Exception):
    """The command line asks for something that cannot be; the text says what to do."""


def read_cases(options: Namespace) -> tuple[tuple[Case, ...], tuple[Problem, ...]]:
    """The cases that the command line names, and what is wrong with the rest.

    Raises
    ------
    UsageError
        When nothing is there to run.
    SelectError
        When ``-k`` does not parse.
    CaseFileError
        When a path is missing.
    """
    chosen = Selection(options.k)
    if not options.paths and not DEFAULT.is_dir():
        raise UsageError(f"no folder {DEFAULT}/ here: name case files or folders to look in")
    cases, problems = campaign.read_all(discover(map(_by_id, options.paths or [DEFAULT])))
    selected = tuple(case for case in cases if chosen(case))
    if not selected and not problems:
        where = ", ".join(options.paths) or f"{DEFAULT}/"
        why = f"none of the {len(cases)} cases in {where} matches -k {options.k!r}"
        raise UsageError(why if cases else f"no case files (*.yaml) in {where}")
    return selected, tuple(problems)


def in_order(cases: tuple[Case, ...], options: Namespace) -> list[Case]:
    """The cases in the order in which they run: those of the shard, where one is given."""
    last = read_results(results_in(Path(options.last))) if options.last else None
    if options.shard is None:
        return ordered(cases, last)
    return part(cases, shard_of(options.shard), last)


def shard_of(given: str) -> Shard:
    try:
        return parse_shard(given)
    except ValueError as error:
        raise UsageError(f"--shard: {error}") from None


def warn_of_pair(pool: Pool) -> None:
    """A TVM and an ffi that were not tried together fail in ways that are no bug of a case."""
    state = pair_state(pool.info.tvm, pool.info.tvm_ffi)
    if not state.startswith("verified"):
        pair = f"TVM {pool.info.tvm} with ffi {pool.info.tvm_ffi}"
        print(f"warning: {pair} is {state}", file=sys.stderr)


def print_problems(problems: tuple[Problem, ...]) -> None:
    for problem in problems:
        print(problem, file=sys.stderr)


def arms_of(word: str) -> tuple[str, ...]:
    return ("stock", "fixed") if word == "both" else (word,)


@contextmanager
def results_file(options: Namespace, pool: Pool, planned: int) -> Iterator[ResultsFile | None]:
    path = options.jsonl
    if path is None:
        yield None
        return
    try:
        with ResultsFile(Path(path), pool.info, planned, options.shard or "") as results:
            yield results
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise  # that of our own output
        raise UsageError(f"--jsonl {path}: {error.strerror}") from None


def _by_id(given: str | Path) -> Path:
    """The file of a case that is named by its id; what is named otherwise stays as it is."""
    path, by_id = Path(given), DEFAULT / f"{given}.yaml"
    return by_id if not path.exists() and by_id.exists() else path


def case_path(given: str) -> Path:
    """A case by its path, or by its id."""
    found = discover([_by_id(given)])
    if len(found) != 1:
        raise UsageError(f"{given} is a folder with {len(found)} cases: name one of them")
    return found[0]


def pass_index(case: Case, at: str | None) -> int | None:
    """Which pass the command line names, if it does."""
    if at is None:
        return None
    names = [spec.name for spec in case.passes]
    for index, name in enumerate(names):
        if name == at or name.endswith(f".{at}"):
            return index
    raise UsageError(f"--at {at}: the passes of {case.id} are {', '.join(names) or 'none'}")
