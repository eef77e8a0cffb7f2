"""Builders of modules that misbehave, each in its own way, while they load or while they run."""

import ctypes
import gc
import os
import signal
import sys
import time

import tvm
from tvm import relax

ONE_CALL = """
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        _ = R.call_packed("nasty.behave", ty_args=(R.Tuple,))
        return x
"""


def segfault():
    ctypes.string_at(0)


def exit_quietly():
    os._exit(0)


def sleep():
    time.sleep(1000)


def hang_in_c():
    ctypes.PyDLL(None).pause()  # holds the GIL: no Python handler can run


def eat_memory():
    held = []
    while True:
        held.append(bytearray(64 << 20))


def eat_memory_in_c():
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    while libc.malloc(ctypes.c_size_t(64 << 20)):
        pass
    sys.stderr.write("terminate called after throwing an instance of 'std::bad_alloc'\n")
    sys.stderr.flush()
    os.abort()


def print_without_end():
    line = b"nothing to see here " * 2000 + b"\n"
    while True:
        os.write(1, line)
        os.write(2, line)


def print_a_gigabyte():
    block = b"x" * (1 << 20)
    for _ in range(1024):
        os.write(1, block)


def close_all_pipes():
    os.closerange(3, 512)


def scribble_on_all_pipes():
    for fd in range(3, 64):
        try:
            os.write(fd, b'{"final": true}\n{"begin": "run"\xff\xfe\n' * 8)
        except OSError:
            pass


def kill_parent():
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(1000)


def leave_daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(1000)
        os._exit(0)
    os.wait()


def system_exit():
    raise SystemExit(3)


def _module(behave):
    tvm.register_global_func("nasty.behave", lambda *_: behave(), override=True)
    text = ONE_CALL
    try:
        return tvm.script.from_source(text, check_well_formed=False)
    except tvm.error.DiagnosticError:  # before 0.26 the keyword had another name
        text = text.replace("ty_args", "sinfo_args")
        return tvm.script.from_source(text, check_well_formed=False)


def _late(behave):
    return lambda: _module(behave)


def strike(number):
    os.kill(os.getpid(), number)


def struck(stage, number):
    """A module whose run is struck by a signal at a stage; those before it are sound."""
    if stage == "load":
        strike(number)
    elif stage in ("input", "well_formed"):
        sound, seen = relax.analysis.well_formed, []

        def check(module):
            seen.append(module)
            if len(seen) == (1 if stage == "input" else 2):
                strike(number)
            return sound(module)

        relax.analysis.well_formed = check
    elif stage == "vm":
        machine = relax.VirtualMachine

        def make(*args, **keywords):
            strike(number)
            return machine(*args, **keywords)

        relax.VirtualMachine = make
    elif stage == "exit":
        gc.collect = lambda *_: strike(number)
    return _module(lambda: strike(number) if stage == "run" else None)


def through(module, *number):
    """A pass that does nothing but strike, when it has a number to do that with."""
    if number:
        strike(*number)
    return module


abort = os.abort

for _name in (
    "segfault abort exit_quietly sleep hang_in_c eat_memory eat_memory_in_c print_without_end "
    "print_a_gigabyte close_all_pipes scribble_on_all_pipes kill_parent leave_daemon system_exit"
).split():
    globals()[f"late_{_name}"] = _late(globals()[_name])


def busy(seconds):
    """Computes for so long, by the clock of the processor, and makes a sound module."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    return tvm.IRModule({})
