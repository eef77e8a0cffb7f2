"""``tvm-repro``: the command line. What it does is in `harness.commands`, imported when needed."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

EPILOG = """exit codes: 0 every expectation met, 1 some verdict differs, 2 a case or the usage is
wrong, 3 the run itself failed (no TVM, a canary misjudged) and says nothing."""


def parser() -> argparse.ArgumentParser:
    """The command line's grammar."""
    root = argparse.ArgumentParser(
        prog="tvm-repro",
        description="Run bug cases through the stages of Apache TVM, with and without a fix.",
        epilog=EPILOG,
    )
    commands = root.add_subparsers(dest="command", metavar="COMMAND", required=True)

    run = commands.add_parser("run", help="run cases and judge them", epilog=EPILOG)
    _paths(run)
    run.add_argument("--arm", choices=("stock", "fixed", "both"), default="both")
    run.add_argument("-j", "--jobs", type=_positive, default=1, metavar="N", help="cases at a time")
    run.add_argument("--jsonl", metavar="FILE", help="write a line for each case as it ends")
    run.add_argument("--shard", metavar="I/N", help="only this part of the cases")
    run.add_argument(
        "--last",
        metavar="RESULTS",
        help="results of an earlier run: what differed then comes first, shards take equal time",
    )
    run.add_argument("-v", "--verbose", action="store_true", help="show the ladder of every case")
    _isolation(run)

    compare = commands.add_parser(
        "compare", help="both arms of one case side by side, with the IR diff of the pass"
    )
    compare.add_argument("case", metavar="CASE", help="a case file, or the id of a case in repros/")
    compare.add_argument("--at", metavar="PASS", help="whose diff (default: where the arms part)")
    _isolation(compare)

    locate = commands.add_parser(
        "locate",
        help="which pass makes a bug, and who notices",
        epilog="exit codes: 0 a pass is named, 1 nothing fails, or no pass can be named",
    )
    locate.add_argument("case", metavar="CASE", help="a case file, or the id of a case in repros/")
    locate.add_argument("--arm", choices=("stock", "fixed"), default="stock")
    locate.add_argument("--json", action="store_true", help="for scripts, with the IR")
    _isolation(locate)

    explain = commands.add_parser("explain", help="all that is known of a case, on one screen")
    explain.add_argument("case", metavar="CASE", help="a case file, or the id of a case in repros/")
    explain.add_argument("--no-run", action="store_true", help="what the file says, without TVM")
    _isolation(explain)

    bless = commands.add_parser(
        "bless", help="write what is seen into `expect:` of cases, as a diff first"
    )
    _paths(bless, "+")
    bless.add_argument("--write", action="store_true", help="change the files")
    bless.add_argument(
        "--for",
        dest="scope",
        type=_scope,
        default="",
        metavar="SPEC",
        help="the releases that a new entry speaks of, such as '>=0.27', or any: no word about "
        "releases (default: the one at hand, where the entry speaks of others too)",
    )
    bless.add_argument("-j", "--jobs", type=_positive, default=1, metavar="N")
    _isolation(bless)

    diff = commands.add_parser("diff", help="what changed from one run to the next, without TVM")
    for name in ("old", "new"):
        diff.add_argument(
            name, metavar=name.upper(), help="a results file, or a folder with those of its shards"
        )
    export = commands.add_parser("export", help="write a case as somebody else needs it")
    export.add_argument("case", metavar="CASE", help="a case file, or the id of a case in repros/")
    export.add_argument("--as", dest="form", choices=("script", "pytest", "issue"), required=True)
    export.add_argument("--contrast", metavar="TITLE", help="one of its contrasts instead")
    export.add_argument("-o", "--output", metavar="FILE", help="where to (standard output)")

    report = commands.add_parser("report", help="results files as one HTML page, without TVM")
    report.add_argument(
        "results", nargs="+", metavar="RESULTS", help="results files, or folders of them"
    )
    report.add_argument("-o", "--output", required=True, metavar="FILE", help="the page")
    report.add_argument(
        "--baseline", nargs="+", default=[], metavar="RESULTS", help="older ones: what changed?"
    )
    report.add_argument(
        "--markdown", metavar="FILE", help="also a summary for $GITHUB_STEP_SUMMARY"
    )
    report.add_argument(
        "--budget", type=_positive, default=1000, metavar="KB", help="most of it (1000)"
    )
    report.add_argument("--cases", default="repros", metavar="FOLDER", help="for titles (repros)")
    report.add_argument(
        "--ir",
        action="store_true",
        help="run the TVM at hand for the IR around each pass, where a verdict needs a person",
    )
    report.add_argument("-k", metavar="EXPR", default="", help="with --ir: of these cases instead")

    history = commands.add_parser("history", help="cases over many runs, without TVM")
    history.add_argument("folder", metavar="FOLDER", help="of results files, or folders of shards")
    history.add_argument("--all", action="store_true", help="cases that never changed, too")

    check = commands.add_parser(
        "check",
        help="whether the bug of a case is there, for `git bisect run`",
        epilog="exit codes: 0 good, 1 bad, 125 cannot be judged, 128 and more end the bisection.",
    )
    bisect = commands.add_parser("bisect", help="between which releases a bug came in, or went")
    for command in (check, bisect):
        command.add_argument("case", metavar="CASE", help="a case file, or its id")
        command.add_argument("--find", choices=("introduced", "fixed"), default="introduced")
        command.add_argument(
            "--repeat", type=_positive, default=1, metavar="N", help="run it so often"
        )
    check.add_argument(
        "--rate", type=_rate, metavar="P", help="how often it shows where it is, from 0 to 1"
    )
    matrix = commands.add_parser("matrix", help="cases on several releases, side by side")
    _paths(matrix)
    matrix.add_argument("-j", "--jobs", type=_positive, default=1, metavar="N", help="in each")
    matrix.add_argument("--results", metavar="FOLDER", default=".tox/results")
    matrix.add_argument("--all", action="store_true", help="cases that are alike everywhere too")
    for command in (bisect, matrix):
        command.add_argument(
            "-e", metavar="ENV,…", default="", help="environments of tox.ini (default: each tvm…)"
        )
    sweep = commands.add_parser(
        "sweep", help="every Relax pass without arguments over inputs: what is new goes wrong"
    )
    _paths(sweep, "+")
    sweep.add_argument(
        "--passes", metavar="A,B", default="", help="these alone, by name (all that there are)"
    )
    sweep.add_argument(
        "--known", metavar="FILE", help="results whose failures are known (running repros/ tells)"
    )
    sweep.add_argument("--write", metavar="FOLDER", help="write what is new as cases")
    sweep.add_argument("-j", "--jobs", type=_positive, default=1, metavar="N")
    new = commands.add_parser(
        "new",
        help="make a case of a report or a script",
        epilog="exit codes: 0 the case is whole, and with --run it fails as reported, 1 it does "
        "not, 2 something is missing, or cannot be read, 3 it cannot be run here.",
    )
    new.add_argument("report", metavar="REPORT", help="Markdown, a .py file, or - for stdin")
    new.add_argument("-o", "--out", metavar="CASE.yaml", help="where to (default: print it)")
    new.add_argument("--run", action="store_true", help="run it once, and expect what is seen")
    new.add_argument("--script", type=_positive, metavar="N", help="which of several scripts")
    new.add_argument("--force", action="store_true", help="overwrite what is there")
    reduce = commands.add_parser(
        "reduce", help="the smallest case that fails in the same way", epilog=EPILOG
    )
    reduce.add_argument("case", metavar="CASE", help="a case file, or the id of a case in repros/")
    reduce.add_argument(
        "-o", "--output", metavar="SMALL", help="where it goes (<name of the case>-small.yaml)"
    )
    reduce.add_argument("--force", action="store_true", help="write over a file that is there")
    reduce.add_argument(
        "-j", "--jobs", type=_positive, default=os.cpu_count() or 1, metavar="N",
        help="candidates at a time (one a core)",
    )  # fmt: skip

    _nightly(commands.add_parser("nightly", help="the steps of a nightly run against TVM main"))

    lint = commands.add_parser("lint", help="check case files, without TVM")
    _paths(lint)
    listing = commands.add_parser("list", help="list cases, without TVM")
    _paths(listing)
    listing.add_argument(
        "--markdown", action="store_true", help="as the page that is kept in repros/README.md"
    )
    commands.add_parser("schema", help="print the JSON Schema of a case file")
    commands.add_parser("fixes", help="list the fixes, and whether this TVM still needs them")
    doctor = commands.add_parser("doctor", help="show the TVM at hand, and what is missing")
    doctor.add_argument("--canaries", action="store_true", help="show each of the built-in cases")
    return root


def _paths(command: argparse.ArgumentParser, number: str = "*") -> None:
    command.add_argument(
        "paths", nargs=number, metavar="PATH", help="case files or folders (repros)"
    )
    command.add_argument(
        "-k", metavar="EXPR", default="", help="only cases whose id, labels or issue match"
    )


def _nightly(nightly: argparse.ArgumentParser) -> None:
    steps = nightly.add_subparsers(dest="step", metavar="STEP", required=True)
    wheel = steps.add_parser("wheel", help="the wheel of TVM main, or what TVM_REQUIREMENT says")
    wheel.add_argument("folder", metavar="FOLDER")
    last = steps.add_parser("last", help="fetch the results of the last night, through gh")
    last.add_argument("folder", metavar="FOLDER")
    last.add_argument("--workflow", default="nightly.yml")
    run = steps.add_parser("run", help="judge the canaries, then the cases of a shard")
    _paths(run)
    run.add_argument("--shard", metavar="I/N", default="1/1")
    run.add_argument("--last", metavar="FOLDER", help="results of the last night")
    run.add_argument("--results", metavar="FOLDER", required=True)
    run.add_argument("-j", "--jobs", type=_positive, default=1, metavar="N")
    run.set_defaults(arm="both", isolation="fork", verbose=False)
    report = steps.add_parser("report", help="what changed since the last night, and for whom")
    report.add_argument("--last", metavar="FOLDER", required=True)
    report.add_argument("--results", metavar="FOLDER", required=True)
    report.add_argument("--shards", type=_positive, metavar="N", default=1)
    report.add_argument("--out", metavar="FOLDER", required=True)
    report.add_argument("--summary", metavar="FILE", help="Markdown is appended to it")
    report.add_argument("--cases", metavar="FOLDER", default="repros")
    issues = steps.add_parser("issues", help="open an issue for each change, or add to it")
    issues.add_argument("folder", metavar="FOLDER")


def _isolation(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--isolation",
        choices=("fork", "spawn"),
        default="fork",
        help="how children are made: from a warm server, or each importing TVM anew",
    )


def _positive(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 up, came {text!r}")
    return number


def _scope(text: str) -> str:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        SpecifierSet("" if text == "any" else text)
    except InvalidSpecifier:
        raise argparse.ArgumentTypeError(
            f"expected a PEP 440 specifier such as '>=0.27', or any; came {text!r}"
        ) from None
    return text


def _rate(text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = -1.0
    if not 0 < rate <= 1:
        raise argparse.ArgumentTypeError(f"expected a number above 0, up to 1, came {text!r}")
    return rate


def _open_closed_streams() -> None:
    """Put the null device where the caller has closed one of the standard streams."""
    from harness.run.process import open_closed_streams

    open_closed_streams()
    sys.stdout = sys.stdout or open(1, "w", closefd=False)
    sys.stderr = sys.stderr or open(2, "w", closefd=False)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    _open_closed_streams()
    try:
        code = _perform(parser().parse_args(argv))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        code = 130
    except BrokenPipeError:
        # The reader of our output has gone; the interpreter must not complain about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 141
    return code


def _perform(options: argparse.Namespace) -> int:
    from harness import commands
    from harness.case import CaseFileError
    from harness.report.results import ResultsError
    from harness.run.host import ServerError
    from harness.select import SelectError

    try:
        code = commands.COMMANDS[options.command](options)
        sys.stdout.flush()
    except (commands.UsageError, CaseFileError, ResultsError, SelectError) as error:
        print(f"tvm-repro: {error}", file=sys.stderr)
        code = 2
    except ServerError as error:
        print(f"tvm-repro: cannot run cases: {error}", file=sys.stderr)
        print("see `tvm-repro doctor`", file=sys.stderr)
        code = 3
    return code


if __name__ == "__main__":
    sys.exit(main())
