"""Small texts that ask for much: refused before anything is made, and the limit can be raised."""

import gc
import json
import weakref
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from counted_work import Calls
from hostile.hostile_texts import TEXTS
from messages import raises_saying
from pinesy import (
    Attribute,
    DomainError,
    PinesyError,
    RulesTextError,
    load,
    parse,
    read_decision_table,
    save,
    write_decision_table,
)
from pinesy._common.budgets import STEPS, TOKEN_ALLOWANCE
from pinesy._common.console import Watch, WorkStopped, watched_by
from pinesy._common.masks import mask_of, positions
from pinesy.engine.linker import subset_key
from pinesy.rulebase import check
from pinesy.rules.syntax.lexer import tokenize

REDUNDANT = "to look for redundant ones"
END = "attribute d in {0, 1}\nattribute e in {0, 1}\niff d in {0} then e in {0}\n"


def ranges(count: int) -> str:
    return ", ".join(f"{i * 10**5}..{i * 10**5 + 99_999}" for i in range(count))


def chained(levels: int) -> str:
    lines = [f"attribute x_{i} in {{0}}\nproduct p_{i + 1} = p_{i} * x_{i}" for i in range(levels)]
    return "attribute p_0 in {0}\n" + "\n".join(lines)


def doubled(levels: int) -> str:
    lines = [
        f"product p_{i + 1} = p_{i} * q_{i}\nproduct q_{i + 1} = q_{i} * p_{i}"
        for i in range(levels)
    ]
    return "attribute p_0 in {0}\nattribute q_0 in {0}\n" + "\n".join(lines)


TOO_MUCH = {
    "a product": (
        "attribute a in {0..199}\nattribute b in {0..199}\nattribute c in {0..199}\n"
        "product p = a * b * c",
        ["the product 'p' would have 8,000,000 values", "2,000,000 at most", "max_values="],
    ),
    "many attributes": (
        "attribute a[0..29] in {0..99999}",
        ["attribute 'a_20' would have 100,000 values", "0 are left"],
    ),
    "a function": (
        "attribute a in {0..2999}\nattribute b in {0..2999}\nfunction c = a + b",
        ["line 3", "these rules take more than 20,000,000 steps", "max_values="],
    ),
    "ranges in a domain": (
        f"attribute a in {{{ranges(21)}}}",
        ["attribute 'a' would have 2,100,000 values"],
    ),
    "ranges in a condition": (
        f"attribute a in {{0..9}}\niff a where a in {{{ranges(101)}}} then a in {{0}}",
        ["line 2", "these rules take more than 20,000,000 steps", "max_values="],
    ),
    "ranges in many conditions": (
        "attribute a in {0..9}\nattribute b in {0, 1}\n"
        + f"iff a where a in {{{ranges(9)}}} then b in {{0}}\n" * 12,
        ["line 13", "these rules take more than 20,000,000 steps"],
    ),
    "1,000 levels": (chained(1000), ["tuples of 52 values, 51 deep", "at most 1,000 and 50"]),
    "24 doubled levels": (doubled(24), ["tuples of 1,024 values, 10 deep", "pair fewer"]),
}


@pytest.mark.parametrize("case", TOO_MUCH)
def test_what_asks_for_too_much_is_refused(case: str) -> None:
    text, said = TOO_MUCH[case]
    with raises_saying(PinesyError, *said):
        parse(f"{text}\n{END}")


@pytest.mark.parametrize("name", TEXTS)
def test_all_work_of_a_text_is_counted(name: str) -> None:
    """Uncounted work takes more calls than steps, or does not end."""
    text = TEXTS[name]
    is_large = "999999}" in text.partition("\n")[0]
    max_values = 1_100_000 if is_large else 50_000
    steps = STEPS * max_values + TOKEN_ALLOWANCE * len(tokenize_or_none(text))
    with Calls() as calls, suppress(PinesyError):
        parse(text, max_values=max_values)
    assert calls.count < 1.5 * steps + len(text)


def tokenize_or_none(text: str) -> Sequence[object]:
    try:
        return tokenize(text)
    except RulesTextError:
        return ()


@pytest.mark.parametrize(
    "name",
    ["a macro in a loop", "99 parts, 100,000 times", "doubling macros", "nested forall and exists"],
)
def test_the_work_grows_with_the_limit(name: str) -> None:
    counts = []
    for max_values in (25_000, 100_000):
        with (
            Calls() as calls,
            raises_saying(PinesyError, f"more than {max_values * STEPS:,} steps", "max_values="),
        ):
            parse(TEXTS[name], max_values=max_values)
        counts.append(calls.count)
    assert 3 < counts[1] / counts[0] < 6


def test_long_texts_bring_their_own_steps() -> None:
    rules = "if a in {0} then b in {1}\n" * 300
    numbers = "".join(f"if c < {i} then d == 1\n" for i in range(100))
    head = "attribute a in {0, 1}\nattribute b in {0, 1}\nattribute d in {0, 1}\nnumber c\n"
    assert len(parse(head + rules + numbers, max_values=300)["b"].rules) == 300
    with raises_saying(RulesTextError, "line 5", "more than 3,000 steps"):
        parse(f"{head}for i in 1..300: if a in {{0}} then b in {{1}}", max_values=300)


def test_long_files_bring_their_own_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = "attribute a in {0, 1}\nattribute b in {0, 1}\nattribute c in {0, 1}\n"
    rules = parse(head + "if a in {0} and c in {1} then b in {1}\n" * 300)
    save(rules, tmp_path / "r.json")
    assert load(tmp_path / "r.json", max_values=300) == rules
    write_decision_table(rules, tmp_path / "r.csv")
    monkeypatch.setenv("PINESY_MAX_VALUES", "300")
    assert read_decision_table(tmp_path / "r.csv") == rules


def test_readings_for_the_sake_of_cuts_share_one_budget() -> None:
    """Each reading of this text ends at an interval whose cut the one before it has added."""
    lines = [
        f'if a < {i} then b == 1\nif a in {{"[{i - 1}, {i})"}} then b == 1' for i in range(2, 99)
    ]
    text = "\n".join(["number a", "attribute b in {0, 1}", "if a < 1 then b == 1", *lines])
    with raises_saying(RulesTextError, "more than 20,000 steps"):
        parse(text, max_values=2_000)
    assert len(parse(text)["b"].rules) == 1 + 2 * 97


def test_at_least_half_of_many_is_read() -> None:
    """The formula of a partial count held those of all before it, several times."""
    rules = parse(TEXTS["30 of 60"])
    inner = [s.output for s in rules.rule_sets if s.output.formula]
    assert len(inner) > 60
    assert max(len(str(a.formula)) for a in inner) < 1_000
    evidence = {f"a_{i}": {1: 1.0} if i <= 30 else {0: 1.0, 1: 0.25} for i in range(1, 61)}
    assert rules.infer(evidence)["b"].possibility({1}) == 1.0
    assert rules.infer({**evidence, "a_1": {0: 1.0}})["b"].possibility({1}) == 0.25


def nested_counts(levels: int) -> str:
    formula = "a == 1"
    for _ in range(levels):
        formula = f"exactly 1 of ({formula}, b == 1)"
    names = "".join(f"attribute {name} in {{0, 1}}\n" for name in "abc")
    return f"{names}iff {formula} then c == 1\n"


def test_nested_counts_do_not_double() -> None:
    with Calls() as calls, suppress(PinesyError):
        parse(nested_counts(24))
    assert calls.count < 3_000_000


DEEP = {
    "sets": "attribute a in " + "{" * 50_000 + "0" + "}" * 50_000,
    "indices": "attribute a in {0, 1} if " + "a[" * 5_000 + "0" + "]" * 5_000 + " == 1 then a == 1",
    "indices of conditions": "attribute a in {0, 1} if a where "
    + "a[(((((((((((" * 500
    + "0"
    + ")))))))))))]" * 500
    + " == 1 then a == 1",
    "tuples of variables": "let t0 = (1, 2)\n"
    + "\n".join(f"let t{i} = (t{i - 1},)" for i in range(1, 5_000)),
    "formulas": "attribute a in {0, 1} if " + "not " * 50_000 + "a == 1 then a == 1",
}


@pytest.mark.parametrize("name", DEEP)
def test_deep_texts_are_refused(name: str) -> None:
    with raises_saying(RulesTextError, "more than 50 deep"):
        parse(DEEP[name])


def test_an_included_name_that_no_file_system_takes(tmp_path: Path) -> None:
    with raises_saying(RulesTextError, "line 1", "'xxx", "cannot be included: File name too long"):
        parse(f'include "{"x" * 5_000}"', tmp_path)


def test_work_on_a_text_can_be_stopped() -> None:
    watch = Watch()
    watch.stop()
    with watched_by(watch), pytest.raises(WorkStopped):
        parse(TEXTS["empty innermost range"])


def test_the_limit_can_be_raised_and_lowered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"attribute a in {{0..9}}\nattribute b in {{0..9}}\nproduct p = a * b\n{END}"
    (tmp_path / "r.rules").write_text(text)
    domain = {"name": "a", "domain": list(range(5))}
    content = {"format": "pinesy cascade", "version": 2, "attributes": [domain], "rule_sets": []}
    (tmp_path / "r.json").write_text(json.dumps(content))
    assert len(parse(text, max_values=124).attributes) == 5
    with raises_saying(PinesyError, "attribute 'e' would have 2 values", "(1 are left)"):
        parse(text, max_values=123)
    with raises_saying(PinesyError, "r.rules: line 3", "the product 'p'", "max_values"):
        load(tmp_path / "r.rules", max_values=50)
    with raises_saying(PinesyError, "r.json: attributes[0]", "attribute 'a' would have 5 values"):
        load(tmp_path / "r.json", max_values=4)
    monkeypatch.setenv("PINESY_MAX_VALUES", "50")
    with raises_saying(PinesyError, "the product 'p' would have 100 values", "50 at most"):
        parse(text)
    assert len(parse(text, max_values=124).attributes) == 5
    for wrong in ("-1", "many", "9" * 99):
        monkeypatch.setenv("PINESY_MAX_VALUES", wrong)
        with raises_saying(DomainError, "PINESY_MAX_VALUES is", "integer"):
            parse(text)
    with raises_saying(DomainError, "max_values is 0"):
        parse(text, max_values=0)


def test_who_writes_python_has_no_budget() -> None:
    with raises_saying(PinesyError, "at most"):
        parse("attribute a in {0..9}", max_values=5)
    assert len(Attribute("a", range(2_000_001)).domain) == 2_000_001


@pytest.mark.parametrize("size", [3, 1023, 1024, 1025, 5000, 100_000])
def test_masks_of_any_size(size: int) -> None:
    for places in ([], [0], [size - 1], [0, size - 1], list(range(size)), list(range(0, size, 7))):
        mask = sum(1 << p for p in places) if size < 6000 else mask_of(places)
        assert mask_of(iter(places)) == mask
        assert mask.bit_count() == len(places)
        assert positions(mask) == places


def test_masks_of_conditions_go_with_their_attributes() -> None:
    def pair() -> Attribute:
        return Attribute.product("p", *(Attribute(n, range(99, 199)) for n in "ab"))

    one, two = pair(), pair()
    assert one.domain is two.domain
    assert one.where("a + b == 200").mask == two.where("a + b == 200").mask
    assert one.masks is two.masks
    assert len(one.masks) == 1
    gone = weakref.ref(one._index)
    del one
    assert gone() is not None
    del two
    gc.collect()
    assert gone() is None


def test_single_values_of_a_large_domain_have_hashes_of_their_own() -> None:
    large = Attribute("a", range(3000))
    singles = [large.isin({value}) for value in large.domain]
    assert len({hash(one) for one in singles}) == 3000  # those of powers of 2 are 61
    assert len({hash(subset_key(one.mask)) for one in singles}) == 3000
    assert hash(large.isin({1})) == hash(large.where("a == 1"))


def test_an_output_of_too_many_values(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = parse("attribute a in {0, 1}\nattribute b in {0..100000}\niff a in {0} then b in {7}")
    with raises_saying(DomainError, "the output 'b' has 100,001 values", "0.6 GB", "propositions"):
        rules.infer({"a": 0})
    monkeypatch.setenv("PINESY_MAX_OUTPUT", "many")
    with raises_saying(DomainError, "PINESY_MAX_OUTPUT is 'many'"):
        rules.infer({"a": 0})
    seven = rules.attributes["b"].isin({7})
    assert rules.infer({"a": 0}, [seven]).possibility(seven) == 1.0


def test_many_rules_are_not_compared_in_pairs() -> None:
    lines = "\n".join(f"iff a in {{{i}}} then b in {{{i % 2}}}" for i in range(1001))
    report = parse(f"attribute a in {{0..1000}}\nattribute b in {{0, 1}}\n{lines}").check()
    assert any(REDUNDANT in str(f) for f in report.findings)


@pytest.mark.parametrize("limit", ["REDUNDANCY_LIMIT", "REDUNDANCY_PAIRS"])
def test_each_limit_of_the_look_for_redundant_rules(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, limit, 0)
    assert any(REDUNDANT in str(f) for f in parse(END).check().findings)
