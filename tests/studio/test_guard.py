"""Who may talk to a studio, and what its answers allow a page to do."""

import inspect
import json
import re
from typing import Any

import pytest
from starlette.testclient import TestClient

from pinesy.studio import Session, question, session, web_application
from pinesy.studio.guard import TOKEN_HEADER, Access
from pinesy.studio.web_application import ENDPOINTS, application

HERE = "http://127.0.0.1:8765"


@pytest.fixture
def offered() -> list[str]:
    """Return the codes that the terminal shows."""
    return []


@pytest.fixture
def access(offered: list[str]) -> Access:
    """Return the access to a studio that has just been started."""
    started = Access(offered.append)
    started.offer_code()
    return started


@pytest.fixture
def stranger(session: Session, access: Access) -> TestClient:
    """Return a client without the token."""
    return TestClient(application(session, access), base_url=HERE)


def enter(client: TestClient, code: Any, token: str = "") -> int:
    """Return how the studio answers a page that was opened with a code."""
    content, headers = json.dumps({"code": code}), {TOKEN_HEADER: token}
    return client.post("/api/enter", content=content, headers=headers).status_code


@pytest.mark.parametrize("path", ["/api/shell/state", "/api/nothing", "/api/enter/", "/nothing"])
def test_nobody_gets_in_without_the_token(
    stranger: TestClient, access: Access, offered: list[str], path: str
) -> None:
    for token in ("", "wrong", access.token[:-1], offered[0]):
        refused = stranger.post(path, headers={TOKEN_HEADER: token})
        assert refused.status_code == 403
        assert "open the last address that pinesy studio shows" in refused.json()["error"]
    assert stranger.post(f"/api/shell/state?token={access.token}").status_code == 403


def test_a_code_is_exchanged_for_the_token_once(
    stranger: TestClient, access: Access, offered: list[str]
) -> None:
    page = stranger.get(f"/?code={offered[0]}")  # the page itself asks: a preview spends nothing
    assert page.status_code == 200
    assert access.token not in page.text
    answer = stranger.post("/api/enter", json={"code": offered[0]})
    assert answer.json() == {"token": access.token}
    for response in (page, answer):
        assert "set-cookie" not in response.headers
    headers = {TOKEN_HEADER: access.token}
    assert stranger.post("/api/shell/state", headers=headers).status_code == 200
    assert enter(stranger, offered[0]) == 403


def test_a_browser_that_has_the_token_needs_no_code(
    stranger: TestClient, access: Access, offered: list[str]
) -> None:
    assert enter(stranger, None, access.token) == 200
    assert enter(stranger, "spent", access.token) == 200
    assert enter(stranger, offered[0], "of a studio that has ended") == 200
    assert len(offered) == 1


def test_the_terminal_shows_a_new_code_when_the_last_one_was_used(
    stranger: TestClient, offered: list[str]
) -> None:
    assert enter(stranger, None) == 403
    assert len(offered) == 1  # that one is still valid: nobody fills a terminal from outside
    assert enter(stranger, offered[0]) == 200
    assert enter(stranger, offered[0]) == 403
    assert enter(stranger, None) == 403
    assert len(set(offered)) == len(offered) == 2
    assert enter(stranger, offered[1]) == 200


@pytest.mark.parametrize("code", [None, "", 0, True, [], {}, "\ud800", "ü"], ids=repr)
def test_what_is_no_code_is_refused(stranger: TestClient, code: Any) -> None:
    assert enter(stranger, code) == 403


def test_a_request_without_access_is_small(stranger: TestClient) -> None:
    assert enter(stranger, "x" * 2000) == 413
    assert stranger.post("/api/enter", content=b"[").status_code == 400


def test_the_page_can_be_opened_from_anywhere_but_nothing_else(
    stranger: TestClient, offered: list[str]
) -> None:
    """As by a click on its address, or by the file that a browser is started with."""
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert stranger.get(f"/?code={offered[0]}", headers=headers).status_code == 200
    assert stranger.get("/static/shell.js", headers=headers).status_code == 403
    code = {"code": offered[0]}
    assert stranger.post("/api/enter", json=code, headers=headers).status_code == 403
    headers = {"origin": "http://127.0.0.1:3000"}
    assert stranger.post("/api/enter", json=code, headers=headers).status_code == 403
    assert stranger.get("/", headers=headers).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example:8765"},
        {"host": "127.0.0.1.evil.example"},
        {"host": ""},
        {"host": "[::1"},
        {"host": "[127.0.0.1]"},
        {"host": "127.0.0.1:x"},
        {"host": "127.0.0.1:999999"},
        {"host": "evil@127.0.0.1"},
        {"host": "127.0.0.1/"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:3000"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
    ids=str,
)
def test_foreign_hosts_and_origins_are_refused(client: TestClient, headers: dict[str, str]) -> None:
    assert client.post("/api/shell/state").status_code == 200
    assert client.post("/api/shell/state", headers=headers).status_code == 403


def test_answers_forbid_scripts_that_are_not_files_of_the_studio(client: TestClient) -> None:
    policy = client.get("/").headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self'; style-src 'self';" in policy
    assert "unsafe" not in policy
    assert "require-trusted-types-for 'script'" in policy
    for path in ("/", "/static/shell.js", "/nowhere"):
        assert client.get(path).headers["content-security-policy"] == policy


@pytest.mark.parametrize("path", ["/static/../session.py", "/static/%2e%2e/session.py", "/static/"])
def test_only_static_files_are_served(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


def test_requests_that_make_no_sense_are_refused(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert client.post("/api/shell/nothing").status_code == 404
    assert client.get("/api/shell/state").status_code == 405
    for body in (b"{", b"[1]", b"\xff", b'{"a":' * 100_000):
        refused = client.post("/api/shell/state", content=body)
        assert refused.status_code == 400, body[:9]
        assert "not a JSON object" in refused.json()["error"]
    monkeypatch.setattr(web_application, "MOST_BYTES", 10)
    assert client.post("/api/shell/state", content=b'{"a": "0123456789"}').status_code == 413


#: Contents that a page never sends, as JSON.
HOSTILE = {
    "not a number": "NaN",
    "infinite": "1e999",
    "400 digits": "1" + "0" * 400,
    "a pixel of 400 digits": "[[1" + "0" * 400 + "]]",
    "half a character": r'"\ud800"',
    "null": "null",
    "true": "true",
    "an image of 400 digits": '{"inputs":{"sky":{"image":[[1' + "0" * 400 + "]]}}}",
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_no_content_makes_the_studio_fail(data_client: TestClient, content: str) -> None:
    """Every endpoint, with each thing that its module looks for, on a sample and an output."""
    common = "".join(map(inspect.getsource, (question, session)))
    for view, functions in ENDPOINTS.items():
        for name, function in functions.items():
            source = inspect.getsource(inspect.getmodule(function) or web_application)
            for key in sorted(set(re.findall(r'payload\.get\("(\w+)"', source + common))):
                usual = {"sample": '{"row": 0}', "attribute": '"street"'} | {key: content}
                body = ",".join(f'"{key}":{value}' for key, value in usual.items())
                answer = data_client.post(f"/api/{view}/{name}", content=f"{{{body}}}")
                assert answer.status_code < 500, (view, name, key, answer.text)
                if content == "NaN":
                    assert answer.status_code == 400
