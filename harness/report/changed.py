"""Changes for people at a terminal: the urgent first, those that fail alike together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.text import Text

from harness.report.changes import Change, Kind
from harness.report.results import Results
from harness.report.text import line

_STYLES = {
    Kind.RENAMED: "expected",
    Kind.MOVED: "expected",
    Kind.TURNED: "expected",
    Kind.NEW: "right",
}
_STYLES |= {Kind.RECOVERED: "right", Kind.SAME: "quiet"}


def changed(old: Results, new: Results, changes: Sequence[Change]) -> RenderableType:
    """What is compared, each change that is one, and the counts."""
    return Group(*_head(old, new), *_groups(changes), _counts(changes))


def _head(old: Results, new: Results) -> Iterator[Text]:
    for word, one in (("old", old), ("new", new)):
        started = line(str(one.header.get("started", "")), 40)
        text = Text.assemble(
            (f"{word}  ", "quiet"), f"{one.pair}, {started}, {len(one.cases)} cases"
        )
        yield text.append(", cut off in the middle" if one.cut_off else "", style="wrong")


def _groups(changes: Sequence[Change]) -> Iterator[Text]:
    for kind, group in groupby(changes, key=lambda one: one.kind):
        if kind is Kind.SAME:
            continue
        members = list(group)
        yield Text()
        head = f"{kind.value}: {len(members)}"
        yield Text.assemble((head, _STYLES.get(kind, "wrong")), (f"  {kind.meaning}", "quiet"))
        for signature, alike in groupby(members, key=lambda one: one.signature):
            yield from (_case(change) for change in alike)
            if signature:
                yield Text(f"    {line(signature, 160)}", style="quiet")


def _case(change: Change) -> Text:
    words = [one.verdict.value for one in (change.old, change.new) if one is not None]
    became = " -> ".join(dict.fromkeys(words))
    return Text.assemble("  ", (line(change.case), "title"), f"  {became}{_reason(change)}")


def _reason(change: Change) -> str:
    reason = change.new.reason if change.new is not None and change.needs_person else ""
    return f": {line(reason)}" if reason else ""


def _counts(changes: Sequence[Change]) -> Text:
    number = Counter(change.kind for change in changes)
    said = ", ".join(f"{number[kind]} {kind.value}" for kind in Kind if number[kind])
    return Text(f"\n{said or 'no cases'}")
