"""Learning from batches: the bits of learning all at once, in memory that does not grow."""

import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.oracle_help import (
    DIAMOND,
    SKIP,
    A,
    B,
    Inputs,
    Targets,
    assert_certified,
    bits,
    copies,
    part,
    parts,
    random_samples,
)
from messages import raises_saying
from pinesy import Attribute, Iff, LearningError, PinesyError, RuleSet, learn
from pinesy.exceptions import DataError, DegreeError, DomainError, UnknownAttributeError
from pinesy.learning import LearningResult, learn_batches, sample_passes
from pinesy.samples import SampleFile
from strategies import BatchCase, batches

#: Mild enough that most sets keep some samples.
TAU = 0.8


def outcome(learning: Callable[[], LearningResult]) -> Any:
    """Return the bits of a result, or the name of the set that kept no sample."""
    try:
        return bits(learning())
    except LearningError as error:
        return error.rule_set, error.smallest


# --- any batches, any order --------------------------------------------------------------------


@given(batches(sizes=(1, 2, 9, 140)), st.integers(0, 2**16), st.lists(st.integers(1, 139)))
def test_batches_are_learned_as_one(case: BatchCase, seed: int, cuts: list[int]) -> None:
    inputs, targets = random_samples(case.cascade, case.n, seed)
    order = np.random.default_rng(seed).permutation(case.n).tolist()
    each = parts(inputs, targets, order, [c for c in cuts if c < case.n])
    tau = (None, TAU)[seed % 2]
    whole = outcome(lambda: learn(case.cascade, inputs, targets, tolerance=tau))
    assert outcome(lambda: learn_batches(case.cascade, each, tolerance=tau)) == whole


@pytest.mark.parametrize("size", [1, 100, 128, 129, 300])
def test_blocks_and_batches(size: int) -> None:
    inputs, targets = random_samples(SKIP, 300, seed=5)
    each = parts(inputs, targets, range(300), range(0, 300, size))
    result = learn_batches(SKIP, each, tolerance=TAU, progress=True)
    assert_certified(inputs, targets, result)
    assert bits(result) == bits(learn(SKIP, inputs, targets, tolerance=TAU))
    assert result.nabla == {}
    with raises_saying(DataError, "the distances of the samples of 'z' were not kept", "audit"):
        result["z"].reliable  # noqa: B018


@pytest.mark.parametrize("threads", ["1", "4"])
@pytest.mark.parametrize("chunk", [1, 37, 128, 300, 4096])
def test_chunks_and_threads(chunk: int, threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs, targets = random_samples(DIAMOND, 300, seed=6)
    expected = learn(DIAMOND, inputs, targets, tolerance=TAU)
    monkeypatch.setenv("PINESY_NUM_THREADS", threads)
    monkeypatch.setattr(sample_passes, "CHUNK", chunk)
    monkeypatch.setattr(sample_passes, "THREAD_STEPS", 0)
    found = learn(DIAMOND, inputs, targets, tolerance=TAU)
    assert bits(found) == bits(expected)
    assert found.nabla["e"].tobytes() == expected.nabla["e"].tobytes()


def test_batches_may_hold_values_or_degrees() -> None:
    """Of one attribute one batch may hold values and another degrees."""
    inputs, targets = random_samples(DIAMOND, 20, seed=7, graded=False)
    first, second = parts(inputs, targets, range(20), [11])
    graded = {n: np.eye(2)[[int(v) for v in values]] for n, values in second[1].items()}
    found = learn_batches(DIAMOND, [first, (second[0], graded)])
    assert bits(found) == bits(learn(DIAMOND, inputs, targets))


def test_a_rule_set_takes_its_targets_alone() -> None:
    inputs, targets = random_samples(DIAMOND, 20, seed=7)
    alone = [({"a": x["a"]}, t["b"]) for x, t in parts(inputs, targets, range(20), [11])]
    assert bits(learn_batches(DIAMOND["b"], alone)) == bits(
        learn(DIAMOND["b"], {"a": inputs["a"]}, targets["b"])
    )


@pytest.mark.parametrize("domain", [[0, 1, 2], [1, 2, 3], ["low", "mid", "high"]])
def test_a_data_file(domain: list[Any], tmp_path: Path) -> None:
    """The values of a file are those of the attribute, whatever their positions."""
    level = Attribute("level", domain)
    rules = RuleSet([Iff(A.isin({1})).then(level.isin(domain[1:]))])
    labels, path = [domain[0], domain[1], domain[2], domain[1]], tmp_path / "data.jsonl"
    rows = [[1.0, 0.25], [0.5, 1.0], [0.0, 1.0], [1.0, 1.0]]
    lines = [
        f'{{"a": {row}, "level": {value!r}}}'.replace("'", '"')
        for row, value in zip(rows, labels, strict=True)
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    file = SampleFile(path, [A], targets=[level], batch=3)
    assert bits(learn_batches(rules, file)) == bits(learn(rules, {"a": rows}, labels))


# --- memory ------------------------------------------------------------------------------------


class Made:
    """Batches that are made when they are asked for; it counts those that are still there."""

    def __init__(self, number: int, size: int = 2000) -> None:
        self.number = number
        self.size = size
        self.alive = 0
        self.most = 0

    def __iter__(self) -> Iterator[tuple[Inputs, Targets]]:
        for seed in range(self.number):
            inputs, targets = random_samples(DIAMOND, self.size, seed)
            self.alive += 1
            self.most = max(self.most, self.alive)
            weakref.finalize(inputs["a"], self.gone)
            yield inputs, targets
            del inputs, targets

    def gone(self) -> None:
        self.alive -= 1


def peak(number: int) -> tuple[int, int]:
    """Return the bytes held at most while learning from so many batches, and the batches."""
    made = Made(number)
    tracemalloc.start()
    learn_batches(DIAMOND, made, tolerance=TAU)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found, made.most


def test_memory_does_not_grow_with_the_number_of_batches() -> None:
    peak(2)  # everything is loaded and compiled
    few, some = peak(10)
    many, most = peak(50)
    assert some <= most <= 3
    assert many < 1.2 * few


# --- what is refused ---------------------------------------------------------------------------

GOOD = part(*random_samples(DIAMOND, 4, seed=1, graded=False), range(4))
X, Y = GOOD


@pytest.mark.parametrize("wrong", [iter([GOOD]), map(tuple, [GOOD]), (g for g in [GOOD]), 5, None])
def test_what_cannot_be_read_twice(wrong: Any) -> None:
    with raises_saying(DataError, "must be something that can be iterated again", "SampleFile"):
        learn_batches(DIAMOND, wrong)


class Passes:
    """So many equal batches each time that it is iterated."""

    def __init__(self, batch: Any, *numbers: int) -> None:
        self.batch = batch
        self.numbers = list(numbers)

    def __iter__(self) -> Iterator[Any]:
        return iter([self.batch] * (self.numbers.pop(0) if self.numbers else 0))


def test_batches_that_change() -> None:
    """Twice they are only looked at; then come the passes."""
    batch = part(*random_samples(SKIP, 4, seed=2), range(4))
    with raises_saying(DataError, "held 8 samples when they were first read and 4 now", "same"):
        learn_batches(SKIP, Passes(batch, 2, 2, 2, 1))
    with pytest.raises(DataError):
        learn_batches(SKIP, Passes(batch, 1, 1, 0, 0))
    with raises_saying(DataError, "no batches to learn from"):
        learn_batches(SKIP, [])


BAD: list[tuple[Any, type[PinesyError], list[str]]] = [
    ([X, Y], DataError, ["batch 1 is not a pair (evidence, targets)"]),
    ((X, Y, Y), DataError, ["batch 1 is not a pair"]),
    ((X, {"b": Y["b"]}), DataError, ["batch 1 has targets for b, the first batch for b, c, e"]),
    ((X, [0]), DataError, ["batch 1: targets are list", "give a mapping"]),
    ((X, {**Y, "q": [0] * 4}), UnknownAttributeError, ["batch 1: there is a target for 'q'"]),
    ((X, {**Y, "c": [0, 1, 2, 0]}), DomainError, ["batch 1: the target of 'c', row 2", "value 2"]),
    ((X, {**Y, "c": [0, 1, 0]}), DataError, ["batch 1: there are 4 samples", "3 of the target"]),
    (({**X, "a": X["a"] * 0.5}, Y), DegreeError, ["batch 1: attribute 'a', row 0", "normalised"]),
    (({"a": X["a"]}, Y), PinesyError, ["batch 1: no distribution is given for d"]),
]


@pytest.mark.parametrize(("bad", "error", "words"), BAD, ids=[" ".join(b[2])[:40] for b in BAD])
def test_a_bad_batch_is_named(bad: Any, error: type[PinesyError], words: list[str]) -> None:
    with raises_saying(error, *words):
        learn_batches(DIAMOND, [GOOD, bad])


def test_no_reliable_sample() -> None:
    batch = {"a": np.eye(2)[[0, 1]]}, {"b": [1, 0]}
    with raises_saying(LearningError, "'b': none of the 4 samples", "tolerance 0.2", "is 1,") as e:
        learn_batches(copies(A, B), [batch, batch], tolerance=0.2)
    assert isinstance(e.value, LearningError)
    assert (e.value.rule_set, e.value.smallest) == ("b", 1.0)
