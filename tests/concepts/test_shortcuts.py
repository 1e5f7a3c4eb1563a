"""Shortcuts are what enumeration finds, whether they are counted or a solver finds them."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from messages import raises_saying
from pinesy import (
    Attribute,
    Cascade,
    DataError,
    DomainError,
    If,
    RuleSet,
    ShapeError,
    UnknownAttributeError,
    function,
    joint,
    shortcuts,
    sum_of,
)
from pinesy.concepts import Shortcuts, observed_answers, remapping_search
from pinesy.concepts.remapping_search import RemappingSolver, smallest_hitting_set
from pinesy.problems import sudoku

HALF = [(0, 0), (0, 1), (2, 3), (2, 4)]
EVEN_ODD = [(0, 6), (2, 8), (4, 6), (4, 8), (1, 5), (3, 7), (1, 9), (3, 9)]
WAYS = ["counted", "solver", "counted without a table", "solver without a table"]


def addition(n: int) -> Cascade:
    left, right = Attribute("left", range(n)), Attribute("right", range(n))
    return function("total", joint("pair", left, right), "left + right")


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    use(monkeypatch, request.param)
    return str(request.param)


def use(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    if way.startswith("solver"):
        monkeypatch.setattr(remapping_search, "MAX_PARTIAL", 0)
    if way.endswith("without a table"):
        monkeypatch.setattr(observed_answers, "MAX_TABLE", 0)


# --- known counts ------------------------------------------------------------------------------


@pytest.mark.usefixtures("way")
def test_half_has_three_remappings() -> None:
    found = shortcuts(addition(5), HALF)
    assert (found.count, found.exact, found.combinations) == (3, True, 4)
    assert sorted(map(str, found.remappings)) == [
        "2 as 3, 3 as 2, 4 as 3",
        "2 as 4, 3 as 1, 4 as 2",
        "all right",
    ]
    assert found.remappings[0].is_true
    assert sum(map(len, found.labels.values())) == 1
    assert shortcuts(addition(5), HALF, labelled=found.labels).count == 1


def readings_of_sums(pairs: Sequence[tuple[int, int]], most: int) -> Iterator[dict[int, int]]:
    """Enumerate the remappings of the values in pairs, to values up to `most`, that keep sums."""
    values = sorted({v for pair in pairs for v in pair})
    every = np.indices((most + 1,) * len(values)).reshape(len(values), -1)
    read = dict(zip(values, every, strict=True))
    fits = np.logical_and.reduce([read[a] + read[b] == a + b for a, b in pairs])
    for column in np.flatnonzero(fits):
        yield {value: int(read[value][column]) for value in values}


def test_even_odd_has_36_and_49_where_a_digit_may_be_read_as_10() -> None:
    even, odd = EVEN_ODD[:4], EVEN_ODD[4:]
    for most, count in ((9, 6), (10, 7)):
        found = shortcuts(addition(most + 1), EVEN_ODD, limit=100)
        halves = [[*readings_of_sums(pairs, most)] for pairs in (even, odd)]
        assert [len(half) for half in halves] == [count, count]
        assert [len(group.maps) for group in found.groups] == [count, count]
        assert (found.count, found.exact) == (count**2, True)
        joined = [{**a, **b} for a, b in itertools.product(*halves)]
        listed = [one.readings["left, right"] for one in found.remappings]
        assert sorted(map(sorted, map(dict.items, listed))) == sorted(
            map(sorted, map(dict.items, joined))
        )
    assert found.unobserved == {"left, right": (10,)}


def test_the_order_of_digits_in_pairs_does_not_matter() -> None:
    turned = [(b, a) for a, b in EVEN_ODD]
    assert shortcuts(addition(10), EVEN_ODD + turned).count == 36


def test_all_sums_of_digits_leave_no_shortcut() -> None:
    found = shortcuts(addition(10))
    assert (found.count, found.combinations) == (1, 100)
    assert "no shortcut" in str(found)
    digits = [Attribute(name, range(10)) for name in "abc"]
    assert shortcuts(sum_of("total", digits)).count == 1


@pytest.mark.usefixtures("way")
def test_a_sudoku_does_not_care_what_digits_are_called() -> None:
    rules = sudoku(4)
    solved = np.array([0, 1, 2, 3, 2, 3, 0, 1, 1, 0, 3, 2, 3, 2, 1, 0])
    others = [solved.copy() for _ in range(12)]
    for place, other in enumerate(others):
        other[place] = (other[place] + 1 + place % 3) % 4
    found = shortcuts(rules, np.array([solved, *others]))
    permutations = set(itertools.permutations(range(4)))
    (name,) = found.remappings[0].readings
    read = {tuple(one.readings[name].values()) for one in found.remappings}
    assert read >= permutations
    assert found.count == len(read)
    assert len(found.labels[name]) >= 3


# --- random tasks ------------------------------------------------------------------------------


def enumerated(
    compute: Callable[..., Any],
    inputs: Sequence[Attribute],
    kinds: Mapping[str, list[str]],
    rows: Sequence[tuple[Any, ...]],
) -> list[dict[tuple[str, Any], Any]]:
    """Return all remappings of the observed values that keep the results, by the definition."""
    kind_of = {name: kind for kind, names in kinds.items() for name in names}
    domains = {kind_of[a.name]: a.domain for a in inputs}
    keys = [kind_of[a.name] for a in inputs]
    seen = sorted({pair for row in rows for pair in zip(keys, row, strict=True)})
    found = []
    for read in itertools.product(*(domains[kind] for kind, _ in seen)):
        alpha = dict(zip(seen, read, strict=True))
        if all(
            compute(*row) == compute(*(alpha[pair] for pair in zip(keys, row, strict=True)))
            for row in rows
        ):
            found.append(alpha)
    return found


def smallest_labels(maps: list[dict[tuple[str, Any], Any]]) -> int:
    """Return the size of a smallest set of values whose labels leave only the true remapping."""
    wrong = [{key for key, read in one.items() if key[1] != read} for one in maps]
    keys = [*maps[0]]
    for size in range(len(keys) + 1):
        for chosen in itertools.combinations(keys, size):
            if all(not each or each & set(chosen) for each in wrong):
                return size
    raise AssertionError


@st.composite
def tasks(draw: st.DrawFn) -> tuple[Any, ...]:
    """Return a random function of two digits and a letter, and some combinations."""
    a, b = Attribute("a", range(3)), Attribute("b", range(3))
    c = Attribute("c", ["x", "y"])
    every = [*itertools.product(a.domain, b.domain, c.domain)]
    results = draw(st.lists(st.integers(0, 2), min_size=len(every), max_size=len(every)))
    table = dict(zip(every, results, strict=True))
    rows = draw(st.lists(st.sampled_from(every), min_size=1, max_size=8))
    shared = draw(st.booleans())
    kinds = {"d": ["a", "b"], "c": ["c"]} if shared else {n: [n] for n in "abc"}
    return (lambda *v: table[v]), [a, b, c], kinds, rows


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=25)
@given(tasks())
def test_remappings_are_those_of_the_definition(way: str, task: tuple[Any, ...]) -> None:
    compute, inputs, kinds, rows = task
    rules = function("result", inputs, compute, range(3))
    with pytest.MonkeyPatch.context() as patch:
        use(patch, way)
        found = shortcuts(rules, rows, kinds=kinds, limit=2000)
    expected = enumerated(compute, inputs, kinds, rows)
    read = [
        {(kind, v): r for kind, pairs in one.readings.items() for v, r in pairs.items()}
        for one in found.remappings
    ]
    assert (found.count, found.exact) == (len(expected), True)
    assert sorted(sorted(one.items()) for one in read) == sorted(
        sorted(one.items()) for one in expected
    )
    assert found.remappings[0].is_true
    assert sum(map(len, found.labels.values())) == smallest_labels(expected)
    assert shortcuts(rules, rows, kinds=kinds, labelled=found.labels).count == 1
    assert cautious_values(found, inputs) == {
        (a.name, v): {one[k, v] for one in expected} if (k, v) in expected[0] else {*a.domain}
        for k, names in kinds.items()
        for a in inputs
        if a.name in names
        for v in a.domain
    }


def cautious_values(found: Shortcuts, inputs: Sequence[Attribute]) -> dict[Any, set[Any]]:
    """Return what each value may be read as: where it is possible if that alone is seen."""
    may: dict[Any, set[Any]] = {(a.name, v): set() for a in inputs for v in a.domain}
    for a in inputs:
        degrees = found.cautious({a: np.eye(len(a.domain))})[a.name]
        for read, row in zip(a.domain, degrees, strict=True):
            for value in itertools.compress(a.domain, row == 1.0):
                may[a.name, value].add(read)
    return may


# --- limits and the solver ---------------------------------------------------------------------


def test_a_count_that_is_not_exact_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remapping_search, "MAX_PARTIAL", 0)
    found = shortcuts(addition(10), EVEN_ODD, limit=3)
    assert not found.exact
    assert 9 <= found.count < 36
    assert str(found).startswith(f"at least {found.count} remappings")
    assert found.remappings[0].is_true
    # labels are the fewest all the same, and doubt covers what was not found
    assert sum(map(len, found.labels.values())) == 2
    assert shortcuts(addition(10), EVEN_ODD, labelled=found.labels).count == 1
    assert (found.cautious({"left": np.eye(10)[0]})["left"] == 1.0).all()


def test_the_solver_gives_the_same_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remapping_search, "MAX_PARTIAL", 0)
    one, other = (shortcuts(addition(10), EVEN_ODD, limit=4) for _ in range(2))
    assert one.to_dict() == other.to_dict()


def test_values_that_do_not_matter_are_not_forbidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of six inputs decides, and that is learned whatever the others are read as."""
    monkeypatch.setattr(remapping_search, "MAX_PARTIAL", 0)
    learned: list[list[int]] = []
    inner = RemappingSolver._violated_clauses

    def watched(solver: Any, readings: Any) -> Any:
        learned.extend(inner(solver, readings))
        return inner(solver, readings)

    monkeypatch.setattr(RemappingSolver, "_violated_clauses", watched)
    inputs = [Attribute(f"x{i}", range(3)) for i in range(6)]
    rules = function("first", inputs, lambda *values: values[0], range(3))
    kinds = {a.name: [a] for a in inputs}
    found = shortcuts(rules, [(v,) * 6 for v in range(3)], kinds=kinds, limit=1)
    assert not found.exact
    assert found.labels == {a.name: (0, 1, 2) for a in inputs[1:]}
    assert {len(clause) for clause in learned} == {1}


def test_without_a_solver_there_is_a_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remapping_search, "MAX_PARTIAL", 0)
    monkeypatch.setitem(__import__("sys").modules, "pysat.solvers", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'pinesy\[shortcuts\]'"):
        shortcuts(addition(5), HALF)


@given(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=4), max_size=6))
def test_a_hitting_set_is_a_smallest_one(sets: list[list[int]]) -> None:
    found = smallest_hitting_set(sets)
    assert all(set(one) & set(found) for one in sets)
    for smaller in itertools.combinations(range(6), max(0, len(found) - 1)):
        assert not found or any(not set(one) & set(smaller) for one in sets)


# --- what is given ----------------------------------------------------------------------------


def test_observed_combinations_come_in_many_forms() -> None:
    pandas = pytest.importorskip("pandas")
    rules = addition(5)
    columns = {"right": [b for _, b in HALF], rules.inputs[0]: [a for a, _ in HALF]}
    table = pandas.DataFrame(HALF, columns=["left", "right"])
    condition = "left < 2 and right < 2 and left + right < 2"
    small = [(0, 0), (0, 1), (1, 0)]
    for observed in (HALF, HALF + HALF, np.array(HALF), columns, table):
        assert shortcuts(rules, observed).count == 3
    for observed in (condition, lambda a, b: (a, b) in small, small):
        assert shortcuts(rules, observed).combinations == 3


def test_kinds_share_a_network_or_do_not() -> None:
    rules = addition(3)
    shared = shortcuts(rules)
    apart = shortcuts(rules, kinds={"l": ["left"]})
    assert [kind.name for kind in apart.kinds] == ["l", "right"]
    assert (shared.count, apart.count) == (1, 1)
    pairs = [(1, 1), (1, 2)]
    assert str(shortcuts(rules, pairs).remappings) == str(shortcuts(rules, pairs).remappings)
    one, other = shortcuts(rules, pairs), shortcuts(rules, pairs, kinds={"l": ["left"]})
    assert (one.count, other.count) == (1, 2)
    assert str(other.remappings[1]) == "l: 1 as 2; right: 1 as 0, 2 as 1"
    known = shortcuts(rules, pairs, kinds={"l": ["left"]}, labelled={"left": [1]})
    assert known.count == 1


def test_other_outputs_leave_other_shortcuts() -> None:
    rules = addition(5) + function("even", Attribute("total", range(9)), "total % 2 == 0")
    assert shortcuts(rules).count > shortcuts(rules, outputs=["total", "even"]).count == 1


def test_what_is_wrong_is_said() -> None:
    rules = addition(5)
    with raises_saying(DataError, "holds no combination"):
        shortcuts(rules, [])
    with raises_saying(DataError, "holds no combination"):
        shortcuts(rules, "left > 9")
    with raises_saying(ShapeError, "rows of 3 values", "left, right"):
        shortcuts(rules, [(0, 1, 2)])
    with raises_saying(ShapeError, "rows of 0 values"):
        shortcuts(rules, np.arange(3))
    with raises_saying(DomainError, "observed", "7"):
        shortcuts(rules, [(0, 7)])
    with raises_saying(DataError, "no values of right"):
        shortcuts(rules, {"left": [0]})
    with raises_saying(DomainError, "give a dict"):
        shortcuts(rules, HALF, kinds=["left"])  # type: ignore[arg-type]
    with raises_saying(UnknownAttributeError, "'digit'", "no input 'lift'", "did you mean 'left'"):
        shortcuts(rules, HALF, kinds={"digit": ["lift"]})
    with raises_saying(DomainError, "'b'", "'left' is in a kind already"):
        shortcuts(rules, HALF, kinds={"a": ["left"], "b": ["left"]})
    with raises_saying(DomainError, "'a' is 'left'", "list of inputs"):
        shortcuts(rules, HALF, kinds={"a": "left"})
    with raises_saying(DomainError, "'a' has no inputs"):
        shortcuts(rules, HALF, kinds={"a": []})
    with raises_saying(UnknownAttributeError, "no kind of inputs 'op'"):
        shortcuts(rules, HALF, labelled={"op": [1]})
    with raises_saying(DomainError, "limit is 0"):
        shortcuts(rules, HALF, limit=0)


def test_inputs_of_a_kind_have_equal_domains() -> None:
    a, b = Attribute("a", range(2)), Attribute("b", [False, True])
    rules = function("both", [a, b], lambda a, b: a == 1 and b)
    assert len(shortcuts(rules).kinds) == 2  # True is not 1
    with raises_saying(DomainError, "'bit'", "equal domains"):
        shortcuts(rules, kinds={"bit": ["a", "b"]})


def test_rules_that_contradict_have_no_right_answer() -> None:
    a, b = Attribute("a", ["u", "v"]), Attribute("b", ["x", "y"])
    rules = RuleSet([If(a.isin({"u"})).then(b.isin({"x"})), If(a.isin({"u"})).then(b.isin({"y"}))])
    with raises_saying(DataError, "contradict each other where a = u"):
        shortcuts(rules)
    found = shortcuts(rules, [("v",)])  # and what is never right is no reading of it
    assert found.count == 1
    c = Attribute("c", ["z", "w"])
    behind = Cascade(rules, RuleSet([If(b.isin({"x"})).then(c.isin({"z"}))]))
    with raises_saying(DataError, "contradict each other where a = u"):
        shortcuts(behind)


def test_too_many_combinations_are_refused() -> None:
    with raises_saying(DataError, "4,294,967,296 combinations", "give those"):
        shortcuts(sudoku(4))


def test_it_is_told_as_plain_data() -> None:
    assert shortcuts(addition(5), HALF).to_dict() == {
        "count": 3,
        "exact": True,
        "combinations": 4,
        "kinds": {"left, right": ["left", "right"]},
        "groups": [1, 3],
        "remappings": [
            {"left, right": [[0, 0], [1, 1], [2, a], [3, b], [4, c]]}
            for a, b, c in [(2, 3, 4), (3, 2, 3), (4, 1, 2)]
        ],
        "labels": {"left, right": [2]},
        "unobserved": {},
    }
