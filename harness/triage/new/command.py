"""``tvm-repro new``: a report, or a script, becomes a case."""

from __future__ import annotations

import re
import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console

from harness.case import Case, CaseFileError, parse_case
from harness.case.source import LARGEST
from harness.case.writing import written
from harness.report.console import console
from harness.report.text import line as safe
from harness.run.pool import Pool
from harness.run.sandbox import sandbox
from harness.triage.new.draft import Draft, drafted
from harness.triage.new.observe import as_reported, observe
from harness.triage.new.report import Report, read_report
from harness.verdict.word import DIFFERS, INFRA, USAGE

DONE = 0
_REFUSED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufeff\ufffe\uffff\u2028\u2029]")


class NewError(Exception):
    """The report cannot be read, or the case not be written; the text says what to do."""


def new(options: Namespace) -> int:
    """Make a case of the report that `options` name; run it when they say so."""
    report = read_report(_read(options.report), "" if options.report == "-" else options.report)
    out = Path(options.out) if options.out else None
    _check_out(out, options.force)
    stem = _stem(out.stem if out else report.title)
    draft = _drafted(report, stem, options.script)
    if draft.beside and out and (out.parent / f"{stem}.py").exists() and not options.force:
        raise NewError(f"{out.parent / stem}.py exists: choose another name, or say --force")
    told = console(sys.stdout if out else sys.stderr)
    told.print(safe(f"{out or 'a case'}: from {options.report}"), style="title", soft_wrap=True)
    code = USAGE if draft.missing else DONE
    if options.run and not draft.missing:
        with tempfile.TemporaryDirectory() as folder:
            case = _put(draft, Path(folder) / "repros" / "new" / f"{stem}.yaml", stem)
            code = _observed(draft, case, told)
    else:
        _sound(draft, stem)
    _tell(draft, told, options.run)
    if out:
        _put(draft, out, stem)
        if draft.beside:
            told.print(safe(f"beside it: {out.parent / stem}.py"), soft_wrap=True)
    else:
        sys.stdout.write(written(draft.keys, draft.remarks))
        if draft.beside:
            sys.stdout.write(f"\n# --- beside it, as {stem}.py ---\n\n{draft.beside}")
    return code


def _read(name: str) -> str:
    """The text of a report, `-` for standard input.

    Raises
    ------
    NewError
    """
    try:
        if name == "-":
            raw = sys.stdin.buffer.read(LARGEST + 1)
        else:
            with Path(name).open("rb") as file:
                raw = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        raise NewError(f"{name}: {getattr(error, 'strerror', None) or error}") from None
    return decoded(raw, name)


def decoded(raw: bytes, name: str) -> str:
    """The text of a report; what no case file may have in it is replaced.

    Raises
    ------
    NewError
    """
    if len(raw) > LARGEST:
        raise NewError(f"{name}: larger than {LARGEST:,} bytes: cut it down to what matters")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        bad = f"byte 0x{raw[error.start]:02x} in line {line}"
        raise NewError(f"{name}: not UTF-8 ({bad}): save it as UTF-8 text") from None
    if not text.strip():
        raise NewError(f"{name}: empty: expected a report in Markdown, or a Python script")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _REFUSED.sub("\N{REPLACEMENT CHARACTER}", text)


def _check_out(out: Path | None, force: bool) -> None:
    if out is None:
        return
    if out.suffix != ".yaml":
        raise NewError(f"-o {out}: a case file ends in .yaml")
    if out.exists() and not force:
        raise NewError(f"-o {out}: exists: choose another name, or say --force")


def _stem(name: str) -> str:
    """A name for a Python file, out of a title or the name of a case."""
    words = re.findall(r"[a-z0-9]+", name.lower())
    return ("_".join(words)[:50].strip("_") or "report").removeprefix("_")


def _drafted(report: Report, stem: str, script: int | None) -> Draft:
    try:
        return drafted(report, stem, script)
    except LookupError as error:
        raise NewError(f"--script {script}: {error}") from None


def _sound(draft: Draft, stem: str) -> None:
    """Check the case as `lint` would, without leaving anything."""
    with tempfile.TemporaryDirectory() as folder:
        _put(draft, Path(folder) / "repros" / "new" / f"{stem}.yaml", stem)


def _put(draft: Draft, file: Path, stem: str) -> Case:
    """Write the case, and what stands beside it; the case that they say.

    Raises
    ------
    NewError
        When the folder cannot be written to, or what was read makes no sound case.
    """
    text = written(draft.keys, draft.remarks)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if draft.beside:
            (file.parent / f"{stem}.py").write_text(draft.beside, encoding="utf-8")
        file.write_text(text, encoding="utf-8")
        return parse_case(text, file)
    except OSError as error:
        raise NewError(f"{file}: {error.strerror}") from None
    except CaseFileError as error:
        why = "\n".join(f"{one.message} (expected {one.expected})" for one in error.problems)
        raise NewError(f"what the report says is no sound case:\n{why}") from None


def _observed(draft: Draft, case: Case, told: Console) -> int:
    """Run the case, and put what was seen in place of what was reported."""
    within = sandbox()
    if not within:
        why = "isolation: no bwrap here, so your network and your files are in its reach"
        told.print(why, style="expected", soft_wrap=True)
    with Pool(1, within=within) as pool:
        seen, info = observe(case, pool), pool.info
    if isinstance(seen, str):
        _list(told, "not run", [seen], "wrong")
        return INFRA
    where = f"observed on TVM {info.tvm} with ffi {info.tvm_ffi}"
    _list(told, where, seen.failed or ["all is ok"], "")
    stages = seen.expectation
    draft.keys["expect"] = stages if stages == "ok" else {"stock": stages}
    draft.remarks["expect"] = [where]
    if draft.failure is None:
        draft.todo("expect", 0, "the report does not say what goes wrong: is it this?")
        return DONE if seen.failed else DIFFERS
    if as_reported(draft.failure, seen.stages):
        _list(told, "as reported", [f"line {draft.failure.line}: {draft.failure}"], "right")
        return DONE
    draft.todo("expect", draft.failure.line, f"the report says otherwise: {draft.failure}")
    return DIFFERS


def _tell(draft: Draft, told: Console, ran: bool) -> None:
    """Say what was changed, what is left to do, and what is missing."""
    changes = [f"line {one.line}: {one.old} -> {one.new or 'by position'}" for one in draft.changes]
    _list(told, "in the names of today", changes, "quiet")
    if draft.failure is not None and not ran:
        said = f"line {draft.failure.line}: {draft.failure}"
        _list(told, "reported, not observed: see --run", [said], "")
    remarks = [one for lines in draft.remarks.values() for one in lines]
    todo = [one.removeprefix("TODO ") for one in remarks if one.startswith("TODO ")]
    _list(told, "to do: see TODO in the file", todo, "expected")
    missing = [f"line {line}: {what}" if line else what for line, what in draft.missing]
    _list(told, "missing: without it the case cannot run", missing, "wrong")


def _list(told: Console, title: str, lines: Iterable[str], style: str) -> None:
    lines = list(dict.fromkeys(lines))
    if lines:
        told.print(title, style=style)
        for one in lines:
            told.print(f"  {safe(one)}", soft_wrap=True)
