"""Changes as issues for a tracker: one a case, opened once and then added to."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.report.changes import Change
from harness.report.markdown import safe
from harness.report.records import ArmRecord, Record
from harness.report.results import Results

LABEL = "tvm-repro"
# On a night on which everything breaks, one issue says so.
MOST = 15
_MARK = re.compile(r"\A<!-- tvm-repro: (\S+) -->")
_ALL = "everything"


@dataclass(frozen=True, slots=True)
class Issue:
    """A Markdown body with its title; `key` tells whether there is an issue of it already."""

    key: str
    title: str
    body: str

    @property
    def text(self) -> str:
        """What goes into a file: the mark that tells the issue again, the title, the body."""
        return f"<!-- tvm-repro: {self.key} -->\n# {self.title}\n\n{self.body}"


class TrackerError(Exception):
    """The tracker cannot be reached, or refuses; the text says what it said."""


def issues_of(old: Results, new: Results, changes: Sequence[Change]) -> list[Issue]:
    """One for each change that needs a person; a single one when there are very many."""
    urgent = [change for change in changes if change.needs_person]
    if len(urgent) > MOST:
        rows = "".join(f"- {change.kind.value}: `{safe(change.case)}`\n" for change in urgent)
        title = f"{len(urgent)} cases changed at once on {new.pair}"
        return [Issue(_ALL, title, f"{_between(old, new)}\n\n{rows}")]
    return [
        Issue(_key(change), f"{change.kind.value}: {safe(change.case)}", _body(old, new, change))
        for change in urgent
    ]


def _key(change: Change) -> str:
    return re.sub(r"[^\w./#-]", "_", change.case) or "_"


def _body(old: Results, new: Results, change: Change) -> str:
    was, now = change.old, change.new
    words = [record.verdict.value if record else "without a result" for record in (was, now)]
    parts = [
        f"{_between(old, new)}\n\nWas **{words[0]}**, is **{words[1]}**: {change.kind.meaning}."
    ]
    if now is not None:
        parts += [f"> {safe(now.reason, 500)}", *_arms("now", now)]
    if was is not None:
        parts += _arms("before", was)
    path = re.sub(r"[^\w./-]", "?", f"repros/{change.case}.yaml")
    parts.append(f"To go on:\n\n```sh\ntvm-repro compare {path}\n```\n")
    return "\n\n".join(parts)


def _between(old: Results, new: Results) -> str:
    before, after = (f"{safe(one.pair)} ({_day(one)})" for one in (old, new))
    return f"Between {before} and {after}."


def _day(results: Results) -> str:
    return safe(str(results.header.get("started", "?")), 40)


def _arms(when: str, record: Record) -> Iterator[str]:
    for name, arm in record.arms.items():
        yield f"### {name}, {when}\n\n{_stages(arm)}"


def _stages(arm: ArmRecord) -> str:
    rows = ["| stage | | said |", "|---|---|---|"]
    for stage in arm.stages:
        what = stage.brief if stage.failed else stage.outcome
        place = f" at {stage.at}" if stage.failed and stage.at else ""
        rows.append(
            f"| {safe(stage.stage)} | {safe(what + place)} | {safe(stage.message or '', 300)} |"
        )
    return "\n".join(rows)


def file_issues(folder: Path) -> list[str]:
    """Open an issue for each text in `folder`, or add to the one that is open for its case.

    Goes through ``gh``, which takes its token and repository from the environment.

    Returns
    -------
    list of str
        What was done, a line each.

    Raises
    ------
    TrackerError
    """
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.md"))}
    if not texts:
        return ["no change needs an issue"]
    gh("label", "create", LABEL, "--force", "--description", "found by the nightly run")
    there = _open_issues()
    return [_file(path, text, there) for path, text in texts.items()]


def _file(path: Path, text: str, there: Mapping[str, int]) -> str:
    mark = _MARK.match(text)
    key = mark[1] if mark else path.stem
    if key in there:
        gh("issue", "comment", str(there[key]), "--body-file", str(path))
        return f"#{there[key]} added to: {key}"
    title = next((row[2:] for row in text.splitlines() if row.startswith("# ")), key)
    url = gh("issue", "create", "--label", LABEL, "--title", title, "--body-file", str(path))
    return f"opened: {key} {url.strip()}"


def _open_issues() -> dict[str, int]:
    """The number of the issue that is open for each key."""
    fields = ("--label", LABEL, "--state", "open", "--limit", "1000", "--json", "number,body")
    found: dict[str, int] = {}
    for issue in json.loads(gh("issue", "list", *fields)):
        mark = _MARK.match(str(issue["body"]))
        if mark:
            found.setdefault(mark[1], int(issue["number"]))
    return found


def gh(*arguments: str) -> str:
    """What the command line of GitHub prints. Raises TrackerError."""
    try:
        done = subprocess.run(["gh", *arguments], capture_output=True, text=True, check=False)
    except OSError as error:
        raise TrackerError(f"gh: {error.strerror}") from None
    if done.returncode:
        raise TrackerError(f"gh {' '.join(arguments[:2])}: {done.stderr.strip()}")
    return done.stdout
