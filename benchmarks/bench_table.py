"""The table of the benchmarks: a section at a time, one line for each case."""

from collections.abc import Iterable
from itertools import groupby

from measure import Line
from peaks import Peaks

from pinesy._common.reports import text_table

HEAD = ("case", "time", "a sample", "against", "limit", "from it", "note")
UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (0.0, "ns"))


def duration(seconds: float | None) -> str:
    """Return a time in the unit that suits it, or nothing.

    >>> [duration(t) for t in (12.34, 0.0123, 4.5e-8, None)]
    ['12.3 s', '12.3 ms', '45 ns', '']
    """
    if seconds is None:
        return ""
    least, unit = next((least, unit) for least, unit in UNITS if seconds >= least)
    return f"{seconds / (least or 1e-9):.3g} {unit}"


def ratio(seconds: float, other: float, name: str) -> str:
    """Say how a time compares with that of another way.

    >>> ratio(1.0, 20.0, "NumPy"), ratio(3.0, 2.0, "copying"), ratio(1.0, 1.01, "one array")
    ('20 x faster than NumPy', '1.5 x slower than copying', 'as fast as one array')
    """
    if 0.95 < seconds / other < 1.05:
        return f"as fast as {name}"
    kind, times = ("faster", other / seconds) if seconds < other else ("slower", seconds / other)
    return (
        f"{times:.0f} x {kind} than {name}" if times >= 10 else f"{times:.2g} x {kind} than {name}"
    )


def rows(line: Line, peaks: Peaks) -> list[list[str]]:
    """Return the rows of a line: the first has everything, the others further comparisons."""
    spent = line.seconds
    first, *others = [ratio(spent, t, name) for name, t in line.against.items() if spent] or [""]
    limit = peaks.seconds(line)
    factor = f"{spent / limit:.1f} x" if spent and limit else ""
    each = duration(spent / line.samples) if spent and line.samples > 1 else ""
    full = [line.case, duration(spent), each, first, duration(limit), factor, line.note]
    return [full, *(["", "", "", other, "", "", ""] for other in others)]


def table(lines: Iterable[Line], peaks: Peaks) -> str:
    """Return all lines as one table, with a heading over each section."""
    content = [list(HEAD)]
    for section, members in groupby(lines, lambda line: line.section):
        content += [[""] * len(HEAD), [section.upper(), *[""] * (len(HEAD) - 1)]]
        content += [row for line in members for row in rows(line, peaks)]
    return text_table(content)
