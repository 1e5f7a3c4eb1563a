"""Wide rule sets: compiled without comparing expressions, they give the same numbers."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from pinesy import Attribute, Cascade, Premise, Program, Proposition, Rule, RuleSet, function, joint
from pinesy.engine import rule_set_kinds, templates
from pinesy.problems import addition
from strategies import BatchCase, Case, batches, cases, random_batch

EXAMPLES = settings(max_examples=30)


@contextmanager
def every_set_wide(is_so: bool = True) -> Iterator[None]:
    """Take the way of wide sets for all of them, or for none."""
    cached = (templates.rule_template, templates._cached_template)
    with pytest.MonkeyPatch.context() as patch:
        for module in (rule_set_kinds, templates):
            patch.setattr(module, "WIDE", 0 if is_so else 10**9)
        for one in cached:
            one.cache_clear()
        try:
            yield
        finally:
            for one in cached:
                one.cache_clear()


def fresh(cascade: Cascade) -> Cascade:
    """Return the same rules without the programs that were compiled of them."""
    return Cascade(*cascade.rule_sets)


def both_ways(cascade: Cascade, outputs: Sequence[object] | None = None) -> tuple[Program, Program]:
    """Compile a cascade with the order of terms, and without."""
    programs = []
    for is_wide in (False, True):
        with every_set_wide(is_wide):
            program = fresh(cascade).compile(outputs)  # type: ignore[arg-type]
            programs.append(program)
    return programs[0], programs[1]


# --- against the definitions -------------------------------------------------------------------


@EXAMPLES
@given(cases())
def test_every_degree_is_the_definition(case: Case) -> None:
    known = {
        a.name: dict(zip(a.domain, map(Fraction, case.evidence[a.name]), strict=True))
        for a in case.cascade.inputs
    }
    outcome = oracles.infer(case.cascade.rule_sets, known)
    with every_set_wide():
        trace = fresh(case.cascade).trace(case.evidence)
    for name, pairs in outcome.degrees.items():
        premises = trace.premises[name]
        found = zip(premises.lambdas.tolist(), premises.rhos.tolist(), strict=True)
        assert [(Fraction(a), Fraction(b)) for a, b in found] == pairs
        degrees = [Fraction(d) for d in trace[name].degrees.tolist()]
        assert degrees == list(outcome.distributions[name].values())
        assert trace[name].normalised is outcome.coherent[name]


# --- against the way of small sets -------------------------------------------------------------


@EXAMPLES
@given(batches(sizes=(1, 5)), st.data())
def test_propositions_are_the_same_both_ways(case: BatchCase, data: st.DataObject) -> None:
    wanted = []
    for s in case.cascade.rule_sets:
        full = 2 ** len(s.output.domain) - 1
        wanted.append(Proposition(s.output, data.draw(st.integers(0, full))))
    one, two = (p.infer(case.evidence) for p in both_ways(case.cascade, wanted))
    for p in wanted:
        assert one.possibility(p).tolist() == two.possibility(p).tolist()


def random_masks(rng: np.random.Generator, size: int, n: int) -> list[int]:
    """Return subsets of all kinds: single values, few values, halves, all but few, all."""
    shares = rng.choice([0.0, 0.1, 0.5, 0.9, 1.0], n)
    table = rng.random((n, size)) < shares[:, None]
    table[np.arange(n), rng.integers(0, size, n)] = True
    table[rng.random(n) < 0.3] = np.eye(size, dtype=bool)[rng.integers(0, size)]
    return [int("".join("01"[int(bit)] for bit in row), 2) for row in table]


def random_rules(
    rng: np.random.Generator, known: Sequence[Attribute], output: Attribute, n: int
) -> RuleSet:
    """Return rules with one or two propositions, on subsets of all kinds."""
    masks = {a.name: random_masks(rng, len(a.domain), n) for a in (*known, output)}
    certain = rng.choice([0.0, 1.0, -1.0], 2)  # of all rules, or open
    rules = []
    for i in range(n):
        used = rng.choice(len(known), rng.integers(1, 3))
        parts = tuple(Proposition(known[k], masks[known[k].name][i]) for k in used)
        s, r = np.where(certain >= 0, certain, rng.choice([0.0, 0.25, 0.5, 1.0], 2)).tolist()
        rules.append(Rule(Premise(parts), Proposition(output, masks[output.name][i]), s, r))
    return RuleSet(rules)


@pytest.mark.parametrize("seed", range(12))
def test_random_sets_of_some_dozens_are_the_same_both_ways(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b, c, d = (Attribute(name, range(int(rng.integers(2, 40)))) for name in "abcd")
    cascade = Cascade(
        random_rules(rng, [a, b][: int(rng.integers(1, 3))], c, 30),
        random_rules(rng, [c, b], d, 25),
    )
    one, two = both_ways(cascade)
    x = np.concatenate([random_batch(rng, 40, len(i.domain)) for i in one.inputs], axis=1)
    assert (one.run(x) == two.run(x)[: one.code.n_outputs]).all()
    assert (two.run(x)[one.code.n_outputs :] == 1.0).all()  # a height that one way knows to be 1


@pytest.mark.parametrize("seed", range(5))
def test_conclusions_that_exclude_all_but_a_few_others(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = Attribute("a", range(20)), Attribute("b", range(20))
    few = [sum(1 << int(v) for v in set(rng.integers(0, 20, 2).tolist())) for _ in range(40)]
    rules = [
        Rule(Premise((Proposition(a, p),)), Proposition(b, q), s, 0.0)
        for p, q, s in zip(few[:20], few[20:], rng.choice([0.0, 0.5], 20).tolist(), strict=True)
    ]
    one, two = both_ways(Cascade(RuleSet(rules)))
    x = random_batch(rng, 50, 20)
    assert (one.run(x) == two.run(x)[: one.code.n_outputs]).all()


@pytest.mark.parametrize("make", [lambda: addition(2, base=4), lambda: one_to_one(12, 0.1, 0.2)])
def test_gradients_are_the_same_both_ways(make: Callable[[], Cascade]) -> None:
    """Where degrees are equal they are shared by structure; here only those of 1 are."""
    one, two = both_ways(make())
    rng = np.random.default_rng(0)
    x = rng.random((9, one.code.n_inputs))
    for first in one.code.bounds[:-1].tolist():
        x[:, first] = 1.0
    gradients = []
    weights = rng.random((one.code.n_outputs, 9))
    for program in (one, two):
        given, out = np.zeros((program.code.n_outputs, 9)), program.run(x)
        for name, columns in program.code.columns.items():
            mine = weights[one.code.columns[name]]
            given[columns] = np.where(out[columns] < 1.0, mine, 0.0)
        gradients.append(program.derivatives.gradient(x, given)[0])
    expected, found = gradients
    assert np.abs(expected - found).max() < 1e-12
    assert expected.any()


# --- sizes -------------------------------------------------------------------------------------


def one_to_one(n: int, s: float, r: float) -> Cascade:
    """Return rules from each of `n` values to one of `n` values, the last one first."""
    a, b = Attribute("a", range(n)), Attribute("b", range(n))
    return Cascade(
        RuleSet(
            Rule(Premise((Proposition(a, 1 << i),)), Proposition(b, 1 << (n - 1 - i)), s, r)
            for i in range(n)
        )
    )


@pytest.mark.parametrize(
    ("s", "r", "operands"),
    [(0.0, 0.0, 1), (1.0, 0.0, 15), (0.1, 0.2, 19)],
    ids=["equivalences", "implications", "others"],
)
def test_operands_of_one_to_one_sets_are_linear(s: float, r: float, operands: int) -> None:
    program = one_to_one(500, s, r).compile()
    assert len(program.code.args) <= operands * 500
    x = random_batch(np.random.default_rng(0), 3, 500)
    alpha = np.maximum(s, x)
    others = np.array([np.delete(x, i, axis=1).max(axis=1) for i in range(500)]).T
    beta = np.maximum(r, others)
    expected = [
        np.minimum(alpha[:, i], np.delete(beta, i, axis=1).min(axis=1)) for i in range(499, -1, -1)
    ]
    assert (program.run(x)[:500] == np.array(expected)).all()


def test_a_function_of_two_attributes_takes_two_operands_a_case() -> None:
    x, y = Attribute("x", range(40)), Attribute("y", range(50))
    code = function("z", joint("pair", x, y), "x + y").compile().code
    assert len(code.args) <= 2 * 40 * 50 + 2 * 89
    assert not code.coherence  # it is seen to be always normalised


def test_a_table_of_cases_takes_two_operands_a_rule() -> None:
    x, y, z = (Attribute(name, range(30)) for name in "xyz")
    rules = RuleSet(
        Rule(
            Premise((Proposition(x, 1 << i), Proposition(y, 1 << j))),
            Proposition(z, 1 << (i * j) % 30),
        )
        for i in range(30)
        for j in range(30)
    )
    program = Cascade(rules).compile()
    assert len(program.code.args) < 2 * 900 + 20 * 60
    one, two = both_ways(Cascade(rules))
    degrees = random_batch(np.random.default_rng(1), 20, 60)
    degrees[:, [0, 30]] = 1.0
    assert (one.run(degrees) == two.run(degrees)).all()
