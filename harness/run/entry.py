"""The program of the fork server: ``python entry.py CONTROL_FD [--cold | MODULE...]``.

A script and not a module to run with -m: TVM's parser looks every frame of the stack up, and those
of runpy have no file, which makes each look-up walk through all imported modules.
"""

from __future__ import annotations

import os
import sys

# The harness that the parent runs, wherever it was started; and none of this folder's names on top.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import faulthandler
import json
import shutil
import socket

from harness.run import process, server, wire


def main() -> None:
    """Serve the parent's requests: cold, or with TVM and the modules named imported and warm."""
    process.pin_stack()
    process.no_core_dumps()
    process.reset_signals()
    os.makedirs(os.environ["TVM_REPRO_SCRATCH"], mode=0o700)
    control = socket.socket(fileno=int(sys.argv[1]))
    if "--cold" in sys.argv:
        finish(server.serve(control, alone))
    try:
        work = warmed_up(control, sys.argv[2:])
    except BaseException:  # a parent that is gone among them
        clear_up()
        raise
    finish(server.serve(control, work))


def warmed_up(control: socket.socket, modules: list[str]) -> server.Work:
    """Import TVM and say so; what the children have to do."""
    from harness.run import child, warm

    tell_of_faults()
    control.sendall(json.dumps(child.tvm_info().as_dict()).encode() + b"\n")
    warm.warm_up(modules)
    return child.load


def alone(request: wire.Fork, control: socket.socket, records: wire.Records) -> server.Task | None:
    """What a child of a cold server does: import TVM for itself, load, run one arm."""
    control.close()
    from harness.run import child

    tell_of_faults()
    child.alone(request, records)
    return None


def tell_of_faults() -> None:
    """Print the Python stack too, in front of the native one that TVM's handler prints.

    To be called once TVM is imported: faulthandler calls the handler that was there before it, on
    a stack which is large enough for itself but not for that one.
    """
    faulthandler.enable()
    process.enlarge_signal_stack()


def finish(task: server.Task | None) -> None:
    """Do a child's task; in the server, which has none left, clear up first.

    The parent may have been killed, and cannot.
    """
    if task is None:
        clear_up()
    server.perform(task)


def clear_up() -> None:
    """Remove the temporary files of all children."""
    shutil.rmtree(os.environ["TVM_REPRO_SCRATCH"], ignore_errors=True)


main()
