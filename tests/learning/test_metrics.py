"""Accuracy: what is right, and of which outputs."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from messages import raises_saying
from pinesy import Attribute, Cascade, DataError, Iff, Possibility, RuleSet
from pinesy.learning import accuracy
from strategies import BatchCase, batches

X, Y = Attribute("x", [0, 1]), Attribute("y", [0, 1])
U, V = Attribute("u", [0, 1]), Attribute("v", [0, 1])
PAIR = Cascade(
    RuleSet([Iff(X.isin({0})).then(U.isin({0}))]), RuleSet([Iff(Y.isin({0})).then(V.isin({0}))])
)
CHAIN = Cascade(
    RuleSet([Iff(X.isin({0})).then(U.isin({0}))]),
    RuleSet([Iff(U.isin({0})).then(V.isin({0}))]),
)
#: Certainly 0, probably 0, nobody knows, probably 1.
XS = {"x": np.array([[1.0, 0.0], [1.0, 0.5], [1.0, 1.0], [0.3, 1.0]])}


def test_accuracy_counts_final_outputs_that_are_decided_and_right() -> None:
    assert accuracy(CHAIN, XS, {"v": [0, 0, 0, 1]}) == 0.75
    assert accuracy(CHAIN, XS, {"v": [0, 1, 1, 1]}) == 0.5
    assert accuracy(CHAIN, XS, {V: [0, 0, 0, 1], "u": [1, 1, 1, 0]}) == 0.75  # u is on the way


def test_accuracy_wants_all_outputs_right() -> None:
    inputs = {"x": XS["x"], "y": XS["x"]}
    assert accuracy(PAIR, inputs, {"u": [0, 0, 0, 1], "v": [1, 0, 0, 1]}) == 0.5


def test_without_targets_of_outputs_accuracy_takes_what_there_is() -> None:
    assert accuracy(CHAIN, XS, {"u": [0, 1, 0, 1]}) == 0.5


def test_accuracy_takes_every_form_of_samples() -> None:
    assert accuracy(CHAIN["u"], XS["x"], [0, 0, 0, 1]) == 0.75
    assert accuracy(CHAIN["u"], {"x": {0: 1.0}}, 0) == 1.0
    both = np.concatenate([XS["x"], XS["x"]], axis=1)
    assert accuracy(PAIR, both, {"v": np.array([0, 0, 0, 1])}) == 0.75
    graded = [[1.0, 0.2], [1.0, 0.2], [1.0, 0.2], [1.0, 0.9]]
    assert accuracy(CHAIN, XS, {"v": graded}) == 0.5
    assert accuracy(CHAIN, XS, {"v": Possibility(V, np.array(graded))}) == 0.5


def test_a_target_with_two_best_values_is_refused() -> None:
    graded = [[1.0, 0.2], [1.0, 1.0], [1.0, 0.2], [1.0, 0.9]]
    with raises_saying(DataError, "target of 'v', row 1", "several", "metric of your own"):
        accuracy(CHAIN, XS, {"v": graded})


@given(batches(sizes=(1, 5)), st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_accuracy_is_that_of_single_samples(case: BatchCase, seed: int) -> None:
    rng = np.random.default_rng(seed)
    outputs = case.cascade.outputs
    labels = {
        a.name: [a.domain[rng.integers(len(a.domain))] for _ in range(case.n)] for a in outputs
    }
    right = 0
    for i in range(case.n):
        found = case.cascade.infer(case.row(i))
        right += all(found[n].decided and found[n].best == labels[n][i] for n in found)
    assert accuracy(case.cascade, case.evidence, labels) == right / case.n
