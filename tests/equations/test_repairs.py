"""Consistent subsystems and changes of the matrix: they repair, and nothing smaller does."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equations import relational_oracle as oracle
from equations.relational_oracle import ONE, ZERO
from equations.relational_systems import NAMES, Drawn, fractions, systems
from pinesy.equations import System, consistent_rows, least_matrix_change
from pinesy.exceptions import DomainError

#: Compositions whose least change of the matrix is attained.
CHANGEABLE = [n for n in NAMES if n not in ("min-goedel-implication", "min-goguen-implication")]


def is_consistent(drawn: Drawn, rows: list[int]) -> bool:
    a, b = [drawn.a[i] for i in rows], [drawn.b[i] for i in rows]
    kind = drawn.kind
    return not rows or oracle.residual(kind, a, b, kind.candidate(a, b)) == 0


@pytest.mark.parametrize("name", NAMES)
@given(st.data())
def test_rows_are_consistent_and_no_other_can_be_added(name: str, data: st.DataObject) -> None:
    drawn = data.draw(systems(name, rows=6))
    for system in (drawn.exact, drawn.rounded):
        rows = consistent_rows(system).tolist()
        assert is_consistent(drawn, rows)
        others = set(range(len(drawn.b))) - set(rows)
        assert not any(is_consistent(drawn, sorted([*rows, i])) for i in others)
        assert (len(rows) == len(drawn.b)) == system.is_consistent


@pytest.mark.parametrize("name", CHANGEABLE)
@given(st.data())
def test_the_new_matrix_has_a_solution(name: str, data: st.DataObject) -> None:
    drawn = data.draw(systems(name))
    change = least_matrix_change(drawn.exact)
    matrix = [fractions(row) for row in change.matrix]
    assert oracle.residual(drawn.kind, matrix, drawn.b, fractions(change.x)) == 0
    changes = [
        abs(u - v)
        for new, old in zip(matrix, drawn.a, strict=True)
        for u, v in zip(new, old, strict=True)
    ]
    assert (max(changes), sum(d > 0 for d in changes)) == (change.distance, change.n_changed)
    assert all(0 <= entry <= 1 for row in matrix for entry in row)
    rounded = least_matrix_change(drawn.rounded)
    assert rounded.distance == pytest.approx(float(change.distance), abs=1e-11)
    assert System(rounded.matrix, drawn.rounded.b, name, tolerance=1e-11).is_consistent


@pytest.mark.parametrize("name", CHANGEABLE)
@given(st.data())
def test_no_nearer_matrix_of_a_grid_has_a_solution(name: str, data: st.DataObject) -> None:
    """All matrices whose entries are moved by up to a little less than the distance."""
    drawn = data.draw(systems(name, rows=2, columns=2, consistent=False, steps=(4,)))
    distance = least_matrix_change(drawn.exact).distance - Fraction(1, 1000)
    moves = [Fraction(k, 2) * distance for k in (-2, -1, 0, 1, 2)] if distance > 0 else []
    shape = (len(drawn.a), len(drawn.a[0]))
    for steps in np.ndindex(*(len(moves),) * (shape[0] * shape[1])):
        shifts = np.array([moves[k] for k in steps], dtype=object).reshape(shape)
        matrix = [
            [min(max(u + d, ZERO), ONE) for u, d in zip(row, shift, strict=True)]
            for row, shift in zip(drawn.a, shifts, strict=True)
        ]
        candidate = drawn.kind.candidate(matrix, drawn.b)
        assert oracle.residual(drawn.kind, matrix, drawn.b, candidate) > 0


@pytest.mark.parametrize("name", ["min-goedel-implication", "min-goguen-implication"])
def test_a_change_that_need_not_be_attained_is_refused(name: str) -> None:
    with pytest.raises(DomainError, match="need not be attained; take a max-t-norm"):
        least_matrix_change(System([[0.5]], [0.25], name))


def test_many_rows() -> None:
    rng = np.random.default_rng(3)
    a, b = np.round(rng.random((500, 4)), 2), np.round(rng.random(500), 2)
    for name in NAMES:
        rows = consistent_rows(System(a, b, name))
        assert System(a[rows], b[rows], name).is_consistent
