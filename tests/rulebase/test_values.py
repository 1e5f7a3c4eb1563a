"""Rules and results are values: frozen, picklable, the same whatever thread makes them."""

import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from messages import without_notices
from pinesy import (
    Attribute,
    Cascade,
    CascadeError,
    DataError,
    DegreeError,
    DomainError,
    Iff,
    Premise,
    Proposition,
    Rule,
    RuleSet,
    RuleSetError,
    RulesTextError,
    exceptions,
    load,
    parse,
    save,
)

FEVER, AGE = Attribute("fever", range(3)), Attribute("age", ["young", "old"])
RISK, ROUTE = Attribute("risk", ["low", "high"]), Attribute("route", ["home", "gp", "er"])
RISKS = RuleSet(
    [
        Iff(AGE.isin({"old"}), FEVER.isin({2})).then(RISK.isin({"high"}), s=0.3),
        Iff(FEVER.isin({0})).then(RISK.isin({"low"}), r=0.2),
    ]
)
ROUTES = RuleSet(
    [
        Iff(FEVER.isin({1})).then(ROUTE.isin({"gp"}), s=0.4),
        Iff(RISK.isin({"high"})).then(ROUTE.isin({"er"}), s=0.1),
    ]
)
# The set given first uses the output of the second, so inputs are not met in one order.
TRIAGE = Cascade(ROUTES, RISKS)
EVIDENCE = {"fever": [0.1, 0.7, 1.0], "age": [1.0, 0.6]}


def test_columns_follow_the_order_of_the_inputs() -> None:
    side_by_side = np.concatenate([np.array(EVIDENCE[a.name]) for a in TRIAGE.inputs])
    assert TRIAGE.compile().inputs == TRIAGE.inputs
    expected = TRIAGE.infer(EVIDENCE)["route"].degrees
    assert TRIAGE.infer(side_by_side)["route"].degrees.tolist() == expected.tolist()


def test_an_input_given_twice() -> None:
    twice: dict[Any, Any] = {**EVIDENCE, FEVER: [1, 1, 1]}
    with pytest.raises(DegreeError, match="given twice"):
        TRIAGE.infer(twice)


@pytest.mark.parametrize("thing", [TRIAGE, RISKS, RISKS.rules[0], FEVER, AGE.isin({"old"})])
def test_values_survive_pickling(thing: object) -> None:
    assert pickle.loads(pickle.dumps(thing)) == thing


@pytest.mark.parametrize("name", exceptions.__all__)
def test_every_error_survives_pickling(name: str) -> None:
    kind = getattr(exceptions, name)
    arguments: dict[str, tuple[object, ...]] = {
        "RulesTextError": ("text", 3, 4),
        "InconsistentSystemError": ("text", 0.25),
    }
    error = kind(*arguments.get(name, ("text",)))
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (kind, "text", vars(error))


def test_arrays_that_are_shared_cannot_be_written() -> None:
    result = TRIAGE.infer(EVIDENCE)["route"]
    for array in (result.degrees, RISKS.partition.signs, RISKS.partition.cell_of):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[-1]
    with pytest.raises(TypeError, match="assignment"):
        TRIAGE.attributes["x"] = FEVER  # type: ignore[index]


def test_products_keep_the_types_of_their_factors() -> None:
    z = Attribute("z", [5])
    for values in ([(0,), (1,)], [(False,), (True,)], [0.0, 1.0], [0, 1], [-0.0, 1.0]):
        domain = Attribute.product("p", Attribute("x", values), z).domain
        assert repr(domain) == repr(tuple((value, 5) for value in values))


def test_threads_that_compile_rules_of_one_kind_do_not_disturb_each_other() -> None:
    """In a process that switches threads all the time, with circuits that nobody built yet."""
    code = """
import random, sys, threading
import numpy as np
from pinesy import Attribute, Cascade, Iff, RuleSet
from pinesy.engine import rule_set_kinds, templates

A, B, Y, Z = (Attribute(n, range(k)) for n, k in (("a", 8), ("b", 8), ("y", 30), ("z", 4)))

def cascade(seed, number):
    first, second = random.Random(seed), random.Random(1000 * seed + number)
    def some(rng, x, k): return x.isin(rng.sample(x.domain, k))
    one = [Iff(some(first, A, 3), some(first, B, 3)).then(some(first, Y, 10), 0.1, 0.2)
           for _ in range(15)]
    two = [Iff(some(second, Y, 12)).then(some(second, Z, 1), 0.01, 0.02) for _ in range(6)]
    return Cascade(RuleSet(one), RuleSet(two))

X = np.random.default_rng(0).integers(0, 11, (50, 16)) / 10
X[:, 0] = X[:, 8] = 1.0

def infer(seed, number):
    return cascade(seed, number).infer(X)["z"].degrees

def forget():
    rule_set_kinds.circuit_of.cache_clear()
    templates.rule_template.cache_clear()

def together(seed):
    results, barrier = {}, threading.Barrier(4)
    def work(number):
        made = cascade(seed, number)
        barrier.wait()
        results[number] = made.infer(X)["z"].degrees
    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads: t.start()
    for t in threads: t.join()
    return results

infer(0, 0)
wrong = 0
for seed in range(12):
    forget()
    sys.setswitchinterval(1e-6)
    found = together(seed)
    sys.setswitchinterval(0.005)
    for number in range(4):
        forget()
        wrong += not np.array_equal(found.get(number), infer(seed, number))
print("wrong:", wrong)
"""
    source = str(Path(__file__).parents[2] / "src")
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": source},
        check=False,
    )
    assert (done.stdout, without_notices(done.stderr)) == ("wrong: 0\n", "")


def test_inference_from_several_threads() -> None:
    def infer(_: int) -> list[float]:
        degrees: list[float] = TRIAGE.infer(EVIDENCE)["route"].degrees.tolist()
        return degrees

    with ThreadPoolExecutor(4) as pool:
        assert len({tuple(d) for d in pool.map(infer, range(100))}) == 1


def test_a_large_family_of_disjoint_rules_compiles_and_is_right() -> None:
    x, y = Attribute("x", range(200)), Attribute("y", range(200))
    rules = RuleSet(Iff(x.isin({i})).then(y.isin({i})) for i in range(200))
    degrees = np.linspace(0.0, 1.0, 200)
    assert rules.infer({"x": degrees}).degrees.tolist() == degrees.tolist()


class Colour(str, Enum):  # noqa: UP042 - such types are about
    RED = "red"


def test_values_that_print_alike_are_told_apart() -> None:
    level = Attribute("level", [3, True])
    with pytest.raises(DomainError, match=r"it has 3 \(int\), not '3' \(str\)"):
        level.isin({"3"})
    colour = Attribute("colour", [Colour.RED, "très bon"])
    assert str(colour.isin([Colour.RED, "très bon"])) == 'colour in {red, "très bon"}'


@pytest.mark.parametrize("domain", ["low", {"a", "b"}, 5, None])
def test_domains_that_are_no_ordered_collection(domain: object) -> None:
    with pytest.raises(DomainError, match="ordered collection"):
        Attribute("a", domain)  # type: ignore[arg-type]


def test_parts_of_rules_that_are_something_else() -> None:
    p = FEVER.isin({1})
    with pytest.raises(RuleSetError, match=r"write If\(\.\.\.\)\.then"):
        Rule(p, RISK.isin({"low"}))  # type: ignore[arg-type]
    with pytest.raises(DomainError, match="use isin or where"):
        Proposition(FEVER, 1 << 10)
    with pytest.raises(RuleSetError, match="takes a tuple of propositions"):
        Premise(p)  # type: ignore[arg-type]
    with pytest.raises(RuleSetError, match="takes a list of rules"):
        RuleSet(RISKS.rules[0])  # type: ignore[arg-type]
    q: Any = p
    for wrong in (lambda: q | 5, lambda: q & "x", lambda: 5 | q, lambda: q + q, lambda: q < q):
        with pytest.raises(RuleSetError, match=r"propositions such as|& \(and\), \| \(or\)"):
            wrong()  # type: ignore[no-untyped-call]
    with pytest.raises(DomainError, match="no attribute"):
        Attribute.product("p", "a", "b")  # type: ignore[arg-type]
    with pytest.raises(CascadeError, match="give a list"):
        TRIAGE.infer(EVIDENCE, outputs="route")
    with pytest.raises(RuleSetError, match="not one number a rule"):
        TRIAGE.with_parameters({"route": (0.1, 0.2)})
    with pytest.raises(CascadeError, match=r"'route' are a pair \(s, r\) of sequences"):
        TRIAGE.with_parameters({"route": [0.5]})  # type: ignore[dict-item]
    with pytest.raises(DegreeError, match=r"parameter s of rule .* is 'x'"):
        RISKS.with_parameters(["x", 0], [0, 0])  # type: ignore[list-item]
    with pytest.raises(DataError, match="read from text"):
        parse(None)  # type: ignore[arg-type]


def test_a_byte_order_mark_is_no_character(tmp_path: Path) -> None:
    path = tmp_path / "x.rules"
    path.write_text("\ufeff" + str(TRIAGE), encoding="utf-8")
    assert load(path) == TRIAGE


def test_a_cut_rules_file_is_noticed_wherever_it_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "x.rules"
    save(TRIAGE, path)
    text = path.read_text()
    assert load(path) == TRIAGE
    for end in range(60, len(text.rstrip()) - 1):
        path.write_text(text[:end])
        with pytest.raises((DataError, RulesTextError)):
            load(path)


def test_the_matrix_relation_takes_batches() -> None:
    batch = {name: np.array([degrees, degrees[::-1]]) for name, degrees in EVIDENCE.items()}
    trace = TRIAGE.trace(batch)
    premises = trace.premises["risk"]
    cells = RISKS.relation.apply(premises.lambdas, premises.rhos)
    for sample, value in product(range(2), range(2)):
        cell = RISKS.partition.cell_of[value]
        assert cells[sample, cell] == trace["risk"].degrees[sample, value]
