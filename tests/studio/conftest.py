"""What the tests of the studio share: rules, sessions, a client and a server."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

import uvicorn
from starlette.testclient import TestClient

from browser import SAILING
from pinesy import decide, parse, save
from pinesy.studio import Session
from pinesy.studio.guard import TOKEN_HEADER, Access
from pinesy.studio.web_application import HOST, application, listening

DATA = """\
{"sky": "dark", "wind": 12, "street": "wet"}
{"sky": {"clear": 1, "cloudy": 0.5}, "wind": 31.5, "street": "dry"}
{"sky": "clear", "wind": null, "street": "dry"}
"""


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """Return a file of rules."""
    path = tmp_path / "sail.rules"
    path.write_text(SAILING)
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a file of three samples."""
    path = tmp_path / "days.jsonl"
    path.write_text(DATA)
    return path


@pytest.fixture
def session(rules: Path, data: Path) -> Session:
    """Return a session on the rules and the samples, all of them read."""
    opened = Session.open(rules, data)
    opened.rows.wait()
    return opened


@pytest.fixture
def client(session: Session) -> TestClient:
    """Return a client that has the token."""
    return client_of(session)


def client_of(session: Session) -> TestClient:
    """Return a client of a session's application."""
    access = Access()
    app, headers = application(session, access), {TOKEN_HEADER: access.token}
    return TestClient(app, base_url=f"http://{HOST}:8765", headers=headers)


@pytest.fixture
def serving(request: pytest.FixtureRequest) -> Iterator[Callable[[Session], str]]:
    """Return a function that serves a session and gives its address, which works once."""
    servers: list[tuple[uvicorn.Server, threading.Thread]] = []

    def start(session: Session) -> str:
        bound, access = listening(0), Access()
        config = uvicorn.Config(
            application(session, access), log_level="warning", lifespan="off", ws="none",
            timeout_graceful_shutdown=1,
        )  # fmt: skip
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
        thread.start()
        servers.append((server, thread))
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        return f"http://{HOST}:{bound.getsockname()[1]}/?code={access.new_code()}"

    yield start
    if "tab" in request.fixturenames:  # a page whose server is gone would log errors
        request.getfixturevalue("tab").goto("about:blank")
    for server, thread in servers:
        server.should_exit = True
        thread.join(10)


RAIN = """
attribute sky in {clear, dark}
attribute street in {dry, wet}
if sky in {dark} then street in {wet} [r=0.2]
if sky in {clear} then street in {dry} [r=0.3]
"""
SKIES = ["clear", "dark", "dark", "clear", "dark", "clear"]
STREETS = ["dry", "wet", "wet", "wet", "wet", "dry"]


@pytest.fixture
def labelled(tmp_path: Path) -> Session:
    """Return a session on six samples, of which the fourth has a doubtful label."""
    rules, data = tmp_path / "rain.rules", tmp_path / "days.jsonl"
    rules.write_text(RAIN)
    rows = zip(SKIES, STREETS, strict=True)
    lines = [json.dumps({"id": f"d{i}", "sky": a, "street": b}) for i, (a, b) in enumerate(rows)]
    data.write_text("\n".join(lines))
    session = Session.open(rules, data)
    session.rows.wait()
    return session


@pytest.fixture
def data_client(labelled: Session) -> TestClient:
    """Return a client of that session."""
    return client_of(labelled)


def ask(client: TestClient, path: str, /, **content: Any) -> Any:
    """Return an answer; of a job its status in the end."""
    found = client.post(f"/api/{path}", json=content).json()
    while found.get("state") in ("waiting", "running"):
        found = client.post("/api/shell/job", json={"job": found["job"]}).json()
    return found


@pytest.fixture
def selective(tmp_path: Path) -> Session:
    """Return a model that decides where it is certain enough, on 300 rows with labels."""
    rng = np.random.default_rng(0)
    doubt = rng.random(2300).round(3)
    is_dark = rng.random(2300) < 0.5
    is_wrong = rng.random(2300) < np.where(doubt < 0.5, 0.02, 0.5)
    sky: Any = np.where(is_dark[:, None], np.c_[doubt, np.ones(2300)], np.c_[np.ones(2300), doubt])
    street = np.where(is_dark ^ is_wrong, "wet", "dry")
    rows = [{"sky": a, "street": b} for a, b in zip(sky.tolist(), street.tolist(), strict=True)]
    (tmp_path / "some.jsonl").write_text("\n".join(map(json.dumps, rows[2000:])))
    known = {"sky": sky[:2000]}, {"street": street[:2000]}
    save(decide(parse(RAIN), *known, error=0.1), tmp_path / "sure.json")
    session = Session.open(tmp_path / "sure.json", tmp_path / "some.jsonl")
    session.rows.wait()
    return session
