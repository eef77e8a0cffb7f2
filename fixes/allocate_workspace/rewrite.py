"""The rewriting of one function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tvm import relax
from tvm.relax.expr_functor import PyExprMutator, mutator

from fixes.allocate_workspace import release
from fixes.allocate_workspace.calls import WORKSPACE_SIZE, Value, key, value_of


@dataclass(frozen=True)
class Plan:
    """What a rewriting needs to know.

    Attributes
    ----------
    size
        Bytes of every workspace.
    renamed
        From the key of an old GlobalVar to the new one.
    values
        What variables stand for, see `fixes.allocate_workspace.calls`.
    like_stock
        TVM's own pass gets this module right: give what it would give, to the letter.
    local_receivers
        Local functions that receive a workspace, by the key of their variable.
    in_first_block
        Allocate where TVM does: in the first dataflow block.
    allocating
        Functions, global or local, that allocate at their top instead.
    """

    size: int
    renamed: Mapping[int, Any]
    values: Mapping[int, Value]
    like_stock: bool
    local_receivers: frozenset[int] = frozenset()
    in_first_block: bool = False
    allocating: frozenset[int] = frozenset()


def with_body(function: Any, body: Any, span: Any = None) -> Any:
    """The function with another body; all else stays."""
    return relax.Function(
        function.params,
        body,
        release.return_type(function),
        function.is_pure,
        function.attrs,
        span or function.span,
    )


def with_workspace(function: Any, workspace: Any, body: Any) -> Any:
    """The function with the workspace as last parameter and another body."""
    return relax.Function(
        [*function.params, workspace],
        body,
        release.return_type(function),
        function.is_pure,
        function.attrs,
        function.span,
    ).without_attr(WORKSPACE_SIZE)


def workspace_param(function: Any, size: int) -> Any:
    """A parameter that clashes with none of the function's."""
    taken = {release.name_of(param) for param in function.params}
    name, number = "workspace", 0
    while name in taken:
        number += 1
        name = f"workspace_{number}"
    return relax.Var(name, release.tensor_type([size], "uint8"))


def _allocation(size: int) -> Any:
    return relax.op.builtin.alloc_tensor(relax.ShapeExpr([size]), "uint8", 0)


@mutator
class Rewriter(PyExprMutator):  # type: ignore[misc]
    """Rewrites the body of one function after a `Plan`.

    Parameters
    ----------
    plan
        What to do.
    workspace
        The function's own workspace parameter, or None for a function that has none.
    """

    def __init__(self, mod: Any, plan: Plan, workspace: Any) -> None:
        super().__init__(mod)
        self.plan = plan
        self.workspace = workspace  # what the code at hand passes on
        self.early: dict[int, Any] = {}  # variables of local functions, ready before their bodies

    def rewritten_body(self, function: Any) -> Any:
        """The new body of a function, with the allocation on top where the plan wants it there."""
        if key(function) not in self.plan.allocating:
            return self._visited(function)
        call = self.builder_.normalize(_allocation(self.plan.size))
        outer, self.workspace = self.workspace, relax.Var("workspace_main", release.type_of(call))
        top = relax.BindingBlock([relax.VarBinding(self.workspace, call)])
        body = self._visited(function)
        self.workspace = outer
        return self.builder_.normalize(relax.SeqExpr([top, *body.blocks], body.body, body.span))

    def _visited(self, function: Any) -> Any:
        if self.plan.like_stock:
            # TVM opens no scope here, and so forgets symbolic shapes behind a branch.
            return self.visit_expr(function.body)
        self.builder_.begin_scope(function.params)
        body = self.visit_expr(function.body)
        self.builder_.end_scope()
        return body

    def visit_global_var_(self, gvar: Any) -> Any:
        return self.plan.renamed.get(key(gvar), gvar)

    def visit_call_(self, call: Any) -> Any:
        callee = value_of(call.op, self.plan.values)
        if callee not in self.plan.renamed and callee not in self.plan.local_receivers:
            return super().visit_call_(call)
        args = [self.visit_expr(arg) for arg in call.args]
        return relax.Call(
            self.visit_expr(call.op),
            [*args, self.workspace],
            call.attrs,
            release.type_args(call),
            call.span,
        )

    def visit_dataflow_block_(self, block: Any) -> Any:
        if not self.plan.in_first_block or self.workspace is not None:
            return super().visit_dataflow_block_(block)
        self.builder_._begin_dataflow_block()
        self.workspace = self.builder_.emit(_allocation(self.plan.size), "workspace_main")
        for binding in block.bindings:
            self.visit_binding(binding)
        return self.builder_._end_block()

    def visit_var_binding_(self, binding: Any) -> None:
        if key(binding.var) in self.plan.local_receivers:
            value = self._receiver(binding)
        else:
            value = self.visit_expr(binding.value)
        var = self.early.get(key(binding.var))
        if var is None:
            var = self.visit_var_def(binding.var)
        if var.same_as(binding.var) and value.same_as(binding.value):
            self.builder_.emit_normalized(binding)
            return
        var = release.retyped(self, var, release.type_of(value))
        release.remap(self, binding.var, var)
        self.builder_.emit_normalized(relax.VarBinding(var, value, binding.span))

    def _receiver(self, binding: Any) -> Any:
        """A local function that receives the workspace; it may call itself by its new type."""
        function = binding.value
        own = workspace_param(function, self.plan.size)
        shape = with_workspace(function, own, function.body)
        var = release.retyped(self, binding.var, release.type_of(shape))
        self.early[key(binding.var)] = var
        release.remap(self, binding.var, var)
        outer = self.workspace
        # TVM lets local composite functions use the workspace of the codegen function around.
        if not self.plan.like_stock or "Codegen" in function.attrs:
            self.workspace = own
        value = with_workspace(function, own, self._visited(function))
        self.workspace = outer
        return value

    def visit_function_(self, function: Any) -> Any:
        if key(function) in self.plan.allocating:
            return with_body(function, self.rewritten_body(function))
        new = super().visit_function_(function)
        if new.same_as(function) or function.span is None:
            return new
        return with_body(new, new.body, function.span)

    def visit_seq_expr_(self, seq: Any) -> Any:
        new = super().visit_seq_expr_(seq)
        if new.same_as(seq) or seq.span is None:
            return new
        return relax.SeqExpr(new.blocks, new.body, seq.span)
