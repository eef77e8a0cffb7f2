"""What the calls of a script have TVM do."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from harness import compat
from harness.triage.new import arrays, building, forms, modules
from harness.triage.new.building import called
from harness.triage.new.course import Course
from harness.triage.new.modules import as_module
from harness.triage.new.rewriting import rewritten
from harness.triage.new.values import (
    Array,
    Bound,
    Built,
    Callee,
    Check,
    Machine,
    Made,
    Module,
    Name,
    Passes,
    Printed,
    Result,
    Shape,
    Tensor,
    Text,
    Value,
)

Args = Sequence[Value]
Keywords = Mapping[str, Value]
_SEQUENTIAL: Final = ("tvm.transform.Sequential", "tvm.ir.transform.Sequential")
_CHECKS: Final = {
    "numpy.testing.assert_allclose",
    "numpy.testing.assert_array_equal",
    "numpy.testing.assert_equal",
    "numpy.testing.assert_almost_equal",
    "numpy.testing.assert_array_almost_equal",
    "numpy.allclose",
    "numpy.array_equal",
    "numpy.isclose",
    "tvm.testing.assert_allclose",
}
_EXACT: Final = ("assert_array_equal", "assert_equal", "array_equal")
_IDLE: Final = (
    "print",
    "show",
    "pprint",
    "info",
    "debug",
    "warning",
    "seed",
    "manual_seed",
    "main",
)

# What takes a thing to look at it, or to put it into a file: the thing stays as it is.
_WRITES: Final = ("save", "dump", "export", "check_", "plot", "write")


def imported(course: Course, path: str, node: ast.stmt) -> None:
    """Tell what an import names that has left TVM."""
    if advice := compat.gone(path):
        course.gone.setdefault(path, (course.at(node), advice))


def call(
    course: Course, node: ast.Call, function: Value, args: list[Value], keywords: Keywords
) -> Value:
    """What calling `function` gives; takes in what TVM does on that."""
    match function:
        case Name(path=path):
            return _named(course, node, path, args, keywords)
        case Made() | Passes() if len(args) == 1 and forms.is_pass(function):
            module = as_module(course, args[0])
            return (
                course.unknown(node)
                if module is None
                else modules.apply(course, node, function, module)
            )
        case Bound(value=value, name=name):
            return _method(course, node, value, name, args, keywords)
        case Callee(machine=machine, function=name):
            return called(course, node, machine, name, args)
        case Built():
            return called(course, node, Machine(function), "", args)
    return course.unknown(node)


def _named(
    course: Course, node: ast.Call, path: str, args: list[Value], keywords: Keywords
) -> Value:
    if path in _CHECKS and len(args) >= 2:
        course.checks.append(_check(course, node, path, args, keywords))
        return course.unknown(node) if path.startswith("numpy.") and "assert" not in path else None
    if path in building.BUILDS:
        return building.build(course, node, path, args, keywords)
    if path in _TVM:
        return _TVM[path](course, node, args, keywords)
    if path in _SEQUENTIAL:
        items = args[0] if args else keywords.get("passes")
        if isinstance(items, list | tuple):
            return Passes(tuple(items))
        return course.unknown(node)
    if path.startswith("tvm."):
        if any(isinstance(one, Module) for one in [*args, *keywords.values()]):
            return course.unknown(node)
        return Made(path, tuple(args), dict(keywords), course.unknown(node))
    if path == "numpy.random.default_rng":
        return Made(path, (), {}, course.unknown(node))
    if arrays.is_random(path):
        found = arrays.random(path, args, keywords, rewritten(course, node))
        return course.unknown(node) if found is None else found
    if path.startswith("numpy."):
        found = arrays.computed(path[len("numpy.") :], args, keywords, rewritten(course, node))
        return course.unknown(node) if found is None else found
    if path.startswith("builtins."):
        return _builtin(course, node, path[len("builtins.") :], args)
    return course.unknown(node)


def _builtin(course: Course, node: ast.Call, name: str, args: Args) -> Value:
    match name, list(args):
        case "range", [int(), *_] if all(type(one) is int for one in args) and len(args) < 4:
            return course.unknown(node) if args[2:] == (0,) else range(*args)
        case "len", [list() | tuple() | dict() | str() as one]:
            return len(one)
        case "float", [str() as text] if text.lower().strip("+-") in ("nan", "inf", "infinity"):
            return float(text)
        case "int" | "float" | "bool" | "abs", [bool() | int() | float() as one]:
            if one != one or abs(one) == float("inf"):
                return one
            return getattr(builtins, name)(one)
        case "str", [str() | int() as one]:
            return str(one)
        case "list" | "tuple", [list() | tuple() as one]:
            return list(one) if name == "list" else tuple(one)
        case "enumerate", [list() | tuple() as one]:
            return list(enumerate(one))
        case "zip", [*items] if items and all(isinstance(one, list | tuple) for one in items):
            return list(zip(*items, strict=False))
    return course.unknown(node)


def item_assigned(course: Course, target: ast.expr, value: Value) -> bool:
    """`a[key] = value` for a dict or a list that is known; whether that is what it was."""
    if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
        return False
    if not isinstance(target.slice, ast.Constant):
        return False
    held, key = course.lookup(target.value), target.slice.value
    if isinstance(held, dict) and isinstance(key, str):
        held[key] = value
        return True
    return False


def _tensor(course: Course, node: ast.Call, args: list[Value], keywords: Keywords) -> Value:
    match args[0] if args else None:
        case Array() as array:
            return Tensor(arrays.named(array))
        case bool() | int() | float() | list() | tuple() as value:
            found = arrays.computed("array", [value], {}, rewritten(course, node))
            return Tensor(found) if isinstance(found, Array) else course.unknown(node)
        case Tensor() | Result() as held:
            return held
    return course.unknown(node)


def _empty(course: Course, node: ast.Call, args: list[Value], keywords: Keywords) -> Value:
    dtype = args[1] if len(args) > 1 else keywords.get("dtype", "float32")
    shape = args[0] if args else keywords.get("shape")
    zeros = f"np.zeros({ast.unparse(node.args[0])})" if node.args else "np.zeros(())"
    made = ast.parse(zeros, mode="eval").body
    found = arrays.computed("zeros", [shape], {"dtype": dtype}, made)
    return Tensor(found) if isinstance(found, Array) else course.unknown(node)


def _shape(course: Course, node: ast.Call, args: list[Value], keywords: Keywords) -> Value:
    dims = args[0] if args else None
    whole = isinstance(dims, list | tuple) and all(type(one) is int for one in dims)
    return Shape(tuple(dims)) if whole and dims is not None else course.unknown(node)


_TVM: Final[dict[str, Callable[[Course, ast.Call, list[Value], Keywords], Value]]] = {
    "tvm.relax.VirtualMachine": building.machine,
    "tvm.relax.analysis.well_formed": modules.well_formed,
    "tvm.relax.analysis.check_well_formed": modules.well_formed,
    "tvm.s_tir.Schedule": modules.schedule,
    "tvm.s_tir.schedule.Schedule": modules.schedule,
    "tvm.runtime.tensor": _tensor,
    "tvm.runtime.from_dlpack": _tensor,
    "tvm.runtime.empty": _empty,
    "tvm.runtime.ShapeTuple": _shape,
    "tvm_ffi.Shape": _shape,
    "tvm.script.from_source": modules.from_source,
    "tvm.script.parse": modules.from_source,
    "tvm.ir.save_json": modules.save_json,
    "tvm.ir.load_json": modules.load_json,
    "tvm.IRModule": modules.module_of,
    "tvm.ir.IRModule": modules.module_of,
    "tvm.IRModule.from_expr": modules.module_of,
    "tvm.ir.IRModule.from_expr": modules.module_of,
}


def attribute(course: Course, value: Value, node: ast.Attribute) -> Value:
    """An attribute of something that is understood."""
    match value, node.attr:
        case Array() as array, "T":
            return arrays.computed(".T", [array], {}, rewritten(course, node))
        case ((Array(data=data, spec=spec) | Tensor(array=Array(data=data, spec=spec))), "shape"):
            if data is not None:
                return tuple(data.shape)
            return tuple(spec["random"]) if "random" in spec else course.unknown(node)
        case Array(spec=spec), "dtype" if "dtype" in spec:
            return str(spec["dtype"])
        case Built() as built, "mod" | "jit":
            return built
    return Bound(value, node.attr)


def item(course: Course, value: Value, key: Value, node: ast.Subscript) -> Value:
    """An item of something that is understood."""
    match value, key:
        case Machine() as machine, str(name):
            return Callee(machine, name)
        case Built() as built, str(name):
            return Callee(Machine(built), name)
    return course.unknown(node)


def _method(
    course: Course,
    node: ast.Call,
    value: Value,
    name: str,
    args: list[Value],
    keywords: Keywords,
) -> Value:
    match value, name, args:
        case Machine() as machine, "set_input", [str(function), *inputs]:
            machine.inputs[function] = tuple(inputs)
            return None
        case Machine() as machine, "invoke_stateful", [str(function)]:
            result = called(course, node, machine, function, machine.inputs.get(function, ()))
            machine.inputs[f"{function} called"] = (result,)
            return None
        case Machine() as machine, "get_outputs", [str(function)]:
            found = machine.inputs.get(f"{function} called")
            return found[0] if found else course.unknown(node)
        case Built() as built, "jit", _:
            return built
        case Tensor() as tensor, "numpy" | "copyto" | "to_dlpack", _:
            return tensor
        case Result(call=made, item=place), "numpy", []:
            return Result(made, place, read=True)
        case Array() as array, _, _:
            found = arrays.computed(f".{name}", [array, *args], keywords, rewritten(course, node))
            return course.unknown(node) if found is None else found
        case Made(path="numpy.random.default_rng"), _, _:
            path, said = f"numpy.random.{name}", rewritten(course, node)
            found = arrays.random(path, args, keywords, said) if arrays.is_random(path) else None
            return course.unknown(node) if found is None else found
        case (Module() | Text()) as module, "script", _:
            whole = as_module(course, module)
            return course.unknown(node) if whole is None else Printed(whole, "script")
        case Text(function=True) as text, "with_attr", ["global_symbol", str(symbol)]:
            renamed = text.text.replace(f"def {text.name}(", f"def {symbol}(", 1)
            return Text(renamed, symbol, text.line, True, text.lacking)
        case list() as items, "append", [one]:
            items.append(one)
            return None
        case list() as items, "extend", [list() | tuple() as more]:
            items.extend(more)
            return None
        case dict() as pairs, "items" | "values" | "keys", []:
            return list(getattr(pairs, name)())
    return course.unknown(node)


def _check(course: Course, node: ast.Call, path: str, args: Args, keywords: Keywords) -> Check:
    given = {**dict(zip(("rtol", "atol"), args[2:], strict=False)), **keywords}
    tolerance = {
        key: float(given[key])
        for key in ("rtol", "atol")
        if isinstance(given.get(key), int | float) and "almost" not in path
    }
    if path.rpartition(".")[2] in _EXACT:
        tolerance = {"rtol": 0.0, "atol": 0.0}
    return Check((args[0], args[1]), tolerance, course.at(node))


def is_idle(course: Course, node: ast.expr) -> bool:
    """Whether an expression only shows something."""
    if not isinstance(node, ast.Call):
        return not isinstance(node, ast.Await | ast.Yield)
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name in _IDLE or name.startswith(_WRITES) or "assert_allclose" in name
