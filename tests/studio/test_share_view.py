"""The Share view: the page, its preview, code that runs, and files that can be read again."""

import csv
import io
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from pinesy import load, verdict
from pinesy.studio import Session
from pinesy.studio.guard import PREVIEW_POLICY, Access
from pinesy.studio.share_view import FILES
from pinesy.studio.web_application import HOST, application
from studio.conftest import ask, client_of

SAMPLE = {"row": 0, "inputs": {"wind": {"number": 31.5}}}


def saved(client: TestClient, kind: str, **content: Any) -> tuple[str, bytes]:
    """Return the name and the content of a file."""
    found = ask(client, "share/file", kind=kind, **content)
    return found["name"], b64decode(found["content"])


def test_the_verdict_is_the_librarys(client: TestClient, session: Session) -> None:
    found = ask(client, "share/overview", sample=SAMPLE)
    expected = verdict(session.work.rules, {"sky": "dark", "wind": 31.5}, "sailing")
    assert found["verdict"]["answer"] == expected.answer
    assert found["verdict"]["because"] == expected.because
    assert (found["name"], found["samples"]) == ("sail.html", 4)
    page = ask(client, "share/page", sample=SAMPLE)["page"]
    assert found["bytes"] == len(page.encode())


def test_the_code_answers_the_same(
    client: TestClient, rules: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    found = ask(client, "share/overview", sample=SAMPLE)
    monkeypatch.chdir(rules.parent)
    exec(found["code"]["Python"], {})
    assert capsys.readouterr().out.startswith(found["verdict"]["answer"])
    names: dict[str, Any] = {}
    *lines, last = found["code"]["Notebook"].split("\n")
    exec("\n".join(lines), names)
    assert eval(last, names).answer == found["verdict"]["answer"]


def test_files_can_be_read_again(client: TestClient, session: Session, tmp_path: Path) -> None:
    name, content = saved(client, "rules")
    assert (name, content.decode()) == ("sail.rules", session.work.text)
    name, content = saved(client, "model")
    path = tmp_path / f"copy-{name}"
    path.write_bytes(content)
    assert load(path) == session.work.rules
    _, content = saved(client, "picture", sample=SAMPLE)
    assert content.startswith(b"<svg")


def test_the_answers_are_a_table(data_client: TestClient, labelled: Session) -> None:
    name, content = saved(data_client, "answers")
    assert name == "rain-answers.csv"
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    expected = labelled.work.rules.infer(labelled.rows.batch().evidence)["street"]
    assert [row["street"] for row in rows] == expected.best.tolist()
    assert [float(row["certain"]) for row in rows] == expected.certainty.tolist()
    assert [row["id"] for row in rows] == [f"d{i}" for i in range(6)]


def test_cells_are_no_formulas(tmp_path: Path) -> None:
    rules, data = tmp_path / "a.rules", tmp_path / "a.csv"
    rules.write_text('attribute a in {0, 1} attribute b in {"=1+1", x} if a == 1 then b == "=1+1"')
    data.write_text("id,a\n@SUM(1),1\n")
    session = Session.open(rules, data)
    session.rows.wait()
    _, content = saved(client_of(session), "answers")
    assert content.decode().split("\r\n")[1] == "1,'@SUM(1),'=1+1,1.0,decided"


def test_a_report_and_a_graph_are_made(data_client: TestClient) -> None:
    pytest.importorskip("matplotlib")
    assert saved(data_client, "report")[1].startswith(b"<!doctype html>")
    pytest.importorskip("onnx")
    assert saved(data_client, "onnx")[0] == "rain.onnx"


def test_what_cannot_be_made_says_why(rules: Path) -> None:
    client = client_of(Session.open(rules))
    blank: dict[str, Any] = {"row": None, "inputs": {}}
    files = {f["kind"]: f for f in ask(client, "share/overview", sample=blank)["files"]}
    assert list(files) == list(FILES)
    assert files["answers"]["missing"] == "It takes rows: pinesy studio RULES DATA."
    assert ask(client, "share/file", kind="answers")["error"] == files["answers"]["missing"]
    assert "there is no file 'x'" in ask(client, "share/file", kind="x")["error"]
    assert "conclude on no attribute" in ask(client, "share/overview", attribute="x")["error"]


def test_a_preview_is_opened_once_without_the_token(client: TestClient, session: Session) -> None:
    address = ask(client, "share/preview", sample=SAMPLE)["address"]
    stranger = TestClient(application(session, Access()), base_url=f"http://{HOST}:8765")
    answer = stranger.get(address)
    assert answer.text == ask(client, "share/page", sample=SAMPLE)["page"]
    assert answer.headers["content-security-policy"] == PREVIEW_POLICY
    assert stranger.get(address).status_code == 404
    assert stranger.get("/preview/").status_code == 404
    assert stranger.get(address, headers={"sec-fetch-site": "cross-site"}).status_code == 403
