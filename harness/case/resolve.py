"""From a case file as it is written to the case it means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from harness.case import model
from harness.case.casefile import ArmsForm, CaseFile, CaseKeys, StagesForm
from harness.case.forms import (
    BuildMapping,
    CallForm,
    ContainsForm,
    KeywordsForm,
    LacksForm,
    NewForm,
    PythonForm,
    RoundTripForm,
)
from harness.case.tree import Path as Place
from harness.case.tree import Tree


def resolve(file: CaseFile, tree: Tree, path: Path, id: str) -> model.Case:
    """The case that `file`, read from `path`, means; its contrasts as cases of their own."""
    source = _Source(tree, path)
    own = _values(file, (), source)
    contrasts = []
    for index, one in enumerate(file.contrasts):
        keys = {**own, **_values(one, ("contrasts", index), source)}
        case = model.Case(id=f"{id}#{one.title}", path=path, **keys)
        contrasts.append(model.Contrast(title=one.title, case=case))
    return model.Case(id=id, path=path, contrasts=tuple(contrasts), **own)


@dataclass(frozen=True, slots=True)
class _Source:
    """Where a case comes from."""

    tree: Tree
    path: Path

    def line(self, place: Place) -> int:
        return self.tree.spot(place).line

    def python(self, form: PythonForm) -> tuple[Path, str]:
        """The file and the function that `form` names."""
        file, _, function = form.python.rpartition(":")
        return (self.path.parent / file).resolve(), function


def _given(form: BaseModel) -> dict[str, Any]:
    return {name: getattr(form, name) for name in form.model_fields_set}


def _values(form: CaseKeys, place: Place, source: _Source) -> dict[str, Any]:
    """What the keys that are given mean; contrasts are left to themselves."""
    given = _given(form)
    given.pop("contrasts", None)
    return {
        name: _MEANINGS[name](value, (*place, name), source) if name in _MEANINGS else value
        for name, value in given.items()
    }


def _issue(value: Any, place: Place, source: _Source) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value


def _module(value: Any, place: Place, source: _Source) -> model.ModuleText | model.Builder:
    if isinstance(value, PythonForm):
        file, function = source.python(value)
        return model.Builder(file=file, function=function, args=_value(value.args))
    spot = source.tree.value_spot(place)
    return model.ModuleText(text=value, line=spot.line + (1 if spot.style == "|" else 0))


def _passes(value: Any, place: Place, source: _Source) -> tuple[model.PassSpec, ...]:
    return tuple(_pass(form, (*place, index), source) for index, form in enumerate(value))


def _pass(form: Any, place: Place, source: _Source) -> model.PassSpec:
    line = source.line(place)
    if isinstance(form, str):
        return model.PassSpec(name=form, line=line)
    if isinstance(form, PythonForm):
        file, function = source.python(form)
        return model.PythonPass(file=file, name=function, args=_value(form.args), line=line)
    ((name, arguments),) = form.items()
    if not isinstance(arguments, KeywordsForm):
        return model.PassSpec(name=name, args=tuple(map(_value, arguments)), line=line)
    given = {key: _value(one) for key, one in (arguments.model_extra or {}).items()}
    positional = isinstance(given.get("args"), list) and len(given) == 1
    args = tuple(given["args"]) if positional else given
    return model.PassSpec(name=name, args=args, under=_given(arguments.under), line=line)


def _value(value: Any) -> Any:
    match value:
        case NewForm():
            return model.New(name=value.name, args=_value(value.args))
        case dict():
            return {key: _value(one) for key, one in value.items()}
        case list() | tuple():
            return type(value)(map(_value, value))
        case _:
            return value


def _build(value: Any, place: Place, source: _Source) -> model.BuildSpec:
    if not isinstance(value, BuildMapping):
        return model.BuildSpec(enabled=value)
    keys = _given(value)
    if isinstance(value.pipeline, tuple):
        keys["pipeline"] = _passes(value.pipeline, (*place, "pipeline"), source)
    return model.BuildSpec(**keys)


def _run(value: tuple[CallForm, ...], place: Place, source: _Source) -> tuple[model.Call, ...]:
    return tuple(_call(form, source.line((*place, index))) for index, form in enumerate(value))


def _call(form: CallForm, line: int) -> model.Call:
    keys = _given(form)
    if "equals" in keys:
        keys["equals"] = _check(form.equals)
    same = bool(keys.pop("same_as", ""))
    return model.Call(**keys, same_as_input=same, line=line)


def _check(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _check(one) for name, one in value.items()}
    return model.Expression(text=value) if isinstance(value, str) else value


def _after(
    value: Any, place: Place, source: _Source
) -> tuple[model.TextCheck | model.RoundTrip, ...]:
    return tuple(map(_check_after, value))


def _check_after(
    form: ContainsForm | LacksForm | RoundTripForm,
) -> model.TextCheck | model.RoundTrip:
    match form:
        case ContainsForm():
            return model.TextCheck(kind="contains", text=form.contains)
        case LacksForm():
            return model.TextCheck(kind="lacks", text=form.lacks)
        case RoundTripForm():
            return model.RoundTrip(form=form.roundtrip)


def _expect(value: Any, place: Place, source: _Source) -> tuple[model.VersionedExpect, ...]:
    if isinstance(value, tuple):
        entries = enumerate(value)
        return tuple(_entry(one, (*place, index), source) for index, one in entries)
    return (_entry(value, place, source),)


def _entry(form: Any, place: Place, source: _Source) -> model.VersionedExpect:
    if isinstance(form, ArmsForm):
        arms = {
            arm: _arm(getattr(form, arm), (*place, arm), source, form.because)
            for arm in ("stock", "fixed")
        }
    else:
        both = _arm(form, place, source, "")
        arms = {"stock": both, "fixed": both}
    versions = {key: getattr(form, key, "") for key in ("tvm", "ffi")}
    return model.VersionedExpect(arms=arms, **versions)


def _arm(form: Any, place: Place, source: _Source, because: str) -> model.ArmExpect:
    line = source.line(place)
    if not isinstance(form, StagesForm):
        return model.ArmExpect(because=because, line=line)
    return model.ArmExpect(stages=form.stages(), because=form.because or because, line=line)


_MEANINGS: dict[str, Callable[[Any, Place, _Source], Any]] = {
    "issue": _issue,
    "module": _module,
    "passes": _passes,
    "build": _build,
    "run": _run,
    "after": _after,
    "expect": _expect,
}
