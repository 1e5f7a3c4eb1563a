"""The forms of evidence and of results in other semantics, and what is refused."""

from typing import Any

import numpy as np
import pytest

from pinesy import Attribute, Cascade, Possibility, Proposition, parse
from pinesy.exceptions import (
    CascadeError,
    DegreeError,
    DomainError,
    RuleSetError,
    UnknownAttributeError,
)
from pinesy.semantics.world_weights import WorldWeights

RULES = parse("""
    attribute sky in {clear, cloudy, dark}
    attribute season in {summer, winter}
    attribute rain in {no, yes}
    attribute street in {dry, wet}
    iff sky in {dark} then rain in {yes}
    iff rain in {yes} and season in {winter} then street in {wet}
""")
SKY = [0.25, 0.25, 0.5]


def street(sky: Any, season: Any, rules: Cascade = RULES, **more: Any) -> WorldWeights:
    result = rules.infer({"sky": sky, "season": season}, semantics="probabilistic", **more)
    weights: WorldWeights = result["street"]
    return weights


def test_inputs_come_in_all_forms() -> None:
    assert street(SKY, [0.5, 0.5])["wet"] == 0.25
    assert street({"dark": 0.5, "clear": 0.5}, "winter")["wet"] == 0.5
    assert street("dark", None)["wet"] == 0.5  # nothing is known: both are equally probable
    batch = street(np.array([SKY, [1.0, 0.0, 0.0]]), ["winter", "summer"])
    np.testing.assert_array_equal(batch["wet"], [0.5, 0.0])
    np.testing.assert_array_equal(batch.best, [None, "dry"])
    assert batch.outcome.tolist() == ["no_rule", "decided"]
    np.testing.assert_array_equal(batch.decided, [False, True])
    flat = RULES.infer(np.array([[*SKY, 0.5, 0.5]]), ["street", "rain"], semantics="probabilistic")
    assert list(flat) == ["street", "rain"]
    np.testing.assert_array_equal(flat["rain"].weights, [[0.5, 0.5]])


def test_float32_probabilities_are_divided_by_their_sum() -> None:
    p = np.array([[0.3, 0.3, 0.4]], np.float32)
    found = street(p, ["winter"])
    assert found.total == pytest.approx(1.0, abs=1e-15)


def test_results_tell_what_they_are() -> None:
    result = RULES.infer({"sky": SKY, "season": "winter"}, ["rain", "sky"], semantics="mpe")
    assert repr(result) == "WorldInference(rain=no, sky=dark; most probable explanation)".replace(
        "rain=no", "rain=yes"
    )
    assert repr(result["rain"]) == (
        "WorldWeights(rain, {yes: 1, no: 0.5}; most probable explanation)"
    )
    assert result["rain"].weight({"no", "yes"}) == 1.0
    np.testing.assert_allclose(result["rain"].probabilities, [1 / 3, 2 / 3])
    batch = RULES.infer({"sky": [SKY], "season": ["winter"]}, semantics="goedel")
    assert repr(batch) == "WorldInference(1 samples of street; goedel)"
    assert batch["street"].sample(0).to_dict() == {"dry": 0.25, "wet": 0.5}
    with pytest.raises(UnknownAttributeError, match="'rain' was not inferred"):
        batch["rain"]
    with pytest.raises(DomainError, match="sample"):
        batch["street"].to_dict()


def test_a_proposition_asks_for_its_attribute() -> None:
    wet = RULES.attributes["street"].isin({"wet"})
    assert isinstance(wet, Proposition)
    result = RULES.infer({"sky": SKY, "season": None}, [wet], semantics="probabilistic")
    assert result["street"].weight(wet) == 0.25


def test_no_samples_give_no_weights() -> None:
    assert street(np.empty((0, 3)), np.empty((0, 2))).weights.shape == (0, 2)


@pytest.mark.parametrize(
    ("sky", "message"),
    [
        ([0.2, 0.2, 0.2], r"attribute 'sky': the probabilities sum to 0.6"),
        ([[0.5, 0.5, 0.0], [0.5, -0.5, 1.0]], r"'sky', row 1: the probability of 'cloudy' is -0.5"),
        ([float("nan"), 0.5, 0.5], r"the probability of 'clear' is nan"),
    ],
)
def test_what_is_no_probability_distribution_is_refused(sky: Any, message: str) -> None:
    with pytest.raises(DegreeError, match=message):
        street(np.array(sky), "winter")


def test_possibilities_are_refused() -> None:
    pi = Possibility(RULES.attributes["sky"], np.array([1.0, 0.5, 0.2]))
    with pytest.raises(DegreeError, match=r"'sky' is a possibility distribution.*inverse"):
        street(pi, "winter")


def test_uncertain_rules_are_refused_if_they_matter() -> None:
    uncertain = RULES.with_parameters({"street": ([0.3], [0.0])})
    with pytest.raises(RuleSetError, match=r"has s = 0.3.* possibilistic"):
        street(SKY, "winter", uncertain)
    assert uncertain.infer({"sky": SKY}, ["rain"], semantics="probabilistic")["rain"]["yes"] == 0.5


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(DomainError, match=r"'probabilstic'.*probabilistic"):
        RULES.infer({}, semantics="probabilstic")
    with pytest.raises(CascadeError, match="the goedel semantics has no transform and no dtype"):
        RULES.infer({}, semantics="goedel", dtype="float32")
    with pytest.raises(DomainError, match="largest"):
        street(SKY, "winter", largest=0)
    with pytest.raises(UnknownAttributeError, match="no rule uses 'rein'"):
        RULES.infer({"sky": SKY}, ["rein"], semantics="mpe")
    with pytest.raises(CascadeError, match="no distribution is given for season"):
        RULES.infer({"sky": SKY}, semantics="mpe")


def test_the_possibilistic_semantics_is_the_default() -> None:
    pi = {"sky": [1.0, 0.0, 0.5], "season": "winter"}
    assert RULES.infer(pi, semantics="possibilistic")["street"].to_dict() == {"dry": 1, "wet": 0.5}


def test_one_value_domains() -> None:
    only = Attribute("only", ["it"])
    rules = parse("attribute only in {it} attribute b in {0, 1} iff only in {it} then b in {1}")
    assert rules.infer({only: "it"}, semantics="probabilistic")["b"].to_dict() == {0: 0.0, 1: 1.0}
