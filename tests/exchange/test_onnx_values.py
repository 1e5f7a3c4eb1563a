"""onnxruntime infers the same bits from raw columns: numbers with cuts and blur, indices, NaN."""

from pathlib import Path

import numpy as np
import pytest

from emitters.raw_samples import EXAMPLES, raw_inputs
from exchange.onnx_runs import run, same_bits
from induction.random_cards import random_card
from pinesy import Attribute, Cascade, DomainError, If, RuleSet, parse, to_onnx
from pinesy.induction import CardCascade

pytest.importorskip("onnx")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples(path: Path) -> None:
    cascade = parse(path.read_text())
    numbers, evidence = raw_inputs(cascade, 40)
    found = run(to_onnx(cascade, inputs_as="values"), numbers)
    for name, pi in cascade.infer(evidence).items():
        assert same_bits(found[name], pi.degrees)


@pytest.mark.parametrize("blur", [0.1, 1 / 3, 1e-300, 1e300])
def test_cuts_and_blur(blur: float) -> None:
    x, b = Attribute.number("x", [0.1, "<=0.7", 3], blur=blur), Attribute("b", range(4))
    pairs = enumerate(x.domain)
    cascade = Cascade(RuleSet([If(x.isin({v})).then(b.isin({i}), 0.1, 1 / 3) for i, v in pairs]))
    numbers, evidence = raw_inputs(cascade, 60)
    found = run(to_onnx(cascade, inputs_as="values"), numbers)
    assert same_bits(found["b"], cascade.infer(evidence)["b"].degrees)


def test_cards_and_refused_indices() -> None:
    cascade = CardCascade(random_card(3, 3))
    numbers, evidence = raw_inputs(cascade, 40)
    model = to_onnx(cascade, inputs_as="values")
    found, scores = run(model, numbers), cascade.score(evidence)
    assert found["class"].tolist() == scores.best.tolist()
    assert same_bits(found["probability"], scores.probability)
    numbers["city"] = np.full(40, 7.0)
    assert set(run(model, numbers)["class"].tolist()) == {-1}


def test_bad_forms() -> None:
    cascade = CardCascade(random_card(3, 3))
    for options in ({"inputs_as": "raw"}, {"inputs_as": "values", "transform": "antipignistic"}):
        with pytest.raises(DomainError, match="inputs_as"):
            to_onnx(cascade, **options)  # type: ignore[arg-type]
