"""Counts of further samples add to those that a model has; other methods learn again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.oracle_help import SKIP, A, B, C, copies, parts, random_samples
from messages import raises_saying
from pinesy import Cascade, learn
from pinesy.exceptions import DataError
from pinesy.learning import learn_more

#: Two sets on the same input: none rests on another.
SIDE_BY_SIDE = Cascade(copies(A, B), copies(A, C))


@given(st.integers(0, 2**16), st.integers(1, 38), st.sampled_from([0.0, 1.0, 2.5]))
def test_counts_of_parts_add_up(seed: int, cut: int, smoothing: float) -> None:
    inputs, targets = random_samples(SIDE_BY_SIDE, 40, seed)
    old, new = parts(inputs, targets, range(40), [cut])
    together = learn(SIDE_BY_SIDE, inputs, targets, method="counts", smoothing=smoothing)
    first = learn(SIDE_BY_SIDE, *old, method="counts", smoothing=smoothing)
    added = learn_more(first, [new])
    assert added.cascade == together.cascade
    assert added.samples == together.samples == 40
    for name, estimate in together.sets.items():
        assert np.array_equal(added[name].counts.units, estimate.counts.units)


def test_counts_that_rest_on_learned_sets_are_not_added() -> None:
    inputs, targets = random_samples(SKIP, 30, seed=1)
    old, new = parts(inputs, targets, range(30), [20])
    with raises_saying(DataError, "'b'", "learn again from all samples"):
        learn_more(learn(SKIP, *old, method="counts"), [new])


@pytest.mark.parametrize("method", ["exact", "gradient"])
def test_other_methods_learn_again(method: str) -> None:
    inputs, targets = random_samples(SIDE_BY_SIDE, 12, seed=2)
    previous = learn(SIDE_BY_SIDE, inputs, targets, method=method)  # type: ignore[call-overload]
    with raises_saying(DataError, "learn again from all samples", "method 'counts'"):
        learn_more(previous, [(inputs, targets)])


def test_the_new_samples_need_the_same_targets() -> None:
    inputs, targets = random_samples(SIDE_BY_SIDE, 12, seed=3)
    previous = learn(SIDE_BY_SIDE, inputs, targets, method="counts")
    with raises_saying(DataError, "targets for b", "for b, c"):
        learn_more(previous, [(inputs, {"b": targets["b"]})])
