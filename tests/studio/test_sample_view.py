"""What the Sample view is told: the same as Python tells, and a clear word where it cannot be."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from browser import SAILING
from pinesy import NeuroSymbolic, parse
from pinesy.problems import addition
from pinesy.studio import Session
from pinesy.studio.sample_view import as_digit
from pinesy.studio.session import Work
from studio.conftest import client_of
from studio.ink_by_columns import by_columns


def ask(client: TestClient, endpoint: str, **content: Any) -> Any:
    """Return what an endpoint answers."""
    answer = client.post(f"/api/sample/{endpoint}", json=content)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(client: TestClient, endpoint: str, **content: Any) -> str:
    """Return why an endpoint refuses to answer."""
    answer = client.post(f"/api/sample/{endpoint}", json=content)
    assert answer.status_code == 422, answer.text
    return str(answer.json()["error"])


SHOWN = ["sky", "wind", "street", "sailing"]
tenths = st.integers(0, 10).map(lambda n: n / 10)
skies: st.SearchStrategy[tuple[Any, Any]] = st.one_of(
    st.just(({}, None)),
    st.integers(0, 2).map(lambda i: ({"value": i}, ["clear", "cloudy", "dark"][i])),
    st.tuples(tenths, tenths).map(lambda d: ({"degrees": [d[0], 1.0, d[1]]}, [d[0], 1.0, d[1]])),
)
winds: st.SearchStrategy[tuple[Any, Any]] = st.one_of(
    st.just(({}, None)),
    st.floats(-50, 50).map(lambda x: ({"number": x}, x)),
    st.integers(0, 2).map(lambda i: ({"value": i}, ["<10", "[10, 30)", ">=30"][i])),
)
SESSION = Session(Work(parse(SAILING), SAILING))
CLIENT = client_of(SESSION)


@given(skies, winds)
def test_degrees_are_those_of_python(sky: tuple[Any, Any], wind: tuple[Any, Any]) -> None:
    sample = {"row": None, "inputs": {"sky": sky[0], "wind": wind[0]}}
    told = ask(CLIENT, "infer", sample=sample, shown=SHOWN)
    found = SESSION.work.rules.infer({"sky": sky[1], "wind": wind[1]}, SHOWN)
    for name in SHOWN:
        assert told["degrees"][name] == found[name].degrees.tolist()
        assert 1 - told["heights"][name] == found[name].contradiction


def test_a_row_is_a_sample_and_inputs_that_are_set_replace_its_own(
    client: TestClient, session: Session
) -> None:
    told = ask(client, "infer", sample={"row": 1}, shown=["sailing"])
    evidence = {"sky": {"clear": 1.0, "cloudy": 0.5}, "wind": 31.5}
    assert (
        told["degrees"]["sailing"] == session.work.rules.infer(evidence)["sailing"].degrees.tolist()
    )
    sample = {"row": 1, "inputs": {"wind": {"number": 5}}}
    told = ask(client, "infer", sample=sample, shown=["sailing"])
    other = session.work.rules.infer(evidence | {"wind": 5})["sailing"]
    assert told["degrees"]["sailing"] == other.degrees.tolist()


def test_rows_are_given_in_pages(client: TestClient) -> None:
    told = ask(client, "rows", start=1, count=10)
    assert (told["total"], told["finished"], told["columns"]) == (3, True, ["sky", "wind"])
    assert [row["cells"] for row in told["rows"]] == [
        ["clear 1, cloudy 0.5", "31.5"],
        ["clear", "?"],
    ]
    assert [row["targets"] for row in told["rows"]] == [{"street": "dry"}] * 2
    assert ask(client, "row", row=1)["inputs"] == {
        "sky": {"degrees": [1.0, 0.5, 0.0]},
        "wind": {"number": 31.5},
    }
    assert "there is no row 8; the data has 3" in refused(client, "row", row=7)


def test_a_million_rows_are_read_in_the_background_and_paged(rules: Path, tmp_path: Path) -> None:
    """Fewer of them here: the way is the same."""
    data = tmp_path / "many.csv"
    data.write_text("sky,wind\n" + "dark,12\nclear,40\n" * 15_000)
    session = Session.open(rules, data)
    client = client_of(session)
    while not (first := ask(client, "rows", start=0, count=2))["rows"]:
        session.rows.wait(0.05)
    assert [row["cells"] for row in first["rows"]] == [["dark", "12"], ["clear", "40"]]
    session.rows.wait()
    last = ask(client, "rows", start=29_998, count=500)
    assert (last["total"], [row["line"] for row in last["rows"]]) == (30_000, [30_000, 30_001])


@pytest.mark.parametrize(
    ("sample", "why"),
    [
        ({"inputs": {"sky": {"value": 3}}}, "sky: {'value': 3} is not in its domain"),
        ({"inputs": {"sky": {"number": 3}}}, "sky: {'number': 3} is not in its domain"),
        ({"inputs": {"sky": {"value": True}}}, "is not in its domain"),
        ({"inputs": {"sky": {"degrees": [0.5, 0.5, 0]}}}, "'sky'"),
        ({"inputs": {"sky": {"degrees": [1, 2, 0]}}}, "'sky'"),
        ({"inputs": {"sky": {"degrees": [1]}}}, "'sky'"),
        ({"inputs": {"sky": "dark"}}, "'dark' is not in its domain"),
        ({"inputs": {"moon": {}}}, "there is no input 'moon': the rules have changed"),
        ({"inputs": {"sky": {"image": [[0]]}}}, "these rules have no network that reads images"),
        ({"inputs": []}, "there is no row"),
        ({"row": -1}, "there is no row"),
        ({"row": "1"}, "a row is a number from 0 on; got '1'"),
        ({"inputs": [1]}, "the inputs of a sample are an object"),
        (None, "a sample is an object with row and inputs"),
    ],
    ids=str,
)
def test_samples_that_make_no_sense_are_refused(client: TestClient, sample: Any, why: str) -> None:
    if sample == {"inputs": []}:  # an empty list is as good as nothing
        assert ask(client, "infer", sample=sample, shown=[])["degrees"] == {}
        return
    assert why in refused(client, "infer", sample=sample, shown=SHOWN)


def test_the_path_that_decides_leads_from_inputs_to_the_output(client: TestClient) -> None:
    told = ask(client, "path", sample={"row": 0})
    assert {"sky", "street", "sailing"} <= set(told["attributes"])
    assert ["sky", "street"] in told["links"]
    assert told["clashes"] == []


def test_contradictions_are_told() -> None:
    text = "attribute a in {0, 1} attribute b in {0, 1} if a in {1} then b in {1} "
    text += "if a in {1} then b in {0}"
    client = client_of(Session(Work(parse(text), text)))
    sample = {"inputs": {"a": {"degrees": [0.25, 1.0]}}}
    told = ask(client, "infer", sample=sample, shown=["a", "b"])
    assert told["heights"] == {"a": 1.0, "b": 0.25}
    assert told["outcomes"] == {"a": "decided", "b": "contradiction"}
    assert told["verdicts"] == {"a": "1, certain at 0.75", "b": "contradiction: rules 1 and 2"}
    told = ask(client, "infer", sample={"inputs": {}}, shown=["a", "b"])
    assert told["verdicts"] == {"a": "not given", "b": "undecided: no rule decides"}
    assert ask(client, "path", sample=sample)["clashes"] == ["b"]


# --- digits -----------------------------------------------------------------------------------


def test_images_are_read_by_the_perception_of_the_model() -> None:
    rules = addition(1)
    model = NeuroSymbolic(by_columns, rules)
    client = client_of(Session(Work(rules, str(rules), model)))
    assert ask(client, "form")["pictured"] == ["a_1", "a_2"]
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (2, 28, 28)).astype(np.uint8)
    sample = {"inputs": {f"a_{i + 1}": {"image": image.tolist()} for i, image in enumerate(images)}}
    told = ask(client, "infer", sample=sample, shown=["y_0", "y_1", "a_1"])
    found = model.predict_possibility(images[None], ["y_0", "y_1", "a_1"])
    assert told["degrees"] == {name: found[name].degrees[0].tolist() for name in found}
    alone = ask(client, "infer", sample={"inputs": {"a_1": sample["inputs"]["a_1"]}}, shown=["a_2"])
    assert alone["degrees"]["a_2"] == [1.0] * 10


@pytest.mark.parametrize(
    "image",
    [None, "x", [], [[]], [1, 2], [[300]], [[-1]], [[1], [1, 2]], [["a"]], [[None]]],
    ids=str,
)
def test_what_is_no_image_is_refused(client: TestClient, image: Any) -> None:
    assert refused(client, "digit", image=image)


def test_nothing_drawn_is_said(client: TestClient) -> None:
    assert "there is nothing on this picture" in refused(client, "digit", image=[[0] * 9] * 9)


@given(st.integers(0, 3), st.integers(3, 40), st.integers(3, 40), st.booleans())
def test_digits_are_scaled_and_centred_by_mass(
    seed: int, height: int, width: int, dark: bool
) -> None:
    drawing = np.zeros((60, 60), np.uint8)
    rng = np.random.default_rng(seed)
    drawing[5 : 5 + height, 9 : 9 + width] = rng.integers(100, 256, (height, width))
    seen = as_digit(255 - drawing if dark else drawing)
    assert seen.shape == (28, 28)
    rows, columns = np.flatnonzero(seen.any(axis=1)), np.flatnonzero(seen.any(axis=0))
    assert max(rows[-1] - rows[0], columns[-1] - columns[0]) + 1 == 20
    mass = seen / seen.sum()
    centre = (mass.sum(axis=1) @ (np.arange(28) + 0.5), mass.sum(axis=0) @ (np.arange(28) + 0.5))
    assert np.abs(np.array(centre) - 14).max() <= 0.5 + 1e-9


def test_rows_are_named_as_everywhere(labelled: Session) -> None:
    """By the number of the row, from which the page counts from 1, and by id."""
    (row,) = ask(client_of(labelled), "rows", start=3, count=1)["rows"]
    assert (row["row"], row["ids"]) == (3, {"id": "d3"})
