"""What a forked child does. Importing this imports TVM."""

from __future__ import annotations

import platform
import socket

import tvm
import tvm_ffi

from harness.case import Case
from harness.run import process, server, stages, wire
from harness.run.load import load_module
from harness.run.narrate import Narrator, StepFailed
from harness.run.trace import Stage, TvmInfo


def tvm_info() -> TvmInfo:
    """The versions of the TVM in this process."""
    llvm = tvm.get_global_func("target.llvm_version_major", allow_missing=True)
    return TvmInfo(
        tvm=tvm.__version__,
        tvm_ffi=tvm_ffi.__version__,
        llvm=str(llvm()) if llvm else "",
        python=platform.python_version(),
        platform=platform.platform(),
    )


def load(request: wire.Fork, control: socket.socket, records: wire.Records) -> server.Task | None:
    """Load the module once, then serve: an arm for every request."""
    module = _loaded(request.case, records)
    return None if module is None else server.serve(control, _arm_work(module))


def alone(request: wire.Fork, records: wire.Records) -> None:
    """Load the module and run one arm in this very process: for targets that do not fork."""
    assert isinstance(request, wire.Alone)
    module = _loaded(request.case, records)
    if module is not None:
        _run_arm(module, request, records)


def _loaded(case: Case, records: wire.Records) -> tvm.IRModule | None:
    process.limit_memory(case.limits.memory_mb)
    narrator = Narrator(records)
    module = None
    try:
        with narrator.step(Stage.LOAD):
            module = load_module(case)
    except StepFailed:
        pass
    narrator.tell("loaded", module is not None)
    return module


def _arm_work(module: tvm.IRModule) -> server.Work:
    def work(request: wire.Fork, control: socket.socket, records: wire.Records) -> None:
        control.close()
        assert isinstance(request, wire.Arm)
        _run_arm(module, request, records)

    return work


def _run_arm(module: tvm.IRModule, request: wire.Arm, records: wire.Records) -> None:
    process.limit_memory(request.case.limits.memory_mb)
    narrator = Narrator(records, request.watch.halt)
    stages.run_arm(request.case, request.arm, module, narrator, request.watch)
