"""Modules for the tests of AllocateWorkspace, written in as few words as possible."""

from __future__ import annotations

import textwrap

TENSOR = 'R.Tensor((4,), "float32")'
ADD = 'R.add({}, R.const({}, "float32"))'


def function(name: str, body: str, attrs: str = "", param: str = "x", deco: str = "") -> str:
    """A function ``(tensor, bool) -> tensor``; `attrs` is the inside of ``R.func_attr``."""
    lines = [
        f"@R.function{deco}",
        f'def {name}({param}: {TENSOR}, c: R.Tensor((), "bool")) -> {TENSOR}:',
    ]
    if attrs:
        lines.append(f"    R.func_attr({{{attrs}}})")
    return "\n".join(lines) + "\n" + textwrap.indent(textwrap.dedent(body).strip(), "    ") + "\n"


def module(*functions: str) -> str:
    body = textwrap.indent("\n".join(functions), "    ")
    return f"@I.ir_module\nclass Module:\n{body}"


def asking(name: str, size: int = 64, add: int = 1, kind: str = "Codegen", deco: str = "") -> str:
    """An external function that asks for a workspace and adds a constant."""
    body = f"y = {ADD.format('x', add)}\nreturn y"
    return function(name, body, f'"{kind}": "k.{name}", "WorkspaceSize": {size}', deco=deco)


def external(name: str, body: str, kind: str = "Codegen") -> str:
    """An external function that does not ask for a workspace itself."""
    return function(name, body, f'"{kind}": "k.{name}"')


def local(name: str, body: str, attrs: str) -> str:
    return function(name, body, attrs, param=f"x_{name}")


def calling(callee: str) -> str:
    """An ordinary ``main`` that calls once, in a dataflow block."""
    body = f"""
    with R.dataflow():
        y = Module.{callee}(x, c)
        R.output(y)
    return y
    """
    return function("main", body)


def main(body: str) -> str:
    return function("main", body)


ESCAPES = {
    "returned": (
        external("outer", "f = Module.inner\nt = (x, f)\nreturn t").replace(
            f"-> {TENSOR}",
            f'-> R.Tuple({TENSOR}, R.Callable(({TENSOR}, R.Tensor((), "bool")), {TENSOR}))',
        ),
        "returned",
        "outer",
    ),
    "an argument": (
        main("""
        f = Module.inner
        y = R.call_dps_packed("anything", (f, x), R.Tensor((4,), "float32"))
        return y
        """),
        "passed as an argument in the call that binds `y",
        "main",
    ),
    "an argument of a Relax function": (
        function("apply", "y = f(x, c)\nreturn y").replace(
            '"bool"))', f'"bool"), f: R.Callable(({TENSOR}, R.Tensor((), "bool")), {TENSOR}))', 1
        )
        + main("y = Module.apply(x, c, Module.inner)\nreturn y"),
        "passed as an argument in the call that binds `y",
        "main",
    ),
    "an argument in a tuple": (
        main("""
        t = (Module.inner, x)
        y = R.call_dps_packed("anything", (x, t), R.Tensor((4,), "float32"))
        return y
        """),
        "passed as an argument in the call that binds `y",
        "main",
    ),
    "chosen": (
        main("""
        if c:
            f = Module.inner
        else:
            f = Module.other
        y = f(x, c)
        return y
        """),
        "chosen by the `if` that binds `f",
        "main",
    ),
    "match_cast": (
        main(f"""
        f = R.match_cast(Module.inner, R.Callable(({TENSOR}, R.Tensor((), "bool")), {TENSOR}))
        y = f(x, c)
        return y
        """),
        "in the match_cast of `f",
        "main",
    ),
}
