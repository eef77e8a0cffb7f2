"""Modules that TVM's own AllocateWorkspace gets wrong."""

from __future__ import annotations

import textwrap

from aw_text import ADD, asking, calling, external, function, local, main, module

WRONG_IN_STOCK = {
    "codegen calls codegen": module(
        asking("inner"), external("outer", "y = Module.inner(x, c)\nreturn y"), calling("outer")
    ),
    "outside dataflow": module(asking("inner"), main("y = Module.inner(x, c)\nreturn y")),
    "before the first dataflow block": module(
        asking("inner"),
        main("""
        y = Module.inner(x, c)
        with R.dataflow():
            z = Module.inner(y, c)
            R.output(z)
        return z
        """),
    ),
    "two dataflow blocks": module(
        asking("inner"),
        main("""
        with R.dataflow():
            y = Module.inner(x, c)
            R.output(y)
        y1 = R.add(y, y)
        with R.dataflow():
            z = Module.inner(y1, c)
            R.output(z)
        return z
        """),
    ),
    "dataflow block and after it": module(
        asking("inner"),
        main("""
        with R.dataflow():
            y = Module.inner(x, c)
            R.output(y)
        z = Module.inner(y, c)
        return z
        """),
    ),
    "both branches": module(
        asking("inner"),
        main("""
        if c:
            with R.dataflow():
                a = Module.inner(x, c)
                R.output(a)
            y = R.add(a, x)
        else:
            with R.dataflow():
                b = Module.inner(x, c)
                R.output(b)
            y = R.add(b, b)
        return y
        """),
    ),
    "nested if": module(
        asking("inner"),
        main("""
        if c:
            if c:
                a = Module.inner(x, c)
                b = R.add(a, x)
            else:
                b = Module.inner(x, c)
            y = Module.inner(b, c)
        else:
            y = R.add(x, x)
        return y
        """),
    ),
    "calls itself": module(
        function(
            "inner",
            """
            if c:
                a = Module.inner(x, R.const(False, "bool"))
                y = R.add(a, x)
            else:
                y = R.add(x, x)
            return y
            """,
            '"Codegen": "k", "WorkspaceSize": 64',
        ),
        calling("inner"),
    ),
    "call each other": module(
        *(
            function(
                one,
                f"""
                if c:
                    a = Module.{other}(x, R.const(False, "bool"))
                    y = R.add(a, x)
                else:
                    y = R.add(x, x)
                return y
                """,
                attrs,
            )
            for one, other, attrs in (
                ("inner", "outer", '"Codegen": "k", "WorkspaceSize": 64'),
                ("outer", "inner", '"Codegen": "k"'),
            )
        ),
        calling("outer"),
    ),
    "through a variable": module(
        asking("inner"),
        main("""
        with R.dataflow():
            f = Module.inner
            g = f
            y = g(x, c)
            R.output(y)
        return y
        """),
    ),
    "through a tuple": module(
        asking("inner"),
        asking("other", 128, 5),
        main("""
        with R.dataflow():
            t = (Module.inner, x, Module.other)
            f = t[2]
            y = f(x, c)
            R.output(y)
        return y
        """),
    ),
    "through a chain": module(
        asking("inner"),
        main("""
        f = Module.inner
        t = (x, (f, x))
        u = t
        p = u[1]
        g = p[0]
        with R.dataflow():
            y = g(x, c)
            R.output(y)
        return y
        """),
    ),
    "through a variable of the function around": module(
        asking("inner"),
        main(
            "f = Module.inner\n"
            + local("near", "z = f(x_near, c)\nreturn z", "")
            + "y = near(x, c)\nreturn y"
        ),
    ),
    "mixed local composites": module(
        function(
            "outer",
            local("one", "y1 = R.add(x_one, x_one)\nreturn y1", '"Composite": "k.one"')
            + local(
                "two",
                f"y2 = {ADD.format('x_two', 3)}\nreturn y2",
                '"Composite": "k.two", "WorkspaceSize": 32',
            )
            + "a = one(x, c)\nb = two(a, c)\nreturn b",
            '"Codegen": "k", "WorkspaceSize": 32',
        ),
        calling("outer"),
    ),
    "chain of composites": module(
        asking("deep", kind="Composite"),
        external("middle", "y = Module.deep(x, c)\nreturn y", "Composite"),
        external("outer", "y = Module.middle(x, c)\nz = R.add(y, y)\nreturn z"),
        calling("outer"),
    ),
    "shared callee": module(
        asking("inner", kind="Composite"),
        external("left", "y = Module.inner(x, c)\nreturn y"),
        external("right", "y = Module.inner(x, c)\nz = R.add(y, x)\nreturn z"),
        main("""
        with R.dataflow():
            y = Module.left(x, c)
            z = Module.right(y, c)
            R.output(z)
        return z
        """),
    ),
    "no caller": module(
        asking("inner"),
        external("outer", "y = Module.inner(x, c)\nreturn y"),
        main("y = R.add(x, x)\nreturn y"),
    ),
    "private": module(
        asking("inner", deco="(private=True)"), main("y = Module.inner(x, c)\nreturn y")
    ),
    "new names are taken": module(
        asking("inner"),
        function("inner1", "y = R.add(x, x)\nreturn y"),
        external("outer", "y = Module.inner(x, c)\nreturn y"),
        function("outer1", "y = Module.outer(x, c)\nz = Module.inner1(y, c)\nreturn z"),
        calling("outer1"),
    ),
    "two that compete for a name": module(
        asking("inner"), asking("inner1", add=7), main("y = Module.inner(x, c)\nreturn y")
    ),
    "local function": module(
        asking("inner"),
        main(
            local("near", "z = Module.inner(x_near, c)\nreturn z", "")
            + "y = near(x, c)\nz1 = near(y, c)\nreturn z1"
        ),
    ),
    "local function of a codegen function": module(
        asking("inner"),
        external(
            "outer",
            local("near", "z = Module.inner(x_near, c)\nreturn z", "") + "y = near(x, c)\nreturn y",
        ),
        calling("outer"),
    ),
    "local composite through a tuple": module(
        function(
            "outer",
            local(
                "one",
                f"y1 = {ADD.format('x_one', 3)}\nreturn y1",
                '"Composite": "k.one", "WorkspaceSize": 8',
            )
            + "t = (x, one)\nf = t[1]\ny = f(x, c)\nreturn y",
            '"Codegen": "k", "WorkspaceSize": 8',
        ),
        calling("outer"),
    ),
    "local composite that calls itself": module(
        function(
            "outer",
            """
            @R.function
            def one(z: R.Tensor((4,), "float32"), d: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
                R.func_attr({"Composite": "k.one", "WorkspaceSize": 8})
                if d:
                    a = one(z, R.const(False, "bool"))
                    b = R.add(a, z)
                else:
                    b = R.add(z, z)
                return b
            y = one(x, c)
            return y
            """,  # noqa: E501
            '"Codegen": "k", "WorkspaceSize": 8',
        ),
        calling("outer"),
    ),
    "ordinary between codegen": module(
        asking("inner"),
        function("between", "y = Module.inner(x, c)\nreturn y"),
        external("outer", "y = Module.between(x, c)\nreturn y"),
        calling("outer"),
    ),
    "no bytes beside some": module(
        asking("none", 0, 2),
        asking("inner"),
        main("y = Module.none(x, c)\nz = Module.inner(y, c)\nreturn z"),
    ),
    "a local function and the function around it": module(
        asking("inner"),
        main(
            "a = Module.inner(x, c)\n"
            + local("near", "z = Module.inner(x_near, c)\nreturn z", "")
            + "b = near(a, c)\ny = Module.inner(b, c)\nreturn y"
        ),
    ),
    "only in the else branch": module(
        asking("inner"),
        main("""
        if c:
            y = R.add(x, x)
        else:
            f = Module.inner
            y = f(x, c)
        return y
        """),
    ),
    "local function bound in a dataflow block": module(
        asking("inner"),
        main(
            "with R.dataflow():\n"
            + textwrap.indent(local("near", "z = Module.inner(x_near, c)\nreturn z", ""), "    ")
            + "    y = near(x, c)\n    R.output(y)\nreturn y"
        ),
    ),
    "through a variable in a local dataflow block": module(
        asking("inner"),
        main(
            "with R.dataflow():\n"
            + textwrap.indent(
                local(
                    "near",
                    "with R.dataflow():\n    f = Module.inner\n    z = f(x_near, c)\n"
                    "    R.output(z)\nreturn z",
                    "",
                ),
                "    ",
            )
            + "    y = near(x, c)\n    R.output(y)\nreturn y"
        ),
    ),
    "local codegen function before a local composite": module(
        function(
            "outer",
            local(
                "one", "y1 = R.add(x_one, x_one)\nreturn y1", '"Codegen": "o", "WorkspaceSize": 8'
            )
            + local(
                "two",
                local(
                    "three",
                    "y3 = R.add(x_three, x_three)\nreturn y3",
                    '"Composite": "t", "WorkspaceSize": 8',
                )
                + "y2 = three(x_two, c)\nreturn y2",
                '"Composite": "t", "WorkspaceSize": 8',
            )
            + "y = two(x, c)\nreturn y",
            '"Codegen": "k", "WorkspaceSize": 8',
        ),
        calling("outer"),
    ),
    "an argument whose annotation says less": module(
        asking("inner"),
        main("""
        with R.dataflow():
            y: R.Tensor(ndim=1, dtype="float32") = Module.inner(x, c)
            z = Module.inner(y, c)
            R.output(z)
        return z
        """),
    ),
    "symbolic shapes": module(
        asking("inner"),
        external("outer", "y = Module.inner(x, c)\nreturn y"),
        main("""
        if c:
            y = Module.outer(x, c)
        else:
            y = Module.inner(x, c)
        z = Module.outer(y, c)
        return z
        """),
    ).replace("(4,)", '("n",)'),
}

LOCAL_IN_DATAFLOW = (
    "with R.dataflow():\n"
    + textwrap.indent(
        local(
            "near",
            "with R.dataflow():\n    z = Module.inner(x_near, c)\n    R.output(z)\nreturn z",
            "",
        ),
        "    ",
    )
    + "    y = near(x, c)\n    R.output(y)\nreturn y"
)
HUGE = module(asking("inner", 2**33), main(LOCAL_IN_DATAFLOW))

# LambdaLift itself leaves this one ill-formed, with a workspace or without: not to be run.
LOCAL_CHAIN = module(
    asking("inner"),
    external(
        "outer",
        local("one", "z1 = Module.inner(x_one, c)\nreturn z1", "")
        + local("two", "z2 = one(x_two, c)\nreturn z2", "")
        + local("three", "z3 = two(x_three, c)\nreturn z3", "")
        + "y = three(x, c)\nreturn y",
    ),
    calling("outer"),
)
