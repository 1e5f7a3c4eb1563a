"""The examples that are printed in the literature on fuzzy relational equations."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from pinesy.equations import IntervalSystem, System

#: Peeva and Kyosev 2007; Peeva and Zahariev 2026, appendix A.2.
PRODUCT = [
    [0, 0.2, 0.05, 0, 0.4, 0],
    [0.1, 0.6, 0.3, 0, 0.2, 0.2],
    [0.8, 0.48, 0.24, 0.48, 0, 0],
    [0.3, 0, 0, 0.4, 0.8, 0.15],
    [0, 0, 0.12, 0.2, 0.48, 0.1],
    [0.5, 0.3, 0, 0.1, 0.6, 0],
]
PRODUCT_RIGHT = [0.1, 0.3, 0.24, 0.2, 0.12, 0.15]
#: Zahariev 2013, section 5.1, example 1.
MAX_MIN = [
    [0.7, 0.0, 0.9, 0.4, 0.7],
    [0.3, 0.9, 0.9, 0.4, 0.2],
    [0.6, 0.1, 0.0, 0.8, 0.5],
    [0.8, 0.7, 0.4, 0.2, 0.7],
    [0.4, 0.1, 0.2, 0.5, 0.1],
]
#: Peeva and Zahariev 2026, appendix A.1.
MIN_MAX = [[0.9649, 0.9572, 0.1419], [0.1576, 0.4854, 0.4218], [0.9706, 0.8003, 0.9157]]
#: An example of the toolbox FCSquare.
LUKASIEWICZ = [[0.8, 0.1, 0.7, 0.9], [0.9, 0.7, 0.2, 0.8], [0.2, 0.8, 0.9, 0.7], [0.3, 0.1, 0, 0.9]]
#: Xiong and Shu 2015, examples 3.1 and 4.2.
IMPLICATION = [
    [0.5, 0.7, 0.2, 0.3, 0.7, 0.8],
    [0.9, 0.4, 0.6, 0.5, 0.4, 0.7],
    [0.4, 0.6, 0.3, 0.3, 0.1, 0.8],
    [0.1, 0.8, 0.4, 0.1, 1.0, 0.2],
    [0.6, 0.2, 0.3, 0.2, 0.4, 0.5],
]
#: Perfilieva and Noskova 2008, example 7.
ROW = [[0.3, 0.5, 0.8]]


class Example(NamedTuple):
    """A printed system, its extreme solution, and its minimal (maximal) ones."""

    composition: str
    matrix: list[list[float]]
    right: list[float]
    extreme: list[float]
    others: list[list[float]]


EXAMPLES = [
    Example(
        "max-product",
        PRODUCT,
        PRODUCT_RIGHT,
        [0.3, 0.5, 1, 0.5, 0.25, 1],
        [[0, 0.5, 1, 0.5, 0, 0], [0, 0.5, 0, 0, 0.25, 0], [0, 0, 1, 0, 0.25, 0]],
    ),
    Example(
        "max-min",
        MAX_MIN,
        [0.9, 0.9, 0.7, 0.7, 0.5],
        [0.7, 1, 1, 0.7, 1],
        [[0.7, 0, 0.9, 0.7, 0], [0, 0.7, 0.9, 0.7, 0], [0, 0, 0.9, 0.7, 0.7]],
    ),
    Example(
        "min-max",
        MIN_MAX,
        [0.3816, 0.1576, 0.8003],
        [0, 0, 0.3816],
        [[0.1576, 0.8003, 0.3816]],
    ),
    Example(
        "max-lukasiewicz",
        LUKASIEWICZ,
        [0.5, 0.6, 0.7, 0],
        [0.7, 0.9, 0.8, 0.1],
        [[0.7, 0.9, 0, 0], [0.7, 0, 0.8, 0], [0, 0.9, 0.8, 0]],
    ),
    Example(
        "min-lukasiewicz-implication",
        IMPLICATION,
        [0.5, 0.7, 0.6, 0.4, 1.0],
        [0.6, 0.2, 0.3, 0.2, 0.4, 0.5],
        [[0.6, 0.2, 1, 1, 1, 1], [1, 0.2, 0.3, 1, 1, 1], [1, 0.2, 1, 0.2, 1, 1]],
    ),
    Example(
        "min-goguen-implication",
        ROW,
        [0.5],
        [0.15, 0.25, 0.4],
        [[0.15, 1, 1], [1, 0.25, 1], [1, 1, 0.4]],
    ),
    Example("min-goedel-implication", ROW, [0.5], [0.3, 0.5, 0.5], [[1, 1, 0.5]]),
]


def listed(vectors: Any) -> list[list[float]]:
    return sorted(np.round(x, 9).tolist() for x in vectors)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.composition)
def test_printed_solutions(example: Example) -> None:
    system = System(example.matrix, example.right, composition=example.composition)
    assert system.is_consistent
    assert system.extreme_solution == pytest.approx(example.extreme, abs=1e-12)
    assert listed(system.opposite_solutions()) == sorted(example.others)


def test_a_printed_objective() -> None:
    system = System(PRODUCT, PRODUCT_RIGHT, composition="max-product")
    least = system.minimise([5, -4, 8, 2, -3, 7])
    assert least.value == pytest.approx(-2.75)
    assert least.x == pytest.approx([0, 0.5, 0, 0, 0.25, 0])


def test_inequalities_have_two_more_minimal_solutions_than_are_printed() -> None:
    """The appendix repeats the three of the equations; these vectors too meet every inequality."""
    system = IntervalSystem(PRODUCT, PRODUCT_RIGHT, None, "max-product")
    minimal = listed(system.minimal_solutions())
    printed = sorted(EXAMPLES[0].others)
    more = [x for x in minimal if x not in printed]
    assert [x for x in minimal if x in printed] == printed
    assert more == [[0, 0.5, 0, 0.6, 0, 0], [round(2 / 3, 9), 0.5, 1, 0, 0, 0]]
    for x in more:
        assert (system.apply(x) >= np.array(PRODUCT_RIGHT) - 1e-8).all()
