"""Values on the command line are read as they are written in rules and in data files."""

from typing import Any

import pytest

from pinesy import Attribute, DomainError
from pinesy.cli.options import find_value

ODD = Attribute("odd", [1, 2.5, -3, True is None, "long sleep", "wet", (1, 2), ("a", 0), None, "2"])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("2.5", 2.5),
        ("2.50", 2.5),
        ("-3", -3),
        ("false", False),
        ("long sleep", "long sleep"),
        ('"long sleep"', "long sleep"),
        ("wet", "wet"),
        ("(1, 2)", (1, 2)),
        ("(1,2)", (1, 2)),
        ("(a, 0)", ("a", 0)),
        ('("a", 0)', ("a", 0)),
        ("none", None),
        ("2", "2"),
    ],
)
def test_values_are_read_as_they_are_written(text: str, value: Any) -> None:
    found = find_value(ODD, text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("text", ["", "wett", "(1, 2", "1 2", "(1, 3)", "7", "'wet'", "if", "-"])
def test_a_text_that_is_no_value_is_refused(text: str) -> None:
    with pytest.raises(DomainError, match="attribute 'odd' has no value"):
        find_value(ODD, text)


def test_a_number_stands_for_its_interval() -> None:
    age = Attribute.number("age", [30, "<=65"])
    assert [find_value(age, text) for text in ("7", "30", "65.0", "[30, 65]", "70")] == [
        "<30",
        "[30, 65]",
        "[30, 65]",
        "[30, 65]",
        ">65",
    ]
