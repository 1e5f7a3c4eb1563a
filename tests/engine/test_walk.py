"""Programs that NumPy runs, for few samples: bit for bit what the kernels give."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinesy import Attribute, Iff, Program, RuleSet, calibrate
from pinesy._common import caching
from pinesy.engine import number_types, program, rule_set_kinds, walk
from pinesy.engine.number_types import NUMBER_TYPES, round_degrees
from pinesy.exceptions import DegreeError
from pinesy.problems import addition
from pinesy.transforms import transformation
from strategies import BatchCase, FloatArray, batches, random_batch

SIZES = (1, 2, 7, 65)


@contextmanager
def without_kernels() -> Iterator[None]:
    """Run programs, rounding and transformations by NumPy and Python."""
    with pytest.MonkeyPatch.context() as patches:
        for module in (program, number_types, transformation):
            patches.setattr(module, "kernels_pay", lambda *_: False)
            patches.setattr(module, "load_kernels", None)
        yield


def assert_same(compiled: Program, evidence: Any, **options: Any) -> None:
    """Compare all output columns, with the signs of zeros."""
    by_kernels = compiled.columns(evidence, **options)
    with without_kernels():
        by_numpy = compiled.columns(evidence, **options)
    assert by_numpy.dtype == by_kernels.dtype
    assert by_numpy.shape == by_kernels.shape
    assert by_numpy.tobytes() == by_kernels.tobytes()
    assert not by_numpy.flags.writeable


def softmax(rng: np.random.Generator, n: int, m: int) -> FloatArray:
    x = np.exp(rng.normal(0, 3, (n, m)))
    return np.asarray(x / x.sum(axis=1, keepdims=True))


@given(case=batches(SIZES))
def test_every_degree_of_a_cascade(case: BatchCase) -> None:
    """Random rules contradict each other now and then; traces have all degrees of premises."""
    for trace in (False, True):
        compiled = case.cascade.compile(trace=trace)
        for dtype in NUMBER_TYPES:
            raw = {n: round_degrees(x, np.dtype(dtype)) for n, x in case.evidence.items()}
            for evidence in (case.evidence, raw):
                assert_same(compiled.astype(dtype), evidence)


@settings(max_examples=20)
@given(case=batches(SIZES), name=st.sampled_from(["antipignistic", "minimum-specificity"]))
def test_probabilities(case: BatchCase, name: str) -> None:
    rng = np.random.default_rng(case.n)
    compiled = case.cascade.compile()
    evidence = {a.name: softmax(rng, case.n, len(a.domain)) for a in compiled.inputs}
    for dtype in NUMBER_TYPES:
        assert_same(compiled.astype(dtype), evidence, transform=name)


@settings(max_examples=20)
@given(case=batches(SIZES))
def test_distributions_that_are_not_normalised(case: BatchCase) -> None:
    last = case.cascade.rule_sets[-1]
    inputs = {a.name: a for a in last.inputs}
    compiled = Program([last.unit], [last.output], inputs, unnormalised=list(inputs))
    rng = np.random.default_rng(case.n)
    assert_same(compiled, rng.integers(0, 11, (case.n, compiled.code.n_inputs)) / 10)


def test_wide_sets() -> None:
    rng, n = np.random.default_rng(0), 100
    a, b = Attribute("a", range(n)), Attribute("b", range(n))
    rules = [
        Iff(a.isin(rng.choice(n, 30).tolist())).then(b.isin(rng.choice(n, 30).tolist()), s, r)
        for s, r in rng.integers(0, 11, (n, 2)) / 10
    ]
    compiled = RuleSet(rules).compile()
    assert n * 2 * n > rule_set_kinds.WIDE
    x = random_batch(rng, 20, n, 10)
    for dtype in NUMBER_TYPES:
        assert_same(compiled.astype(dtype), x)


def test_other_constants_and_layouts() -> None:
    compiled, rng = addition(2).compile(), np.random.default_rng(1)
    x = np.hstack([random_batch(rng, 9, 10, 10) for _ in compiled.inputs])
    constants = compiled.code.constants.copy()
    constants[2:] = 0.25
    expected = compiled.run(x, constants)
    with without_kernels():
        assert compiled.run(x, constants).tobytes() == expected.tobytes()
        assert compiled.run(np.asfortranarray(x), constants).tobytes() == expected.tobytes()
        assert compiled.run(x[:0]).shape == (compiled.code.n_outputs, 0)


def test_negative_zeros_become_zeros() -> None:
    compiled = addition(1).compile()
    x = np.where(np.eye(20)[[3, 15]] + np.eye(20)[[14, 2]] > 0, 1.0, -0.0)
    for dtype in NUMBER_TYPES:
        assert_same(compiled.astype(dtype), x)
    with without_kernels():
        assert not np.signbit(compiled.columns(x)).any()


@pytest.mark.parametrize("wrong", [np.nan, -0.5, 1.5, np.inf, 0.5])
@pytest.mark.parametrize("dtype", NUMBER_TYPES)
def test_the_first_invalid_sample_is_refused_in_the_same_words(wrong: float, dtype: str) -> None:
    """With 0.5 in the place of 1 a distribution is not normalised."""
    compiled, x = addition(1).compile(dtype=dtype), np.tile(np.eye(10)[[4, 4]].ravel(), (5, 1))
    x[2, 4] = x[4, 14] = wrong
    with pytest.raises(DegreeError, match="row 2") as by_kernels:
        compiled.infer(x)
    with without_kernels(), pytest.raises(DegreeError) as by_numpy:
        compiled.infer(x)
    assert str(by_numpy.value) == str(by_kernels.value)


def test_calibrated_rules() -> None:
    rules, rng = addition(1), np.random.default_rng(3)
    digits = rng.integers(0, 10, (2, 60))
    evidence: dict[str, FloatArray] = {}
    for name, values in zip(("a_1", "a_2"), digits, strict=True):
        noisy = np.eye(10)[values] + 0.3 * rng.random((60, 10))
        evidence[name] = noisy / noisy.sum(axis=1, keepdims=True)
    targets = {"a_1": digits[0].tolist(), "a_2": digits[1].tolist()}
    calibrated = calibrate(rules, evidence, targets)
    few = {name: rows[:4] for name, rows in evidence.items()}
    expected = calibrated.infer(few)
    with without_kernels():
        found = calibrated.infer(few)
    for name in expected:
        assert found[name].degrees.tobytes() == expected[name].degrees.tobytes()


# --- when ----------------------------------------------------------------------------------------


def test_kernels_pay_once_the_same_without_them_took_as_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(caching, "LOADING_TIME", 100)
    monkeypatch.setattr(caching, "_without_kernels", 0.0)
    pay = [caching.kernels_pay("no.kernels", time) for time in (101, 60, 60, 40, 1)]
    assert pay == [True, False, True, False, True]
    assert caching.kernels_pay(__name__, 0)  # a module that is loaded


def test_a_walk_needs_little_memory() -> None:
    code = addition(1).compile().code
    most = walk.MAX_SCRATCH // code.n_slots
    assert walk.walk_time(code, most) < caching.LOADING_TIME + 1e9
    assert walk.walk_time(code, most + 1) == np.inf
    assert walk.walk_time(code, 20) < walk.walk_time(code, 1000)
