"""Random modules around workspaces, as TVMScript: call graphs of ordinary, codegen and composite
functions, with dataflow blocks, branches, local functions, recursion and all ways to name a callee.

Every function is ``(x, c) -> tensor`` and adds a constant of its own here and there, so a call
that went astray changes the numbers. A call back up the graph stands under ``if c`` and passes
False on, so every program ends.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

_SIZES = (0, 16, 16, 64, 4096)
_HUGE = (2**31, 2**33)


@dataclass(frozen=True)
class _Spec:
    name: str
    kind: str  # "ordinary", "Codegen" or "Composite"
    size: int  # negative: does not ask for a workspace
    private: bool


@dataclass
class _Writer:
    rng: random.Random
    shape: str
    lines: list[str] = field(default_factory=list)
    fresh: int = 0
    callees: tuple[str, ...] = ()  # further down the graph
    uphill: tuple[str, ...] = ()  # further up, or the function itself

    def name(self, stem: str) -> str:
        self.fresh += 1
        return f"{stem}{self.fresh}"

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability


def generated(rng: random.Random) -> str:
    """The text of a module; the same random numbers give the same text."""
    writer = _Writer(rng, rng.choice(["(4,)", "(4,)", '("n",)']))
    specs = _specs(rng)
    writer.lines += ["@I.ir_module", "class Module:"]
    for index, spec in enumerate(specs):
        names = tuple(one.name for one in specs)
        writer.callees, writer.uphill = names[index + 1 :], names[: index + 1]
        _function(writer, spec)
    return "\n".join(writer.lines) + "\n"


def _specs(rng: random.Random) -> list[_Spec]:
    sizes = _SIZES + (_HUGE if rng.random() < 0.05 else ())
    names = rng.sample(
        ["inner", "outer", "deep", "kernel", "workspace"], rng.choice([1, 1, 2, 2, 3, 4])
    )
    # A name that collides with a new one; an ordinary function, because TVM's own choice among
    # two renamed ones depends on addresses.
    taken = [f"{names[-1]}1"] if rng.random() < 0.2 else []
    specs = [_Spec("main", "ordinary", -1, False)]
    for name in taken:
        specs.append(_Spec(name, "ordinary", -1, rng.random() < 0.3))
    for name in names:
        kind = rng.choice(["ordinary", "Codegen", "Codegen", "Composite"])
        asks = kind != "ordinary" and rng.random() < 0.6
        specs.append(_Spec(name, kind, rng.choice(sizes) if asks else -1, rng.random() < 0.3))
    return specs


def _function(writer: _Writer, spec: _Spec, depth: int = 1) -> None:
    local = depth > 1
    # A symbol of its own for each function, so that mixed-up signatures show.
    shape = writer.shape.replace("n", writer.name("n"))
    tensor = f'R.Tensor({shape}, "float32")'
    x, c = writer.name("x"), writer.name("c")
    writer.line(depth, "@R.function(private=True)" if spec.private else "@R.function")
    writer.line(depth, f'def {spec.name}({x}: {tensor}, {c}: R.Tensor((), "bool")) -> {tensor}:')
    attrs = [f'"{spec.kind}": "c.{spec.name}"'] if spec.kind != "ordinary" else []
    attrs += [f'"WorkspaceSize": {spec.size}'] if spec.size >= 0 else []
    if attrs:
        writer.line(depth + 1, f"R.func_attr({{{', '.join(attrs)}}})")
    result = _statements(
        writer, depth + 1, x, c, nesting=2 if not local else int(writer.chance(0.25))
    )
    writer.line(depth + 1, f"return {result}")


def _statements(writer: _Writer, depth: int, x: str, c: str, nesting: int) -> str:
    for _ in range(writer.rng.choice([1, 1, 1, 2])):
        forms = [_add, _call, _call, _dataflow, _dataflow]
        if nesting > 0:
            forms += [_branch] + [_local] * (depth < 4)
        x = writer.rng.choice(forms)(writer, depth, x, c, nesting)
    return x


def _add(writer: _Writer, depth: int, x: str, c: str, nesting: int) -> str:
    result = writer.name("v")
    constant = writer.rng.randint(1, 99)
    writer.line(depth, f'{result} = R.add({x}, R.const({constant}, "float32"))')
    return result


def _call(writer: _Writer, depth: int, x: str, c: str, nesting: int) -> str:
    if not writer.callees:
        return _add(writer, depth, x, c, nesting)
    callee = _named(writer, depth, f"Module.{writer.rng.choice(writer.callees)}", x)
    result = writer.name("v")
    writer.line(depth, f"{result} = {callee}({x}, {c})")
    return result


def _named(writer: _Writer, depth: int, callee: str, x: str) -> str:
    """The callee itself, or a variable that stands for it."""
    way = writer.rng.choice(["direct"] * 4 + ["variable", "tuple", "chain"])
    if way == "direct":
        return callee
    if way in ("tuple", "chain"):
        pair = writer.name("t")
        writer.line(depth, f"{pair} = ({x}, {callee})")
        callee = f"{pair}[1]"
    if way == "chain":
        inner, outer = writer.name("p"), writer.name("t")
        writer.line(depth, f"{inner} = {callee}")
        writer.line(depth, f"{outer} = (({inner}, {x}), {x})")
        middle = writer.name("t")
        writer.line(depth, f"{middle} = {outer}[0]")
        callee = f"{middle}[0]"
    variable = writer.name("f")
    writer.line(depth, f"{variable} = {callee}")
    return variable


def _dataflow(writer: _Writer, depth: int, x: str, c: str, nesting: int) -> str:
    writer.line(depth, "with R.dataflow():")
    for _ in range(writer.rng.choice([1, 1, 2])):
        forms = [_add, _call, _call] + ([_local] if nesting > 0 else [])
        x = writer.rng.choice(forms)(writer, depth + 1, x, c, nesting)
    x = _add(writer, depth + 1, x, c, nesting)
    writer.line(depth + 1, f"R.output({x})")
    return x


def _branch(writer: _Writer, depth: int, x: str, c: str, nesting: int) -> str:
    result = writer.name("v")
    for head in (f"if {c}:", "else:"):
        writer.line(depth, head)
        last = _statements(writer, depth + 1, x, c, nesting - 1)
        if head != "else:" and writer.chance(0.3):
            callee = _named(writer, depth + 1, f"Module.{writer.rng.choice(writer.uphill)}", last)
            back = writer.name("v")
            writer.line(depth + 1, f'{back} = {callee}({last}, R.const(False, "bool"))')
            last = back
        writer.line(depth + 1, f'{result} = R.add({last}, R.const(1, "float32"))')
    return result


def _local(writer: _Writer, depth: int, x: str, c: str, nesting: int) -> str:
    """A local function, and mostly a call of it."""
    kind = writer.rng.choice(["ordinary", "Composite", "Composite", "Codegen"])
    size = writer.rng.choice(_SIZES) if kind != "ordinary" and writer.chance(0.6) else -1
    name = writer.name("local")
    _function(writer, _Spec(name, kind, size, False), depth)
    if writer.chance(0.15):
        return _add(writer, depth, x, c, nesting)
    callee = _named(writer, depth, name, x)
    result = writer.name("v")
    writer.line(depth, f"{result} = {callee}({x}, {c})")
    return result
