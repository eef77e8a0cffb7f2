"""How long the HTML report takes to load: real results, multiplied, in a real Chromium.

    python -m benchmarks.page RESULTS.jsonl... [--cases N] [--releases N] [--rounds N]

Prints the size of the page, and the time from the start of the navigation until it can be used.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path

from benchmarks.chromium import Chromium
from harness.case import Case, discover, load_case
from harness.report.html.page import page
from harness.report.matrix import Matrix, matrix
from harness.report.results import Results, read_results


def multiplied(
    real: Sequence[Results], cases: dict[str, Case], count: int, releases: int
) -> Matrix:
    """A matrix of `count` cases on so many releases, each a copy of a real one under a new name."""
    many: list[Results] = []
    more: dict[str, Case] = {}
    for number, results in enumerate(islice(cycle(real), releases)):
        header = {**results.header, "tvm": f"0.{30 + number}.0"}
        records = {}
        for copy, (id, line) in enumerate(islice(cycle(results.cases.items()), count)):
            new = f"{id}-{copy}"
            records[new] = {**line, "case": new}
            if id in cases:
                more[new] = cases[id].model_copy(update={"id": new})
        many.append(Results(results.name, header, records))
    return matrix(many, [], more)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="+", type=Path)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--releases", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    cases = {case.id: case for case in map(load_case, discover([Path("repros")]))}
    real = [read_results([path]) for path in options.results]
    started = time.perf_counter()
    text = page(multiplied(real, cases, options.cases, options.releases), {})
    made = time.perf_counter() - started
    with tempfile.TemporaryDirectory() as folder, Chromium() as browser:
        file = Path(folder) / "report.html"
        file.write_text(text, encoding="utf-8")
        size = file.stat().st_size / 1e6
        print(f"{options.cases} cases, {options.releases} releases: {size:.1f} MB, {made:.1f} s")
        browser.size(1400, 900)
        times: list[float] = []
        busy: list[float] = []
        for _ in range(options.rounds):
            browser.open(file)
            times.append(browser.milliseconds())
            busy.append(browser.busy() * 1000)
    print(f"processor time until then {statistics.median(busy):.0f} ms")
    print(f"usable after {statistics.median(times):.0f} ms ({min(times):.0f} to {max(times):.0f})")


if __name__ == "__main__":
    main()
