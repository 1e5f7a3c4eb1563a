"""A fifth semantics is registered once, and works everywhere or is refused by name.

It is max-product over uncertain rules: a world weighs the product of the possibilities of its input
values and, for each rule, of the parameter that it falls under; a value weighs as much as the best
world with it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from messages import raises_saying
from pinesy import antipignistic, antipignistic_inverse, compare_semantics, parse, save
from pinesy.cli.app import app
from pinesy.exceptions import CascadeError, DegreeError, DomainError, RuleSetError
from pinesy.semantics import (
    SEMANTICS,
    Semantics,
    Semiring,
    WorldWeights,
    as_semantics,
    register_semantics,
)

RULES = parse("""
    attribute rain in {no, yes}
    attribute sky in {clear, cloudy, dark}
    attribute wet in {no, yes}
    attribute stay in {out, home}
    iff rain in {yes} then wet in {yes} [s=0.2]
    if wet in {yes} or sky in {dark} then stay in {home} [certainty=0.75]
    if sky in {clear} then stay in {out} [certainty=0.5]
""")
SEEN = {
    "rain": np.array([[0.75, 0.25], [0.5, 0.5]]),
    "sky": np.array([[0.5, 0.25, 0.25], [0.1, 0.1, 0.8]]),
}
POSSIBLE = {name: antipignistic(p) for name, p in SEEN.items()}


def max_product(
    rule_sets: Sequence[Any], inputs: Mapping[str, Any], outputs: Sequence[Any]
) -> dict[str, Any]:
    """Return the weight of the best world for each value, all worlds listed."""
    attributes = {a.name: a for a in outputs}
    for unit in rule_sets:
        attributes |= {a.name: a for a in (*unit.inputs, unit.output)}
    n = len(next(iter(inputs.values())))
    weights = {a.name: np.zeros((n, len(a.domain))) for a in outputs}
    for values in product(*(range(len(a.domain)) for a in attributes.values())):
        world = dict(zip(attributes, values, strict=True))
        weight = np.ones(n)
        for name, degrees in inputs.items():
            weight = weight * degrees[:, world[name]]
        for unit in rule_sets:
            for rule in unit.rules:
                holds = all(mask >> world[name] & 1 for name, mask in rule.premise.masks.items())
                inside = rule.conclusion.mask >> world[unit.output.name] & 1
                weight = weight * max(rule.s if inside else rule.r, holds == bool(inside))
        for name, best in weights.items():
            best[:, world[name]] = np.maximum(best[:, world[name]], weight)
    return weights


@pytest.fixture
def fifth() -> Iterator[Semantics]:
    semantics = Semantics(
        "max-product",
        Semiring(adds=False, multiplies=True),
        weights=max_product,
        reads="possibilities",
        takes_uncertain=True,
        aliases=("mp",),
    )
    yield register_semantics(semantics)
    del SEMANTICS["max-product"]


def stay(rain: Any, sky: Any) -> list[float]:
    """Return the weights of `stay`, the best of six readings, each with `wet` or not."""
    best = {"out": 0.0, "home": 0.0}
    for (i, p), (j, q) in product(enumerate(rain), enumerate(sky)):
        for wet in (0, 1):
            known = p * q * ((0.2 if wet else 0.0) if wet != i else 1.0)
            held = wet == 1 or j == 2
            best["out"] = max(best["out"], known * (0.25 if held else 1.0))
            best["home"] = max(best["home"], known * (0.5 if j == 0 else 1.0))
    return list(best.values())


def expected() -> list[list[float]]:
    return [stay(*rows) for rows in zip(POSSIBLE["rain"], POSSIBLE["sky"], strict=True)]


def test_infer(fifth: Semantics) -> None:
    for semantics in ("max-product", "mp", fifth):
        inferred = RULES.infer(SEEN, transform="antipignistic", semantics=semantics)
        assert inferred.semantics == "max-product"
        np.testing.assert_allclose(inferred["stay"].weights, expected(), rtol=1e-15)
    weights = RULES.infer(POSSIBLE, ["stay", "sky"], semantics="mp")
    np.testing.assert_allclose(weights["stay"].weights, expected(), rtol=1e-15)
    assert weights["stay"].weight({"out", "home"}).tolist() == np.max(expected(), axis=1).tolist()
    sample = RULES.infer({"rain": "yes", "sky": None}, semantics="mp")["stay"]
    assert isinstance(sample, WorldWeights)
    assert sample.to_dict() == {"out": 0.25, "home": 1.0}
    assert sample.probabilities.tolist() == antipignistic_inverse(np.array([0.25, 1.0])).tolist()


def test_one_rule_set(fifth: Semantics) -> None:
    inferred = RULES["wet"].infer({"rain": [1.0, 0.5]}, semantics=fifth)
    assert inferred.to_dict() == {"no": 1.0, "yes": 0.5}


def test_the_comparison(fifth: Semantics) -> None:
    answers = {"stay": ["out", "home"]}
    table = compare_semantics(RULES, SEEN, answers)
    assert [row.semantics for row in table.rows] == [*SEMANTICS]
    assert "has r = 0.25" in table["goedel"].refused
    row = table[fifth]
    degrees = np.array(expected())
    q = antipignistic_inverse(degrees / degrees.max(axis=1, keepdims=True))
    assert row.log_loss == pytest.approx(-np.log([q[0, 0], q[1, 1]]).mean())
    assert row.accuracy == np.all(q.argmax(axis=1) == [0, 1])


def test_the_command_line(fifth: Semantics, tmp_path: Path) -> None:
    save(RULES, tmp_path / "stay.rules")
    rows = [{name: p[i].tolist() for name, p in SEEN.items()} for i in range(2)]
    lines = [json.dumps(row | {"stay": "out"}) for row in rows]
    (tmp_path / "days.jsonl").write_text("\n".join(lines))
    files = [str(tmp_path / "stay.rules"), str(tmp_path / "days.jsonl")]
    options = ["--semantics", fifth.name]
    infer = ["infer", *files, *options, "--transform", "antipignistic", "--format", "jsonl"]
    done = CliRunner().invoke(app, infer)
    assert done.exit_code == 0, done.output
    inferred = [json.loads(line)["stay"]["weights"] for line in done.stdout.splitlines()]
    np.testing.assert_allclose([list(each.values()) for each in inferred], expected())
    done = CliRunner().invoke(app, ["evaluate", *files, "--semantics", "all"])
    assert done.exit_code == 0, done.output
    assert "max-product  " in done.stdout
    done = CliRunner().invoke(app, [*infer, "--level", "0.9"])
    assert (done.exit_code, "--level" in done.output) == (2, True)
    done = CliRunner().invoke(app, ["infer", *files, "--semantics", "max-prodct"])
    assert (done.exit_code > 0, "max-product" in done.output) == (True, True)


def test_a_layer_that_is_missing_is_named(fifth: Semantics) -> None:
    pytest.importorskip("torch")
    from pinesy.nets import RuleLayer

    with raises_saying(DomainError, "'max-product'", "no layer", "layer=..."):
        RuleLayer(RULES, semantics=fifth.name)


def test_a_layer_that_it_brings() -> None:
    torch = pytest.importorskip("torch")
    from pinesy.nets import PossibilisticLayer, RuleLayer, belief_loss

    module: Any = torch.nn.Module

    class Halved(module):  # type: ignore[misc]
        def __init__(self, rules: Any, outputs: Any, transform: Any) -> None:
            super().__init__()
            self.layer = PossibilisticLayer(rules, outputs, transform=transform)
            self.inputs, self.outputs = self.layer.inputs, self.layer.outputs

        def forward(self, seen: Any) -> Any:
            return {name: x / 2 for name, x in self.layer(seen).items()}

    halved = Semantics("halved", Semiring(False, False), weights=max_product, layer=Halved)
    register_semantics(halved)
    try:
        layer = RuleLayer(RULES, semantics="halved")
        seen = {name: torch.tensor(p) for name, p in SEEN.items()}
        whole = RULES.infer(SEEN, transform="antipignistic")["stay"].degrees
        assert np.array_equal(layer(seen)["stay"].numpy(), whole / 2)
        assert layer.possibilistic is None
        with raises_saying(DomainError, "halved", "answer_loss"):
            belief_loss(layer, seen, {"stay": ["out", "home"]})
    finally:
        del SEMANTICS["halved"]


def test_a_semiring_is_enough_for_certain_rules() -> None:
    """Max and min of possibilities over worlds: in a tree, the possibilistic semantics."""
    rules = parse("""
        attribute rain in {no, yes}
        attribute sky in {clear, cloudy, dark}
        attribute wet in {no, yes}
        attribute stay in {out, home}
        iff rain in {yes} then wet in {yes}
        iff wet in {yes} and sky in {cloudy, dark} then stay in {home}
    """)
    max_min = Semantics("max-min", Semiring(False, False), reads="possibilities")
    register_semantics(max_min)
    try:
        degrees = rules.infer(POSSIBLE)["stay"].degrees
        assert np.array_equal(rules.infer(POSSIBLE, semantics="max-min")["stay"].weights, degrees)
        torch = pytest.importorskip("torch")
        from pinesy.nets import RuleLayer

        layer = RuleLayer(rules, semantics=max_min)
        inferred = layer({name: torch.tensor(p) for name, p in SEEN.items()})
        np.testing.assert_allclose(inferred["stay"].numpy(), degrees, rtol=1e-12)
        probabilities = layer.as_probabilities(inferred)["stay"]
        np.testing.assert_allclose(probabilities.numpy(), antipignistic_inverse(degrees))
    finally:
        del SEMANTICS["max-min"]


def test_options_and_evidence_that_it_does_not_take(fifth: Semantics) -> None:
    with raises_saying(CascadeError, "max-product", "dtype"):
        RULES.infer(POSSIBLE, semantics=fifth, dtype="float32")
    with raises_saying(DegreeError, "'rain', row 0", "not normalised"):
        RULES.infer(SEEN, semantics=fifth)
    with raises_saying(DegreeError, "'rain', row 0", "sum to"):
        RULES.infer(POSSIBLE, semantics=fifth, transform="antipignistic")


@pytest.mark.parametrize(
    ("returned", "part"),
    [({}, "shape (0,)"), ({"wet": np.ones((1, 3))}, "shape (1, 3)"), ({"wet": [[1, -1]]}, "-1")],
)
def test_what_a_function_may_return(returned: Any, part: str) -> None:
    wrong = Semantics("wrong", Semiring(True, True), weights=lambda *_: returned)
    register_semantics(wrong)
    try:
        certain = parse("attribute a in {0, 1} attribute wet in {0, 1} iff a == 1 then wet == 1")
        with raises_saying(DegreeError, "'wrong'", part, "'wet'", "(1, 2)"):
            certain.infer({"a": 1}, semantics="wrong")
        with raises_saying(RuleSetError, "s = 0.2", "possibilistic"):
            RULES.infer(SEEN, semantics="wrong")
        with raises_saying(CascadeError, "wrong", "transform"):
            RULES.infer(SEEN, semantics="wrong", transform="antipignistic")
    finally:
        del SEMANTICS["wrong"]


def test_wrong_semantics() -> None:
    semiring = Semiring(adds=False, multiplies=True)
    with raises_saying(DomainError, "'probabilstic'", "probabilistic"):
        as_semantics("probabilstic")
    with raises_saying(DomainError, "'mpe'", "already"):
        register_semantics(Semantics("mpe", semiring))
    with raises_saying(DomainError, "''", "give a text"):
        Semantics("", semiring)
    with raises_saying(DomainError, "'degrees'", "'possibilities'"):
        Semantics("new", semiring, reads="degrees")  # type: ignore[arg-type]
    with raises_saying(DomainError, "'new'", "give weights"):
        Semantics("new", semiring, takes_uncertain=True)
    with raises_saying(DomainError, "'new'", "register_semantics"):
        RULES.infer(SEEN, semantics=Semantics("new", semiring))
    assert as_semantics("mpe") is SEMANTICS["most probable explanation"]
