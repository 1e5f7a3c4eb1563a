"""What backpropagation refuses, and how it says so."""

from typing import Any

import numpy as np
import pytest

from pinesy import Attribute, Cascade, Iff, RuleSet
from pinesy.exceptions import (
    CascadeError,
    DataError,
    DegreeError,
    DomainError,
    InconsistentSystemError,
    UnknownAttributeError,
)
from pinesy.inverse import backpropagate, premise_equations

RAIN, GRASS, MUD = (
    Attribute("rain", ("yes", "no")),
    Attribute("grass", ("wet", "dry")),
    Attribute("mud", (0, 1, 2)),
)
WET = RuleSet([Iff(RAIN.isin(["yes"])).then(GRASS.isin(["wet"]), s=0.25)])
BOTH = Cascade(WET, RuleSet([Iff(RAIN.isin(["no"])).then(MUD.isin([0]))]))
ACTUAL = {"rain": [1.0, 0.5]}

BAD: list[tuple[Any, Any, type[Exception], str]] = [
    (WET, {"wet": 0.5}, DegreeError, "the target of 'grass': the distribution is not normalised"),
    (WET, [0.5, 0.2], DegreeError, r"not normalised \(its largest degree is 0.5\)"),
    (WET, [[1.0, 0.2], [0.5, 0.2]], DegreeError, "'grass', row 1: the distribution is not norm"),
    (WET, {"wet": 1.5}, DegreeError, "the possibility of 'wet' is 1.5"),
    (WET, "wett", DomainError, "attribute 'grass' has no value 'wett'; did you mean 'wet'"),
    (WET, ["wet", "wett"], DomainError, "the target of 'grass', row 1: attribute 'grass' has no"),
    (WET, {"gras": "wet"}, UnknownAttributeError, "a target for 'gras', but no rule set concludes"),
    (WET, {"rain": "yes"}, UnknownAttributeError, "a target for 'rain', but no rule set concludes"),
    (BOTH, {"mud": 7}, DomainError, "the target of 'mud': attribute 'mud' has no value 7"),
    (BOTH, {}, DataError, "there are no targets; give some for grass, mud"),
    (BOTH, "wet", DataError, "targets are str 'wet'; give a mapping .* one: grass, mud"),
    (BOTH, {"grass": "wet", GRASS: "dry"}, DataError, "the target 'grass' is given twice"),
    (BOTH, {Attribute("grass", (0, 1)): 0}, DataError, "a target is for Attribute"),
    (
        BOTH,
        {"grass": ["wet"], "mud": [0, 1]},
        DataError,
        "1 samples of the target 'grass' but 2 of the target 'mud'",
    ),
    (RAIN, "yes", CascadeError, "rules are a RuleSet or a Cascade; got"),
]


@pytest.mark.parametrize(("rules", "target", "kind", "message"), BAD)
def test_bad_targets(rules: Any, target: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        backpropagate(rules, None, target)


BAD_INPUTS: list[tuple[Any, Any, type[Exception], str]] = [
    ("wet", {"rain": [0.5, 0.5]}, DegreeError, "attribute 'rain': the distribution is not norm"),
    ("wet", {"rein": [1.0, 0.5]}, UnknownAttributeError, "there is no input 'rein'; did you mean"),
    ("wet", {}, CascadeError, "no distribution is given for rain"),
    ("wet", {"grass": [1.0, 0.5]}, CascadeError, "'grass' takes no evidence"),
    (
        ["wet"] * 3,
        {"rain": np.ones((2, 2))},
        DataError,
        "there are 2 samples of inputs but 3 of the target",
    ),
    ("wet", {"rain": np.ones((2, 2))}, DataError, "give one value or one distribution for each"),
    (["wet", "dry"], {"rain": [1.0, 0.5]}, DegreeError, "grass"),
]


@pytest.mark.parametrize(("target", "inputs", "kind", "message"), BAD_INPUTS)
def test_bad_inputs(target: Any, inputs: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        backpropagate(WET, inputs, target)


@pytest.mark.parametrize("limit", [-1, 1.5, True, None])
def test_bad_limits(limit: Any) -> None:
    with pytest.raises(DataError, match=r"limit is .*; it must be an integer, at least 0"):
        backpropagate(WET, None, "wet", limit=limit)


def test_parameters_at_one_are_named() -> None:
    rules = RuleSet(
        [
            Iff(RAIN.isin(["yes"])).then(GRASS.isin(["wet"])),
            Iff(RAIN.isin(["no"])).then(GRASS.isin(["dry"]), s=1.0),
        ]
    )
    found = backpropagate(rules, None, "wet")
    assert found.reproduced  # the greatest targets do not mind
    message = (
        r"s and r below 1, but not so: rule 2 \(if rain in \{no\} then grass in "
        r"\{dry\}\); leave these rules out or lower"
    )
    with pytest.raises(DegreeError, match=message):
        found.most_specific()


CLASH = RuleSet(
    [Iff(RAIN.isin([w])).then(GRASS.isin(["wet"])) for w in ("yes", "no")]
)  # rain and no rain at once


def test_where_there_is_no_solution() -> None:
    found = backpropagate(CLASH, None, "dry")
    assert not found.normalised
    with pytest.raises(InconsistentSystemError, match="no target inputs to make more specific"):
        found.most_specific()
    with pytest.raises(DegreeError, match=r"of 'rain' is not normalised.*see \.conflicts"):
        found.probabilities()
    batch = backpropagate(CLASH, None, [[0.0, 1.0], [1.0, 1.0]])
    assert np.isnan(batch.probabilities()["rain"]).all(axis=1).tolist() == [True, False]


def test_what_is_of_one_sample_or_needs_inputs() -> None:
    batch, one = backpropagate(WET, None, ["wet"]), backpropagate(WET, None, "wet")
    with pytest.raises(DomainError, match=r".premises is of one sample; take one sample\(row\)"):
        _ = batch.premises
    with pytest.raises(DomainError, match=r"most_specific\(\) is of one sample"):
        batch.most_specific()
    with pytest.raises(DomainError, match="of a single sample already"):
        one.sample(0)
    for row in (1, -2, 9, "0"):
        with pytest.raises(DomainError, match=rf"there is no sample {row!r}; there are 1, from"):
            batch.sample(row)  # type: ignore[arg-type]
    for name in ("input_distance", "input_excess", "output_distance", "matches"):
        with pytest.raises(DegreeError, match="the actual inputs are not known; give them"):
            getattr(one, name)


def test_premise_equations_refuse_the_same() -> None:
    with pytest.raises(DegreeError, match="the target of 'grass': the distribution is not norm"):
        premise_equations(WET, [0.5, 0.2])
    with pytest.raises(DomainError, match="has no value 'wett'"):
        premise_equations(WET, "wett")
