"""Score cards as SQL: the class, outcome and degrees of `predict`, blanks and unseen levels too."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitters.sql_engines import EMBEDDED, as_columns, card_columns, check_card, run_query
from induction.random_cards import random_card
from pinesy import Attribute, Cascade, DomainError, to_sql
from pinesy.induction import CardCascade, ScoreCard

pytest.importorskip("duckdb")


@pytest.mark.parametrize("dialect", EMBEDDED)
@pytest.mark.filterwarnings("ignore::pinesy.exceptions.DataWarning")
@settings(max_examples=12)
@given(st.integers(0, 10_000), st.integers(2, 4), st.integers(0, 8), st.integers(0, 2))
def test_predict(dialect: str, seed: int, n_classes: int, n_lines: int, n_kept: int) -> None:
    card, columns = random_card(seed, n_classes, n_lines, n_kept), card_columns(seed, 30)
    found = as_columns(run_query(dialect, to_sql(CardCascade(card), dialect), "samples", columns))
    check_card(card, columns, found)


def test_cards_that_have_no_whole_points() -> None:
    card = random_card(1, 3)
    blurred = Attribute.number("age", [30, 50, 70], blur=1)
    lines = tuple(
        line._replace(conditions=tuple(blurred.isin(p.values) for p in line.conditions))
        for line in card.lines
        if {p.attribute.name for p in line.conditions} == {"age"}
    )
    blur_card = ScoreCard(lines, card.start, card.output, card.levels, (blurred,))
    with pytest.raises(DomainError, match="Cascade"):
        to_sql(CardCascade(blur_card), "duckdb")
    with pytest.raises(DomainError, match="Cascade"):
        to_sql(CardCascade(card), "duckdb", outputs=["rule 0"])
    assert "c0" not in to_sql(Cascade(CardCascade(card)), "duckdb", degrees=False)
