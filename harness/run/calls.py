"""Arguments, calls and checks of the stage `run`. Imports TVM."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ml_dtypes  # noqa: F401  (gives NumPy its bfloat16 and float8 types)
import numpy as np
import tvm
import tvm_ffi
from tvm import relax

from harness.case import (
    ArangeArg,
    Arg,
    BuildSpec,
    Call,
    Case,
    Expression,
    FullArg,
    NoCheck,
    NumberArg,
    RandomArg,
    ResultOf,
    ShapeArg,
    TensorArg,
    TupleArg,
)
from harness.run.narrate import ValueDiffers


def array(spec: TensorArg | FullArg | ArangeArg | RandomArg) -> np.ndarray[Any, Any]:
    """The array that a tensor argument describes."""
    dtype = np.dtype(spec.dtype)
    match spec:
        case TensorArg(data=data, shape=shape):
            return np.array(data, dtype=dtype).reshape(shape)
        case FullArg(value=value, shape=shape):
            return np.full(shape, value, dtype=dtype)
        case ArangeArg(n=n, shape=shape):
            return np.arange(n).astype(dtype).reshape(shape)
        case RandomArg(shape=shape, seed=seed):
            return _random(np.random.default_rng(seed), shape, dtype)


def _random(
    generator: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> np.ndarray[Any, Any]:
    if dtype.kind == "b":
        return generator.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        return generator.integers(0, 100, shape).astype(dtype)
    return generator.standard_normal(shape).astype(dtype)


def tensor(values: np.ndarray[Any, Any], device: Any = None) -> Any:
    """`values` as a TVM tensor, on the CPU unless told otherwise."""
    return tvm.runtime.tensor(values, device=device or tvm.cpu())


def device_of(spec: BuildSpec) -> Any:
    """The device that code for the case's target runs on."""
    kind = tvm.target.Target(spec.target).kind.name
    return tvm.cpu() if kind in ("llvm", "c") else tvm.device(kind)


def machine(executable: Any, spec: BuildSpec) -> Any:
    """A virtual machine on the device of the case's target."""
    return relax.VirtualMachine(executable, device_of(spec))


class Runner:
    """Makes a case's calls on one build and holds each result against its check.

    Parameters
    ----------
    case : Case
    module : IRModule
        The module that was built: it names the parameters.
    callee : VirtualMachine or Executable
    build_input : callable
        Builds the module as it was before the passes; called when a check says ``same_as: input``.
    """

    def __init__(
        self, case: Case, module: tvm.IRModule, callee: Any, build_input: Callable[[], Any]
    ) -> None:
        self._module = module
        self._device = device_of(case.build)
        self._callee = callee
        self._build_input = build_input
        self._input: Any = None
        self._results: list[Any] = []

    def run(self, call: Call) -> None:
        """Make one call and check it.

        Raises
        ------
        ValueDiffers
            When a value, shape or dtype is not the expected one.
        BaseException
            Whatever the call raises.
        """
        names = self._parameter_names(call)
        before = [self._to_numpy(arg) for arg in call.args]
        # Before the call: a kernel may write to its arguments.
        expected = _expected(call, dict(zip(names, before, strict=False)))
        for name in expected if isinstance(expected, dict) else ():
            if name not in names:
                raise LookupError(
                    f"no parameter {name!r} of {call.function}; it has {', '.join(names)}"
                )
        args = [self._to_tvm(value) for value in before]
        result = self._callee[call.function](*args)
        self._results.append(result)
        if isinstance(expected, dict):
            for name, want in expected.items():
                compare(call, name, from_tvm(args[names.index(name)]), want)
        elif expected is not None:
            compare(call, "the result", from_tvm(result), expected[0])
        if call.same_as_input:
            self._compare_with_input(call, args, result)

    def _compare_with_input(self, call: Call, args: list[Any], result: Any) -> None:
        if self._input is None:
            self._input = self._build_input()
        # Results of earlier calls are not replayed: they are the same values on both sides.
        fresh = [self._to_tvm(self._to_numpy(arg)) for arg in call.args]
        reference = self._input[call.function](*fresh)
        if reference is None:  # a PrimFunc: what it wrote
            for position, (got, want) in enumerate(zip(args, fresh, strict=True)):
                compare(call, f"argument {position}", from_tvm(got), from_tvm(want))
        else:
            compare(call, "the result", from_tvm(result), from_tvm(reference))

    def _parameter_names(self, call: Call) -> list[str]:
        for variable, function in self._module.functions.items():
            if variable.name_hint == call.function:
                return [_parameter_name(function, param) for param in function.params]
        known = ", ".join(sorted(v.name_hint for v in self._module.functions))
        raise LookupError(f"no function {call.function!r} to call; the module has {known}")

    def _to_numpy(self, arg: Arg) -> Any:
        match arg:
            case NumberArg(value=value):
                return value
            case ShapeArg(dims=dims):
                return tvm_ffi.Shape(dims)
            case TupleArg(items=items):
                return tuple(self._to_numpy(item) for item in items)
            case ResultOf(call=call, item=item):
                result = self._results[call]
                return _handed_on(result if item is None else result[item])
        return array(arg)

    def _to_tvm(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return tensor(value, self._device)
        if isinstance(value, tuple) and not isinstance(value, tvm_ffi.Shape):
            return [self._to_tvm(item) for item in value]
        return value


def _parameter_name(function: Any, param: Any) -> str:
    buffer = getattr(function, "buffer_map", {}).get(param)
    named = param if buffer is None else buffer
    return str(named.name_hint if hasattr(named, "name_hint") else named.name)


def _expected(call: Call, values: dict[str, Any]) -> dict[str, Any] | tuple[Any] | None:
    """What `equals:` asks for: by parameter, or one value in a tuple; None without a check."""
    if isinstance(call.equals, Mapping):
        return {name: _evaluate(check, values) for name, check in call.equals.items()}
    if isinstance(call.equals, NoCheck):
        return None
    return (_evaluate(call.equals, values),)


def _evaluate(check: Any, values: dict[str, Any]) -> Any:
    if isinstance(check, Expression):
        return eval(check.text, {"np": np, **values})
    return array(check)


def from_tvm(value: Any) -> Any:
    """A TVM value as arrays, numbers and tuples of them."""
    if isinstance(value, tvm.runtime.Tensor):
        return value.numpy()
    if isinstance(value, tvm_ffi.Shape | tvm_ffi.Array | tuple | list):
        return tuple(from_tvm(item) for item in value)
    return value


def _handed_on(result: Any) -> Any:
    """A result as an argument: as `from_tvm` has it, but a shape stays one."""
    if isinstance(result, tvm_ffi.Shape):
        return result
    if isinstance(result, tvm_ffi.Array | tuple | list):
        return tuple(_handed_on(item) for item in result)
    return from_tvm(result)


def compare(call: Call, what: str, got: Any, want: Any) -> None:
    """Hold a value against the expected one; shape and dtype count, NaN equals NaN.

    Raises
    ------
    ValueDiffers
        Saying where and by how much.
    """
    if isinstance(want, tuple | list):
        if not isinstance(got, tuple) or len(got) != len(want):
            raise ValueDiffers(
                f"{what} of {call.function}: expected a tuple of {len(want)}, came {_kind(got)}"
            )
        for position, (one, other) in enumerate(zip(got, want, strict=True)):
            compare(call, f"{what}[{position}]", one, other)
        return
    if isinstance(got, np.ndarray):
        _compare_arrays(call, what, got, np.asarray(want))
    elif isinstance(got, tuple) or not _close(call, np.asarray(got), np.asarray(want)).all():
        raise ValueDiffers(f"{what} of {call.function}: expected {want!r}, came {_kind(got)}")


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"a tensor {value.shape} {value.dtype}"
    return f"a tuple of {len(value)}" if isinstance(value, tuple) else repr(value)


def _compare_arrays(
    call: Call, what: str, got: np.ndarray[Any, Any], want: np.ndarray[Any, Any]
) -> None:
    for aspect in ("shape", "dtype"):
        came, expected = getattr(got, aspect), getattr(want, aspect)
        if came != expected:
            raise ValueDiffers(
                f"{what} of {call.function}: expected {aspect} {expected}, came {came}"
            )
    wrong = ~_close(call, got, want)
    if not wrong.any():
        return
    first = tuple(int(i) for i in np.argwhere(wrong)[0])
    raise ValueDiffers(
        f"{what} of {call.function}: {int(wrong.sum())} of {wrong.size} values differ; "
        f"the first at {list(first)}: expected {want[first]}, came {got[first]}"
    )


def _close(
    call: Call, got: np.ndarray[Any, Any], want: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    """Which elements agree. Exact for integers and booleans: float64 loses above 2**53."""
    if got.dtype.kind in "iub" and want.dtype.kind in "iub":
        return np.asarray(got == want)
    wide = np.complex128 if "c" in got.dtype.kind + want.dtype.kind else np.float64
    close = np.isclose(
        got.astype(wide), want.astype(wide), rtol=call.rtol, atol=call.atol, equal_nan=True
    )
    return np.asarray(close)
