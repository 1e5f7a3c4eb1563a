"""Every bad input gets its own error, which names the place and the cure."""

import json
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from messages import raises_saying
from pinesy import (
    Attribute,
    Cascade,
    CascadeError,
    DataError,
    DegreeError,
    DomainError,
    If,
    PinesyError,
    Possibility,
    Premise,
    Rule,
    RuleSet,
    RuleSetError,
    RulesTextError,
    load,
    parse,
    parse_rule,
    save,
)

RAIN = Attribute("rain", ["none", "light", "heavy"])
WIND = Attribute("wind", range(2))
GRASS = Attribute("grass", ["dry", "wet"])
SHOES = Attribute("shoes", ["dry", "wet"])
FIRST = RuleSet([If(RAIN.isin({"light", "heavy"}), WIND.isin({0})).then(GRASS.isin({"wet"}))])
SECOND = RuleSet([If(GRASS.isin({"wet"})).then(SHOES.isin({"wet"}))])
WALK = Cascade(FIRST, SECOND)
CALM = [1.0, 0.0]


def test_all_errors_have_one_base() -> None:
    kinds = [DomainError, DegreeError, RuleSetError, CascadeError, DataError, RulesTextError]
    assert all(issubclass(kind, PinesyError) for kind in kinds)
    assert issubclass(RulesTextError, DataError)


# --- distributions -----------------------------------------------------------------------------

SINGLE: list[tuple[Any, type[PinesyError], list[str]]] = [
    (
        [0.5, 0.2, 0.9],
        DegreeError,
        [
            "attribute 'rain'",
            "not normalised",
            "largest degree is 0.9",
            "divide by",
            "antipignistic",
        ],
    ),
    ([0.0, 0.0, 0.0], DegreeError, ["attribute 'rain'", "not normalised", "0.0"]),
    ([1.0, 0.2], DomainError, ["'rain' has 3 values", "shape (3,)", "got shape (2,)"]),
    ([1.0, 0, 0, 0], DomainError, ["'rain' has 3 values", "got shape (4,)"]),
    (1.0, DomainError, ["'rain' has no value 1.0", "known: none, light, heavy"]),
    (np.ones((1, 1, 3)), DegreeError, ["got shape (1, 1, 3)"]),
    (
        [1.0, float("nan"), 0.0],
        DegreeError,
        ["attribute 'rain': the possibility of 'light' is nan", "number in [0, 1]"],
    ),
    ([1.0, 1.5, 0.0], DegreeError, ["possibility of 'light' is 1.5", "[0, 1]"]),
    ([1.0, 0.0, -0.1], DegreeError, ["possibility of 'heavy' is -0.1", "[0, 1]"]),
    ([1.0, float("inf"), 0.0], DegreeError, ["possibility of 'light' is inf"]),
    (["a", "b", "c"], DomainError, ["attribute 'rain', row 0: has no value 'a'; known: none"]),
    ([None, None, 0.0], DomainError, ["attribute 'rain', row 2: has no value 0.0"]),
    (np.array([1j, 1, 0]), DomainError, ["attribute 'rain', row 0: has no value 1j"]),
    (
        [[1.0, 0.0, 0.0], [1.0]],
        DegreeError,
        ["attribute 'rain'", "neither a dict", "nor an array of degrees"],
    ),
    ({"light": 0.5}, DegreeError, ["attribute 'rain'", "not normalised", "0.5"]),
    ({}, DegreeError, ["attribute 'rain'", "not normalised", "0.0"]),
    ({"light": 2.0}, DegreeError, ["attribute 'rain'", "possibility of 'light' is 2.0"]),
    ({"light": "much"}, DegreeError, ["possibility of 'light' is 'much'", "must be a number"]),
    ({"light": None}, DegreeError, ["possibility of 'light' is None", "must be a number"]),
    (
        {"ligth": 1.0},
        DomainError,
        ["attribute 'rain' has no value 'ligth'", "did you mean 'light'?"],
    ),
    ({"storm": 1.0}, DomainError, ["has no value 'storm'", "known: none, light, heavy"]),
    (
        Possibility(GRASS, np.array([1.0, 0.0])),
        DegreeError,
        ["attribute 'rain' got a distribution on", "grass"],
    ),
    (Possibility(RAIN, np.array([0.4, 0.2, 0.0])), DegreeError, ["'rain'", "not normalised"]),
    ([np.inf, -np.inf, 1.0], DegreeError, ["possibility of 'none' is inf"]),
]


@pytest.mark.parametrize(
    ("pi", "error", "parts"), SINGLE, ids=[" ".join(p[-1:]) for *_, p in SINGLE]
)
def test_bad_distributions(pi: Any, error: type[PinesyError], parts: list[str]) -> None:
    with raises_saying(error, *parts):
        WALK.infer({"rain": pi, "wind": CALM})
    with raises_saying(error, *parts):
        FIRST.infer({"rain": pi, "wind": CALM})
    with raises_saying(error, *parts):
        WALK.trace({"rain": pi, "wind": CALM})


GOOD_ROWS = np.tile([1.0, 0.0, 0.3], (400, 1))


@pytest.mark.parametrize("row", [0, 1, 127, 128, 399])
@pytest.mark.parametrize(
    ("bad", "parts"),
    [
        ([0.5, 0.2, 0.9], ["not normalised", "0.9"]),
        ([1.0, np.nan, 0.0], ["the possibility of 'light' is nan"]),
        ([np.nan, np.nan, np.nan], ["the possibility of 'none' is nan"]),
        ([1.0, 0.0, 1.0000001], ["the possibility of 'heavy' is 1.0000001"]),
        ([1.0, -1e-9, 0.0], ["the possibility of 'light' is -1e-09"]),
        ([1.0, 0.0, -np.inf], ["the possibility of 'heavy' is -inf"]),
    ],
)
def test_a_bad_row_of_a_batch_is_named(bad: list[float], parts: list[str], row: int) -> None:
    rows = GOOD_ROWS.copy()
    rows[row] = bad
    rows[row + 1 :: 7] = [0.1, 0.2, 0.3]  # the first bad row is the one to name
    calm = np.tile(CALM, (400, 1))
    with raises_saying(DegreeError, f"attribute 'rain', row {row}: ", *parts):
        WALK.infer({"rain": rows, "wind": calm})
    columns = np.concatenate([rows, calm], axis=1)
    with raises_saying(DegreeError, f"attribute 'rain', row {row}: ", *parts):
        WALK.infer(columns)


def test_the_first_bad_row_is_named_with_threads_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINESY_NUM_THREADS", "2")
    rows = np.tile(CALM, (300_000, 1))
    rows[[170_001, 250_000, 299_999]] = 0.5
    a, b = Attribute("a", range(2)), Attribute("b", range(2))
    rule_set = RuleSet([If(a.isin({0})).then(b.isin({0}))])
    with raises_saying(DegreeError, "attribute 'a', row 170001", "not normalised"):
        rule_set.infer({"a": rows})


def test_a_bad_second_input_is_named() -> None:
    with raises_saying(DegreeError, "attribute 'wind': the distribution is not normalised"):
        WALK.infer({"rain": [1, 0, 0], "wind": [0.5, 0.5]})
    with raises_saying(DegreeError, "attribute 'wind', row 1: the distribution is not normalised"):
        WALK.infer({"rain": GOOD_ROWS[:2], "wind": np.array([CALM, [0.5, 0.5]])})


# --- evidence ----------------------------------------------------------------------------------


def test_missing_inputs() -> None:
    with raises_saying(CascadeError, "no distribution is given for wind", "possibility 1"):
        WALK.infer({"rain": [1, 0, 0]})
    with raises_saying(CascadeError, "no distribution is given for rain, wind"):
        WALK.infer({})
    many = [Attribute(f"in_{i}", range(2)) for i in range(12)]
    rules = RuleSet([If(*(a.isin({0}) for a in many)).then(GRASS.isin({"wet"}))])
    with raises_saying(CascadeError, "given for in_0, in_1", "in_7 and 4 more"):
        rules.infer({})


def test_unknown_inputs() -> None:
    with raises_saying(CascadeError, "there is no input 'rian'", "did you mean 'rain'?"):
        WALK.infer({"rian": [1, 0, 0], "wind": CALM})
    with raises_saying(CascadeError, "there is no input 'zzz'", "known: rain, wind"):
        WALK.infer({"rain": [1, 0, 0], "wind": CALM, "zzz": CALM})
    with raises_saying(CascadeError, "'grass' takes no evidence", "rules conclude on it"):
        WALK.infer({"rain": [1, 0, 0], "wind": CALM, "grass": CALM})


def test_an_input_given_as_an_attribute_of_another_domain() -> None:
    other = Attribute("wind", ["calm", "strong"])
    with pytest.raises(PinesyError, match="wind"):
        WALK.infer({"rain": [1, 0, 0], other: CALM})


def test_single_and_batch_mixed() -> None:
    with raises_saying(
        DegreeError, "'wind' has one distribution while others have a batch", "(n_samples"
    ):
        WALK.infer({"rain": GOOD_ROWS, "wind": CALM})
    with raises_saying(DegreeError, "'rain' has one distribution while others have a batch"):
        WALK.infer({"rain": {"light": 1}, "wind": np.tile(CALM, (3, 1))})


def test_different_numbers_of_samples() -> None:
    with raises_saying(DegreeError, "'wind' has 3 samples but 'rain' has 400", "same number"):
        WALK.infer({"rain": GOOD_ROWS, "wind": np.tile(CALM, (3, 1))})


@pytest.mark.parametrize("shape", [(4,), (6,), (2, 4), (2, 6), (1, 1, 5), ()])
def test_one_array_of_the_wrong_width(shape: tuple[int, ...]) -> None:
    with raises_saying(
        DegreeError, "5 columns, those of rain, wind side by side", f"got shape {shape}"
    ):
        WALK.infer(np.ones(shape))


def test_one_array_that_is_no_array() -> None:
    ragged = [[1.0, 0.0, 0.0, 1.0, 0.0], [1.0]]
    several: list[Any] = [None, "rain", ragged, 5]
    for wrong in several:
        with pytest.raises(DegreeError):
            WALK.infer(wrong)


def test_one_array_of_something_else_than_numbers() -> None:
    with raises_saying(DegreeError, "the array of inputs: degrees must be numbers"):
        WALK.infer(np.array(["a"] * 5))


def test_unknown_outputs() -> None:
    evidence = {"rain": [1, 0, 0], "wind": CALM}
    with raises_saying(CascadeError, "'gras'", "did you mean 'grass'?"):
        WALK.infer(evidence, ["gras"])
    with raises_saying(CascadeError, "'other'"):
        WALK.infer(evidence, [Attribute("other", range(2))])
    with raises_saying(CascadeError, "'grass'"):
        WALK.infer(evidence, [Attribute("grass", range(2))])
    with raises_saying(CascadeError, "'grass' was not inferred", "shoes"):
        WALK.infer(evidence)["grass"]
    with raises_saying(CascadeError, "no rule set concludes on 'sheos'", "did you mean 'shoes'?"):
        WALK["sheos"]
    declared = Cascade(FIRST, attributes=[Attribute("extra", range(2))])
    with raises_saying(CascadeError, "no rule uses 'extra'"):
        declared.infer(evidence, ["extra"])


def test_no_outputs_at_all() -> None:
    """There is nothing to compute; what comes back is an empty result or a pinesy error."""
    try:
        result = WALK.infer({"rain": [1, 0, 0], "wind": CALM}, [])
    except PinesyError:
        return
    assert len(result) == 0


def test_no_rules_at_all() -> None:
    with raises_saying(CascadeError, "at least one rule set"):
        Cascade()
    with raises_saying(RulesTextError, "line 1, column 22", "no rules"):
        parse("attribute a in {0, 1}")


# --- attributes and propositions ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("domain", "parts"),
    [
        ([], ["attribute 'a' has an empty domain", "at least one value"]),
        ([0, 1, 0], ["attribute 'a': the value 0 at index 2 equals an earlier one"]),
        ([1, True], ["the value True at index 1", "1 == 1.0 == True"]),
        ([float("nan")], ["the value nan at index 0", "is NaN"]),
        ([[0, 1]], ["attribute 'a': the value [0, 1] is not hashable", "use a tuple"]),
        ([{}], ["attribute 'a': the value {} is not hashable"]),
    ],
)
def test_bad_domains(domain: list[Any], parts: list[str]) -> None:
    with raises_saying(DomainError, *parts):
        Attribute("a", domain)


@pytest.mark.parametrize("name", ["", "a`b", "a\nb", "\x00", None, 3])
def test_bad_names(name: Any) -> None:
    with raises_saying(DomainError, "name is a printable text without `", f"got {name!r}"):
        Attribute(name, [0])


@pytest.mark.parametrize(
    ("factors", "shown"),
    [
        ([], "got none"),
        ([RAIN], "got rain"),
        ([RAIN, RAIN], "got rain, rain"),
        ([RAIN, Attribute("p", range(2))], "got rain, p"),
    ],
)
def test_bad_products(factors: list[Attribute], shown: str) -> None:
    with raises_saying(DomainError, "the product 'p' needs two or more factors", shown):
        Attribute.product("p", *factors)


def test_unknown_values() -> None:
    with raises_saying(
        DomainError, "attribute 'rain' has no value 'hevy'", "did you mean 'heavy'?"
    ):
        RAIN.isin({"hevy"})
    with raises_saying(DomainError, "attribute 'wind' has no value 7", "known: 0, 1"):
        WIND.isin({7})
    with raises_saying(DomainError, "has no value [0]"):
        WIND.isin([[0]])  # type: ignore[list-item]
    long = Attribute("long", range(100, 130))
    with raises_saying(DomainError, "known: 100, 101", "(30 in all)"):
        long.position("x")


@pytest.mark.parametrize("lone", ["light", "abc", b"x", 3, None])
def test_one_value_in_place_of_a_set(lone: Any) -> None:
    with raises_saying(
        DomainError, "attribute 'rain'", f"{lone!r} is one value, not a set", f"{{{lone!r}}}"
    ):
        RAIN.isin(lone)


def test_one_tuple_in_place_of_a_set() -> None:
    pair = Attribute.product("pair", RAIN, WIND)
    with raises_saying(DomainError, "('none', 0) is one value, not a set", "{('none', 0)}"):
        pair.isin(("none", 0))
    assert pair.isin({("none", 0)}).values == (("none", 0),)


def test_functions_that_are_no_conditions() -> None:
    with raises_saying(DomainError, "attribute 'wind', value 0", "gives 0", "true or false"):
        WIND.where(lambda v: v)
    with raises_saying(DomainError, "attribute 'rain', value 'none'", "fails"):
        RAIN.where(lambda v: v + 1 == 2)
    with raises_saying(DomainError, "attribute 'wind', value 0", "fails", "argument"):
        WIND.where(lambda u, v: u == v)
    with raises_saying(DomainError, "attribute 'wind', value 0", "fails", "division"):
        WIND.where(lambda v: 1 / v == 1)


TRUTH: list[Callable[[], Any]] = [
    lambda: bool(RAIN.isin({"light"})),
    lambda: RAIN.isin({"light"}) and WIND.isin({0}),
    lambda: RAIN.isin({"light"}) or WIND.isin({0}),
    lambda: not RAIN.isin({"light"}),
    lambda: 1 if Premise((RAIN.isin({"light"}),)) else 0,
    lambda: bool(~(RAIN.isin({"light"}) & WIND.isin({0}))),
]


@pytest.mark.parametrize("use", TRUTH)
def test_a_proposition_is_neither_true_nor_false(use: Callable[[], Any]) -> None:
    with raises_saying(RuleSetError, "rain in {light}", "is neither true nor false", "p & q", "~p"):
        use()


# --- rules -------------------------------------------------------------------------------------


def test_empty_premises_and_conclusions() -> None:
    with raises_saying(RuleSetError, "a premise needs at least one proposition", "If("):
        If()
    with raises_saying(
        RuleSetError, "'if rain in {light} then grass in {}'", "empty conclusion", "'grass'"
    ):
        If(RAIN.isin({"light"})).then(GRASS.isin([]))
    with raises_saying(RuleSetError, "empty conclusion", "condition"):
        If(RAIN.isin({"light"})).then(WIND.where("wind > 5"))


def test_what_is_not_a_proposition() -> None:
    with raises_saying(RuleSetError, "a premise is made of propositions", "got 'rain'"):
        If("rain")  # type: ignore[arg-type]
    with raises_saying(RuleSetError, "a conclusion is a proposition", "got 'wet'"):
        If(RAIN.isin({"light"})).then("wet")  # type: ignore[arg-type]
    with raises_saying(RuleSetError, "a premise is made of propositions", "got True"):
        Premise((True,))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["s", "r"])
@pytest.mark.parametrize("value", [1.5, -0.1, float("nan"), "much", []])
def test_bad_parameters(name: str, value: Any) -> None:
    text = "if rain in {light} then grass in {wet}"
    with raises_saying(DegreeError, f"parameter {name} of rule '{text}' is {value!r}", "[0, 1]"):
        If(RAIN.isin({"light"})).then(GRASS.isin({"wet"}), **{name: value})


def test_bad_rule_sets() -> None:
    rule = If(RAIN.isin({"light"})).then(GRASS.isin({"wet"}))
    with raises_saying(RuleSetError, "needs at least one rule"):
        RuleSet([])
    with raises_saying(RuleSetError, "rule 2 is 'x', not a rule", "If(...).then(...)"):
        RuleSet([rule, "x"])  # type: ignore[list-item]
    other = If(RAIN.isin({"light"})).then(SHOES.isin({"wet"}))
    with raises_saying(
        RuleSetError, "rule 2 ('if rain", "shoes", "but rule 1 on", "grass", "different"
    ):
        RuleSet([rule, other])
    twin = Attribute("rain", ["yes", "no"])
    with raises_saying(RuleSetError, "attribute 'rain' has another domain here"):
        RuleSet([rule, If(twin.isin({"yes"})).then(GRASS.isin({"wet"}))])


def test_wrong_numbers_of_parameters() -> None:
    with raises_saying(RuleSetError, "'grass' has 1 rules", "got 2 values of s"):
        FIRST.with_parameters([0, 0], [0])
    with raises_saying(RuleSetError, "'grass' has 1 rules", "got 0 values of r"):
        WALK.with_parameters({"grass": ([0], [])})
    with raises_saying(CascadeError, "no rule set concludes on 'gras'", "did you mean 'grass'?"):
        WALK.with_parameters({"gras": ([0], [0])})
    with raises_saying(DegreeError, "parameter r of rule 'if rain", "is 2;"):
        FIRST.with_parameters([0], [2])


# --- cascades ----------------------------------------------------------------------------------


def chain(*names: str) -> list[RuleSet]:
    """Return rule sets that lead from each name to the next."""
    known = {name: Attribute(name, range(2)) for name in names}
    pairs = pairwise(names)
    return [RuleSet([If(known[a].isin({0})).then(known[b].isin({0}))]) for a, b in pairs]


def test_cycles_are_printed() -> None:
    with raises_saying(CascadeError, "cycle: a -> a", "its own output"):
        Cascade(*chain("a", "a"))
    for names, cycle in [(("a", "b", "a"), "[ab]"), (("a", "b", "c", "d", "b"), "[bcd]")]:
        with pytest.raises(CascadeError, match="may not lead back") as caught:
            Cascade(*_distinct(chain(*names)))
        printed = re.findall(r"cycle: (.*);", str(caught.value))[0].split(" -> ")
        assert printed[0] == printed[-1]
        steps = list(pairwise(names))
        assert all(step in steps for step in pairwise(printed))
        assert all(re.fullmatch(cycle, name) for name in printed)


def _distinct(rule_sets: list[RuleSet]) -> list[RuleSet]:
    """Put the rules on one attribute in one set."""
    by_output: dict[str, list[Rule]] = {}
    for rule_set in rule_sets:
        by_output.setdefault(rule_set.output.name, []).extend(rule_set.rules)
    return [RuleSet(rules) for rules in by_output.values()]


def test_two_sets_on_one_attribute() -> None:
    with raises_saying(CascadeError, "two rule sets conclude on 'grass'", "in one set"):
        Cascade(FIRST, FIRST.with_parameters([0.5], [0.5]))


def test_one_name_with_two_domains() -> None:
    other = Attribute("grass", ["green", "brown"])
    later = RuleSet([If(other.isin({"green"})).then(SHOES.isin({"dry"}))])
    with raises_saying(
        CascadeError, "two attributes have the name 'grass'", "dry", "green", "rename one"
    ):
        Cascade(FIRST, later)
    with raises_saying(CascadeError, "two attributes have the name 'rain'"):
        Cascade(FIRST, attributes=[Attribute("rain", range(9))])
    pair = Attribute.product("pair", Attribute("rain", range(2)), WIND)
    with raises_saying(CascadeError, "two attributes have the name 'rain'"):
        Cascade(FIRST, RuleSet([If(WIND.isin({0})).then(pair.isin({(0, 0)}))]))


def test_what_is_not_a_rule_set() -> None:
    with raises_saying(CascadeError, "a cascade is made of rule sets", "got [RuleSet("):
        Cascade([FIRST, SECOND])  # type: ignore[arg-type]


# --- text --------------------------------------------------------------------------------------

DECLARED = "attribute rain in {no, light}\nattribute grass in {dry, wet}\n"

TEXTS: list[tuple[str, int, int, list[str]]] = [
    ("if rain in {light} then gras in {wet}", 3, 25, ["'gras' is not declared", "'grass'?"]),
    ("if rain in {ligth} then grass in {wet}", 3, 12, ["no value 'ligth'", "'light'?"]),
    ("if rain in {light} grass in {wet}", 3, 20, ["expected 'then', found 'grass'"]),
    ("if rain in {light}", 3, 19, ["expected 'then', found 'end of text'"]),
    ("if rain in {light then grass in {wet}", 3, 19, ["expected ',', found 'then'"]),
    ("if rain is {light} then grass in {wet}", 3, 9, ["expected 'in', 'where'", "found 'is'"]),
    ("if rain + 1 == 2 then grass in {wet}", 3, 9, ["one attribute", "function new = rain + ..."]),
    ("if rain == grass then grass in {wet}", 3, 12, ["'grass' is an attribute", "rain == grass"]),
    ("if rain in {light} then grass in {wet} and rain in {no}", 3, 40, ["write a rule for each"]),
    ("if rain in {light} then grass in {wet} else rain in {no}", 3, 40, ["write 'iff', or"]),
    ("if rain in light then grass in {wet}", 3, 12, ["expected '{', found 'light'"]),
    ("if then grass in {wet}", 3, 4, ["expected an attribute, found 'then'"]),
    ("if rain in {light} then grass in {}", 3, 1, ["empty conclusion"]),
    ("rain in {light}", 3, 1, ["expected a statement such as 'attribute',", "found 'rain'"]),
    ("attribute rain in {a}", 3, 11, ["attribute 'rain' is declared twice"]),
    ("attribute if in {a}", 3, 11, ["expected a name, found 'if'"]),
    ("attribute a = {a}", 3, 13, ["expected 'in', found '='"]),
    ("attribute a in {}", 3, 11, ["attribute 'a' has an empty domain"]),
    ("attribute a in {x, x}", 3, 11, ["the value 'x' at index 1 equals an earlier one"]),
    ("attribute a in {9..0}", 3, 17, ["a range goes up"]),
    ("attribute a in {if}", 3, 17, ["expected a value, found 'if'"]),
    ("attribute a in {-x}", 3, 17, ["computes with 'x', which is not a number"]),
    ("product p = rain * snow", 3, 20, ["'snow' is not declared"]),
    ("product p = rain", 3, 9, ["needs two or more factors"]),
    ("if rain in {light} then grass in {wet} [s=2]", 3, 41, ["s is 2", "[0, 1]"]),
    ("if rain in {light} then grass in {wet} [s=a]", 3, 41, ["s is 'a'", "must be a number"]),
    (
        "if rain in {light} then grass in {wet} [q=0]",
        3,
        41,
        ["expected s=, r= or certainty=", "'q'"],
    ),
    ("if rain in {light} then grass in {wet} [s=0, s=0]", 3, 46, ["once each"]),
    ("if rain in {light} then grass in {wet} [s 0]", 3, 43, ["expected '=', found '0'"]),
    ("if rain in {light} then grass in {wet} [s=0", 3, 44, ["expected ','"]),
    ("if rain where rain = 3 then grass in {wet}", 3, 4, ["'rain' gives 'no'", "true or false"]),
    ("if rain where rain == 3 = 4 then grass in {wet}", 3, 25, ["expected 'then', found '='"]),
    ("if rain where snow == 3 then grass in {wet}", 3, 15, ["unknown name 'snow'"]),
    ("if rain where rain > 3 then grass in {wet}", 3, 4, ["'rain'", "value 'no'", "fails"]),
    ("if rain in {light} then grass in {wet} ;", 3, 40, ["unexpected character ';'"]),
    ('if rain in {"light} then grass in {wet}', 3, 13, ["no closing quote on its line"]),
    ("if rain in {`light`} then grass in {wet}", 3, 13, ["expected a value, found '`light`'"]),
    ("if `rain\n in {light} then grass in {wet}", 3, 4, ["no closing backquote"]),
]


@pytest.mark.parametrize(("text", "line", "column", "parts"), TEXTS, ids=[t for t, *_ in TEXTS])
def test_malformed_text(text: str, line: int, column: int, parts: list[str]) -> None:
    with raises_saying(RulesTextError, f"line {line}, column {column}: ", *parts) as caught:
        parse(DECLARED + text)
    assert isinstance(caught.value, RulesTextError)
    assert (caught.value.line, caught.value.column) == (line, column)
    _, shown, pointer = str(caught.value).split("\n")
    at = pointer.index("^")
    assert shown[:at].strip() in text
    assert shown[at:].rstrip() == text.split("\n")[0][column - 1 :]


def test_malformed_single_rules() -> None:
    known = [RAIN, GRASS]
    with raises_saying(RulesTextError, "line 1, column 1: expected 'if', found 'rain'"):
        parse_rule("rain in {light}", known)
    with raises_saying(RulesTextError, "expected the end, found 'if'"):
        parse_rule("if rain in {light} then grass in {wet} if", known)
    with raises_saying(RulesTextError, "attribute 'wind' is not declared"):
        parse_rule("if wind in {0} then grass in {wet}", known)


def test_texts_that_do_not_fit_together() -> None:
    text = (
        "attribute a in {0} attribute b in {0} if a in {0} then b in {0} if b in {0} then a in {0}"
    )
    with raises_saying(CascadeError, "do not fit together", "cycle: ", "a -> b"):
        parse(text)
    with raises_saying(CascadeError, "cycle: a -> a"):
        parse("attribute a in {0} if a in {0} then a in {0}")


@pytest.mark.parametrize("text", ["x" * 10**6, '"' * 10**6, "{" * 10**6, "# " + "x" * 10**6])
def test_lines_of_a_million_characters(text: str) -> None:
    with raises_saying(
        RulesTextError, "line 3, column 1: this line has 1,000,", "the limit is 500,000"
    ) as e:
        parse(DECLARED + text)
    assert len(str(e.value)) < 500


def test_a_wrong_place_far_out_in_a_long_line_is_shown() -> None:
    text = "attribute a in {" + ", ".join(f"v{i}" for i in range(5000)) + " oops}"
    with raises_saying(RulesTextError, "expected ',', found 'oops'") as caught:
        parse(text)
    _, shown, pointer = str(caught.value).split("\n")
    assert len(shown) <= 84
    assert shown[pointer.index("^") :].startswith("oops}")


# --- files -------------------------------------------------------------------------------------


def test_files_that_are_not_there_or_of_another_kind(tmp_path: Path) -> None:
    with raises_saying(DataError, "x.rules: cannot be read", "No such file"):
        load(tmp_path / "x.rules")
    (tmp_path / "x.txt").write_text("")
    with raises_saying(DataError, "x.txt: ", ".rules or .json", "'.txt'"):
        load(tmp_path / "x.txt")
    with raises_saying(DataError, "x.pkl: ", ".rules or .json", "'.pkl'"):
        save(WALK, tmp_path / "x.pkl")
    with raises_saying(DataError, "x.json: cannot be written", "No such file"):
        save(WALK, tmp_path / "no" / "x.json")
    (tmp_path / "y.rules").write_bytes(b"attribute \xff")
    with raises_saying(DataError, "y.rules: not UTF-8 text (byte 10)"):
        load(tmp_path / "y.rules")


def test_malformed_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "x.rules"
    path.write_text("attribute a in {0, 1}\nattribut b in {0}")
    with raises_saying(RulesTextError, f"{path}: line 2, column 1: ", "found 'attribut'") as caught:
        load(path)
    assert isinstance(caught.value, RulesTextError)
    assert (caught.value.line, caught.value.column) == (2, 1)


@pytest.fixture
def content(tmp_path: Path) -> dict[str, Any]:
    """The JSON form of a cascade with a product and a condition."""
    pair = Attribute.product("pair", RAIN, WIND)
    windy = RuleSet([If(WIND.isin({1})).then(pair.where("wind == 1"), s=0.25)])
    save(Cascade(FIRST, windy), tmp_path / "good.json")
    loaded: dict[str, Any] = json.loads((tmp_path / "good.json").read_text())
    return loaded


def test_the_fixture_is_good(content: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps(content))
    assert load(tmp_path / "x.json") == load(tmp_path / "good.json")


Tamper = Callable[[dict[str, Any]], Any]


def put(*path: str | int, value: Any) -> Tamper:
    """Return the change that puts `value` at a place of the content."""

    def change(content: dict[str, Any]) -> None:
        place: Any = content
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value

    return change


RULE = ("rule_sets", 0, 0)
TAMPERED: list[tuple[str, Tamper, list[str]]] = [
    ("other format", put("format", value="x"), ['"format" must be "pinesy cascade"']),
    ("newer", put("version", value=3), ["format version 3", "reads version 2", "update pinesy"]),
    ("older", put("version", value=1), ["format version 1", "reads version 2"]),
    ("no version", put("version", value=None), ["format version None", "reads version 2"]),
    ("no attributes", put("attributes", value=None), ["attributes: missing, or not a list"]),
    ("no rules", put("rule_sets", value={}), ["rule_sets: missing, or not a list"]),
    ("rule sets of numbers", put("rule_sets", value=[5]), ["rule_sets[0]"]),
    ("rule sets of null", put("rule_sets", value=[None]), ["rule_sets[0]"]),
    ("attribute is a number", put("attributes", 0, value=5), ["attributes[0]: must be an object"]),
    ("attribute without domain", put("attributes", 0, value={"name": "rain"}), ["attributes[0]"]),
    ("empty domain", put("attributes", 1, "domain", value=[]), ["attributes[1]: ", "empty domain"]),
    (
        "value twice",
        put("attributes", 1, "domain", value=[0, 0]),
        ["attributes[1]: ", "equals an earlier one"],
    ),
    (
        "unknown factor",
        put("attributes", 3, value={"name": "p", "product": ["rain", "snow"]}),
        ["attributes[3]: ", "snow"],
    ),
    ("domain is a text", put("attributes", 2, "domain", value="dw"), ["attributes[2]"]),
    ("version is true", put("version", value=True), ["format version True"]),
    ("dict as value", put("attributes", 1, "domain", value=[{}, 1]), ["attributes[1]: "]),
    ("rule is a list", put(*RULE, value=[1]), ["rule_sets[0][0]: must be an object with the keys"]),
    ("rule without s", put(*RULE, value={"if": [], "then": []}), ["rule_sets[0][0]: "]),
    ("no premise", put(*RULE, "if", value=[]), ["rule_sets[0][0]: ", "at least one proposition"]),
    ("unknown attribute", put(*RULE, "if", 0, 0, value="snow"), ["rule_sets[0][0]: ", "snow"]),
    (
        "position too large",
        put(*RULE, "if", 0, 1, value=[3]),
        ["rule_sets[0][0]: ", "'rain' has no position 3"],
    ),
    ("negative position", put(*RULE, "if", 0, 1, value=[-1]), ["has no position -1"]),
    (
        "position is text",
        put(*RULE, "if", 0, 1, value=["0"]),
        ["rule_sets[0][0]: ", "no position '0'"],
    ),
    ("position is broken", put(*RULE, "if", 0, 1, value=[0.5]), ["rule_sets[0][0]: "]),
    (
        "empty conclusion",
        put(*RULE, "then", 1, value=[]),
        ["rule_sets[0][0]: ", "empty conclusion"],
    ),
    ("s too large", put(*RULE, "s", value=1.5), ["rule_sets[0][0]: parameter s", "1.5", "[0, 1]"]),
    ("r is text", put(*RULE, "r", value="x"), ["rule_sets[0][0]: r is 'x'", "must be a number"]),
    (
        "condition does not match",
        put("rule_sets", 1, 0, "then", 2, value="wind == 0"),
        ["rule_sets[1][0]: ", "condition 'wind == 0' does not give the positions beside it"],
    ),
    (
        "condition does not parse",
        put("rule_sets", 1, 0, "then", 2, value="wind.x"),
        ["rule_sets[1][0]: ", "unexpected character '.'"],
    ),
    ("condition is a number", put("rule_sets", 1, 0, "then", 2, value=5), ["rule_sets[1][0]: "]),
]


@pytest.mark.parametrize(
    ("change", "parts"), [t[1:] for t in TAMPERED], ids=[t[0] for t in TAMPERED]
)
def test_tampered_json(
    change: Tamper, parts: list[str], content: dict[str, Any], tmp_path: Path
) -> None:
    change(content)
    path = tmp_path / "x.json"
    path.write_text(json.dumps(content))
    with raises_saying(DataError, f"{path}: ", *parts):
        load(path)


def test_json_with_an_attribute_declared_twice(content: dict[str, Any], tmp_path: Path) -> None:
    content["attributes"].append({"name": "rain", "domain": [1, 2, 3]})
    path = tmp_path / "x.json"
    path.write_text(json.dumps(content))
    with pytest.raises(PinesyError, match="rain"):
        load(path)


def test_json_with_rules_that_do_not_fit(content: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    rule = content["rule_sets"][0][0]
    several: list[list[Any]] = [[[]], [[rule], [rule | {"s": 0.5}]]]
    for broken in several:
        path.write_text(json.dumps(content | {"rule_sets": broken}))
        with pytest.raises(PinesyError, match=re.escape(f"{path}: ")):
            load(path)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.99])
def test_truncated_json(share: float, content: dict[str, Any], tmp_path: Path) -> None:
    text = json.dumps(content)
    path = tmp_path / "x.json"
    path.write_text(text[: int(len(text) * share)])
    with raises_saying(DataError, f"{path}: not whole JSON", "line 1, column", "cut off"):
        load(path)


@pytest.mark.parametrize("depth", [20, 100, 300, 900, 990, 5_000, 200_000])
def test_json_that_nests_deep(depth: int, content: dict[str, Any], tmp_path: Path) -> None:
    """A value may be nested a little; beyond the limit of any reader it is a pinesy error."""
    nested = "[" * depth + "]" * depth
    path = tmp_path / "x.json"
    path.write_text(nested)
    with raises_saying(DataError, f"{path}: "):
        load(path)
    path.write_text(json.dumps(content).replace('"none"', nested))
    try:
        loaded = load(path)
    except PinesyError as error:
        assert depth > 20
        assert str(error).startswith(f"{path}: ")  # noqa: PT017
    else:
        assert len(loaded.attributes["rain"].domain) == 3


@pytest.mark.parametrize("text", ["[]", "5", "null", '"x"', "{}"])
def test_json_that_is_something_else(text: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with raises_saying(DataError, f"{path}: not a file of rules"):
        load(path)


def test_domains_that_would_fill_the_memory() -> None:
    with raises_saying(DomainError, "attribute 'q' would have 1,000,000,000 values", "at most"):
        Attribute("q", range(10**9))


def test_what_python_compares_itself_is_no_proposition() -> None:
    with raises_saying(RuleSetError, "got False", "write attribute.isin({value})"):
        If(RAIN == "light")  # type: ignore[arg-type]
