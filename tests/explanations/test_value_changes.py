"""Changes of plain values: in the units of the data, by the fewest inputs, none without need."""

from decimal import Decimal
from itertools import pairwise, product
from math import inf, nan, nextafter
from typing import Any, get_args
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from explanations import attempts
from messages import raises_saying
from pinesy import Attribute, Cascade, If, Iff, RuleSet, parse
from pinesy.exceptions import (
    CascadeError,
    DataError,
    DomainError,
    PinesyError,
    UnknownAttributeError,
    UnreachableError,
)
from pinesy.explanations import (
    ValueChange,
    change_search,
    is_coherent,
    smallest_change,
    why_not,
)
from pinesy.explanations.smallest_change import Mode

RISK = parse("""
    number glucose
    number bmi
    number age cuts {30, <= 65} named {young, adult, old}
    attribute smoker in {yes, former, no}
    attribute risk in {low, high}
    if glucose >= 126 and bmi >= 30 then risk in {high}
    if glucose < 100 then risk in {low}
    if 100 <= glucose < 126 and smoker in {no, former} then risk in {low}
    if bmi < 25 and smoker in {no} then risk in {low} [certainty=0.8]
    if age in {old} then risk in {high} [certainty=0.6]
""")
PATIENT = {"glucose": 140, "bmi": 31.5, "age": 40, "smoker": "yes"}
SHARP = st.just(0.0)
SMALL_SETS = patch.object(change_search, "BATCH_COMBINATIONS", 1)
SMALL_BATCHES = patch.object(change_search, "BATCH_DEGREES", 16)
PARAMETERS = st.sampled_from([0.0, 0.0, 0.2, 0.5, 1.0])


@st.composite
def tables(draw: st.DrawFn, blurs: Any = SHARP) -> Any:
    """Rules on numeric and other inputs, of one set or two, and a sample of plain values."""
    inputs: list[Attribute] = []
    sample: dict[str, Any] = {}
    for i in range(draw(st.integers(1, 3))):
        if draw(st.booleans()):
            cuts = sorted(draw(st.sets(st.sampled_from([0, 1, 2.5, 4, 7]), min_size=1, max_size=3)))
            a = Attribute.number(f"n_{i}", cuts, blur=draw(blurs))
            known: st.SearchStrategy[Any] = st.integers(-3, 20).map(lambda k: k / 2)
            now = known | st.sampled_from(a.domain)
        else:
            a = Attribute(f"c_{i}", ["x", "y", "z"][: draw(st.integers(2, 3))])
            now = st.sampled_from(a.domain)
        inputs.append(a)
        sample[a.name] = draw(now | st.just(None) if draw(st.booleans()) else now)
    y, z = Attribute("y", range(draw(st.integers(2, 3)))), Attribute("z", ["a", "b"])
    sets = [RuleSet(draw(_rules(inputs, y)))]
    if draw(st.booleans()):
        sets.append(RuleSet(draw(_rules([y, inputs[0]], z))))
    cascade = Cascade(*sets)
    assume({a.name for a in cascade.inputs} == set(sample))
    return cascade, sample, sets[-1].output


@st.composite
def _rules(draw: st.DrawFn, inputs: list[Attribute], output: Attribute) -> Any:
    rules = []
    for _ in range(draw(st.integers(1, 4))):
        used = draw(st.lists(st.sampled_from(inputs), min_size=1, max_size=2, unique=True))
        premise = [a.isin(draw(_some(a))) for a in used]
        make = draw(st.sampled_from([If, Iff]))
        then = output.isin(draw(_some(output)))
        rules.append(make(*premise).then(then, draw(PARAMETERS), draw(PARAMETERS)))
    return rules


def _some(a: Attribute) -> Any:
    return st.sets(st.sampled_from(a.domain), min_size=1, max_size=max(1, len(a.domain) - 1))


def options(a: Attribute, now: Any) -> list[tuple[Any, bool, float]]:
    """All values of an input, whether it changes, and how far; numbers at the nearest ends."""
    if a.scale is None:
        others = [(v, True, 1.0) for v in a.domain if v != now]
        return [(now, False, 0.0), *others]
    found: list[tuple[Any, bool, float]] = [(now, False, 0.0)]
    cuts = list(a.scale.cuts)
    ends = [-inf, *cuts, inf]
    low, high = (now, now) if not isinstance(now, str) else _ends(a, now, ends)
    for left, right in pairwise(ends):
        number = left if left > -inf else nextafter(right, -inf)
        if now is None:
            found.append((number, True, 1.0))
        elif not (low >= left and high < right) and not (left == low and right == high):
            gap = max(left - high, low - right, 0)
            span = [x for x in (low, high, *cuts) if abs(x) < inf]
            spread = max(span) - min(span)
            found.append((number, True, gap / spread if spread else float(gap > 0)))
    return found


def _ends(a: Attribute, interval: str, ends: list[float]) -> tuple[float, float]:
    at = a.position(interval)
    return ends[at], ends[at + 1]


def best_by_trying(cascade: Cascade, sample: Any, output: Attribute, value: Any) -> Any:
    """The fewest inputs, and of these the least sum of distances, by trying all; None if none."""
    attributes = {a.name: a for a in cascade.inputs}
    tried = list(product(*(options(attributes[n], now) for n, now in sample.items())))
    rows = {n: _column([t[i][0] for t in tried]) for i, n in enumerate(sample)}
    won = attempts.winning(cascade.infer(rows, [output])[output.name], output.position(value))
    return min(((sum(p[1] for p in tried[k]), sum(p[2] for p in tried[k])) for k in won),
               default=None)  # fmt: skip


def _column(values: list[Any]) -> Any:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


@given(tables())
def test_no_fewer_and_no_nearer_values_win(table: Any) -> None:
    cascade, sample, output = table
    event(f"coherent: {is_coherent(cascade, output)}")
    leaders = attempts.leaders(cascade.infer(sample, [output])[output.name])
    for value in output.domain:
        if leaders == [value]:
            with raises_saying(DomainError, "wins already"):
                smallest_change(cascade, sample, value, output)
            continue
        expected = best_by_trying(cascade, sample, output, value)
        event(f"inputs: {expected and expected[0]}")
        if expected is None:
            with raises_saying(UnreachableError, "no values make", "only winner: ") as caught:
                smallest_change(cascade, sample, value, output)
            assert isinstance(caught.value, UnreachableError)
            assert caught.value.proven
            continue
        with SMALL_SETS, SMALL_BATCHES:
            change = smallest_change(cascade, sample, value, output)
        assert isinstance(change, ValueChange)
        assert change.exact
        assert len(change.readings) == expected[0]
        assert change.size == pytest.approx(expected[1])
        check(cascade, sample, change)


@given(tables(blurs=st.sampled_from([0.0, 0.3, 1.0, 2.0])))
@settings(max_examples=20)
def test_all_values_that_are_named_make_it_win(table: Any) -> None:
    cascade, sample, output = table
    for value in output.domain:
        try:
            change = smallest_change(cascade, sample, value, output)
        except (DomainError, UnreachableError):
            continue
        assert isinstance(change, ValueChange)
        check(cascade, sample, change)


def check(cascade: Cascade, sample: Any, change: ValueChange) -> None:
    """Every value that is named makes the value win, and with one taken back it does not."""
    choices = {n: _named(one) for n, one in change.replacements.items()}
    for chosen in product(*choices.values()):
        new = {**sample, **dict(zip(choices, chosen, strict=True))}
        result = cascade.infer(new, [change.attribute])[change.attribute.name]
        assert attempts.leaders(result) == [change.value]
        assert result.normalised == change.decides
    after = cascade.infer({**sample, **change.values}, [change.attribute])[change.attribute.name]
    assert change.result.degrees.tolist() == after.degrees.tolist()
    found = attempts.infer(
        cascade, {n: pi.degrees.tolist() for n, pi in change.new.items()} | _rest(cascade, change),
        change.attribute,
    )  # fmt: skip
    assert [float(d) for d in found.values()] == change.result.degrees.tolist()
    for name in change.replacements:
        fewer = {**sample, **change.values, name: sample[name]}
        result = cascade.infer(fewer, [change.attribute])[change.attribute.name]
        assert attempts.leaders(result) != [change.value] or (
            change.decides and not result.normalised
        )


def _rest(cascade: Cascade, change: ValueChange) -> dict[str, list[float]]:
    """Inputs that the output does not depend on."""
    return {a.name: [1.0] * len(a.domain) for a in cascade.inputs if a.name not in change.new}


def _named(one: Any) -> list[Any]:
    """The ends of what is named, and some inside."""
    if not one.bounds:
        return list(one.values)
    low = one.bounds.get("at least", nextafter(one.bounds.get("above", -inf), inf))
    high = one.bounds.get("at most", nextafter(one.bounds.get("below", inf), -inf))
    low, high = max(low, min(high, 0) - 100.0), min(high, max(low, 0) + 100.0)
    return [low, (low + high) / 2, high, one.value]


# --- words ---------------------------------------------------------------------------------------


def says(evidence: Any, value: str = "low", **asked: Any) -> str:
    return str(smallest_change(RISK, {**PATIENT, **evidence}, value, **asked))


def test_what_is_said_in_the_units_of_the_data() -> None:
    assert says({}) == "if glucose were below 100 (now 140), risk would be low"
    assert says({}, keep=["glucose"]) == (
        "if bmi were below 25 (now 31.5) and smoker were no (now yes), risk would be low"
    )
    assert says({"glucose": 110}, keep=["glucose"]) == (
        "if smoker were former (now yes), risk would be low"
    )
    alike = parse("attribute a in {x, y, z} attribute b in {0, 1} iff a in {y, z} then b in {1}")
    assert str(smallest_change(alike, {"a": "x"}, 1)) == "if a were y or z (now x), b would be 1"
    assert says({"glucose": nan, "smoker": None}, change=["glucose"]) == (
        "if glucose were below 100 (now unknown), risk would be low"
    )
    assert says({"glucose": "<100"}, "high") == (
        "if glucose were at least 126 (now <100), risk would be high"
    )
    assert says({"bmi": 20}, "high", change=["age"]) == (
        "if age were above 65 (old; now 40), risk would be high"
    )
    assert says({"glucose": 150, "smoker": "no", "bmi": 26}, change=["glucose"]) == (
        "if glucose were at least 100 but below 126 (now 150), risk would be low"
    )
    assert says({"glucose": {"[100, 126)": 0.5, ">=126": 1.0}}, mode="values").startswith(
        'if glucose were below 100 (now most possible: ">=126")'
    )


def test_a_blurred_number_is_named_where_it_is_certain() -> None:
    rules = parse("""
        number t cuts {36, 36.5, 38} [blur=0.5]
        attribute ill in {no, yes}
        if t >= 38 then ill in {yes}
        if 36.5 <= t < 38 then ill in {no}
        if t < 36 then ill in {yes}
    """)
    assert str(smallest_change(rules, {"t": 39}, "no")) == (
        "if t were at least 37 but at most 37.5 (now 39), ill would be no"
    )
    # Near a cut the same interval will do, further inside.
    near = parse("""
        number t cuts {36.5} [blur=0.5]
        attribute ill in {no, yes}
        iff t >= 38 then ill in {yes}
        if t >= 36.5 then ill in {yes} [certainty=0.3]
    """)
    assert str(smallest_change(near, {"t": 37.9}, "no")) == (
        "if t were at most 36 (now 37.9), ill would be no"  # from 37 to 37.5 rules contradict
    )
    middle = smallest_change(parse("""
        number t cuts {36, 36.5, 38} [blur=0.5]
        attribute ill in {no, yes}
        if 36 <= t < 36.5 then ill in {yes}
        if t >= 38 then ill in {no}
        if t < 36 then ill in {no} [certainty=0.25]
    """), {"t": 39}, "yes")  # fmt: skip
    assert str(middle) == "if t were 36.25 (now 39), ill would be yes"


def test_fields_and_plain_data() -> None:
    change = smallest_change(RISK, PATIENT, "low")
    assert isinstance(change, ValueChange)
    assert (change.mode, change.measure, change.exact, change.size) == (
        "values",
        "distance",
        True,
        1,
    )
    assert change.readings == {"glucose": "<100"}
    assert change.values == {"glucose": nextafter(100.0, -inf)}
    assert repr(change) == f"ValueChange(size 1: {change})"
    one = change.replacements["glucose"]
    assert (one.now, one.values, one.bounds, one.crossed) == (140, ("<100",), {"below": 100.0}, 2)
    assert one.to_dict() == {
        "now": 140,
        "values": ["<100"],
        "below": 100.0,
        "distance": 1.0,
        "text": "glucose were below 100 (now 140)",
    }
    given = {None: None, inf: "inf", Decimal(140): 140.0, np.float32(140): 140.0, ">=126": ">=126"}
    for now, written in given.items():
        other = smallest_change(RISK, {**PATIENT, "glucose": now}, "low")
        assert isinstance(other, ValueChange)
        assert other.replacements["glucose"].to_dict()["now"] == written
        assert other.size == 1.0


def test_the_nearest_is_chosen_in_units() -> None:
    """Both inputs alone will do; the shorter way, as a share of the range of the cuts, is taken."""
    rules = parse("""
        number a cuts {0, 100}
        number b cuts {0, 1}
        attribute y in {no, yes}
        iff a < 100 and b < 1 then y in {yes}
    """)
    assert "if a were at least 100 (now 70)" in str(
        smallest_change(rules, {"a": 70, "b": 0.5}, "no")
    )
    assert "if b were at least 1 (now 0.8)" in str(
        smallest_change(rules, {"a": 70, "b": 0.8}, "no")
    )


def test_a_contradiction_is_left_for_the_most_possible_value() -> None:
    """Where no change decides, the only winner need not be fully possible."""
    rules = parse("""
        number a
        attribute y in {0, 1, 2}
        if a >= 1 then y in {1} [certainty=0.75]
        if a >= 1 then y in {2} [certainty=0.5]
        if a < 1 then y in {0, 1} [certainty=0.75]
        if a < 0 then y in {0}
    """)
    before = rules.infer({"a": 5})["y"]
    assert before.to_dict() == {0: 0.25, 1: 0.5, 2: 0.25}
    assert before.best is None
    change = smallest_change(rules, {"a": 5}, 0)
    assert change.winners == (1,)
    assert str(change) == "if a were below 0 (now 5), y would be 0"
    back = smallest_change(rules, {"a": -1}, 1)
    assert back.result.to_dict() == before.to_dict()
    assert str(back) == (
        "if a were at least 1 (now -1), y would be 1 (though the rules contradict each other then, "
        "by 0.5; no change decides)"
    )
    assert not back.decides
    assert change.decides


# --- which inputs, and how many ------------------------------------------------------------------


def test_inputs_that_stay_and_inputs_that_change() -> None:
    age = RISK.attributes["age"]
    assert set(smallest_change(RISK, PATIENT, "low", keep=["glucose", age]).readings) == {
        "bmi",
        "smoker",
    }
    for mode in get_args(Mode):
        found = smallest_change(RISK, PATIENT, "low", change=["bmi", "smoker"], mode=mode)
        assert set(found.readings) == {"bmi", "smoker"}
    assert "of bmi and age make" in why_not(RISK, PATIENT, "low", change=["age", "bmi"]).obstacle
    assert (
        "inputs may not change"
        in why_not(RISK, PATIENT, "low", change=["age", "bmi"], mode="fewest").obstacle
    )
    answer = why_not(RISK, PATIENT, "low", keep=["glucose"]).change
    assert answer is not None
    assert set(answer.readings) == {"bmi", "smoker"}


@pytest.mark.parametrize(
    ("asked", "error", "parts"),
    [
        (
            {"keep": ["glucos"]},
            UnknownAttributeError,
            ["keep: there is no input 'glucos'; did you"],
        ),
        ({"change": ["risk"]}, CascadeError, ["change: rules conclude on 'risk'; name inputs"]),
        ({"change": "bmi"}, DataError, ["change is 'bmi'; give a list of inputs"]),
        ({"change": ["bmi"], "keep": ["age"]}, DataError, ["change and keep are both given"]),
        ({"keep": list(PATIENT)}, DataError, ["no input is left", "depends on glucose, bmi"]),
        ({"change": []}, DataError, ["no input is left that may change"]),
        ({"mode": "sparse"}, DataError, ["mode is 'sparse'; choose smallest, fewest, values"]),
        ({"mode": "values", "clearance": 0.2}, DataError, ["clearance is for readings; leave"]),
    ],
)
def test_wrong_requests(asked: Any, error: type[PinesyError], parts: list[str]) -> None:
    for function in (smallest_change, why_not):
        with raises_saying(error, *parts):
            function(RISK, PATIENT, "low", **asked)


def test_the_mode_is_that_of_the_evidence() -> None:
    modes = {
        "values": PATIENT,
        "smallest": {**PATIENT, "smoker": {"yes": 1.0}},
    }
    for mode, evidence in modes.items():
        assert smallest_change(RISK, evidence, "low").mode == mode
    assert smallest_change(RISK, PATIENT, "low", clearance=0.2).mode == "smallest"
    assert smallest_change(RISK, PATIENT, "low", measure="probability").mode == "smallest"
    pandas = pytest.importorskip("pandas")
    row = pandas.DataFrame([{**PATIENT, "id": "A7"}]).iloc[0]
    assert says(dict(PATIENT)) == str(smallest_change(RISK, row, "low"))
    by_attribute = {RISK.attributes[n]: np.asarray(v)[()] for n, v in PATIENT.items()}
    assert says({}) == str(smallest_change(RISK, by_attribute, "low"))


def chain(n: int, needed: int, extra: str = "") -> Cascade:
    """Many bits, some of which have to be 1 all together."""
    bits = "\n".join(f"attribute b_{i} in {{0, 1}}" for i in range(n))
    all_of = " and ".join(f"b_{i} in {{1}}" for i in range(needed))
    return parse(f"{bits}\nattribute y in {{no, yes}}\niff {all_of} then y in {{yes}}\n{extra}")


def test_three_of_fifty_inputs_are_found_and_proved() -> None:
    uses = "\n".join(f"if b_{i} in {{1}} then y in {{no, yes}}" for i in range(50))
    rules = chain(50, 3, uses)
    change = smallest_change(rules, dict.fromkeys([f"b_{i}" for i in range(50)], 0), "yes")
    assert change.readings == {"b_0": 1, "b_1": 1, "b_2": 1}
    assert change.exact


GROUPS = """
    iff b_0 in {1} and b_1 in {1} and b_2 in {1} and b_3 in {1}
    or b_4 in {1} and b_5 in {1} and b_6 in {1} and b_7 in {1} then y in {yes}
"""
GRADED = "".join(f"if b_{i} in {{0}} then y in {{no}} [certainty=0.{9 - i}]\n" for i in range(8))
GRADED += "if b_0 in {0, 1} then y in {yes} [certainty=0.45]"


@pytest.mark.parametrize(("rules", "fewest", "effort"), [(GROUPS, 4, 1000), (GRADED, 8, 1)])
def test_more_than_three_inputs(rules: str, fewest: int, effort: int) -> None:
    """Proved where all are tried; else one by one where each brings it nearer, or depth first."""
    bits = "".join(f"attribute b_{i} in {{0, 1}}\n" for i in range(8))
    cascade = parse(f"{bits}attribute y in {{no, yes}}\n{rules}")
    now = dict.fromkeys([f"b_{i}" for i in range(8)], 0)
    change = smallest_change(cascade, now, "yes")
    assert (len(change.readings), change.exact) == (fewest, True)
    quick = smallest_change(cascade, now, "yes", effort=effort)
    assert (len(quick.readings), quick.exact) == (fewest, False)
    assert str(quick).endswith("there may be a change of fewer inputs)")


def test_a_search_that_is_given_up() -> None:
    rules = chain(5, 5)
    now = dict.fromkeys([f"b_{i}" for i in range(5)], 0)
    with raises_saying(UnreachableError, "no values were found", "effort=1; raise it") as caught:
        smallest_change(rules, now, "yes", effort=1)
    assert isinstance(caught.value, UnreachableError)
    assert not caught.value.proven
