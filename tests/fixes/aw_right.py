"""Modules that TVM's own AllocateWorkspace gets right."""

from __future__ import annotations

from aw_text import asking, calling, external, function, local, main, module
from aw_wrong import LOCAL_IN_DATAFLOW

RIGHT_IN_STOCK = {
    "one call": module(asking("inner"), calling("inner")),
    "several sizes": module(
        asking("inner", 16),
        asking("other", 256, 5),
        main("""
        with R.dataflow():
            y = Module.inner(x, c)
            z = Module.other(y, c)
            R.output(z)
        return z
        """),
    ),
    "nothing in the second dataflow block": module(
        asking("inner"),
        main("""
        with R.dataflow():
            y = Module.inner(x, c)
            R.output(y)
        y1 = R.add(y, y)
        with R.dataflow():
            z = R.add(y1, y1)
            R.output(z)
        return z
        """),
    ),
    "local function with a dataflow block in one": module(
        asking("inner", 16), main(LOCAL_IN_DATAFLOW)
    ),
    "the first size is the largest": module(
        asking("inner", 256), asking("other", 16), calling("inner")
    ),
    "allocates though nobody asks here": module(
        asking("inner"),
        calling("inner"),
        function(
            "idle", "with R.dataflow():\n    y = R.add(x, x)\n    R.output(y)\nreturn y", '"a": 1'
        ),
    ),
    "private": module(asking("inner", deco="(private=True)"), calling("inner")),
    "ordinary between codegen": module(
        asking("inner"),
        calling("inner").replace("main", "between"),
        external("outer", "y = Module.between(x, c)\nreturn y"),
        calling("outer"),
    ),
    "no bytes at all": module(asking("inner", 0), calling("inner")),
    "an ordinary function asks": module(
        asking("inner", 16),
        calling("inner").replace("with", 'R.func_attr({"WorkspaceSize": 99})\n    with'),
    ),
    "name is taken": module(
        asking("inner"), function("inner1", "y = R.add(x, x)\nreturn y"), calling("inner")
    ),
    "composite in composite": module(
        function(
            "outer",
            local(
                "one",
                local(
                    "two",
                    "b = R.add(x_two, x_two)\nreturn b",
                    '"Composite": "t", "WorkspaceSize": 8',
                )
                + "a = two(x_one, c)\nreturn a",
                '"Composite": "o", "WorkspaceSize": 8',
            )
            + "y = one(x, c)\nreturn y",
            '"Codegen": "k", "WorkspaceSize": 8',
        ),
        calling("outer"),
    ),
    "branches and symbolic shapes": module(
        asking("inner"),
        main("""
        if c:
            y = R.add(x, x)
        else:
            with R.dataflow():
                z = Module.inner(x, c)
                R.output(z)
            y = R.add(z, z)
        return y
        """),
    ).replace("(4,)", '("n",)'),
}
