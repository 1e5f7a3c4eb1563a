"""The speed figures of fuzzy relational equations: every composition against min, against the
literal formula, and with the number of rows."""

from collections.abc import Callable
from functools import partial

import numpy as np
from measure import Line, best_times, exponent
from relation_formulas import literal_distance

from pinesy._common.validation import FloatArray
from pinesy.equations import COMPOSITIONS, System, consistent_rows, least_matrix_change

SECTION = "equations"
COLUMNS = 20


def random_system(n: int) -> tuple[FloatArray, FloatArray]:
    """Return a random matrix and right-hand side."""
    rng = np.random.default_rng(0)
    return rng.random((n, COLUMNS)), rng.random(n)


def distance(a: FloatArray, b: FloatArray, name: str) -> float:
    """Return the distance of a new system."""
    return float(System(a, b, name).chebyshev_distance)


def each_composition(n: int) -> list[Line]:
    """Time the distance of every composition, in turns."""
    a, b = random_system(n)
    times = best_times({name: partial(distance, a, b, name) for name in COMPOSITIONS}, seconds=1.0)
    return [
        Line(SECTION, f"{name}, {n:,} x {COLUMNS}", seconds, n, {"max-min": times["max-min"]})
        for name, seconds in times.items()
    ]


def against_formula(n: int) -> list[Line]:
    """Time the distance against the formula as it stands, compiled."""
    a, b = random_system(n)
    lines = []
    for name in COMPOSITIONS:
        ways = {"ours": partial(distance, a, b, name)}
        ways |= {"the formula in Numba": partial(literal_distance, a, b, name)}
        difference = abs(distance(a, b, name) - literal_distance(a, b, name))
        times = best_times(ways, seconds=0.5)
        note = f"difference {difference:.0e}"
        ours = times.pop("ours")
        lines.append(Line(SECTION, f"{name}, {n:,} x {COLUMNS}", ours, n, times, note=note))
    return lines


def growth(sizes: tuple[int, ...]) -> list[Line]:
    """Time the distance for more and more rows, and say how it grows."""
    systems = [random_system(n) for n in sizes]
    lines = []
    for name in COMPOSITIONS:
        calls = {str(len(b)): partial(distance, a, b, name) for a, b in systems}
        times = list(best_times(calls, seconds=1.0).values())
        # Small systems stay in cache; so the exponent without the smallest is there too.
        note = f"time grows as N^{exponent(sizes, times):.2f} from {sizes[0]:,} rows"
        note += f", N^{exponent(sizes[1:], times[1:]):.2f} from {sizes[1]:,}"
        case = f"{name}, {sizes[-1]:,} x {COLUMNS}"
        lines.append(Line(SECTION, case, times[-1], sizes[-1], note=note))
    return lines


def repairs(n: int) -> list[Line]:
    """Time a consistent subsystem and the least change of the matrix."""
    a, b = random_system(n)
    lines = []
    for name in ("max-min", "max-product", "max-lukasiewicz"):
        system = System(a, b, name)
        calls: dict[str, Callable[[], object]] = {
            "a consistent subsystem": partial(consistent_rows, system),
            "the least change of the matrix": partial(least_matrix_change, system),
        }
        for work, seconds in best_times(calls, seconds=0.5).items():
            lines.append(Line(SECTION, f"{work}, {name}, {n:,} x {COLUMNS}", seconds, n))
    return lines


def lines(tiny: bool = False) -> list[Line]:
    """Return the lines of this section."""
    if tiny:
        return [*each_composition(200), *against_formula(50), *growth((50, 100, 200)), *repairs(50)]
    return [
        *each_composition(1_000_000),
        *against_formula(10_000),
        *growth((10_000, 100_000, 300_000, 1_000_000)),
        *repairs(10_000),
    ]
