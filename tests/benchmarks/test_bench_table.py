"""The table of the benchmarks: how it reads, and that every benchmark still runs."""

import measure
import peaks
import pytest
from bench_table import table
from measure import Line, exponent
from run import SECTIONS, measured

PEAKS = peaks.Peaks(operations=1e9, memory=1e9, cache=1e10)


@pytest.fixture(autouse=True)
def once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "ONCE", True)


@pytest.mark.parametrize("section", SECTIONS)
def test_the_smallest_cases_run(section: str) -> None:
    lines = list(measured(section, tiny=True))
    assert {line.section for line in lines} == {section}
    assert all(line.seconds is None or line.seconds > 0 for line in lines)
    assert table(lines, PEAKS).splitlines()[2] == section.upper()


def test_the_peaks_of_this_machine() -> None:
    found = peaks.measured(0.0, 1 << 16)
    assert min(found.operations, found.memory, found.cache) > 1e6


def test_a_table() -> None:
    lines = [
        Line("one", "A", 2e-3, 1000, {"B": 40e-3, "C": 1e-3}, operations=1e6, bytes=1e3),
        Line("one", "D", 1.0, bytes=5e8, note="from memory"),
        Line("two", "E", note="no time"),
    ]
    assert table(lines, PEAKS).splitlines() == [
        "case  time  a sample  against             limit   from it  note",
        "",
        "ONE",
        "A     2 ms  2 us      20 x faster than B  1 ms    2.0 x",
        "                      2 x slower than C",
        "D     1 s                                 500 ms  2.0 x    from memory",
        "",
        "TWO",
        "E                                                          no time",
    ]


def test_the_exponent_of_growth() -> None:
    assert exponent([10, 100, 1000], [0.3, 30.0, 3000.0]) == pytest.approx(2.0)
