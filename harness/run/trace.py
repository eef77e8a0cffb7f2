"""What was seen of one arm: raw facts, no judgement. The verdict package says what they mean."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from harness.run.watch import Path


class Stage(str, Enum):
    """The stages of an arm, in order."""

    LOAD = "load"
    INPUT = "input"
    PASS = "pass"
    WELL_FORMED = "well_formed"
    BUILD = "build"
    VM = "vm"
    RUN = "run"
    EXIT = "exit"


# The part of `load` in which the names that a case gives are looked up in the TVM at hand.
NAMES: Final = "passes"


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception as the child collected it.

    Attributes
    ----------
    type : str
        Class name, e.g. ``InternalError``.
    message : str
        ``str(exception)``, bounded; may be empty.
    frames : tuple of str
        Function names on the traceback, outermost first, Python and C++ alike
        (``tvm::relax::FusedTIRConstructor::GetFusedTIR``).
    """

    type: str
    message: str
    frames: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {"type": self.type, "message": self.message, "frames": self.frames}


@dataclass(frozen=True, slots=True)
class Step:
    """One announced piece of work: a stage, or one pass (or check) of it.

    A step that was announced and never finished has ``finished`` False: the child died, or was
    killed, inside it. At most one such step exists per trace and it is the last.

    Attributes
    ----------
    stage : Stage
    at : str or None
        The pass or the call it is about, e.g. ``relax.transform.FuseOps``.
    finished : bool
    raised : Raised or None
        The exception that ended the step.
    mismatch : str or None
        Why a value (stage ``run``) or the IR text (``after:``, stage ``pass``) is not as expected.
    seconds : float
    """

    stage: Stage
    at: str | None = None
    finished: bool = False
    raised: Raised | None = None
    mismatch: str | None = None
    seconds: float = 0.0


class Stopped(str, Enum):
    """Who ended the process."""

    ITSELF = "itself"  # it exited, or a signal of its own doing killed it
    TIME = "time"  # killed by us: the time limit ran out
    LOST = "lost"  # the fork server went away under it: says nothing about the case


@dataclass(frozen=True, slots=True)
class End:
    """How the process of an arm ended. Exactly one of `code` and `signal` is set, unless lost."""

    stopped: Stopped
    code: int | None = None
    signal: str | None = None  # a name: SIGSEGV
    final: bool = False  # its last record, sent after everything was freed, arrived


@dataclass(frozen=True, slots=True)
class FixState:
    """What installing the fix did in the child.

    `applied` False means that there was nothing to patch on this TVM; `detail` says what was
    looked for. `used` counts the calls that reached the fix.
    """

    name: str
    applied: bool
    used: int = 0
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Looked:
    """What a pass did to the module.

    Attributes
    ----------
    changed : bool
    container : bool
        All its work is that of the passes inside: each took up what the one before it had left.
    ill_formed : Raised or None
        What the check says of the result; of a module that was not changed nothing is asked.
    """

    changed: bool
    container: bool = False
    ill_formed: Raised | None = None


@dataclass(frozen=True, slots=True)
class PassRun:
    """One run of one pass, as it was told.

    Attributes
    ----------
    path : Path
    name : str
    finished : bool
        False: it raised, or the process ended inside it.
    seconds : float
        With the passes inside, and with what watching costs.
    looked : Looked or None
        None: not asked, or the process ended while looking.
    """

    path: Path
    name: str
    finished: bool = False
    seconds: float = 0.0
    looked: Looked | None = None


@dataclass(frozen=True, slots=True)
class ArmTrace:
    """Everything seen of one run of one arm.

    Attributes
    ----------
    arm : str
        ``stock`` or ``fixed``.
    steps : tuple of Step
        In the order announced. Stages absent here were not reached or do not apply; `absent`
        tells the difference.
    absent : dict of Stage to str
        Stages that the child declared out of play, with the word for it: ``not applicable``
        (no Relax function, no pass) or ``skipped`` (``build: false``, no ``run:``).
    end : End
    stdout, stderr : str
        Bounded; the middle of a flood is cut out and the cut is marked.
    globals : tuple of str or None
        Names of the module's functions after the last pass, sorted; None when not reached.
    fix : FixState or None
        None in arm ``stock``.
    ir : (str, str) or None
        IR text before and after the pass that a run was asked to show; "" for the latter when the
        pass does not end.
    passes : tuple of PassRun
        Those that a run was asked to record, in the order in which they began.
    seconds : float
        Wall clock of the whole arm, parsing included in the first arm only.
    """

    arm: str
    steps: tuple[Step, ...]
    end: End
    absent: dict[Stage, str] = field(default_factory=dict)
    stdout: str = ""
    stderr: str = ""
    globals: tuple[str, ...] | None = None
    fix: FixState | None = None
    ir: tuple[str, str] | None = None
    passes: tuple[PassRun, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class TvmInfo:
    """What the fork server said of the TVM it runs: the head of a results file.

    `tvm` and `tvm_ffi` are the versions of the pair as the modules report them, `llvm` the major
    LLVM version or "", `platform` as `platform.platform()`.
    """

    tvm: str
    tvm_ffi: str
    llvm: str
    python: str
    platform: str

    def as_dict(self) -> dict[str, Any]:
        return {
            "tvm": self.tvm,
            "tvm_ffi": self.tvm_ffi,
            "llvm": self.llvm,
            "python": self.python,
            "platform": self.platform,
        }
