"""A third transformation is registered once, and works everywhere or is refused by name."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from messages import raises_saying
from pinesy import NeuroSymbolic, parse, save
from pinesy.cli.app import app
from pinesy.exceptions import DegreeError, DomainError
from pinesy.exchange import to_onnx
from pinesy.transforms import (
    TRANSFORMS,
    Transformation,
    antipignistic,
    as_transform,
    inverse,
    register_transform,
)

RULES = parse("""
    attribute rain in {no, yes}
    attribute sky in {clear, cloudy, dark}
    attribute wet in {no, yes}
    attribute walk in {no, yes}
    iff rain in {yes} then wet in {yes} [s=0.2]
    if wet in {yes} or sky in {dark} then walk in {no} [certainty=0.9]
""")
SEEN = {
    "rain": np.array([[0.75, 0.25], [0.5, 0.5]]),
    "sky": np.array([[0.5, 0.25, 0.25], [0.1, 0.1, 0.8]]),
}


def ratio_rows(p: Any) -> Any:
    """Return ``p_i / max p``."""
    return p / p.max(axis=1, keepdims=True)


def ratio_tensor(p: Any) -> Any:
    return p / p.amax(dim=-1, keepdim=True)


def ratio_graph(graph: Any, rows: str, _size: int) -> str:
    top = graph.node("ReduceMax", rows, graph.shape(1), keepdims=1)
    return str(graph.node("Div", rows, top))


@pytest.fixture
def ratio() -> Iterator[Transformation]:
    transformation = Transformation(
        "ratio",
        rows=ratio_rows,
        torch=ratio_tensor,
        onnx=ratio_graph,
        inverse=lambda pi: pi / pi.sum(axis=-1, keepdims=True),
    )
    yield register_transform(transformation)
    del TRANSFORMS["ratio"]


@pytest.fixture
def bare() -> Iterator[Transformation]:
    """A transformation of arrays, and nothing else."""
    yield register_transform(Transformation("bare_ratio", rows=ratio_rows))
    del TRANSFORMS["bare_ratio"]


def expected() -> dict[str, Any]:
    """Return the results from possibilities that are made by hand."""
    possible = {name: ratio_rows(p) for name, p in SEEN.items()}
    return {name: pi.degrees for name, pi in RULES.infer(possible).items()}


def test_infer(ratio: Transformation) -> None:
    for transform in ("ratio", ratio):
        inferred = RULES.infer(SEEN, transform=transform)
        for name, degrees in expected().items():
            assert np.array_equal(inferred[name].degrees, degrees)


def test_dicts_arrays_and_inverse(ratio: Transformation) -> None:
    assert ratio({"a": 0.8, "b": 0.2}) == {"a": 1.0, "b": 0.25}
    assert ratio(np.full((2, 3, 4), 0.25)).tolist() == np.ones((2, 3, 4)).tolist()
    assert np.array_equal(inverse("ratio")(np.array([1.0, 0.25])), [0.8, 0.2])
    with raises_saying(DegreeError, "row 1", "the probability of 0 is -0.5"):
        ratio(np.array([[0.5, 0.5], [-0.5, 1.5]]))


def test_a_model_with_a_perception(ratio: Transformation) -> None:
    class Reader:
        def predict_proba(self, x: Any) -> Any:
            return np.asarray(x)

    rules = parse(
        "attribute rain in {no, yes} attribute wet in {no, yes} "
        "iff rain in {yes} then wet in {yes} [s=0.2]"
    )
    model = NeuroSymbolic(Reader(), rules, transform=ratio.name)
    assert np.array_equal(model.evidence({"rain": SEEN["rain"]}), ratio_rows(SEEN["rain"]))


def test_the_layer(ratio: Transformation) -> None:
    torch = pytest.importorskip("torch")
    from pinesy.nets import PossibilisticLayer

    layer = PossibilisticLayer(RULES, transform=ratio.name)
    inferred = layer({name: torch.tensor(p) for name, p in SEEN.items()})
    for name, degrees in expected().items():
        assert np.array_equal(inferred[name].numpy(), degrees)


def test_onnx(ratio: Transformation) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    graph = to_onnx(RULES, transform=ratio.name).SerializeToString()
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    inferred = dict(zip(names, session.run(None, SEEN), strict=True))
    for name, degrees in expected().items():
        assert np.array_equal(inferred[name], degrees)


def test_the_command_line(ratio: Transformation, tmp_path: Path) -> None:
    save(RULES, tmp_path / "walk.rules")
    rows = [{name: p[i].tolist() for name, p in SEEN.items()} for i in range(2)]
    (tmp_path / "days.jsonl").write_text("\n".join(map(json.dumps, rows)))
    command = ["infer", str(tmp_path / "walk.rules"), str(tmp_path / "days.jsonl")]
    done = CliRunner().invoke(app, [*command, "--transform", ratio.name, "--format", "jsonl"])
    assert done.exit_code == 0, done.output
    inferred = [json.loads(line)["walk"]["possibility"] for line in done.stdout.splitlines()]
    assert [list(each.values()) for each in inferred] == expected()["walk"].tolist()
    refused = CliRunner().invoke(app, [*command, "--transform", "ration"])
    assert refused.exit_code == 2
    assert "ratio" in refused.output


def test_parts_that_are_missing_are_named(bare: Transformation) -> None:
    name = bare.name
    assert np.array_equal(RULES.infer(SEEN, transform=name)["walk"].degrees, expected()["walk"])
    with raises_saying(DomainError, "'bare_ratio'", "no onnx function", "onnx=..."):
        to_onnx(RULES, transform=name)
    with raises_saying(DegreeError, "bare_ratio has no inverse"):
        inverse(name)
    pytest.importorskip("torch")
    from pinesy.nets import PossibilisticLayer

    with raises_saying(DomainError, "'bare_ratio'", "no torch function", "torch=..."):
        PossibilisticLayer(RULES, transform=name)


def test_wrong_transformations() -> None:
    with raises_saying(DomainError, "'ratoi'", "antipignistic"):
        as_transform("ratoi")
    with raises_saying(DomainError, "already"):
        register_transform(Transformation("antipignistic", rows=ratio_rows))
    with raises_saying(DomainError, "'a b'", "letters"):
        Transformation("a b", rows=ratio_rows)
    with raises_saying(DomainError, "give rows"):
        Transformation("nothing")
    with raises_saying(DegreeError, "'half'", "no possibilities"):
        Transformation("half", rows=lambda p: p / 2)({"a": 0.5, "b": 0.5})
    with raises_saying(DegreeError, "'flat'", "shape"):
        Transformation("flat", rows=lambda p: p.max(axis=1))({"a": 0.5, "b": 0.5})
    assert as_transform(antipignistic).name == "antipignistic"
