"""Samples one at a time: a program that is called, and dicts of arrays that are read as a whole."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from messages import raises_saying
from pinesy import Attribute, Cascade, If, RuleSet
from pinesy.exceptions import DegreeError, PinesyError
from pinesy.problems import addition
from strategies import Case, cases


def arrays(case: Case) -> dict[str, Any]:
    return {name: np.array(degrees) for name, degrees in case.evidence.items()}


@given(cases())
def test_a_dict_of_arrays_says_what_a_dict_of_lists_does(case: Case) -> None:
    program, given = case.cascade.compile(), arrays(case)
    backwards = dict(reversed(given.items()))
    for name, expected in program.infer(case.evidence).items():
        for evidence in (given, backwards):
            assert np.array_equal(program(evidence)[name].degrees, expected.degrees)


def gaps(x: Any) -> Any:
    return np.repeat(x, 2)[::2]


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.astype(np.float32),
        lambda x: x.astype(int),
        lambda x: x.astype(bool),
        lambda x: x.astype(">f8"),
        lambda x: x[::-1].copy()[::-1],
        gaps,
        np.ma.masked_array,
    ],
)
def test_types_and_layouts(change: Callable[[Any], Any]) -> None:
    cascade = addition(1)
    plain = {"a_1": np.eye(10)[3], "a_2": np.eye(10)[9]}
    expected = cascade.infer(plain)
    for names in (["a_1"], ["a_1", "a_2"]):
        found = cascade.infer(plain | {name: change(plain[name]) for name in names})
        assert found["y_1"].best == expected["y_1"].best == 2
        assert found["y_1"].degrees.tolist() == expected["y_1"].degrees.tolist()


GOOD = np.eye(10)[3]


@pytest.mark.parametrize(
    ("wrong", "parts"),
    [
        (GOOD * np.nan, ["attribute 'a_2'", "possibility of 0 is nan"]),
        (GOOD * 2, ["attribute 'a_2'", "possibility of 3 is 2.0"]),
        (-GOOD, ["attribute 'a_2'", "possibility of 3 is -1.0"]),
        (GOOD / 2, ["attribute 'a_2'", "not normalised", "0.5"]),
        (GOOD[:, None], ["attribute 'a_2'", "(n_samples, 10)", "got shape (10, 1)"]),
        (np.eye(11)[3], ["'a_1'", "one distribution while others have a batch"]),
    ],
)
def test_what_is_wrong_is_still_said(wrong: Any, parts: list[str]) -> None:
    with raises_saying(PinesyError, *parts):
        addition(1).infer({"a_1": GOOD, "a_2": wrong})


def test_names_are_still_checked() -> None:
    for evidence in ({"a_1": GOOD, "a_3": GOOD}, {"a_1": GOOD}, {}):
        with pytest.raises(PinesyError, match=r"a_2|a_3"):
            addition(1).infer(evidence)


def test_numbers_of_a_numeric_attribute_are_values() -> None:
    age, risk = Attribute.number("age", cuts=[30]), Attribute("risk", ["low", "high"])
    program = Cascade(RuleSet([If(age < 30).then(risk.isin({"low"}))])).compile()
    assert program({"age": np.array([0.0, 1.0])})["risk"].best.tolist() == ["low", "low"]


def test_objects_are_values() -> None:
    digits = np.arange(10).astype(object)
    found = addition(1).infer({"a_1": digits, "a_2": digits})
    assert found["y_1"].best.tolist() == [0, 2, 4, 6, 8] * 2


def test_a_called_program_infers() -> None:
    program = addition(1).compile()
    x = np.eye(20)[3] + np.eye(20)[19]
    assert type(program(x)) is type(program.infer(x))
    assert program(x)["y_1"].best == 2
    assert program(np.stack([x, x]))["y_1"].best.tolist() == [2, 2]
    with pytest.raises(DegreeError):
        program(x / 2)
