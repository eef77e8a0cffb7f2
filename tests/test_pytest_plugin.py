"""``pytest repros/`` as its users know pytest: each test runs pytest on a small project."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SEED = ROOT / "repros/relax/allocate-workspace-dangling-globalvar.yaml"
GOOD = "title: A good case\nmodule: |\n  @I.ir_module\n  class Module:\n      pass\nexpect: ok\n"
WITH_CONTRASTS = f"""\
tags: [slow, with-dash]
{GOOD}build: false
contrasts:
  - title: "with a build :: and more"
    build: {{}}
    expect: ok
  - title: elsewhere
    tvm: "<0.1"
    expect: ok
"""
FIXED = GOOD.replace("expect: ok", "expect: {build: {error: ValueError}}")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with the plugin, and case-like files where none are looked for."""
    (tmp_path / "conftest.py").write_text(
        "import sys\n"
        'pytest_plugins = ["harness.pytest_plugin"]\n'
        "def pytest_sessionfinish(session):\n"
        "    print('tvm imported:', 'tvm' in sys.modules)\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n")
    (tmp_path / "repros" / "area").mkdir(parents=True)
    (tmp_path / "other" / "repros").mkdir(parents=True)
    for stray in ("case.yaml", "other/case.yaml", "other/repros/case.yaml", "repros/README.md"):
        (tmp_path / stray).write_text("not: a case\n")
    (tmp_path / "test_own.py").write_text("def test_own():\n    pass\n")
    return tmp_path


def put(project: Path, name: str, text: str) -> None:
    (project / "repros" / f"{name}.yaml").write_text(text, encoding="utf-8")


def command(*args: str) -> list[str]:
    return [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *args]


def environment(**extra: str) -> dict[str, str]:
    drop = ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "NO_COLOR", "FORCE_COLOR", "CI")
    keep = {key: value for key, value in os.environ.items() if key not in drop}
    return {**keep, "PYTHONPATH": str(ROOT), **extra}


def run(
    project: Path, *args: str, cache: bool = False, **extra: str
) -> subprocess.CompletedProcess[str]:
    words = command(*args)
    if cache:
        words = [word for word in words if word not in ("-p", "no:cacheprovider")]
    done = subprocess.run(
        words,
        cwd=project,
        env=environment(**extra),
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        timeout=180,
    )
    assert "Traceback" not in done.stdout + done.stderr
    assert "INTERNALERROR" not in done.stdout + done.stderr
    return done


def closing(done: subprocess.CompletedProcess[str]) -> str:
    """The line that counts verdicts."""
    found = re.search(r"^-+ cases -+\n(.*)$", done.stdout, re.M)
    return found[1] if found else ""


def collected(done: subprocess.CompletedProcess[str]) -> list[str]:
    return re.findall(r"^\S*repros/.*::.*$", done.stdout, re.M)


def test_collection(project: Path) -> None:
    put(project, "area/contrasts", WITH_CONTRASTS)
    put(project, "area/plain", GOOD)
    shutil.copy(SEED, project / "repros" / "seed.yaml")
    done = run(project, "--collect-only", "-q")
    names = [
        "repros/seed.yaml::stock",
        "repros/seed.yaml::fixed",
        "repros/seed.yaml::without the pass every stage is right - stock",
        "repros/seed.yaml::without the pass every stage is right - fixed",
        "repros/area/contrasts.yaml::stock",
        "repros/area/contrasts.yaml::with a build : and more - stock",
        "repros/area/contrasts.yaml::elsewhere - stock",
        "repros/area/plain.yaml::stock",
    ]
    assert sorted(collected(done)) == sorted(names)
    assert "test_own.py::test_own" in done.stdout
    assert "tvm imported: False" in done.stdout
    for words, count in (
        (["-m", "byoc and not slow"], 4),
        (["-k", "plain or fixed"], 3),
        (["-k", "seed and not every"], 2),
        (["repros/area", "repros/seed.yaml::fixed"], 5),
    ):
        done = run(project, "--collect-only", "-q", *words)
        assert len(collected(done)) == count, (words, done.stdout)


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_green(project: Path, workers: list[str]) -> None:
    put(project, "area/contrasts", WITH_CONTRASTS)
    put(project, "area/plain", GOOD)
    put(project, "area/elsewhere", f'tvm: "<0.1"\n{GOOD}')
    shutil.copy(SEED, project / "repros" / "seed.yaml")
    done = run(project, "repros", "-ra", "--junitxml", "junit.xml", *workers)
    assert done.returncode == 0, done.stdout + done.stderr
    assert closing(done) == "1 reproduces, 2 guards, 1 skipped"
    assert "7 passed, 2 skipped" in done.stdout
    assert "tvm: <0.1 rules out" in done.stdout
    assert "tvm imported: True" not in done.stdout
    suite = ElementTree.parse(project / "junit.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("9", "0", "2")


def test_on_two_hosts(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """As the README says it; the other host is a socket server in a folder of its own."""
    put(project, "area/contrasts", WITH_CONTRASTS)
    shutil.copy(SEED, project / "repros" / "seed.yaml")
    there = tmp_path_factory.mktemp("there")
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    words = [sys.executable, "-u", "-m", "execnet.script.socketserver", address]
    server = subprocess.Popen(words, cwd=there, env=environment(), stdout=subprocess.PIPE)
    try:
        assert server.stdout is not None
        assert b"Entering Accept loop" in server.stdout.readline()
        workers = ["--tx=popen", f"--tx=socket={address}//chdir={there}", "--dist=load"]
        copied = ["--rsyncdir=repros", "--rsyncdir=conftest.py"]
        done = run(project, str(project / "repros"), "-v", *workers, *copied)
    finally:
        server.kill()
        server.communicate()
    assert done.returncode == 0, done.stdout + done.stderr
    assert closing(done) == "1 reproduces, 1 guards"
    assert set(re.findall(r"^\[(gw\d)\].* PASSED", done.stdout, re.M)) == {"gw0", "gw1"}
    assert (there / "repros" / "seed.yaml").exists()


WRONG = (
    SEED.read_text()
    .replace("fixed: ok", "fixed: {build: hang}")
    .replace("vm: {error", "run: {error")
)


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_red(project: Path, workers: list[str]) -> None:
    put(project, "wrong", WRONG)
    put(project, "plain", GOOD)
    done = run(project, "repros", *workers, "--junitxml", "junit.xml", cache=True)
    out = done.stdout
    assert done.returncode == 1, out
    assert closing(done) == "1 guards, 1 drifted"
    assert "2 failed, 3 passed" in out
    # the ladder of both arms, expected against seen, the IR around the fault, what to type next
    assert re.search(r"^ *stage +stock +fixed", out, re.M)
    assert "≠ error InternalError" in out and "expected ok" in out
    assert "expected hang" in out
    assert re.search(r"^> *\d+ .*inner", out, re.M), "the line at fault is marked"
    assert "AllocateWorkspace, arm stock" in out
    assert "tvm-repro compare repros/wrong.yaml" in out
    assert "harness/" not in out
    again = run(project, "repros", "--lf", "-x", "-v", cache=True)
    assert "1 failed" in again.stdout and "plain" not in closing(again)
    assert again.stdout.count("FAILED repros/wrong.yaml") <= 2
    ElementTree.parse(project / "junit.xml")


def test_whose_fault_it_is(project: Path) -> None:
    """Stock drifts and the fix is as good as before: the item of the fix stays green."""
    put(project, "stock", SEED.read_text().replace("vm: {error", "build: {error"))
    put(project, "fixed", SEED.read_text().replace("fixed: ok", "fixed: {build: hang}"))
    done = run(project, "repros", "-v")
    words = dict(re.findall(r"^(repros/\S+::(?:stock|fixed)) (PASSED|FAILED)", done.stdout, re.M))
    assert words == {
        "repros/fixed.yaml::stock": "PASSED",
        "repros/fixed.yaml::fixed": "FAILED",
        "repros/stock.yaml::stock": "FAILED",
        "repros/stock.yaml::fixed": "PASSED",
    }


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_a_broken_file(project: Path, workers: list[str]) -> None:
    put(project, "broken", "title: t\nmodul: x\nexpect: {bild: hang}\n")
    put(project, "plain", GOOD)
    done = run(project, "repros", "--continue-on-collection-errors", *workers)
    assert done.returncode != 0
    assert re.search(r"repros/broken\.yaml:2:1: unknown key `modul`", done.stdout)
    assert re.search(r"repros/broken\.yaml:3:10: .*`bild`", done.stdout)
    assert "did you mean `module`?" in done.stdout
    assert "harness/" not in done.stdout
    assert "1 passed, 1 error" in done.stdout
    assert closing(done) == "1 guards"


CANARY = (
    "from harness import campaign\nfrom pathlib import Path\ncampaign.CANARIES = Path('dead')\n"
)


def test_fixed_upstream(project: Path) -> None:
    put(project, "fixed", FIXED)
    done = run(project, "repros")
    assert (done.returncode, closing(done)) == (1, "1 fixed-upstream"), done.stdout


def test_nothing_is_fixed_upstream_while_a_canary_is_misjudged(project: Path) -> None:
    put(project, "fixed", FIXED)
    put(project, "plain", GOOD)
    (project / "dead").mkdir()
    (project / "dead" / "canary.yaml").write_text(FIXED)
    with (project / "conftest.py").open("a") as file:
        file.write(CANARY)
    done = run(project, "repros")
    assert (done.returncode, closing(done)) == (3, "1 guards, 1 infra"), done.stdout
    assert "these canaries were misjudged: canary" in done.stdout


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_no_tvm(project: Path, workers: list[str]) -> None:
    put(project, "plain", GOOD)
    put(project, "other", GOOD)
    stub = project / "stub" / "tvm"
    stub.mkdir(parents=True)
    (stub / "__init__.py").write_text("raise ImportError('undefined symbol: TVMFoo')\n")
    path = f"{stub.parent}{os.pathsep}{ROOT}"
    done = run(project, "repros", *workers, PYTHONPATH=path)
    assert (done.returncode, closing(done)) == (3, "2 infra"), done.stdout
    said = " ".join(done.stdout.split())  # it is folded to the terminal's width
    assert "undefined symbol: TVMFoo; see `tvm-repro doctor`" in said


def test_hostile_text_in_reports(project: Path) -> None:
    (project / "repros" / "hostile.py").write_text(
        "import os\n"
        "def make():\n"
        "    text = '\\x1b[31mred\\x07 \\u202e \\x00 \\ufffe [bold] '\n"
        "    os.write(1, text.encode() + b'\\xff')\n"
        "    os.write(2, text.encode() + b'\\xff')\n"
        "    raise ValueError(text)\n"
    )
    put(project, "hostile", "title: t\nmodule: {python: hostile.py:make}\nexpect: ok\n")
    done = run(project, "repros", "--junitxml", "junit.xml")
    assert closing(done) == "1 unrunnable"
    for letter in "\x1b\x07\x00\u202e":
        assert letter not in done.stdout
    xml = (project / "junit.xml").read_bytes()
    ElementTree.fromstring(xml)
    assert not re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]", xml)
    assert b"[31mred" in xml


def marked() -> set[int]:
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            text = (folder / "environ").read_bytes()
        except OSError:
            continue
        if b"TVM_REPRO_SERVER=" in text and b"TVM_REPRO_PROJECT=" in text:
            found.add(int(folder.name))
    return found


@pytest.mark.fault("interrupt")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_interrupted(project: Path, workers: list[str], number: signal.Signals) -> None:
    (project / "repros" / "slow.py").write_text(
        "import os, time\n"
        "from pathlib import Path\n"
        "def make():\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        time.sleep(1000)\n"
        "    Path(f'started-{os.getpid()}').touch()\n"
        "    time.sleep(1000)\n"
    )
    for name in ("one", "two"):
        put(project, name, "title: t\nmodule: {python: slow.py:make}\nexpect: ok\n")
    token = f"{os.getpid()}-{project.name}"
    process = subprocess.Popen(
        command("repros", *workers),
        cwd=project,
        env=environment(TVM_REPRO_PROJECT=token),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    deadline = time.monotonic() + 90
    wanted = 2 if workers else 1
    while len(list(project.glob("started-*"))) < wanted and time.monotonic() < deadline:
        time.sleep(0.05)
    mine = {pid for pid in marked() if _says(pid, token)}
    assert len(mine) >= 2 * wanted
    os.killpg(process.pid, number)
    process.communicate(timeout=60)
    deadline = time.monotonic() + 15
    while (left := {pid for pid in marked() if _says(pid, token)}) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == set()


def _says(pid: int, token: str) -> bool:
    try:
        return f"TVM_REPRO_PROJECT={token}".encode() in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False
