"""Labels that answers give to single inputs."""

from typing import Any

import numpy as np
import pytest

from messages import raises_saying
from pinesy import Attribute, Cascade, Iff, RuleSet, function
from pinesy.exceptions import DataError

torch = pytest.importorskip("torch")

from nets.bar_sums import RECIPE, RULES, drawn, network  # noqa: E402
from pinesy.nets import Recipe, predict_proba, soft_labels, train  # noqa: E402
from pinesy.nets.answer_losses import specificity  # noqa: E402


def test_answers_correct_what_was_misread() -> None:
    seen = {"x": np.array([[0.3, 0.4, 0.3]]), "y": np.array([[0.05, 0.05, 0.9]])}
    found = soft_labels(RULES, seen, {"total": [4]})
    assert found["x"].argmax() == 2
    assert found["x"].sum() == pytest.approx(1.0)


def sums(truth: list[int]) -> tuple[Cascade, list[str], dict[str, list[int]]]:
    """Return one sample of several sums: rules, inputs and answers."""
    rule_sets: list[RuleSet] = []
    inputs, answers = [], {}
    for i in range(len(truth) // 2):
        x, y = Attribute(f"x{i}", [0, 1, 2]), Attribute(f"y{i}", [0, 1, 2])
        rule_sets += function(f"total{i}", [x, y], f"x{i} + y{i}").rule_sets
        inputs += [x.name, y.name]
        answers[f"total{i}"] = [truth[2 * i] + truth[2 * i + 1]]
    return Cascade(*rule_sets), inputs, answers


def labelled(truth: list[int], seen: Any) -> Any:
    rules, inputs, answers = sums(truth)
    found = soft_labels(rules, {n: row[None] for n, row in zip(inputs, seen, strict=True)}, answers)
    return np.concatenate([found[name] for name in inputs])


def test_the_worst_reading_of_a_sample_does_not_hide_the_others() -> None:
    truth = [0, 0, 1, 2, 2, 1]
    seen = np.array(
        [
            [0.98, 0.01, 0.01],
            [0.001, 0.998, 0.001],  # a 0 that is taken for a 1, with no doubt
            [0.1, 0.8, 0.1],
            [0.35, 0.4, 0.25],  # a 2 that is taken for a 1; 0 would be worse, and is no way to 3
            [0.02, 0.03, 0.95],
            [0.2, 0.6, 0.2],
        ]
    )
    found = labelled(truth, seen)
    assert found.argmax(axis=1).tolist() == truth
    assert found.max(axis=1).min() > 0.7, "no reading is left open"


def test_a_tie_stays_one_and_hides_nothing() -> None:
    # The first sum is 2 and both images look like a 0: 0 + 2 and 2 + 0 are equally possible.
    sure = [1.0 - 2e-6, 1e-6, 1e-6]
    found = labelled([0, 2, 1, 2], np.array([sure, sure, [0.1, 0.8, 0.1], [0.35, 0.4, 0.25]]))
    assert found[0].tolist() == found[1].tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3])
    assert found[2:].argmax(axis=1).tolist() == [1, 2]
    assert found[2:].max(axis=1).min() > 0.7


def test_how_specific_a_label_is() -> None:
    degrees = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
    assert specificity(degrees).tolist() == pytest.approx([1.0, 0.5, 0.0])
    assert specificity(np.ones((2, 1))).tolist() == [1.0, 1.0]


def test_answers_that_nothing_gives() -> None:
    x, seen = Attribute("x", [0, 1, 2]), Attribute("seen", ["no", "yes"])
    rules = RuleSet([Iff(x.isin({0, 1, 2})).then(seen.isin({"yes"}))])
    with raises_saying(DataError, "sample 1: no reading gives its answers", "seen = 'no'"):
        soft_labels(rules, {"x": np.full((2, 3), 1 / 3)}, {"seen": ["yes", "no"]})


def test_a_labelled_input_keeps_its_label_and_helps_its_partner() -> None:
    open_ = {name: np.full((2, 3), 1 / 3) for name in "xy"}
    answers = {"total": [2, 2]}
    assert soft_labels(RULES, open_, answers)["x"].max() <= 0.5
    found = soft_labels(RULES, open_, {**answers, "x": [None, 0]})
    assert found["x"][0].max() <= 0.5
    assert (found["x"][1].tolist(), found["y"][1].tolist()) == ([1, 0, 0], [0, 0, 1])


def test_an_answer_that_is_not_known_says_nothing() -> None:
    seen = {name: np.array([[0.2, 0.7, 0.1]]) for name in "xy"}
    found = soft_labels(RULES, seen, {"total": [None]})
    assert found["x"][0] == pytest.approx([0.2, 0.7, 0.1])


def test_labels_that_contradict_the_answer() -> None:
    seen = {name: np.full((3, 3), 1 / 3) for name in "xy"}
    known = {"x": [None, 2, None], "y": [None, 2, None]}
    with raises_saying(DataError, "sample 1: its labels contradict its answers", "total = 0"):
        soft_labels(RULES, seen, {"total": [4, 0, 4], **known})


def test_a_network_learns_from_soft_labels() -> None:
    images, labels = drawn(60, 3)
    soft = 0.9 * np.eye(3)[labels] + 0.1 / 3
    net = network()
    train(net, images, soft, Recipe("adamw", 5e-3, "constant", batch=16, epochs=8), seed=0)
    unseen, truth = drawn(40, 4)
    assert (predict_proba(net, unseen).argmax(axis=1) == truth).mean() > 0.9


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        (np.full((10, 4), 0.25), ["4 columns", "3 classes"]),
        (np.full((10, 3), 0.5), ["labels, row 0, is", "sum to 1"]),
        (np.full((9, 3), 1 / 3), ["shape (9, 3)", "10 images"]),
        (np.full(10, 0.5), ["give an array of integers, or of probabilities (n, classes)"]),
    ],
)
def test_soft_labels_that_are_none(labels: Any, says: list[str]) -> None:
    with raises_saying(DataError, *says):
        train(network(), drawn(10, 0)[0], labels, RECIPE, seed=0)
