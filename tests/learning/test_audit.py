"""The audit: every number of it against the equation system of each sample."""

import csv
import io
import json
import sys
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from messages import raises_saying
from pinesy import Attribute, Cascade, If, Iff, Possibility, RuleSet, induce, learn
from pinesy.exceptions import DataError, DegreeError, DomainError, UnknownAttributeError
from pinesy.learning.audit import Audit, audit
from pinesy.learning.set_audits import SetAudit
from pinesy.problems import addition
from pinesy.rulebase.sample_equations import EquationSystem
from strategies import BatchCase, LearningProblem, batches, learning_problems, random_batch

FloatArray = npt.NDArray[np.float64]
#: The package's attribute of this name may be the function.
MODULE = sys.modules["pinesy.learning.set_audits"]

RAIN = Attribute("rain", ["yes", "no"])
GRASS = Attribute("grass", ["wet", "dry"])
SHOES = Attribute("shoes", ["clean", "damp", "muddy"])
LAWN = RuleSet([Iff(RAIN.isin({"yes"})).then(GRASS.isin({"wet"}))])
WALK = Cascade(LAWN, RuleSet([Iff(GRASS.isin({"wet"})).then(SHOES.isin({"damp", "muddy"}))]))


# --- each sample against its equation system -----------------------------------------------------


def terms(system: EquationSystem, cell: int) -> FloatArray:
    """The terms whose minimum is nabla_mu, one for each rule."""
    signs, y = system.partition.signs, system.target
    g = np.where(signs[cell], system.lambdas, system.rhos)
    same_side = signs == signs[cell]
    up = np.where(same_side, y[:, None], 0.0).max(axis=0)
    rise = np.minimum((up - y[cell]) / 2, np.maximum(up - g, 0.0))
    return np.asarray(np.maximum(np.maximum(g - y[cell], 0.0), rise))


def certain_terms(rule_set: RuleSet, system: EquationSystem) -> FloatArray:
    """The terms of rules without uncertainty; where a rule says nothing, its term is 1."""
    lambdas = np.where(rule_set.s == 1.0, 1.0, system.lambdas)
    rhos = np.where(rule_set.r == 1.0, 1.0, system.rhos)
    return np.where(system.partition.signs, lambdas, rhos)


def check_set(one: SetAudit, sample: int, system: EquationSystem) -> None:
    """Compare all that an audit says of a sample and a set, to the last bit."""
    cell = int(one.cell[sample])
    assert one.nabla[sample] == system.distance
    assert cell == system.cell_distances.argmax()
    found = terms(system, cell)
    assert found.min() == system.distance
    rule = int(one.rule[sample])
    assert rule == found.argmin()
    assert one.inside[sample] == system.partition.signs[cell, rule]
    degrees = system.lambdas if one.inside[sample] else system.rhos
    assert one.degree[sample] == degrees[rule]
    signs = system.partition.signs
    certain = certain_terms(one.rule_set, system)
    supported = np.where(system.target == 1.0, certain.min(axis=1), -1.0)
    assert one.support[sample] == supported.max()
    limits = certain[supported.argmax()]
    rule, outside = divmod(int(one.limit[sample]), 2)
    assert (rule, not outside) == (limits.argmin(), signs[supported.argmax(), rule])


def system_of(rule_set: RuleSet, premises: Any, sample: int, target: FloatArray) -> EquationSystem:
    """The equation system of a sample, made without the audit."""
    y = [target[rule_set.partition.cell_of == mu].max() for mu in range(len(rule_set.partition))]
    lambdas, rhos = premises.lambdas[sample], premises.rhos[sample]
    return EquationSystem(rule_set.partition, lambdas, rhos, np.array(y))


def targets_for(
    case: BatchCase, rng: np.random.Generator
) -> tuple[dict[str, Any], dict[str, FloatArray]]:
    """Draw values for some sets, degrees for others, none for few; return them as degrees too."""
    given_: dict[str, Any] = {}
    degrees: dict[str, FloatArray] = {}
    for number, rule_set in enumerate(case.cascade.rule_sets):
        output, kind = rule_set.output, rng.integers(0, 5)
        if kind == 0 and number > 0:
            continue
        if kind <= 2:
            positions = rng.integers(0, len(output.domain), case.n)
            given_[output.name] = [output.domain[i] for i in positions]
            degrees[output.name] = np.eye(len(output.domain))[positions]
        else:
            given_[output.name] = random_batch(rng, case.n, len(output.domain))
            degrees[output.name] = given_[output.name]
    return given_, degrees


@given(case=batches(), seed=st.integers(0, 2**32 - 1))
def test_all_samples_of_a_batch(case: BatchCase, seed: int) -> None:
    targets, degrees = targets_for(case, np.random.default_rng(seed))
    found = audit(case.cascade, case.evidence, targets)
    premises = case.cascade.trace(case.evidence).premises
    assert set(found.sets) == set(targets)
    for name, one in found.sets.items():
        rule_set = case.cascade[name]
        for i in case.some_rows:
            check_set(one, i, system_of(rule_set, premises[name], i, degrees[name][i]))


def floats(problem: LearningProblem) -> tuple[dict[str, FloatArray], dict[str, Any]]:
    """Return inputs and targets as the library takes them."""
    names = [a.name for a in problem.cascade.inputs]
    inputs = {n: np.array([[float(d) for d in s[n]] for s in problem.samples]) for n in names}
    targets = {
        name: [[float(d) for d in t] if isinstance(t, list) else t for t in content]
        for name, content in problem.targets.items()
    }
    return inputs, targets


@given(problem=learning_problems())
def test_distance_and_agreement_are_those_of_exact_arithmetic(problem: LearningProblem) -> None:
    inputs, targets = floats(problem)
    found = audit(problem.cascade, inputs, targets)
    premises = problem.cascade.trace(inputs).premises
    for name, one in found.sets.items():
        rule_set, degrees = problem.cascade[name], premises[name]
        signs = rule_set.partition.signs.tolist()
        cells = rule_set.partition.cells(rule_set.output.domain)
        first = [rule_set.partition.cell_of.tolist().index(mu) for mu in range(len(cells))]
        pis = [oracles.target_distribution(rule_set.output, t) for t in problem.targets[name]]
        y = [[oracles.possibility(pi, cell) for cell in cells] for pi in pis]
        lambdas, rhos = (
            [[oracles.decimal(d) for d in row] for row in table.tolist()]
            for table in (degrees.lambdas, degrees.rhos)
        )
        exact = oracles.learn_stacked_exact(signs, lambdas, rhos, y)
        for i, (before, after) in enumerate(zip(y, exact.repaired, strict=True)):
            assert one.nabla[i] == pytest.approx(float(exact.nablas[i]), abs=1e-15)
            best = [mu for mu, degree in enumerate(after) if degree == max(after)]
            assert one.best[i] == best[0]
            assert one.unique[i] == (len(best) == 1)
            assert one.agrees[i] == (best == [mu for mu, d in enumerate(before) if d == 1])
            repaired = found.repaired(i)[name].degrees[first]
            assert repaired == pytest.approx([float(d) for d in after], abs=1e-14)
            assert found.equations(i)[name].distance == one.nabla[i]


@pytest.mark.parametrize("graded", [False, True])
def test_after_learning_the_distances_are_those_of_learning(graded: bool) -> None:
    rng, cascade = np.random.default_rng(11), addition(2)
    inputs = {a.name: random_batch(rng, 300, 10, grid=100) for a in cascade.inputs}
    inferred = cascade.infer(inputs, ["c_2", "w_2", "c_1", "y_1"])
    targets: dict[str, Any] = {name: pi.degrees.copy() for name, pi in inferred.items()}
    for name, degrees in targets.items():
        degrees[:, 0] = np.maximum(degrees[:, 0], 0.25)  # learning has something to learn
        if not graded and name != "c_2":
            domain = cascade[name].output.domain
            targets[name] = [domain[i] for i in degrees.argmax(axis=1)]
    result = learn(cascade, inputs, targets, tolerance=0.9)
    assert any(one.lowest.any() for one in result.sets.values())
    found = audit(result.cascade, inputs, targets)
    assert list(found.sets) == list(result.sets)
    for name, nabla in result.nabla.items():
        assert np.array_equal(found.nabla[name], nabla)


@pytest.mark.parametrize("threads", ["1", "3"])
def test_any_chunks_give_the_same(monkeypatch: pytest.MonkeyPatch, threads: str) -> None:
    rng, cascade = np.random.default_rng(3), addition(1)
    inputs = {a.name: random_batch(rng, 1000, 10) for a in cascade.inputs}
    targets = {"c_1": rng.integers(0, 10, (1000, 2)), "y_1": random_batch(rng, 1000, 10)}
    whole = audit(cascade, inputs, targets)
    monkeypatch.setattr(MODULE, "MIN_CHUNK", 7)
    monkeypatch.setattr(MODULE, "CHUNK_BYTES", 1)
    monkeypatch.setenv("PINESY_NUM_THREADS", threads)
    parts = audit(cascade, inputs, targets)
    for name, one in whole.sets.items():
        for column in (
            "nabla",
            "support",
            "degree",
            "cell",
            "side",
            "limit",
            "best",
            "unique",
            "agrees",
        ):
            assert np.array_equal(getattr(one, column), getattr(parts[name], column)), column


def test_any_memory_order_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MODULE, "MIN_CHUNK", 7)
    monkeypatch.setattr(MODULE, "CHUNK_BYTES", 1)
    rain, grass = Attribute("rain", ["yes", "no"]), Attribute("grass", ["wet", "dry"])
    rules = RuleSet([Iff(rain.isin({"yes"})).then(grass.isin({"wet"}))])
    rows, targets = random_batch(np.random.default_rng(4), 100, 2), ["wet"] * 100
    by_row, by_column = (
        audit(rules, {"rain": given}, targets).worst for given in (rows, np.asfortranarray(rows))
    )
    assert np.array_equal(by_row, by_column)


# --- what it means -------------------------------------------------------------------------------


def test_a_contradiction_is_found_explained_and_repaired() -> None:
    found = audit(LAWN, {"rain": [[1.0, 0.0], [0.2, 1.0], [1.0, 0.3]]}, ["wet", "wet", "wet"])
    assert found.worst.tolist() == [0.0, 1.0, 0.3]
    assert found.order.tolist() == [1, 2, 0]
    assert found.top(2).tolist() == [1, 2]
    assert found["grass"].support.tolist() == [1.0, 0.2, 1.0]
    assert found.agrees["grass"].tolist() == [True, False, True]
    assert found.blame(0) == []
    assert found.repaired(0)["grass"].to_dict() == {"wet": 1.0, "dry": 0.0}
    assert found.repaired(1)["grass"].to_dict() == {"wet": 0.2, "dry": 1.0}
    [blame] = found.blame(2)
    assert (blame.attribute, blame.values, blame.target) == (GRASS, ("dry",), 0.0)
    assert (blame.nabla, blame.rule, blame.side, blame.degree) == (0.3, 1, "complement", 0.3)
    assert str(blame) == (
        "grass: {dry} has target 0, off by 0.3; no rule speaks against what has target 1"
    )
    assert (blame.limit, blame.limit_text) == (None, None)
    assert str(found.blame(1)[0]) == (
        "grass: {dry} has target 0, off by 1; what has target 1 is possible to 0.2 only, by rule "
        "1, iff rain in {yes} then grass in {wet}"
    )


def test_a_rule_is_blamed_on_the_side_of_its_conclusion() -> None:
    [blame] = audit(LAWN, {"rain": [0.4, 1.0]}, "dry").blame(0)
    assert (blame.values, blame.side, blame.degree) == (("wet",), "conclusion", 0.4)


def test_values_in_one_cell_count_as_one() -> None:
    found = audit(WALK["shoes"], {"grass": [[1.0, 0.2]]}, ["muddy"])
    assert found.agrees["shoes"].tolist() == [True]
    assert found.repaired(0)["shoes"].best_values == ("damp", "muddy")
    assert next(found.rows())["repaired"] == "muddy"


def test_a_tie_after_repair_is_no_agreement() -> None:
    found = audit(LAWN, {"rain": [[1.0, 1.0]]}, ["dry"])
    assert (found.agrees["grass"][0], found["grass"].unique[0]) == (False, False)
    assert next(found.rows())["repaired"] is None
    both = audit(LAWN, {"rain": [[1.0, 1.0]]}, [[1.0, 1.0]])
    assert both.agrees["grass"].tolist() == [True]
    assert next(both.rows())["repaired"] == "{wet, dry}"


@pytest.mark.parametrize(("second", "agrees"), [(0.4, False), (0.4 + 1e-12, True)])
def test_a_tie_is_a_tie_whatever_the_rounding(second: float, agrees: bool) -> None:
    """For 0.4, nabla is 0.7 - 0.4 = 0.3, and both values get 0.7; in binary, 1 - nabla > 0.7."""
    wind = Attribute("wind", ["yes", "no"])
    rules = RuleSet(
        [
            Iff(RAIN.isin({"yes"})).then(GRASS.isin({"wet"})),
            Iff(wind.isin({"yes"})).then(GRASS.isin({"dry"})),
        ]
    )
    found = audit(rules, {"rain": [[0.1, 1.0]], "wind": [[0.7, 1.0]]}, [[1.0, second]])
    wet, dry = found.repaired(0)["grass"].degrees
    assert wet > dry
    assert found.agrees["grass"].tolist() == found["grass"].unique.tolist() == [agrees]


def test_later_sets_are_judged_with_the_parameters_of_earlier_ones() -> None:
    inputs, targets = {"rain": [[1.0, 0.0]]}, {"shoes": ["muddy"]}
    doubtful = WALK.with_parameters({"grass": ([0.0], [0.6])})
    assert audit(WALK, inputs, targets).worst.tolist() == [0.0]
    assert audit(doubtful, inputs, targets).worst.tolist() == [0.6]
    own = WALK.with_parameters({"shoes": ([0.3], [0.6])})
    assert audit(own, inputs, targets).worst.tolist() == [0.0]


def test_the_worst_come_first_by_support_then_sum_then_index() -> None:
    shoes = RuleSet([Iff(GRASS.isin({"wet"})).then(SHOES.isin({"muddy"}))])
    rain = [[1.0, 0.2], [0.1, 1.0], [0.3, 1.0], [1.0, 0.2], [0.1, 1.0], [0.1, 1.0]]
    targets = {"grass": ["wet"] * 6, "shoes": [*["muddy"] * 4, "clean", "clean"]}
    found = audit(Cascade(LAWN, shoes), {"rain": rain}, targets)
    assert found.worst.tolist() == [0.2, 1.0, 1.0, 0.2, 1.0, 1.0]
    assert found.support.tolist() == [1.0, 0.1, 0.3, 1.0, 0.1, 0.1]
    assert found.order.tolist() == [1, 4, 5, 2, 0, 3]
    assert [b.attribute for b in found.blame(4)] == [GRASS, SHOES]


def test_wrong_labels_among_certain_digits_come_first() -> None:
    digits = np.random.default_rng(5).integers(0, 10, (500, 2))
    inputs = {f"a_{i + 1}": np.eye(10)[digits[:, i]] for i in range(2)}
    labels = digits.copy()
    labels[[30, 400], 0] = (labels[[30, 400], 0] + 3) % 10
    total = labels.sum(axis=1)
    targets = {"c_1": labels, "w_1": total // 10, "y_1": total % 10, "y_0": total // 10}
    found = audit(addition(1), inputs, targets)
    assert sorted(found.top(2)) == [30, 400]
    assert np.flatnonzero(found.worst).tolist() == [30, 400]
    assert found.repaired(30)["c_1"].best == tuple(digits[30])
    assert found.repaired(400)["y_1"].best == digits[400].sum() % 10


# --- how it is given -----------------------------------------------------------------------------


def small() -> Audit:
    inputs = {"rain": [[1.0, 0.0], [0.2, 1.0], [1.0, 0.3]]}
    return audit(WALK, inputs, {"grass": ["wet"] * 3, "shoes": ["clean", "clean", "damp"]})


def test_rows_are_plain_and_worst_first() -> None:
    rows = list(small().rows())
    assert [row["sample"] for row in rows] == small().order.tolist() == [0, 1, 2]
    assert rows[1] == {
        "sample": 1,
        "suspicious": True,
        "suspicion": 0.8,
        "possibility": 0.2,
        "probability": 0.1,
        "nabla": 1.0,
        "support": 0.2,
        "set": "grass",
        "label": "wet",
        "best": "dry",
        "repaired": "dry",
        "agrees": False,
        "rule": 1,
        "text": "iff rain in {yes} then grass in {wet}",
        "reason": "wet is possible at 0.20 only, dry at 1, by rule 1, iff rain in {yes} then grass "
        "in {wet}",
    }
    assert (rows[2]["suspicious"], rows[2]["rule"]) == (False, None)
    assert [json.loads(json.dumps(row)) for row in rows] == rows
    assert list(small().rows(1)) == rows[:1]
    assert list(small().rows(0)) == []


def test_rows_make_a_csv_file() -> None:
    stream = io.StringIO()
    rows = list(small().rows())
    writer = csv.DictWriter(stream, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    stream.seek(0)
    texts = [row["text"] or "" for row in rows]
    assert [row["text"] for row in csv.DictReader(stream)] == texts


def test_a_sample_without_contradiction_blames_nothing() -> None:
    found = audit(LAWN, {"rain": [[1.0, 0.0]]}, ["wet"])
    [row] = found.rows()
    assert (row["nabla"], row["label"], row["repaired"], row["agrees"]) == (0.0, "wet", "wet", True)
    assert {row[key] for key in ("rule", "text", "reason")} == {None}
    assert str(found) == repr(found)
    assert repr(found).startswith("Audit(0 suspicious labels in 1 sample; judged by the rules as ")


def test_the_text_is_a_table_of_the_worst() -> None:
    lines = str(small()).splitlines()
    assert lines[0] == (
        "Audit(2 suspicious labels (1 impossible) in 3 samples; judged by the rules as they are, "
        "which is in sample if they come from these samples)"
    )
    head = "sample suspicion probability nabla set label more possible why"
    assert lines[1].split() == head.split()
    assert lines[3].split()[:6] == ["1", "0.8", "0.1", "1", "grass", "wet"]
    assert lines[3].endswith("by rule 1, iff rain in {yes} then grass in {wet}")
    assert len(lines) == 4  # the third sample is not suspicious
    many = audit(LAWN, {"rain": [[0.5, 1.0]] * 30}, ["wet"] * 30)
    assert len(str(many).splitlines()) == 12


def test_a_label_of_possibility_0_is_never_passed_over() -> None:
    """Some parameters allow the label, so nothing contradicts them; those of the rules do not."""
    x, y, z = (Attribute(name, ["yes", "no"]) for name in "xyz")
    rules = RuleSet(
        [If(x.isin({"yes"})).then(z.isin({"yes"})), If(y.isin({"yes"})).then(z.isin({"no"}))]
    )
    evidence = {"x": ["yes", "yes"], "y": ["yes", "no"]}
    found = audit(rules, {a: v * 2 for a, v in evidence.items()}, ["yes"] * 4)
    assert found.worst.tolist() == [0.0] * 4
    assert found.impossible.tolist() == [True, False, True, False]
    assert repr(found).startswith("Audit(2 suspicious labels (2 impossible) in 4 samples; ")
    reasons = [row["reason"] for row in found.rows() if row["reason"]]
    assert (
        reasons == ["yes is impossible, as all values, by rule 2, if y in {yes} then z in {no}"] * 2
    )


def test_suspicion_is_out_of_fold() -> None:
    """A label that its own counts would excuse is judged by others'."""
    x, y = Attribute("x", ["a", "b"]), Attribute("y", ["no", "yes"])
    rules = RuleSet([Iff(x.isin({"a"})).then(y.isin({"yes"}))])
    evidence, labels = {"x": ["a"] * 20 + ["b"] * 20}, ["yes"] * 19 + ["no"] * 21
    found = audit(rules, evidence, labels, method="counts", folds=4)
    assert found.order[0] == 19
    assert found.suspicion[19] == found.suspicion.max() > 0.8
    assert (found.suspicion[:19] == 0.0).all()
    [worst] = found.rows(1)
    assert worst["label"] == "no"
    assert "no is possible at 0.08 only" in worst["reason"]
    assert "yes at 1, by rule 1" in worst["reason"]
    again = audit(rules, evidence, labels, method="counts", folds=4)
    assert (again.suspicion == found.suspicion).all()
    with raises_saying(DataError, "41 folds of 40 samples"):
        audit(rules, evidence, labels, method="counts", folds=41)
    with raises_saying(DataError, "'magic'", "counts, gradient"):
        audit(rules, evidence, labels, method="magic")  # type: ignore[arg-type]


def test_the_rule_that_speaks_against_a_label_is_named() -> None:
    """An implication whose premise does not hold says nothing, so it is not the one."""
    a, b, d = (Attribute(name, ["yes", "no"]) for name in "abd")
    against = If(b.isin({"yes"})).then(d.isin({"no"}), certainty=0.5)
    rules = RuleSet([If(a.isin({"yes"})).then(d.isin({"yes"})), against])
    found = audit(rules, {"a": ["no"], "b": ["yes"]}, ["yes"])
    [row] = found.rows()
    assert (row["rule"], row["text"]) == (2, str(against))
    [blame] = found.blame(0)
    assert (blame.limit, blame.limit_text) == (2, str(against))
    assert "by rule 2" in str(blame)


def flipped_table(seed: int) -> tuple[dict[str, Any], npt.NDArray[np.bool_]]:
    """Return a table with a class that a sum of two columns tells, 5 % of them wrong."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(200, 3))
    wrong = np.zeros(200, dtype=bool)
    wrong[rng.choice(200, 10, replace=False)] = True
    labels = np.where((x[:, 0] + x[:, 1] > 0) ^ wrong, "yes", "no")
    return {"a": x[:, 0], "b": x[:, 1], "unused": x[:, 2], "label": labels.tolist()}, wrong


def average_precision(found: Audit, wrong: npt.NDArray[np.bool_]) -> float:
    hits = wrong[found.order]
    return float((np.cumsum(hits) / np.arange(1, len(hits) + 1))[hits].mean())


def test_induced_rules_are_judged_out_of_fold() -> None:
    pytest.importorskip("sklearn")
    precisions = []
    for seed in range(3):
        table, wrong = flipped_table(seed)
        rules, labels = induce(table, "label"), table.pop("label")
        found = audit(rules, table, {"label": labels})
        assert (found.method, found.out_of_fold) == ("induce", True)
        assert found.fold is not None
        for k in range(5):  # as if rules were induced by hand, without each fold
            inside = found.fold != k
            part = {name: column[inside] for name, column in table.items()}
            own = [label for label, is_in in zip(labels, inside, strict=True) if is_in]
            giving = [s for s in rules.sets.values() if s.output.name.startswith("rule ")]
            most = max(len(s.rules[0].premise.propositions) for s in giving)
            sizes = {"max_rules": len(giving), "max_conditions": most}
            other = induce({**part, "label": own}, "label", **sizes)  # type: ignore[arg-type]
            held = {a.name: table[a.name][~inside] for a in other.inputs}
            pi = other.infer(held)["label"].degrees
            assert np.array_equal(found.labels["label"].highest[~inside], pi.max(axis=1))
        precisions.append(average_precision(found, wrong))
        turned = audit(rules, dict(reversed(table.items())), {"label": labels})
        assert np.array_equal(turned.suspicion, found.suspicion)
        [row] = found.rows(1)
        assert row["suspicious"]
        assert "(+" in row["reason"]
        assert " suspicious labels in 200 samples; judged out of fold, by rules " in repr(found)
    assert np.mean(precisions) > 0.5


def test_what_induced_rules_cannot_be_induced_again_from() -> None:
    pytest.importorskip("sklearn")
    table, _ = flipped_table(0)
    rules = induce(table, "label")
    labels = table.pop("label")
    few = {name: column[:6] for name, column in table.items()}
    assert audit(rules, few, {"label": labels[:6]}).method == "given"
    degrees = {a.name: np.ones((200, len(a.domain))) for a in rules.inputs}
    assert audit(rules, degrees, {"label": labels}).method == "given"
    with raises_saying(DataError, "table of plain values"):
        audit(rules, degrees, {"label": labels}, method="induce")
    with raises_saying(DataError, "two samples or more a fold"):
        audit(rules, few, {"label": labels[:6]}, method="induce")
    with raises_saying(DataError, "takes induced rules"):
        audit(LAWN, {"rain": ["yes"] * 20}, ["wet"] * 20, method="induce")


def test_categories_and_classes_that_a_fold_lacks() -> None:
    pytest.importorskip("sklearn")
    table, _ = flipped_table(1)
    table["place"] = ["a", "b"] * 99 + ["rare", "b"]
    labels = ["odd", *table["label"][1:]]
    rules = induce({**table, "label": labels}, "label")
    del table["label"]
    found = audit(rules, table, {"label": labels})
    assert found.method == "induce"
    assert found.order[0] == 0  # its class is in no other sample
    assert (found.labels["label"].possibility[0], found.row(0)["label"]) == (0.0, "odd")


@pytest.mark.parametrize("method", ["exact", "counts"])
def test_what_was_learned_is_learned_again_without_each_fold(method: Any) -> None:
    x, y = Attribute("x", ["a", "b"]), Attribute("y", ["no", "yes"])
    rules = RuleSet([Iff(x.isin({"a"})).then(y.isin({"yes"}))])
    evidence, labels = {"x": ["a"] * 20 + ["b"] * 20}, ["yes"] * 19 + ["no"] * 21
    result = learn(rules, evidence, labels, method=method)
    found = audit(result, evidence, labels)
    assert (found.method, found.out_of_fold) == (method, True)
    again = audit(rules, evidence, labels, method=method)
    assert np.array_equal(found.suspicion, again.suspicion)
    assert f"parameters learned ({method}) without each of 5 folds" in repr(found)
    assert audit(result.cascade, evidence, labels).method == "given"


def test_sets_are_found_by_name_and_attribute() -> None:
    found = small()
    assert found["shoes"] is found[SHOES] is found.sets["shoes"]
    assert len(found) == 3
    assert repr(found["grass"]) == "SetAudit(grass: 2 of 3 samples contradict the rules)"
    with raises_saying(UnknownAttributeError, "'shoe' had no target", "did you mean 'shoes'"):
        found["shoe"]


def test_findings_are_values() -> None:
    with pytest.raises(ValueError, match="read-only"):
        small()["grass"].nabla[0] = 1.0


@pytest.mark.parametrize("n", [1, 2])
def test_inputs_may_be_read_only(n: int) -> None:
    rain = np.array([[0.4, 1.0], [1.0, 0.0]])[:n]
    rain.setflags(write=False)
    found = audit(LAWN, {"rain": rain}, ["wet"] * n)
    assert found.repaired(0)["grass"].best == "dry"


def test_one_sample_alone() -> None:
    found = audit(WALK, {"rain": {"yes": 1.0, "no": 0.25}}, {"shoes": "muddy"})
    assert (len(found), found.worst.tolist()) == (1, [0.25])
    assert isinstance(found.repaired(0)["shoes"], Possibility)


def test_frames_hold_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    frames = ModuleType("pandas")
    frames.DataFrame = lambda rows: ("frame", rows)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pandas", frames)
    assert small().to_frame(2) == ("frame", list(small().rows(2)))
    monkeypatch.setitem(sys.modules, "pandas", None)
    with raises_saying(DataError, "to_frame needs pandas", "pip install 'pinesy[frame]'"):
        small().to_frame()


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("sample", [3, -4, "1", 0.0])
def test_a_sample_that_is_not_there(sample: Any) -> None:
    for method in (small().blame, small().repaired, small().equations):
        with raises_saying(DomainError, f"no sample {sample!r}", "there are 3, from 0 on"):
            method(sample)


def test_the_first_bad_row_is_named_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MODULE, "MIN_CHUNK", 10)
    monkeypatch.setattr(MODULE, "CHUNK_BYTES", 1)
    monkeypatch.setenv("PINESY_NUM_THREADS", "4")
    rain = np.ones((500, 2))
    rain[[217, 300, 499]] = 0.5
    for _ in range(5):
        with raises_saying(DegreeError, "'rain', row 217", "not normalised"):
            audit(LAWN, {"rain": rain}, ["wet"] * 500)


def test_targets_and_inputs_are_checked_as_in_learning() -> None:
    with raises_saying(UnknownAttributeError, "target for 'gras'", "did you mean 'grass'"):
        audit(WALK, {"rain": [[1.0, 0.0]]}, {"gras": ["wet"]})
    with raises_saying(DataError, "1 samples of inputs but 2 of the target 'grass'"):
        audit(WALK, {"rain": [[1.0, 0.0]]}, {"grass": ["wet", "dry"]})
