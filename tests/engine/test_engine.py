"""Inference against the definitions: min and max only copy numbers, so equality is bit for bit."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from pinesy import Attribute, Cascade, Iff, Possibility, Proposition, RuleSet, Trace
from pinesy.exceptions import DegreeError, UnknownAttributeError
from pinesy.problems import addition
from strategies import (
    DEGREES,
    BatchCase,
    Case,
    FloatArray,
    attributes,
    batches,
    block_rule_sets,
    cascades,
    cases,
    distributions,
    random_batch,
    rule_sets,
)


def exact(cascade: Cascade, evidence: Mapping[str, Sequence[float]]) -> oracles.Outcome:
    """Infer by the definitions, in fractions."""
    known: dict[str, oracles.Distribution] = {
        a.name: dict(zip(a.domain, map(Fraction, evidence[a.name]), strict=True))
        for a in cascade.inputs
    }
    return oracles.infer(cascade.rule_sets, known)


def fractions(degrees: npt.NDArray[Any]) -> list[Fraction]:
    return [Fraction(d) for d in degrees.tolist()]


def same_bits(one: npt.NDArray[Any], two: npt.NDArray[Any]) -> bool:
    return one.shape == two.shape and bool((one == two).all()) and one.dtype == two.dtype


def side_by_side(cascade: Cascade, evidence: Mapping[str, Any]) -> FloatArray:
    """Put the columns of all inputs of the compiled cascade side by side."""
    return np.concatenate([np.asarray(evidence[a.name]) for a in cascade.compile().inputs], -1)


def assert_exact(trace: Trace, outcome: oracles.Outcome, row: int | None = None) -> None:
    """Compare every distribution, flag and premise degree of a trace with the definitions."""
    assert set(trace) == set(outcome.degrees)
    for name, degrees in outcome.degrees.items():
        found = trace[name] if row is None else trace[name].sample(row)
        assert fractions(found.degrees) == list(outcome.distributions[name].values())
        assert found.normalised is outcome.coherent[name]
        premises = trace.premises[name]
        lambdas, rhos = premises.lambdas, premises.rhos
        if row is not None:
            lambdas, rhos = lambdas[row], rhos[row]
        assert list(zip(fractions(lambdas), fractions(rhos), strict=True)) == degrees


# --- single samples ----------------------------------------------------------------------------


@given(cases())
def test_every_intermediate_degree_is_the_definition(case: Case) -> None:
    assert_exact(case.cascade.trace(case.evidence), exact(case.cascade, case.evidence))


@given(cases(), st.data())
def test_subsets_of_the_outputs_are_the_definition(case: Case, data: st.DataObject) -> None:
    outcome = exact(case.cascade, case.evidence)
    everything = [*case.cascade.inputs, *(s.output for s in case.cascade.rule_sets)]
    wanted = data.draw(st.lists(st.sampled_from(everything), min_size=1, unique=True))
    keys: list[str | Attribute] = [a if data.draw(st.booleans()) else a.name for a in wanted]
    result = case.cascade.infer(case.evidence, keys)
    assert set(result) == {a.name for a in wanted}
    for attribute in wanted:
        found = result[attribute]
        assert fractions(found.degrees) == list(outcome.distributions[attribute.name].values())
        assert found.normalised is outcome.coherent[attribute.name]


@given(cases())
def test_default_outputs_are_those_no_premise_uses(case: Case) -> None:
    used = {
        p.attribute.name
        for s in case.cascade.rule_sets
        for rule in s.rules
        for p in rule.premise.propositions
    }
    concluded = {s.output.name for s in case.cascade.rule_sets}
    assert set(case.cascade.infer(case.evidence)) == concluded - used
    assert {a.name for a in case.cascade.inputs} == used - concluded


@given(st.data())
def test_one_rule_set_is_the_definition(data: st.DataObject) -> None:
    known = [data.draw(attributes(name)) for name in ("a", "b", "c")]
    rule_set = data.draw(rule_sets(known, data.draw(attributes("out")), max_rules=8))
    evidence = {a.name: data.draw(distributions(len(a.domain))) for a in rule_set.inputs}
    expected = oracles.infer_rules(
        rule_set.rules,
        {
            a.name: dict(zip(a.domain, map(Fraction, evidence[a.name]), strict=True))
            for a in rule_set.inputs
        },
    )
    found = rule_set.infer(evidence)
    assert fractions(found.degrees) == list(expected.values())
    assert found.normalised is (max(expected.values()) == 1)


def test_the_order_in_which_sets_are_given_does_not_matter() -> None:
    a, b, c, d = (Attribute(name, range(3)) for name in "abcd")
    sets = [
        RuleSet([Iff(a.isin({0})).then(b.isin({1}), 0.2, 0.1)]),
        RuleSet([Iff(b.isin({1})).then(c.isin({2}), 0, 0.3)]),
        RuleSet([Iff(c.isin({2}), b.isin({0, 1})).then(d.isin({0}), 0.4, 0)]),
    ]
    evidence = {"a": [0.7, 1.0, 0.4]}
    expected = exact(Cascade(*sets), evidence).distributions["d"]
    for order in (sets, sets[::-1], [sets[1], sets[2], sets[0]]):
        found = Cascade(*order).infer(evidence)["d"]
        assert fractions(found.degrees) == list(expected.values())
        made = [s.output.name for s in Cascade(*order).order]
        assert made == ["b", "c", "d"]


# --- the structure that the compiler takes advantage of ----------------------------------------


@given(st.data())
def test_products_of_blocks_and_sets_that_are_not(data: st.DataObject) -> None:
    sizes = data.draw(st.sampled_from([(2, 3), (3, 3), (2, 2, 2), (4, 2, 2)]))
    parts = [Attribute(f"x_{i}", range(n)) for i, n in enumerate(sizes)]
    tuples = data.draw(block_rule_sets(parts, "tuple"))
    later = data.draw(rule_sets([tuples.output], Attribute("out", range(3))))
    cascade = Cascade(tuples, later)
    evidence = {a.name: data.draw(distributions(len(a.domain))) for a in cascade.inputs}
    assert_exact(cascade.trace(evidence), exact(cascade, evidence))
    # without the trace, the intermediate distribution is never written and more is shared
    found = cascade.infer(evidence)["out"]
    assert fractions(found.degrees) == list(exact(cascade, evidence).distributions["out"].values())


@given(st.lists(DEGREES, min_size=10, max_size=10), distributions(4), st.booleans())
def test_pairwise_independent_rules_that_are_no_product(
    parameters: list[float], pi: list[float], with_block: bool
) -> None:
    """Any two of the first three signs occur in all ways, yet the third is fixed by the others."""
    a = Attribute("a", range(4))
    four, two = Attribute("four", range(4)), Attribute("two", range(2))
    b = Attribute.product("b", four, two)
    subsets: list[Callable[[int, int], bool]] = [
        lambda x, _: x in (0, 1),
        lambda x, _: x in (0, 2),
        lambda x, _: x in (0, 3),
        lambda _, y: y == 0,
    ]
    rules = [
        Iff(a.isin({j})).then(b.where(q), *parameters[2 * j : 2 * j + 2])
        for j, q in enumerate(subsets[: 4 if with_block else 3])
    ]
    last = RuleSet([Iff(b.where("four + two >= 3")).then(Attribute("c", (0, 1)).isin({1}))])
    cascade = Cascade(RuleSet(rules), last)
    evidence = {"a": pi}
    assert_exact(cascade.trace(evidence), exact(cascade, evidence))


@pytest.mark.parametrize("parameter", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("full", [True, False], ids=["all digits", "some digits"])
def test_parameters_all_zero_or_all_one(parameter: float, full: bool) -> None:
    x, y = Attribute("x", range(3)), Attribute("y", range(3))
    pair = Attribute.product("pair", x, y)
    total = Attribute("total", range(5))
    digits = range(3 if full else 2)
    pairs = [
        Iff(a.isin({d})).then(pair.where(f"{a.name} == {d}"), parameter, parameter)
        for a in (x, y)
        for d in digits
    ]
    sums = [
        Iff(pair.where(f"x + y == {t}")).then(total.isin({t}), parameter, parameter)
        for t in total.domain
    ]
    cascade = Cascade(RuleSet(pairs), RuleSet(sums))
    rng = np.random.default_rng(1)
    for _ in range(50):
        evidence = {n: random_batch(rng, 1, 3)[0].tolist() for n in ("x", "y")}
        assert_exact(cascade.trace(evidence), exact(cascade, evidence))


@given(cases(), st.data())
def test_other_parameters_on_the_same_rules(case: Case, data: st.DataObject) -> None:
    """Structure is compiled once for all parameters that are zero in the same places."""
    changed = {}
    for s in case.cascade.rule_sets:
        grids = st.lists(DEGREES, min_size=len(s), max_size=len(s))
        changed[s.output.name] = (data.draw(grids), data.draw(grids))
    other = case.cascade.with_parameters(changed)
    for s in other.rule_sets:
        assert (s.s.tolist(), s.r.tolist()) == changed[s.output.name]
    assert_exact(other.trace(case.evidence), exact(other, case.evidence))
    assert_exact(case.cascade.trace(case.evidence), exact(case.cascade, case.evidence))


def test_incoherence_travels_to_later_attributes() -> None:
    a, b, c = Attribute("a", range(2)), Attribute("b", range(3)), Attribute("c", range(2))
    clash = RuleSet([Iff(a.isin({0})).then(b.isin({0})), Iff(a.isin({0})).then(b.isin({1}))])
    later = RuleSet([Iff(b.isin({2})).then(c.isin({1}), s=1, r=1)])
    cascade = Cascade(clash, later)
    batch = cascade.infer({"a": np.array([[1, 0], [0.4, 1.0], [1.0, 1.0]])}, ["b", "c"])
    assert batch["b"].degrees.max(axis=1).tolist() == [0.0, 1.0, 1.0]
    assert batch["c"].degrees.max(axis=1).tolist() == [1.0, 1.0, 1.0]
    assert batch["c"].normalised.tolist() == [False, True, True]
    alone = cascade.infer({"a": [1, 0]})
    assert list(alone) == ["c"]
    assert alone["c"].normalised is False


# --- batches -----------------------------------------------------------------------------------


@given(batches())
def test_batch_rows_equal_single_samples(case: BatchCase) -> None:
    batch = case.cascade.trace(case.evidence)
    rows = range(case.n) if case.n <= 2 else {0, 1, case.n // 2, case.n - 2, case.n - 1}
    for i in rows:
        assert_exact(batch, exact(case.cascade, case.row(i)), row=i)
    for i in case.some_rows:
        single = case.cascade.trace(case.row(i))
        for name in batch:
            assert same_bits(batch[name].degrees[i], single[name].degrees)
            assert batch[name].sample(i).normalised is single[name].normalised
            assert same_bits(batch.premises[name].lambdas[i], single.premises[name].lambdas)
            assert same_bits(batch.premises[name].rhos[i], single.premises[name].rhos)


@given(batches())
def test_one_array_of_all_inputs_equals_the_dict(case: BatchCase) -> None:
    by_name = case.cascade.infer(case.evidence)
    stacked = side_by_side(case.cascade, case.evidence)
    together = case.cascade.infer(stacked)
    program = case.cascade.compile().infer(stacked)
    for name in by_name:
        assert same_bits(together[name].degrees, by_name[name].degrees)
        assert same_bits(program[name].degrees, by_name[name].degrees)
        assert together[name].normalised.tolist() == by_name[name].normalised.tolist()
    first = case.cascade.infer(stacked[0])
    assert not first.is_batch
    for name in by_name:
        assert same_bits(first[name].degrees, by_name[name].degrees[0])


@given(cases())
def test_every_form_of_evidence_says_the_same(case: Case) -> None:
    inputs = {a.name: a for a in case.cascade.inputs}
    expected = case.cascade.infer(case.evidence)
    forms: list[dict[Any, Any]] = [
        {n: np.array(pi) for n, pi in case.evidence.items()},
        {n: dict(zip(inputs[n].domain, pi, strict=True)) for n, pi in case.evidence.items()},
        {
            n: {v: d for v, d in zip(inputs[n].domain, pi, strict=True) if d > 0}
            for n, pi in case.evidence.items()
        },
        {inputs[n]: tuple(pi) for n, pi in case.evidence.items()},
        {n: Possibility(inputs[n], np.array(pi)) for n, pi in case.evidence.items()},
    ]
    for evidence in forms:
        result = case.cascade.infer(evidence)
        assert not result.is_batch
        for name in expected:
            assert same_bits(result[name].degrees, expected[name].degrees)


def test_evidence_that_no_wanted_output_needs_is_allowed() -> None:
    cascade = addition(2)
    evidence = {a.name: np.eye(10)[3] for a in cascade.inputs}
    assert cascade.infer(evidence, ["y_2"])["y_2"].best == 6
    del evidence["a_1"]
    assert cascade.infer(evidence, ["y_2"])["y_2"].best == 6


Layout = Callable[[FloatArray], npt.NDArray[Any]]


def strided(rows: FloatArray) -> npt.NDArray[Any]:
    wide = np.full((2 * rows.shape[0], 3 * rows.shape[1]), 7.0)
    wide[::2, ::3] = rows
    return wide[::2, ::3]


@pytest.mark.parametrize("n", [1, 3, 130])
@pytest.mark.parametrize(
    "layout",
    [
        np.asfortranarray,
        strided,
        lambda rows: np.ascontiguousarray(rows[::-1, ::-1])[::-1, ::-1],
        lambda rows: rows.astype(np.float32),
        lambda rows: rows.astype(np.float16),
        lambda rows: rows.astype(np.longdouble),
        lambda rows: rows.astype(">f8"),
        lambda rows: np.where(rows == 0.0, -0.0, rows),
        lambda rows: np.require(rows, requirements=["C"]).view(),
    ],
    ids=["F", "strided", "reversed", "f4", "f2", "longdouble", "big-endian", "-0.0", "C"],
)
def test_layouts_and_types_of_arrays(layout: Layout, n: int) -> None:
    cascade = addition(2, base=3).with_parameters({"w_2": ([0.1], [0.2]), "y_0": ([0.3], [0.0])})
    rng = np.random.default_rng(n)
    arrays = {a.name: layout(random_batch(rng, n, 3)) for a in cascade.inputs}
    plain = {name: np.array(rows, dtype=np.float64) + 0.0 for name, rows in arrays.items()}
    trace = cascade.trace(arrays)
    for i in range(n):
        outcome = exact(cascade, {name: rows[i].tolist() for name, rows in plain.items()})
        assert_exact(trace, outcome, row=i)
    stacked = layout(side_by_side(cascade, plain))
    for name, found in cascade.infer(stacked).items():
        assert same_bits(found.degrees, trace[name].degrees)
        assert not np.signbit(found.degrees).any()
        row = cascade.infer({a: rows[0] for a, rows in arrays.items()})[name]
        assert same_bits(row.degrees, found.degrees[0])
        assert not np.signbit(row.degrees).any()


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.bool_, np.int8])
def test_whole_numbers_are_degrees(dtype: npt.DTypeLike) -> None:
    cascade = addition(1, base=3)
    digits = np.array([[0, 1], [2, 2], [1, 0]])
    eye = np.eye(3).astype(dtype)
    result = cascade.infer({"a_1": eye[digits[:, 0]], "a_2": eye[digits[:, 1]]})
    assert result["y_1"].best.tolist() == [1, 1, 1]
    assert result["y_0"].best.tolist() == [0, 1, 0]
    assert cascade.infer({"a_1": [0, 0, 1], "a_2": eye[1]})["y_0"].best == 1


def test_minus_zero_never_comes_out() -> None:
    a, b = Attribute("a", range(2)), Attribute("b", range(2))
    rule_set = RuleSet([Iff(a.isin({0})).then(b.isin({0}), s=-0.0, r=-0.0)])
    assert not np.signbit(rule_set.s).any()
    assert not np.signbit(rule_set.r).any()
    pi = np.array([-0.0, 1.0])
    forms: list[Any] = [pi, pi.tolist(), {0: -0.0, 1: 1.0}, Possibility(a, pi), pi[None, :]]
    for form in [*forms, np.tile(pi, (5, 1))]:
        degrees = rule_set.infer({"a": form}).degrees
        assert not np.signbit(degrees).any()
        assert (degrees == [0.0, 1.0]).all()


def test_inputs_are_not_changed() -> None:
    cascade = addition(1)
    rows = np.where(np.eye(10) == 0.0, -0.0, 1.0)
    before = rows.copy()
    cascade.infer({"a_1": rows, "a_2": rows})
    assert (np.signbit(rows) == np.signbit(before)).all()
    assert same_bits(rows, before)


def test_two_threads_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    cascade = addition(2).with_parameters({"w_2": ([0.11], [0.07]), "w_1": ([0.2], [0.0])})
    rng = np.random.default_rng(5)
    n = 20_011  # several chunks, the last one short
    evidence = {a.name: random_batch(rng, n, 10, 100) for a in cascade.inputs}
    monkeypatch.setenv("PINESY_NUM_THREADS", "1")
    one = cascade.infer(evidence)
    for threads in ("2", "5"):
        monkeypatch.setenv("PINESY_NUM_THREADS", threads)
        many = cascade.infer(evidence)
        for name in one:
            assert same_bits(one[name].degrees, many[name].degrees)
            assert (one[name].normalised == many[name].normalised).all()
    for i in (0, 1, 9_999, n - 1):
        single = exact(cascade, {name: rows[i].tolist() for name, rows in evidence.items()})
        for name in one:
            expected = list(single.distributions[name].values())
            assert fractions(one[name].degrees[i]) == expected


def test_a_batch_of_no_samples_gives_no_results() -> None:
    cascade = addition(1)
    result = cascade.infer({"a_1": np.zeros((0, 10)), "a_2": np.zeros((0, 10))})
    assert result["y_1"].degrees.shape == (0, 10)


# --- programs ----------------------------------------------------------------------------------


def test_a_program_is_compiled_once() -> None:
    cascade = addition(1)
    assert cascade.compile() is cascade.compile()
    assert cascade.compile(["w_1"]) is cascade.compile([cascade.attributes["w_1"]])
    assert cascade.compile(["w_1"]) is not cascade.compile(["w_1"], trace=True)


@given(cascades())
def test_programs_name_their_inputs_and_outputs(cascade: Cascade) -> None:
    program = cascade.compile()
    assert program.outputs == cascade.outputs
    assert set(program.inputs) <= set(cascade.inputs)
    result = cascade.infer({a.name: np.ones(len(a.domain)) for a in cascade.inputs})
    assert set(result) == {a.name for a in cascade.outputs}
    assert all(name in repr(result) for name in result)


def test_a_result_is_a_mapping_by_name_or_attribute() -> None:
    cascade = addition(1)
    result = cascade.infer({"a_1": np.eye(10)[7], "a_2": np.eye(10)[5]})
    y_1 = cascade.attributes["y_1"]
    assert result["y_1"].best == result[y_1].best == 2
    assert "y_1" in result
    assert "y_9" not in result
    assert result.get("y_9") is None


@pytest.mark.parametrize("n", [1, 2, 200])
def test_inputs_may_be_read_only(n: int) -> None:
    a, b = Attribute("a", [0, 1]), Attribute("b", [0, 1])
    rules = RuleSet([Iff(a.isin({0})).then(b.isin({0}))])
    x = np.tile([1.0, 0.25], (n, 1))
    x.setflags(write=False)
    assert rules.infer({"a": x}).degrees.tolist() == x.tolist()
    assert rules.infer({"a": x[0]}).degrees.tolist() == [1.0, 0.25]


@given(case=batches())
def test_inputs_that_lie_column_by_column(case: BatchCase) -> None:
    """As results of another program do; they are not turned around twice."""
    program = case.cascade.compile()
    rows = np.concatenate([case.evidence[a.name] for a in program.inputs], axis=1)
    whole = np.vstack([rows.T[::-1], np.full((3, len(rows)), 7.0), rows.T])
    sizes = np.array([len(a.domain) for a in program.inputs])
    ends = (len(whole) - sizes.sum() + sizes.cumsum()).tolist()
    views = {
        a.name: whole[end - len(a.domain) : end].T
        for a, end in zip(program.inputs, ends, strict=True)
    }
    expected = program.infer(rows)
    for found in (program.infer(np.asfortranarray(rows)), program.infer(views)):
        for name, pi in expected.items():
            assert (found[name].degrees == pi.degrees).all()


@pytest.mark.parametrize("n", [2, 127, 300])
def test_wrong_inputs_that_lie_column_by_column(n: int) -> None:
    a, b = Attribute("a", [0, 1]), Attribute("b", [0, 1])
    rules = Cascade(RuleSet([Iff(a.isin({0})).then(b.isin({0}))]))
    for wrong in ([0.5, 0.9], [1.0, -0.1], [1.0, np.nan], [1.5, 1.0]):
        rows = np.ones((n, 2))
        rows[n - 1] = wrong
        with pytest.raises(DegreeError, match=f"row {n - 1}"):
            rules.infer(np.asfortranarray(rows))


# --- propositions as outputs -------------------------------------------------------------------


@given(cases(), st.data())
def test_possibilities_of_propositions_are_maxima(case: Case, data: st.DataObject) -> None:
    """``Pi(a in A)`` of any subset, of inputs and inferred attributes, empty and full included."""
    attributes = [*case.cascade.inputs, *(s.output for s in case.cascade.order)]
    asked = [Proposition(a, data.draw(st.integers(0, a.full))) for a in attributes]
    asked += [p.complement for p in asked[::2]]
    expected = exact(case.cascade, case.evidence).distributions
    result = case.cascade.infer(case.evidence, asked)
    for p in asked:
        inside = [expected[p.attribute.name][value] for value in p.values]
        assert Fraction(result.possibility(p)) == max(inside, default=Fraction(0))
    assert result.necessity(asked[0]) == 1.0 - result.possibility(asked[0].complement)
    assert list(result) == []  # no distribution was asked for


def test_propositions_beside_distributions_and_in_batches() -> None:
    left, right, total = (Attribute(name, range(4)) for name in ("left", "right", "total"))
    rules = Cascade(RuleSet([Iff(left.isin({0}), right.isin({0})).then(total.isin({0}))]))
    batch = {"left": np.eye(4), "right": np.eye(4)[::-1]}
    small = total.isin({0, 1})
    result = rules.infer(batch, [total, small])
    assert result.possibility(small).tolist() == result["total"].possibility({0, 1}).tolist()
    assert result.possibility(total.isin({3})).tolist() == result["total"][3].tolist()
    alone = rules.infer(batch, [small])
    with pytest.raises(UnknownAttributeError, match="'total' was not inferred"):
        alone.possibility(total.isin({3}))
    other = Attribute("other", range(2))
    with pytest.raises(UnknownAttributeError, match="no rule uses 'other'"):
        rules.compile([other.isin({0})])
