"""Starts the fork server: ``python entry.py CONTROL_FD [--cold]``.

A script and not a module to run with -m: TVM's parser looks every frame of the stack up, and those
of runpy have no file, which makes each look-up walk through all imported modules.
"""

import os
import sys

# The harness that the parent runs, wherever it was started; and none of this folder's names on top.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from harness.run import server  # noqa: E402

server.main()
