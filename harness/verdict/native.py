"""Reading what a dying process printed to stderr: TVM's handler, faulthandler, LLVM, libstdc++."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TVM_BANNER = "!!!!!!! "
_PYTHON_BANNER = "Fatal Python error: "
# What faulthandler, which is called before TVM's handler, says of each signal.
_FATAL_SIGNALS = {
    "Segmentation fault": "SIGSEGV",
    "Bus error": "SIGBUS",
    "Floating-point exception": "SIGFPE",
    "Floating point exception": "SIGFPE",
    "Illegal instruction": "SIGILL",
    "Aborted": "SIGABRT",
}
_FATAL = re.compile(rf"^{_PYTHON_BANNER}({'|'.join(_FATAL_SIGNALS)})$", re.MULTILINE)
_NATIVE_FRAME = re.compile(r'^\s*File "[^"\n]*", line \d+, in (\S.*)$', re.MULTILINE)
_PYTHON_FRAME = re.compile(r'^\s*File "([^"\n]*)", line \d+ in (\S+)$', re.MULTILINE)
_TVM_FILE = re.compile(r"(?:site-packages|python)/tvm/")
_REASONS = (
    re.compile(r"^LLVM ERROR: .*$", re.MULTILINE),
    re.compile(r"^\s*what\(\): +(.*)$", re.MULTILINE),
    re.compile(r"^terminate called .*$", re.MULTILINE),
    re.compile(r"^(?:malloc|free|realloc|munmap_chunk|double free|corrupted)\b.*$", re.MULTILINE),
    re.compile(r"^\*\*\* .* \*\*\*.*$", re.MULTILINE),
)


def native_frames(stderr: str) -> tuple[str, ...]:
    """Functions of the printed stack that are TVM's, innermost first.

    C++ frames when the backtrace names any, else Python frames of TVM's own files: the wheels
    keep few symbols, so a backtrace may well hold nothing but the interpreter.
    """
    native = tuple(_tvm_frames(stderr[_last(stderr, _TVM_BANNER) :]))
    if native:
        return native
    python = stderr[_last(stderr, _PYTHON_BANNER) :]
    return tuple(name for path, name in _PYTHON_FRAME.findall(python) if _TVM_FILE.search(path))


def first_signal(stderr: str) -> str:
    """The signal that was met first, or "" when none was told.

    TVM's handler makes its backtrace on the heap, which the fault may have smashed: then a second
    signal ends the process, or nothing does.
    """
    found = _FATAL.search(stderr)
    return _FATAL_SIGNALS[found[1]] if found else ""


def abort_reason(stderr: str) -> str:
    """The line in which a library says why it gives up, or ""."""
    for pattern in _REASONS:
        found = pattern.findall(stderr)
        if found:
            return str(found[-1])
    return ""


def _tvm_frames(text: str) -> Iterator[str]:
    return (name for name in _NATIVE_FRAME.findall(text) if "tvm::" in name)


def _last(text: str, banner: str) -> int:
    """Where the last such report starts; the end of the text when there is none."""
    at = text.rfind(banner)
    return at if at >= 0 else len(text)
