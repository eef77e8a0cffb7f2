"""How small `tvm-repro reduce` makes a fault that lies in a large module, and how fast.

    python -m benchmarks.reduce [--bindings N] [--seed N] [-j N] [CASE ...]

Takes hand-written cases, plants each in a module of N bindings: chains of operators in front of
the fault, which is fed by them, and functions and kernels that have nothing to do with it. Then
reduces that, and prints what was planted, what came out, and what was written by hand.
"""

from __future__ import annotations

import argparse
import ast
import os
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.planting import planted
from harness.case import load_case
from harness.case.edit import edited
from harness.case.reading import read_tree
from harness.run.pool import Pool
from harness.triage.reduce.begin import CannotReduce, begin
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
    "relax/fold-constant-division-by-zero",
    "relax/fuse-ops-nested-tuple-access",
    "relax/inline-private-functions-symbolic-call-tir",
    "relax/kill-after-last-use-dataflow-block",
    "relax/lambda-lift-local-calls-local",
    "relax/merge-composite-functions-if",
    "relax/permute-dims-empty",
    "relax/reshape-to-shape-variable",
    "relax/static-plan-block-memory-if-else",
)


def measure(name: str, bindings: int, seed: int, jobs: int) -> str:
    """Plant one case, reduce it, and tell in a line what came of it."""
    path = REPROS / f"{name}.yaml"
    case = load_case(path)
    original = path.read_text(encoding="utf-8")
    written = read_tree(original).data
    hand = Program(
        ast.unparse(parsed(written["module"]).tree) + "\n",
        {key: written[key] for key in KEYS if key in written},
    )
    with tempfile.TemporaryDirectory() as folder, Pool(jobs) as pool:
        for large in planted(hand, bindings, seed):
            text = edited(original, {("module",): large.module})
            file = Path(folder) / "repros" / path.name
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
            try:
                start = begin(load_case(file), {**written, "module": large.module}, pool)
            except CannotReduce as why:
                print(f"  {name}: {why}", file=sys.stderr)
                continue
            wanted = begin(case, written, pool).oracle.goal.signature
            if start.oracle.goal.signature == wanted:
                break
            print(f"  {name}: planted, it is {start.oracle.goal.signature}", file=sys.stderr)
        else:
            return f"{name:48} cannot be planted"
        search = Search(start.oracle, start.program)
        began = time.monotonic()
        search_all(search, load_case(file), written)
        seconds = time.monotonic() - began
        small = SmallCase(text, file.with_name("small.yaml"))
        wrong = finish(
            load_case(file),
            {**written, "module": large.module},
            small,
            search.best,
            start.oracle.goal,
        )
    sizes = [size(one) for one in (large, search.best, hand)]
    cells = "  ".join(f"{s.functions:3} {s.bindings:4} {s.characters:6}" for s in sizes)
    calls = search.oracle.calls
    return (
        f"{name:48} {cells}  {calls:5} {calls / search.oracle.seconds:5.1f} {seconds:6.0f}  {wrong}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", default=CASES)
    parser.add_argument("--bindings", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    print("functions, bindings and characters of what was planted, what came out, and the case")
    print(f"{'case':48} {'planted':>15}  {'reduced':>15}  {'by hand':>15}  calls   /s      s")
    for name in options.cases:
        print(measure(name, options.bindings, options.seed, options.jobs), flush=True)


if __name__ == "__main__":
    main()
