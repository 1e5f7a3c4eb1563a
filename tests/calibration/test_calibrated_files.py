"""Calibrations are saved with their rules, grow by more samples, and add."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibration.adders import adder, answers, evidence, samples
from calibration.calibrated_rules import INPUTS, TRUTH, P, made
from messages import raises_saying
from pinesy import (
    CalibratedRules,
    DataError,
    DegreeError,
    PinesyError,
    calibrate,
    learn,
    load,
    save,
)
from pinesy.calibration import CalibratedAnswers, CalibratedInputs
from pinesy.exceptions import DomainError, UnknownAttributeError
from pinesy.model.storage import load_rules

NEW, _ = samples(np.random.default_rng(2), 9, 2, 4)
KINDS = {"left": "digit", "right": "other"}


def same(one: CalibratedRules, other: CalibratedRules) -> bool:
    new, weights = evidence(NEW), np.linspace(0.1, 3.0, 9) if one.transform.is_weighted else None
    pairs = [
        (a.infer(new, weights=weights), a.guarantee, a.conformity(new, weights=weights).tolist())
        for a in (one, other)
    ]
    (first, *facts), (second, *others) = pairs
    equal = [np.array_equal(first[name].degrees, second[name].degrees) for name in first]
    exceptions = [getattr(a, "exceptions", None) for a in (one, other)]
    alike = type(one) is type(other) and exceptions[0] == exceptions[1]
    return all(equal) and facts == others and alike


VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("inputs", {}),
    ("inputs", {"score": "cumulated", "unit": "input", "class_conditional": True}),
    ("inputs", {"kinds": KINDS, "weights": np.linspace(0.5, 2.0, 60)}),
    ("inputs", {"exceptions": 0.01}),
    ("both", {}),
    ("answers", {}),
]


@pytest.mark.parametrize(("of", "options"), VARIANTS)
def test_a_calibration_is_saved_to_the_same_bits(
    tmp_path: Path, of: str, options: dict[str, Any]
) -> None:
    sure = made(of, **options)
    save(sure, tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    assert same(sure, again)
    assert again.rules == load_rules(tmp_path / "m.json") == sure.rules
    save(again, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "m.json").read_bytes()


def test_how_rules_were_learned_is_saved_too(tmp_path: Path) -> None:
    certain = {name: np.eye(4)[values] for name, values in INPUTS.items()}
    result = learn(adder(), certain, {"total": answers(TRUTH)["total"]})
    sure = calibrate(result, evidence(P), INPUTS)
    save(sure, tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    assert again.learned is not None
    assert again.learned.result.samples == 60
    assert same(again, sure)


@pytest.mark.parametrize("of", ["inputs", "both", "answers"])
def test_more_samples_and_sums_are_as_all_at_once(of: str) -> None:
    whole, first, rest = made(of), made(of, slice(40)), made(of, slice(40, None))
    truth = INPUTS | answers(TRUTH)
    wanted = {"inputs": INPUTS, "both": truth, "answers": answers(TRUTH)}[of]
    more = first.calibrate_more(evidence(P[40:]), {n: v[40:] for n, v in wanted.items()})
    assert same(more, whole)
    assert same(first + rest, whole)
    assert first.transform.n == 40


def test_calibrations_of_other_rules_or_kinds_do_not_add() -> None:
    with pytest.raises(DataError, match="of the same rules and of the same kind"):
        made("inputs") + made("answers")
    with pytest.raises(DataError, match="the same score, unit"):
        made("inputs") + made("inputs", score="cumulated")


DAMAGES: list[tuple[Any, list[str]]] = [
    (None, ['"calibration" is not of the form']),
    ({"version": 3}, ["version 2, which this pinesy reads"]),
    ({"counts": []}, ["is not of these rules"]),
    ({"of": "nothing"}, ['"calibration" is not of the form', "nothing"]),
    (
        {"counts": [{"scores": [0.5, 0.1], "counts": [1, 1]}]},
        ['"scores" of a calibration must rise'],
    ),
    ({"counts": [{"scores": ["x"], "counts": [1]}]}, ['"scores"', "a list of numbers"]),
    ({"doubt": {}}, ["not of the form", "scores"]),
    ({"score": "none"}, ["there is no score 'none'"]),
    ({"exceptions": [1]}, ['"exceptions"', "a number from 0 to 1"]),
]


@pytest.mark.parametrize(("change", "says"), DAMAGES)
def test_a_damaged_file_is_refused(tmp_path: Path, change: Any, says: list[str]) -> None:
    save(made("inputs"), tmp_path / "m.json")
    content = json.loads((tmp_path / "m.json").read_text())
    content["calibration"] = change and content["calibration"] | change
    (tmp_path / "m.json").write_text(json.dumps(content))
    with raises_saying(PinesyError, "m.json", *says):
        load(tmp_path / "m.json")


def test_bad_answers_in_a_file_are_refused(tmp_path: Path) -> None:
    save(made("answers"), tmp_path / "m.json")
    content = json.loads((tmp_path / "m.json").read_text())
    content["calibration"]["outputs"] = ["sum"]
    (tmp_path / "m.json").write_text(json.dumps(content))
    with raises_saying(UnknownAttributeError, "m.json", "'sum'"):
        load(tmp_path / "m.json")
    with raises_saying(DataError, "calibrated models are saved as .json files"):
        save(made("inputs"), tmp_path / "m.rules")


def test_bad_degrees_are_named() -> None:
    bad = P.copy()
    bad[3, 1, 2] = np.nan
    with raises_saying(DegreeError, "attribute 'right', row 3: the degree of 2 is"):
        calibrate(adder(), evidence(bad), INPUTS)
    bad[3, 1] = 0.9
    with raises_saying(DegreeError, "attribute 'right', row 3: the probabilities sum to 3.6"):
        calibrate(adder(), evidence(bad), INPUTS, score="cumulated")
    bad[3, 1, 2] = np.nan
    with raises_saying(DegreeError, "attribute 'right': the degree of 2 is"):
        made("inputs").predict_set({"left": bad[3, 0], "right": bad[3, 1]})


def test_bad_targets_are_named() -> None:
    sure, part = made("inputs"), {"left": TRUTH[:, 0]}
    with raises_saying(DataError, "no true values of 'right'"):
        calibrate(adder(), evidence(P), part)
    with raises_saying(UnknownAttributeError, "no rule uses 'lfet'", "did you mean 'left'?"):
        sure.calibrate_more(evidence(P), {"lfet": TRUTH[:, 0]})
    with raises_saying(DomainError, "left", "7"):
        calibrate(adder(), evidence(P), INPUTS | {"left": np.full(60, 7)})
    with raises_saying(DataError, "'left' has 59 values; give 60"):
        calibrate(adder(), evidence(P), INPUTS | {"left": TRUTH[:59, 0]})
    with raises_saying(DataError, "targets is {}"):
        calibrate(adder(), evidence(P), {})
    with raises_saying(DataError, "there are no calibration samples"):
        nothing = {name: values[:0] for name, values in INPUTS.items()}
        calibrate(adder(), evidence(P[:0]), nothing)
    with raises_saying(DataError, "60 calibration samples", "99 are needed"):
        sure.predict_set(evidence(NEW), 0.99)
    with raises_saying(DomainError, "level is 95"):
        sure.predict_set(evidence(NEW), 95)
    with raises_saying(UnknownAttributeError, "'carry' was not calibrated"):
        made("answers").predict_set(evidence(NEW), 0.9, ["carry"])


def test_exceptions_weaken_the_guarantee_and_it_says_so() -> None:
    wrong = answers(TRUTH)["total"].copy()
    wrong[:6] = 6 - wrong[:6] + (wrong[:6] == 3)
    sure = calibrate(adder(), evidence(P), INPUTS | {"total": wrong})
    assert isinstance(sure, CalibratedInputs)
    assert sure.exception_rate(0.95) == 0.1
    assert "fail (0.1 at L = 0.95)" in sure.guarantee
    assert "fail (0.02 at L = 0.95)" in made("inputs", exceptions=0.02).guarantee
    assert "If they fail in a share e of cases, that is L - e" in made("inputs").guarantee
    with raises_saying(DomainError, "exceptions"):
        made("inputs", exceptions=2.0)
    assert isinstance(made("answers"), CalibratedAnswers)
