"""`NeuroSymbolic` with a calibration: what is done by hand, saved and loaded, and refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from messages import raises_saying
from model.sums_and_weather import DIGITS, LABELS, SAMPLES, SUMS, TABLE, sums, table
from pinesy import DataError, NeuroSymbolic, calibrate, load, save
from pinesy.calibration import DriftMonitor
from pinesy.exceptions import DomainError, ShapeError
from pinesy.problems import addition_labels

CONCEPTS = DIGITS[SAMPLES]
FIRST, REST = SAMPLES[:60], SAMPLES[60:]
ANSWERS = {name: LABELS[name] for name in ("y_1", "y_2")}


def part(rows: slice) -> dict[str, Any]:
    return {name: values[rows] for name, values in ANSWERS.items()}


def by_input(model: NeuroSymbolic) -> NeuroSymbolic:
    return model.calibrate(FIRST, CONCEPTS[:60])


def test_inputs_are_calibrated_by_their_probabilities() -> None:
    model = by_input(sums())
    evidence = {f"a_{i + 1}": TABLE[FIRST[:, i]] for i in range(4)}
    truth = {f"a_{i + 1}": CONCEPTS[:60, i] for i in range(4)}
    sure = calibrate(SUMS, evidence, truth)
    new = {f"a_{i + 1}": TABLE[REST[:, i]] for i in range(4)}
    for name, pi in sure.infer(new).items():
        assert np.array_equal(model.predict_calibrated(REST)[name].degrees, pi.degrees)
    sets = model.predict_set(REST, 0.9, ["y_1"])
    assert [*sets] == ["y_1"]
    assert sets["y_1"] == sure.predict_set(new, 0.9, ["y_1"])["y_1"]
    assert set(sets.outcomes["y_1"]) <= {"decided", "several", "novel"}
    assert np.array_equal(model.predict(REST)["y_1"], sums().predict(REST)["y_1"])


def test_answers_are_calibrated_by_what_the_model_infers() -> None:
    model = sums().calibrate(FIRST, answers=part(slice(60)))
    sure = calibrate(SUMS, sums().evidence(FIRST), part(slice(60)))
    for name, pi in sure.infer(sums().evidence(REST)).items():
        assert np.array_equal(model.predict_calibrated(REST)[name].degrees, pi.degrees)
    assert "whatever the rules are" in model.calibration_.guarantee


@pytest.mark.parametrize("of", ["inputs", "answers"])
def test_weights_of_new_samples(tmp_path: Path, of: str) -> None:
    truth = {"inputs": (CONCEPTS[:60], None), "answers": (None, part(slice(60)))}[of]
    weights, own = np.linspace(0.5, 2.0, 60), np.linspace(0.1, 4.0, len(REST))
    model = sums().calibrate(FIRST, *truth, weights=weights)
    save(model, tmp_path / "m.zip")
    again = load(tmp_path / "m.zip", perception=sums().perception)
    wanted = model.calibration_.infer(model.probabilities(REST), weights=own)
    for other in (model, again):
        for name, pi in other.predict_calibrated(REST, weights=own).items():
            assert np.array_equal(pi.degrees, wanted[name].degrees)
        sets = other.predict_set(REST, 0.9, weights=own)
        assert np.array_equal(sets.members("y_1"), wanted["y_1"].degrees.round(12) > 0.1)
        with raises_saying(DataError, "give weights="):
            other.predict_calibrated(REST)
        with raises_saying(DataError, "give weights="):
            other.predict_set(REST)
        with raises_saying(DataError, "have weights"):
            DriftMonitor(other)
    with raises_saying(DataError, "both have weights"):
        model.calibrate_more(
            REST, *((CONCEPTS[60:], None) if of == "inputs" else (None, part(slice(60, None))))
        )


def test_a_monitor_takes_the_model() -> None:
    model = by_input(sums())
    by_hand = DriftMonitor(model.calibration_).update(model.probabilities(REST))
    assert DriftMonitor(model).update(REST).p_values.tolist() == by_hand.p_values.tolist()
    with raises_saying(DataError, "the model is not calibrated"):
        DriftMonitor(sums())


@pytest.mark.parametrize("of", ["inputs", "answers"])
def test_more_samples_saving_and_loading_give_the_same(tmp_path: Path, of: str) -> None:
    def truth(rows: slice) -> tuple[Any, Any]:
        return (CONCEPTS[rows], None) if of == "inputs" else (None, part(rows))

    given = truth(slice(30)), truth(slice(30, None))
    whole = sums().calibrate(SAMPLES, *truth(slice(None)))
    model = sums().calibrate(SAMPLES[:30], *given[0]).calibrate_more(SAMPLES[30:], *given[1])
    save(model, tmp_path / "m.zip")
    again = load(tmp_path / "m.zip", table)
    for other in (model, again):
        for name, pi in whole.predict_calibrated(REST).items():
            assert np.array_equal(other.predict_calibrated(REST)[name].degrees, pi.degrees)
    save(again, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == (tmp_path / "m.zip").read_bytes()


def test_a_calibration_is_that_of_one_model() -> None:
    model = by_input(sums())
    assert not hasattr(clone(model, safe=False), "calibration_")
    model.set_params(transform="minimum_specificity")
    with raises_saying(DataError, "the model is not calibrated; call calibrate"):
        model.predict_set(REST)
    by_input(model).fit(REST, {"y_1": ANSWERS["y_1"][60:]})
    assert not hasattr(model, "calibration_")


def test_training_samples_are_not_calibrated_on() -> None:
    model = sums().fit(FIRST, part(slice(60)))
    with raises_saying(DataError, "60 of 60 calibration samples", "before fit"):
        model.calibrate(FIRST, CONCEPTS[:60])
    with raises_saying(DataError, "20 of 60 calibration samples are training samples"):
        model.calibrate(SAMPLES[40:].astype(np.float32).astype(np.int64), CONCEPTS[40:])
    model.calibrate(REST, CONCEPTS[60:])
    model.fit(FIRST, part(slice(60)), validation=(REST, part(slice(60, None))))
    with raises_saying(DataError, "40 of 40 calibration samples"):  # they chose the tolerances
        model.calibrate(REST, CONCEPTS[60:])
    few = np.random.default_rng(0).integers(0, 2, (90, 4))  # honest rows are often equal
    digits = DIGITS[few]
    model.fit(few, {"y_1": addition_labels(digits)["y_1"]})
    model.calibrate(few[::-1], digits[::-1])


def test_what_cannot_be_calibrated() -> None:
    model = sums()
    with raises_saying(DataError, "needs concepts", "or answers"):
        model.calibrate(SAMPLES)
    with raises_saying(DataError, "the model is not calibrated"):
        model.calibrate_more(SAMPLES, CONCEPTS)
    with raises_saying(ShapeError, "concepts has shape (100,)"):
        model.calibrate(SAMPLES, CONCEPTS[:, 0])
    with raises_saying(DataError, "no true values of 'a_4'"):
        model.calibrate(SAMPLES, {f"a_{i + 1}": CONCEPTS[:, i] for i in range(3)})
    with raises_saying(DomainError, "concepts", "a_1", "no value 17"):
        model.calibrate(SAMPLES, CONCEPTS + 12)
    with raises_saying(DataError, "60 calibration samples", "at least 199 are needed"):
        by_input(model).predict_set(REST, 0.995)
    with raises_saying(DomainError, "level is 1"):
        model.predict_set(REST, 1.0)
