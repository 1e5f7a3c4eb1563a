"""The paper's examples of learning: single samples, stacked samples, a cascade."""

from typing import Any

import numpy as np
import pytest

from golden import PAPER
from pinesy import Attribute, Cascade, Iff, RuleSet, learn
from pinesy.learning import LearningResult, learn_batches
from pinesy.rules.partition import Partition

GOLDEN: dict[str, Any] = PAPER["same_digit"]
EXAMPLE: dict[str, Any] = GOLDEN["cascade_learning"]
SAMPLES: list[dict[str, Any]] = EXAMPLE["samples"]

A1, A2 = Attribute("a1", [0, 1]), Attribute("a2", [0, 1])
ATTRIBUTES = {"a1": A1, "a2": A2, "b": Attribute.product("b", A1, A2), "c": Attribute("c", [0, 1])}


def values(attribute: Attribute, listed: list[Any]) -> list[Any]:
    return [tuple(v) for v in listed] if attribute.factors else listed


def rule_set(rules: list[dict[str, Any]], output: str) -> RuleSet:
    target = ATTRIBUTES[output]
    return RuleSet(
        Iff(*(ATTRIBUTES[a].isin(values(ATTRIBUTES[a], v)) for a, v in rule["if"].items())).then(
            target.isin(values(target, rule[f"then_{output}"]))
        )
        for rule in rules
    )


PAIRS, SAME = rule_set(GOLDEN["rules_b"], "b"), rule_set(GOLDEN["rules_c"], "c")
CASCADE = Cascade(PAIRS, SAME)


# --- single samples ----------------------------------------------------------------------------


def free(rules: RuleSet) -> RuleSet:
    """The same conclusions, each rule with an input of its own: any premise degrees can be had."""
    inputs = [Attribute(f"p_{i}", [True, False]) for i in range(len(rules))]
    return RuleSet(
        Iff(p.isin({True})).then(rule.conclusion)
        for p, rule in zip(inputs, rules.rules, strict=True)
    )


FREE = {"b": free(PAIRS), "c": free(SAME)}


def inputs_of(*samples: dict[str, Any]) -> dict[str, Any]:
    """Inputs whose premise degrees are those given."""
    rows = [list(zip(one["lambda"], one["rho"], strict=True)) for one in samples]
    return {f"p_{i}": [list(row[i]) for row in rows] for i in range(len(rows[0]))}


def targets_of(partition: Partition, *targets: list[float]) -> list[list[float]]:
    """Degrees of the values, from those of the cells."""
    return np.array(targets)[:, partition.cell_of].tolist()  # type: ignore[no-any-return]


def cells_of(rules: RuleSet, inputs: Any) -> list[list[float]]:
    """What the rules infer, for each cell."""
    first = [int(np.argmax(rules.partition.cell_of == mu)) for mu in range(len(rules.partition))]
    return rules.infer(inputs).degrees[:, first].tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("output", ["b", "c"])
def test_a_consistent_sample(output: str) -> None:
    """All parameters from the lowest to the greatest solution give the target."""
    sample, rules = GOLDEN[f"consistent_sample_{output}"], FREE[output]
    inputs, target = inputs_of(sample), sample["target"]
    result = learn(rules, inputs, targets_of(rules.partition, target))
    one = result[output]
    assert one.greatest is not None
    assert (result.nabla[output].tolist(), one.distance) == ([0.0], 0.0)
    assert one.lowest.tolist() == sample["lowest"]
    assert one.greatest.tolist() == sample["greatest"]
    rng = np.random.default_rng(0)
    for x in (
        one.lowest,
        one.greatest,
        *rng.uniform(one.lowest, one.greatest, (50, len(one.lowest))),
    ):
        assert cells_of(rules.with_parameters(x[0::2], x[1::2]), inputs) == [target]


def test_an_inconsistent_sample() -> None:
    sample, rules = GOLDEN["inconsistent_sample_b"], FREE["b"]
    inputs = inputs_of(sample)
    result = learn(rules, inputs, targets_of(rules.partition, sample["target"]))
    assert result.nabla["b"].tolist() == [sample["nabla"]]
    assert result["b"].distance == 0.0  # that of the repaired sample
    assert result["b"].lowest.tolist() == sample["lowest_approximate_solution"]
    assert cells_of(result.rule_set, inputs) == [sample["lowest_approximation"]]


def test_stacked_samples() -> None:
    """The second target is the one of the inconsistent sample, repaired."""
    stacked, rules = GOLDEN["stacked_b"], FREE["b"]
    inputs = inputs_of(stacked, stacked)
    given = [stacked["targets"], [stacked["targets"][0], GOLDEN["inconsistent_sample_b"]["target"]]]
    for targets, nabla in zip(given, ([0.0, 0.0], [0.0, 0.0025]), strict=True):
        result = learn(rules, inputs, targets_of(rules.partition, *targets))
        assert result.nabla["b"].tolist() == nabla
        assert result["b"].distance == stacked["nabla"] == 0.00125
        assert result["b"].lowest.tolist() == stacked["solution"]


# --- the cascade -------------------------------------------------------------------------------


def evidence(samples: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [one[name] for one in samples] for name in ("a1", "a2")}


LABELS = {"b": [tuple(one["b"]) for one in SAMPLES], "c": [one["c"] for one in SAMPLES]}


@pytest.fixture
def result() -> LearningResult:
    return learn(CASCADE, evidence(SAMPLES), LABELS, tolerance=EXAMPLE["tau"])


def test_distances_and_reliability(result: LearningResult) -> None:
    for name in ("b", "c"):
        assert result.nabla[name].tolist() == [one[f"nabla_{name}"] for one in SAMPLES]
        assert result.reliable[name].tolist() == EXAMPLE["reliable"]
        assert result[name].n_reliable == 2
        assert result[name].distance == 0.0


def test_parameters(result: LearningResult) -> None:
    for name in ("b", "c"):
        assert result[name].lowest.tolist() == EXAMPLE[f"parameters_{name}"]
        assert not result.cascade[name].s.any()
        assert not result.cascade[name].r.any()


def test_inferred_pairs_and_premises(result: LearningResult) -> None:
    trace = result.cascade.trace(evidence(SAMPLES))
    assert cells_of(result.cascade["b"], evidence(SAMPLES)) == [o["inferred_b"] for o in SAMPLES]
    premises = trace.premises["c"]
    both = np.stack([premises.lambdas, premises.rhos], axis=2).reshape(len(SAMPLES), -1)
    assert both.tolist() == [one["premises_c"] for one in SAMPLES]


def test_repaired_targets() -> None:
    """Learned from one sample alone, the parameters infer its repaired target."""
    for i, one in enumerate(SAMPLES):
        inputs = evidence([one])
        alone = learn(CASCADE, inputs, {name: [each[i]] for name, each in LABELS.items()})
        assert cells_of(alone.cascade["b"], inputs) == [one["approximation_b"]]
        pairs = {"b": learned_pairs(i)}
        again = learn(SAME, pairs, [one["c"]])
        assert again.nabla["c"].tolist() == [one["nabla_c"]]
        assert cells_of(again.rule_set, pairs) == [one["approximation_c"]]


def learned_pairs(i: int) -> Any:
    """What the learned rules infer of `b` for a sample."""
    learned = learn(CASCADE, evidence(SAMPLES), LABELS, tolerance=EXAMPLE["tau"]).cascade
    return learned["b"].infer(evidence(SAMPLES)).degrees[i : i + 1].copy()


def test_another_solution_infers_the_same_of_the_reliable_samples() -> None:
    x, z = (np.array(EXAMPLE[f"other_solution_{name}"]) for name in ("b", "c"))
    other = CASCADE.with_parameters({"b": (x[0::2], x[1::2]), "c": (z[0::2], z[1::2])})
    reliable = [one for one, keep in zip(SAMPLES, EXAMPLE["reliable"], strict=True) if keep]
    inputs = evidence(reliable)
    assert cells_of(other["b"], inputs) == [one["approximation_b"] for one in reliable]
    pairs = {"b": other["b"].infer(inputs).degrees.copy()}
    assert cells_of(other["c"], pairs) == [one["approximation_c"] for one in reliable]
    assert (x >= EXAMPLE["parameters_b"]).all()
    assert (z >= EXAMPLE["parameters_c"]).all()


def test_the_samples_may_come_one_by_one(result: LearningResult) -> None:
    each = [
        (evidence([one]), {name: [labels[i]] for name, labels in LABELS.items()})
        for i, one in enumerate(SAMPLES)
    ]
    streamed = learn_batches(CASCADE, each, tolerance={("b", "c"): EXAMPLE["tau"]})
    for name in ("b", "c"):
        assert streamed[name].lowest.tolist() == result[name].lowest.tolist()
        assert streamed[name].n_reliable == 2
        assert streamed[name].summary.smallest == 0.03
