"""How small `tvm-repro reduce` makes a fault that lies in a large module, and how fast.

    python -m benchmarks.reduce [--bindings N] [--seed N] [-j N] [CASE ...]

Takes hand-written cases, plants each in a module of N bindings: chains of operators in front of
the fault, which is fed by them, and functions and kernels that have nothing to do with it. Then
reduces that, and prints what was planted, what came out, and what was written by hand; calls, calls
a second, seconds, and seconds of processor time, the start of TVM included.
"""

from __future__ import annotations

import argparse
import ast
import os
import resource
import tempfile
import time
from pathlib import Path

from benchmarks.planting import planted
from harness.case import load_case
from harness.case.edit import edited
from harness.case.reading import read_tree
from harness.run.pool import Pool
from harness.triage.reduce.begin import CannotReduce, Start, begin
from harness.triage.reduce.command import search_all
from harness.triage.reduce.finish import finish
from harness.triage.reduce.program import KEYS, Program, size
from harness.triage.reduce.script import parsed
from harness.triage.reduce.search import Search
from harness.triage.reduce.smallcase import SmallCase

REPROS = Path(__file__).parents[1] / "repros"
CASES = (
    "relax/allocate-workspace-dangling-globalvar",
    "relax/combine-parallel-matmul-vector-right",
    "relax/dynamic-strided-slice-zero-stride",
    "relax/fold-constant-division-by-zero",
    "relax/fuse-ops-nested-tuple-access",
    "relax/inline-private-functions-symbolic-call-tir",
    "relax/kill-after-last-use-dataflow-block",
    "relax/lambda-lift-local-calls-local",
    "relax/merge-composite-functions-if",
    "relax/maximum-loses-nan",
    "relax/reshape-to-shape-variable",
    "relax/strided-slice-empty",
)


def plant(path: Path, folder: Path, bindings: int, seed: int, pool: Pool) -> tuple[Path, Start]:
    """A case file with the fault of another in a large module, and what reducing begins with.

    Raises
    ------
    CannotReduce
        When the large module does not fail as the case does.
    """
    original = path.read_text(encoding="utf-8")
    written = read_tree(original).data
    wanted = begin(load_case(path), written, pool).oracle.goal.signature
    file = folder / "repros" / path.name
    file.parent.mkdir()
    for large in planted(by_hand(path), bindings, seed):
        file.write_text(edited(original, {("module",): large.module}), encoding="utf-8")
        try:
            start = begin(load_case(file), {**written, "module": large.module}, pool)
        except CannotReduce:
            continue
        if start.oracle.goal.signature == wanted:
            return file, start
    raise CannotReduce("in a large module it does not fail like that")


def by_hand(path: Path) -> Program:
    """What a case file says, laid out as reducing lays out its results."""
    written = read_tree(path.read_text(encoding="utf-8")).data
    text = ast.unparse(parsed(written["module"]).tree) + "\n"
    return Program(text, {key: written[key] for key in KEYS if key in written})


def measure(name: str, options: argparse.Namespace) -> str:
    """Plant one case, reduce it, and tell in a line what came of it."""
    path = REPROS / f"{name}.yaml"
    before = processor_time()
    with tempfile.TemporaryDirectory() as folder:
        with Pool(options.jobs) as pool:
            try:
                file, start = plant(path, Path(folder), options.bindings, options.seed, pool)
            except CannotReduce as why:
                return f"{name:48} cannot be planted: {why}"
            case, written = load_case(file), read_tree(file.read_text(encoding="utf-8")).data
            search = Search(start.oracle, start.program)
            began = time.monotonic()
            search_all(search, case, written)
            seconds = time.monotonic() - began
        spent = processor_time() - before
        small = SmallCase(file.read_text(encoding="utf-8"), file.with_name("small.yaml"))
        wrong = finish(case, written, small, search.best, search.oracle.goal)
    if options.verbose:
        print(search.best.module, search.best.data)
    sizes = [size(one) for one in (start.program, search.best, by_hand(path))]
    cells = "  ".join(f"{s.functions:3} {s.bindings:4} {s.characters:6}" for s in sizes)
    calls = search.oracle.calls
    pace = f"{calls / search.oracle.seconds:5.1f} {seconds:6.0f} {spent:6.0f}"
    return f"{name:48} {cells}  {calls:5} {pace}  {wrong}"


def processor_time() -> float:
    """Seconds of processor time of this process, and of its children that have ended."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in both)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", default=CASES)
    parser.add_argument("--bindings", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("-v", "--verbose", action="store_true", help="print what came out")
    options = parser.parse_args()
    print("functions, bindings and characters of what was planted, what came out, and the case")
    print(
        f"{'case':48} {'planted':>15}  {'reduced':>15}  {'by hand':>15}  calls   /s      s    cpu"
    )
    for name in options.cases:
        print(measure(name, options), flush=True)


if __name__ == "__main__":
    main()
