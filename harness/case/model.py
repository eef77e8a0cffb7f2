"""A case, as the rest of the harness sees it: complete, checked, without shorthand."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, Union

from pydantic import Field

from harness.case.args import (
    Arg,
    TensorSpec,
)
from harness.case.base import Model
from harness.case.patterns import Pattern
from harness.case.versions import satisfies
from harness.case.vocabulary import Float, Int, Memory, PythonExpression, Target, Text

STAGES = ("load", "input", "pass", "well_formed", "build", "vm", "run", "exit")


class ModuleText(Model):
    """TVMScript; `line` is where its first line stands in the case file, counted from 1."""

    text: str
    line: int = 1


class Builder(Model):
    """A Python function that returns the IRModule; `file` is absolute, `args` those of a pass."""

    file: Path
    function: str
    args: dict[str, Any] | tuple[Any, ...] = ()


class New(Model):
    """An object made by calling a name under `tvm`; `args` as those of a pass."""

    name: str
    args: dict[str, Any] | tuple[Any, ...] = ()


class PassSpec(Model):
    """A pass by its name under `tvm`.

    `args` are keyword (a dict) or positional arguments: plain values, tensor specs or `New`.
    `under` may hold ``target``, the target scope the pass runs in.
    """

    name: str
    args: dict[str, Any] | tuple[Any, ...] = Field(default_factory=dict)
    under: dict[str, Any] = Field(default_factory=dict)
    line: int = 0


class PythonPass(PassSpec):
    """A Python function from IRModule to IRModule in `file`, which is absolute.

    It is called with the module and, behind that, with `args`.
    """

    file: Path


class BuildKeys(Model):
    """The keys of `build:` that are written as they are meant."""

    with_: Literal["auto", "relax.build", "tvm.compile", "tirx.build"] = Field(
        default="auto",
        validation_alias="with",
        description="auto: relax.build, or tvm.compile for a module without Relax functions.",
    )
    target: Target = Field(default="llvm", description="As `tvm.target.Target` takes it.")
    exec_mode: Literal["bytecode", "compiled"] = "bytecode"
    opt_level: Int | None = Field(default=None, ge=0, description="TVM's own unless given.")
    config: dict[str, Any] = Field(default_factory=dict, description="PassContext's config.")
    disabled_pass: tuple[Text, ...] = ()
    required_pass: tuple[Text, ...] = ()


class BuildSpec(BuildKeys):
    """How to build; not `enabled` means stop after `well_formed`."""

    enabled: bool = True
    pipeline: Literal["default", "target", "none"] | tuple[PassSpec, ...] = "default"


class NoCheck(Model):
    """The call has to return; its value is not looked at."""


_NO_CHECK = NoCheck()


class Expression(Model):
    """Python over ``np`` and the function's parameters by name."""

    text: PythonExpression


Check = Union[Expression, TensorSpec]  # noqa: UP007


class CallKeys(Model):
    """The keys of a call that are written as they are meant."""

    function: Text = Field(validation_alias="call", description="A function of the module.")
    args: tuple[Arg, ...] = Field(default=(), description="Its arguments, in order.")
    rtol: Float = Field(default=1e-5, ge=0, description="Relative tolerance of a float.")
    atol: Float = Field(default=1e-6, ge=0, description="Absolute tolerance of a float.")


class Call(CallKeys):
    """One call of a function of the module.

    `equals` given as a dict checks what a PrimFunc writes in place, parameter by parameter.
    `same_as_input` holds the value against the same call on the module before the passes.
    """

    equals: NoCheck | Check | dict[str, Check] = Field(default_factory=lambda: _NO_CHECK)
    same_as_input: bool = False
    line: int = 0


class TextCheck(Model):
    """Something the IR text after the last pass contains, or lacks."""

    kind: Literal["contains", "lacks"]
    text: str


class RoundTrip(Model):
    """The module after the last pass, written out and read again, is the same."""

    form: Literal["script", "json"]


class ArmExpect(Model):
    """What one arm does: the stages that are named. An empty dict means all ok."""

    stages: dict[str, Pattern] = Field(default_factory=dict)
    because: str = ""
    line: int = 0


class VersionedExpect(Model):
    """What both arms do on the releases that `tvm` and `ffi` speak of; "" means any."""

    tvm: str = ""
    ffi: str = ""
    arms: dict[str, ArmExpect]


class Limits(Model):
    """Limits of a whole arm."""

    seconds: Float = Field(default=60.0, gt=0, le=86_400, description="Wall clock.")
    memory_mb: Memory = Field(default=4096, description="Address space, in MiB.")


# Frozen, and shared: a default that stands in the field itself is copied for every case.
_BUILD, _LIMITS = BuildSpec(), Limits()


class Contrast(Model):
    """A sibling run that must hold too, as a case of its own."""

    title: str
    case: Case


class Case(Model):
    """One bug, one file. `id` is its path without ``repros/`` and ``.yaml``."""

    id: str
    path: Path
    title: str
    issue: tuple[str, ...] = ("unreported",)
    tags: tuple[str, ...] = ()
    tvm: str = ""
    ffi: str = ""
    notes: str = ""
    module: ModuleText | Builder
    passes: tuple[PassSpec, ...] = ()
    fix: str = ""
    build: BuildSpec = Field(default_factory=lambda: _BUILD)
    run: tuple[Call, ...] = ()
    after: tuple[TextCheck | RoundTrip, ...] = ()
    expect: tuple[VersionedExpect, ...]
    contrasts: tuple[Contrast, ...] = ()
    requires: tuple[str, ...] = ()
    limits: Limits = Field(default_factory=lambda: _LIMITS)
    repeat: int = 1

    @property
    def arms(self) -> tuple[str, ...]:
        """``stock``, and ``fixed`` when the case names a fix."""
        return ("stock", "fixed") if self.fix else ("stock",)

    def expectation(self, tvm: str, ffi: str) -> VersionedExpect | None:
        """The first expectation that speaks of this pair of versions, if any."""
        for one in self.expect:
            if satisfies(one.tvm, tvm) and satisfies(one.ffi, ffi):
                return one
        return None
