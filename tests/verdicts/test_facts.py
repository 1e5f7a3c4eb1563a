"""The facts that a verdict names are enough and needed, for every kind of rules.

With all other inputs unknown the outcome, the values and the certainty stay; without any one of the
facts they do not. Inference is monotone, so that smaller sets of facts say no more than these.
"""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loans import LOAN
from pinesy import Cascade, Possibility, antipignistic, load, parse
from pinesy.calibration import CalibratedInputs, calibrate
from pinesy.problems import addition, sudoku
from pinesy.verdicts import Guarantee, Verdict
from pinesy.verdicts import verdict as plain_verdict
from strategies import Case, cases
from verdicts.valid_verdicts import verdict

EXAMPLE = load("examples/loan.rules")
ILLNESS = parse("""
    number temperature "temperature" unit "°C"
    attribute cough in {yes, no}
    attribute fever in {none, slight, high}
    attribute illness in {none, cold, flu}
    attribute advice in {work, rest, doctor}
    if temperature >= 39 then fever == high
    if 37.5 <= temperature < 39 then fever == slight [certainty=0.9]
    if temperature < 37.5 then fever == none
    if fever == high and cough == yes then illness == flu [certainty=0.8]
    if fever == none and cough == no then illness == none
    if illness == flu then advice == doctor
    if illness != flu then advice != doctor [certainty=0.7]
    if illness == none then advice == work
""")


def with_facts(cascade: Cascade, found: Verdict, names: set[str]) -> Verdict:
    """Return the verdict with only some inputs known."""
    evidence = {
        name: pi if name in names else dict.fromkeys(pi.attribute.domain, 1.0)
        for name, pi in found.decision.distributions().items()
    }
    return plain_verdict(cascade, evidence, found.attribute)


def says(found: Verdict) -> tuple[object, ...]:
    return found.outcome, found.values, found.certainty, found.distribution.contradiction


def assert_enough_and_needed(cascade: Cascade, found: Verdict) -> None:
    names = {fact.attribute for fact in found.facts}
    assert says(with_facts(cascade, found, names)) == says(found)
    for name in names:
        assert says(with_facts(cascade, found, names - {name})) != says(found)


@given(cases())
@settings(max_examples=150)
def test_random_rules(case: Case) -> None:
    for output in case.cascade.outputs:
        found = verdict(case.cascade, case.evidence, output)
        assert_enough_and_needed(case.cascade, found)
        rested_on = {name for rules in found.chain for name in rules.inputs}
        inputs = {a.name for a in case.cascade.inputs}
        assert rested_on & inputs <= set(found.deciding_inputs)
        if found.outcome in ("decided", "several"):
            assert rested_on & inputs == set(found.deciding_inputs)


@given(cases())
@settings(max_examples=40)
def test_no_smaller_set_of_facts_is_enough(case: Case) -> None:
    for output in case.cascade.outputs:
        found = verdict(case.cascade, case.evidence, output)
        for size in range(len(found.facts)):
            for facts in combinations(found.facts, size):
                names = {fact.attribute for fact in facts}
                assert says(with_facts(case.cascade, found, names)) != says(found)


def numbers(*cuts: float) -> st.SearchStrategy[float | None]:
    return st.sampled_from([None, *(c + d for c in cuts for d in (-0.01, 0.0, 0.01))])


def categories(*values: str) -> st.SearchStrategy[Any]:
    """Values, readings by degrees, and unknown ones."""
    degrees = st.sampled_from([0.0, 0.3, 0.4, 0.6, 1.0])
    others = st.fixed_dictionaries(dict.fromkeys(values, degrees))
    readings = st.tuples(st.sampled_from(values), others).map(lambda pair: pair[1] | {pair[0]: 1.0})
    return st.sampled_from([*values, None]) | readings


HISTORIES = categories("good", "mixed", "bad")


@given(
    st.fixed_dictionaries(
        {
            "debt_ratio": numbers(0.3, 0.45),
            "history": HISTORIES,
            "job": categories("employed", "unemployed"),
        }
    )
)
def test_formulas_and_numbers(sample: dict[str, Any]) -> None:
    rules = parse(LOAN)
    assert_enough_and_needed(rules, verdict(rules, sample))


@given(
    st.fixed_dictionaries(
        {
            "income": numbers(20000, 60000),
            "debt_ratio": numbers(0.2, 0.45),
            "history": HISTORIES,
            "job": categories("permanent", "temporary", "unemployed"),
            "age": numbers(21, 70),
        }
    )
)
def test_the_loan_example(sample: dict[str, Any]) -> None:
    assert_enough_and_needed(EXAMPLE, verdict(EXAMPLE, sample))


@given(numbers(37.5, 39), categories("yes", "no"))
@settings(max_examples=40)
def test_three_levels(temperature: float | None, cough: Any) -> None:
    found = verdict(ILLNESS, {"temperature": temperature, "cough": cough})
    assert_enough_and_needed(ILLNESS, found)


@pytest.mark.parametrize("k", [1, 2])
@given(data=st.data())
@settings(max_examples=15)
def test_additions(k: int, data: st.DataObject) -> None:
    rules = addition(k)
    digit = st.none() | st.tuples(st.integers(0, 9), st.integers(0, 9), st.floats(0.5, 1.0))
    sees: dict[str, Any] = {}
    for attribute in rules.inputs:
        reading, sees[attribute.name] = data.draw(digit), None
        if reading is not None:
            first, second, p = reading
            other = {second: 1.0 - p} if second != first else {}
            sees[attribute.name] = antipignistic({first: 1.0 - sum(other.values()), **other})
    for output in rules.outputs:
        known = {a.name: sees[a.name] for a in rules.compile([output]).inputs}
        assert_enough_and_needed(rules, verdict(rules, known, output))


@given(st.lists(st.sampled_from([0, 1, 2, 3, None]), min_size=16, max_size=16), st.booleans())
@settings(max_examples=8, deadline=None)
def test_sudokus(cells: list[int | None], is_valid: bool) -> None:
    rules = sudoku(4)
    if is_valid:
        cells = [0, 1, 2, 3, 2, 3, 0, 1, 1, 0, 3, 2, 3, 2, 1, 0]
    board = dict(zip((a.name for a in rules.inputs), cells, strict=True))
    found = verdict(rules, board, rules.outputs[0])
    assert_enough_and_needed(rules, found)
    assert len(found.because) < 600


@pytest.fixture(scope="module")
def iris() -> tuple[Cascade, Any]:
    datasets = pytest.importorskip("sklearn.datasets")
    from pinesy.estimators import RuleClassifier

    x, y = datasets.load_iris(return_X_y=True, as_frame=True)
    return RuleClassifier().fit(x, y).rules_, x


@pytest.mark.parametrize("row", [0, 70, 106, 133])
@pytest.mark.parametrize("unknown", [None, 0, 2])
def test_induced_cards(iris: tuple[Cascade, Any], row: int, unknown: int | None) -> None:
    rules, table = iris
    sample: dict[str, Any] = {name: float(z) for name, z in table.iloc[row].items()}
    if unknown is not None:
        sample[list(sample)[unknown]] = None
    found = verdict(rules, {a.name: sample[a.name] for a in rules.inputs})
    assert_enough_and_needed(rules, found)
    first, second = found.points[:2]
    assert f"{first.low} points for " in found.because
    for points, content in zip((first, second), found.to_dict()["points"], strict=True):
        lines = sum(line["points"] for line in content["lines"])
        assert content["start"] + lines == content["points"] == points.low
        assert not content["start"] or f"+{content['start']} at the start" in found.because
    assert len(found.to_json()) < 5_000


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.5, 0.8, 0.95]))
@settings(max_examples=15)
def test_calibrated_rules(seed: int, level: float) -> None:
    rng = np.random.default_rng(seed)
    rules = parse("attribute left in 0..3\nattribute right in 0..3\nfunction total = left * right")
    truth, zero = rng.integers(0, 4, (40, 2)), [[0, 2]]  # the right digit does not matter
    read = rng.dirichlet(np.ones(4), (41, 2)) + 2 * np.eye(4)[np.vstack([truth, zero])]
    read /= read.sum(axis=2, keepdims=True)
    known = {"left": read[:40, 0], "right": read[:40, 1]}
    sure = calibrate(rules, known, {"left": truth[:, 0], "right": truth[:, 1]})
    new = {"left": read[40, 0], "right": read[40, 1]}
    assert isinstance(sure, CalibratedInputs)
    values = sure.predict_set(new, level)["total"]
    degrees = np.asarray(sure.degrees(new)).reshape(2, 4)
    evidence = {
        a.name: Possibility(a, degrees[i] / degrees[i].max()) for i, a in enumerate(rules.inputs)
    }
    guarantee = Guarantee.of(
        level, values, rules.outputs[0], plain_verdict(rules, evidence).wording
    )
    found = verdict(rules, evidence, guarantee=guarantee)
    assert_enough_and_needed(rules, found)
    assert found.questions()["Guaranteed"] == guarantee.text
    assert found.to_dict()["guarantee"]["values"] == list(values)


@given(HISTORIES, categories("employed", "unemployed"))
@settings(max_examples=40)
def test_contradictions(history: Any, job: Any) -> None:
    rules = parse(LOAN + "if history != bad then decision == approve\n")
    found = verdict(rules, {"debt_ratio": 0.6, "history": history, "job": job})
    assert_enough_and_needed(rules, found)
    if history in ("good", "mixed"):
        assert found.outcome == "contradiction"
