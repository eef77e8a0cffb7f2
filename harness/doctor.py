"""Whether this machine can judge cases: the TVM at hand, and what is missing."""

from __future__ import annotations

import os
import sys

from rich.console import Console

from harness import campaign
from harness.compat import installed, pair_state
from harness.report.summary import one_line
from harness.run.host import Server, ServerError
from harness.verdict.word import INFRA

PACKAGES = ("apache-tvm", "apache-tvm-ffi", "numpy", "pytest", "pytest-xdist", "pydantic", "PyYAML")


def examine(out: Console, each: bool = False) -> int:
    """Print what there is, and `each` canary; returns 0, or 3 when no case can be judged here."""
    out.print(f"python      {sys.version.split()[0]}  {sys.executable}", soft_wrap=True)
    for name in PACKAGES:
        out.print(f"{name:<15} {installed(name) or f'missing: pip install {name}'}")
    out.print(f"processors  {len(os.sched_getaffinity(0))}")
    try:
        server = Server()
    except ServerError as error:
        out.print(f"TVM cannot be imported: {error}", style="wrong", soft_wrap=True)
        return INFRA
    try:
        assert server.info is not None
        info = server.info
    finally:
        server.close()
    pair = f"TVM {info.tvm} with ffi {info.tvm_ffi}, LLVM {info.llvm or 'none'}"
    out.print(f"{pair}: {pair_state(info.tvm, info.tvm_ffi)}", soft_wrap=True)
    misjudged = campaign.misjudged_canaries()
    if each:
        for report in campaign.canaries():
            said = one_line(report.case, report.judgement)
            out.print(said.append(f"  {report.case.title}", style="quiet"), soft_wrap=True)
    if misjudged:
        out.print(f"canaries misjudged: {misjudged}", style="wrong", soft_wrap=True)
        return INFRA
    out.print("canaries    all judged rightly", style="right")
    return 0
