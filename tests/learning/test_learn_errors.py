"""What learning refuses, and what it says; results as tables."""

import importlib
import sys
from typing import Any

import numpy as np
import pytest

from learning.oracle_help import DIAMOND, random_samples
from messages import raises_saying
from pinesy import (
    Attribute,
    Cascade,
    CascadeError,
    DataError,
    DegreeError,
    DomainError,
    Iff,
    LearningError,
    PinesyError,
    RuleSet,
    UnknownAttributeError,
    learn,
)
from pinesy.learning import learn_batches

COLOR = Attribute("color", ["red", "green", "blue"])
DIGIT = Attribute("digit", range(10))

RULES = RuleSet(
    [
        Iff(DIGIT.isin(range(3))).then(COLOR.isin({"red"})),
        Iff(DIGIT.isin(range(3, 6))).then(COLOR.isin({"green", "blue"}), s=0.5),
    ]
)

# --- samples -----------------------------------------------------------------------------------

X = {"digit": np.eye(10)[:4]}
Y = ["red", "red", "red", "green"]
CASCADE = Cascade(RULES)
OTHER = Attribute("color", ["cyan", "red"])

WRONG: list[tuple[Any, Any, Any, type[PinesyError], list[str]]] = [
    (DIAMOND, X, Y, DataError, ["targets are list", "give a mapping from attributes"]),
    (CASCADE, X, {}, DataError, ["there are no targets", "color"]),
    (RULES, X, {}, PinesyError, ["target"]),
    (CASCADE, X, {"colour": Y}, UnknownAttributeError, ["'colour'", "did you mean 'color'?"]),
    (CASCADE, X, {"digit": Y}, UnknownAttributeError, ["target for 'digit'", "no rule set"]),
    (CASCADE, X, {COLOR: Y, "color": Y}, PinesyError, ["twice"]),
    (CASCADE, X, {OTHER: ["red"] * 4}, PinesyError, ["color"]),
    (RULES, X, Y[:3], DataError, ["4 samples of inputs but 3 of the target 'color'"]),
    (RULES, {"digit": np.empty((0, 10))}, [], DataError, ["no samples to learn from"]),
    (RULES, {"digit": np.empty((0, 10))}, np.empty((0, 3)), DataError, ["no samples"]),
    (RULES, {"digit": np.eye(10)[:4] * np.nan}, Y, DegreeError, ["'digit', row 0", "nan"]),
    (RULES, {"digit": np.eye(10)[:4] * 0.5}, Y, DegreeError, ["'digit', row 0", "normalised"]),
    (RULES, {"digit": np.eye(9)[:4]}, Y, DegreeError, ["'digit' has 10 values", "(4, 9)"]),
    (RULES, {}, Y, CascadeError, ["no distribution is given for digit"]),
    (RULES, {"digi": X["digit"]}, Y, CascadeError, ["no input 'digi'", "mean 'digit'?"]),
    (RULES, {**X, "color": np.eye(3)}, Y, CascadeError, ["'color' takes no evidence"]),
    (RULES, {"digit": [1.0] + [0.0] * 9}, ["red"], DegreeError, ["'color'", "shape (1,)"]),
    (RULES, {"digit": [1.0] + [0.0] * 9}, "rde", DomainError, ["'rde'", "mean 'red'?"]),
    ([RULES], X, Y, CascadeError, ["rules are a RuleSet or a Cascade"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rules", "inputs", "targets", "error", "words"),
    WRONG,
    ids=[" ".join(w[4])[:50] for w in WRONG],
)
def test_bad_samples(
    rules: Any, inputs: Any, targets: Any, error: type[PinesyError], words: list[str]
) -> None:
    with raises_saying(error, *words):
        learn(rules, inputs, targets)


TOLERANCES: list[tuple[Any, type[PinesyError], list[str]]] = [
    (0, DegreeError, ["the tolerance is 0", "number > 0", "None to keep all"]),
    (-0.1, DegreeError, ["the tolerance is -0.1"]),
    (float("nan"), DegreeError, ["the tolerance is nan"]),
    (True, DegreeError, ["the tolerance is True"]),
    ("0.5", DegreeError, ["the tolerance is '0.5'"]),
    ([0.5], DegreeError, ["the tolerance is [0.5]"]),
    ({"color": 0.0}, DegreeError, ["the tolerance of 'color' is 0.0"]),
    ({"colour": 0.5}, UnknownAttributeError, ["'colour'", "did you mean 'color'?"]),
    ({"x_*": 0.5}, UnknownAttributeError, ["no rule set with a target is named 'x_*'"]),
    ({("color", "q"): 0.5}, UnknownAttributeError, ["named 'q'"]),
    ({"color": 0.5, "c*": 0.5}, PinesyError, ["'color' is given twice", "overlap"]),
    ({COLOR: 0.5, "color": 0.5}, PinesyError, ["'color' is given twice"]),
]


@pytest.mark.parametrize(("tolerance", "error", "words"), TOLERANCES)
def test_bad_tolerances(tolerance: Any, error: type[PinesyError], words: list[str]) -> None:
    with raises_saying(error, *words):
        learn(RULES, X, Y, tolerance=tolerance)


@pytest.mark.parametrize("initial", [5, [[0.1]], ([0.1], [0.1], [0.1]), {"color": 1}, "xy"])
def test_bad_initial_parameters(initial: Any) -> None:
    for rules, targets in ((RULES, Y), (CASCADE, {"color": Y})):
        with pytest.raises(PinesyError):
            learn(rules, X, targets, initial=initial)


def test_initial_parameters_by_attribute() -> None:
    shade = Attribute("shade", ["light", "dark"])
    later = RuleSet([Iff(COLOR.isin({"red"})).then(shade.isin({"light"}))])
    cascade = Cascade(RULES, later)
    found = learn(cascade, X, {"shade": ["light"] * 4}, initial={COLOR: ([0.5, 0.5], [0.5, 0.5])})
    assert found.cascade["color"].s.tolist() == [0.5, 0.5]


def test_no_reliable_sample() -> None:
    with raises_saying(
        LearningError,
        "rule set 'color': none of the 4 samples is reliable for the tolerance 0.25",
        "the smallest distance of a sample is 1,",
        "above 1, all",
    ) as caught:
        learn(RULES, X, ["green"] * 3 + ["red"], tolerance=0.25)
    assert isinstance(caught.value, LearningError)
    assert (caught.value.rule_set, caught.value.smallest) == ("color", 1.0)


# --- results -----------------------------------------------------------------------------------


def test_results_as_text() -> None:
    result = learn(RULES, X, Y, tolerance=0.75)
    assert repr(result) == "LearningResult(1 rule set learned from 4 samples)"
    assert str(result).splitlines()[1:] == [
        "set    rules  tolerance  reliable  distance  largest s, r  largest nabla",
        "color  2      0.75       4 of 4    0         0             0",
    ]
    contradicted = learn(RULES, X, ["green"] * 3 + ["red"])
    assert str(contradicted).splitlines()[2].split()[-3:] == ["0", "0", "1"]
    streamed = learn_batches(RULES, [(X, Y)])
    assert "nabla" not in str(streamed)
    assert repr(result["color"]) == "SetResult(color: 4 of 4 samples reliable, distance 0)"
    assert str(learn(RULES, X, Y)).count("none") == 1
    assert result.seconds == sum(result.timings.values()) > 0.0


def test_the_rule_set_of_a_cascade_of_several() -> None:
    result = learn(DIAMOND, *random_samples(DIAMOND, 3, seed=0))
    with raises_saying(CascadeError, "there are several rule sets", "result.cascade"):
        result.rule_set  # noqa: B018


def test_results_as_frames() -> None:
    pytest.importorskip("pandas")
    inputs, targets = random_samples(DIAMOND, 30, seed=3)
    result = learn(DIAMOND, inputs, targets, tolerance={"b": 0.9})
    sets, rules, samples = (result.to_frame(by) for by in ("set", "rule", "sample"))
    assert sets["set"].tolist() == ["b", "c", "e"]
    assert sets["reliable"].tolist() == [result[n].n_reliable for n in "bce"]
    assert sets["distance"].tolist() == [result[n].distance for n in "bce"]
    assert sets["smallest_nabla"].tolist() == [result.nabla[n].min() for n in "bce"]
    assert sets["largest_parameter"].tolist() == [result[n].lowest.max() for n in "bce"]
    assert rules["s"].tolist() == [s for n in "bce" for s in result[n].s.tolist()]
    assert rules["r"].tolist() == [r for n in "bce" for r in result[n].r.tolist()]
    assert rules["rule"].tolist()[0] == str(DIAMOND["b"].rules[0].premise)
    assert samples["c"].tolist() == result.nabla["c"].tolist()
    with raises_saying(DataError, "by is 'rows'", "set, rule, sample"):
        result.to_frame("rows")


def test_frames_of_streamed_samples() -> None:
    """No distances were kept, and an empty table would look like no samples."""
    pytest.importorskip("pandas")
    result = learn_batches(DIAMOND, [random_samples(DIAMOND, 3, seed=0)])
    assert len(result.to_frame()) == 3
    with raises_saying(DataError, "were not kept"):
        result.to_frame("sample")


def test_frames_need_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    result = learn(RULES, X, Y)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError):
        importlib.import_module("pandas")
    with raises_saying(DataError, "to_frame needs pandas", "pip install 'pinesy[frame]'"):
        result.to_frame()
