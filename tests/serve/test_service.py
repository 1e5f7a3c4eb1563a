"""The endpoints of the service: answers, their schema, limits, tokens, hostile requests, reload."""

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from json_schema import problems
from pinesy import __version__, load, save
from pinesy.cli.app import app as commands
from pinesy.exceptions import DataError
from pinesy.guarantees import SelectiveRules
from pinesy.serve import ServedModel
from pinesy.serve.service import Service
from serve.conftest import LOAN, SAMPLE, Start, watched_service

CLASH = SAMPLE | {"history": "good", "income": 90000, "debt_ratio": 0.1, "age": 80}
TOKEN = "a-token-of-many-characters"


def post(client: TestClient, path: str, *samples: Any, **headers: str) -> Any:
    return client.post(path, json={"samples": list(samples)}, headers=headers)


def refused(response: Any, status: int, *texts: str) -> None:
    """Check that a request was refused with a problem that names some texts."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    assert list(response.json()) == ["error"]
    assert all(text in response.json()["error"] for text in texts), response.text


# --- answers --------------------------------------------------------------------------------------


def test_an_answer_says_what_why_and_by_which_model(client: TestClient, model: ServedModel) -> None:
    response = post(client, "/infer", SAMPLE | {"id": 7, "region": "north"})
    content = response.json()
    assert content["model"] == {
        "sha256": model.sha256,
        "file": "loan.rules",
        "pinesy": __version__,
    }
    assert content["request"] == response.headers["x-request-id"]
    [answer] = content["answers"]
    assert (answer["id"], answer["region"]) == (7, "north")
    decision = answer["outputs"]["decision"]
    assert (decision["outcome"], decision["best"], decision["certainty"]) == (
        "decided", "reject", 0.8,
    )  # fmt: skip
    assert decision["rules"] == [2, 7]
    assert decision["because"] == (
        "The debt ratio is 0.5 and the credit history is bad, so the risk is high (rule 2), "
        "and that means reject (rule 7)."
    )


def test_answers_are_those_of_infer_and_explain(
    client: TestClient, rules: Path, tmp_path: Path
) -> None:
    samples: list[Any] = [
        SAMPLE,
        SAMPLE | {"history": {"bad": 1, "good": 0.3}, "age": None},
        SAMPLE | {"history": [1, 0.5, 0], "income": 90000, "debt_ratio": 0.1},
        CLASH,
        dict.fromkeys(SAMPLE),
    ]
    data = tmp_path / "samples.jsonl"
    data.write_text("".join(json.dumps(sample) + "\n" for sample in samples))
    command = ["infer", str(rules), str(data), "--format", "jsonl"]
    lines = CliRunner().invoke(commands, command).stdout.splitlines()
    answers = post(client, "/infer", *samples).json()["answers"]
    explained = post(client, "/explain", *samples).json()["answers"]
    outcomes = set()
    for line, answer, explanation in zip(lines, answers, explained, strict=True):
        inferred = json.loads(line)["decision"]
        outcomes.add(inferred["outcome"])
        del inferred["verdict"]
        output = answer["outputs"]["decision"]
        assert {key: output[key] for key in inferred} == inferred
        assert output["because"] == explanation["outputs"]["decision"]["because"]
        assert output["answer"] == explanation["outputs"]["decision"]["answer"]
    assert outcomes == {"decided", "contradiction", "no_rule"}


def test_rules_that_clash_are_named(client: TestClient) -> None:
    output = post(client, "/infer", CLASH).json()["answers"][0]["outputs"]["decision"]
    assert (output["outcome"], output["best"], output["certainty"]) == ("contradiction", None, None)
    assert output["rules"] == [1, 6]


@pytest.mark.parametrize("path", ["/infer", "/explain"])
def test_the_schema_describes_requests_and_answers(client: TestClient, path: str) -> None:
    document = client.get("/schema").json()
    assert document["openapi"] == "3.1.0"
    schema = document["components"]["schemas"]["Sample"]["properties"]
    assert schema["income"]["title"] == "income"
    assert schema["income"]["x-unit"] == "a year"
    post_path = document["paths"][path]["post"]
    [request] = [c["schema"] for c in post_path["requestBody"]["content"].values()]
    [response] = [c["schema"] for c in post_path["responses"]["200"]["content"].values()]
    samples = [SAMPLE, SAMPLE | {"id": "x", "history": {"bad": 1.0}}, dict.fromkeys(SAMPLE)]
    assert problems({"samples": samples}, request, document) == []
    assert problems({"samples": [SAMPLE | {"job": "king"}]}, request, document)
    answer = post(client, path, *samples).json()
    assert problems(answer, response, document) == []
    del answer["answers"][0]["outputs"]["decision"]["because"]
    assert problems(answer, response, document)


def test_values_that_rules_do_not_have_are_noticed(client: TestClient) -> None:
    response = post(client, "/infer", SAMPLE | {"job": "king"})
    assert response.json()["notices"] == [
        "column 'job': 1 values that the rules do not have are taken as unknown ('king')"
    ]


def test_decisions_keep_a_promise(start: Start, sure_model: Path) -> None:
    model = ServedModel.load(sure_model, "antipignistic")
    client = start(model)
    sure, unsure = [0.999, 0.001, 0.0], [0.5, 0.3, 0.2]
    samples = [{"left": sure, "right": 1}, {"left": unsure, "right": 1}, {"left": 0, "right": 2}]
    content = post(client, "/decide", *samples).json()
    selective = load(sure_model)
    assert isinstance(selective, SelectiveRules)
    assert content["promise"] == selective.promise
    assert [a["outcome"] for a in content["answers"]] == ["decided", "handed_over", "decided"]
    assert [a["outputs"]["total"]["best"] for a in content["answers"]] == [1, None, 2]
    assert content["answers"][1]["outputs"]["total"]["best_values"] == [1]
    assert content["answers"][0]["outputs"]["total"]["rules"] == []  # of a function
    document = client.get("/schema").json()
    responses = document["paths"]["/decide"]["post"]["responses"]
    assert (
        problems(content, responses["200"]["content"]["application/json"]["schema"], document) == []
    )
    with pytest.raises(DataError, match="--transform antipignistic"):
        ServedModel.load(sure_model)


def test_without_a_threshold_the_cure_is_named(client: TestClient) -> None:
    refused(post(client, "/decide", SAMPLE), 422, "pinesy calibrate loan.rules DATA", "--error")
    assert "/decide" not in client.get("/schema").json()["paths"]


def test_induced_rules_answer_by_their_points(start: Start, tmp_path: Path) -> None:
    table = Path(__file__).parents[2] / "examples" / "loan.csv"
    path = tmp_path / "card.json"
    done = CliRunner().invoke(
        commands, ["induce", str(table), "--target", "decision", "-o", str(path)]
    )
    assert done.exit_code == 0, done.output
    client = start(ServedModel.load(path))
    inputs = client.get("/schema").json()["components"]["schemas"]["Sample"]["required"]
    output = post(client, "/infer", dict.fromkeys(inputs)).json()["answers"][0]["outputs"][
        "decision"
    ]
    assert "points" in output["because"]
    assert output["rules"] == []


# --- bad requests ---------------------------------------------------------------------------------

BAD_BODIES: list[tuple[bytes, int, str]] = [
    (b"", 400, "not JSON"),
    (b"debt=1", 400, "not JSON"),
    (b"\xff\xfe", 400, "not UTF-8"),
    (b"[]", 400, '{"samples": ['),
    (b'{"samples": []}', 400, "one object or more"),
    (b'{"samples": {}}', 400, "one object or more"),
    (b'{"samples": [1]}', 400, "sample 1 is no object"),
    (b'{"samples": [{}], "more": 1}', 400, "samples alone"),
    (b'{"samples": [{"age": NaN}]}', 400, "NaN"),
    (b'{"samples": [{"age": 1e999}]}', 400, "1e999"),
    (b'{"samples": [{"age": Infinity}]}', 400, "Infinity"),
    (b'{"samples": [{"age": 1, "age": 2}]}', 400, "'age' stands twice"),
    (b'{"samples": [{"age": ' + b"9" * 5000 + b"}]}", 400, "digits"),
    (b'{"samples": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", 400, "nests too deep"),
    (b'{"samples": [' + b"1," * 600_000 + b"1]}", 413, "1,000,000 bytes"),
    (b'{"samples": [{}' + b",{}" * 1000 + b"]}", 413, "1,001 samples"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "status", "text"), BAD_BODIES, ids=range(len(BAD_BODIES)))
def test_bodies_that_are_no_requests(
    client: TestClient, body: bytes, status: int, text: str
) -> None:
    refused(client.post("/infer", content=body), status, text)


BAD_SAMPLES: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    ({"debts": 1}, ("sample 2", "no input 'debts'")),
    ({"risk": None, "ages": 0}, ("sample 2", "no input 'ages'", "age")),
    ({"age": "forty"}, ("sample 2", "age", "'forty'")),
    ({"age": True}, ("sample 2", "age")),
    ({"history": {"good": 0.5}}, ("sample 2", "history")),
    ({"history": {"good": "all"}}, ("sample 2", "history", "not a number")),
    ({"history": [1, 0]}, ("sample 2", "history", "3 values")),
    ({"history": [[1, 0, 0]]}, ("sample 2", "history")),
    ({"history": [[[]]]}, ("sample 2", "history")),
    ({"history": {"fine": 1}}, ("sample 2", "history", "'fine'")),
    ({"history": {"good": 2}}, ("sample 2", "history")),
    ({"history": {}}, ("sample 2", "history")),
]


@pytest.mark.parametrize(("change", "texts"), BAD_SAMPLES, ids=range(len(BAD_SAMPLES)))
@pytest.mark.parametrize("path", ["/infer", "/explain"])
def test_samples_that_cannot_be_used(
    client: TestClient, path: str, change: dict[str, Any], texts: tuple[str, ...]
) -> None:
    body = json.dumps({"samples": [SAMPLE, SAMPLE | change]})
    refused(client.post(path, content=body), 422, *texts)


def test_missing_inputs_are_named(client: TestClient) -> None:
    refused(post(client, "/infer", {"age": 3}), 422, "income, debt_ratio, history, job", "null")


def test_other_paths_and_methods_are_refused(client: TestClient) -> None:
    refused(client.get("/infer"), 405, "POST /infer")
    refused(client.get("/nothing"), 404, "GET /schema")


def test_ids_of_requests_are_repeated_or_made(client: TestClient) -> None:
    assert post(client, "/infer", SAMPLE, **{"x-request-id": "r-1"}).json()["request"] == "r-1"
    made = post(client, "/infer", SAMPLE, **{"x-request-id": "a b\tc"}).json()["request"]
    assert made.isalnum()


def test_a_failure_of_the_service_is_no_traceback(
    client: TestClient, model: ServedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_samples: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(model.reader, "read", fail)
    refused(post(client, "/infer", SAMPLE), 500, "the service failed")


# --- who may ask ----------------------------------------------------------------------------------


def test_a_token_is_asked_for(start: Start, model: ServedModel) -> None:
    client = start(model, token=TOKEN, base_url="http://rules.example.org")
    for path in ("/infer", "/explain", "/decide"):
        for header in ("", "Bearer ", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", TOKEN):
            refused(post(client, path, SAMPLE, authorization=header), 401, "Authorization: Bearer")
    refused(client.get("/schema"), 401)
    assert post(client, "/infer", SAMPLE, authorization=f"Bearer {TOKEN}").status_code == 200
    assert client.get("/health").json() == {"status": "ok"}
    full = client.get("/health", headers={"authorization": f"bearer {TOKEN}"}).json()
    assert full["model"]["sha256"] == model.sha256


def test_without_a_token_only_this_machine_may_ask(start: Start, model: ServedModel) -> None:
    refused(post(start(model, base_url="http://rebound.example.org"), "/infer", SAMPLE), 403)
    here = start(model, base_url="http://localhost:9")
    assert post(here, "/infer", SAMPLE).status_code == 200
    refused(post(here, "/infer", SAMPLE, origin="https://example.org"), 403)
    refused(post(here, "/infer", SAMPLE, **{"sec-fetch-site": "cross-site"}), 403)


# --- limits ---------------------------------------------------------------------------------------


def test_too_many_requests_are_sent_away(start: Start, model: ServedModel) -> None:
    client = start(model, max_requests=1)
    service: Service = client.app.state.service  # type: ignore[attr-defined]
    is_working, goes_on = threading.Event(), threading.Event()
    explain = model.explain

    def slow(_model: Any, samples: Any) -> Any:
        is_working.set()
        assert goes_on.wait(20)
        return explain(samples)

    from pinesy.serve import service as module

    endpoint = module.Endpoint(slow, False)
    module.ENDPOINTS["explain"], before = endpoint, module.ENDPOINTS["explain"]
    try:
        with client:  # one loop for both requests
            first: list[Any] = []
            thread = threading.Thread(target=lambda: first.append(post(client, "/explain", SAMPLE)))
            thread.start()
            assert is_working.wait(20)
            busy = post(client, "/infer", SAMPLE)
            refused(busy, 503, "1 requests")
            assert busy.headers["retry-after"] == "1"
            assert client.get("/health").json()["active"] == 1  # is not counted, nor kept waiting
            goes_on.set()
            thread.join(20)
        assert first[0].status_code == 200
    finally:
        module.ENDPOINTS["explain"] = before
    assert service.counts == {"answered": 1, "busy": 1}


def test_an_answer_that_takes_too_long_is_given_up(start: Start, model: ServedModel) -> None:
    client = start(model, seconds=0.01, max_samples=1000)
    refused(post(client, "/infer", *[SAMPLE] * 1000), 503, "0.01 seconds", "fewer samples")


def test_a_body_that_takes_too_long_is_given_up(model: ServedModel) -> None:
    from pinesy.serve.service import Limits, application

    app, sent = application(Service(model, None, Limits(seconds=0.05))), list[Any]()

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(10)
        return {}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", b"127.0.0.1")]
    scope = {"type": "http", "method": "POST", "path": "/infer", "headers": headers}
    asyncio.run(app(scope | {"query_string": b"", "root_path": ""}, receive, send))
    assert sent[0]["status"] == 408


# --- reload ---------------------------------------------------------------------------------------


def test_a_changed_file_is_taken_if_it_is_checked(model: ServedModel, rules: Path) -> None:
    service = watched_service(model)
    assert not service.reload()
    rules.write_text(LOAN.replace("certainty=0.8", "certainty=0.7"))
    assert service.reload()
    assert service.model.sha256 != model.sha256
    assert service.health(True)["status"] == "ok"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("if income then", "loan.rules"),
        (LOAN.replace("history", "past"), "it has no input 'history'; it has the new input 'past'"),
        (LOAN.replace("{good, mixed, bad}", "{good, mixed, bad, none_yet}"), "other values"),
        (LOAN + "attribute fee in {a, b}\nif age < 21 then fee == a\n", "the new output 'fee'"),
        (None, "cannot be read"),
    ],
)
def test_a_file_that_fails_its_check_is_not_taken(
    model: ServedModel,
    rules: Path,
    caplog: pytest.LogCaptureFixture,
    text: str | None,
    problem: str,
) -> None:
    service = watched_service(model)
    if text is None:
        rules.unlink()
    else:
        rules.write_text(text)
    assert not service.reload()
    assert service.model is model
    health = service.health(True)
    assert health["status"] == "reload failed"
    assert problem in health["reload_problem"]
    assert problem in caplog.text
    rules.write_text(LOAN)
    assert not service.reload()  # the old model again
    assert service.health(True)["status"] == "ok"


def test_the_answer_of_a_check_counts(
    model: ServedModel, rules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_model: Any) -> None:
        raise DataError("no answer")

    service = watched_service(model)
    monkeypatch.setattr(ServedModel, "check", fail)
    rules.write_text(LOAN + "\n")
    assert not service.reload()
    assert service.health(True)["reload_problem"] == "no answer"


def test_models_of_all_kinds_are_served(tmp_path: Path, rules: Path) -> None:
    as_json = tmp_path / "loan.json"
    save(load(rules), as_json)
    assert ServedModel.load(as_json).rules == ServedModel.load(rules).rules
    relational = tmp_path / "family.rules"
    relational.write_text((Path(__file__).parents[2] / "examples" / "family.rules").read_text())
    with pytest.raises(DataError, match="pinesy ask"):
        ServedModel.load(relational)
    with pytest.raises(DataError, match="'age' is an attribute"):
        ServedModel.load(rules, ids=["age"])
