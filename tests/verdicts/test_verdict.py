"""Verdicts: the words say what was inferred, as people say it."""

from loans import LOAN
from pinesy import Attribute, antipignistic, load, parity_of, parse
from pinesy.explanations.labels import Wording
from pinesy.problems import addition
from pinesy.verdicts import short_degree
from verdicts.valid_verdicts import verdict


def test_every_sentence_of_a_decision() -> None:
    found = verdict(parse(LOAN), {"debt_ratio": 0.639, "history": "bad", "job": "employed"})
    assert found.answer == "reject, certain 0.80"
    assert [fact.text for fact in found.facts] == ["debt_ratio is 0.639", "history is bad"]
    assert [(r.attribute, r.rules) for r in found.reasons] == [("risk", (2,)), ("decision", (6,))]
    assert "the risk is high (rule 2), and that means reject (rule 6)" in found.because
    assert "approve, certain 0.90" in found.what_would_change_it
    assert found.firmness is not None
    assert (found.firmness.weakest, found.firmness.least) == ("debt_ratio", 0.45)
    assert (found.firmness.limited_by, found.firmness.rule) == ("risk", 2)
    assert str(found).splitlines()[0] == found.answer


def test_undecided_and_contradictory_samples_say_so() -> None:
    rules = parse(LOAN)
    several = verdict(rules, {"debt_ratio": 0.4, "history": "mixed", "job": None})
    assert several.answer == "undecided: review or reject remain"
    clash = verdict(rules, {"debt_ratio": 0.6, "history": "good", "job": "unemployed"})
    assert clash.answer == "contradiction: rules 2 and 3"
    assert clash.because == (
        "Rule 2 says that the risk is high, as the debt_ratio is 0.6 and the job is unemployed; "
        "rule 3 says that the risk is medium, as the debt_ratio is 0.6 and the history is good."
    )
    assert clash.firmness is None


def test_near_misses_name_the_rule_that_the_inputs_enter() -> None:
    rules = load("examples/loan.rules")
    person = {"income": 30000, "debt_ratio": 0.3, "history": None, "job": None, "age": 40}
    found = verdict(rules, person)
    assert found.answer == "undecided: no rule decides"
    assert found.because == "The nearest is rule 5: it needs that the credit history is mixed."
    assert found.near_miss is not None
    assert found.to_dict()["near_miss"] == {
        "rule": 5,
        "attributes": ["history"],
        "text": "credit history is mixed",
    }
    sums = parse("attribute a in 0..1\nattribute b in 0..1\nfunction same = a == b")
    open_sum = verdict(sums, {"a": 1, "b": None})
    assert (open_sum.near_miss, open_sum.because) == (None, "b is unknown.")


def test_functions_are_written_as_equations() -> None:
    text = 'attribute left "left digit" in 0..9\nattribute right "right digit" in 0..9\n'
    rules = parse(f"{text}function total = left + right")
    sees = {"left": antipignistic({7: 0.95, 1: 0.05}), "right": antipignistic({1: 0.9, 9: 0.1})}
    found = verdict(rules, sees)
    assert found.because == (
        "The left digit is 7 (certain 0.90) and the right digit is 1 (certain 0.80), "
        "so the total is 7 + 1 = 8."
    )
    assert found.reasons[-1].expression == "7 + 1"
    assert found.firmness is not None
    assert found.firmness.limited_by == "right"
    assert found.change is not None
    assert found.change.readings == {"right": 9}
    half = verdict(rules, {"left": 7, "right": None})
    assert half.because == "The left digit is 7, so the total is 7 to 16."
    parity = parity_of("odd", [Attribute(f"bit{i}", (0, 1)) for i in range(4)])
    odd = verdict(parity, {f"bit{i}": 1 for i in range(4)})
    assert odd.because == "bit0 is 1, bit1 is 1, bit2 is 1 and bit3 is 1, so odd is 0."
    assert [reason.attribute for reason in odd.reasons] == ["odd"]


def test_equal_certainties_are_written_once() -> None:
    digit = antipignistic({7: 0.9, 1: 0.1})
    found = verdict(addition(1), {"a_1": digit, "a_2": digit}, "y_1")
    assert found.because == "a_1 is 7 and a_2 is 7 (each certain 0.80), so y_1 is (7 + 7) % 10 = 4."


def test_articles_stand_before_nouns_only() -> None:
    def spoken(name: str, *values: object, title: str | None = None) -> str:
        return Wording().with_articles().name(Attribute(name, values, title=title))

    assert spoken("rain", "no", "light", "heavy") == "the rain"
    assert spoken("x", 1, 2, 3, title="the left digit") == "the left digit"
    assert spoken("a_1", 1, 2, 3) == "a_1"
    assert spoken("x", 1, 2, 3) == "x"
    assert spoken("valid", False, True) == "valid"


def test_plain_data_are_short() -> None:
    found = verdict(parse(LOAN), {"debt_ratio": 0.5, "history": "bad", "job": "unemployed"})
    assert len(found.to_json()) < 5_000


def test_a_cascade_names_what_is_between() -> None:
    found = verdict(load("examples/weather.rules"), {"sky": "dark", "pressure": None})
    assert found.because == (
        "The sky is dark, so the rain is light or heavy (rule 1), and that means wet (rule 3)."
    )


def test_degrees_read_as_people_write_them() -> None:
    texts = [short_degree(d) for d in (0.0, 0.0001, 0.2, 0.805, 0.9999, 1.0)]
    assert texts == ["0", "<0.01", "0.20", "0.81", ">0.99", "1"]
