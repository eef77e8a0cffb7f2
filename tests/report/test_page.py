"""The page in a real Chromium: what it shows, its keys, and what hostile text cannot do there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from made import DRIFTED, GUARDS, REGRESSED, REPRODUCES, SEED, SKIPPED, UPSTREAM, named, results

from benchmarks.chromium import Chromium, program
from harness.case import Case
from harness.report.html.page import page
from harness.report.html.sides import Sides
from harness.report.matrix import matrix
from harness.verdict.word import Verdict

pytestmark = pytest.mark.skipif(
    program() is None and not os.environ.get("REQUIRE_CHROMIUM"),
    reason="no Chromium on PATH; on Debian: apt-get install chromium",
)
KINDS = (REPRODUCES, DRIFTED, UPSTREAM, GUARDS, REGRESSED, SKIPPED)
BEFORE = "\n".join(["class Module:", *(f"    line {n}" for n in range(40)), "    inner(x)"])
AFTER = BEFORE.replace("line 7", "line seven").replace("inner(x)", "outer(inner(x))")
HOSTILE = (
    "</script><script>window.owned=1</script><img src=x onerror=window.owned=1> <!-- "
    "{{ 7*7 }} &lt;b&gt; ' \" ` \x00 \u202egnp\u2028 \ud800"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    with Chromium() as one:
        one.size(1400, 900)
        yield one


def write(path: Path, *args: Any) -> Path:
    path.write_text(page(*args), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """150 cases on three releases, the seed among them with its IR."""
    folder = tmp_path_factory.mktemp("report")
    lines = [named(f"relax/case-{n:03}", KINDS[n % len(KINDS)]) for n in range(149)]
    columns = [
        results(folder / tvm, [named(SEED.id, REPRODUCES), *lines[start:]], tvm)
        for start, tvm in enumerate(("0.25.0", "0.26.0", "0.27.0"))
    ]
    ir = Sides("0.27.0", "the pass, stock", ("before", "after"), BEFORE, AFTER, "no `outer` here")
    about: dict[str, object] = {"title": "The seed of it all", "issue": ("apache/tvm#20479",)}
    seed = SEED.model_copy(update={**about, "notes": "One.\nStill one.\n\nTwo.", "tags": ("byoc",)})
    cases: dict[str, Case] = {SEED.id: seed}
    return write(folder / "report.html", matrix(columns, [], cases), {SEED.id: [ir]})


def texts(browser: Chromium, selector: str) -> list[str]:
    of = f"[...document.querySelectorAll({selector!r})].filter((one) => one.checkVisibility())"
    found: list[str] = browser.value(f"{of}.map((one) => one.innerText)")
    return found


def focused(browser: Chromium) -> str:
    return str(browser.value("document.activeElement.innerText"))


def type_(browser: Chromium, text: str) -> None:
    browser.press(*text)


def all_made(browser: Chromium) -> int:
    browser.wait("document.querySelectorAll('.matrix tbody tr').length >= 150")
    return int(browser.value("document.querySelectorAll('.matrix tbody tr').length"))


def test_the_matrix(browser: Chromium, report: Path) -> None:
    browser.open(report)
    assert texts(browser, ".matrix thead th") == ["case", "0.25.0", "0.26.0", "0.27.0"]
    assert texts(browser, "#count") == ["150 cases"]
    first = texts(browser, ".matrix tbody tr")[0]
    assert "regressed" in first  # what needs a person stands first
    assert all_made(browser) == 150
    seed = next(row for row in texts(browser, ".matrix tbody tr") if "The seed" in row)
    assert seed.count("reproduces") == 3
    assert "stock well_formed: ValueError" in seed and "fixed ok" in seed
    counts = texts(browser, ".counts tbody tr")
    assert "drifted\t25\t25\t24" in counts
    assert browser.value("document.title") == "tvm-repro: 150 cases"


def test_search_and_filters(browser: Chromium, report: Path) -> None:
    browser.open(report)
    browser.press("/")
    type_(browser, "seed valueerror")
    assert texts(browser, "#count") == ["1 of 150 cases"]
    assert len(texts(browser, ".matrix tbody tr")) == 1
    browser.press("Escape")
    assert texts(browser, "#count") == ["150 cases"]
    for select, value, count in (
        ("verdict", "drifted", 25),
        ("verdict", "person", 75),
        ("release", "2", 74),
        ("area", "relax", 74),
        ("kind", "ill_formed", 0),
    ):
        browser.value(
            f"{{ const one = document.querySelector('select[name={select}]');"
            f" one.value = '{value}';"
            " one.dispatchEvent(new Event('input', { bubbles: true })); }"
        )
        assert texts(browser, "#count") == [f"{count} of 150 cases"]
    assert "No case matches" in texts(browser, "#cases")[0]
    # The address says it all: it can be sent to somebody.
    address = browser.value("location.hash")
    browser.open(report, address)
    assert texts(browser, "#count") == ["0 of 150 cases"]


def test_keys(browser: Chromium, report: Path) -> None:
    browser.open(report)
    browser.press("/")
    type_(browser, "case-01")
    browser.press("ArrowDown", "j")
    assert focused(browser) == "relax/case-016"
    browser.press("k", "k", "k")
    assert focused(browser) == "relax/case-010"
    browser.press("j", "Enter")
    browser.wait("!document.getElementById('case').hidden")
    assert focused(browser) == "relax/case-016"  # the heading
    assert browser.value("location.hash") == "#/case/relax/case-016"
    browser.press("j")
    browser.wait("location.hash === '#/case/relax/case-013'")
    browser.press("k")
    browser.wait("location.hash === '#/case/relax/case-016'")
    browser.press("Escape")
    browser.wait("document.getElementById('case').hidden")
    assert focused(browser) == "relax/case-016"  # where we left
    assert texts(browser, "#count") == ["10 of 150 cases"]
    browser.press("Enter", "/")
    browser.wait("document.activeElement.name === 'q'")


def test_a_case(browser: Chromium, report: Path) -> None:
    browser.open(report, f"#/case/{SEED.id}")
    assert not texts(browser, ".matrix")
    assert texts(browser, "#case h2") == ["The seed of it all"]
    link = "document.querySelector('.facts a').href"
    assert browser.value(link) == "https://github.com/apache/tvm/issues/20479"
    assert texts(browser, ".notes p") == ["One. Still one.", "Two."]
    rows = texts(browser, ".ladder tbody tr")
    assert [row.split()[0] for row in rows] == [
        *("load", "input", "pass", "well_formed", "build", "vm", "run", "exit")
    ]
    assert "error ValueError at relax.transform.AllocateWorkspace" in rows[3]
    assert 'GlobalVar I.GlobalVar("inner") is not defined.' in rows[3]
    assert texts(browser, ".ladder thead th") == ["stage", "stock", "fixed"]
    assert "signature" in texts(browser, ".ladder tfoot")[0]
    browser.value("document.querySelector('.ladder details').open = true")
    frames = texts(browser, ".ladder details pre")[0].splitlines()
    assert frames[0] == "tvm::relax::WellFormedChecker::VisitExpr_"
    assert texts(browser, ".commands")[0].splitlines()[0] == (
        "tvm-repro compare repros/relax/some-case.yaml"
    )


def test_releases_of_a_case_by_the_arrow_keys(browser: Chromium, report: Path) -> None:
    browser.open(report, "#/case/relax/case-001")
    assert texts(browser, ".tabs label") == ["0.25.0\ndrifted", "0.26.0\ndrifted"]
    assert "≠ error InternalError" in texts(browser, ".ladder")[0]
    assert "expected ok" in texts(browser, ".ladder")[0]
    browser.press("Tab", "Tab")
    browser.value("document.querySelector('.tabs input:checked').focus()")
    browser.press("ArrowDown")
    assert browser.value("document.querySelector('.tabs input:checked').value") == "1"
    assert browser.value("document.querySelector('.release h3').textContent") == "On TVM 0.26.0"


def test_ir_side_by_side(browser: Chromium, report: Path) -> None:
    browser.open(report, f"#/case/{SEED.id}")
    browser.wait("!!document.querySelector('.diff')")
    guilty = "[...document.querySelectorAll('.diff td.guilty')].map((one) => one.textContent)"
    assert browser.value(guilty) == ["▶ 42", "added:     outer(inner(x))"]
    assert texts(browser, ".diff mark") == ["7", "seven", "inner(x", "outer(inner(x)"]
    assert "no `outer` here" in texts(browser, "figcaption")[0]
    hidden = len(texts(browser, ".diff tbody tr"))
    assert hidden < 42
    while browser.value("!!document.querySelector('.fold button')"):
        browser.value("document.querySelector('.fold button').click()")
    assert len(texts(browser, ".diff tbody tr")) == 42


@pytest.mark.parametrize("hash", ["#/case/no/such", "#/case/%", "#/case/<img src=x>"])
def test_a_case_that_is_not_there(hash: str, browser: Chromium, report: Path) -> None:
    browser.open(report, hash)
    assert texts(browser, "#case h2") == ["No such case in these results"]
    browser.press("Escape")
    browser.wait("document.getElementById('case').hidden")
    assert texts(browser, "#count") == ["150 cases"]


def test_hostile_text_is_shown_and_does_nothing(browser: Chromium, tmp_path: Path) -> None:
    line = REGRESSED | {"reason": HOSTILE, "contrasts": {HOSTILE: {**DRIFTED, "reason": HOSTILE}}}
    stock = {**line["arms"]["stock"], "signature": HOSTILE, "globals": [HOSTILE], "stderr": HOSTILE}
    keys = ("stage", "at", "outcome", "error", "message", "signal")
    stages = [dict.fromkeys(keys, HOSTILE) | {"frames": [HOSTILE]}, *stock["stages"]]
    stages[3] = {**stages[3], "outcome": "error", "message": HOSTILE * 10_000, "at": HOSTILE}
    arms = {HOSTILE: {**stock, "stages": stages}, "stock": {**stock, "stages": stages}}
    hostile = named(HOSTILE, {**line, "arms": arms})
    case = SEED.model_copy(
        update={
            **dict.fromkeys(("title", "notes", "fix", "tvm"), HOSTILE),
            "issue": (HOSTILE, "javascript:window.owned=1", "https://x/<b>"),
            "tags": (HOSTILE,),
            "path": Path(HOSTILE.replace("\0", "")),
        }
    )
    head = dict.fromkeys(("llvm", "python", "platform", "started"), HOSTILE)
    now = results(tmp_path / "now", [hostile, named("gone", REGRESSED)], HOSTILE, **head)
    old = results(tmp_path / "old", [named(HOSTILE, GUARDS), named("gone" + HOSTILE, GUARDS)])
    sides = Sides(HOSTILE, HOSTILE, (HOSTILE, HOSTILE), HOSTILE, HOSTILE + "\n" + HOSTILE, HOSTILE)
    file = write(tmp_path / "x.html", matrix([now], [old], {HOSTILE: case}), {HOSTILE: [sides]})
    browser.open(file)
    browser.press("j")
    for view in ("overview", "case"):
        assert browser.value("window.owned ?? 0") == 0
        assert browser.value("document.querySelectorAll('img, script[src], iframe').length") == 0
        assert browser.value("document.scripts.length") == 3
        shown = texts(browser, "body")[0]
        assert "<img src=x onerror=window.owned=1>" in shown
        assert "{{ 7*7 }} &lt;b&gt;" in shown
        for letter in "\0\u202e\u2028\ud800":
            assert letter not in shown
        links = "[...document.querySelectorAll('a')].map((one) => one.protocol)"
        assert set(browser.value(links)) <= {"file:", "https:"}
        if view == "overview":
            browser.press("Enter")
            browser.wait("!document.getElementById('case').hidden")
    assert file.stat().st_size < 1_000_000


def test_no_script_but_its_own_and_no_network(browser: Chromium, report: Path) -> None:
    browser.open(report)
    assert all(url.startswith(("file:", "data:")) for url in requests(browser))
    browser.value(
        "{ const one = document.createElement('script'); one.textContent = 'window.owned = 1';"
        "document.body.append(one); document.body.insertAdjacentHTML('beforeend',"
        "'<img src=http://127.0.0.1:9/x onerror=window.owned=1>'); }"
    )
    assert browser.value("window.owned ?? 0") == 0
    told = [event["params"] for event in browser.events]
    assert [one["blockedReason"] for one in told if "blockedReason" in one] == ["csp"]


def requests(browser: Chromium) -> list[str]:
    sent = [one for one in browser.events if one.get("method") == "Network.requestWillBeSent"]
    return [one["params"]["request"]["url"] for one in sent]


@pytest.mark.parametrize(("scheme", "width"), list(product(("light", "dark"), (1400, 390))))
def test_it_reads_well(scheme: str, width: int, browser: Chromium, report: Path) -> None:
    """Verdicts stand out from what is behind them, and nothing is wider than the window."""
    try:
        browser.medium(scheme=scheme)
        browser.size(width, 844, phone=width < 500)
        for hash in ("", f"#/case/{SEED.id}"):
            browser.open(report, hash)
            assert browser.value("document.documentElement.scrollWidth") <= width
            words = " ".join(f"v-{word.value}" for word in Verdict)
            low = browser.value(CONTRAST.replace("CLASSES", words))
            assert low == []
    finally:
        browser.size(1400, 900)
        browser.medium()


# Contrast as WCAG 2 has it, of each class against what is painted behind it.
CONTRAST = """(() => {
  const part = (value) => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map((one) => part(one / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const page = getComputedStyle(document.body).backgroundColor;
  return "CLASSES quiet arm kind path ms".split(" ").filter((name) => {
    const one = document.createElement("span");
    one.className = name.startsWith("v-") ? "verdict " + name : name;
    document.body.append(one);
    const style = getComputedStyle(one);
    const clear = style.backgroundColor === "rgba(0, 0, 0, 0)";
    const [low, high] = [light(style.color), light(clear ? page : style.backgroundColor)].sort();
    one.remove();
    return (high + 0.05) / (low + 0.05) < 4.5;
  });
})()"""


def test_on_paper_all_of_it(browser: Chromium, report: Path) -> None:
    browser.open(report, "#/")
    assert browser.pages_on_paper().startswith(b"%PDF")
    assert browser.value("document.querySelectorAll('.matrix tbody tr').length") == 150
    browser.medium("print")
    assert not texts(browser, ".filters") and texts(browser, ".matrix thead th")
    browser.medium()


def test_without_scripts_a_plain_table(browser: Chromium, report: Path) -> None:
    browser.scripts(False)
    try:
        browser.load(report)
        rows = texts(browser, "noscript .matrix tbody tr")
        assert len(rows) == 150
        assert any("The seed of it all" in row and "reproduces" in row for row in rows)
        assert not texts(browser, ".filters")
    finally:
        browser.scripts(True)


def test_a_thousand_cases_on_four_releases(browser: Chromium, tmp_path: Path) -> None:
    """Processor time: what else the machine is doing must not matter here."""
    lines = [named(f"relax/case-{n:04}", KINDS[n % len(KINDS)]) for n in range(1000)]
    columns = [results(tmp_path / tvm, lines, tvm) for tvm in ("0.24", "0.25", "0.26", "0.27")]
    file = write(tmp_path / "many.html", matrix(columns, [], {}), {})
    browser.open(file)
    assert browser.busy() < 1.0
    assert texts(browser, "#count") == ["1000 cases"]
    browser.press("/")
    type_(browser, "case-0999")
    assert len(texts(browser, ".matrix tbody tr")) == 1
