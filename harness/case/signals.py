"""Names of all signals that can end a process, those without a name of their own included."""

from __future__ import annotations

import signal


def signal_name(number: int) -> str:
    """``SIGSEGV``, ``SIGRTMIN+3``, or ``SIG33`` for one that the C library keeps to itself."""
    try:
        return signal.Signals(number).name
    except ValueError:
        above = number - signal.SIGRTMIN
        return f"SIGRTMIN+{above}" if above > 0 else f"SIG{number}"


# Some numbers have two names: all of them, first those that `signal_name` gives.
SIGNALS = tuple(
    dict.fromkeys([*map(signal_name, range(1, signal.NSIG)), *signal.Signals.__members__])
)
