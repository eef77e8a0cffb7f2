"""Make ``<release>.json``: run every failure of failures.py on the TVM of this interpreter.

Usage: ``python tests/verdict/golden/collect.py`` with the interpreter of each release in turn.
What is written is what TVM said, with nothing rounded off but the folders TVM and this file lie in.
"""

from __future__ import annotations

import faulthandler
import json
import re
import resource
import signal
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from failures import FAILURES, Failure  # noqa: E402


def resolve(name: str) -> Any:
    import tvm

    value: Any = tvm
    parts = name.split(".")
    if parts[0] == "tirx" and not hasattr(tvm, "tirx"):
        parts[0] = "tir"
    for part in parts:
        value = getattr(value, part)
    return value


def take(step: str, module: Any, state: dict[str, Any]) -> Any:
    """Do one step and return the module it leaves behind."""
    import numpy as np
    import tvm
    from tvm import relax

    if step == "check":
        relax.analysis.well_formed(module)
    elif step == "build":
        state["executable"] = relax.build(module, "llvm")
    elif step == "tvm.compile":
        tvm.compile(module, "llvm")
    elif step == "vm":
        state["vm"] = relax.VirtualMachine(state["executable"], tvm.cpu())
    elif step == "call":
        x = tvm.runtime.tensor(np.ones(4, "float32"))
        state["vm"]["main"](x, tvm.runtime.tensor(np.array(False)))
    elif step == "kernel":
        x = tvm.runtime.tensor(np.ones(64, "float32"))
        tvm.compile(module, "llvm")["main"](x)
    elif step == "schedule":
        schedules = tvm.s_tir if hasattr(tvm, "s_tir") else tvm.tir
        schedule = schedules.Schedule(module)
        schedule.parallel(schedule.get_loops(schedule.get_sblock("gemv", "gemv"))[1])
    else:
        return resolve(step)()(module)
    return module


def as_module(value: Any) -> Any:
    import tvm

    return value if isinstance(value, tvm.IRModule) else tvm.IRModule({"main": value})


def child(failure: Failure) -> None:
    """Take the steps; each is announced before it starts, for those that kill the process."""
    from tvm.script import from_source

    faulthandler.enable()  # as the children of the harness do: behind TVM's own handler
    if failure.memory_mb:
        limit = failure.memory_mb << 20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    step, state = "load", {}
    try:
        print(json.dumps({"at": step}), flush=True)
        module = as_module(from_source(failure.module, check_well_formed=False))
        for step in failure.steps:
            print(json.dumps({"at": step}), flush=True)
            module = take(step, module, state)
    except BaseException as error:
        raised = {
            "at": step,
            "type": type(error).__name__,
            "message": str(error),
            "frames": [frame.name for frame in traceback.extract_tb(error.__traceback__)],
        }
        print(json.dumps(raised), flush=True)


def without_paths(text: str) -> str:
    text = text.replace(f"{HERE}/", "")
    return re.sub(r'(/[^\s"\':,]*)?/site-packages/', "/site-packages/", text)


def collect(failure: Failure) -> dict[str, Any]:
    """Run one failure in a fresh interpreter."""
    command = [sys.executable, __file__, failure.name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    records = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"at"')]
    seen: dict[str, Any] = {"bug": failure.bug, "variant": failure.variant, **records[-1]}
    if done.returncode < 0:
        seen["signal"] = signal.Signals(-done.returncode).name
        seen["stderr"] = without_paths(done.stderr)
    elif "message" in seen:
        seen["message"] = without_paths(seen["message"])
    else:
        seen["nothing"] = True
    return seen


def main() -> None:
    if len(sys.argv) > 1:
        child(next(failure for failure in FAILURES if failure.name == sys.argv[1]))
        return
    import tvm
    from packaging.version import Version

    def newer(since: str) -> bool:
        return not since or Version(tvm.__version__) >= Version(since)

    seen = [collect(failure) for failure in FAILURES if newer(failure.since)]
    text = json.dumps({"tvm": tvm.__version__, "failures": seen}, indent=1, ensure_ascii=False)
    (HERE / f"{tvm.__version__}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
