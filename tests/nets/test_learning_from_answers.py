"""From answers to a network that reads: starts, labels, a last training."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from nets.test_training_from_answers import RECIPE, drawn, network, samples, weights
from pinesy.nets import History, learn_from_answers, predict_proba, reading

SHORT = RECIPE.with_epochs(4)


def learned(**given: Any) -> Any:
    return learn_from_answers(
        network, samples(80), samples(20, 1), start=SHORT, finish=SHORT, **given
    )


def test_a_network_learns_to_read() -> None:
    said: list[str] = []
    found = learned(seeds=[0, 1], enough=0.9, say=said.append)
    images, labels = drawn(60, 2)
    seen = reading(predict_proba(found.network, images), labels)
    assert (seen.kind, found.score > 0.9, seen.accuracy > 0.9) == ("right", True, True)
    assert found.start.score == max(found.start.scores.values())
    read = predict_proba(found.start.network, samples(80).flat).argmax(axis=1)
    assert found.corrected == (found.labels.argmax(axis=1) != read).mean()
    assert found.seconds > sum(found.history.seconds)
    assert said[-1].startswith("the answers label")


def test_it_goes_on_where_it_was(tmp_path: Path) -> None:
    given: Any = {"seeds": [0], "directory": tmp_path}
    first, again = learned(**given), learned(**given)
    assert again.history.resumed == 4
    assert weights(again.network) == weights(first.network)
    assert again.seconds == first.seconds


def test_a_small_network_may_start_for_another() -> None:
    made: list[int] = []

    def small(seed: int) -> Any:
        made.append(seed)
        return network(seed)

    found = learned(seeds=[3], make_start=small)
    assert made == [3]
    assert found.network is not found.start.network


def test_a_last_training_that_answers_less_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def ruin(network: Any, *_: Any, **__: Any) -> History:
        for parameter in network.parameters():
            parameter.data.zero_()
        return History((0.0,), (0.0,), (0.0,))

    monkeypatch.setattr("pinesy.nets.learning_from_answers.train", ruin)
    said: list[str] = []
    found = learned(seeds=[0], say=said.append)
    assert found.network is found.start.network
    assert found.score == found.start.score
    assert said[-1].endswith("the start is kept")
