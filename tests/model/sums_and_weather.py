"""Small models for tests: sums of digits from a table, and streets in the weather."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pinesy import Attribute, Cascade, Iff, RuleSet, antipignistic
from pinesy.model import NeuroSymbolic
from pinesy.problems import addition, addition_labels

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(5)
#: What a classifier says of 400 images of digits, a tenth of them hard to read.
DIGITS = RNG.integers(0, 10, 400)
BLUR = np.where(RNG.random(400) < 0.1, 0.7, 0.05)[:, None]
TABLE = BLUR * RNG.dirichlet(np.ones(10), 400) + (1 - BLUR) * np.eye(10)[DIGITS]
SUMS = addition(2)
SAMPLES = RNG.permutation(400).reshape(100, 4)  # the images of a_1 .. a_4
NAMES = ["a_1", "a_2", "a_3", "a_4"]
LABELS = addition_labels(DIGITS[SAMPLES])
SKY = Attribute("sky", ["dark", "clear"])
WIND = Attribute("wind", ["calm", "storm", "breeze"])
STREET = Attribute("street", ["wet", "dry"])
WEATHER = Cascade(
    RuleSet(
        [
            Iff(SKY.isin({"dark"})).then(STREET.isin({"wet"})),
            Iff(WIND.isin({"storm"})).then(STREET.isin({"wet"})),
        ]
    )
)


def table(indices: Array) -> Array:
    """Look probabilities up: the data are indices of images."""
    return np.asarray(TABLE[indices])


def light(data: Array) -> Array:
    """Tell a dark sky from a clear one by its brightness."""
    return np.stack([1 - data, data], axis=1)


def speed(data: Array) -> Array:
    """Tell calm, storm and breeze apart by two measurements."""
    p = np.column_stack([np.exp(-data[:, 0]), data[:, 1], np.full(len(data), 0.3)])
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def by_hand(transform: Callable[[Any], Any] = antipignistic) -> Array:
    """Return the evidence on the samples: a_2, a_4, a_1, a_3, in the order of the rules."""
    return np.hstack([transform(TABLE[SAMPLES[:, NAMES.index(a.name)]]) for a in SUMS.inputs])


def sums(**options: Any) -> NeuroSymbolic:
    return NeuroSymbolic(options.pop("perception", table), SUMS, **{"inputs": NAMES, **options})


def weather(n: int = 60, seed: int = 0) -> tuple[dict[str, Array], Array]:
    """Return what was measured on some days, and how possible a wet and a dry street are."""
    rng = np.random.default_rng(seed)
    data = {"sky": rng.random(n), "wind": rng.random((n, 2))}
    wet = np.where((data["sky"] < 0.5) | (data["wind"][:, 1] > 0.8), 1.0, 0.3)
    return data, np.stack([wet, np.where(wet == 1.0, 0.2, 1.0)], axis=1)


WEATHER_PERCEPTION = {"sky": light, "wind": speed}


class Means:
    """A perception that learns: the nearer the mean of a class, the more probable it is."""

    suffix = ".json"

    def __init__(self, means: Array | None = None) -> None:
        self.means = means

    def fit(self, data: Array, labels: Array) -> None:
        self.means = np.array([data[labels == j].mean() for j in range(int(labels.max()) + 1)])

    def predict_proba(self, data: Array) -> Array:
        assert self.means is not None
        near = np.exp(-20 * (data[:, None] - self.means) ** 2)
        return np.asarray(near / near.sum(axis=1, keepdims=True))

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(None if self.means is None else self.means.tolist()))

    def restore(self, path: Path) -> None:
        self.means = np.array(json.loads(path.read_text()))
