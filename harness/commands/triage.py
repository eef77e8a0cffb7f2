"""Commands for what an engineer does next with a case."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness import campaign
from harness.case import (
    CaseFileError,
    discover,
    satisfies,
)
from harness.case.base import did_you_mean
from harness.case.writing import put
from harness.commands.inputs import (
    DEFAULT,
    UsageError,
    case_path,
    print_problems,
    read_cases,
)
from harness.report.console import console
from harness.report.progress import progress
from harness.run.pool import Pool
from harness.verdict.word import INFRA, INTERRUPTED, USAGE


def locate(options: Namespace) -> int:
    """``tvm-repro locate``: every pass of a run, and which of them makes the bug."""
    from harness.report.passes import as_dict, change, located
    from harness.triage.locate import locate as find

    case = campaign.read_case(case_path(options.case))
    if options.arm not in case.arms:
        raise UsageError(f"--arm {options.arm}: {case.id} names no fix, so it has no such arm")
    with Pool(2, options.isolation) as pool:
        if reason := campaign.reason_to_skip(case, pool.info):
            raise UsageError(f"{case.id} is not for this TVM: {reason}")
        finding = find(case, options.arm, pool)
    if options.json:
        print(json.dumps(as_dict(case, finding)))
    else:
        out = console()
        out.print(located(case, finding))
        out.print(change(finding), soft_wrap=True)
    return 0 if finding.culprit else 1


def explain(options: Namespace) -> int:
    """``tvm-repro explain``: all that is known of a case."""
    from harness.triage import explain as explaining

    case = campaign.read_case(case_path(options.case))
    console().print(explaining.explain(case, options.isolation, not options.no_run))
    return 0


def bless(options: Namespace) -> int:
    """``tvm-repro bless``: case files that say what is seen, as a diff unless they are written."""
    from harness.triage import bless as blessing

    cases, problems = read_cases(options)
    print_problems(problems)
    misjudged = campaign.misjudged_canaries(options.isolation)
    if misjudged:
        print(f"refused: canaries were misjudged: {misjudged}", file=sys.stderr)
        return INFRA
    out, chosen = console(), campaign.Options(jobs=options.jobs, isolation=options.isolation)
    with Pool(options.jobs, options.isolation) as pool:
        if options.scope not in ("", blessing.ANY) and not satisfies(options.scope, pool.info.tvm):
            raise UsageError(f"--for {options.scope}: the TVM at hand is {pool.info.tvm}")
        done = []
        for one in blessing.bless(cases, chosen, pool, options.scope):
            blessing.show(one, out)
            if one.text and options.write:
                try:
                    put(one.case.path, one.text)
                except OSError as error:
                    raise UsageError(f"{one.case.path}: {error.strerror}") from None
            done.append(one)
    return blessing.conclude(done, options.write, out) or (USAGE if problems else 0)


def export(options: Namespace) -> int:
    """``tvm-repro export``: a program, a test or a report made of a case."""
    from harness.triage.export import FORMS, NothingToExport

    case = campaign.read_case(case_path(options.case))
    if options.contrast is not None:
        titles = {one.title: one.case for one in case.contrasts}
        if options.contrast not in titles:
            raise UsageError(f"--contrast: those of {case.id} are {', '.join(titles) or 'none'}")
        case = titles[options.contrast]
    with Pool() as pool:
        try:
            text = FORMS[options.form](case, pool)
        except NothingToExport as nothing:
            print(f"tvm-repro: {nothing}", file=sys.stderr)
            return 1
    if options.output is None:
        print(text, end="")
        return 0
    try:
        Path(options.output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--output {options.output}: {error.strerror}") from None
    return 0


def check(options: Namespace) -> int:
    """``tvm-repro check``: whether the bug of a case is there, in the exit codes of git bisect."""
    from harness.triage import check

    try:
        case = campaign.read_case(case_path(options.case))
    except (UsageError, CaseFileError) as error:
        print(f"tvm-repro: {error}", file=sys.stderr)
        return check.ABORT
    return check.check(case, options.repeat, options.rate, options.find, console())


def bisect(options: Namespace) -> int:
    """``tvm-repro bisect``: between which releases a bug came in, or went."""
    from harness.triage import bisect

    case = campaign.read_case(case_path(options.case))
    with _environments(options) as chosen:
        return bisect.bisect(case, chosen, options.repeat, options.find, console())


def matrix(options: Namespace) -> int:
    """``tvm-repro matrix``: cases on several releases."""
    from harness.triage import matrix

    read_cases(options)  # what is wrong with the command line is told once, here
    arguments = [*options.paths, *(["-k", options.k] if options.k else [])]
    with _environments(options) as chosen:
        folder = Path(options.results)
        return matrix.matrix(chosen, arguments, options.jobs, folder, options.all, console())


@contextmanager
def _environments(options: Namespace) -> Iterator[list[str]]:
    """The environments that the command line names, or all for releases of TVM."""
    from harness.triage import releases

    try:
        yield options.e.split(",") if options.e else releases.names()
    except releases.EnvironmentFailed as error:
        raise UsageError(str(error)) from None


def sweep(options: Namespace) -> int:
    """``tvm-repro sweep``: what Relax passes do wrong on inputs, without what is known."""
    from harness.triage import sweep as sweeping

    cases, problems = read_cases(options)
    print_problems(problems)
    out, tally = console(), sweeping.Tally()
    with Pool(options.jobs) as pool:
        names = _passes(options.passes)
        known = _known(options.known, pool)
        runnable = [case for case in cases if not campaign.reason_to_skip(case, pool.info)]
        outcomes, interrupted = [], False
        try:
            with progress(out, len(runnable)) as advance:
                for outcome in sweeping.sweep(runnable, names, pool, tally, advance):
                    outcomes.append(outcome)
        except KeyboardInterrupt:
            interrupted = True
    finds = sweeping.grouped(outcomes, known)
    sweeping.show(finds, tally, out)
    new = [find for find in finds if find.counts]
    for find in new if options.write else ():
        try:
            file = sweeping.write(find, Path(options.write))
        except OSError as error:
            raise UsageError(f"--write {options.write}: {error.strerror}") from None
        out.print(f"wrote {file}" if file else "not written: its input is a builder's")
    if interrupted:
        out.print(f"interrupted: {tally.inputs} of {len(runnable)} inputs were begun")
        return INTERRUPTED
    return USAGE if problems else int(bool(new))


def _passes(asked: str) -> tuple[str, ...]:
    from harness.run.passes import without_arguments

    there = without_arguments()
    names = [name.strip() for name in asked.split(",") if name.strip()]
    by_name = {short: name for name in there for short in (name, name.rpartition(".")[2])}
    for name in names:
        if name not in by_name:
            near = did_you_mean(name, by_name)
            raise UsageError(f"--passes {name}: no Relax pass that takes no argument; {near}")
    return tuple(by_name[name] for name in names) or there


def _known(file: str | None, pool: Pool) -> frozenset[tuple[str, ...]]:
    from harness.triage import sweep as sweeping

    corpus = [campaign.read_case(path) for path in discover([DEFAULT])] if DEFAULT.is_dir() else []
    if file is None:
        return sweeping.known_of(corpus, pool)
    return sweeping.known_in(Path(file), corpus)


def reduce(options: Namespace) -> int:
    """``tvm-repro reduce``: the smallest case that fails in the same way."""
    from harness.triage.reduce.command import CannotReduce, reduce

    try:
        return reduce(case_path(options.case), options, console())
    except CannotReduce as why:
        raise UsageError(str(why)) from None


def new(options: Namespace) -> int:
    """``tvm-repro new``: a report, or a script, becomes a case."""
    from harness.triage.new.command import NewError
    from harness.triage.new.command import new as make

    try:
        return make(options)
    except NewError as error:
        raise UsageError(str(error)) from None
