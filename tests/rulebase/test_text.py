"""The written forms: ``.rules`` text, JSON, single rules, conditions."""

import json
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinesy import (
    Attribute,
    Cascade,
    DataError,
    DomainError,
    Iff,
    PinesyError,
    RuleSet,
    RulesTextError,
    load,
    parse,
    parse_rule,
    save,
)
from pinesy.problems import addition, sudoku
from pinesy.rules.syntax.expressions import ARITHMETIC, MAX_BITS, RANGES
from strategies import NAMES, VALUES, Case, attributes, cascades, cases, rule_sets


def assert_same(one: Cascade, two: Cascade) -> None:
    """Compare all that a cascade holds, types of values and texts of conditions included."""
    assert one == two
    assert hash(one) == hash(two)
    assert str(one) == str(two)
    assert {n: repr(a.domain) for n, a in one.attributes.items()} == {
        n: repr(a.domain) for n, a in two.attributes.items()
    }
    assert [(s.s.tolist(), s.r.tolist()) for s in one.rule_sets] == [
        (s.s.tolist(), s.r.tolist()) for s in two.rule_sets
    ]
    assert [a.name for a in one.inputs] == [a.name for a in two.inputs]


# --- round trips -------------------------------------------------------------------------------


@given(cascades(texts=True))
def test_the_printed_form_is_an_input_form(cascade: Cascade) -> None:
    assert_same(parse(str(cascade)), cascade)
    assert_same(parse(format(cascade)), cascade)


@given(st.data())
def test_a_printed_rule_is_an_input_form(data: st.DataObject) -> None:
    names = iter(data.draw(st.lists(NAMES, min_size=3, max_size=3, unique=True)))
    known = [data.draw(attributes(next(names))) for _ in range(2)]
    output = data.draw(attributes(next(names)))
    for rule in data.draw(rule_sets(known, output, texts=True)).rules:
        again = parse_rule(str(rule), [*known, output])
        assert again == rule
        assert str(again) == str(rule)


@given(cascades(texts=True))
def test_files_keep_everything(tmp_path_factory: pytest.TempPathFactory, cascade: Cascade) -> None:
    folder = tmp_path_factory.mktemp("rules")
    for name in ("x.rules", "x.json"):
        save(cascade, folder / name)
        assert_same(load(folder / name), cascade)
        assert_same(load(str(folder / name)), cascade)
    assert sorted(p.name for p in folder.iterdir()) == ["x.json", "x.rules"]


@settings(max_examples=30)
@given(cases())
def test_a_cascade_read_back_infers_the_same(case: Case) -> None:
    again = parse(str(case.cascade)).infer(case.evidence)
    for name, expected in case.cascade.infer(case.evidence).items():
        assert again[name].degrees.tolist() == expected.degrees.tolist()


@given(st.lists(VALUES, min_size=1, max_size=8, unique=True))
def test_every_kind_of_value_comes_back_with_its_type(domain: list[Any]) -> None:
    attribute = Attribute("a", domain)
    rule = Iff(attribute.isin([domain[0]])).then(Attribute("b", range(2)).isin({0}))
    cascade = Cascade(RuleSet([rule]))
    assert repr(parse(str(cascade)).attributes["a"].domain) == repr(tuple(domain))


@pytest.mark.parametrize("cascade", [addition(3), sudoku(4)], ids=["addition", "sudoku"])
@pytest.mark.parametrize("suffix", [".rules", ".json"])
def test_the_problems_come_back_from_files(cascade: Cascade, suffix: str, tmp_path: Path) -> None:
    save(cascade, tmp_path / f"x{suffix}")
    again = load(tmp_path / f"x{suffix}")
    assert_same(again, cascade)
    assert "where" in str(again)


def test_a_long_product_domain_is_not_written_out() -> None:
    text = str(addition(2))
    assert "product c_1 = a_1 * a_3 * w_2" in text
    assert len(text) < 6000


def test_saving_replaces_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    save(addition(2), path)
    save(addition(1), path)
    assert load(path) == addition(1)
    assert [p.name for p in tmp_path.iterdir()] == ["x.json"]


def test_the_json_form_is_the_documented_one(tmp_path: Path) -> None:
    left, right = Attribute("left", (0, 1)), Attribute("right", ("u", (1, None)))
    pair = Attribute.product("pair", left, right)
    rule = Iff(left.isin({0})).then(pair.where("left==0"), s=0.1)
    path = tmp_path / "x.json"
    save(Cascade(RuleSet([rule])), path)
    assert json.loads(path.read_text()) == {
        "format": "pinesy cascade",
        "version": 2,
        "attributes": [
            {"name": "left", "domain": [0, 1]},
            {"name": "right", "domain": ["u", [1, None]]},
            {"name": "pair", "product": ["left", "right"]},
        ],
        "rule_sets": [
            [{"if": [["left", [0]]], "then": ["pair", [0, 1], "left == 0"], "s": 0.1, "r": 0.0}]
        ],
    }


def test_text_by_hand() -> None:
    cascade = parse(
        """
        # comments, line ends and spaces mean nothing
        attribute left in {0..9}   attribute right in {0..9,}
        attribute total in { 0 .. 17, 18 } # the sum
        product pair = left*right
        iff left in {3}
        then pair where left==3
        iff right not in {0, 2..9} then pair where (not right != 1)
        iff pair where left + right == 7 and left in {0..9} then total in {7} [r=0.25, s=0.5]
        iff pair where (left + right == 8 or left - right == 8) then total not in {0..7,9..18} [s=1]
        """
    )
    left, right, pair = (cascade.attributes[n] for n in ("left", "right", "pair"))
    pairs, totals = cascade["pair"].rules, cascade["total"].rules
    assert pairs[0] == Iff(left.isin({3})).then(pair.where(lambda u, _: u == 3))
    assert pairs[1] == Iff(right.isin({1})).then(pair.where(lambda _, v: v == 1))
    assert totals[0].premise.propositions[1] == left.isin(range(10))
    assert (totals[0].s, totals[0].r) == (0.5, 0.25)
    assert totals[1].conclusion.values == (8,)
    assert (totals[1].s, totals[1].r) == (1.0, 0.0)


# --- conditions --------------------------------------------------------------------------------

X, Y = Attribute("x", range(-2, 6)), Attribute("y", range(1, 5))
PAIR = Attribute.product("pair", X, Y)

CONDITIONS: list[tuple[str, Callable[[Any, Any], bool]]] = [
    ("x == y", lambda x, y: x == y),
    ("x != y", lambda x, y: x != y),
    ("x < y <= 3", lambda x, y: x < y <= 3),
    ("1 < x < y < 4", lambda x, y: 1 < x < y < 4),
    ("x >= y > 2", lambda x, y: x >= y > 2),
    ("x + y == 7", lambda x, y: x + y == 7),
    ("x - y - 1 == 0", lambda x, y: x - y - 1 == 0),
    ("x - (y - 1) == 0", lambda x, y: x - (y - 1) == 0),
    ("2 * x + y % 2 == 5", lambda x, y: 2 * x + y % 2 == 5),
    ("(x + y) % 3 == 0", lambda x, y: (x + y) % 3 == 0),
    ("x // y == -1", lambda x, y: x // y == -1),
    ("x % y == 1", lambda x, y: x % y == 1),
    ("-x == y", lambda x, y: -x == y),
    ("- x + - 1 == -y", lambda x, y: -x + -1 == -y),
    ("x * 0.5 == y", lambda x, y: x * 0.5 == y),
    ("x in {0, 2..4}", lambda x, _: x in (0, 2, 3, 4)),
    ("x in {-2..0, 5}", lambda x, _: x in (-2, -1, 0, 5)),
    ("x not in {0, 2..4}", lambda x, _: x not in (0, 2, 3, 4)),
    ("x + y in {4}", lambda x, y: x + y == 4),
    ("x == 1 or x == 2 and y == 3", lambda x, y: x == 1 or (x == 2 and y == 3)),
    ("(x == 1 or x == 2) and y == 3", lambda x, y: x in (1, 2) and y == 3),
    ("not x == 1 and y == 3", lambda x, y: x != 1 and y == 3),
    ("not (x == 1 and y == 3)", lambda x, y: not (x == 1 and y == 3)),
    ("not not x == 1", lambda x, _: x == 1),
    ("(x, y) == (1, 2)", lambda x, y: (x, y) == (1, 2)),
    ("pair == (1, 2)", lambda x, y: (x, y) == (1, 2)),
    ("pair in {(1, 2), (3, 4)}", lambda x, y: (x, y) in ((1, 2), (3, 4))),
    ("pair != (x, 2)", lambda _, y: y != 2),
    ("true", lambda _x, _y: True),
    ("false", lambda _x, _y: False),
    ("(x > 2) == (y > 2)", lambda x, y: (x > 2) == (y > 2)),
    ("(((x))) == ((1))", lambda x, _: x == 1),
    ("x==1#the rest is a comment", lambda x, _: x == 1),
    ("x ==\n1", lambda x, _: x == 1),
]


@pytest.mark.parametrize(("text", "holds"), CONDITIONS, ids=[text for text, _ in CONDITIONS])
def test_a_text_says_what_the_function_says(text: str, holds: Callable[..., bool]) -> None:
    by_text = PAIR.where(text)
    assert by_text == PAIR.where(holds)
    assert by_text.values == tuple(t for t in PAIR.domain if isinstance(t, tuple) and holds(*t))
    # the kept text is itself a condition, alone and in a rule beside another proposition
    assert by_text.condition is not None
    assert PAIR.where(by_text.condition) == by_text
    out = Attribute("out", (0, 1))
    rule = Iff(by_text, X.isin({0})).then(out.isin({1}))
    again = parse_rule(str(rule), [PAIR, X, out])
    assert again == rule
    assert str(again) == str(rule)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('mood == "so so"', ["so so"]),
        ('mood in {good, "so so"}', ["good", "so so"]),
        ('mood != "good"', ["so so", "if", 'say "x"']),
        ('mood == "if"', ["if"]),
        (r'mood == "say \"x\""', ['say "x"']),
        (r'mood == "go\u006fd"', ["good"]),
        ('mood < "h"', ["good"]),
    ],
)
def test_conditions_on_texts(text: str, values: list[str]) -> None:
    mood = Attribute("mood", ["good", "so so", "if", 'say "x"'])
    assert list(mood.where(text).values) == values


def test_names_in_backquotes() -> None:
    odd, plain = Attribute("blood sugar", range(3)), Attribute("not", range(3))
    pair = Attribute.product("a-b", odd, plain)
    assert pair.where("`blood sugar` + `not` == 4").values == ((2, 2),)
    assert pair.where("a-b == (2, 2)").values == ((2, 2),)
    assert pair.where("`blood sugar` - `not` == 2").values == ((2, 0),)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("__import__", "unknown name '__import__'"),
        ('__import__("os")', "'__import__': functions are not known here; .*lambda a, b"),
        ("abs(x - y) == 1", "'abs': functions are not known here"),
        ("x.real == 1", r"unexpected character '\.'"),
        ("x.__class__ == 1", r"unexpected character '\.'"),
        ("x(1) == 1", r"expected the end of the condition, found '\('"),
        ("pair[0] == 1", "unknown name 'pair_0'; did you mean 'pair'"),
        ("[x] == 1", r"expected a number, a name or '\(', found '\['"),
        ("{x} == 1", r"expected a number, a name or '\(', found '\{'"),
        ("lambda == 1", "unknown name 'lambda'"),
        ("x if y else 1", "expected the end of the condition, found 'if'"),
        ("x ** 9 == 1", r"expected a number, a name or '\(', found '\*'"),
        ("x / y == 1", "unexpected character '/'"),
        ("x | y", r"unexpected character '\|'"),
        ("x & y", "unexpected character '&'"),
        ("x << 9", r"expected a number, a name or '\(', found '<'"),
        ("x := 1", "expected the end of the condition, found ':'"),
        ("x = 1", "expected the end of the condition, found '='"),
        ("x; y", "unexpected character ';'"),
        ("x == 'a'", "unexpected character"),
        ('x == f"a"', "unknown name 'f'"),
        ("x @ y", "unexpected character '@'"),
        ("~x == 1", "unexpected character '~'"),
        ("", "found 'end of text'"),
        ("x ==", "found 'end of text'"),
        ("(x == 1", r"expected '\)', found 'end of text'"),
        ("x == 1)", r"expected the end of the condition, found '\)'"),
        ("x in 3", r"expected '\{', found '3'"),
        ("x in {y + 1}", "this fails: computes with 'y', which is not a number"),
        ("x not 3", "expected 'in', found '3'"),
        ("x-y == 1", "a minus takes spaces around it"),
        ("z == 1", "unknown name 'z'"),
        ("x == low", 'quotes: "low"'),
        ('x == "a', "no closing quote"),
        (r'x == "\q"', "unknown escape"),
    ],
)
def test_nothing_else_is_a_condition(text: str, problem: str) -> None:
    with pytest.raises(RulesTextError, match=problem) as caught:
        PAIR.where(text)
    assert caught.value.line == 1
    assert caught.value.column >= 1
    assert "^" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('"a" * 3 == "aaa"', "computes with 'a', which is not a number"),
        ('"a" + "b" == "ab"', "computes with 'a', which is not a number"),
        ("pair * 1000000000 == pair", "computes with .*, which is not a number"),
        ("none + 1 == 1", "computes with None"),
        ('"%s" % x == "1"', "computes with '%s'"),
        ("-pair == 1", "which is not a number"),
        ("x + y", "gives -1; it must give true or false"),
        ("x", "gives -2; it must give true or false"),
        ('"a"', "gives 'a'; it must give true or false"),
        ("x and y", "gives -2 where true or false is needed"),
        ("not x", "gives -2 where true or false is needed"),
        ("x // (y - 1) == 0", "fails: "),
        ("x % (y - 1) == 0", "fails: "),
        ('x < "a"', "fails: "),
        ("x < none", "fails: "),
    ],
)
def test_conditions_that_mean_nothing_for_a_value(text: str, problem: str) -> None:
    with pytest.raises(DomainError, match=problem) as caught:
        PAIR.where(text)
    assert "attribute 'pair', value (-2, 1)" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (" + ".join(["x"] * 300) + " == 1", "more than 200 operands"),
        (" and ".join(["x == 1"] * 300), "more than 200 operands"),
        ("(" * 200 + "x" + ")" * 200 + " == 1", "nests more than 50 deep"),
        ("not " * 5000 + "x == 1", "nests more than 50 deep"),
        ("-" * 5000 + "x == 1", "nests more than 50 deep"),
        ("- " * 5000 + "x == 1", "nests more than 50 deep"),
        ("x in {" + "(" * 5000 + "1" + ",)" * 5000 + "}", "nest more than 50 deep"),
        ("x == " + "9" * 5_000, "this number has more than"),
        ("x == " + "9" * 100_000, "this number has more than"),
        ("x in {" + "9" * 100_000 + "}", "this number has more than"),
        ("x in {0..99999999999}", "this range has more than 1,000,000 values"),
        ("x in {5..1}", "a range goes up between integers"),
        ("x in {0.5..3}", "a range goes up between integers"),
        ("x == 1" + " " * 600_000, "the limit is 500,000"),
    ],
    ids=lambda text: text[:24],
)
def test_texts_that_would_exhaust_the_machine_are_refused(text: str, problem: str) -> None:
    with pytest.raises(RulesTextError, match=problem) as caught:
        PAIR.where(text)
    assert len(str(caught.value)) < 500


def test_products_of_large_numbers() -> None:
    text = " * ".join(["9" * 30] * 30)
    assert PAIR.where(f"{text} > x").values == PAIR.domain
    with pytest.raises(DomainError, match="fails: computes a number of more than 4096 bits"):
        PAIR.where(" * ".join(["9" * 30] * 199) + " > x")
    with pytest.raises(DomainError, match="must give true or false"):
        PAIR.where(text)
    with pytest.raises(DomainError, match="where true or false is needed"):
        PAIR.where(f"not {text}")


@pytest.mark.parametrize("digits", [15, 1_200, 3_900])
def test_products_of_the_longest_numbers_are_not_worked_out(
    digits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a product that is refused, one number at most is longer than the limit."""
    bits: list[int] = []

    def recorded(work: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        def multiply(left: Any, right: Any) -> Any:
            found = work(left, right)
            bits.extend(n.bit_length() for n in np.ravel(np.array(found, object)))
            return found

        return multiply

    for table in (ARITHMETIC, RANGES):
        monkeypatch.setitem(table, "*", recorded(table["*"]))
    with pytest.raises(DomainError, match=f"a number of more than {MAX_BITS} bits"):
        Y.where(" * ".join(["9" * digits] * 120) + " > y")
    assert max(bits, default=0) <= 2 * MAX_BITS
    assert sum(n > MAX_BITS for n in bits) <= 1


def test_a_number_too_large_for_a_float_is_an_error_of_the_value() -> None:
    with pytest.raises(DomainError, match="fails: "):
        PAIR.where(" * ".join(["9" * 30] * 100) + " * 0.5 == x")


@pytest.mark.parametrize("text", ["1e999 > x", "x + 1e400 > 0"])
def test_numbers_beyond_all_floats_are_refused(text: str) -> None:
    with pytest.raises(RulesTextError, match="too large for a float"):
        PAIR.where(text)


# --- what cannot be written --------------------------------------------------------------------


class Opaque:
    """A value that has no written form."""

    def __repr__(self) -> str:
        return "<opaque>"


@pytest.mark.parametrize("suffix", [".rules", ".json"])
@pytest.mark.parametrize(
    "value", [Opaque(), frozenset({1}), float("inf"), b"x", (0, Opaque())], ids=repr
)
def test_values_without_a_written_form_are_refused_on_save(
    value: Any, suffix: str, tmp_path: Path
) -> None:
    a, b = Attribute("a", [value, 0]), Attribute("b", range(2))
    cascade = Cascade(RuleSet([Iff(a.isin([value])).then(b.isin({0}))]))
    assert repr(value) in str(cascade)  # printing works all the same
    with pytest.raises(DomainError, match="has no written form; files hold text, integers"):
        save(cascade, tmp_path / f"x{suffix}")
    assert list(tmp_path.iterdir()) == []


def long_subset() -> Cascade:
    """Return a rule on some 50,000 tuples that no condition abbreviates."""
    x, y = Attribute("x", range(240)), Attribute("y", range(240))
    pair, out = Attribute.product("pair", x, y), Attribute("out", range(2))
    some = pair.where(lambda u, v: (u * v) % 7 != 3)
    return Cascade(RuleSet([Iff(some).then(out.isin({0}))]))


def nested(depth: int) -> Hashable:
    return (nested(depth - 1),) if depth else 0


def on_domain(domain: Iterable[Hashable]) -> Cascade:
    a, b = Attribute("a", domain), Attribute("b", range(2))
    return Cascade(RuleSet([Iff(a.isin([a.domain[0]])).then(b.isin({0}))]))


@pytest.mark.parametrize("suffix", [".rules", ".json"])
@pytest.mark.parametrize(
    "made",
    [
        lambda: on_domain([10**40, 0]),
        lambda: on_domain(range(1_200_000)),
        lambda: on_domain([nested(70), 0]),
        long_subset,
    ],
    ids=["huge number", "huge range", "deep tuple", "long line"],
)
def test_what_is_saved_can_be_loaded(
    made: Callable[[], Cascade], suffix: str, tmp_path: Path
) -> None:
    """Whatever the reader's limits are, the writer keeps to them or says so at once."""
    cascade = made()
    path = tmp_path / f"x{suffix}"
    try:
        save(cascade, path)
    except (DataError, DomainError):
        assert not path.exists()
    else:
        assert load(path) == cascade


def test_a_word_that_text_reads_as_a_constant_is_told_from_a_text() -> None:
    declared = "attribute job in {some, none} attribute b in {0, 1} "
    rules = parse(declared + "if job in {none} then b in {1}")
    with pytest.raises(DomainError, match=r"it has None \(NoneType\), not 'none' \(str\)"):
        rules.infer({"job": "none"})


def test_a_text_that_ends_anywhere_is_read_or_refused() -> None:
    """As an editor sees it while someone types."""
    text = 'attribute a, b in {low, 3, "x y"}\nif a in {low, 3} and not b in {3} then c in {low}'
    for end in range(len(text)):
        with pytest.raises(PinesyError):
            parse(text[:end])
