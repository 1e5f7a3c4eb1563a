"""A SAT solver, an independent tool, finds the worlds that rules allow."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinesy import Attribute, Cascade, DataError, Iff, RuleSet, RuleSetError, parse, to_dimacs
from pinesy.exchange import DimacsCnf
from pinesy.problems import sudoku
from semantics.worlds_oracle import left
from strategies import ODD_NAMES, ODD_TEXTS, chosen

formula = pytest.importorskip("pysat.formula")
solvers = pytest.importorskip("pysat.solvers")

World = tuple[tuple[str, Any], ...]


def found_worlds(cnf: DimacsCnf) -> list[World]:
    """Return the worlds of all models of the file, one for each."""
    read = formula.CNF(from_string=str(cnf))
    assert (read.nv, len(read.clauses)) == (cnf.n_variables, len(cnf.clauses))
    with solvers.Solver(name="cadical153", bootstrap_with=read.clauses) as solver:
        return [tuple(cnf.world(model).items()) for model in solver.enum_models()]


def allowed_worlds(cascade: Cascade) -> list[World]:
    """Return all worlds that break no rule: the definition."""
    attributes = [*cascade.inputs, *(s.output for s in cascade.order)]
    worlds = []
    for values in product(*(a.domain for a in attributes)):
        world = dict(zip((a.name for a in attributes), values, strict=True))
        if all(world[s.output.name] in left(s, world) for s in cascade.order):
            worlds.append(tuple(world.items()))
    return worlds


def check(cascade: Cascade) -> None:
    found = found_worlds(to_dimacs(cascade))
    allowed = allowed_worlds(cascade)
    assert len(found) == len(allowed)
    assert set(found) == set(allowed)


@settings(max_examples=25)
@given(st.data())
def test_models_are_the_worlds_that_rules_allow(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=4, max_size=4))
    a, b, c, d = (Attribute(n, range(k)) for n, k in zip("abcd", sizes, strict=True))
    sets = []
    for known, output in (((a, b, a), c), ((c, a), d)):
        rules = []
        for _ in range(data.draw(st.integers(1, 3))):
            masks = [data.draw(st.integers(0, x.full)) for x in known]
            parts = [x.isin(chosen(x, mask)) for x, mask in zip(known, masks, strict=True)]
            premise = parts[0] & parts[1]
            conclusion = output.isin(chosen(output, data.draw(st.integers(1, output.full))))
            s, r = (data.draw(st.sampled_from([0.0, 1.0])) for _ in "sr")
            rules.append(Iff(premise & parts[-1]).then(conclusion, s=s, r=r))
        sets.append(RuleSet(rules))
    check(Cascade(*sets))


def test_large_domains_and_formulas_have_as_many_models_as_worlds() -> None:
    check(
        parse("""
        attribute a in {0..14}
        attribute b in {0, 1}
        attribute c in {0..20}
        if a in {3} or not (b in {1}) then c in {4..19}
        iff a in {5, 6} and b in {1} then c in {0..2}
    """)
    )


def test_the_right_sudokus_of_4_by_4_are_counted() -> None:
    rules = sudoku(4)
    cnf = to_dimacs(rules)
    (answer,) = rules.outputs
    cells = {variable for a in rules.inputs for variable in cnf.variables[a.name].values()}
    counts = dict.fromkeys(answer.domain, 0)
    for value, is_so in cnf.variables[answer.name].items():
        with solvers.Solver(name="cadical153", bootstrap_with=[*cnf.clauses, [is_so]]) as solver:
            while counts[value] <= 288 and solver.solve():
                counts[value] += 1
                solver.add_clause([-lit for lit in solver.get_model() if lit in cells])
    assert sorted(counts.values()) == [288, 289]  # and far more are wrong


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_and_values_stay_in_their_comments(name: str) -> None:
    a, b = Attribute(name, [*ODD_TEXTS, "\nc", "p cnf 1 1\n1 0"]), Attribute("b ", [0, 1])
    cnf = to_dimacs(RuleSet([Iff(a.isin(ODD_TEXTS)).then(b.isin({1}))]))
    lines = str(cnf).splitlines()
    n = len(a.domain) + 2
    assert [line.split()[:2] for line in lines[:n]] == [["c", str(i + 1)] for i in range(n)]
    assert lines[n].startswith("p cnf ")
    assert len(found_worlds(cnf)) == len(a.domain)


def test_what_cannot_be_written_is_refused() -> None:
    rules = parse(
        "attribute a in {0, 1} attribute b in {0, 1} if a in {1} then b in {1} [s=0.5, r=0]"
    )
    with pytest.raises(RuleSetError, match=r"a CNF has no uncertain rules: .*s = 0.5.*to_onnx"):
        to_dimacs(rules)
    cnf = to_dimacs(rules.with_parameters({"b": ([1], [0])}))
    with pytest.raises(DataError, match="gives 'a' 0 values"):
        cnf.world([-1, -2, 3, -4])
    assert repr(cnf) == "DimacsCnf(4 variables, 5 clauses)"
