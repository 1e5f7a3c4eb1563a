"""Several starts, and labels that answers give to single images."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from messages import raises_saying
from pinesy import Attribute, Cascade, Iff, RuleSet
from pinesy.exceptions import DataError, DomainError

torch = pytest.importorskip("torch")

from nets.test_training_from_answers import RECIPE, drawn, network, samples  # noqa: E402
from pinesy.nets import (  # noqa: E402  # noqa: E402
    Answered,
    History,
    Recipe,
    best_start,
    learn_from_answers,
    predict_proba,
    soft_labels,
    train,
)
from pinesy.nets import learning_from_answers as module  # noqa: E402
from pinesy.nets.answered_samples import believed, corrected  # noqa: E402


def scored(monkeypatch: pytest.MonkeyPatch, scores: list[float]) -> list[int]:
    """Let starts have given scores; return the list of seeds that are tried."""
    tried: list[int] = []

    def trained(*_: Any, seed: int, **__: Any) -> History:
        tried.append(seed)
        return History((1.0,), (0.5,), (2.0,))

    monkeypatch.setattr(module, "train_from_answers", trained)
    left = iter(scores)
    monkeypatch.setattr(Answered, "answer_accuracy", lambda *_: next(left))
    return tried


def test_the_best_start_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = scored(monkeypatch, [0.3, 0.8, 0.5])
    said: list[str] = []
    found = best_start(network, samples(), samples(), RECIPE, seeds=[4, 7, 9], say=said.append)
    assert (found.seed, found.score, tried) == (7, 0.8, [4, 7, 9])
    assert found.scores == {4: 0.3, 7: 0.8, 9: 0.5}
    assert found.seconds == 6.0
    assert said[1] == "start 7: 80.0 % of the answers for validation are right"


def test_a_score_that_is_enough_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = scored(monkeypatch, [0.3, 0.95])
    found = best_start(network, samples(), samples(), RECIPE, seeds=range(9), enough=0.9)
    assert (found.seed, tried) == (1, [0, 1])


def test_a_start_that_is_there_is_not_trained_again(tmp_path: Path) -> None:
    given: Any = {"seeds": [0], "directory": tmp_path}
    recipe = RECIPE.with_epochs(2)
    first = best_start(network, samples(), samples(20, 1), recipe, **given)
    again = best_start(network, samples(), samples(20, 1), recipe, **given)
    # The times come from the checkpoint: two trainings never take equally long.
    assert (again.score, again.seconds) == (first.score, first.seconds)


def test_no_seeds() -> None:
    with raises_saying(DomainError, "no seeds to start from"):
        best_start(network, samples(), samples(), RECIPE, seeds=[])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"make": network(0)}, ["make is a", "from a seed to a new network"]),
        ({"make": 3}, ["make is a int", "from a seed to a new network"]),
        ({"make": lambda: network(0)}, ["make(1) failed", "one argument, the seed"]),
        ({"make": lambda _: 3}, ["make(1) gave a int"]),
        ({"samples": (1, 2)}, ["samples is a tuple; give a Answered"]),
        ({"validation": None}, ["validation is a NoneType; give a Answered"]),
        ({"seeds": 3}, ["seeds is 3; give several"]),
        ({"start": None}, ["the recipe is a NoneType; give a Recipe"]),
        ({"finish": None}, ["the recipe is a NoneType; give a Recipe"]),
    ],
)
def test_what_cannot_be_learned_from_is_told_at_once(
    change: dict[str, Any], says: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "train_from_answers", lambda *_, **__: pytest.fail("trained"))
    given = {"make": network, "samples": samples(), "validation": samples(), "seeds": [1]}
    with raises_saying(DomainError, *says):
        learn_from_answers(**{**given, **change})


class Reader(torch.nn.Module):  # type: ignore[misc,name-defined]
    """Reads bars by their brightness, and takes images that are marked for another."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))

    def forward(self, pixels: Any) -> Any:
        bars = [pixels[:, 0, 4 + 8 * i : 9 + 8 * i].mean(dim=(1, 2)) for i in range(3)]
        return torch.stack(bars, dim=1) + self.weight


def test_answers_correct_what_was_misread() -> None:
    data = samples(40)
    _, labels = drawn(80, 0)
    flat = data.images.reshape(80, 28, 28)
    flat[0, 4:25] = 100  # unclear: all values are about as possible as each other
    flat[0, 12:17] += 5
    found = soft_labels(Reader(), data)
    assert found.shape == (80, 3)
    assert found.sum(axis=1) == pytest.approx(np.ones(80))
    assert labels[0] != 1, "else the test would show nothing"
    assert predict_proba(Reader(), flat[:1]).argmax() == 1
    assert (found.argmax(axis=1) == labels).all()


def sums(truth: list[int]) -> Answered:
    """Return one sample of several sums, of two images each."""
    rule_sets, inputs, answers = [], [], {}
    for i in range(len(truth) // 2):
        x, y = Attribute(f"x{i}", [0, 1, 2]), Attribute(f"y{i}", [0, 1, 2])
        both, total = Attribute.product(f"both{i}", x, y), Attribute(f"total{i}", range(5))
        rule_sets += [
            RuleSet(
                Iff(one.isin({v})).then(both.where(f"{one.name} == {v}"))
                for one in (x, y)
                for v in range(3)
            ),
            RuleSet(Iff(both.where(f"x{i} + y{i} == {t}")).then(total.isin({t})) for t in range(5)),
        ]
        inputs += [x.name, y.name]
        answers[total.name] = [truth[2 * i] + truth[2 * i + 1]]
    images = np.zeros((1, len(truth), 28, 28), np.uint8)
    return Answered(Cascade(*rule_sets), inputs, images, answers)


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
    found = corrected(sums(truth), seen)
    assert found.argmax(axis=1).tolist() == truth
    assert found.max(axis=1).min() > 0.7, "no reading is left open"


def test_a_tie_stays_one_and_hides_nothing() -> None:
    # The first sum is 2 and both images look like a 0: 0 + 2 and 2 + 0 are equally possible.
    sure = [1.0 - 2e-6, 1e-6, 1e-6]
    seen = np.array([sure, sure, [0.1, 0.8, 0.1], [0.35, 0.4, 0.25]])
    found = corrected(sums([0, 2, 1, 2]), seen)
    assert found[0].tolist() == found[1].tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3])
    assert found[2:].argmax(axis=1).tolist() == [1, 2]
    assert found[2:].max(axis=1).min() > 0.7


def test_how_specific_a_label_is() -> None:
    even = np.full((4, 3), 1 / 3)
    labels, specificity = believed(sums([0, 0, 0, 1]), even, np.arange(1))
    # A sum of 0 leaves one value; a sum of 1 leaves two of three.
    assert specificity.tolist() == pytest.approx([1.0, 1.0, 0.5, 0.5])
    assert labels.tolist() == [pytest.approx(row) for row in [[1, 0, 0]] * 2 + [[0.5, 0.5, 0]] * 2]


def test_answers_that_nothing_gives() -> None:
    x = Attribute("x", [0, 1, 2])
    seen = Attribute("seen", ["no", "yes"])
    rules = Cascade(RuleSet([Iff(x.isin({0, 1, 2})).then(seen.isin({"yes"}))]))
    images = np.zeros((2, 1, 28, 28), np.uint8)
    data = Answered(rules, ["x"], images, {"seen": ["yes", "no"]})
    with raises_saying(DataError, "sample 1: no reading gives its answers", "seen = 'no'"):
        soft_labels(Reader(), data)


def test_no_start_is_good_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    scored(monkeypatch, [0.3, 0.4])
    said: list[str] = []
    found = best_start(
        network, samples(), samples(), RECIPE, seeds=[0, 1], enough=0.9, say=said.append
    )
    assert found.seed == 1
    assert "no start gives 90 % of the answers rightly" in said[-1]
    assert "start 1 with 40.0 %" in said[-1]


def test_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with raises_saying(DataError, "file", "cannot be made"):
        best_start(
            network, samples(), samples(), RECIPE, seeds=[0], directory=tmp_path / "file" / "x"
        )


def test_a_labelled_image_keeps_its_label_and_helps_its_partner() -> None:
    data = samples(40)
    _, labels = drawn(80, 0)
    data.images.reshape(80, 28, 28)[:2, 4:25] = 100  # both images of a sample are unclear
    assert labels[:2].sum() in (1, 2, 3), "else there would be only one way to it"
    known = np.full((40, 2), None)
    known[0, 0] = labels[0]
    mixed = Answered(data.cascade, data.inputs, data.images, data.answers, known)
    assert soft_labels(Reader(), data)[0].max() <= 0.5
    found = soft_labels(Reader(), mixed)[:2]
    assert (found == np.eye(3)[labels[:2]]).all()


def test_labels_that_contradict_the_answer() -> None:
    data = samples(3)
    known = np.full((3, 2), None)
    known[1] = 2, 2
    answers = {"total": [4, 0, 4]}
    with raises_saying(DataError, "sample 1: its labels contradict its answers", "total = 0"):
        soft_labels(Reader(), Answered(data.cascade, data.inputs, data.images, answers, known))


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
