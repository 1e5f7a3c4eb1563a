"""Programs in small types of numbers: bit for bit the rounding of the exact results."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings

from messages import raises_saying
from pinesy import Attribute, Cascade, If, Iff, RuleSet
from pinesy.engine.number_types import as_degrees, round_degrees
from pinesy.exceptions import DegreeError, DomainError
from pinesy.problems import addition
from strategies import BatchCase, Case, FloatArray, batches, cases

SMALL = ["float32", "uint16", "uint8"]
LARGEST = {"uint16": 65535, "uint8": 255}


def nearest(degrees: Any, dtype: str) -> npt.NDArray[Any]:
    """The definition of rounding, in NumPy."""
    if dtype == "float32":
        return np.asarray(degrees, dtype=np.float32)
    return np.asarray(np.rint(np.asarray(degrees) * LARGEST[dtype]).astype(dtype))


def assert_rounded(found: Any, exact: Any, dtype: str) -> None:
    assert list(found) == list(exact)
    for name in exact:
        expected = nearest(exact.degrees(name), dtype)
        assert found.degrees(name).dtype == dtype
        assert found.degrees(name).tolist() == expected.tolist()


@settings(max_examples=25)
@given(case=cases())
def test_one_sample_is_the_rounded_exact_result(case: Case) -> None:
    exact = case.cascade.infer(case.evidence)
    for dtype in SMALL:
        raw = {name: nearest(degrees, dtype) for name, degrees in case.evidence.items()}
        for evidence in (case.evidence, raw):
            assert_rounded(case.cascade.infer(evidence, dtype=dtype), exact, dtype)


@settings(max_examples=10)
@given(case=batches())
def test_a_batch_is_the_rounded_exact_result(case: BatchCase) -> None:
    exact = case.cascade.infer(case.evidence)
    for dtype in SMALL:
        program = case.cascade.compile(dtype=dtype)
        raw = {name: nearest(degrees, dtype) for name, degrees in case.evidence.items()}
        mixed = raw | dict([next(iter(case.evidence.items()))])
        for evidence in (case.evidence, raw, mixed):
            assert_rounded(program(evidence), exact, dtype)


def digits(n: int, seed: int = 0) -> FloatArray:
    x = np.random.default_rng(seed).random((n, 4, 10))
    normalised: FloatArray = x / x.max(axis=-1, keepdims=True)
    return normalised.reshape(n, 40)


@pytest.mark.parametrize("dtype", ["float64", *SMALL])
@pytest.mark.parametrize("n", [2, 15, 16, 17, 63, 64, 65, 513, 1100])
def test_every_size_of_a_block(dtype: str, n: int) -> None:
    x = digits(n)
    cascade = addition(2)
    single = np.stack([cascade.infer(x[i])["y_2"].degrees for i in (0, n // 2, n - 1)])
    program = cascade.compile(dtype=dtype)
    exact = round_degrees(single, np.dtype(dtype))
    own = round_degrees(x, np.dtype(dtype))
    for evidence in (x, own, np.asfortranarray(own), own[:, ::-1].copy()[:, ::-1]):
        assert program(evidence).degrees("y_2")[[0, n // 2, n - 1]].tolist() == exact.tolist()


@pytest.mark.parametrize("dtype", ["float64", *SMALL])
def test_every_number_of_columns(dtype: str) -> None:
    for size in (1, 7, 8, 9, 15, 16, 17, 20, 31, 33):
        a, b = Attribute("a", range(size)), Attribute("b", range(size))
        copies = RuleSet([Iff(a.isin({v})).then(b.isin({v})) for v in range(size)])
        x = np.random.default_rng(size).random((37, size))
        x[:, -1] = 1.0
        x[:, : size - 1][:, -1:] = -0.0
        found = Cascade(copies).compile(dtype=dtype)(x).degrees("b")
        assert found.tolist() == round_degrees(x, np.dtype(dtype)).tolist()
        assert not np.signbit(found.astype(np.float64)).any()


def test_parameters_are_rounded_alike() -> None:
    a, b = Attribute("a", [0, 1]), Attribute("b", [0, 1])
    rules = RuleSet([Iff(a.isin({0})).then(b.isin({0}), s=0.3, r=0.7)])
    assert rules.infer({"a": 0}).to_dict() == {0: 1.0, 1: 0.7}
    assert rules.compile(dtype="uint8")({"a": 0}).degrees("b").tolist() == [255, 178]
    assert rules.infer({"a": 0}, dtype="uint8").to_dict() == {0: 1.0, 1: 178 / 255}
    assert rules.infer({"a": 0}, dtype=np.float32)[1] == float(np.float32(0.7))


@pytest.mark.parametrize("dtype", SMALL)
def test_results_are_read_as_degrees(dtype: str) -> None:
    cascade, x = addition(2), digits(40)
    exact = cascade.infer(x)["y_1"]
    found = cascade.infer(x, dtype=dtype)["y_1"]
    degrees = as_degrees(nearest(exact.degrees, dtype))
    assert found.degrees.dtype == np.float64
    assert found.degrees.tolist() == degrees.tolist()
    assert found.normalised.all()
    decided = (degrees == 1.0).sum(axis=1) == 1
    pairs = zip(decided, degrees.argmax(axis=1).tolist(), strict=True)
    assert found.best.tolist() == [index if sure else None for sure, index in pairs]
    assert found.certainty.tolist() == (1.0 - np.sort(degrees)[:, -2]).tolist()
    assert found.necessity({3}).tolist() == (1 - np.delete(degrees, 3, 1).max(axis=1)).tolist()
    proposition = cascade.attributes["y_1"].isin({1, 2})
    asked = cascade.infer(x, [proposition], dtype=dtype)
    assert asked.possibility(proposition).tolist() == found.possibility({1, 2}).tolist()


def test_what_comes_out_goes_in() -> None:
    a, b, c = (Attribute(name, range(3)) for name in "abc")
    first = RuleSet([Iff(a.isin({0})).then(b.isin({0, 1}), r=0.4)])
    second = RuleSet([Iff(b.isin({1})).then(c.isin({2}), s=0.2)])
    whole = Cascade(first, second).compile(["c"], dtype="uint8")
    x = digits(50)[:, :30].reshape(-1, 10)[:, :3]
    x = x / x.max(axis=1, keepdims=True)
    middle = first.compile(dtype="uint8")(x)
    expected = whole(x).degrees("c").tolist()
    program = second.compile(dtype="uint8")
    assert program({"b": middle.degrees("b")}).degrees("c").tolist() == expected
    assert program({"b": middle["b"]}).degrees("c").tolist() == expected


@pytest.mark.parametrize("dtype", SMALL)
def test_traces(dtype: str) -> None:
    cascade = addition(1)
    x = {name: digits(5)[:, 10 * i : 10 * i + 10] for i, name in enumerate(["a_1", "a_2"])}
    outputs = [s.output for s in cascade.order]
    exact: Any = cascade.compile(outputs, trace=True)(x)
    found: Any = cascade.compile(outputs, trace=True, dtype=dtype)(x)
    for name, premises in exact.premises.items():
        expected = as_degrees(nearest(premises.lambdas, dtype))
        assert found.premises[name].lambdas.tolist() == expected.tolist()


def test_normalised_after_rounding() -> None:
    """The rounding of 0.999 is 255, so it counts as 1; in wider types it does not."""
    evidence = {"a_1": np.eye(10)[3] * 0.999, "a_2": np.eye(10)[4]}
    assert addition(1).infer(evidence, dtype="uint8")["y_1"].best == 7
    for dtype in ("float64", "float32", "uint16"):
        with raises_saying(DegreeError, "attribute 'a_1'", "largest degree is 0.999"):
            addition(1).infer(evidence, dtype=dtype)


def test_numbers_of_other_types_are_degrees() -> None:
    for kind in (int, bool, np.uint16, np.float32, np.float16):
        evidence = {"a_1": np.eye(10)[3].astype(kind), "a_2": np.eye(10)[4].astype(kind)}
        assert addition(1).infer(evidence, dtype="uint8")["y_1"].best == 7
    assert addition(1).infer({"a_1": 3, "a_2": {4: 1.0}}, dtype="uint8")["y_1"].best == 7


@pytest.mark.parametrize("dtype", ["float64", *SMALL])
@pytest.mark.parametrize("n", [1, 5, 700])
@pytest.mark.parametrize(
    ("wrong", "part"),
    [(np.nan, "is nan"), (1.0000000001, "is 1.0000000001"), (-1e-300, "is -1e-300")],
)
def test_no_wrong_number_is_rounded(dtype: str, n: int, wrong: float, part: str) -> None:
    x = np.zeros((n, 20))
    x[:, [3, 17]] = 1.0
    x[n - 1, 12] = wrong
    with raises_saying(DegreeError, f"attribute 'a_2', row {n - 1}", "possibility of 2", part):
        addition(1).infer(x, dtype=dtype)


def test_wrong_numbers_of_the_type() -> None:
    x = np.zeros((3, 20), np.uint8)
    x[:, [3, 17]] = 1
    with raises_saying(
        DegreeError, "'a_1', row 0", "largest degree is 0.0039", "in arrays of uint8, 255 stands"
    ):
        addition(1).infer(x, dtype="uint8")
    with raises_saying(DegreeError, "possibility of 0 is nan"):
        addition(1).infer(np.full((3, 20), np.nan, np.float32), dtype="float32")


def test_minus_zero_and_no_samples() -> None:
    x = np.full((20, 20), -0.0)
    x[:, [3, 17]] = 1.0
    found = addition(1).infer(x.astype(np.float32), dtype="float32").degrees("y_1")
    assert not np.signbit(found).any()
    assert addition(1).infer(np.zeros((0, 20)), dtype="uint8").degrees("y_1").shape == (0, 10)


def test_types() -> None:
    cascade = addition(1)
    program = cascade.compile(dtype="uint8")
    assert program.dtype == np.uint8
    assert program is cascade.compile(dtype=np.uint8) is program.astype("uint8")
    assert cascade.compile(dtype=float) is cascade.compile()
    for dtype in ("int8", "float16", "nonsense", ">f4", object):
        with raises_saying(DomainError, "dtype is", "float64, float32, uint16, uint8"):
            cascade.compile(dtype=dtype)
    with raises_saying(DomainError, "rounded once", "uint8"):
        program.astype("float32")
    with raises_saying(DomainError, "derivatives are of float64"):
        program.derivatives.gradient(np.zeros((1, 20)), np.zeros((10, 1)))


def test_several_values_may_tie() -> None:
    a, b = Attribute("a", [0, 1]), Attribute("b", [0, 1])
    rules = RuleSet([If(a.isin({0})).then(b.isin({0}))])
    evidence = {"a": [1.0, 0.999]}
    assert rules.infer(evidence).best == 0
    tied = rules.infer(evidence, dtype="uint8")
    assert (tied.outcome, tied.best, tied.certainty) == ("no_rule", None, 0.0)


@pytest.mark.parametrize("dtype", SMALL)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_probabilities_are_transformed_and_then_rounded(dtype: str, kind: Any) -> None:
    x = digits(40).reshape(40, 4, 10)
    p = (x / x.sum(axis=-1, keepdims=True)).reshape(40, 40).astype(kind)
    exact = addition(2).infer(p, transform="antipignistic")
    assert_rounded(addition(2).infer(p, transform="antipignistic", dtype=dtype), exact, dtype)
    with raises_saying(DegreeError, "row 3"):
        addition(2).infer(p * (np.arange(40) != 3)[:, None], transform="antipignistic", dtype=dtype)
