"""What a sweep found, for people and as case files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from harness.case import (
    Call,
    ModuleText,
    NumberArg,
    RandomArg,
    ResultOf,
    ShapeArg,
    TupleArg,
)
from harness.case.args import ArangeArg, Arg, FullArg, TensorArg
from harness.case.writing import written
from harness.report.text import line
from harness.triage.sweep.finds import Find, Kind
from harness.triage.sweep.inputs import TOLERANCE, calls
from harness.triage.sweep.probes import Outcome, Tally
from harness.verdict.seen import as_data

_MOST_NAMES = 6


def show(finds: Sequence[Find], tally: Tally, out: Console) -> None:
    """New finds in full, known ones in a line each, then how much was done."""
    for kind in Kind:
        new = [one for one in finds if one.kind is kind and not one.known]
        if new:
            out.print(f"{kind.value}: {kind.means}", style="title")
        for find in new:
            _show_one(find, out)
    known = [one for one in finds if one.known]
    if known:
        out.print("known: the corpus fails in the same way", style="title")
    for find in known:
        out.print(f"  {line(find.signature, 300)}", style="quiet", soft_wrap=True)
    left_out = f"{len(tally.left_out)} left out (ill-formed, not loading, no Relax)"
    called = f"{tally.compared} of these were called ({tally.callable} inputs can be)"
    out.print(
        f"{tally.probes} passes on {tally.inputs} inputs, {left_out}; "
        f"{tally.changed} changed the module, {called}",
        soft_wrap=True,
    )
    faults = sum(one.counts for one in finds)
    others = len(finds) - faults - len(known)
    out.print(f"{faults} new, {len(known)} known, {others} of another phase")


def _show_one(find: Find, out: Console) -> None:
    smallest = find.smallest.probe
    out.print(f"  {line(find.signature, 400)}", style="wrong", soft_wrap=True)
    where = f"{len(find.outcomes)} times, by {_some(find.passes)}, on {len(find.inputs)} inputs"
    out.print(f"    {where}", style="quiet", soft_wrap=True)
    told = Text.assemble("    smallest: ", smallest.label, " on ", line(smallest.case.id))
    out.print(told, soft_wrap=True)


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def write(find: Find, folder: Path) -> Path | None:
    """The smallest outcome as a case file; None when its input is made by a Python file.

    Raises
    ------
    OSError
    """
    outcome = find.smallest
    probe = outcome.probe
    if not isinstance(probe.case.module, ModuleText):
        return None
    short = probe.name.rpartition(".")[2]
    mark = hashlib.sha256(find.signature.encode()).hexdigest()[:6]
    slug = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", short).lower()
    file = folder / f"{slug}-{find.kind.value.split()[0]}-{mark}.yaml"
    folder.mkdir(parents=True, exist_ok=True)
    file.write_text(written(_keys(find, outcome)), encoding="utf-8")
    return file


def _keys(find: Find, outcome: Outcome) -> dict[str, Any]:
    probe = outcome.probe
    assert isinstance(probe.case.module, ModuleText)
    keys: dict[str, Any] = {
        "title": f"{probe.label}: {find.kind.means} (observed, not understood)",
        "tags": ["sweep", "observed"],
        "notes": f"Found by a sweep, on the input of {probe.case.id}. What is expected here is "
        "what was observed.\n",
        "module": probe.case.module.text.strip("\n") + "\n",
        "passes": [one.name for one in probe.passes],
        "expect": {"stock": as_data(outcome.stages)},
    }
    if outcome.ran:
        keys["run"] = [_call(call) for call in calls(probe.case)]
    else:
        keys["build"] = False
    return keys


def _call(call: Call) -> dict[str, Any]:
    keys: dict[str, Any] = {"call": call.function, "args": [_argument(arg) for arg in call.args]}
    return {**keys, "same_as": "input", "rtol": TOLERANCE, "atol": TOLERANCE}


def _argument(arg: Arg) -> Any:
    match arg:
        case NumberArg(value=value):
            return value
        case ShapeArg(dims=dims):
            return {"shape": list(dims)}
        case TupleArg(items=items):
            return {"tuple": [_argument(item) for item in items]}
        case ResultOf(call=number, item=item):
            return {"result_of": number, **({} if item is None else {"item": item})}
        case RandomArg(shape=shape, dtype=dtype, seed=seed):
            return {"random": list(shape), "dtype": dtype, "seed": seed}
        case ArangeArg(n=n, dtype=dtype, shape=shape):
            return {"arange": n, "dtype": dtype, "shape": list(shape)}
        case FullArg(value=value, dtype=dtype, shape=shape):
            return {"full": value, "shape": list(shape), "dtype": dtype}
        case TensorArg(data=data, dtype=dtype, shape=shape):
            return {"tensor": data, "dtype": dtype, "shape": list(shape)}
