"""Watches the passes of a run from inside, and leaves some of them out. Imports TVM."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import tvm
import tvm_ffi

from harness import compat
from harness.run import names
from harness.run.narrate import Narrator, clip, describe
from harness.run.watch import Path, Watch

# A pass that runs others for ever must not flood the pipe.
_MOST_PASSES = 20_000
_IR_TEXT_LIMIT = 2_000_000
_State = dict[Any, Any]  # what a module consists of, by name


class ShownEnough(Exception):
    """The pass that was to be shown has been: ends the run."""


@dataclass(slots=True)
class _Open:
    """A pass that has begun, or the step that it is part of.

    `line` is the state that the next pass inside should find; `chained` says that all so far did.
    """

    path: Path
    name: str = ""
    started: float = 0.0
    before: _State = field(default_factory=dict)
    text: str = ""
    inside: int = 0
    line: _State = field(default_factory=dict)
    chained: bool = True


class Watcher:
    """Tells of the passes what `watch` asks for."""

    def __init__(self, watch: Watch, narrator: Narrator) -> None:
        self._watch = watch
        self._narrator = narrator
        self._told = 0
        self._step = -1
        self._open: list[_Open] = []

    def instruments(self) -> list[Any]:
        """Instruments for the pass context of the next step; none when nothing is asked."""
        if not self._watch.asks:
            return []
        self._step += 1
        self._open = [_Open((self._step,))]
        return [_instrument(self)]

    def as_pass(self, made: Callable[..., Any], name: str) -> Any:
        """What `made` does as a pass, so that it is seen; itself when nothing is asked."""
        if not self._watch.asks or isinstance(made, tvm.transform.Pass):
            return made
        return names.as_pass(made, name)

    def allows(self) -> bool:
        """Whether the pass that comes next may run."""
        outer = self._open[-1]
        allowed = (*outer.path, outer.inside) not in self._watch.without
        outer.inside += not allowed
        return allowed

    def begins(self, module: tvm.IRModule, name: str) -> None:
        outer = self._open[-1]
        begun = _Open((*outer.path, outer.inside), name)
        outer.inside += 1
        if self._watch.look:
            begun.before = begun.line = _state(module)
            outer.chained &= len(outer.path) == 1 or _identical(outer.line, begun.before)
        self._open.append(begun)
        self._tell({"pass": begun.path, "name": name})
        if self._watch.show == begun.path:
            begun.text = _ir(module)
            self._narrator.tell("ir", [begun.text, ""])
        begun.started = time.perf_counter()

    def ends(self, module: tvm.IRModule, name: str) -> None:
        seconds = time.perf_counter() - self._open[-1].started
        while len(self._open) > 2 and self._open[-1].name != name:
            self._open.pop()  # it raised, and somebody took that for an answer
        ended = self._open.pop()
        self._tell({"passed": ended.path, "seconds": seconds})
        if self._watch.show == ended.path:
            self._narrator.tell("ir", [ended.text, _ir(module)])
            raise ShownEnough
        if self._watch.look:
            self._look(ended, module)

    def _look(self, ended: _Open, module: tvm.IRModule) -> None:
        after = _state(module)
        self._open[-1].line = after
        looked: dict[str, Any] = {"looked": ended.path, "changed": _differs(ended.before, after)}
        looked["container"] = bool(ended.inside and ended.chained and _identical(ended.line, after))
        if looked["changed"]:
            try:
                compat.check_well_formed(module)
            except BaseException as error:
                looked["ill_formed"] = describe(error).as_dict()
        self._tell(looked)

    def _tell(self, record: dict[str, Any]) -> None:
        self._told += 1
        if self._watch.record and self._told < _MOST_PASSES:
            self._narrator.send(record)


def _instrument(watcher: Watcher) -> Any:
    @tvm.instrument.pass_instrument
    class Hooks:
        def should_run(self, module: tvm.IRModule, info: Any) -> bool:
            return watcher.allows()

        def run_before_pass(self, module: tvm.IRModule, info: Any) -> None:
            watcher.begins(module, str(info.name))

        def run_after_pass(self, module: tvm.IRModule, info: Any) -> None:
            watcher.ends(module, str(info.name))

    return Hooks()


def _state(module: tvm.IRModule) -> _State:
    functions = {variable.name_hint: function for variable, function in module.functions.items()}
    return {**functions, 0: module.attrs, 1: module.global_infos}


def _identical(one: _State, other: _State) -> bool:
    """Whether these consist of the very same objects."""
    return one.keys() == other.keys() and all(_is(part, other[name]) for name, part in one.items())


def _differs(one: _State, other: _State) -> bool:
    if one.keys() != other.keys():
        return True
    return any(
        not _is(part, other[name]) and not tvm_ffi.structural_equal(part, other[name])
        for name, part in one.items()
    )


def _is(one: Any, other: Any) -> bool:
    return one is None is other or (None not in (one, other) and one.same_as(other))


def _ir(module: tvm.IRModule) -> str:
    text = module.script()
    return text if len(text) <= _IR_TEXT_LIMIT else clip(text)
