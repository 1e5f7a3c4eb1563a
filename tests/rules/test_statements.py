"""Implications, equivalences and their certainty; the first rules that people write."""

import pytest

from messages import raises_saying
from pinesy import Attribute, DegreeError, If, Iff, Rule, RuleSet, RuleSetError, parse_rule

FEVER, RASH = Attribute("fever", ["yes", "no"]), Attribute("rash", ["yes", "no"])
MEASLES = Attribute("measles", ["yes", "no"])
KNOWN = [FEVER, RASH, MEASLES]
YES, NO = {"yes": 1.0}, {"no": 1.0}


def test_two_reasons_for_one_disease_do_not_contradict_each_other() -> None:
    rules = RuleSet(
        [
            If(FEVER.isin({"yes"})).then(MEASLES.isin({"yes"}), certainty=0.7),
            If(RASH.isin({"yes"})).then(MEASLES.isin({"yes"}), certainty=0.9),
        ]
    )
    measles = rules.infer({"fever": YES, "rash": NO})
    assert measles.normalised
    assert measles["yes"] == 1.0
    assert measles.necessity({"yes"}) == 0.7
    assert rules.infer({"fever": NO, "rash": NO}).degrees.tolist() == [1.0, 1.0]


def test_two_equivalences_with_one_conclusion_do() -> None:
    rules = RuleSet(Iff(a.isin({"yes"})).then(MEASLES.isin({"yes"})) for a in (FEVER, RASH))
    assert not rules.infer({"fever": YES, "rash": NO}).normalised


@pytest.mark.parametrize(
    ("parameters", "s", "r", "text"),
    [
        ({}, 1.0, 0.0, "if fever in {yes} then measles in {yes}"),
        ({"certainty": 0.9}, 1.0, 0.1, "if fever in {yes} then measles in {yes} [certainty=0.9]"),
        ({"certainty": 0.0}, 1.0, 1.0, "if fever in {yes} then measles in {yes} [certainty=0]"),
        ({"r": 0.3}, 1.0, 0.3, "if fever in {yes} then measles in {yes} [certainty=0.7]"),
        ({"s": 0.2}, 0.2, 0.0, "if fever in {yes} then measles in {yes} [s=0.2, r=0]"),
        ({"s": 0.0}, 0.0, 0.0, "iff fever in {yes} then measles in {yes}"),
        (
            {"s": 0.2, "certainty": 0.6},
            0.2,
            0.4,
            "if fever in {yes} then measles in {yes} [s=0.2, r=0.4]",
        ),
        ({"r": 1e-30}, 1.0, 1e-30, "if fever in {yes} then measles in {yes} [s=1, r=1e-30]"),
    ],
)
def test_parameters_and_their_printed_form(
    parameters: dict[str, float], s: float, r: float, text: str
) -> None:
    rule = If(FEVER.isin({"yes"})).then(MEASLES.isin({"yes"}), **parameters)
    assert (rule.s, rule.r, str(rule)) == (s, r, text)
    assert parse_rule(text, KNOWN) == rule


def test_the_defaults_of_each_word() -> None:
    p, q = FEVER.isin({"yes"}), MEASLES.isin({"yes"})
    assert (Iff(p).then(q).s, Iff(p).then(q).r) == (0.0, 0.0)
    assert Iff(p).then(q, certainty=0.8) == If(p).then(q, s=0.0, r=0.2)
    assert parse_rule("iff fever in {yes} then measles in {yes} [r=0.2]", KNOWN) == (
        Iff(p).then(q, r=0.2)
    )
    assert Rule(If(p).premise, q) == If(p).then(q)


def test_bad_certainties() -> None:
    start = If(FEVER.isin({"yes"}))
    with raises_saying(RuleSetError, "certainty=0.9 sets r", "one of them"):
        start.then(MEASLES.isin({"yes"}), r=0.2, certainty=0.9)
    with raises_saying(DegreeError, "the certainty of a rule is 1.2", "[0, 1]"):
        start.then(MEASLES.isin({"yes"}), certainty=1.2)
