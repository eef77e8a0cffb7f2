"""Who calls whom: a walk over one Relax function, without changing it.

TVM's expressions overload ``==`` on some releases, so everything here is keyed by `key`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tvm import relax

from fixes.allocate_workspace.release import name_of

WORKSPACE_SIZE = "WorkspaceSize"

Value = Any
"""What a name stands for, as far as functions go: the key of a GlobalVar or of the variable of a
local function, a tuple of values, or None for anything else."""


def key(node: Any) -> int:
    """The identity of a TVM object; two Python wrappers of one object agree."""
    return hash(node)


def is_external(function: Any) -> bool:
    """Whether the body of the function is for another compiler to read."""
    return "Codegen" in function.attrs or "Composite" in function.attrs


def asks(function: Any) -> bool:
    """Whether an external function asks for a workspace; one of no bytes counts."""
    return is_external(function) and WORKSPACE_SIZE in function.attrs


@dataclass(frozen=True)
class Site:
    """A call whose callee is known."""

    callee: int
    direct: bool  # called by its own name, not through another variable
    scopes: tuple[int, ...]  # the functions around it, outermost first
    sees_first_block: bool  # a DataflowVar of the first dataflow block may be used here
    stock_scope: int  # the function whose workspace TVM's own pass would pass on, 0 for none


@dataclass(frozen=True)
class Escape:
    """A place from where a function goes on as a value that cannot be followed."""

    callee: int
    how: str


@dataclass(frozen=True)
class Local:
    """A local function and the functions around it, outermost first, itself last."""

    function: Any
    var: Any
    scopes: tuple[int, ...]


@dataclass
class Facts:
    """What the walk over one function found."""

    name: str
    function: Any
    values: dict[int, Value] = field(default_factory=dict)
    locals: dict[int, Local] = field(default_factory=dict)  # by the key of the variable
    sites: list[Site] = field(default_factory=list)
    escapes: list[Escape] = field(default_factory=list)
    first_block_scope: int = 0  # the function that holds the first dataflow block
    refers_to: set[int] = field(default_factory=set)  # every function that is named in it


def value_of(expr: Any, values: Mapping[int, Value]) -> Value:
    """What `expr` stands for, through variables, tuples and their elements."""
    if isinstance(expr, relax.GlobalVar):
        return key(expr)
    if isinstance(expr, relax.Var):
        return values.get(key(expr))
    if isinstance(expr, relax.Tuple):
        return tuple(value_of(item, values) for item in expr.fields)
    if isinstance(expr, relax.TupleGetItem):
        items = value_of(expr.tuple_value, values)
        return items[expr.index] if isinstance(items, tuple) else None
    return None


def facts_of(name: str, function: Any) -> Facts:
    """Walk over a Relax function, in the order in which TVM's mutators visit it."""
    walk = _Walk(Facts(name, function))
    walk.function(function)
    return walk.facts


def _functions_in(value: Value) -> Iterator[int]:
    if isinstance(value, tuple):
        for item in value:
            yield from _functions_in(item)
    elif value is not None:
        yield value


class _Walk:
    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.scopes: tuple[int, ...] = ()
        # How TVM's well-formed check sees variables of the first dataflow block: gone after any
        # dataflow block ends, back when the local function that held the block ends, and never
        # visible outside dataflow.
        self.first_alive = False
        self.in_dataflow = False
        self.stock_scope = 0

    def function(self, function: Any) -> None:
        if asks(function) and "Codegen" in function.attrs:
            self.stock_scope = key(function)
        outer = self.scopes, self.first_alive, self.in_dataflow
        self.scopes = (*self.scopes, key(function))
        self.in_dataflow = False
        self.sequence(function.body, "returned")
        self.scopes, self.first_alive, self.in_dataflow = outer

    def sequence(self, seq: Any, result: str) -> None:
        if not isinstance(seq, relax.SeqExpr):
            self.escape(seq, result)
            return
        for block in seq.blocks:
            if isinstance(block, relax.DataflowBlock):
                self.dataflow(block)
            else:
                self.bindings(block)
        self.escape(seq.body, result)

    def dataflow(self, block: Any) -> None:
        outer = self.in_dataflow
        if not self.facts.first_block_scope:
            self.facts.first_block_scope = self.scopes[-1]
            self.first_alive = True
        self.in_dataflow = True
        self.bindings(block)
        self.in_dataflow, self.first_alive = outer, False

    def bindings(self, block: Any) -> None:
        for binding in block.bindings:
            if isinstance(binding, relax.MatchCast):
                self.escape(binding.value, f"in the match_cast of `{name_of(binding.var)}`")
            else:
                self.binding(binding.var, binding.value)

    def binding(self, var: Any, value: Any) -> None:
        name = name_of(var)
        if isinstance(value, relax.Function):
            # Known before its body is seen: a local function may call itself.
            self.facts.values[key(var)] = key(var)
            self.facts.locals[key(var)] = Local(value, var, (*self.scopes, key(value)))
            self.function(value)
        elif isinstance(value, relax.If):
            self.sequence(value.true_branch, f"chosen by the `if` that binds `{name}`")
            self.sequence(value.false_branch, f"chosen by the `if` that binds `{name}`")
        elif isinstance(value, relax.SeqExpr):
            self.sequence(value, f"in the nested sequence that binds `{name}`")
        elif isinstance(value, relax.Call):
            self.call(value, name)
        else:
            self.facts.values[key(var)] = self.value(value)

    def call(self, call: Any, name: str) -> None:
        callee = self.value(call.op)
        if isinstance(callee, int):
            sees = self.first_alive and self.in_dataflow
            direct = key(call.op) == callee
            self.facts.sites.append(Site(callee, direct, self.scopes, sees, self.stock_scope))
        for arg in call.args:
            self.escape(arg, f"passed as an argument in the call that binds `{name}`")

    def escape(self, expr: Any, how: str) -> None:
        for callee in _functions_in(self.value(expr)):
            self.facts.escapes.append(Escape(callee, how))

    def value(self, expr: Any) -> Value:
        found = value_of(expr, self.facts.values)
        self.facts.refers_to.update(_functions_in(found))
        return found
