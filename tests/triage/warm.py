"""Runs programs, each in a fork of one process that has TVM imported: ``python warm.py MODULE...``.

A line of JSON on stdin names a program and where its output goes; the line that answers says how it
ended. The fork is as a fresh interpreter would be, but for what importing TVM costs.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import linecache
import os
import resource
import signal
import sys
import types

LIMIT = 120  # seconds: a handler of a fatal signal may wait for a lock for ever


def run(program: str) -> int:
    """Run a program as ``python PROGRAM`` would; returns the exit code."""
    module = types.ModuleType("__main__")
    module.__file__ = program
    sys.modules["__main__"] = module
    with open(program, encoding="utf-8") as file:
        code = compile(file.read(), program, "exec", dont_inherit=True)
    linecache.clearcache()
    try:
        exec(code, module.__dict__)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    return 0


def fork(program: str, out: str, err: str) -> dict[str, int]:
    pid = os.fork()
    if not pid:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.alarm(LIMIT)
        for number, path in ((1, out), (2, err)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        code = 1
        try:
            code = run(program)
            sys.modules["__main__"].__dict__.clear()
            gc.collect()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    return {"code": os.waitstatus_to_exitcode(status)}


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    import numpy  # noqa: F401
    import tvm  # noqa: F401
    from tvm import relax  # noqa: F401

    for name in sys.argv[1:]:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.freeze()
    for line in sys.stdin:
        answers.write(json.dumps(fork(**json.loads(line))) + "\n")
        answers.flush()


main()
