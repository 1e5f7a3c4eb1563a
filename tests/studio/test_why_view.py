"""The Why view: the same answers as the library's, and refusals in words."""

import json
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from pinesy import calibrate, explain, margin, parse, why_not
from pinesy.explanations import is_coherent
from pinesy.studio import Session
from pinesy.studio.question import LIMIT
from pinesy.studio.session import Work
from studio.conftest import ask, client_of

SAMPLE = {"row": 1, "inputs": {}}


def test_the_tree_is_the_librarys(client: TestClient, session: Session) -> None:
    found = ask(client, "why/explain", sample=SAMPLE, attribute="sailing")
    evidence = session.rows.sample(1)
    assert found["explanation"] == explain(session.work.rules, evidence, "sailing").to_dict(
        limit=LIMIT
    )
    assert found["values"] == ["no", "yes"]
    assert found["margin"]["exact"] is is_coherent(session.work.rules, "sailing")
    assert found["margin"]["all"] == margin(session.work.rules, evidence, "sailing")
    assert found["marginText"].startswith("Margin: ")
    assert found["levels"] is None


def test_another_value_and_an_attribute_in_between(client: TestClient) -> None:
    found = ask(client, "why/explain", sample=SAMPLE, attribute="street", place=1)
    assert found["explanation"]["proposition"]["text"] == "street is wet", found


def test_what_can_be_asked_about(client: TestClient) -> None:
    found = ask(client, "why/conclusions")
    assert found["final"] == ["sailing"]
    assert "street" in found["others"]


def test_why_not_is_the_librarys(client: TestClient, session: Session) -> None:
    status = ask(client, "why/ask_why_not", sample=SAMPLE, attribute="sailing", place=1)
    expected = why_not(session.work.rules, session.rows.sample(1), "yes", "sailing")
    assert status["result"]["answer"] == str(expected)
    assert status["result"]["title"] == "yes"
    text = ask(
        client, "why/copy", sample=SAMPLE, attribute="sailing", form="text", job=status["job"]
    )
    assert str(expected) in text["content"]


def test_a_value_that_was_chosen_is_changed_for_a_value(client: TestClient) -> None:
    sample = {"row": None, "inputs": {"sky": {"value": 2}, "wind": {"number": 5}}}
    status = ask(client, "why/ask_why_not", sample=sample, attribute="street", place=0)
    assert "if sky were clear or cloudy (now dark)" in status["result"]["answer"]


def test_an_input_that_is_kept_is_not_changed(client: TestClient) -> None:
    sample = {"row": None, "inputs": {"sky": {"value": 2}, "wind": {"number": 40}}}
    about = {"sample": sample, "attribute": "sailing", "place": 1}
    free = ask(client, "why/ask_why_not", **about, keep=[])["result"]
    assert set(free["change"]["readings"]) == {"sky", "wind"}
    kept = ask(client, "why/ask_why_not", **about, keep=["sky"])["result"]
    assert kept["change"] is None
    assert "of wind make sailing = yes the only winner" in kept["obstacle"]


def test_without_time_what_holds_a_value_down_is_told_all_the_same(client: TestClient) -> None:
    status = ask(
        client, "why/ask_why_not", sample=SAMPLE, attribute="sailing", place=1, seconds=0.0
    )
    assert "was stopped before it found one" in status["result"]["answer"]


@pytest.mark.parametrize(("form", "begins"), [("text", "It is"), ("json", "{"), ("svg", "<svg")])
def test_copies(client: TestClient, form: str, begins: str) -> None:
    found = ask(client, "why/copy", sample=SAMPLE, attribute="sailing", form=form)
    assert found["content"].startswith(begins)
    if form == "json":
        assert json.loads(found["content"])["explanation"]["attribute"] == "sailing"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("explain", {"attribute": "sky"}, "the rules conclude on no attribute 'sky'"),
        ("explain", {"attribute": ["x"]}, "the rules conclude on no attribute"),
        ("explain", {"attribute": "sailing", "place": 2}, "sailing has 2 values; got place 2"),
        ("explain", {"attribute": "sailing", "place": "no"}, "must be an integer"),
        ("explain", {"attribute": "sailing", "eta": "a"}, "eta is 'a'"),
        ("explain", {"attribute": "sailing", "eta": 0}, "the threshold eta is 0"),
        ("explain", {"attribute": "sailing", "limit": -1}, "limit is -1"),
        ("explain", {"sample": {"row": 99}}, "there is no row 100"),
        ("explain", {"sample": {"row": 0, "inputs": {"<b>": None}}}, "there is no input '<b>'"),
        ("ask_why_not", {"attribute": "sailing"}, "say which value"),
        ("ask_why_not", {"place": 1, "mode": "best"}, "there is no mode 'best'"),
        ("ask_why_not", {"place": 1, "keep": "sky"}, "keep is a list"),
        ("ask_why_not", {"place": 1, "seconds": 1e9}, "seconds is"),
        ("ask_why_not", {"place": 1, "instead": 77}, "there is no job 77"),
        ("copy", {"form": "pdf"}, "there is no form 'pdf'"),
    ],
)
def test_bad_questions(
    client: TestClient, name: str, content: dict[str, Any], message: str
) -> None:
    answer = client.post(f"/api/why/{name}", json={"sample": SAMPLE} | content)
    assert answer.status_code == 422
    assert message in answer.json()["error"]


def test_why_not_of_the_winner_fails_in_words(client: TestClient) -> None:
    status = ask(client, "why/ask_why_not", sample=SAMPLE, attribute="sailing", place=0)
    assert status["state"] == "failed"
    assert "wins already" in status["error"]


def calibrated_session(weights: Any = None) -> Session:
    rules = parse(
        "attribute sky in {dark, clear} attribute rain in {yes, no} "
        "iff sky in {dark} then rain in {yes}"
    )
    rng = np.random.default_rng(0)
    degrees = np.ones((200, 2))
    low = rng.integers(2, size=200)
    degrees[np.arange(200), low] = rng.random(200).round(2)
    truth = np.where(rng.random(200) < 0.9, 1 - low, low)
    sure = calibrate(
        rules, {"sky": degrees}, {"rain": np.array(["yes", "no"])[truth]}, weights=weights
    )
    return Session(Work(rules, str(rules), calibrated=sure))


def test_levels_of_calibrated_rules() -> None:
    session = calibrated_session()
    client = client_of(session)
    sample = {"row": None, "inputs": {"sky": {"degrees": [1.0, 0.05]}}}
    found = ask(client, "why/explain", sample=sample, attribute="rain", level=0.8)["levels"]
    assert session.work.calibrated is not None
    sets = session.work.calibrated.predict_set({"sky": [1.0, 0.05]}, 0.8)
    assert found["members"] == sets.members("rain").tolist()
    assert found["excludedAt"] == sets.excluded_at("rain").tolist()
    status = ask(client, "why/ask_why_not", sample=sample, attribute="rain", place=1, level=0.8)
    assert status["result"]["set"] is not None
    assert "is excluded" in status["result"]["answer"] or "in the set" in status["result"]["answer"]
    refused = client.post("/api/why/explain", json={"sample": sample, "level": 2})
    assert "the level is 2" in refused.json()["error"]


def test_levels_need_weights_that_the_studio_does_not_have() -> None:
    session = calibrated_session(np.full(200, 2.0))
    client = client_of(session)
    sample = {"row": None, "inputs": {"sky": {"degrees": [1.0, 0.05]}}}
    assert ask(client, "why/conclusions")["guarantee"] is None  # so the page asks for no level
    assert ask(client, "why/explain", sample=sample, attribute="rain")["levels"] is None
    asked = {"sample": sample, "attribute": "rain", "level": 0.8}
    refused = client.post("/api/why/explain", json=asked)
    assert refused.status_code == 422
    assert "calibrated with weights" in refused.json()["error"]
