"""Wrong arguments: a public call gives a result or an error of ours, whatever it is given."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pinesy as p
from messages import raises_saying
from pinesy.calibration import coverage
from pinesy.evidence.targets import Target
from pinesy.exceptions import PinesyError
from pinesy.learning import evaluate

A, B = p.Attribute("a", [0, 1]), p.Attribute("b", ["x", "y"])
IS_0, IS_X = A.isin({0}), B.isin({"x"})
RULES = p.RuleSet([p.Iff(IS_0).then(IS_X), p.Iff(A.isin({1})).then(B.isin({"y"}))])
CASCADE = p.Cascade(RULES)
SEEN = {"a": [1.0, 0.2]}
BATCH = {"a": np.eye(2)[[0, 1, 0, 1]]}
LABELS = ["x", "y", "x", "x"]
RESULT = CASCADE.infer(SEEN)
AUDIT = p.audit(RULES, BATCH, LABELS)
WHY = p.explain(CASCADE, SEEN)
TABLE = {"x": [0, 1, 0, 1], "y": ["n", "p", "n", "p"]}
SURE = p.calibrate(RULES, BATCH, {"b": LABELS})

#: What is no argument of anything: of another type, without axes or length, ragged, unhashable.
WRONG = [
    None, -1, 1.5, "x", b"x", [], {}, object(), np.array("x"), np.zeros((2, 2, 2)),
    [[1], [2, 3]], {1: 2}, {"a": None}, [None], 10**30, RULES, np.array([]), len,
]  # fmt: skip
#: Public calls with arguments that are right.
CALLS: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "Attribute": (p.Attribute, ["a", [0, 1]]),
    "product": (p.Attribute.product, ["both", A, B]),
    "number": (p.Attribute.number, ["n", [1, 2], None, 0.0]),
    "isin": (A.isin, [{0}]),
    "Premise": (p.Premise, [(IS_0, IS_X)]),
    "Proposition": (p.Proposition, [A, 1]),
    "Compound": (p.Compound, [(IS_0, IS_X), 1, 2]),
    "at_least": (p.at_least, [1, IS_0, IS_X]),
    "and": (IS_0.__and__, [IS_X]),
    "RuleSet": (p.RuleSet, [[p.If(IS_0).then(IS_X)]]),
    "Cascade": (lambda part, declared: p.Cascade(part, attributes=declared), [RULES, [A]]),
    "infer": (CASCADE.infer, [SEEN, ["b"]]),
    "infer in": (lambda kind: RULES.infer(SEEN, dtype=kind), ["float32"]),
    "worlds": (
        lambda x, largest: CASCADE.infer(x, semantics="goedel", largest=largest),
        [{"a": [0.5, 0.5]}, 10],
    ),
    "equations": (RULES.equations, [SEEN, "x"]),
    "parameters": (RULES.with_parameters, [[0.1, 0.1], [0.2, 0.2]]),
    "rename": (CASCADE.rename, [{"a": "q"}]),
    "needed": (CASCADE.needed, [["b"]]),
    "Possibility": (p.Possibility, [A, [1.0, 0.5]]),
    "of": (RESULT.__getitem__, ["b"]),
    "possibility": (RESULT.possibility, [IS_X]),
    "necessity": (RESULT.necessity, [IS_X]),
    "run": (CASCADE.compile().run, [np.ones((1, 2))]),
    "apply": (RULES.relation.apply, [np.ones(2), np.ones(2)]),
    "cells": (RULES.partition.cells, [("x", "y")]),
    "cell possibilities": (RULES.partition.possibilities, [np.ones(2)]),
    "learn": (lambda x, y, fixed: p.learn(RULES, x, y, fixed=fixed), [BATCH, LABELS, None]),
    "learn by": (lambda method: p.learn(RULES, BATCH, LABELS, method=method), ["counts"]),
    "audit by": (
        lambda by, seed: p.audit(RULES, BATCH, LABELS, method=by, folds=2, seed=seed),
        ["counts", 0],
    ),
    "worst": (AUDIT.top, [2]),
    "audited": (AUDIT.__getitem__, ["b"]),
    "evaluate": (lambda x, y, of: evaluate(RULES, x, y, output=of), [BATCH, LABELS, "b"]),
    "explain": (lambda x, labels: str(p.explain(CASCADE, x, labels=labels)), [SEEN, {"a": "A"}]),
    "text": (lambda depth: WHY.text(depth=depth), [2]),
    "json": (lambda indent: WHY.to_json(indent=indent), [2]),
    "node": (WHY.node, ["b", "x"]),
    "why_not": (
        lambda v, mode, keep: p.why_not(CASCADE, SEEN, v, mode=mode, keep=keep),
        ["y", "smallest", None],
    ),
    "conditions": (p.conditions, [CASCADE, IS_X, ">", 0.5]),
    "posterior": (p.posterior, [CASCADE, SEEN, {"b": "y"}, ["a"]]),
    "calibrate": (p.calibrate, [RULES, BATCH, {"b": LABELS}]),
    "coverage": (coverage, [SURE, BATCH, {"b": LABELS}]),
    "excluded": (SURE.predict_set(BATCH, level=0.5).excluded_at, ["b"]),
    "parse_rule": (p.parse_rule, ["if a in {1} then b in {x}", [A, B]]),
    "sum_of": (p.sum_of, ["s", [A, p.Attribute("d", [0, 1])]]),
    "count_of": (p.count_of, ["s", [IS_0, IS_X]]),
    "function": (p.function, ["s", [A], "a + 1"]),
    "load": (p.load, ["gone.rules"]),
    "shortcuts": (
        lambda seen, known: p.shortcuts(CASCADE, seen, labelled=known),
        [[(0,), (1,)], {"a": [0]}],
    ),
    "check_concepts": (
        lambda what, seen, true, bins: p.check_concepts(what, seen, true, bins=bins),
        [A, [[0.9, 0.1]], [0], 10],
    ),
    "compile": (lambda asked, trace: CASCADE.compile(asked, trace=trace), [["b"], True]),
    "target": (Target.of, [["x", "y"], B]),
    "induce": (
        lambda target, seed: p.induce(TABLE, target, seed=seed, max_rules=1),
        ["y", 0],
    ),
    "compare_semantics": (
        lambda x, y, some: p.compare_semantics(CASCADE, x, y, semantics=some),
        [{"a": [[0.5, 0.5]]}, ["x"], ["probabilistic"]],
    ),
    "plot": (RESULT["b"].plot, ["no axes"]),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_argument_gives_an_error_of_ours(name: str) -> None:
    call, right = CALLS[name]
    refused = 0
    for place in range(len(right)):
        for wrong in WRONG:
            try:
                call(*right[:place], wrong, *right[place + 1 :])
            except PinesyError:  # any other exception fails the test
                refused += 1
    assert refused > 0


def test_what_is_said() -> None:
    with raises_saying(p.UnknownAttributeError, "[] is no attribute, and no name of one"):
        RESULT[[]]  # type: ignore[index]
    assert RESULT.get([]) is None  # type: ignore[call-overload]
    with raises_saying(p.RuleSetError, "a premise takes a tuple of propositions, not a int"):
        p.Premise(3)  # type: ignore[arg-type]
    with raises_saying(p.CascadeError, "attributes is 3; give a list"):
        p.Cascade(RULES, attributes=3)  # type: ignore[arg-type]
    with raises_saying(p.CascadeError, "'x' is declared, but is no attribute"):
        p.Cascade(RULES, attributes=["x"])  # type: ignore[list-item]
    with raises_saying(p.DegreeError, "the degrees of 'a' are an array of numbers; got 'x'"):
        p.Possibility(A, "x")  # type: ignore[arg-type]
    with raises_saying(p.DataError, "3 is no path of a file"):
        p.load(3)  # type: ignore[arg-type]
    with raises_saying(p.DataError, "axes is 3; give axes of Matplotlib"):
        RESULT["b"].plot(3)
    with raises_saying(p.UnknownAttributeError, "there is no input 1; known: a"):
        CASCADE.infer({1: 2})


def test_numbers_that_are_too_large() -> None:
    with raises_saying(p.DomainError, "seed is 1000000000000", "from 0 to 4,294,967,295"):
        p.induce(TABLE, "y", seed=10**30)
    with raises_saying(p.DomainError, "bins is 1000000000000", "from 1 to 100,000"):
        p.check_concepts(A, [[0.9, 0.1]], [0], bins=10**30)
    with raises_saying(p.DomainError, "trace is array([0, 1]); it must be True or False"):
        CASCADE.compile(trace=np.array([0, 1]))  # type: ignore[arg-type]
    with raises_saying(p.DataError, "None is no attribute"):
        Target.of(["x"], None)  # type: ignore[arg-type]


def test_known_names_move_no_cursor() -> None:
    evil = p.Attribute("c", ["\x1b[2J", "y"])
    with pytest.raises(PinesyError) as caught:
        evil.isin({"q"})
    assert "\x1b" not in str(caught.value)
