"""Builders that change what the next case stands on, and one that looks whether it still does."""

import builtins
import os
import random
import sys

import numpy as np
import tvm
from tvm import relax


def environment():
    os.environ.clear()
    os.environ["SPITE"] = "1"


def folder():
    os.chdir("/")
    os.umask(0o777)


def globals_of_tvm():
    tvm.register_global_func("spite", lambda: None, override=True)
    relax.transform.LegalizeOps = None
    tvm.ir.transform.PassContext.current().config["spite"] = 1
    tvm.target.Target("cuda").__enter__()


def legaliser():
    relax.op.binary.add = relax.op.binary.multiply
    tvm.ir.Op.get("relax.add").set_attr("FLegalize", lambda *_: 1 / 0, 99)


def harness():
    import harness.run.stages
    import harness.verdict.outcome

    harness.run.stages.run_arm = lambda *_: None
    harness.run.wire.Records.send = lambda *_: None
    for name in list(sys.modules):
        if name.startswith(("harness", "fixes")):
            sys.modules[name] = None


def python():
    builtins.open = builtins.print = None
    sys.path.clear()
    sys.setrecursionlimit(60)
    random.seed(0)
    np.seterr(all="raise")
    np.add = np.multiply


def limits():
    import resource

    for name in ("RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_CPU", "RLIMIT_NPROC"):
        number = getattr(resource, name)
        resource.setrlimit(number, (3, resource.getrlimit(number)[1]))


def signals():
    import signal

    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))


def priority():
    os.nice(19)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def spite(how, text):
    """Do it, and give the module of `text`."""
    globals()[how]()
    return tvm.script.from_source(text, check_well_formed=False)


def _state():
    import resource
    import signal

    return {
        "environment": dict(os.environ),
        "folder": (os.getcwd(), os.umask(0o022)),
        "function": tvm.get_global_func("spite", allow_missing=True),
        "pass": relax.transform.LegalizeOps.__name__,
        "target": str(tvm.target.Target.current(allow_none=True)),
        "path": list(sys.path),
        "recursion": sys.getrecursionlimit(),
        "numpy": (np.geterr(), np.add.__name__),
        "limits": [resource.getrlimit(number) for number in range(10)],
        "signals": [str(signal.getsignal(number)) for number in range(1, 32)],
        "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
        "nice": os.nice(0),
        "affinity": sorted(os.sched_getaffinity(0)),
    }


def look():
    """Raise with what there is, so that it can be compared."""
    raise ValueError(repr(_state()))
