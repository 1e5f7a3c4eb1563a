"""What the Ask view is told: the same as Python tells, and a clear word where it cannot be."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from browser import SAILING
from pinesy import (
    Attribute,
    NeuroSymbolic,
    antipignistic,
    calibrate,
    decide,
    function,
    joint,
    parse,
    save,
)
from pinesy.problems import addition
from pinesy.studio import Session
from pinesy.studio.digit_image import as_digit
from pinesy.studio.reason_chain import reason_chain
from pinesy.studio.session import Work, read_work
from pinesy.verdicts import verdict
from studio.conftest import client_of
from studio.ink_by_columns import by_columns


def ask(client: TestClient, endpoint: str, **content: Any) -> Any:
    """Return what an endpoint answers."""
    answer = client.post(f"/api/ask/{endpoint}", json=content)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(client: TestClient, endpoint: str, **content: Any) -> str:
    """Return why an endpoint refuses to answer."""
    answer = client.post(f"/api/ask/{endpoint}", json=content)
    assert answer.status_code == 422, answer.text
    return str(answer.json()["error"])


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
def test_answers_are_those_of_python(sky: tuple[Any, Any], wind: tuple[Any, Any]) -> None:
    sample = {"row": None, "inputs": {"sky": sky[0], "wind": wind[0]}}
    for name in ("sailing", "street"):
        told = ask(CLIENT, "answer", sample=sample, attribute=name)
        evidence = {"sky": sky[1], "wind": wind[1]} if name == "sailing" else {"sky": sky[1]}
        found = verdict(SESSION.work.rules, evidence, name)
        assert told["verdict"] == json.loads(found.to_json())
        assert told["text"] == found.text()
        assert told["degrees"] == found.distribution.degrees.tolist()
        assert told["deciding"] == list(found.deciding_inputs)
        assert told["chain"] == reason_chain(found)


def test_why_not_has_what_speaks_against_a_value(client: TestClient, session: Session) -> None:
    told = ask(client, "answer", sample={"row": 0}, place=1)
    found = verdict(session.work.rules, {"sky": "dark", "wind": 12.0}).why_not("yes")
    assert told["whyNot"]["because"] == found.because
    assert told["whyNot"]["change"] == found.what_would_change_it
    changed = {"row": 0, "inputs": told["whyNot"]["set"]}
    assert ask(client, "answer", sample=changed)["verdict"]["values"] == ["yes"]
    assert ask(client, "answer", sample={"row": 0}, place=0)["whyNot"] is None
    tree = ask(client, "explain", sample={"row": 0}, place=1)["explanation"]
    assert tree["proposition"]["text"] == "sailing is yes"


def test_the_chain_has_formulas_inside_their_rules(client: TestClient) -> None:
    chain = ask(client, "answer", sample={"row": 0})["chain"]
    assert [one["name"] for one in chain["given"]] == ["sky"]
    assert [step["name"] for step in chain["steps"]] == ["street", "sailing"]
    [rule] = [rule for rule in chain["steps"][1]["rules"] if rule["decides"]]
    assert rule["premise"] == "wind >= 30 or street in {wet}"
    assert rule["sources"] == ["street"]


def test_a_row_is_a_sample_and_inputs_that_are_set_replace_its_own(
    client: TestClient, session: Session
) -> None:
    told = ask(client, "answer", sample={"row": 1})
    evidence = {"sky": {"clear": 1.0, "cloudy": 0.5}, "wind": 31.5}
    assert told["degrees"] == session.work.rules.infer(evidence)["sailing"].degrees.tolist()
    told = ask(client, "answer", sample={"row": 1, "inputs": {"wind": {"number": 5}}})
    other = session.work.rules.infer(evidence | {"wind": 5})["sailing"]
    assert told["degrees"] == other.degrees.tolist()
    degrees = {"wind": {"degrees": [0.5, 1.0, 0.25]}}
    told = ask(client, "answer", sample={"row": 1, "inputs": degrees})
    wind = {"<10": 0.5, "[10, 30)": 1.0, ">=30": 0.25}
    other = session.work.rules.infer(evidence | {"wind": wind})["sailing"]
    assert told["degrees"] == other.degrees.tolist()


def test_rows_are_given_by_number_and_by_id(client: TestClient, labelled: Session) -> None:
    assert ask(client, "row", row=1)["inputs"] == {
        "sky": {"degrees": [1.0, 0.5, 0.0]},
        "wind": {"number": 31.5},
    }
    assert ask(client, "find", text="2")["row"] == 1
    assert "there is no row 8; the data has 3" in refused(client, "row", row=7)
    with_ids = client_of(labelled)
    assert ask(with_ids, "find", text="d3")["row"] == 3
    assert ask(with_ids, "find", text="d3")["ids"] == {"id": "d3"}
    assert "no row has the id 'd9'" in refused(with_ids, "find", text="d9")


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
        assert ask(client, "answer", sample=sample)["verdict"]["outcome"] == "no_rule"
        return
    assert why in refused(client, "answer", sample=sample)


def test_contradictions_are_told() -> None:
    text = "attribute a in {0, 1} attribute b in {0, 1} if a in {1} then b in {1} "
    text += "if a in {1} then b in {0}"
    client = client_of(Session(Work(parse(text), text)))
    told = ask(client, "answer", sample={"inputs": {"a": {"degrees": [0.25, 1.0]}}})
    assert told["verdict"]["answer"] == "contradiction: rules 1 and 2"
    assert told["clash"] == "b"
    told = ask(client, "answer", sample={"inputs": {}})
    assert told["verdict"]["answer"] == "undecided: no rule decides"


# --- digits -----------------------------------------------------------------------------------


def test_images_are_read_by_the_perception_of_the_model() -> None:
    rules = addition(1)
    model = NeuroSymbolic(by_columns, rules)
    client = client_of(Session(Work(rules, str(rules), model)))
    assert ask(client, "form")["pictured"] == ["a_1", "a_2"]
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (2, 28, 28)).astype(np.uint8)
    sample = {"inputs": {f"a_{i + 1}": {"image": image.tolist()} for i, image in enumerate(images)}}
    told = ask(client, "answer", sample=sample, attribute="y_1")
    found = model.predict_possibility(images[None], ["y_1", "a_1"])
    assert told["degrees"] == found["y_1"].degrees[0].tolist()
    assert told["readings"]["a_1"] == found["a_1"].degrees[0].tolist()
    alone = ask(client, "answer", sample={"inputs": {"a_1": sample["inputs"]["a_1"]}})
    assert list(alone["readings"]) == ["a_1"]


def test_a_sum_is_shown_with_its_digits() -> None:
    text = "attribute left in 0..9\nattribute right in 0..9\nfunction sum = left + right\n"
    client = client_of(Session(Work(parse(text), text)))
    sample = {"inputs": {"left": {"value": 7}, "right": {"value": 1}}}
    told = ask(client, "answer", sample=sample)
    assert (told["prefix"], told["verdict"]["answer"]) == ("7 + 1 =", "8, certain 1")
    assert ask(client, "answer", sample={"inputs": {}})["prefix"] == ""


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


def test_the_guaranteed_line_says_if_a_case_is_decided(tmp_path: Path) -> None:
    left, right = Attribute("left", range(4)), Attribute("right", range(4))
    rules = function("total", joint("pair", left, right), "left + right")
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(4, 0.05), (1000, 2))
    digits = (p.cumsum(axis=2) < rng.random((1000, 2, 1))).sum(axis=2)
    pi = antipignistic(p)
    evidence, totals = {"left": pi[:, 0], "right": pi[:, 1]}, digits.sum(axis=1)
    sure = calibrate(rules, evidence, {"total": totals})
    save(decide(sure, evidence, totals, error=0.05), tmp_path / "m.json")
    work = read_work(tmp_path / "m.json")
    assert work.selective is not None
    assert work.calibrated is not None
    client = client_of(Session(work))
    decided, unsure = [0.0, 0.0, 1.0, 0.0], [1.0, 0.99, 0.0, 0.0]
    for degrees, words in ((decided, "This case is decided: total is 4"), (unsure, "handed over")):
        inputs = {"left": {"degrees": degrees}, "right": {"degrees": decided}}
        sample = {"row": None, "inputs": inputs}
        answer = ask(client, "answer", sample=sample, attribute="total", level=0.9)
        assert words in answer["verdict"]["guarantee"]["text"]
