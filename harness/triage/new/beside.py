"""The Python file beside a case: what makes its module, and the passes that are no passes."""

from __future__ import annotations

import ast
import sys
import textwrap
from dataclasses import dataclass, field

from harness.triage.new.course import Course
from harness.triage.new.slicing import Slice, needed, reads_modules, source_of, written_out
from harness.triage.new.values import Step, Unknown

HEAD = '''"""What the case needs Python for: statements of the report, and no others."""'''
_HERE = frozenset({"tvm", "tvm_ffi", "numpy", "ml_dtypes"}) | sys.stdlib_module_names
_FILES = (
    *(".onnx", ".pt", ".pth", ".npz", ".npy", ".pkl", ".params", ".tflite", ".json", ".bin"),
    *(".safetensors", ".txt", ".so", ".tar"),
)


@dataclass(slots=True)
class Beside:
    """Functions for the file, and what is lacking for them: a line of the report, and what."""

    course: Course
    imports: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    requires: set[str] = field(default_factory=set)
    lacking: list[tuple[int, str]] = field(default_factory=list)

    def builder(self, origin: Unknown) -> str:
        """Add the function that makes the module; returns its name."""
        found = needed(self.course, origin.node, origin.at, origin.scope, stop="")
        return self._add("make", "", found, origin.node, [])

    def step(self, step: Step) -> str:
        """Add a function from module to module; returns its name."""
        what = step.beside
        assert what is not None
        node = what.node if isinstance(what, Unknown) else what
        found = needed(self.course, node, step.at, step.scope, stop=step.name)
        scheduled = any("Schedule" in source_of(self.course, self.course.log[one].node)
                        for one in found.entries)  # fmt: skip
        name = "schedule" if scheduled else f"line_{step.line}"
        last = [] if isinstance(what, Unknown) else [source_of(self.course, what)]
        value = node if isinstance(node, ast.expr) else ast.Name(step.name, ast.Load())
        return self._add(name, step.name, found, value, last)

    def _add(
        self, name: str, parameter: str, found: Slice, value: ast.expr, last: list[str]
    ) -> str:
        while name in self.names:
            name += "_again"
        self.names.append(name)
        body, imports = written_out(self.course, found)
        self.imports += [one for one in imports if one not in self.imports]
        lines = [f"def {name}({parameter}):", *body, *last, f"return {ast.unparse(value)}"]
        inside = [textwrap.indent(one, "    ") for one in lines[1:]]
        self.functions.append("\n".join([lines[0], *inside]))
        self.requires |= reads_modules(self.course, found) - _HERE
        for missing, line in found.lacking.items():
            self.lacking.append((line, f"`{missing}`, which the report does not define"))
        self._files([self.course.log[one].node for one in sorted(found.entries)])
        self._files([value])
        return name

    def _files(self, nodes: list[ast.stmt] | list[ast.expr]) -> None:
        """Tell of files that are read, which no report has in it."""
        for call in (one for node in nodes for one in ast.walk(node)):
            if not isinstance(call, ast.Call):
                continue
            named = call.func.attr if isinstance(call.func, ast.Attribute) else ""
            for given in call.args[:1]:
                if isinstance(given, ast.Constant) and isinstance(given.value, str):
                    text = given.value
                    loads = named.startswith(("load", "read", "from_pretrained"))
                    opens = _opens(call)
                    if (text.endswith(_FILES) and (loads or opens)) or opens:
                        line = self.course.at(call)
                        self.lacking.append((line, f"the file `{text}`, which is not attached"))

    def text(self) -> str:
        """The whole file."""
        return "\n\n\n".join(["\n\n".join([HEAD, "\n".join(self.imports)]), *self.functions]) + "\n"


def _opens(call: ast.Call) -> bool:
    """Whether a call is `open`, to read."""
    given = [one.value for one in call.args[1:2] if isinstance(one, ast.Constant)]
    mode = given[0] if given else "r"
    return isinstance(call.func, ast.Name) and call.func.id == "open" and "r" in str(mode)
