"""From answers to networks that read: starts, labels, a last training."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from messages import raises_saying
from pinesy import check_concepts
from pinesy.exceptions import DataError, DomainError

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from nets import several_kinds as kinds  # noqa: E402
from nets.bar_sums import LAYER, RECIPE, X, drawn, network, samples, weights  # noqa: E402
from pinesy.nets import (  # noqa: E402
    AnswerFit,
    AnswerPhase,
    History,
    Recipe,
    answer_score,
    fit_from_starts,
    learn_from_answers,
    predict_proba,
)

SHORT = RECIPE.with_epochs(4)
PHASES = [AnswerPhase(LAYER, SHORT, "both")]


def learned(**given: Any) -> Any:
    return learn_from_answers(network, PHASES, samples(80), samples(20, 1), finish=SHORT, **given)


def test_a_network_learns_to_read() -> None:
    said: list[str] = []
    found = learned(seeds=[0, 1], say=said.append)
    images, labels = drawn(60, 2)
    seen = check_concepts(X, predict_proba(found.reader.network, images), labels)
    assert (seen.kind, found.score > 0.9, seen.accuracy > 0.9) == ("right", True, True)
    assert found.start.score == max(found.start.scores.values())
    p = found.start.reader.predict_proba(samples(80).inputs)
    changed = [(found.labels[name].argmax(1) != p[name].argmax(1)).mean() for name in "xy"]
    assert found.corrected == np.mean(changed)
    assert found.seconds > sum(found.histories[""].seconds)
    assert said[-1].startswith("the answers label")


def test_networks_of_several_kinds_learn_to_read() -> None:
    recipe = Recipe("adamw", 0.03, "constant", batch=16, epochs=3)
    phases = [AnswerPhase(kinds.LAYER, recipe)]
    data, valid = kinds.samples(), kinds.samples(seed=1)
    stream = kinds.Stream(data)
    found = learn_from_answers(kinds.reader, phases, stream, valid, seeds=[0], finish=recipe)
    assert set(found.histories) == {"number", "word"}
    assert found.labels["word"].shape == (64, 2)
    assert found.score == answer_score(found.reader, kinds.LAYER, valid)
    assert found.score >= found.start.score
    with raises_saying(DomainError, "networks of several kinds, number, word"):
        _ = found.reader.network


def test_it_goes_on_where_it_was(tmp_path: Path) -> None:
    given: Any = {"seeds": [0], "directory": tmp_path}
    first, again = learned(**given), learned(**given)
    assert (again.start.fits[0].resumed, again.histories[""].resumed) == (4, 4)
    assert weights(again.reader) == weights(first.reader)
    assert again.seconds == first.seconds


def test_a_small_network_may_start_for_another() -> None:
    made: list[int] = []

    def small(seed: int) -> Any:
        made.append(seed)
        return network(seed)

    found = learned(seeds=[3], make_start=small)
    assert made == [3]
    assert found.reader is not found.start.reader


def test_a_last_training_that_answers_less_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def ruin(network: Any, *_: Any, **__: Any) -> History:
        for parameter in network.parameters():
            parameter.data.zero_()
        return History((0.0,), (0.0,), (0.0,))

    monkeypatch.setattr("pinesy.nets.learning_from_answers.train", ruin)
    said: list[str] = []
    found = learned(seeds=[0], say=said.append)
    assert found.reader is found.start.reader
    assert found.score == found.start.score
    assert said[-1].endswith("the start is kept")


def scored(monkeypatch: pytest.MonkeyPatch, scores: list[float]) -> list[int]:
    """Let starts have given scores; return the list of seeds that are tried."""
    tried: list[int] = []
    left = iter(scores)

    def trained(*_: Any, seed: int, **__: Any) -> AnswerFit:
        tried.append(seed)
        return AnswerFit((1.0,), (0.0, next(left)), 1, (2.0,))

    monkeypatch.setattr("pinesy.nets.learning_from_answers.fit_answers", trained)
    return tried


def start(**given: Any) -> Any:
    return fit_from_starts(network, PHASES, samples(4), samples(4), **given)


def test_the_best_start_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = scored(monkeypatch, [0.3, 0.8, 0.5])
    said: list[str] = []
    found = start(seeds=[4, 7, 9], say=said.append)
    assert (found.seed, found.score, tried) == (7, 0.8, [4, 7, 9])
    assert found.scores == {4: 0.3, 7: 0.8, 9: 0.5}
    assert found.seconds == 6.0
    assert said[1] == "start 7: 80.0 % of the answers for validation are right"
    assert "no start gives 90 %" in said[-1]
    assert "start 7 with 80.0 %" in said[-1]


def test_a_score_that_is_enough_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = scored(monkeypatch, [0.3, 0.95])
    assert (start(seeds=range(9)).seed, tried) == (1, [0, 1])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"make": network(0)}, ["make is a", "from a seed to new networks"]),
        ({"make": 3}, ["make is a int", "from a seed to new networks"]),
        ({"make": lambda: network(0)}, ["make(1) failed", "one argument, the seed"]),
        ({"make": lambda _: 3}, ["make(1) gave a int"]),
        ({"seeds": 3}, ["seeds is 3; give several"]),
        ({"seeds": []}, ["no seeds to start from"]),
        ({"phases": []}, ["no phases"]),
        ({"phases": [LAYER]}, ["phases has a RuleLayer; give AnswerPhases"]),
        ({"phases": [AnswerPhase(LAYER, None)]}, ["the recipe is a NoneType; give a Recipe"]),  # type: ignore[arg-type]
        ({"finish": None}, ["the recipe is a NoneType; give a Recipe"]),
    ],
)
def test_what_cannot_be_learned_from_is_told_at_once(
    change: dict[str, Any], says: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    scored(monkeypatch, [])
    given: dict[str, Any] = {"make": network, "phases": PHASES, "seeds": [1]}
    with raises_saying(DomainError, *says):
        learn_from_answers(**{**given, **change}, data=samples(4), validation=samples(4))


def test_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with raises_saying(DataError, "file", "cannot be made"):
        start(seeds=[0], directory=tmp_path / "file" / "x")


def test_what_is_augmented_are_images_only() -> None:
    recipe = Recipe("adamw", 0.03, "constant", batch=16, epochs=1, augment=1.0)
    phases = [AnswerPhase(kinds.LAYER, Recipe("adamw", 0.03, "constant", batch=16, epochs=1))]
    data = kinds.samples()
    found = learn_from_answers(kinds.reader, phases, data, data, seeds=[0], finish=recipe)
    assert len(found.histories["number"].losses) == 1
    assert isinstance(found.reader, nn.Module)
