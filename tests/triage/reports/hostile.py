# LegalizeOps crashes
import os

os.system("touch $CANARY")
open(os.environ["CANARY"], "w").write("opened")
exec("__import__('os').system('touch $CANARY')")
import tvm
from tvm.script import ir as I, relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        return x


mod = tvm.relax.transform.LegalizeOps()([Module, os.system("touch $CANARY")][0])
