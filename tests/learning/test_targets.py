"""Targets in every form that users give them, and what is refused."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from messages import raises_saying
from pinesy import (
    Attribute,
    DataError,
    DegreeError,
    DomainError,
    Iff,
    PinesyError,
    Possibility,
    RuleSet,
    Target,
    learn,
)
from strategies import FEW_DOMAINS

COLOR = Attribute("color", ["red", "green", "blue"])
DIGIT = Attribute("digit", range(10))
BIT = Attribute("bit", [False, True])
PAIR = Attribute.product("pair", Attribute("x", range(2)), Attribute("y", range(1, 4)))
MIXED = Attribute.product("mixed", Attribute("v", range(2)), COLOR)


# --- values ------------------------------------------------------------------------------------


@given(FEW_DOMAINS, st.data())
def test_values_of_any_domain(domain: tuple[Any, ...], data: st.DataObject) -> None:
    attribute = Attribute("a", domain)
    positions = data.draw(st.lists(st.integers(0, len(domain) - 1), min_size=1, max_size=8))
    values = [domain[i] for i in positions]
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    for content in (values, tuple(values), objects):
        target = Target.of(content, attribute)
        assert target.labels.tolist() == positions
        assert not target.is_graded
        assert [target.distribution(i).tolist() for i in range(len(target))] == [
            [float(k == i) for k in range(len(domain))] for i in positions
        ]


INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize(
    "domain", [range(10), range(-3, 8), range(-100, 101), range(100, 400), [7, 3, 5], [0, 2**40, 9]]
)
def test_integers_of_any_width(domain: Any, dtype: str) -> None:
    """A difference of small integers may not fit into their type."""
    attribute, limits = Attribute("a", domain), np.iinfo(dtype)
    values = [v for v in domain if limits.min <= v <= limits.max]
    target = Target.of(np.array(values, dtype=dtype), attribute)
    assert [attribute.domain[i] for i in target.labels] == values
    for wrong in {limits.min, limits.max, 99} - set(domain):
        with raises_saying(DomainError, f"'a', row {len(values)}", f"has no value {wrong}"):
            Target.of(np.array([*values, wrong], dtype=dtype), attribute)


def test_arrays_of_other_kinds() -> None:
    assert Target.of(np.array(["blue", "red"]), COLOR).labels.tolist() == [2, 0]
    assert Target.of(np.array([True, False, True]), BIT).labels.tolist() == [1, 0, 1]
    assert Target.of([True, False], BIT).labels.tolist() == [1, 0]
    assert Target.of(np.array([1, 0]), BIT).labels.tolist() == [1, 0]  # 1 == True
    assert Target.of(np.array([3.0, 9.0]), DIGIT).labels.tolist() == [3, 9]
    assert Target.of(range(3), DIGIT).labels.tolist() == [0, 1, 2]
    assert Target.of([np.int64(4), np.uint8(2)], DIGIT).labels.tolist() == [4, 2]


def test_products() -> None:
    tuples = [(0, 1), (1, 3), (0, 2)]
    positions = [PAIR.position(t) for t in tuples]
    assert Target.of(tuples, PAIR).labels.tolist() == positions
    for dtype in INTEGERS:
        assert Target.of(np.array(tuples, dtype=dtype), PAIR).labels.tolist() == positions
    assert Target.of([list(t) for t in tuples], PAIR).labels.tolist() == positions
    assert Target.of([(1, "blue"), (0, "red")], MIXED).labels.tolist() == [5, 0]
    one_hot = np.eye(6)[positions]
    assert Target.of(one_hot, PAIR).degrees.tolist() == one_hot.tolist()
    with raises_saying(DegreeError, "'pair', a product of 2 attributes", "(2, 6)", "are floats"):
        Target.of(np.eye(6, dtype=int)[:2], PAIR)
    with raises_saying(DomainError, "the target of 'pair'", "'y', row 1", "has no value 9"):
        Target.of(np.array([[0, 1], [0, 9]]), PAIR)


def test_pandas_objects() -> None:
    pandas = pytest.importorskip("pandas")
    series = pandas.Series(["blue", "red"], index=[7, 8])
    assert Target.of(series, COLOR).labels.tolist() == [2, 0]
    assert Target.of(series.astype("category"), COLOR).labels.tolist() == [2, 0]
    rows = [[1.0, 0.5, 0.0], [0.0, 1.0, 0.25], [0.5, 0.0, 1.0]]
    for names in (list(COLOR.domain), None):
        frame = pandas.DataFrame(rows, columns=names)
        assert Target.of(frame, COLOR).degrees.tolist() == rows
    with raises_saying(DataError, "the target of 'color' is a table with the columns p, q, r"):
        Target.of(pandas.DataFrame(rows, columns=["p", "q", "r"]), COLOR)


# --- degrees -----------------------------------------------------------------------------------


def test_degrees() -> None:
    rows = [[1.0, 0.25, 0.0], [0.5, 1.0, 1.0]]
    array = np.array(rows)
    forms = [
        rows,
        tuple(map(tuple, rows)),
        array,
        np.asfortranarray(array),
        array[:, ::-1][:, ::-1],
    ]
    for content in (*forms, Possibility(COLOR, array)):
        target = Target.of(content, COLOR)
        assert target.degrees.tolist() == rows
        assert target.degrees.flags.c_contiguous
        assert (len(target), target.is_graded, len(target.labels)) == (2, True, 0)
        assert target.distribution(1).tolist() == rows[1]
    assert Target.of(array.astype(np.float32), COLOR).degrees.dtype == np.float64
    assert Target.of(np.eye(3, dtype=bool), COLOR).degrees.tolist() == np.eye(3).tolist()
    assert Target.of(np.eye(3, dtype=int), COLOR).degrees.tolist() == np.eye(3).tolist()
    assert not np.signbit(Target.of([[1.0, -0.0, 0.0]], COLOR).degrees).any()


def test_a_target_does_not_change() -> None:
    array = np.array([[1.0, 0.5, 0.0]])
    target = Target.of(array, COLOR)
    array[0, 1] = 0.75
    assert target.degrees.tolist() == [[1.0, 0.5, 0.0]]
    with pytest.raises(ValueError, match="read-only"):
        target.degrees[0, 0] = 0.0
    with pytest.raises(ValueError, match="read-only"):
        Target.of(["red"], COLOR).labels[0] = 1


def test_targets_of_some_samples() -> None:
    graded = Target.of(np.eye(3)[[0, 1, 2, 1]], COLOR)
    values = Target.of(["red", "green", "blue", "green"], COLOR)
    for chosen in (slice(1, 3), slice(None, None, 2), np.array([3, 0])):
        assert values[chosen].labels.tolist() == values.labels[chosen].tolist()
        assert graded[chosen].degrees.tolist() == graded.degrees[chosen].tolist()
        n = len(values[chosen])
        inputs = {"digit": np.eye(10)[:n]}
        found = [learn(RULES, inputs, t[chosen])["color"].lowest for t in (values, graded)]
        assert found[0].tolist() == found[1].tolist()
    assert Target.of(graded, COLOR) is graded
    assert repr(graded) == "Target(color: 4 distributions)"
    assert repr(values) == "Target(color: 4 labels)"


RULES = RuleSet(
    [
        Iff(DIGIT.isin(range(3))).then(COLOR.isin({"red"})),
        Iff(DIGIT.isin(range(3, 6))).then(COLOR.isin({"green", "blue"}), s=0.5),
    ]
)


def test_arrays_that_may_not_be_written_to() -> None:
    inputs, degrees = np.eye(10)[:4], np.eye(3)[[0, 0, 0, 1]]
    labels = np.array(["red", "red", "red", "green"])
    expected = learn(RULES, {"digit": inputs.copy()}, degrees.copy())["color"].lowest.tolist()
    for array in (inputs, degrees, labels):
        array.setflags(write=False)
    for targets in (degrees, labels):
        assert learn(RULES, {"digit": inputs}, targets)["color"].lowest.tolist() == expected


# --- what is refused ---------------------------------------------------------------------------

BAD: list[tuple[Attribute, Any, type[PinesyError], list[str]]] = [
    (COLOR, ["red", "gren"], DomainError, ["'color', row 1", "no value 'gren'", "mean 'green'?"]),
    (COLOR, np.array(["red", "gren"]), DomainError, ["'color', row 1", "did you mean 'green'?"]),
    (COLOR, ["rde", "red"], DomainError, ["'color', row 0", "did you mean 'red'?"]),
    (DIGIT, [3, 11, 12], DomainError, ["'digit', row 1", "no value 11"]),
    (DIGIT, np.array([3, -1]), DomainError, ["'digit', row 1", "no value -1"]),
    (DIGIT, np.array([3.0, 2.5]), DomainError, ["'digit', row 1", "no value 2.5"]),
    (DIGIT, np.array([3.0, np.nan]), DomainError, ["'digit', row 1", "no value nan"]),
    (DIGIT, [3, None], DomainError, ["'digit', row 1", "None"]),
    (DIGIT, [3, [1.0]], DomainError, ["'digit', row 1"]),
    (COLOR, "red", DataError, ["target of 'color' is 'red'", "one value", "for each sample"]),
    (DIGIT, 3, DataError, ["target of 'digit' is 3"]),
    (DIGIT, None, DataError, ["target of 'digit' is None"]),
    (DIGIT, (d for d in [1, 2]), DataError, ["target of 'digit' is <generator"]),
    (COLOR, [[1.0, 0.5], [0.5, 1.0]], DegreeError, ["'color'", "(n_samples, 3)", "(2, 2)"]),
    (COLOR, np.ones((1, 1, 3)), DegreeError, ["got float64 of shape (1, 1, 3)"]),
    (COLOR, [[1.0, 0.0, 0.0], [1.0]], DataError, ["rows of several lengths"]),
    (COLOR, [[1.0, 0.0, 0.0], "red"], DataError, ["mixes values and distributions"]),
    (COLOR, np.array([[1j, 0, 0]]), DegreeError, ["got complex128"]),
    (COLOR, [[1.0, 0, 0], [0.5, 0, 0]], DegreeError, ["'color', row 1", "not normalised", "0.5"]),
    (COLOR, [[1.0, 0, 0], [1, np.nan, 0]], DegreeError, ["'color', row 1", "'green' is nan"]),
    (COLOR, [[1.0, 0, 0], [1, 0, 1.5]], DegreeError, ["'color', row 1", "'blue' is 1.5"]),
    (COLOR, [[1.0, -0.5, 0]], DegreeError, ["'color', row 0", "'green' is -0.5"]),
    (COLOR, Possibility(BIT, np.array([1.0, 0.0])), DegreeError, ["is a distribution on", "bit"]),
    (COLOR, Target.of([0], DIGIT), DegreeError, ["target of 'color' is a target of", "digit"]),
    (COLOR, {"red": 1.0, "green": 0.5}, PinesyError, ["color"]),
    (COLOR, {"red", "green"}, PinesyError, ["color"]),
    (MIXED, [(0, "gren"), (0, "red")], DomainError, ["'mixed', row 0", "(0, 'gren')"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("attribute", "content", "error", "words"), BAD, ids=[" ".join(b[3])[:50] for b in BAD]
)
def test_bad_targets(
    attribute: Attribute, content: Any, error: type[PinesyError], words: list[str]
) -> None:
    with raises_saying(error, *words):
        Target.of(content, attribute)
