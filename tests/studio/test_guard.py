"""Who may talk to a studio, and what its answers allow a page to do."""

import pytest
from starlette.testclient import TestClient

from pinesy.studio import Session
from pinesy.studio.web_application import application
from studio.conftest import TOKEN

HERE = "http://127.0.0.1:8765"


@pytest.fixture
def stranger(session: Session) -> TestClient:
    """Return a client without the token."""
    return TestClient(application(session, TOKEN), base_url=HERE)


@pytest.mark.parametrize(
    "path", ["/", "/?token=", "/?token=wrong", "/static/shell.js", "/api/rooms"]
)
def test_nobody_gets_in_without_the_token(stranger: TestClient, path: str) -> None:
    refused = stranger.get(path)
    assert refused.status_code == 403
    assert "open the address that pinesy studio printed" in refused.json()["error"]
    assert stranger.post("/api/shell/state").status_code == 403


def test_the_token_of_the_address_becomes_a_cookie(stranger: TestClient) -> None:
    assert stranger.get(f"/static/shell.js?token={TOKEN}").status_code == 403
    opened = stranger.get(f"/?token={TOKEN}")
    assert opened.status_code == 200
    cookie = opened.headers["set-cookie"]
    assert cookie.startswith("pinesy-8765=")
    assert "HttpOnly; SameSite=Strict" in cookie
    assert stranger.get("/static/shell.js").status_code == 200
    assert stranger.post("/api/shell/state").status_code == 200
    # another studio of this machine has another cookie
    assert stranger.get("http://127.0.0.1:8766/").status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example:8765"},
        {"host": "127.0.0.1.evil.example"},
        {"host": ""},
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
    monkeypatch.setattr("pinesy.studio.web_application.MOST_BYTES", 10)
    assert client.post("/api/shell/state", content=b'{"a": "0123456789"}').status_code == 413
