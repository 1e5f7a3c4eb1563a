"""The table of semantics."""

import numpy as np
import pytest

from pinesy import compare_semantics, parse
from pinesy.exceptions import DataError, DomainError
from pinesy.semantics import SEMANTICS

RULES = parse("""
    attribute sky in {clear, cloudy, dark}
    attribute rain in {no, yes}
    iff sky in {dark} then rain in {yes}
""")
SKY = np.array([[0.3, 0.3, 0.4], [0.1, 0.1, 0.8]])


def test_a_row_for_each_semantics() -> None:
    table = compare_semantics(RULES, {"sky": SKY}, ["no", "yes"])
    assert [row.semantics for row in table.rows] == list(SEMANTICS)
    sure = table["probabilistic"]
    assert (sure.accuracy, sure.answer_accuracy) == (1.0, 1.0)
    assert sure.log_loss == pytest.approx(-np.log([0.6, 0.8]).mean())
    assert table["mpe"].accuracy == 0.5
    assert len(str(table).splitlines()) == 5
    assert "100.0 %" in str(table)


def test_what_does_not_apply_says_why() -> None:
    uncertain = RULES.with_parameters({"rain": ([0.3], [0.0])})
    table = compare_semantics(uncertain, {"sky": SKY}, {"rain": ["no", "yes"]})
    assert "has s = 0.3" in table["goedel"].refused
    assert "goedel: the rule" in str(table)
    assert table["possibilistic"].refused == ""


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(DomainError, match="answers"):
        compare_semantics(RULES, {"sky": SKY}, {"rain": ["no", "snow"]})
    with pytest.raises(DataError, match="give 2 values"):
        compare_semantics(RULES, {"sky": SKY}, {"rain": ["no"]})
    with pytest.raises(DomainError, match=r"'fuzzy'.*goedel"):
        compare_semantics(RULES, {"sky": SKY}, ["no", "yes"], semantics=["fuzzy"])
