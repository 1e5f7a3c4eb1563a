"""Several readings together: the truth stays possible, and answers that all give stay right."""

from typing import Any

import numpy as np
import pytest

from messages import raises_saying
from pinesy import (
    Attribute,
    Cascade,
    CascadeError,
    Combined,
    DataError,
    NeuroSymbolic,
    antipignistic,
    function,
    joint,
    shortcuts,
)

HALF = [(0, 0), (0, 1), (1, 0), (2, 3), (3, 2), (2, 4), (4, 2)]
OTHERS = [(a, b) for a in range(5) for b in range(5) if (a, b) not in HALF]
Array = np.ndarray[Any, Any]


def addition(n: int = 5) -> Cascade:
    left, right = Attribute("left", range(n)), Attribute("right", range(n))
    return function("total", joint("pair", left, right), "left + right")


class Reader:
    """Reads each value as a remapping says, nearly surely; data are the values themselves."""

    def __init__(self, readings: Any) -> None:
        self.read = np.array([readings[v] for v in range(5)])

    def __call__(self, data: Array) -> Array:
        return np.asarray(np.full((len(data), 5), 0.02) + 0.9 * np.eye(5)[self.read[data]])


@pytest.fixture(scope="module")
def combined() -> Combined:
    rules = addition()
    found = shortcuts(rules, HALF)
    readers = [Reader(one.readings["left, right"]) for one in found.remappings]
    return Combined([NeuroSymbolic(reader, rules) for reader in readers])


def test_concepts_contain_the_truth(combined: Combined) -> None:
    pairs = np.array(HALF + OTHERS)
    concepts = combined.concepts(pairs)
    for column, name in enumerate(["left", "right"]):
        degrees = concepts[name].degrees
        assert (degrees[np.arange(len(pairs)), pairs[:, column]] == 1.0).all()
        # 0 and 1 are told by the answers, and what is a 2 or a 3 is not
        assert (concepts[name].decided == (pairs[:, column] <= 1)).all()


def test_answers_stay_right_where_all_readings_give_them(combined: Combined) -> None:
    observed = combined.predict(np.array(HALF))
    assert observed["total"].tolist() == [a + b for a, b in HALF]
    assert (observed.outcomes["total"] == "decided").all()
    # elsewhere the readings differ, and the right sum is among what is fully possible
    found = combined.predict_possibility(np.array(OTHERS))["total"]
    for row, (a, b) in enumerate(OTHERS):
        assert found.sample(row)[a + b] == 1.0
    unsure = [max(a, b) > 1 for a, b in OTHERS]
    assert (~found.decided).tolist() == unsure
    assert set(found.outcome) == {"decided", "several"}


def test_degrees_are_the_largest_of_the_models(combined: Combined) -> None:
    pairs = np.array(OTHERS)
    each = [model.predict_possibility(pairs)["total"].degrees for model in combined.models]
    assert (combined.predict_possibility(pairs)["total"].degrees == np.maximum.reduce(each)).all()
    seen = [antipignistic(model.perception(pairs[:, 0])) for model in combined.models]
    assert (combined.evidence(pairs)[:, :5] == np.maximum.reduce(seen)).all()
    assert combined.concepts(pairs)["left"].normalised.all()


def test_one_model_is_what_it_is(combined: Combined) -> None:
    pairs, model = np.array(HALF), combined.models[1]
    alone = Combined([model])
    assert (alone.evidence(pairs) == model.evidence(pairs)).all()
    one, other = alone.predict(pairs, outputs=["pair"]), model.predict(pairs, outputs=["pair"])
    assert one["pair"].tolist() == other["pair"].tolist()


def test_what_is_wrong_is_said() -> None:
    model = NeuroSymbolic(Reader(range(5)), addition())
    with raises_saying(DataError, "no models to combine"):
        Combined([])
    with raises_saying(DataError, "a model is 3", "NeuroSymbolic"):
        Combined([3])  # type: ignore[list-item]
    with raises_saying(CascadeError, "other inputs"):
        Combined([model, NeuroSymbolic(Reader(range(5)), addition(4))])
