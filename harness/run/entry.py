"""The program of the fork server: ``python entry.py CONTROL_FD [--cold]``.

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
    """Serve the parent's requests, with TVM imported and warm, or cold."""
    process.pin_stack()
    process.no_core_dumps()
    control = socket.socket(fileno=int(sys.argv[1]))
    if "--cold" in sys.argv:
        finish(server.serve(control, alone))
    from harness.run import child, warm  # imports TVM

    # After the import: TVM's own handler prints the native backtrace, this one the Python stack.
    faulthandler.enable()
    control.sendall(json.dumps(child.tvm_info().as_dict()).encode() + b"\n")
    warm.warm_up()
    finish(server.serve(control, child.load))


def alone(request: wire.Fork, control: socket.socket, records: wire.Records) -> server.Task | None:
    """What a child of a cold server does: import TVM for itself, load, run one arm."""
    control.close()
    from harness.run import child

    faulthandler.enable()
    child.alone(request, records)
    return None


def finish(task: server.Task | None) -> None:
    """Do a child's task; in the server, which has none left, clear up first.

    The parent may have been killed, and cannot.
    """
    if task is None:
        shutil.rmtree(os.environ["TVM_REPRO_SCRATCH"], ignore_errors=True)
    server.perform(task)


main()
