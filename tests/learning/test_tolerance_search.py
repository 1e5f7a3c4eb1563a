"""The search for tolerances: traced by hand, shown, and given what is wrong."""

import sys
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest

from messages import raises_saying
from pinesy import (
    Attribute,
    Cascade,
    CascadeError,
    DataError,
    DomainError,
    Iff,
    LearningError,
    PinesyError,
    RuleSet,
    UnknownAttributeError,
    learn,
)
from pinesy.learning import ToleranceSearch, candidate_tolerances, search_tolerances

# --- candidates --------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "power", "epsilon"), [(30, 5, 0.001), (7, 2, 0.5), (1, 1, 1e-9)])
def test_candidates_are_those_of_the_formula(count: int, power: int, epsilon: float) -> None:
    found = candidate_tolerances(count, power, epsilon)
    exact = [Fraction(i, count) ** power * (1 + Fraction(epsilon)) for i in range(1, count + 1)]
    assert found == pytest.approx([float(t) for t in exact], rel=1e-15, abs=0.0)
    assert found[-1] > 1.0


def test_the_defaults_are_those_of_the_experiments() -> None:
    assert candidate_tolerances().tolist() == candidate_tolerances(30, 5, 0.001).tolist()
    assert len(candidate_tolerances()) == 30


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ({"count": 0}, ["count is 0", "integer, at least 1"]),
        ({"count": 2.5}, ["count is 2.5"]),
        ({"count": True}, ["count is True"]),
        ({"power": 0.5}, ["power is 0.5", "at least 1"]),
        ({"power": float("nan")}, ["power is nan"]),
        ({"power": float("inf")}, ["power is inf"]),
        ({"power": "5"}, ["power is '5'"]),
        ({"power": 500}, ["power is 500", "lower power"]),
        ({"epsilon": 0.0}, ["epsilon is 0.0", "> 0"]),
        ({"epsilon": 1e-17}, ["epsilon is 1e-17", "1 + epsilon is not 1"]),
        ({"epsilon": float("inf")}, ["epsilon is inf"]),
        ({"epsilon": None}, ["epsilon is None"]),
    ],
)
def test_bad_candidates(arguments: dict[str, Any], parts: list[str]) -> None:
    with raises_saying(DataError, *parts):
        candidate_tolerances(**arguments)


# --- the search of the paper, traced by hand ---------------------------------------------------

X, Y = Attribute("x", [0, 1]), Attribute("y", [0, 1])
U, V = Attribute("u", [0, 1]), Attribute("v", [0, 1])
PAIR = Cascade(
    RuleSet([Iff(X.isin({0})).then(U.isin({0}))]), RuleSet([Iff(Y.isin({0})).then(V.isin({0}))])
)
#: The system of the sample has distance 0.2 for u and 0.4 for v.
SAMPLE = {"x": [[1.0, 0.2]], "y": [[1.0, 0.4]]}
RIGHT = {"u": [0], "v": [0]}


class Script:
    """A metric that gives the values of a list, one after the other."""

    def __init__(self, *values: Any) -> None:
        self.values = list(values)

    def __call__(self, *_: Any) -> Any:
        return self.values.pop(0)


def searched(*values: Any, **options: Any) -> ToleranceSearch:
    """Search on samples of distance 0, so that every tolerance keeps all."""
    certain = {"x": [[1.0, 0.0]], "y": [[0.0, 1.0]]}
    options = {"candidates": [0.1, 0.2, 0.3, 0.4, 0.5], **options}
    targets = {"u": [0], "v": [1]}
    return search_tolerances(PAIR, certain, targets, ([], []), metric=Script(*values), **options)


TRACES: list[tuple[dict[str, Any], list[float], float]] = [
    # It stops at the first evaluation that does not improve, and goes back one step.
    ({}, [0.5, 0.5], 0.1),
    ({}, [0.5, 0.6, 0.7, 0.7], 0.3),
    ({}, [0.5, 0.6, 0.4], 0.2),
    # Less than the minimum is no improvement; the minimum itself is one, whatever binary says.
    ({}, [0.56, 0.569], 0.1),
    ({}, [0.56, 0.57, 0.57], 0.2),
    # Small gains add up while the search goes on: they are measured from the last improvement.
    ({"stagnation": 2}, [0.5, 0.506, 0.512, 0.512, 0.512], 0.3),
    ({"stagnation": 2}, [0.5, 0.4, 0.6, 0.6, 0.6], 0.3),
    ({"stagnation": 3}, [0.5, 0.506, 0.507, 0.508], 0.1),
    # The candidates end before it stagnates.
    ({}, [0.1, 0.2, 0.3, 0.4, 0.5], 0.5),
    ({"stagnation": 9}, [0.1, 0.5, 0.3, 0.5, 0.5], 0.2),
    # Nothing is asked of an improvement but that the metric does not fall: the lowest is returned.
    ({"min_improvement": 0}, [0.5, 0.5, 0.5, 0.4], 0.1),
    ({"min_improvement": 0.2}, [0.5, 0.6], 0.1),
    ({}, [-3.0, -2.0, -2.0], 0.2),
]


@pytest.mark.parametrize(("options", "values", "tolerance"), TRACES)
def test_the_stopping_rule(options: dict[str, Any], values: list[float], tolerance: float) -> None:
    found = searched(*values, **options)
    steps = [0.1, 0.2, 0.3, 0.4, 0.5][: len(values)]
    assert [(e.tolerances["*"], e.metric) for e in found.evaluations] == [
        (t, v) for t, v in zip(steps, values, strict=True)
    ]
    assert found.tolerances == {"*": tolerance}
    assert found.metric == values[steps.index(tolerance)]


def test_only_the_group_that_failed_is_raised() -> None:
    found = search_tolerances(
        PAIR,
        SAMPLE,
        RIGHT,
        ([], []),
        groups=["v", "u"],
        candidates=[0.1, 0.3, 0.5, 0.7],
        metric=Script(0.5, 0.6, 0.6),
    )
    trace = [(one.tolerances["u"], one.tolerances["v"], one.metric) for one in found.evaluations]
    assert trace == [
        (0.1, 0.1, None),  # u fails first: 0.2 is not below 0.1
        (0.3, 0.1, None),  # now v: 0.4
        (0.3, 0.3, None),
        (0.3, 0.5, 0.5),  # possible: from here on both rise
        (0.5, 0.7, 0.6),
        (0.7, 0.7, 0.6),  # v has reached the last
    ]
    assert [one.reliable for one in found.evaluations[:4]] == [
        {"u": 0},
        {"v": 0},
        {"v": 0},
        {"u": 1, "v": 1},
    ]
    assert found.evaluations[1].reason == (
        "no sample is reliable for 'v': the smallest distance is 0.4"
    )
    assert found.tolerances == {"v": 0.7, "u": 0.5}


def test_a_sample_at_the_tolerance_is_not_reliable() -> None:
    found = search_tolerances(
        PAIR, SAMPLE, RIGHT, (SAMPLE, RIGHT), groups=["u"], candidates=[0.2, 0.2000001]
    )
    assert [one.metric for one in found.evaluations] == [None, 1.0]
    assert found.result["v"].n_reliable == 1  # in no group: it keeps every sample


def test_candidates_that_are_all_too_low() -> None:
    with raises_saying(
        LearningError, "rule set 'v'", "largest candidate, 0.3", "is 0.4", "go above 1"
    ) as caught:
        search_tolerances(PAIR, SAMPLE, RIGHT, (SAMPLE, RIGHT), candidates=[0.1, 0.3])
    found = cast(LearningError, caught.value)
    assert (found.rule_set, found.smallest) == ("v", 0.4)


def test_sets_without_targets_keep_their_initial_parameters() -> None:
    seen = []

    def metric(cascade: Cascade, *_: Any) -> float:
        seen.append((cascade["v"].s.tolist(), cascade["v"].r.tolist()))
        return 0.0

    found = search_tolerances(
        PAIR,
        SAMPLE,
        {"u": [0]},
        (SAMPLE, RIGHT),
        metric=metric,
        initial={"v": ([0.25], [0.5])},
    )
    assert set(map(str, seen)) == {"([0.25], [0.5])"}
    assert list(found.result.sets) == ["u"]


def test_a_rule_set_takes_its_targets_alone() -> None:
    rules = PAIR["u"]
    found = search_tolerances(rules, {"x": SAMPLE["x"]}, [0], ({"x": SAMPLE["x"]}, [0]))
    assert found.metric == 1.0
    assert found.result.rule_set.rules[0].premise == rules.rules[0].premise


def test_groups_may_be_attributes_and_tuples() -> None:
    found = search_tolerances(PAIR, SAMPLE, RIGHT, (SAMPLE, RIGHT), groups=[(U, "v*")])
    assert list(found.tolerances) == [("u", "v*")]
    assert learn(PAIR, SAMPLE, RIGHT, tolerance=found.tolerances).cascade == found.result.cascade
    assert list(
        search_tolerances(PAIR, SAMPLE, RIGHT, (SAMPLE, RIGHT), groups=[U, V]).tolerances
    ) == ["u", "v"]


# --- what is shown -----------------------------------------------------------------------------


def test_how_a_search_is_shown() -> None:
    found = search_tolerances(
        PAIR,
        SAMPLE,
        RIGHT,
        (SAMPLE, RIGHT),
        groups=["u", ("v",)],
        candidates=[0.3, 0.5, 1.1],
    )
    assert repr(found) == "ToleranceSearch(u=0.3, v=0.5: metric 1, 3 evaluations)"
    assert str(found).splitlines() == [
        "ToleranceSearch(u=0.3, v=0.5: metric 1, 3 evaluations)",
        "   tau u  tau v  metric      reliable",
        "   0.3    0.3    impossible  0 for v",
        "*  0.3    0.5    1           1 for u",
        "   0.5    1.1    1           1 for u",
    ]
    assert repr(found.evaluations[1]) == "Evaluation(u=0.3, v=0.5: 1)"
    assert "smallest distance is 0.4" in repr(found.evaluations[0])


def test_of_very_many_evaluations_the_first_are_shown() -> None:
    values = np.linspace(0.1, 1.0, 25)
    found = searched(*values, candidates=values)
    assert str(found).splitlines()[-1] == "... and 5 more trials"
    assert "combinations" not in str(found)


def test_the_frame_has_a_row_for_each_evaluation() -> None:
    pytest.importorskip("pandas")
    found = search_tolerances(
        PAIR, SAMPLE, RIGHT, (SAMPLE, RIGHT), groups=[("u", "v")], candidates=[0.3, 0.5, 1.1]
    )
    frame = found.to_frame()
    assert list(frame) == ["tau u, v", "metric", "reliable", "seconds", "reason"]
    assert frame["tau u, v"].tolist() == [0.3, 0.5, 1.1]
    assert frame["metric"].isna().tolist() == [True, False, False]
    assert frame["reliable"].tolist() == [0, 1, 1]


def test_a_frame_needs_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    found = searched(0.5, 0.5)
    with raises_saying(DataError, "to_frame needs pandas", "pip install 'pinesy[frame]'"):
        found.to_frame()


# --- errors ------------------------------------------------------------------------------------

ERRORS: list[tuple[dict[str, Any], type[PinesyError], list[str]]] = [
    ({"stagnation": 0}, DataError, ["stagnation is 0", "integer, at least 1"]),
    ({"stagnation": 1.5}, DataError, ["stagnation is 1.5"]),
    ({"min_improvement": -0.1}, DataError, ["min_improvement is -0.1", "at least 0"]),
    ({"min_improvement": float("nan")}, DataError, ["min_improvement is nan"]),
    ({"min_improvement": "much"}, DataError, ["min_improvement is 'much'"]),
    ({"metric": "accuracy"}, DataError, ["metric is 'accuracy'", "give a function"]),
    ({"validation": SAMPLE}, DataError, ["validation data", "pair (evidence, targets)"]),
    ({"validation": (SAMPLE,)}, DataError, ["pair (evidence, targets)"]),
    (
        {"validation": (SAMPLE, {"u": [7]})},
        DomainError,
        ["the validation data: the target of 'u', row 0"],
    ),
    ({"validation": ({}, RIGHT)}, CascadeError, ["the validation data: no distribution", "x"]),
    ({"groups": "u*"}, DataError, ["groups is 'u*'", "give a list"]),
    ({"groups": []}, DataError, ["groups is []"]),
    ({"groups": {"u": 1}}, DataError, ["groups is {'u': 1}"]),
    ({"groups": [["u", "v"]]}, DataError, ["a group is ['u', 'v']", "tuple"]),
    ({"groups": [()]}, DataError, ["a group is ()"]),
    ({"groups": [3]}, DataError, ["a group is 3"]),
    ({"groups": ["u", "u"]}, DataError, ["group is given twice", "['u', 'u']"]),
    ({"groups": ["u", "*"]}, UnknownAttributeError, ["'u' is given twice", "overlap"]),
    ({"groups": ["w"]}, UnknownAttributeError, ["no rule set with a target is named 'w'"]),
    ({"candidates": []}, DataError, ["candidates are []", "sequence of numbers"]),
    ({"candidates": 0.5}, DataError, ["candidates are 0.5"]),
    ({"candidates": ["0.5"]}, DataError, ["candidates are ['0.5']"]),
    ({"candidates": [0.0, 0.5]}, DataError, ["above 0 and rising"]),
    ({"candidates": [0.5, 0.5]}, DataError, ["above 0 and rising"]),
    ({"candidates": [0.5, float("inf")]}, DataError, ["finite"]),
    ({"candidates": [0.5, float("nan")]}, DataError, ["finite"]),
    ({"targets": {"u": [0, 0], "v": [0]}}, DataError, ["1 samples", "2 of the target 'u'"]),
    ({"initial": {"u": 0.5}}, CascadeError, ["parameters of 'u'", "pair (s, r)"]),
]


@pytest.mark.parametrize(("options", "error", "parts"), ERRORS)
def test_bad_arguments(options: dict[str, Any], error: type[PinesyError], parts: list[str]) -> None:
    arguments = {"targets": RIGHT, "validation": (SAMPLE, RIGHT), **options}
    with raises_saying(error, *parts):
        search_tolerances(PAIR, SAMPLE, **arguments)


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), None, "0.9", True, np.bool_(True), [0.9], 1j, [1, 2]]
)
def test_a_metric_must_give_a_number(value: Any) -> None:
    with raises_saying(DataError, "the metric", "Script", "returned", "*=0.1", "finite number"):
        searched(value)


@pytest.mark.parametrize("value", [1, np.float32(0.5), np.array(0.5), np.array([0.5]), Fraction(1)])
def test_a_metric_may_give_any_kind_of_number(value: Any) -> None:
    found = searched(value, value)
    assert found.metric == float(np.asarray(value, dtype=float).item())
    assert type(found.metric) is float
