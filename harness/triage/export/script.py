"""``export --as script``: a case as a program that needs nothing but TVM."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent

from harness.case import (
    Builder,
    Case,
    CrashPattern,
    HangPattern,
    Limits,
    ModuleText,
    New,
    OneOf,
    OomPattern,
    PassSpec,
    Pattern,
    PythonPass,
    issue_url,
)
from harness.run.trace import TvmInfo
from harness.triage.export import program
from harness.triage.export.inlined import inlined
from harness.triage.export.modules import as_class, class_name, dialects
from harness.triage.export.values import literal, needs_ml_dtypes

_STEP = '''\
failed = []


@contextlib.contextmanager
def step(name, go_on=False):
    """Announce a step and say how it ended. Without `go_on`, a failure is the end."""
    print(f"== {name}", flush=True)
    try:
        yield
    except BaseException as error:
        traceback.print_exc()
        print(f"{type(error).__name__}: {error}", flush=True)
        failed.append(name)
        if not go_on:
            sys.exit(1)
    else:
        print("ok", flush=True)
'''
_WRONG = '''\
class WrongValue(Exception):
    """Not what it should be."""
'''
_COMPARE = '''\
def compare(got, want, rtol=1e-5, atol=1e-6):
    """Hold a value against the right one; shape and dtype count, NaN equals NaN."""
    if isinstance(want, (tuple, list)):
        if not isinstance(got, tuple) or len(got) != len(want):
            raise WrongValue(f"expected {len(want)} values, came {got}")
        for one, other in zip(got, want):
            compare(one, other, rtol, atol)
        return
    if isinstance(got, tuple):
        raise WrongValue(f"expected {want}, came {got}")
    came, right = np.asarray(got), np.asarray(want)
    if isinstance(got, np.ndarray) and (came.shape, came.dtype) != (right.shape, right.dtype):
        came_as, right_as = f"{came.shape} {came.dtype}", f"{right.shape} {right.dtype}"
        raise WrongValue(f"expected {right_as}, came {came_as}")
    try:
        if came.dtype.kind in "iub" and right.dtype.kind in "iub":
            np.testing.assert_array_equal(came, right)
        else:
            came, right = came.astype("float64"), right.astype("float64")
            np.testing.assert_allclose(came, right, rtol, atol, equal_nan=True)
    except AssertionError as error:
        raise WrongValue(str(error)) from None
'''
_TO_NUMPY = '''\
def to_numpy(value):
    """A value of TVM's as arrays, numbers and tuples of them."""
    if isinstance(value, tvm.runtime.Tensor):
        return value.numpy()
    if isinstance(value, (tvm_ffi.Shape, tvm_ffi.Array, tuple, list)):
        return tuple(to_numpy(one) for one in value)
    return value
'''
_TO_TVM = '''\
def to_tvm(value):
    """An argument as TVM takes it."""
    if isinstance(value, np.ndarray):
        return tvm.runtime.tensor(value)
    if isinstance(value, tuple) and not isinstance(value, tvm_ffi.Shape):
        return [to_tvm(one) for one in value]
    return value
'''
_HANDED_ON = '''\
def handed_on(result):
    """A result as an argument: a shape stays one."""
    return result if isinstance(result, tvm_ffi.Shape) else to_numpy(result)
'''
_PARAMETERS = '''\
def parameters(mod, function):
    """The names of a function's parameters; those of their buffers in a PrimFunc."""
    found = mod[function]
    buffers = dict(getattr(found, "buffer_map", {}).items())
    named = [buffers.get(param, param) for param in found.params]
    return [str(getattr(one, "name_hint", None) or one.name) for one in named]
'''
# In the order in which they use each other, last first.
_HELPERS = (
    ("parameters(", _PARAMETERS),
    ("to_tvm(", _TO_TVM),
    ("handed_on(", _HANDED_ON),
    ("to_numpy(", _TO_NUMPY),
    ("compare(", _COMPARE),
    ("WrongValue(", _WRONG),
)
_STANDARD = ("contextlib", "faulthandler", "gc", "resource", "signal", "sys", "traceback")


def script(case: Case, info: TvmInfo) -> str:
    """The program.

    Parameters
    ----------
    case : Case
        A case, or a contrast as a case of its own.
    info : TvmInfo
        The TVM at hand, whose names and imports are used.
    """
    beside_imports, beside = beside_of(case)
    body = "\n".join(_body(case, info))
    parts = [*helpers(body), *beside, _STEP]
    code = "\n\n".join(part.strip("\n") + "\n" for part in parts) + "\n\n" + body
    head = imports(case, code, beside_imports)
    future = [one for one in head if one.startswith("from __future__")]
    rest = [one for one in head if one not in future]
    future_lines = "\n".join(future) + "\n\n" if future else ""
    lines = "\n".join(rest)
    return f"{about(case, info)}\n{future_lines}{lines}\n\n{_precautions(case)}\n{code}\n"


def helpers(code: str) -> list[str]:
    """The functions that `code` calls, and those that they call."""
    found: list[str] = []
    for mark, text in _HELPERS:
        if mark in code + "".join(found):
            found.insert(0, text)
    return found


def about(case: Case, info: TvmInfo) -> str:
    """The docstring, and in remarks what a program cannot do."""
    links = [issue_url(one) for one in case.issue if one != "unreported"]
    told = [case.title, *(["", *links] if links else [])]
    told += ["", *case.notes.strip().splitlines()] if case.notes.strip() else []
    docstring = "\n".join(told).replace("\\", "\\\\").replace('"""', "'''")
    remarks = "\n".join(f"# {line}".rstrip() for line in _remarks(case, info))
    return f'"""{docstring}\n"""\n\n{remarks}\n'


def _remarks(case: Case, info: TvmInfo) -> Iterator[str]:
    yield f"Written for TVM {info.tvm} with apache-tvm-ffi {info.tvm_ffi}."
    for key, what in (("tvm", "TVM"), ("ffi", "apache-tvm-ffi")):
        if wanted := getattr(case, key):
            yield f"It speaks of {what} {wanted}."
    if case.requires:
        yield f"It needs {', '.join(case.requires)} as well."
    if case.tags:
        yield f"Topics: {', '.join(case.tags)}."
    expect = case.expectation(info.tvm, info.tvm_ffi)
    stages = expect.arms["stock"].stages if expect else {}
    if expect is None:
        yield "What this TVM does with it is not known."
    elif stages:
        yield "Seen with this TVM, where all should be ok:"
        yield from (f"  {stage}: {pattern.describe()}" for stage, pattern in stages.items())
    else:
        yield "With this TVM all is ok."
    if any(_varies(one) for one in stages.values()):
        yield f"It does so in some runs only: try it {max(case.repeat, 10)} times."
    if case.limits != Limits():
        limits = f"{case.limits.seconds:g} s and {case.limits.memory_mb} MiB"
        yield f"The case gives it {limits}."
    if case.fix:
        yield f"There is a fix of it, {case.fix}, which this program cannot put in."
    if case.contrasts:
        yield "Siblings of it, for comparison, are not in here:"
        yield from (f"  {one.title}" for one in case.contrasts)


def _varies(pattern: Pattern) -> bool:
    return isinstance(pattern, OneOf)


def _precautions(case: Case) -> str:
    """For a case that dies: to see where. For one that uses up time or memory: a limit."""
    seen = [one for entry in case.expect for one in entry.arms["stock"].stages.values()]
    seen += [each for one in seen if isinstance(one, OneOf) for each in one.patterns]
    lines = []
    loads = [one.arms["stock"].stages.get("load") for one in case.expect]
    if any(isinstance(one, CrashPattern) for one in loads):
        # The parser is Python. Elsewhere TVM's own handler tells more, and does not go with this.
        lines.append("faulthandler.enable()  # it dies by a signal: print the Python stack as well")
    if any(isinstance(one, HangPattern) for one in seen):
        seconds = max(1, round(case.limits.seconds))
        lines.append(f"signal.alarm({seconds})  # it does not come to an end: SIGALRM is that")
    if any(isinstance(one, OomPattern) for one in seen):
        size = f"{case.limits.memory_mb} << 20"
        lines.append(f"resource.setrlimit(resource.RLIMIT_AS, ({size}, {size}))")
    return "\n".join(lines) + "\n\n" if lines else ""


def imports(case: Case, code: str, beside: list[str]) -> list[str]:
    code = code + _precautions(case)
    others = [f"import {name}" for name in _STANDARD if f"{name}." in code]
    others += ["import numpy as np"] if "np." in code else []
    others += ["import ml_dtypes  # gives NumPy more types"] if needs_ml_dtypes(code) else []
    others += ["import tvm", *program.imports_of(_names(case))]
    others += ["import tvm_ffi"] if "tvm_ffi." in code else []
    others += ["from tvm import relax", *dialects(code)]
    every = sorted({*beside, *others}, key=_order)
    standard = [one for one in every if _package(one) in sys.stdlib_module_names]
    return [*standard, "", *(one for one in every if one not in standard)]


def _package(line: str) -> str:
    return line.split()[1].partition(".")[0]


def _order(line: str) -> tuple[bool, str]:
    return line.startswith("from"), line.split()[1]


def _names(case: Case) -> list[str]:
    """Every dotted name under `tvm` that the program speaks of."""
    pipeline = case.build.pipeline if isinstance(case.build.pipeline, tuple) else ()
    found: list[str] = []
    todo: list[object] = [*case.passes, *pipeline]
    while todo:
        match todo.pop():
            case PythonPass(args=args):
                todo.append(args)
            case PassSpec(name=name, args=args) | New(name=name, args=args):
                found.append(name)
                todo.append(args)
            case dict() as mapping:
                todo += mapping.values()
            case list() | tuple() as items:
                todo += items
    return found


def beside_of(case: Case) -> tuple[list[str], list[str]]:
    """Imports and text of the Python files that the case uses."""
    pipeline = case.build.pipeline if isinstance(case.build.pipeline, tuple) else ()
    wanted: dict[str, list[str]] = {}
    for one in (*case.passes, *pipeline):
        if isinstance(one, PythonPass):
            wanted.setdefault(os.fspath(one.file), []).append(one.name)
    if isinstance(case.module, Builder):
        wanted.setdefault(os.fspath(case.module.file), []).append(case.module.function)
    imports: list[str] = []
    texts: list[str] = []
    for file, names in wanted.items():
        own, text = inlined(Path(file), names)
        imports += own
        texts.append(text)
    return imports, texts


def _body(case: Case, info: TvmInfo) -> Iterator[str]:
    yield from _load(case)
    yield from _step("input", ["relax.analysis.well_formed(mod)"], go_on=True)
    same_as_input = any(call.same_as_input for call in case.run) and case.build.enabled
    if same_as_input:
        yield "given_mod = mod"
    for spec in case.passes:
        scopes, statement = program.apply(spec, case.build)
        yield from _step(f"pass {spec.name}", [statement], scopes)
        check = "relax.analysis.well_formed(mod)"
        yield from _step(f"well_formed {spec.name}", [check], go_on=True)
    if case.after:
        yield from _step("pass after", list(program.checks_after(case)), go_on=True)
    if case.build.enabled:
        yield from _build(case, same_as_input)
    yield '\nprint("== exit", flush=True)\nsys.exit(1 if failed else 0)'


def _load(case: Case) -> Iterator[str]:
    if isinstance(case.module, ModuleText):
        # Python makes a class before TVM reads it, and may trip over what TVM is to trip over.
        about_reading = any("load" in one.arms["stock"].stages for one in case.expect)
        name = "" if about_reading else class_name(case.module.text)
        if name:
            yield from _step("load", ["", as_class(case.module.text), "", f"mod = {name}"])
            return
        text = case.module.text.strip("\n").replace("\\", "\\\\").replace('"""', '\\"""')
        yield f'module_text = """\n{text}\n"""\n'
        read = "mod = tvm.script.from_source(module_text, check_well_formed=False)"
        yield from _step("load", [read, *program.AS_MODULE])
    else:
        made = f"mod = {program.builder_call(case.module)}"
        yield from _step("load", [made, *program.AS_MODULE])


def _build(case: Case, same_as_input: bool) -> Iterator[str]:
    relaxed = program.has_relax(case)
    look = [program.HAS_RELAX] if relaxed is None else []
    statements = [*look, *program.build(case, relaxed)]
    yield from _step("build", statements)
    machine = f"callee = {program.machine(case.build)}"
    if relaxed is None:
        inner = "\n".join(_step("vm", [machine])).strip("\n")
        yield f"if relaxed:\n{indent(inner, '    ')}\nelse:\n    callee = executable"
    elif relaxed:
        yield from _step("vm", [machine])
    else:
        yield "callee = executable"
    if same_as_input:
        yield f"\n\n{program.input_builder(case, relaxed)}\n\n"
    for number, call in enumerate(case.run):
        yield from _step(f"run {call.function}", list(program.call(case, number)))


def _step(
    name: str, statements: list[str], scopes: list[str] | None = None, go_on: bool = False
) -> Iterator[str]:
    opened = f"step({literal(name)}{', go_on=True' if go_on else ''})"
    if name != "load":
        yield ""
    yield program.block(f"with {', '.join([opened, *(scopes or [])])}", statements)
