"""What the commands of ``tvm-repro`` do. Each takes the parsed options and returns an exit code."""

from __future__ import annotations

import json
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

from harness import campaign
from harness.case import (
    Case,
    CaseFileError,
    Problem,
    case_id,
    discover,
    json_schema,
    labels,
    satisfies,
)
from harness.case.base import did_you_mean
from harness.compat import pair_state
from harness.report import ir
from harness.report.catalogue import catalogue
from harness.report.changed import changed
from harness.report.changes import Kind, changes
from harness.report.console import console
from harness.report.jsonl import ResultsFile
from harness.report.ladder import ladder
from harness.report.progress import progress
from harness.report.results import read_results, results_in
from harness.report.summary import one_line, summary
from harness.report.text import line
from harness.run.pool import Pool
from harness.schedule import Shard, ordered, parse_shard, part
from harness.select import Selection
from harness.triage import look
from harness.verdict.word import exit_code

DEFAULT = Path("repros")
USAGE, INFRA, INTERRUPTED = 2, 3, 130


class UsageError(Exception):
    """The command line asks for something that cannot be; the text says what to do."""


def run(options: Namespace) -> int:
    """``tvm-repro run``: judge cases, a line for each as it ends."""
    read, problems = read_cases(options)
    _print_problems(problems)
    cases = _planned(read, options)
    reports: list[campaign.CaseReport] = []
    out = console()
    chosen = campaign.Options(_arms(options.arm), options.jobs, options.isolation)
    unreadable = {path: [*group] for path, group in groupby(problems, lambda one: one.path)}
    planned = len(cases) + len(unreadable)
    with (
        Pool(chosen.jobs, chosen.isolation) as pool,
        _results(options, pool, planned) as results,
    ):
        _warn_of_pair(pool)
        for path, wrong in unreadable.items():
            if results is not None:
                results.add_unreadable(case_id(path), "\n".join(map(str, wrong)))
        try:
            with progress(out, len(cases)) as advance:
                for report in campaign.run_cases(cases, chosen, pool):
                    reports.append(report)
                    if results is not None:
                        results.add(report.case, report.judgement, report.seconds)
                    tell = options.verbose or not report.verdict.passes
                    out.print((ladder if tell else one_line)(report.case, report.judgement))
                    advance()
        except KeyboardInterrupt:
            out.print(summary(reports))
            out.print(f"interrupted: {len(reports)} of {len(cases)} cases had ended")
            return INTERRUPTED
    out.print(summary(reports))
    if unreadable:
        out.print(f"{len(unreadable)} not read: what is wrong is on stderr", style="wrong")
    return exit_code([report.verdict for report in reports], usage=bool(problems))


def compare(options: Namespace) -> int:
    """``tvm-repro compare``: both arms of a case, and what the pass does to the IR in each."""
    case = campaign.read_case(_case_path(options.case))
    asked = _pass_index(case, options.at)
    out = console()
    with Pool(1, options.isolation) as pool:
        chosen = campaign.Options(isolation=options.isolation)
        for report in campaign.run_cases([case], chosen, pool):
            out.print(ladder(case, report.judgement))
        index = look.pass_of_interest(case, report.judgement) if asked is None else asked
        looks = look.look(case, case.arms, index, pool)
    stock, fixed = looks.get("stock"), looks.get("fixed")
    for one in looks.values():
        title = f"{one.at} in arm {one.arm}"
        if not one.after:
            out.print(f"\n{title}: raises, so there is no IR behind it", style="title")
        elif stock is None or one is stock or not stock.after:
            out.print(f"\n{title}: what it changes", style="title")
            out.print(ir.diff(one.before, one.after, ("before", "after")), soft_wrap=True)
    if stock and fixed and stock.after and fixed.after:
        out.print(f"\n{fixed.at}: what is different with the fix", style="title")
        out.print(ir.diff(stock.after, fixed.after, ("stock", "fixed")), soft_wrap=True)
    return exit_code([report.verdict])


def locate(options: Namespace) -> int:
    """``tvm-repro locate``: every pass of a run, and which of them makes the bug."""
    from harness.report.passes import as_dict, change, located
    from harness.triage.locate import locate as find

    case = campaign.read_case(_case_path(options.case))
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

    case = campaign.read_case(_case_path(options.case))
    console().print(explaining.explain(case, options.isolation, not options.no_run))
    return 0


def bless(options: Namespace) -> int:
    """``tvm-repro bless``: case files that say what is seen, as a diff unless they are written."""
    from harness.triage import bless as blessing

    cases, problems = read_cases(options)
    _print_problems(problems)
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
                    blessing.write(one)
                except OSError as error:
                    raise UsageError(f"{one.case.path}: {error.strerror}") from None
            done.append(one)
    return blessing.conclude(done, options.write, out) or (USAGE if problems else 0)


def diff(options: Namespace) -> int:
    """``tvm-repro diff``: what changed between two runs; 1 when somebody has to look, 3 for a run
    that says nothing."""
    old, new = (read_results(results_in(Path(given))) for given in (options.old, options.new))
    void = [f"{results.name}: {results.void}" for results in (old, new) if results.void]
    if void:
        print(*void, "nothing can be compared", sep="\n", file=sys.stderr)
        return INFRA
    found = changes(old, new)
    console().print(changed(old, new, found), soft_wrap=True)
    if any(change.kind is Kind.VOID for change in found):
        return INFRA
    return int(any(change.needs_person for change in found))


def export(options: Namespace) -> int:
    """``tvm-repro export``: a program, a test or a report made of a case."""
    from harness.triage.export import FORMS, NothingToExport

    case = campaign.read_case(_case_path(options.case))
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
        case = campaign.read_case(_case_path(options.case))
    except (UsageError, CaseFileError) as error:
        print(f"tvm-repro: {error}", file=sys.stderr)
        return check.ABORT
    return check.check(case, options.repeat, options.rate, options.find, console())


def bisect(options: Namespace) -> int:
    """``tvm-repro bisect``: between which releases a bug came in, or went."""
    from harness.triage import bisect

    case = campaign.read_case(_case_path(options.case))
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


def nightly(options: Namespace) -> int:
    """``tvm-repro nightly``: the steps of a night, one by one."""
    from harness.triage.issues import TrackerError

    try:
        return _STEPS[options.step](options)
    except TrackerError as error:
        print(f"tvm-repro: {error}", file=sys.stderr)
        return INFRA
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise UsageError(f"{error.filename}: {error.strerror}") from None


def _nightly_wheel(options: Namespace) -> int:
    from harness.triage import nightly

    return nightly.wheel(Path(options.folder))


def _nightly_last(options: Namespace) -> int:
    from harness.triage import nightly

    console().print(nightly.last(Path(options.folder), options.workflow), soft_wrap=True)
    return 0


def _nightly_run(options: Namespace) -> int:
    """Verdicts that differ are for the report: only a run that says nothing is a failure."""
    from harness.doctor import examine

    if examine(console(), each=True):
        return INFRA
    folder = Path(options.results)
    folder.mkdir(parents=True, exist_ok=True)
    shard = _shard(options.shard)
    options.jsonl = str(folder / f"shard-{shard.index}-of-{shard.count}.jsonl")
    if options.last and not any(Path(options.last).glob("*.jsonl")):
        options.last = None
    code = run(options)
    return code if code in (INFRA, INTERRUPTED) else 0


def _nightly_report(options: Namespace) -> int:
    from harness.pages import cases_in
    from harness.triage import nightly

    return nightly.report(
        Path(options.last),
        Path(options.results),
        options.shards,
        Path(options.out),
        Path(options.summary) if options.summary else None,
        cases_in(Path(options.cases)),
        console(),
    )


def _nightly_issues(options: Namespace) -> int:
    from harness.triage.issues import file_issues

    console().print("\n".join(file_issues(Path(options.folder))), soft_wrap=True)
    return 0


_STEPS = {
    "wheel": _nightly_wheel,
    "last": _nightly_last,
    "run": _nightly_run,
    "report": _nightly_report,
    "issues": _nightly_issues,
}


@contextmanager
def _environments(options: Namespace) -> Iterator[list[str]]:
    """The environments that the command line names, or all for releases of TVM."""
    from harness.triage import releases

    try:
        yield options.e.split(",") if options.e else releases.names()
    except releases.EnvironmentFailed as error:
        raise UsageError(str(error)) from None


def report(options: Namespace) -> int:
    """``tvm-repro report``: results files as one HTML page."""
    from harness import pages

    return pages.report(options)


def sweep(options: Namespace) -> int:
    """``tvm-repro sweep``: what Relax passes do wrong on inputs, without what is known."""
    from harness.triage import sweep as sweeping

    cases, problems = read_cases(options)
    _print_problems(problems)
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
    try:
        return sweeping.known_in(Path(file), corpus)
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise UsageError(f"--known {file}: no results file: {error}") from None


def reduce(options: Namespace) -> int:
    """``tvm-repro reduce``: the smallest case that fails in the same way."""
    from harness.triage.reduce.command import CannotReduce, reduce

    try:
        return reduce(_case_path(options.case), options, console())
    except CannotReduce as why:
        raise UsageError(str(why)) from None


def lint(options: Namespace) -> int:
    """``tvm-repro lint``: check case files without TVM."""
    cases, problems = read_cases(options)
    _print_problems(problems)
    console().print(f"{len(cases)} cases are sound, {len({p.path for p in problems})} are not")
    return USAGE if problems else 0


def list_cases(options: Namespace) -> int:
    """``tvm-repro list``: cases with what they are about, without TVM."""
    cases, problems = read_cases(options)
    _print_problems(problems)
    out = console()
    if options.markdown:
        print(catalogue(cases, DEFAULT), end="")
        return USAGE if problems else 0
    for case in cases:
        about = ", ".join([*case.issue, *([f"fix {case.fix}"] if case.fix else []), *labels(case)])
        out.print(line(case.id), style="title", soft_wrap=True)
        out.print(f"  {line(case.title)}", soft_wrap=True)
        out.print(f"  {line(about)}", style="quiet", soft_wrap=True)
    return USAGE if problems else 0


def schema(_: Namespace) -> int:
    """``tvm-repro schema``: the JSON Schema of a case file."""
    print(json.dumps(json_schema(), indent=2))
    return 0


def doctor(options: Namespace) -> int:
    """``tvm-repro doctor``: whether this machine can judge cases."""
    from harness.doctor import examine

    return examine(console(), options.canaries)


def new(options: Namespace) -> int:
    """``tvm-repro new``: a report, or a script, becomes a case."""
    from harness.triage.new.command import NewError
    from harness.triage.new.command import new as make

    try:
        return make(options)
    except NewError as error:
        raise UsageError(str(error)) from None


def fixes(_: Namespace) -> int:
    """``tvm-repro fixes``: the fixes and their state, found out in a process of its own."""
    root = str(Path(__file__).parents[1])
    script = (
        f"import sys; sys.path[0] = {root!r}; from fixes.__main__ import main; sys.exit(main())"
    )
    ended = subprocess.run([sys.executable, "-c", script], check=False)
    return 0 if ended.returncode == 0 else INFRA


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
    cases: list[Case] = []
    problems: list[Problem] = []
    for path in discover(map(_by_id, options.paths or [DEFAULT])):
        try:
            case = campaign.read_case(path)
        except CaseFileError as error:
            problems += error.problems
        else:
            cases.append(case)
    selected = tuple(case for case in cases if chosen(case))
    if not selected and not problems:
        where = ", ".join(options.paths) or f"{DEFAULT}/"
        why = f"none of the {len(cases)} cases in {where} matches -k {options.k!r}"
        raise UsageError(why if cases else f"no case files (*.yaml) in {where}")
    return selected, tuple(problems)


def _planned(cases: tuple[Case, ...], options: Namespace) -> list[Case]:
    """The cases in the order in which they run: those of the shard, where one is given."""
    last = read_results(results_in(Path(options.last))) if options.last else None
    if options.shard is None:
        return ordered(cases, last)
    return part(cases, _shard(options.shard), last)


def _shard(given: str) -> Shard:
    try:
        return parse_shard(given)
    except ValueError as error:
        raise UsageError(f"--shard: {error}") from None


def _warn_of_pair(pool: Pool) -> None:
    """A TVM and an ffi that were not tried together fail in ways that are no bug of a case."""
    state = pair_state(pool.info.tvm, pool.info.tvm_ffi)
    if not state.startswith("verified"):
        pair = f"TVM {pool.info.tvm} with ffi {pool.info.tvm_ffi}"
        print(f"warning: {pair} is {state}", file=sys.stderr)


def _print_problems(problems: tuple[Problem, ...]) -> None:
    for problem in problems:
        print(problem, file=sys.stderr)


def _arms(word: str) -> tuple[str, ...]:
    return ("stock", "fixed") if word == "both" else (word,)


@contextmanager
def _results(options: Namespace, pool: Pool, planned: int) -> Iterator[ResultsFile | None]:
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


def _case_path(given: str) -> Path:
    """A case by its path, or by its id."""
    found = discover([_by_id(given)])
    if len(found) != 1:
        raise UsageError(f"{given} is a folder with {len(found)} cases: name one of them")
    return found[0]


def _pass_index(case: Case, at: str | None) -> int | None:
    """Which pass the command line names, if it does."""
    if at is None:
        return None
    names = [spec.name for spec in case.passes]
    for index, name in enumerate(names):
        if name == at or name.endswith(f".{at}"):
            return index
    raise UsageError(f"--at {at}: the passes of {case.id} are {', '.join(names) or 'none'}")


COMMANDS = {
    "run": run,
    "compare": compare,
    "locate": locate,
    "explain": explain,
    "bless": bless,
    "diff": diff,
    "report": report,
    "export": export,
    "check": check,
    "bisect": bisect,
    "matrix": matrix,
    "sweep": sweep,
    "new": new,
    "nightly": nightly,
    "reduce": reduce,
    "lint": lint,
    "list": list_cases,
    "schema": schema,
    "fixes": fixes,
    "doctor": doctor,
}
