"""Hold a fix against TVM's own function on generated modules.

``python -m fixes.differential --modules 3000 --seed 1``: where TVM's result is well-formed, the
fix has to give a structurally equal one; everywhere it has to give a well-formed one, that
computes what the module computed before. Exit code 1 when it does not.
"""

from __future__ import annotations

import argparse
import importlib
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from fixes.install import applied, stock_of
from fixes.quiet import quiet
from fixes.registry import get

_LARGEST_RUN = 2**26  # bytes of workspace that a run may ask for


@dataclass
class Tally:
    """What was seen; `differences` is what must stay empty.

    `first_seen` tells of each kind of fault the module that showed it first, and after how long
    (s).
    """

    tried: int = 0
    equal: int = 0
    corrected: int = 0
    ran: int = 0
    neither_runs: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    first_seen: dict[str, tuple[int, float]] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)
    differences: list[tuple[int, str]] = field(default_factory=list)
    not_generated: Counter[str] = field(default_factory=Counter)


def well_formed(mod: Any) -> str:
    """Why the module is ill-formed; empty when it is not."""
    from tvm import relax

    try:
        # Before 0.25 it answers instead of raising.
        return "ill-formed" if relax.analysis.well_formed(mod) is False else ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def fault(message: str) -> str:
    """The kind of a failure: its message without what belongs to one module."""
    lines = [line for line in message.splitlines() if line.strip()]
    text = lines[0] if lines else ""
    text = re.sub(r'GlobalVar \S+\("\w+"\)', "GlobalVar …", text)
    text = re.sub(r"\w+_main\w*", "workspace_main", text) if "DataflowVar" in text else text
    text = re.sub(r'"\w+"', '"…"', re.sub(r"mismatch: .*", "mismatch", text))
    return re.sub(r"\d+", "N", text)[:110]


def examine(text: str, fix: str, tally: Tally, number: int, run: bool) -> None:
    """Compare both passes on one module, and add what was seen to the tally."""
    import tvm
    import tvm_ffi

    mod = tvm.script.from_source(text, check_well_formed=False)
    bad = well_formed(mod)
    if bad:
        tally.not_generated[fault(bad)] += 1
        return
    tally.tried += 1
    before = tvm_ffi.structural_hash(mod)
    stock, stock_fault = _stock(mod, fix)
    try:
        with applied(fix):
            fixed = _entry(fix)()(mod)
    except Exception as error:
        tally.differences.append((number, f"the fix raises {type(error).__name__}: {error}"))
        return
    if tvm_ffi.structural_hash(mod) != before:
        tally.differences.append((number, "the fix changes the module given in"))
    if well_formed(fixed):
        tally.differences.append((number, f"ill-formed after the fix: {well_formed(fixed)}"))
    elif stock_fault:
        kind = fault(stock_fault)
        tally.faults[kind] += 1
        tally.first_seen.setdefault(kind, (number, time.monotonic() - tally.started))
        tally.corrected += 1
    elif tvm_ffi.structural_equal(stock, fixed):
        tally.equal += 1
    else:
        tally.differences.append((number, "both are well-formed and they differ"))
    if run:
        _run(mod, stock, fixed, tally, number)


def _entry(fix: str) -> Any:
    module, name = get(fix).replaces.rsplit(".", 1)
    return getattr(importlib.import_module(module), name)


def _stock(mod: Any, fix: str) -> tuple[Any, str]:
    try:
        with quiet():
            result = stock_of(get(fix).targets[0])()(mod)
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"
    return result, well_formed(result)


def _run(mod: Any, stock: Any, fixed: Any, tally: Tally, number: int) -> None:
    """Call ``main`` of both modules, with and without the branches taken."""
    import numpy as np
    import tvm_ffi

    if _asks_for(mod) > _LARGEST_RUN:
        return
    try:
        expected = _results(mod)
    except Exception:
        return  # what cannot run before the pass need not run after it
    try:
        seen = _results(fixed)
    except Exception as error:
        if stock is not None and tvm_ffi.structural_equal(stock, fixed):
            tally.neither_runs += 1  # what the fix may not change: later passes stumble over it
        else:
            tally.differences.append((number, f"it no longer runs: {error}"))
        return
    tally.ran += 1
    if not np.array_equal(expected, seen):
        tally.differences.append((number, f"expected {expected}, got {seen}"))


def _asks_for(mod: Any) -> int:
    sizes = (
        int(f.attrs["WorkspaceSize"])
        for f in mod.functions.values()
        if f.attrs and "WorkspaceSize" in f.attrs
    )
    return max(sizes, default=0)


def _results(mod: Any) -> Any:
    import numpy as np
    import tvm
    from tvm import relax

    # Memory planning goes wrong on some branches by itself (apache/tvm#17348).
    with tvm.transform.PassContext(opt_level=0, disabled_pass=["StaticPlanBlockMemory"]):
        executable = relax.build(relax.transform.LambdaLift()(mod), "llvm")
    vm = relax.VirtualMachine(executable, tvm.cpu())
    x = tvm.runtime.tensor(np.arange(4, dtype="float32"))
    taken = (tvm.runtime.tensor(np.array(value)) for value in (True, False))
    return np.stack([vm["main"](x, c).numpy() for c in taken])


def compare(fix: str, modules: int, seed: int, run_every: int) -> Tally:
    """Examine `modules` generated modules; number `n` depends on `seed` and `n` alone."""
    generate = importlib.import_module(f"{get(fix).module}.generate").generated
    tally = Tally()
    for number in range(modules):
        run = run_every > 0 and number % run_every == 0
        examine(generate(random.Random(f"{seed}/{number}")), fix, tally, number, run)
        if sys.stderr.isatty() and number % 25 == 0:
            rate = (number + 1) / (time.monotonic() - tally.started)
            print(f"\r{number + 1}/{modules}, {rate:.0f} a second", end="", file=sys.stderr)
    return tally


def _print(tally: Tally) -> None:
    import tvm

    print(f"TVM                            {tvm.__version__}")
    print(f"modules tried                  {tally.tried}")
    print(f"stock right, fix equal         {tally.equal}")
    print(f"stock wrong, fix well-formed   {tally.corrected}")
    print(f"run before and after           {tally.ran}")
    if tally.neither_runs:
        print(f"equal, neither can be built    {tally.neither_runs}")
    print(f"differences                    {len(tally.differences)}")
    for number, what in tally.differences[:20]:
        print(f"  module {number}: {what}")
    if tally.not_generated:
        print(f"ill-formed as generated        {sum(tally.not_generated.values())}")
        for kind, count in tally.not_generated.most_common():
            print(f"  {count:6} {kind}")
    print("what stock does when it is wrong")
    for kind, count in tally.faults.most_common():
        number, seconds = tally.first_seen[kind]
        print(f"  {count:6} {kind} (first: module {number}, after {seconds:.0f} s)")


def main(argv: Sequence[str] | None = None) -> int:
    """The command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m fixes.differential", description=__doc__)
    parser.add_argument("--fix", default="allocate_workspace")
    parser.add_argument("--modules", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--run-every", type=int, default=10, help="0: run none")
    parser.add_argument("--show", type=int, metavar="NUMBER", help="print one module, do no more")
    args = parser.parse_args(argv)
    if args.show is not None:
        generate = importlib.import_module(f"{get(args.fix).module}.generate").generated
        print(generate(random.Random(f"{args.seed}/{args.show}")))
        return 0
    tally = compare(args.fix, args.modules, args.seed, args.run_every)
    _print(tally)
    return 1 if tally.differences else 0


if __name__ == "__main__":
    sys.exit(main())
