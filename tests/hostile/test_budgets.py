"""Small texts that ask for much: refused before anything is made, and the limit can be raised."""

import gc
import json
import weakref
from pathlib import Path

import pytest

from messages import raises_saying
from pinesy import Attribute, DomainError, PinesyError, load, parse
from pinesy._common.masks import mask_of, positions
from pinesy.engine.linker import subset_key
from pinesy.rulebase import check

REDUNDANT = "too many cells and rules to look for redundant"
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
        ["would have 6,000 subsets of 9,000,000 values", "6.8 GB"],
    ),
    "ranges in a domain": (
        f"attribute a in {{{ranges(21)}}}",
        ["attribute 'a' would have 2,100,000 values"],
    ),
    "ranges in a condition": (
        f"attribute a in {{0..9}}\niff a where a in {{{ranges(101)}}} then a in {{0}}",
        ["line 2", "the sets of this text list more than 10,000,000 values", "max_values="],
    ),
    "ranges in many conditions": (
        "attribute a in {0..9}\nattribute b in {0, 1}\n"
        + f"iff a where a in {{{ranges(9)}}} then b in {{0}}\n" * 12,
        ["line 14", "the sets of this text list more than 10,000,000 values"],
    ),
    "1,000 levels": (chained(1000), ["tuples of 52 values, 51 deep", "at most 1,000 and 50"]),
    "24 doubled levels": (doubled(24), ["tuples of 1,024 values, 10 deep", "pair fewer"]),
}


@pytest.mark.parametrize("case", TOO_MUCH)
def test_what_asks_for_too_much_is_refused(case: str) -> None:
    text, said = TOO_MUCH[case]
    with raises_saying(PinesyError, *said):
        parse(f"{text}\n{END}")


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
    assert parse(text, max_values=124)
    for wrong in ("-1", "many", "9" * 99):
        monkeypatch.setenv("PINESY_MAX_VALUES", wrong)
        with raises_saying(DomainError, "PINESY_MAX_VALUES is", "whole number"):
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
