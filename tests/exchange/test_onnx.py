"""onnxruntime, an independent tool, infers the same bits from the graphs of `to_onnx`."""

import json
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exchange.onnx_runs import run, same_bits
from pinesy import (
    Attribute,
    Cascade,
    DataError,
    DomainError,
    If,
    Iff,
    NeuroSymbolic,
    RuleSet,
    UnknownAttributeError,
    antipignistic,
    minimum_specificity,
    parse,
    to_onnx,
)
from pinesy.engine.rule_set_kinds import circuit_of
from pinesy.engine.templates import rule_template
from pinesy.exchange.onnx_graph import OnnxGraph
from pinesy.exchange.onnx_transforms import add_transform
from pinesy.problems import addition, sudoku
from pinesy.transforms import INVERSE, TRANSFORMS, Transformation, as_transform
from strategies import BatchCase, batches, cascades, random_batch

onnx = pytest.importorskip("onnx")


def used(cascade: Cascade, evidence: dict[str, Any]) -> dict[str, Any]:
    """Return what the outputs need of the evidence."""
    return {a.name: evidence[a.name] for a in cascade.compile().inputs}


@settings(max_examples=25)
@given(batches(sizes=(1, 2, 65)))
def test_rules_have_the_same_bits(case: BatchCase) -> None:
    found = run(to_onnx(case.cascade), used(case.cascade, case.evidence))
    for name, pi in case.cascade.infer(case.evidence).items():
        assert same_bits(found[name], pi.degrees)
        # Outputs that cannot be contradictory have none.
        told = found.get(f"{name} (contradiction)", np.zeros(case.n))
        assert same_bits(told, pi.contradiction)


@pytest.mark.parametrize("rules", [addition(12), sudoku(4)], ids=["addition", "sudoku"])
@pytest.mark.parametrize("transform", ["antipignistic", "minimum_specificity"])
def test_probabilities_are_transformed_to_the_same_bits(rules: Cascade, transform: str) -> None:
    rng = np.random.default_rng(1)
    seen = {a.name: rng.dirichlet([0.2] * len(a.domain), 40) for a in rules.inputs}
    found = run(to_onnx(rules, transform=transform), seen)
    for name, pi in rules.infer(seen, transform=transform).items():
        assert same_bits(found[name], pi.degrees)


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 17, 128, 129, 300])
@pytest.mark.parametrize("transform", [antipignistic, minimum_specificity])
def test_transformations_have_the_same_bits_in_all_sizes(size: int, transform: Any) -> None:
    rng = np.random.default_rng(size)
    rows = rng.integers(0, 4, (30, size)) + 1.0 * (np.arange(size) == 0)
    rows /= rows.sum(axis=1, keepdims=True)
    rows[-1] = 1 / size
    graph = OnnxGraph(["x", "y"])
    given = graph.input("x", float, ["n", size])
    appended = add_transform(graph, given, size, as_transform(transform))
    graph.node("Identity", appended, output="y")
    graph.output("y", float, ["n", size])
    assert same_bits(run(graph.model("one", {}), {"x": rows})["y"], transform(rows))


@pytest.mark.parametrize("another", [INVERSE])
def test_a_transformation_that_is_not_known_is_refused(
    another: Transformation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TRANSFORMS, "another", another)
    with pytest.raises(DomainError, match=r"no onnx function.*onnx=\.\.\."):
        to_onnx(RAIN, transform="another")
    with pytest.raises(DomainError, match="unknown transformation 'unknown'"):
        to_onnx(RAIN, transform="unknown")
    equal = partial(minimum_specificity, ties="equal")
    with pytest.raises(DomainError, match="unknown transformation"):
        to_onnx(RAIN, transform=equal)


@settings(max_examples=8)
@given(cascades(texts=True), st.integers(0, 99))
def test_names_and_values_may_be_odd(cascade: Cascade, seed: int) -> None:
    rng = np.random.default_rng(seed)
    evidence = {a.name: random_batch(rng, 3, len(a.domain)) for a in cascade.inputs}
    model = to_onnx(cascade)
    found = run(model, used(cascade, evidence))
    for name, pi in cascade.infer(evidence).items():
        assert same_bits(found[name], pi.degrees)
    (entry,) = model.metadata_props
    sizes = {name: len(values) for name, values in json.loads(entry.value)["outputs"].items()}
    assert sizes == {a.name: len(a.domain) for a in cascade.outputs}


def test_a_name_may_look_like_one_of_the_graph() -> None:
    one, two, three = (Attribute(name, [0, 1]) for name in ("pinesy/1", "b (contradiction)", "b"))
    rules = Cascade(
        RuleSet([Iff(one.isin({1})).then(two.isin({1}))]),
        RuleSet([If(one.isin({0})).then(three.isin({v})) for v in (0, 1)]),
    )
    found = run(to_onnx(rules), {"pinesy/1": np.array([[1.0, 0.25]])})
    assert {name: rows.tolist() for name, rows in found.items()} == {
        "b (contradiction)": [[1.0, 0.25]],
        "b": [[0.25, 0.25]],
        "b (contradiction)'": [0.75],
    }


RAIN = parse(
    "attribute rain in {no, yes} attribute wet in {no, yes} iff rain in {yes} then wet in {yes}"
)


@pytest.mark.parametrize(
    "bad", [[0.5, 0.9], [1.5, 1.0], [1.0, -0.1], [np.nan, 1.0], [1.0, np.nan], [np.inf, 1.0]]
)
def test_what_pinesy_refuses_becomes_nan(bad: list[float]) -> None:
    found = run(to_onnx(RAIN), {"rain": np.array([bad, [1.0, 0.3], [-0.0, 1.0]])})["wet"]
    assert np.isnan(found[0]).all()
    assert same_bits(found[1:], np.array([[1.0, 0.3], [0.0, 1.0]]))


@pytest.mark.parametrize("bad", [[0.5, 0.4], [1.2, -0.2], [np.nan, 1.0]])
def test_what_is_no_distribution_of_probabilities_becomes_nan(bad: list[float]) -> None:
    model = to_onnx(RAIN, transform="antipignistic")
    found = run(model, {"rain": np.array([bad, [0.75, 0.25]])})["wet"]
    assert np.isnan(found[0]).all()
    assert found[1].tolist() == [1.0, 0.5]


def test_outputs_can_be_chosen_and_inputs_that_they_do_not_need_are_left_out() -> None:
    rules = addition(3)
    model = to_onnx(rules, ["y_3"])
    assert [o.name for o in model.graph.output] == ["y_3"]
    assert sorted(i.name for i in model.graph.input) == ["a_3", "a_6"]
    with pytest.raises(UnknownAttributeError, match="y_33"):
        to_onnx(rules, ["y_33"])


def test_an_input_is_no_output() -> None:
    with pytest.raises(DomainError, match="'rain' is an input of the graph"):
        to_onnx(RAIN, ["rain", "wet"])


def test_size_is_linear_in_the_length_of_the_program() -> None:
    for shared in (circuit_of, rule_template):  # what else was asked of a kind of rules shows
        shared.cache_clear()
    sizes = [to_onnx(addition(k)).ByteSize() for k in (20, 40)]
    assert sizes[0] < 60_000
    assert sizes[1] < 2.1 * sizes[0]


def test_empty_batches_are_empty() -> None:
    assert run(to_onnx(RAIN), {"rain": np.zeros((0, 2))})["wet"].shape == (0, 2)


def test_a_model_is_asked_for_no_transformation_and_only_networks_are_written() -> None:
    a, b = Attribute("a", [0, 1]), Attribute("b", [0, 1])
    model = NeuroSymbolic(lambda x: x, RuleSet([If(a.isin({1})).then(b.isin({1}))]))
    with pytest.raises(DomainError, match="a model has its own transformation"):
        to_onnx(model, transform="antipignistic")
    with pytest.raises(
        DataError, match="perception of 'a' is a function; only a NetworkPerception"
    ):
        to_onnx(model)
