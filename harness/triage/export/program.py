"""A case as statements of Python: what the stages of the harness do, each as a real call.

The stage functions of `harness.run.stages` are the model; what they do is spelt out here.
"""

from __future__ import annotations

import ast
import builtins
import importlib.util
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

from harness.case import (
    Builder,
    BuildSpec,
    Call,
    Case,
    Expression,
    ModuleText,
    NoCheck,
    PassSpec,
    PythonPass,
    ResultOf,
    RoundTrip,
    TextCheck,
    TupleArg,
)
from harness.triage.export.modules import class_name
from harness.triage.export.values import array, called, literal, value

AS_MODULE = (
    "if not isinstance(mod, tvm.IRModule):",
    "    mod = tvm.IRModule.from_expr(mod)",
)
HAS_RELAX = "relaxed = any(isinstance(one, relax.Function) for one in mod.functions.values())"
# What a program calls its own things: no parameter of a case may be called so.
OWN = frozenset(
    "I R T WrongValue again args build_input callee compare contextlib executable failed fresh gc "
    "given given_mod handed_on ml_dtypes mod module_text names np parameters printed reference "
    "relax relaxed resource signal step sys target to_numpy to_tvm traceback tvm tvm_ffi "
    "values".split()
)


def context(spec: BuildSpec) -> str:
    """The pass context of a case; "" when it is TVM's own."""
    keys: list[str] = []
    keys += [f"opt_level={spec.opt_level}"] if spec.opt_level is not None else []
    keys += [f"config={literal(spec.config)}"] if spec.config else []
    for name in ("disabled_pass", "required_pass"):
        names = list(getattr(spec, name))
        keys += [f"{name}={literal(names)}"] if names else []
    return f"tvm.transform.PassContext({', '.join(keys)})" if keys else ""


def apply(spec: PassSpec, build: BuildSpec) -> tuple[list[str], str]:
    """The scopes that a pass runs in, and the statement that applies it to `mod`."""
    target = spec.under.get("target")
    scopes = [f"tvm.target.Target({literal(target)})"] if target else []
    scopes += [context(build)] if context(build) else []
    return scopes, f"mod = {_applied(spec, 'mod')}"


def _applied(spec: PassSpec, to: str) -> str:
    if isinstance(spec, PythonPass):
        return called(spec.name, spec.args, to)
    return f"{called(f'tvm.{spec.name}', spec.args)}({to})"


def has_relax(case: Case) -> bool | None:
    """Whether the module that is built has Relax functions; None when the program has to look."""
    if not isinstance(case.module, ModuleText) or any(
        isinstance(one, PythonPass) for one in case.passes
    ):
        return None
    return "@R.function" in case.module.text


def build(case: Case, relaxed: bool | None, module: str = "mod") -> Iterator[str]:
    """Statements that build a module into `executable`."""
    spec = case.build
    yield f"target = tvm.target.Target({literal(spec.target)})"
    with_ = spec.with_
    if with_ == "auto":
        with_ = "relax.build" if relaxed or relaxed is None else "tvm.compile"
    key = "pipeline" if with_ == "tirx.build" else "relax_pipeline"
    keywords = f", target=target{_pipeline(spec, key)}"
    mode = f", exec_mode={literal(spec.exec_mode)}" if spec.exec_mode != "bytecode" else ""
    calls = {
        "relax.build": f"relax.build({module}{keywords}{mode})",
        "tvm.compile": f"tvm.compile({module}{keywords})",
        "tirx.build": f"tvm.tirx.build({module}{keywords})",
    }
    made = calls[with_]
    if spec.with_ == "auto" and relaxed is None:
        made = f"{made} if relaxed else {calls['tvm.compile']}"
    statement = f"executable = {made}"
    scope = context(spec)
    yield f"with {scope}:\n    {statement}" if scope else statement


def _pipeline(spec: BuildSpec, key: str) -> str:
    match spec.pipeline:
        case "default":
            return ""
        case "none":
            return f", {key}=None"
        case "target":
            return f", {key}=relax.get_default_pipeline(target)"
        case passes:
            made = ", ".join(map(_as_pass, passes))
            return f", {key}=tvm.transform.Sequential([{made}])"


def _as_pass(spec: PassSpec) -> str:
    if isinstance(spec, PythonPass):
        made = f"lambda mod, _: {_applied(spec, 'mod')}"
        return f"tvm.transform.module_pass({made}, opt_level=0, name={literal(spec.name)})"
    return called(f"tvm.{spec.name}", spec.args)


def machine(spec: BuildSpec) -> str:
    """A virtual machine on the device of the case's target."""
    target = spec.target
    kind = target.split()[0] if isinstance(target, str) else str(target.get("kind", ""))
    device = "tvm.cpu()" if kind in ("llvm", "c") else f"tvm.device({literal(kind)})"
    return f"relax.VirtualMachine(executable, {device})"


def called_on(case: Case, relaxed: bool | None) -> str:
    """What functions are taken from: the virtual machine, or the executable itself."""
    made = machine(case.build)
    return {True: made, False: "executable", None: f"{made} if relaxed else executable"}[relaxed]


def input_builder(case: Case, relaxed: bool | None) -> str:
    """A function that builds the module as it was before the passes, for ``same_as: input``."""
    statements = [*build(case, relaxed, "given_mod"), f"return {called_on(case, relaxed)}"]
    return block("def build_input()", statements)


def checks_after(case: Case) -> Iterator[str]:
    """Statements for `after:`."""
    if any(isinstance(check, TextCheck) for check in case.after):
        yield "printed = mod.script()"
    for check in case.after:
        match check:
            case TextCheck(kind=kind, text=text):
                word, verb = ("not in", "lacks") if kind == "contains" else ("in", "contains")
                said = f"the IR after the last pass {verb} {text!r}"
                yield f"if {literal(text)} {word} printed:\n    raise WrongValue({literal(said)})"
            case RoundTrip(form="script"):
                yield "again = mod.script(show_meta=True)"
                yield "again = tvm.script.from_source(again, check_well_formed=False)"
                yield from _compared("script")
            case RoundTrip():
                yield "again = tvm.ir.load_json(tvm.ir.save_json(mod))"
                yield from _compared("json")


def _compared(form: str) -> Iterator[str]:
    yield (
        "try:\n    tvm.ir.assert_structural_equal(again, mod, map_free_vars=True)\n"
        "except ValueError as error:\n"
        f'    raise WrongValue(f"came back from {form} changed: {{error}}") from None'
    )


def call(case: Case, number: int, callee: str = "callee") -> Iterator[str]:
    """Statements that make one call of `run:` and check it."""
    this = case.run[number]
    names = _names_of(case, this)
    if names is None:
        yield from _call_by_position(this, number, callee)
    else:
        yield from _call_by_name(this, number, callee, names[: len(this.args)])


def _call_by_name(call: Call, number: int, callee: str, names: list[str]) -> Iterator[str]:
    plain = not any(isinstance(arg, TupleArg | ResultOf) for arg in call.args)
    for name, arg in zip(names, call.args, strict=True):
        yield f"{name} = {value(arg)}"
    given = [
        f"tvm.runtime.tensor({name})" if plain and hasattr(arg, "dtype")
        else name if plain else f"to_tvm({name})"
        for name, arg in zip(names, call.args, strict=True)
    ]  # fmt: skip
    yield f"args = [{', '.join(given)}]"
    yield from _called(call, number, callee, lambda name: str(names.index(name)), _expected)
    if call.same_as_input:
        yield from _same_as_input(call, number, f"[{', '.join(given)}]")


def _call_by_position(call: Call, number: int, callee: str) -> Iterator[str]:
    """Where the passes may have named the parameters, or no text says what they are called."""
    yield f"given = [{', '.join(map(value, call.args))}]"
    free = sorted({name for check in _checks(call) for name in _free(check)})
    if free or isinstance(call.equals, Mapping):
        yield f"names = parameters(mod, {literal(call.function)})"
    if free:
        yield "values = dict(zip(names, given))"
    yield from (f"{name} = values[{literal(name)}]" for name in free if name not in OWN)
    yield "args = [to_tvm(one) for one in given]"
    yield from _called(
        call, number, callee, lambda name: f"names.index({literal(name)})", _evaluated
    )
    if call.same_as_input:
        yield from _same_as_input(call, number, "[to_tvm(one) for one in given]")


def _called(
    call: Call,
    number: int,
    callee: str,
    place: Callable[[str], str],
    expected: Callable[[Any], str],
) -> Iterator[str]:
    """The call with `args`, and its checks; `place` says where a parameter stands among them."""
    yield f"result{number} = {callee}[{literal(call.function)}](*args)"
    tolerance = _tolerance(call)
    match call.equals:
        case NoCheck():
            pass
        case Mapping():
            for name, check in call.equals.items():
                yield f"compare(to_numpy(args[{place(name)}]), {expected(check)}{tolerance})"
        case check:
            yield f"compare(to_numpy(result{number}), {expected(check)}{tolerance})"


def _same_as_input(call: Call, number: int, fresh: str) -> Iterator[str]:
    yield f"fresh = {fresh}"
    yield f"reference = build_input()[{literal(call.function)}](*fresh)"
    tolerance = _tolerance(call)
    yield (
        "if reference is None:  # a PrimFunc: what it wrote\n"
        f"    compare(to_numpy(args), to_numpy(fresh){tolerance})\n"
        "else:\n"
        f"    compare(to_numpy(result{number}), to_numpy(reference){tolerance})"
    )


def _checks(call: Call) -> list[Any]:
    return list(call.equals.values()) if isinstance(call.equals, Mapping) else [call.equals]


def _tolerance(call: Call) -> str:
    default = Call(function=call.function)
    keys = [name for name in ("rtol", "atol") if getattr(call, name) != getattr(default, name)]
    return "".join(f", {name}={getattr(call, name)!r}" for name in keys)


def _expected(check: Any) -> str:
    return check.text.strip() if isinstance(check, Expression) else array(check)


def _evaluated(check: Any) -> str:
    if _free(check) & OWN:
        return f'eval({literal(check.text.strip())}, {{"np": np, **values}})'
    return _expected(check)


def _free(check: Any) -> set[str]:
    """The parameters that an expression speaks of."""
    if not isinstance(check, Expression):
        return set()
    tree = ast.parse(check.text.strip(), mode="eval")
    found = [one for one in ast.walk(tree) if isinstance(one, ast.Name)]
    bound = {one.id for one in found if isinstance(one.ctx, ast.Store)}
    bound |= {one.arg for one in ast.walk(tree) if isinstance(one, ast.arg)}
    return {one.id for one in found} - bound - {"np"} - set(dir(builtins))


def _names_of(case: Case, call: Call) -> list[str] | None:
    """The parameters of a function as the module text has them; None when they may be others."""
    if not isinstance(case.module, ModuleText) or not class_name(case.module.text):
        return None
    (found,) = ast.parse(dedent(case.module.text)).body
    assert isinstance(found, ast.ClassDef)
    functions = {one.name: one for one in found.body if isinstance(one, ast.FunctionDef)}
    if call.function not in functions:
        return None
    function = functions[call.function]
    buffers = {
        one.value.args[0].id: one.targets[0].id
        for one in ast.walk(function)
        if isinstance(one, ast.Assign)
        and isinstance(one.value, ast.Call)
        and ast.unparse(one.value.func) == "T.match_buffer"
        and isinstance(one.value.args[0], ast.Name)
        and isinstance(one.targets[0], ast.Name)
    }
    names = [buffers.get(one.arg, one.arg) for one in function.args.args]
    if len(call.args) > len(names) or set(names) & OWN:
        return None
    asked = {name for check in _checks(call) for name in _free(check)}
    asked |= set(call.equals) if isinstance(call.equals, Mapping) else set()
    return names if asked <= set(names[: len(call.args)]) else None


def imports_of(names: list[str]) -> list[str]:
    """Imports of the modules that dotted names under `tvm` lie in, where TVM may not have them."""
    spec = importlib.util.find_spec("tvm")
    if spec is None or not spec.submodule_search_locations:
        return []
    root = Path(next(iter(spec.submodule_search_locations)))
    found: set[str] = set()
    for name in names:
        parts = name.split(".")[:-1]
        while parts and not _is_module(root.joinpath(*parts)):
            parts.pop()
        if parts and parts[0] not in ("relax", "tirx", "transform"):
            found.add("import tvm." + ".".join(parts))
    return sorted(found)


def _is_module(path: Path) -> bool:
    return (path / "__init__.py").is_file() or path.with_suffix(".py").is_file()


def builder_call(module: Builder) -> str:
    """The call of a builder."""
    return called(module.function, module.args)


def block(head: str, statements: list[str]) -> str:
    """A compound statement."""
    return f"{head}:\n{indent(chr(10).join(statements), '    ')}"
