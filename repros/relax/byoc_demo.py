"""A small codegen, registered as `relax.ext.demo`, and a model that is partitioned for it.

`demo.add` asks for a workspace, `demo.multiply` does not, and both end up in one codegen function.
The kernels keep the sum of each element in the workspace, byte by byte, and read it back: one that
is given none, or one that is too small, cannot give the right numbers.
"""

from typing import Any

import tvm
from tvm import relax
from tvm.relax.dpl import is_op, wildcard
from tvm.relax.expr_functor import PyExprVisitor, visitor
from tvm.relax.transform import FuseOpsByPattern, MergeCompositeFunctions

ELEMENTS = 8
WORKSPACE = 4 * ELEMENTS

MODEL = f"""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(({ELEMENTS},), "float32")) -> R.Tensor(({ELEMENTS},), "float32"):
        with R.dataflow():
            twice = R.add(x, x)
            square = R.multiply(twice, x)
            root = R.sqrt(square)
            y = R.add(root, x)
            R.output(y)
        return y
"""

MODEL_OF_ADDS = MODEL.replace("R.multiply", "R.add")

KERNEL = """
@T.prim_func(s_tir=True)
def {symbol}({params}):
    for i in range({elements}):
{body}
"""
STORE = """\
        workspace[i * 4 + {byte}] = T.Cast("uint8", T.bitwise_and(
            T.shift_right(T.reinterpret("uint32", {value}), T.uint32({shift})), T.uint32(255)))
"""
LOAD = 'T.shift_left(T.Cast("uint32", workspace[i * 4 + {byte}]), T.uint32({shift}))'


def make() -> tvm.IRModule:
    """Both kinds of composite functions in one codegen function."""
    return _partitioned(MODEL)


def make_of_adds() -> tvm.IRModule:
    """Composite functions that all ask for a workspace."""
    return _partitioned(MODEL_OF_ADDS)


def _partitioned(text: str) -> tvm.IRModule:
    """A model in codegen functions around local composite functions."""
    tvm.register_global_func("relax.ext.demo", compile_functions, override=True)
    patterns = [
        ("demo.add", is_op("relax.add")(wildcard(), wildcard()), {}, lambda _: True, _needs),
        ("demo.multiply", is_op("relax.multiply")(wildcard(), wildcard())),
    ]
    mod = tvm.script.from_source(text, check_well_formed=False)
    mod = FuseOpsByPattern([relax.transform.FusionPattern(*one) for one in patterns])(mod)
    mod = MergeCompositeFunctions()(mod)
    for gvar, function in mod.functions_items():
        if "Codegen" in function.attrs:
            sizes = [int(size) for size in _Composites.of(function, "WorkspaceSize")]
            if sizes:
                mod[gvar] = function.with_attr("WorkspaceSize", max(sizes))
    return mod


def _needs(_: Any) -> dict[str, Any]:
    return {"WorkspaceSize": WORKSPACE}


@visitor
class _Composites(PyExprVisitor):
    """Collects an attribute of the local composite functions."""

    def __init__(self, attribute: str) -> None:
        super().__init__()
        self.attribute = attribute
        self.found: list[Any] = []

    def visit_function_(self, function: relax.Function) -> None:
        if self.attribute in function.attrs:
            self.found.append(function.attrs[self.attribute])
        super().visit_function_(function)

    @classmethod
    def of(cls, function: relax.Function, attribute: str) -> list[Any]:
        one = cls(attribute)
        one.visit_expr(function.body)
        return one.found


def compile_functions(functions: Any, _options: Any, _constants: Any) -> list[Any]:
    """A module with a kernel for each function, under the name that its callers look for."""
    return [tvm.tirx.build(_kernel(function), target="llvm") for function in functions]


def _kernel(function: relax.Function) -> tvm.IRModule:
    """One loop over the elements; `out[i]` holds what has been computed so far."""
    symbol = str(function.attrs["global_symbol"])
    params, values = [], {}
    for index, param in enumerate(function.params):
        if _is_workspace(param):
            params.append(f'workspace: T.Buffer(({WORKSPACE},), "uint8")')
            values[param] = "workspace"
        else:
            params.append(f'p{index}: T.Buffer(({ELEMENTS},), "float32")')
            values[param] = f"p{index}[i]"
    body, composites = "", {}
    for binding in function.body.blocks[0].bindings:
        if isinstance(binding.value, relax.Function):
            composites[binding.var] = binding.value
            continue
        composite = composites[binding.value.op]
        given = [values[arg] for arg in binding.value.args]
        body += _statements(symbol, composite, dict(zip(composite.params, given, strict=True)))
        values[binding.var] = "out[i]"
    params.append(f'out: T.Buffer(({ELEMENTS},), "float32")')
    text = KERNEL.format(symbol=symbol, params=", ".join(params), elements=ELEMENTS, body=body)
    return tvm.IRModule.from_expr(tvm.script.from_source(text))


def _statements(symbol: str, composite: relax.Function, values: dict[Any, str]) -> str:
    """TIR for one composite function, whose parameters have these values."""
    name = str(composite.attrs["Composite"])
    if ("workspace" in values.values()) != (name == "demo.add"):
        raise ValueError(f"{symbol}: {name} is given {', '.join(values.values())}")
    left, right = (values[arg] for arg in composite.body.blocks[0].bindings[0].value.args)
    if name == "demo.multiply":
        return f"        out[i] = {left} * {right}\n"
    value, steps = f"{left} + {right}", range(4)
    stores = [STORE.format(byte=byte, value=value, shift=8 * byte) for byte in steps]
    loads = " | ".join(LOAD.format(byte=byte, shift=8 * byte) for byte in steps)
    return "".join(stores) + f'        out[i] = T.reinterpret("float32", {loads})\n'


def _is_workspace(param: Any) -> bool:
    return str(getattr(param, "name_hint", None) or param.name).startswith("workspace")
