"""Score cards: evaluated by their formula, and compiled to a cascade that agrees with it."""

import json
import pickle
from typing import Any

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from induction.random_cards import COLUMNS, random_card, rows
from pinesy import Cascade
from pinesy.exceptions import CascadeError, DataError, DataWarning, DegreeError
from pinesy.induction import CardCascade, ScoreCard, card_of


@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(0, 9), st.integers(0, 2))
def test_the_card_is_the_cascade_where_all_is_known(
    seed: int, n_classes: int, n_lines: int, n_kept: int
) -> None:
    card = random_card(seed, n_classes, n_lines, n_kept)
    cascade = CardCascade(card)
    degrees = rows(np.random.default_rng(seed + 1), cascade.inputs, 20, 0.0)
    scores = cascade.score(degrees)
    inferred = cascade.infer(degrees)["state"].degrees
    assert np.array_equal(scores.possibility, inferred)
    if not n_kept:
        assert (scores.best == scores.totals.argmax(axis=1)).all()
    assert (np.take_along_axis(inferred, scores.best[:, None], 1)[:, 0] == inferred.max(1)).all()


def definition(card: ScoreCard, sample: dict[str, np.ndarray[Any, Any]]) -> list[float]:
    """Return the points of each class, one condition after the other."""
    totals = [float(n) for n in card.start.values()]
    for line in card.lines:
        possible, certain = 1.0, 1.0
        for p in line.conditions:
            pi = sample[p.attribute.name]
            inside = [value in p.values for value in p.attribute.domain]
            pairs = list(zip(pi.tolist(), inside, strict=True))
            possible = min(possible, max((d for d, is_in in pairs if is_in), default=0.0))
            certain = min(certain, 1.0 - max((d for d, is_in in pairs if not is_in), default=0.0))
        given_points = line.points * certain + line.undetermined * (possible - certain)
        totals[card.output.position(line.value)] += given_points
    return totals


@given(st.integers(0, 10_000), st.integers(2, 4))
def test_blanks_give_the_third_number(seed: int, n_classes: int) -> None:
    card = random_card(seed, n_classes)
    degrees = rows(np.random.default_rng(seed), card.inputs, 15, 0.4)
    scores = card.score(degrees)
    bounds = np.cumsum([0, *(len(a.domain) for a in card.inputs)])
    for row, totals, pi in zip(degrees, scores.totals, scores.possibility, strict=True):
        parts = zip(card.inputs, bounds[:-1], bounds[1:], strict=True)
        expected = definition(card, {a.name: row[i:j] for a, i, j in parts})
        assert totals.tolist() == expected
        leads = [min(int(max(expected) - n), len(card.levels) - 1) for n in expected]
        assert pi.tolist() == [card.levels[lead] for lead in leads]
    assert np.allclose(scores.probability.sum(axis=1), 1.0)


@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(0, 8), st.integers(0, 2))
def test_the_cautious_reading_is_the_cascade(
    seed: int, n_classes: int, n_lines: int, n_kept: int
) -> None:
    card = random_card(seed, n_classes, n_lines, n_kept)
    cascade = CardCascade(card)
    degrees = rows(np.random.default_rng(seed), COLUMNS, 20, 0.4)
    bounds = np.cumsum([0, *(len(a.domain) for a in COLUMNS)])
    parts = zip(COLUMNS, bounds[:-1], bounds[1:], strict=True)
    evidence = {a.name: degrees[:, i:j] for a, i, j in parts}
    inferred = cascade.infer(evidence)["state"].degrees
    assert np.array_equal(card.cautious_possibility(evidence), inferred)


def test_a_line_that_holds_to_a_degree_needs_the_rules() -> None:
    card = random_card(3, 2)
    graded = {a.name: np.r_[1.0, np.full(len(a.domain) - 1, 0.5)][None, :] for a in card.inputs}
    with pytest.raises(DegreeError, match="infer"):
        card.cautious_possibility(graded)


@given(st.integers(0, 10_000), st.integers(2, 4))
def test_graded_degrees_give_a_part(seed: int, n_classes: int) -> None:
    card = random_card(seed, n_classes)
    rng = np.random.default_rng(seed)
    degrees = rows(rng, card.inputs, 10, 0.2)
    graded = np.maximum(
        degrees, rng.integers(0, 9, degrees.shape) / 8 * (rng.random(10) < 0.7)[:, None]
    )
    scores = card.score(graded)
    bounds = np.cumsum([0, *(len(a.domain) for a in card.inputs)])
    for row, totals, pi in zip(graded, scores.totals, scores.possibility, strict=True):
        parts = zip(card.inputs, bounds[:-1], bounds[1:], strict=True)
        expected = definition(card, {a.name: row[i:j] for a, i, j in parts})
        assert totals.tolist() == expected  # eighths are added exactly
        leads = max(expected) - np.array(expected)
        assert pi == pytest.approx(np.interp(leads, np.arange(len(card.levels)), card.levels))


@given(st.integers(0, 10_000), st.integers(2, 6))
def test_the_best_class_is_compared_as_exactly_as_every_two(seed: int, n_classes: int) -> None:
    """The possibility by all pairs of sums, from their distributions, on graded rows."""
    card = random_card(seed, n_classes, n_lines=9)
    cascade = CardCascade(card)
    rng = np.random.default_rng(seed)
    degrees = rng.integers(0, 11, (6, sum(len(a.domain) for a in cascade.inputs))) / 10
    first = 0
    for a in cascade.inputs:
        degrees[np.arange(6), first + rng.integers(len(a.domain), size=6)] = 1.0
        first += len(a.domain)
    names = [f"points for {value}" for value in card.output.domain]
    inferred = cascade.infer(degrees, [card.output, *(n for n in names if n in cascade.sets)])
    for row in range(6):
        sums = [
            dict(zip(cascade.attributes[n].domain, inferred[n].degrees[row], strict=True))
            if n in cascade.sets
            else {0: 1.0}
            for n in names
        ]
        assert inferred["state"].degrees[row].tolist() == [
            by_pairs(card, sums, d) for d in range(n_classes)
        ]


def by_pairs(card: ScoreCard, sums: list[dict[Any, float]], d: int) -> float:
    """Return ``min_c min_t max(levels[t], Pi(s_c - s_d < t))``."""
    degree = 1.0
    for c in set(range(len(sums))) - {d}:
        for lead in range(1, len(card.levels)):
            below = [
                min(p, q) for s, p in sums[c].items() for z, q in sums[d].items() if s - z < lead
            ]
            degree = min(degree, max(card.levels[lead], max(below, default=0.0)))
    return degree


def test_rules_are_linear_in_classes() -> None:
    def n_leads(n_classes: int) -> int:
        return len(CardCascade(random_card(3, n_classes, 6 * n_classes))["state"].rules)

    assert n_leads(12) < 3 * n_leads(5)


@given(st.integers(0, 10_000), st.integers(2, 4), st.integers(0, 2))
def test_the_card_as_plain_data(seed: int, n_classes: int, n_kept: int) -> None:
    card = random_card(seed, n_classes, n_kept=n_kept)
    again = ScoreCard.from_dict(json.loads(json.dumps(card.to_dict())))
    assert again == card
    assert CardCascade(again) == CardCascade(card)


def test_rules_are_compiled_when_they_are_used() -> None:
    card = random_card(4, 3)
    rules = CardCascade(card)
    rules.score({"age": 20.0, "city": "Oslo", "dose": 1})
    assert "sets" not in vars(rules)
    again = pickle.loads(pickle.dumps(rules))
    assert "sets" not in vars(again)
    assert again == rules
    assert "sets" in vars(rules)
    assert pickle.loads(pickle.dumps(rules)).card == card
    with pytest.raises(AttributeError, match="nothing"):
        _ = rules.nothing  # type: ignore[attr-defined]


def test_what_is_no_card_is_refused() -> None:
    content = random_card(1, 3).to_dict()
    for change in (
        {"version": 7},
        {"start": [1]},
        {"levels": [1.0]},
        {"levels": [1.0, float("nan")]},
    ):
        with pytest.raises(DataError):
            ScoreCard.from_dict({**content, **change})
    with pytest.raises(DataError):
        ScoreCard.from_dict([])


def test_a_card_of_other_rules_is_refused() -> None:
    card = random_card(1, 3)
    plain = Cascade(*CardCascade(card).rule_sets)
    assert card_of(plain) is None
    assert card_of(CardCascade.of(plain, card)) is card
    with pytest.raises(DataError, match="line"):
        CardCascade.of(plain, random_card(2, 3))
    assert card_of(CardCascade(card).with_parameters({})) is None


def test_evidence_of_every_form() -> None:
    card = random_card(5, 3, n_lines=12)
    frame = pandas.DataFrame(
        {"age": [20.0, None, 90.0], "city": ["Oslo", "Paris", None], "dose": [0, 1, 3]}
    )
    frame["unused"], frame["id"] = "no", [1, 2, 3]
    with pytest.warns(DataWarning, match="Paris"):
        scores = card.score(frame)
    with pytest.warns(DataWarning, match="Paris"):
        by_dict = card.score({c: frame[c].tolist() for c in ("age", "city", "dose")})
    assert np.array_equal(scores.totals, by_dict.totals)
    one = card.score({"age": None, "city": None, "dose": 1})
    assert np.array_equal(one.totals, scores.totals[1:2])
    with pytest.raises(CascadeError):
        card.score({"age": 20.0})
    with pytest.raises(DegreeError, match="row 1"):
        card.score(
            {"age": [1.0, 2.0], "city": np.array([[1.0, 0, 0], [0.5, 0, 0]]), "dose": [1, 1]}
        )


def test_lines_say_support_precision_and_lift() -> None:
    card = random_card(1, 2)
    table = card.table()
    assert list(table.columns) == [
        *("premise", "class", "points", "undetermined", "support", "precision", "lift"),
    ]
    assert table["lift"].tolist() == [1.5] * 7
    assert "75%" in str(card)
    assert "75%" in card._repr_html_()
    assert CardCascade(card)._repr_html_() == card._repr_html_()
