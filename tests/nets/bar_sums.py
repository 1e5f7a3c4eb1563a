"""Images of bars, pairs of which are added: a task for tests of learning from answers."""

from typing import Any

import numpy as np

from pinesy import Attribute, Cascade, Iff, RuleSet
from pinesy.nets import AnsweredInputs, DeepSoftLogCNN, InputReader, Recipe, RuleLayer, preprocess

RECIPE = Recipe("adamw", 5e-3, "constant", batch=8, epochs=6)
X, Y = Attribute("x", [0, 1, 2]), Attribute("y", [0, 1, 2])
BOTH = Attribute.product("both", X, Y)
TOTAL = Attribute("total", range(5))
RULES = Cascade(
    RuleSet(
        [Iff(a.isin({v})).then(BOTH.where(f"{a.name} == {v}")) for a in (X, Y) for v in range(3)]
    ),
    RuleSet(Iff(BOTH.where(f"x + y == {t}")).then(TOTAL.isin({t})) for t in range(5)),
)
LAYER = RuleLayer(RULES)


def drawn(n: int, seed: int) -> tuple[Any, Any]:
    """Return images of a bright bar at one of three heights, in noise, and which it is."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n)
    images = rng.integers(0, 60, (n, 28, 28), np.uint8)
    for image, label in zip(images, labels, strict=True):
        image[4 + 8 * label : 9 + 8 * label] += 150
    return images, labels


def pairs(images: Any, names: tuple[str, str] = ("x", "y")) -> dict[str, Any]:
    """Return images as inputs, two a sample."""
    pixels = preprocess(images)
    return {names[0]: pixels[0::2], names[1]: pixels[1::2]}


def samples(n: int = 60, seed: int = 0, **labels: Any) -> AnsweredInputs:
    """Return pairs of images and their sums, with labels if some are given."""
    images, read = drawn(2 * n, seed)
    return AnsweredInputs(pairs(images), {"total": read[0::2] + read[1::2], **labels})


def network(seed: int = 0) -> Any:
    return DeepSoftLogCNN(3, seed=seed)


def reader(seed: int = 0) -> InputReader:
    return InputReader(RULES, network(seed))


def weights(net: Any) -> list[bytes]:
    return [p.detach().numpy().tobytes() for p in net.parameters()]
