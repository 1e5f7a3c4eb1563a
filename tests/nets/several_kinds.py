"""Numbers and words, read by networks of several kinds: a task for learning from answers."""

from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils.data import IterableDataset

from pinesy import Attribute, function
from pinesy.nets import AnsweredInputs, InputReader, RuleLayer

NUMBER, WORD = Attribute("number", range(3)), Attribute("word", ["plus", "times"])
OTHER = Attribute("other", range(3))
RULES = function("answer", [NUMBER, WORD, OTHER], lambda a, w, b: a + b if w == "plus" else a * b)
LAYER = RuleLayer(RULES, semantics="probabilistic")
KINDS = {"number": "number", "other": "number", WORD: "word"}


def reader(seed: int = 0) -> InputReader:
    """Numbers are points in the plane, words are tokens: other shapes and types."""
    torch.manual_seed(seed)
    words = nn.Sequential(nn.Embedding(4, 3), nn.Dropout(0.1), nn.Linear(3, 2))
    return InputReader(RULES, {"number": nn.Linear(2, 3), "word": words}, KINDS)


def samples(n: int = 64, seed: int = 0) -> AnsweredInputs:
    rng = np.random.default_rng(seed)
    a, b, w = rng.integers(0, 3, n), rng.integers(0, 3, n), rng.integers(0, 4, n)
    corners = np.array([[0.0, 3.0], [3.0, 0.0], [-3.0, -3.0]], np.float32)
    seen = {"number": corners[a], "other": corners[b], "word": w}
    return AnsweredInputs(seen, {"answer": np.where(w < 2, a + b, a * b)})


class Stream(IterableDataset):  # type: ignore[type-arg]
    """Samples one after the other: nobody knows how many."""

    def __init__(self, data: Any, n: int = 64) -> None:
        self.data, self.n = data, n

    def __iter__(self) -> Any:
        return (self.data[i] for i in range(self.n))
