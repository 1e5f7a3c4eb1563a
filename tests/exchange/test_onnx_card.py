"""Score cards as ONNX: class and probability of `predict`, blanks included."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exchange.onnx_runs import run, same_bits
from induction.random_cards import random_card, rows
from pinesy import Cascade, to_onnx
from pinesy.induction import CardCascade

onnx = pytest.importorskip("onnx")


@settings(max_examples=12)
@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(0, 8), st.integers(0, 2))
def test_class_and_probability(seed: int, n_classes: int, n_lines: int, n_kept: int) -> None:
    cascade = CardCascade(random_card(seed, n_classes, n_lines, n_kept))
    model = to_onnx(cascade)
    degrees = rows(np.random.default_rng(seed), cascade.inputs, 12, 0.3)
    bounds = np.cumsum([0, *(len(a.domain) for a in cascade.inputs)])
    inputs = {
        a.name: np.ascontiguousarray(degrees[:, i:j])
        for a, i, j in zip(cascade.inputs, bounds[:-1], bounds[1:], strict=True)
    }
    found, scores = run(model, inputs), cascade.score(degrees)
    assert found["class"].tolist() == scores.best.tolist()
    assert same_bits(found["probability"], scores.probability)
    assert same_bits(found["state"], cascade.infer(degrees)["state"].degrees)


def test_refused_samples_and_names() -> None:
    cascade = CardCascade(random_card(1, 3))
    model = to_onnx(cascade)
    texts = json.loads({p.key: p.value for p in model.metadata_props}["pinesy"])
    assert texts["card"] == {"attribute": "state", "class": "class", "probability": "probability"}
    found = run(
        model, {a.name: np.full((2, len(a.domain)), [[1.0], [0.5]]) for a in cascade.inputs}
    )
    assert found["class"].tolist()[1] == -1
    assert np.isnan(found["probability"]).all(axis=1).tolist() == [False, True]
    plain = {o.name for o in to_onnx(Cascade(cascade)).graph.output}
    assert plain.isdisjoint({"class", "probability"})
