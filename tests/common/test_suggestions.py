"""Hints at names that were meant, whatever the names are."""

import pytest

from pinesy import Attribute, Cascade, If, RuleSet
from pinesy._common.validation import suggestion
from pinesy.exceptions import UnknownAttributeError


def test_a_near_name_is_suggested() -> None:
    assert suggestion("lfet", ["left", "right"]) == "; did you mean 'left'?"


def test_very_long_names_are_neither_compared_nor_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []

    def matches(name: str, names: list[str], **_: object) -> list[str]:
        compared.extend([name, *names])
        return []

    monkeypatch.setattr("difflib.get_close_matches", matches)
    assert suggestion("x" * 40_000, ["x" * 39_999, "y"]) == f"; known: {'x' * 60}, y"
    assert suggestion("z", ["x" * 40_000, "y"]) == f"; known: {'x' * 60}, y"
    assert max(map(len, compared)) == 1


def test_rule_sets_are_asked_for_by_name() -> None:
    a, b = Attribute("a", [0, 1]), Attribute("b", [0, 1])
    cascade = Cascade(RuleSet([If(a.isin({1})).then(b.isin({1}))]))
    with pytest.raises(UnknownAttributeError, match=r"\[\] is no attribute, and no name"):
        cascade[[]]  # type: ignore[index]
