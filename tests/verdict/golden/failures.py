"""Small modules that fail on real TVM, one a bug, written to parse on every release in range.

Each entry is (bug, module text, steps, limits). A step is a dotted pass name, ``check``, ``build``,
``tvm.compile``, ``vm`` or ``call``; the first that fails is what is collected.
"""

from __future__ import annotations

from dataclasses import dataclass

BYOC = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        {open}
        {indent}y = cls.outer(x)
        {close}
        return y

    @R.function
    def outer(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        R.func_attr({{"Codegen": "toy", "global_symbol": "outer"{attr}}})
        cls = Module
        {body}
        return y
{inner}
"""
INNER = """
    @R.function(private=True)
    def inner(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        R.func_attr({"Composite": "toy.add", "WorkspaceSize": 64})
        cls = Module
        y = R.call_tir(cls.inner_tir, (x,), R.Tensor((4,), "float32"))
        return y

    @T.prim_func(private=True, s_tir=True)
    def inner_tir(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock("add_one"):
                vi = T.axis.spatial(4, i)
                b[vi] = a[vi] + T.float32(1)
"""


def byoc(*, dataflow: bool, attr: str, body: str, inner: str) -> str:
    return BYOC.format(
        open="with R.dataflow():" if dataflow else "pass",
        indent="    " if dataflow else "",
        close="    R.output(y)" if dataflow else "pass",
        attr=attr,
        body=body,
        inner=inner,
    )


WORKSPACE = "relax.transform.AllocateWorkspace"
FUSION = (
    "relax.transform.LegalizeOps",
    "relax.transform.AnnotateTIROpPattern",
)
LEAF_WORKSPACE = ', "WorkspaceSize": {size}'

UNDEFINED_SIZE = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        n = T.int64()
        y = R.zeros((n,), "float32")
        return x
"""


@dataclass(frozen=True)
class Failure:
    """One bug: a module and the steps that make it show."""

    bug: str
    module: str
    steps: tuple[str, ...]
    memory_mb: int = 0
    variant: str = ""  # the same bug in other names and sizes
    since: str = ""  # the first release whose parser takes the module

    @property
    def name(self) -> str:
        return f"{self.bug} ({self.variant})" if self.variant else self.bug


FAILURES = (
    Failure(
        "dangling callee, seen by the check",
        byoc(dataflow=True, attr="", body="y = cls.inner(x)", inner=INNER),
        (WORKSPACE, "check"),
    ),
    Failure(
        "dangling callee, seen by the VM",
        byoc(dataflow=True, attr="", body="y = cls.inner(x)", inner=INNER),
        (WORKSPACE, "build", "vm"),
    ),
    Failure(
        "dangling callee, seen by the check",
        byoc(
            dataflow=True, attr="", body="y = cls.layer7(x)", inner=INNER.replace("inner", "layer7")
        ),
        (WORKSPACE, "check"),
        variant="other names",
    ),
    Failure(
        "dangling callee, seen by the VM",
        byoc(
            dataflow=True, attr="", body="y = cls.layer7(x)", inner=INNER.replace("inner", "layer7")
        ),
        (WORKSPACE, "build", "vm"),
        variant="other names",
    ),
    Failure(
        "size that is never computed",
        UNDEFINED_SIZE.replace("n = T", "rows = T").replace("(n,)", "(rows, 3)"),
        ("build",),
        variant="other names",
    ),
    Failure(
        "strided_slice of nothing",
        """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((16, 32), "float32")):
        y = R.strided_slice(x, [1], [11], [3], [1])
        return y
""",
        ("relax.transform.LegalizeOps",),
        variant="other sizes",
    ),
    Failure(
        "workspace function called outside dataflow",
        byoc(
            dataflow=False,
            attr=LEAF_WORKSPACE.format(size=64),
            body="y = R.add(x, x)",
            inner="",
        ),
        (WORKSPACE,),
    ),
    Failure(
        "workspace of 2 GiB",
        byoc(
            dataflow=True,
            attr=LEAF_WORKSPACE.format(size=2**31),
            body="y = R.add(x, x)",
            inner="",
        ),
        (WORKSPACE,),
    ),
    Failure(
        "nested tuple in FuseTIR",
        """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        with R.dataflow():
            t = (x, y)
            s = (t, x)
            u = s[0]
            v = u[0]
            R.output(v)
        return v
""",
        (*FUSION, "relax.transform.FuseOps", "relax.transform.FuseTIR"),
    ),
    Failure(
        "parallel matmul, 1-D left",
        """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), a: R.Tensor((4, 3), "float32"),
             b: R.Tensor((4, 5), "float32")):
        with R.dataflow():
            y = R.matmul(x, a)
            z = R.matmul(x, b)
            R.output(y, z)
        return (y, z)
""",
        ("relax.transform.CombineParallelMatmul",),
    ),
    Failure(
        "parallel matmul, 1-D right",
        """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4), "float32"), a: R.Tensor((4,), "float32"),
             b: R.Tensor((4,), "float32")):
        with R.dataflow():
            y = R.matmul(x, a)
            z = R.matmul(x, b)
            R.output(y, z)
        return (y, z)
""",
        ("relax.transform.CombineParallelMatmul",),
    ),
    Failure(
        "mixed precision meets a local function",
        """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        with R.dataflow():
            @R.function
            def local(a: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
                b = R.add(a, a)
                return b
            y = local(x)
            R.output(y)
        return y
""",
        ("relax.transform.ToMixedPrecision",),
    ),
    Failure(
        "strided_slice of nothing",
        """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8,), "float32")):
        y = R.strided_slice(x, [0], [6], [2], [1])
        return y
""",
        ("relax.transform.LegalizeOps",),
    ),
    Failure(
        "impure call in a pure function",
        """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        with R.dataflow():
            y = R.add(x, x)
            z = R.multiply(y, y)
            R.output(z)
        return z
""",
        (
            "relax.transform.LegalizeOps",
            "relax.transform.CallTIRRewrite",
            "relax.transform.KillAfterLastUse",
            "check",
        ),
    ),
    Failure(
        "variable used before its definition",
        UNDEFINED_SIZE,
        ("check",),
    ),
    Failure("size that is never computed", UNDEFINED_SIZE, ("build",)),
    Failure(
        "invalid LLVM for one pool shape",
        """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 4, 6, 3), "float32")):
        y = R.nn.avg_pool2d(x, pool_size=[2, 2], strides=[1, 1], padding=[0, 0, 0, 0])
        return y
""",
        ("build",),
    ),
    Failure(
        "shape that is no tuple",
        """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1), "float32")):
        return x
""",
        (),
    ),
    Failure(
        "parser stores None",
        """
@T.prim_func(s_tir=True)
def main(a: T.Buffer((4,), "float32")):
    a[0] = None
""",
        (),
    ),
    Failure(
        "kernel divides by zero while folding",
        """
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def div(a: T.Buffer((4,), "int64"), b: T.Buffer((4,), "int64")):
        for i in range(4):
            with T.sblock("div"):
                vi = T.axis.spatial(4, i)
                b[vi] = T.floordiv(T.int64(7), a[vi])

    @R.function
    def main() -> R.Tensor((4,), "int64"):
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.div, (R.const([0, 0, 0, 0], "int64"),), R.Tensor((4,), "int64"))
            R.output(y)
        return y
""",
        ("relax.transform.FoldConstant",),
    ),
    Failure(
        "bundled parameters lose their shape",
        """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), n: R.Prim("int64"), w: R.Tensor(("n",), "float32")):
        R.func_attr({"num_input": 1})
        y = R.add(w, w)
        return y
""",
        ("relax.transform.BundleModelParams", "build"),
        since="0.26.0",
    ),
    Failure(
        "storage of the other branch",
        """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
        if c:
            a = R.add(x, x)
            b = R.multiply(a, a)
            r = R.exp(b)
        else:
            d = R.multiply(x, x)
            e = R.add(d, d)
            r = R.exp(e)
        return r
""",
        ("build", "vm", "call"),
    ),
    Failure(
        "scalable vectors on x86",
        """
@T.prim_func(s_tir=True)
def main(a: T.Buffer((64,), "float32")):
    a[T.Ramp(0, 1, T.vscale() * 4)] = a[T.Ramp(0, 1, T.vscale() * 4)] + T.float32(1)
""",
        ("kernel",),
    ),
    Failure(
        "parallel reduction",
        """
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def gemv(a: T.Buffer((16, 16), "float32"), x: T.Buffer((16,), "float32"),
             y: T.Buffer((16,), "float32")):
        for i, k in T.grid(16, 16):
            with T.sblock("gemv"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    y[vi] = T.float32(0)
                y[vi] = y[vi] + a[vi, vk] * x[vk]
""",
        ("schedule",),
    ),
    Failure(
        "unrolled without end",
        """
@T.prim_func(s_tir=True)
def main(a: T.Buffer((1,), "float32")):
    for i in T.unroll(300000000):
        a[0] = a[0] + T.float32(1)
""",
        ("tirx.transform.UnrollLoop",),
        memory_mb=1500,
    ),
)
