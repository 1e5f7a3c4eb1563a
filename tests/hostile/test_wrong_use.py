"""Wrong types and wrong files end in one of our errors, never in a foreign one."""

import io
import json
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from messages import raises_saying
from pinesy import (
    Attribute,
    Cascade,
    DataError,
    Iff,
    PinesyError,
    RuleSet,
    backpropagate,
    learn,
    load,
    parse,
    parse_rule,
    save,
)
from pinesy.rulebase.rules_json import from_content, read_content
from pinesy.rules.propositions import Premise
from pinesy.samples import read_samples

A, B, C = (Attribute(name, [0, 1]) for name in "abc")
RULES = RuleSet([Iff(A.isin({0})).then(B.isin({1}))])
RULE = {"if": [["a", [0]]], "then": ["b", [1]], "s": 0, "r": 0}
DOMAINS = [{"name": "a", "domain": [0, 1]}, {"name": "b", "domain": [0, 1]}]
DEEP = '{"least": 1, "most": 1, "of": [' * 900 + '["a", [0]]' + "]}" * 900


def content(rule: Any = RULE, attributes: Any = DOMAINS, **more: Any) -> Cascade:
    whole = {"format": "pinesy cascade", "version": 2, "attributes": attributes, **more}
    text = json.dumps({"rule_sets": [[rule]], **whole})
    return from_content(read_content(text.replace('"DEEP"', DEEP)))


def attribute(**entry: Any) -> Callable[[], Any]:
    return lambda: content(attributes=[{"name": "a", **entry}])


def sample(line: str) -> Callable[[], Any]:
    return lambda: list(read_samples(io.BytesIO(line.encode()), [A], targets=[B]))


PREMISES: list[Any] = [[{}], [[]], [[{}, [0]]], [["a", [True]]], [["a", [0], 3]], 3, ["DEEP"]]
CONCLUSIONS: list[Any] = [{}, {"0": 1}, [], "b", 3, None, ["b", {}]]
ENTRIES: list[Any] = [[True, 1], [{}], 3, [], [[{}]]]
CUTS: list[Any] = [[{}], [10**400], ["x"]]
WRONG: dict[str, Callable[[], Any]] = {
    **{f"if {premise}": partial(content, {**RULE, "if": premise}) for premise in PREMISES},
    **{f"then {then}": partial(content, {**RULE, "then": then}) for then in CONCLUSIONS},
    **{f"s {s!r:.9}": partial(content, {**RULE, "s": s}) for s in (True, 10**400, "0", None)},
    **{f"domain {domain!r:.30}": attribute(domain=domain) for domain in ENTRIES},
    **{f"cuts {cuts!r:.9}": attribute(cuts=cuts, blur=0) for cuts in CUTS},
    "product": attribute(product=[[]]),
    "version": lambda: content(version=True),
    "degree that nests": sample(f'{{"a": {{"0": {"[" * 976}{"]" * 976}}}, "b": 0}}'),
    "value that nests": sample(f'{{"a": {"[" * 976}{"]" * 976}, "b": 0}}'),
    "degree of 400 digits": sample(f'{{"a": {{"0": 1{"0" * 400}}}, "b": 0}}'),
    "value of 400 digits": sample(f'{{"a": 1{"0" * 400}, "b": 0}}'),
    "true for 1": sample('{"a": true, "b": 0}'),
    "degree true": sample('{"a": {"0": true}, "b": 0}'),
    "lone surrogate": sample('{"a": "\\ud800", "b": 0}'),
    "targets beyond int64": lambda: learn(RULES, {"a": [0, 1]}, {"b": [2**70, 1]}),
    "evidence beyond int64": lambda: RULES.infer({"a": 2**70}),
    "ragged evidence": lambda: RULES.infer({"a": [[1, 0], [1]]}),
    "ragged parameters": lambda: RULES.with_parameters([[0], [1, 2]], [0]),  # type: ignore[list-item]
    "parse_rule of a number": lambda: parse_rule(3, [A, B]),  # type: ignore[arg-type]
    "parse_rule without attributes": lambda: parse_rule("iff a in {0} then b in {1}", None),  # type: ignore[arg-type]
    "parse in a number": lambda: parse("x", directory=3),  # type: ignore[arg-type]
    "load a number": lambda: load(3),  # type: ignore[arg-type]
    "save to a number": lambda: save(RULES, 3),  # type: ignore[arg-type]
    "a premise of an array": lambda: Premise(np.array([1, 2])),  # type: ignore[arg-type]
    "an empty list for a name": lambda: Cascade(RULES)[[]],  # type: ignore[index]
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_use_gives_our_errors(case: str) -> None:
    with pytest.raises(PinesyError):
        WRONG[case]()


def test_a_number_beyond_all_decimals() -> None:
    with raises_saying(DataError, "line 1, column 17: this number is too large for a float"):
        parse("attribute a in {1e400, 1}")


@pytest.mark.parametrize("more", [False, True])
def test_premises_that_always_hold_can_be_read_backwards(more: bool) -> None:
    always = Iff(A.isin({0, 1}) & C.isin({0, 1})).then(B.isin({0}))
    choice = [Iff(A.isin({0})).then(B.isin({1}))] if more else []
    given = {"a": [1.0, 1.0], "c": [1.0, 1.0]}
    found = backpropagate(RuleSet([always, *choice]), given, {"b": 1})
    assert not found.reproduced
