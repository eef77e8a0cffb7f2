"""Whatever is pasted, `new` has a result or says clearly why not."""

from __future__ import annotations

import ast
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.case import parse_case
from harness.case.writing import written
from harness.triage.new.command import NewError, decoded
from harness.triage.new.draft import Draft, drafted
from harness.triage.new.report import read_report

REPORTS = sorted((Path(__file__).parent / "reports").iterdir())
TEXTS = [path.read_text(encoding="utf-8") for path in REPORTS]
NASTY = [
    "```python\nimport tvm\nx = 10 ** 10 ** 10\ny = 'a' * 10**9\nz = [0] * 10**9\n```",
    "import numpy as np\nimport tvm\nx = np.ones((2**31, 2**31))\ny = np.arange(0, 1, 1e-12)\n",
    "import numpy as np\nimport tvm\nx = np.eye(60000) + np.full((1, 9), 2)\nx = x @ x\n",
    "import tvm\ndef f(): return f()\nf()\n",
    "import tvm\nfor i in range(10**9):\n  for j in range(60):\n    tvm.build(i)\n",
    "import tvm\n@tvm.script.ir_module\nclass M:\n  pass\nM = M\nM()(M)\ntvm.relax.build(M, M)\n",
    "import tvm\nfrom tvm import relax\nrelax.transform.FuseOps(*[1], **{})(relax)(1)(2)[3].x\n",
    "import tvm\nmod = mod\nmod = tvm.relax.transform.FuseOps()(mod)\n",
    "import tvm\nl = []\nl.append(l)\ntvm.transform.Sequential(l)(l)\nx = [l, l] * 3\n",
    "import tvm\nd = {}\nd['a'] = d\ntvm.relax.transform.BindParams('main', d)(d)\n",
    "import tvm; " + "(" * 300,
    "x = " + "-" * 5000 + "1\nimport tvm\n",
    "> ```\n> import tvm\n> ```\n" * 3,
    "import tvm\n\x0c\nclass M:\r\tpass\u2028\n",
    "```\n" * 99,
    "# \x1b[31mred\x1b[0m\nimport tvm\n",
]


def made(raw: bytes) -> Draft | None:
    """What comes of some bytes: a sound case, or a refusal in words."""
    try:
        draft = drafted(read_report(decoded(raw, "report.md"), "report.md"), "beside")
    except NewError as error:
        assert str(error).isprintable()
        return None
    text = written(draft.keys, draft.remarks)
    if draft.beside:
        ast.parse(draft.beside)
        text = text.replace("beside.py:", "test_new_fuzz.py:")  # a file that is there
    parse_case(text, Path(__file__))
    return draft


@settings(deadline=None, max_examples=150)
@example(b"\xed\x9f\xbc\t\xed\x9f\xbc")  # no letter of it can be printed
@given(st.binary(max_size=400) | st.text(max_size=400).map(str.encode))
def test_any_bytes(raw: bytes) -> None:
    made(raw)


LINES = sorted({line for text in TEXTS for line in text.splitlines()})


@settings(deadline=None, max_examples=150)
@given(st.lists(st.sampled_from(LINES), max_size=40))
def test_any_lines_of_reports(lines: list[str]) -> None:
    made("\n".join(lines).encode())


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(TEXTS), st.data())
@example(TEXTS[0], None)
def test_reports_with_pieces_cut_out(text: str, data: st.DataObject | None) -> None:
    if data is not None:
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 200)))
        text = (
            text[:start] + data.draw(st.sampled_from(["", "\n", "(", '"""', "```\n"])) + text[end:]
        )
    made(text.encode())


def test_what_would_take_for_ever_or_eat_all_memory() -> None:
    for text in NASTY:
        made(text.encode())
