"""What a forked child does. Importing this imports TVM."""

from __future__ import annotations

import platform
import socket

import tvm
import tvm_ffi

from harness.case import Case
from harness.run import process, server, stages, wire
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


def load(request: wire.Request, control: socket.socket, records: wire.Records) -> None:
    """Load the module once, then fork a child for every arm that is asked for."""
    assert isinstance(request, wire.Load)
    module = _loaded(request.case, records)
    if module is not None:
        server.serve(control, _arm_work(module))


def alone(request: wire.Request, records: wire.Records) -> None:
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
            module = stages.load_module(case)
    except StepFailed:
        pass
    narrator.tell("loaded", module is not None)
    return module


def _arm_work(module: tvm.IRModule) -> server.Work:
    def work(request: wire.Request, control: socket.socket, records: wire.Records) -> None:
        control.close()
        assert isinstance(request, wire.Arm)
        _run_arm(module, request, records)

    return work


def _run_arm(module: tvm.IRModule, request: wire.Arm, records: wire.Records) -> None:
    process.limit_memory(request.case.limits.memory_mb)
    stages.run_arm(request.case, request.arm, module, Narrator(records), request.show)
    process.flush_c_streams()
