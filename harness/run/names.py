"""Names under `tvm` in a case: what they stand for, and calling them. Imports TVM."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import tvm

from harness.case import ArangeArg, FullArg, New, PassSpec, PythonPass, RandomArg, TensorArg
from harness.run import calls


def lookup(name: str) -> Any:
    """What a dotted name under ``tvm`` stands for, importing modules on the way.

    Raises
    ------
    LookupError
        Naming the first part that this TVM does not have, and near names.
    """
    found: Any = tvm
    path = "tvm"
    for part in name.split("."):
        if not hasattr(found, part):
            try:
                importlib.import_module(f"{path}.{part}")
            except ImportError:
                near = difflib.get_close_matches(part, dir(found), n=3)
                raise LookupError(
                    f"{path} has no {part!r} in TVM {tvm.__version__}"
                    + (f"; did you mean {', '.join(near)}?" if near else "")
                ) from None
        found = getattr(found, part)
        path = f"{path}.{part}"
    return found


def python_function(file: Path, name: str) -> Callable[..., Any]:
    """A function of a Python file, which is run the first time that this process needs it.

    Raises
    ------
    Exception
        Whatever the file raises; ImportError or AttributeError when there is no such function.
    """
    module = _beside(file)
    function = getattr(module, name, None)
    if not callable(function):
        near = difflib.get_close_matches(name, vars(module), n=1)
        raise AttributeError(
            f"{file.name} has no function {name!r}"
            + (f"; did you mean {near[0]!r}?" if near else "")
        )
    return function  # type: ignore[no-any-return]


@cache
def _beside(file: Path) -> ModuleType:
    name = f"_beside_the_case_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file.name} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def factory(spec: PassSpec) -> Callable[..., Any]:
    """What makes the pass, once it and all that its arguments name are known to exist.

    Raises
    ------
    LookupError
        When this TVM lacks one of the names.
    Exception
        Whatever the file of a Python function raises.
    """
    found = _bound(spec) if isinstance(spec, PythonPass) else lookup(spec.name)
    if not callable(found):
        raise LookupError(f"tvm.{spec.name} is a {type(found).__name__}, not a pass")
    for value in _values(spec.args):
        if isinstance(value, New):
            lookup(value.name)
    return found


def _bound(spec: PythonPass) -> Callable[..., Any]:
    function = python_function(spec.file, spec.name)
    return lambda *args, **keywords: lambda module: function(module, *args, **keywords)


def _values(args: Mapping[str, Any] | tuple[Any, ...]) -> list[Any]:
    """Every value in pass arguments, however deep."""
    found: list[Any] = []
    for value in args.values() if isinstance(args, Mapping) else args:
        found.append(value)
        if isinstance(value, New):
            found += _values(value.args)
        elif isinstance(value, Mapping | list | tuple):
            found += _values(tuple(value) if isinstance(value, list) else value)
    return found


def make_pass(spec: PassSpec) -> Any:
    """The pass object that `spec` describes. Raises whatever its factory raises."""
    made = call_with(factory(spec), spec.args)
    # TVM's Sequential takes nothing but passes.
    return as_pass(made, spec.name) if isinstance(spec, PythonPass) else made


def as_pass(function: Callable[..., Any], name: str) -> Any:
    """A pass that does what `function` does to a module."""
    return tvm.transform.module_pass(lambda module, _: function(module), 0, name=name)


def call_with(factory: Callable[..., Any], args: Mapping[str, Any] | tuple[Any, ...]) -> Any:
    """`factory` called with the arguments that a case gives."""
    if isinstance(args, Mapping):
        return factory(**{name: _argument(value) for name, value in args.items()})
    return factory(*(_argument(value) for value in args))


def _argument(value: Any) -> Any:
    match value:
        case New():
            return call_with(lookup(value.name), value.args)
        case TensorArg() | FullArg() | ArangeArg() | RandomArg():
            return calls.tensor(calls.array(value))
        case Mapping():
            return {name: _argument(item) for name, item in value.items()}
        case list() | tuple():
            return [_argument(item) for item in value]
    return value
