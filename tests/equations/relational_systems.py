"""Random systems of every composition on decimal grids, and their exact and rounded forms."""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from equations.relational_oracle import KINDS, Kind, Matrix, Vector
from pinesy.equations import System

NAMES = sorted(KINDS)
#: Rounded results lie within this of the exact ones.
CLOSE = 1e-12


class Drawn(NamedTuple):
    """A system: its composition, in fractions by the oracle and by pinesy, and in floats."""

    name: str
    a: Matrix
    b: Vector

    @property
    def kind(self) -> Kind:
        return KINDS[self.name]

    @property
    def exact(self) -> System:
        return System(self.a, self.b, self.name)

    @property
    def rounded(self) -> System:
        return System(floats(self.a), floats(self.b), self.name)


def floats(values: Any) -> npt.NDArray[np.float64]:
    return np.array(values, dtype=np.float64)


def fractions(values: Any) -> Vector:
    return [Fraction(value) for value in values]


@st.composite
def systems(
    draw: st.DrawFn,
    name: str,
    *,
    rows: int = 5,
    columns: int = 3,
    consistent: bool | None = None,
    steps: tuple[int, ...] = (10, 4, 7, 100),
) -> Drawn:
    """A system on a grid; about half of them have a solution unless `consistent` says."""
    step = draw(st.sampled_from(steps))
    n, m = draw(st.integers(1, rows)), draw(st.integers(1, columns))
    degree = st.integers(0, step).map(lambda i: Fraction(i, step))

    def vector(size: int) -> Vector:
        return draw(st.lists(degree, min_size=size, max_size=size))

    a = [vector(m) for _ in range(n)]
    has_solution = draw(st.booleans()) if consistent is None else consistent
    return Drawn(name, a, KINDS[name].apply(a, vector(m)) if has_solution else vector(n))
