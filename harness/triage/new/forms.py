"""Values in the words of a case file. None where it has none for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from harness.triage.new.course import literal
from harness.triage.new.values import Array, Call, Made, Name, Passes, Result, Shape, Tensor, Value

_PASS = re.compile(
    r"tvm\.(?:.*\btransform\.\w+|s_tir\.dlight\..+|relax\.get_(?:default_)?pipeline"
    r"|relax\.pipeline\.\w+|relax\.backend\..+pipeline\w*|relax\.backend\..+_passes)"
)


def is_pass(value: Value) -> bool:
    """Whether calling `value` with a module gives a module."""
    return isinstance(value, Passes) or (
        isinstance(value, Made) and _PASS.fullmatch(value.path) is not None
    )


def pass_forms(value: Value) -> list[Any] | None:
    """A pass, or a sequence of them, as entries of ``passes:``."""
    if isinstance(value, Passes):
        found: list[Any] = []
        for one in value.items:
            forms = pass_forms(one)
            if forms is None:
                return None
            found += forms
        return found
    if not is_pass(value):
        return None
    name = value.path.removeprefix("tvm.")
    if not value.args and not value.keywords:
        return [name]
    if value.args and value.keywords:
        return None  # a case has one or the other
    given = [(key, argument(one)) for key, one in value.keywords.items()]
    if value.args:
        items = [argument(one) for one in value.args]
        return None if _lacking(items) else [{name: [one[0] for one in items if one]}]
    if _lacking([one for _, one in given]) or "under" in value.keywords:
        return None
    return [{name: {key: one[0] for key, one in given if one}}]


def _lacking(found: list[tuple[Any] | None]) -> bool:
    return any(one is None for one in found)


def argument(value: Value) -> tuple[Any] | None:
    """An argument of a pass, in a tuple of one."""
    match value:
        case Array(spec=spec) | Tensor(array=Array(spec=spec)):
            return (spec,) if spec else None
        case Made(path=path, args=args, keywords=keywords) if path.startswith("tvm."):
            new: dict[str, Any] = {"new": path.removeprefix("tvm.")}
            if args and keywords:
                return None
            given = {str(key): argument(one) for key, one in enumerate(args)}
            given |= {key: argument(one) for key, one in keywords.items()}
            if _lacking(list(given.values())):
                return None
            plain = {key: one[0] for key, one in given.items() if one}
            if plain:
                new["args"] = list(plain.values()) if args else plain
            return (new,)
        case list() | tuple():
            items = [argument(one) for one in value]
            return None if _lacking(items) else ([one[0] for one in items if one],)
        case dict():
            pairs = {key: argument(one) for key, one in value.items()}
            if _lacking(list(pairs.values())) or not all(isinstance(key, str) for key in pairs):
                return None
            return ({key: one[0] for key, one in pairs.items() if one},)
    return (value,) if literal(value) else None


def target(value: Value) -> Any:
    """A target as ``build:`` and ``under:`` have it; None when it cannot be said."""
    match value:
        case Made(path=path, args=(first, *_), keywords=keywords) if path.endswith("arget.Target"):
            named = target(first)
            host = keywords.get("host")
            if isinstance(named, str) and isinstance(host, str):
                return {"kind": named, "host": host}
            return named
        case str() if value.strip():
            return value
        case dict() if literal(value) and value:
            return value
    return None


def call_argument(value: Value, calls: Mapping[Call, int]) -> tuple[Any] | None:
    """An argument of a call under ``run:``, in a tuple of one; `calls` have their numbers."""
    match value:
        case Array(spec=spec) | Tensor(array=Array(spec=spec)):
            return (spec,) if spec else None
        case Shape(dims=dims):
            return ({"shape": list(dims)},)
        case Result(call=call, item=item) if call in calls:
            return ({"result_of": calls[call]} | ({} if item is None else {"item": item}),)
        case bool() | int() | float():
            return (value,)
        case list() | tuple():
            items = [call_argument(one, calls) for one in value]
            return None if _lacking(items) else ({"tuple": [one[0] for one in items if one]},)
        case Name():
            return None
    return None
