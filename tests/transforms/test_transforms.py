"""Probability-possibility transformations, against exact fractions."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from messages import raises_saying
from named_columns import Table
from pinesy import (
    Attribute,
    DegreeError,
    DomainError,
    If,
    RuleSet,
    antipignistic,
    antipignistic_inverse,
    minimum_specificity,
)
from pinesy.transforms import inverse
from strategies import distributions, probabilities

FloatArray = npt.NDArray[np.float64]


def ordered(p: Any) -> Any:
    return minimum_specificity(p, ties="order")


def equal(p: Any) -> Any:
    return minimum_specificity(p, ties="equal")


Transform = Callable[[Any], Any]
Oracle = Callable[[Sequence[Fraction]], list[Fraction]]

TRANSFORMS: list[tuple[Transform, Oracle]] = [
    (antipignistic, oracles.antipignistic),
    (ordered, oracles.minimum_specificity),
    (equal, oracles.minimum_specificity_equal),
]
each_transform = pytest.mark.parametrize(
    ("transform", "oracle"), TRANSFORMS, ids=["antipignistic", "order", "equal"]
)


def close(found: Any, expected: Sequence[Fraction]) -> bool:
    return bool(np.allclose(found, [float(x) for x in expected], rtol=0, atol=1e-12))


@each_transform
@given(counts=probabilities())
def test_the_definition(transform: Transform, oracle: Oracle, counts: list[int]) -> None:
    exact = [Fraction(c, sum(counts)) for c in counts]
    p = np.array(counts) / sum(counts)
    pi = transform(p)
    assert close(pi, oracle(exact))
    assert max(pi) == 1.0
    assert pi[int(np.argmax(p))] == 1.0
    assert (pi <= 1.0).all()
    assert (pi >= 0.0).all()


@pytest.mark.parametrize("transform", [antipignistic, equal])
@given(counts=probabilities())
def test_ties_stay_ties_to_the_last_bit(transform: Transform, counts: list[int]) -> None:
    pi = transform(np.array(counts) / sum(counts)).tolist()
    for (c, x), (d, y) in product(zip(counts, pi, strict=True), repeat=2):
        if c == d:
            assert x == y
        elif c < d:
            assert x <= y


@given(counts=probabilities())
def test_ties_broken_by_order_fall_in_domain_order(counts: list[int]) -> None:
    pi = ordered(np.array(counts) / sum(counts)).tolist()
    for i, j in product(range(len(pi)), repeat=2):
        if counts[i] == counts[j] and i < j:
            assert pi[i] >= pi[j]
        if counts[i] > counts[j]:
            assert pi[i] >= pi[j]


@each_transform
@given(counts=probabilities(max_size=6), data=st.data())
def test_probability_lies_between_necessity_and_possibility(
    transform: Transform, oracle: Oracle, counts: list[int], data: st.DataObject
) -> None:
    p = np.array(counts) / sum(counts)
    pi = transform(p)
    assert pi.shape == p.shape
    inside = np.array(data.draw(st.lists(st.booleans(), min_size=len(p), max_size=len(p))))
    possible = max(pi[inside], default=0.0)
    certain = 1.0 - max(pi[~inside], default=0.0)
    slack = 1e-12
    assert certain - slack <= p[inside].sum() <= possible + slack
    exact = oracle([Fraction(c, sum(counts)) for c in counts])
    held = [x for x, i in zip(counts, inside, strict=True) if i]
    reached = [x for x, i in zip(exact, inside, strict=True) if i]
    assert Fraction(sum(held), sum(counts)) <= max(reached, default=Fraction(0))


# --- the inverse -------------------------------------------------------------------------------


@given(counts=probabilities())
def test_there_and_back(counts: list[int]) -> None:
    p = np.array(counts) / sum(counts)
    assert np.allclose(antipignistic_inverse(antipignistic(p)), p, rtol=0, atol=1e-12)


@given(st.integers(1, 8).flatmap(distributions))
def test_back_and_there(pi: list[float]) -> None:
    p = antipignistic_inverse(pi)
    assert close(p, oracles.antipignistic_inverse(list(map(Fraction, pi))))
    assert abs(p.sum() - 1.0) < 1e-12
    assert np.allclose(antipignistic(p), pi, rtol=0, atol=1e-12)


def test_inverse_by_name() -> None:
    assert inverse(antipignistic) is antipignistic_inverse
    with pytest.raises(DegreeError, match=r"minimum_specificity has no inverse .* antipignistic"):
        inverse(minimum_specificity)
    with pytest.raises(DomainError, match="unknown transformation"):
        inverse(sorted)


# --- forms -------------------------------------------------------------------------------------


@pytest.mark.parametrize("transform", [antipignistic, ordered, equal, antipignistic_inverse])
@pytest.mark.parametrize(
    "rows",
    [
        [[0.5, 0.3, 0.2]],
        [[0.1, 0.1, 0.8], [0.0, 1.0, 0.0], [1 / 3, 1 / 3, 1 / 3]],
        [[1.0]],
        [[0.25] * 4] * 300,
    ],
    ids=["one", "three", "one value", "many"],
)
def test_dict_array_and_batch_say_the_same(transform: Transform, rows: list[list[float]]) -> None:
    if transform is antipignistic_inverse:
        rows = antipignistic(rows).tolist()
    batch = transform(np.array(rows))
    assert batch.shape == (len(rows), len(rows[0]))
    assert batch.dtype == np.float64
    assert transform(rows).tolist() == batch.tolist()
    for i in {0, len(rows) // 2, len(rows) - 1}:
        single = transform(np.array(rows[i]))
        assert single.tolist() == batch[i].tolist()
        names = [f"v{j}" for j in range(len(rows[i]))]
        named = transform(dict(zip(names, rows[i], strict=True)))
        assert list(named) == names
        assert list(named.values()) == single.tolist()
        assert all(type(x) is float for x in named.values())


def test_an_empty_batch_stays_empty() -> None:
    assert antipignistic(np.zeros((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("transform", [antipignistic, ordered, equal])
@pytest.mark.parametrize("classes", [2, 10, 1000])
def test_float32_softmax_outputs_are_renormalised(transform: Transform, classes: int) -> None:
    rng = np.random.default_rng(classes)
    scores = rng.normal(0, 3, (200, classes)).astype(np.float32)
    softmax = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert softmax.dtype == np.float32
    pi = transform(softmax)
    assert pi.dtype == np.float64
    assert (pi.max(axis=1) == 1.0).all()
    assert (pi.argmax(axis=1) == softmax.argmax(axis=1)).all()
    exact = softmax.astype(np.float64)
    exact /= exact.sum(axis=1, keepdims=True)
    assert np.allclose(pi, transform(exact), rtol=0, atol=1e-12)


def test_sums_slightly_off_give_exactly_one() -> None:
    for p in ([0.1] * 10, [0.5000001, 0.5], [1.00001], [0.33333, 0.33333, 0.33333]):
        assert antipignistic(p).max() == 1.0
        assert minimum_specificity(p).max() == 1.0
        assert minimum_specificity(p).min() > 0.0


# --- errors ------------------------------------------------------------------------------------

BAD: list[tuple[Any, str]] = [
    ([0.5, 0.4], r"the probabilities sum to 0\.9; they must sum to 1 .* softmax"),
    ([3.0, -1.0, -1.0], r"the probability of 1 is -1\.0; must be >= 0"),
    ([0.5, float("nan")], "the probability of 1 is nan"),
    ([float("inf"), 0.0], "sum to inf"),
    ([float("inf"), float("-inf")], "the probability of 1 is -inf"),
    ([0.0, 0.0], r"sum to 0\.0"),
    ([[1.0, 0.0], [0.2, 0.2]], r"row 1: the probabilities sum to 0\.4"),
    ([[1.0, 0.0], [1.5, -0.5]], r"row 1: the probability of 1 is -0\.5"),
    ({"a": 0.7, "b": 0.7}, r"sum to 1\.4"),
    ({"a": 1.2, "b": -0.2}, r"the probability of 'b' is -0\.2"),
    ([], r"m >= 1; got shape \(0,\)"),
    ({}, r"m >= 1; got shape"),
    (0.5, r"got shape \(\)"),
    (np.zeros((2, 3, 0)), r"got shape \(2, 3, 0\)"),
    ([[[1.0, 0.0]], [[0.2, 0.2]]], r"^index \(1, 0\): the probabilities sum to 0\.4"),
    (["a", "b"], "must hold numbers"),
    ([[1.0], [0.5, 0.5]], "must hold numbers"),
]


@pytest.mark.parametrize(("bad", "message"), BAD, ids=[m[:30] for _, m in BAD])
@pytest.mark.parametrize("transform", [antipignistic, ordered, equal])
def test_what_is_no_probability_is_refused(transform: Transform, bad: Any, message: str) -> None:
    with pytest.raises(DegreeError, match=message):
        transform(bad)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([0.5, 0.9], r"not normalised \(its largest degree is 0\.9\).*exactly 1.*antipignistic"),
        ([1.0, 1.5], r"the possibility of 1 is 1\.5; it must be a number in \[0, 1\]"),
        ([1.0, -0.5], r"the possibility of 1 is -0\.5"),
        ([1.0, float("nan")], "the possibility of 1 is nan"),
        ([[1.0, 0.0], [0.9, 0.0]], r"row 1: .* not normalised"),
        ([[[1.0, 0.0], [0.9, 0.0]]], r"possibilities, index \(0, 1\): .* not normalised"),
        ([1.0, float("nan"), 0.5], "the possibility of 1 is nan"),
        ({"a": 0.3}, r"not normalised \(its largest degree is 0\.3\)"),
    ],
)
def test_what_is_no_possibility_is_refused(bad: Any, message: str) -> None:
    with pytest.raises(DegreeError, match=message):
        antipignistic_inverse(bad)


def test_unknown_ties() -> None:
    with pytest.raises(DegreeError, match=r"ties='both' is unknown; choose 'order' or 'equal'"):
        minimum_specificity([1.0], ties="both")  # type: ignore[call-overload]


# --- tables ------------------------------------------------------------------------------------


class Polars(Table):
    """A table that is made as those of polars are."""

    def __init__(self, rows: Any, schema: list[str]) -> None:
        super().__init__(schema, rows)


@pytest.mark.parametrize("transform", [antipignistic, minimum_specificity, antipignistic_inverse])
def test_a_table_keeps_its_names(transform: Any) -> None:
    rows = [[0.2, 0.8], [0.5, 0.5]] if transform is not antipignistic_inverse else [[1, 0.4]] * 2
    expected = transform(np.array(rows))
    table = transform(Polars(rows, ["dark", "clear"]))
    assert isinstance(table, Polars)
    assert (table.columns, table.rows.tolist()) == (["dark", "clear"], expected.tolist())
    pandas = pytest.importorskip("pandas")
    frame = transform(pandas.DataFrame(rows, index=["a", "b"], columns=["dark", "clear"]))
    assert (list(frame.index), list(frame.columns)) == (["a", "b"], ["dark", "clear"])
    assert frame.to_numpy().tolist() == expected.tolist()


def test_a_table_with_other_columns() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": ["a"], "dark": [0.2], "clear": [0.8]})
    with raises_saying(DegreeError, "must hold numbers", "take the columns of the distribution"):
        antipignistic(frame)
    with raises_saying(DegreeError, "the probability of 'dark' is -0.2"):
        antipignistic(pandas.DataFrame({"dark": [-0.2], "clear": [1.2]}))


def test_transformed_tables_are_matched_by_name() -> None:
    pandas = pytest.importorskip("pandas")
    sky, rain = Attribute("sky", ["clear", "dark"]), Attribute("rain", ["no", "yes"])
    rules = RuleSet([If(sky.isin({"dark"})).then(rain.isin({"yes"}), s=0.0, r=0.0)])
    network = pandas.DataFrame({"dark": [0.9, 0.1], "clear": [0.1, 0.9]})
    assert rules.infer({"sky": antipignistic(network)}).best.tolist() == ["yes", "no"]
