"""Faults hidden in large modules: a hand-written program among chains, functions and kernels."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator

from harness.triage.reduce.edit import Edit, applied
from harness.triage.reduce.program import Program, size
from harness.triage.reduce.script import Function, Script, called, is_dataflow, parsed

_TENSOR = 'R.Tensor((4, 8), "float32")'
_KERNEL = """
@T.prim_func(private=True, s_tir=True)
def kernel_{0}(a: T.Buffer((4, 8), "float32"), b: T.Buffer((4, 8), "float32")):
    for i, j in T.grid(4, 8):
        with T.sblock("kernel_{0}"):
            vi, vj = T.axis.remap("SS", [i, j])
            b[vi, vj] = a[vi, vj] * T.float32({1}) + T.float32(1)
"""


def chain(draw: random.Random, count: int, start: list[str], prefix: str) -> Iterator[str]:
    """Bindings of one type, each made of earlier ones and of `start`."""
    names = list(start)
    for number in range(count):
        one, other = names[-1], draw.choice(names)
        operator = draw.choice(["add", "subtract", "multiply", "maximum", "negative", "abs"])
        operands = one if operator in ("negative", "abs") else f"{one}, {other}"
        names.append(f"{prefix}{number}")
        yield f"{names[-1]} = R.{operator}({operands})"


def unrelated(draw: random.Random, number: int, bindings: int, kernels: int) -> str:
    """A function with as many bindings: chains, kernels, tuples and shapes."""
    body = [*chain(draw, bindings - 5, ["a", "b"], "v")]
    last = body[-1].split()[0]
    kernel = draw.randrange(kernels)
    body += [
        f"k = R.call_tir(Module.kernel_{kernel}, ({last},), {_TENSOR})",
        "halves = R.split(k, 2, axis=1)",
        "left = halves[0]",
        "whole = R.concat((left, halves[1]), axis=1)",
        f"out = R.add(whole, {draw.choice(['a', 'b', 'v0'])})",
    ]
    lines = "\n".join(f"        {line}" for line in body)
    return f"""
@R.function
def unrelated_{number}(a: {_TENSOR}, b: {_TENSOR}) -> {_TENSOR}:
    with R.dataflow():
{lines}
        R.output(out)
    return out
"""


def planted(program: Program, bindings: int, seed: int) -> list[Program]:
    """The program in a large module; first with the fault fed by what is around it."""
    draw = random.Random(seed)
    script = parsed(program.module)
    own = size(program).bindings
    inside = (bindings - own) // 3
    hosts = [one for one in script.functions if one.kind == "relax"]
    each, kernels = 20, 4
    count, rest = divmod(bindings - own - inside, each)
    texts = [_KERNEL.format(number, number + 2) for number in range(kernels)]
    sizes = [each] * (count - 1) + [each + rest]
    texts += [unrelated(draw, number, n, kernels) for number, n in enumerate(sizes)]
    found = []
    for fed in (True, False):
        edits: dict[ast.AST, ast.AST | list[ast.stmt] | None] = {}
        share, more = divmod(inside, len(hosts))
        for place, host in enumerate(hosts):
            lines = share + (more if place == 0 else 0)
            edits.update(_stuffed(draw, host, lines, fed))
        large = applied(program, Edit(edits))
        assert large is not None, program.module
        found.append(Program(_joined(parsed(large.module), texts), large.data))
    return found


def _stuffed(
    draw: random.Random, host: Function, count: int, fed: bool
) -> Iterator[tuple[ast.AST, ast.AST | list[ast.stmt] | None]]:
    """A chain at the beginning of a function, on a parameter where it has a plain one."""
    tensor = next((p for p in host.parameters if _plain(p)), None)
    if tensor is not None and fed:
        start, setup = [tensor.arg], []
    else:
        start, setup = ["noise"], ['noise = R.zeros(R.shape([4, 8]), "float32")']
    lines = [*setup, *chain(draw, count - len(setup), start, "w")]
    last = lines[-1].split()[0]
    block = next((node for node in host.node.body if is_dataflow(node)), None)
    at = block.body[0] if isinstance(block, ast.With) else _first(host)
    if tensor is not None and fed:
        for node in ast.walk(host.node):
            if isinstance(node, ast.Name) and node.id == tensor.arg:
                yield node, ast.Name(last, ast.Load())
    if block is None:
        lines = ["with R.dataflow():", *(f"    {line}" for line in lines), f"    R.output({last})"]
    # As another node: else it would be replaced once more.
    copied = type(at)(**dict(ast.iter_fields(at)), lineno=0)
    yield at, [*ast.parse("\n".join(lines)).body, copied]


def _first(host: Function) -> ast.stmt:
    """The first statement behind the attributes."""
    return next(
        one
        for one in host.node.body
        if not (isinstance(one, ast.Expr) and called(one.value) == "R.func_attr")
    )


def _plain(parameter: ast.arg) -> bool:
    """Whether operators that keep the type take it: constants all along would be folded."""
    match parameter.annotation:
        case ast.Call(args=[ast.Tuple(), ast.Constant(value="float32" | "int32" | "int64")]) as one:
            return called(one) == "R.Tensor"
    return False


def _joined(script: Script, texts: list[str]) -> str:
    """The module with more functions in it, half of them in front."""
    (module,) = (node for node in script.tree.body if isinstance(node, ast.ClassDef))
    more = [node for text in texts for node in ast.parse(text).body]
    half = len(more) // 2
    body = [*more[:half], *module.body, *more[half:]]
    fields = {**dict(ast.iter_fields(module)), "body": body}
    return ast.unparse(ast.Module([ast.ClassDef(**fields)], [])) + "\n"
