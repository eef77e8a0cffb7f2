#!/usr/bin/env python3
"""R.maximum returns the wrong result for a NaN on the left, see apache/tvm#19579"""
import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


def get_module():
    @I.ir_module
    class Mod:
        @R.function
        def main(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):
            with R.dataflow():
                z = R.maximum(x, y)
                R.output(z)
            return z

    return Mod


def run(mod, *args, target="llvm"):
    ex = tvm.compile(mod, target=tvm.target.Target(target))
    vm = relax.VirtualMachine(ex, tvm.cpu())
    return vm["main"](*[tvm.runtime.tensor(a) for a in args]).numpy()


def main():
    a = np.array([np.nan, 1.0], dtype="float32")
    b = np.array([0.0, 2.0], dtype="float32")
    out = run(get_module(), a, b)
    print("tvm says", out)
    np.testing.assert_allclose(out, np.maximum(a, b), rtol=1e-6)


if __name__ == "__main__":
    sys.exit(main())
