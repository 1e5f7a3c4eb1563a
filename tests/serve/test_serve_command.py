"""``pinesy serve`` as a process: it starts, answers, reloads, logs and ends."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest
from typer.testing import CliRunner

from pinesy.cli.app import app
from serve.conftest import LOAN, SAMPLE

SECONDS = 60.0
TOKEN = "a-token-of-many-characters"


@contextmanager
def serving(*words: object) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Start a service; yield its address and its process."""
    command = [sys.executable, "-m", "pinesy", "serve", *map(str, words), "--port", "0"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        address = re.search(r"http://\S+", line)
        assert address is not None, f"{line}{process.communicate()[1]}"
        yield address[0], process
    finally:
        process.kill()
        process.communicate()


def ask(address: str, path: str, content: Any = None, token: str = "") -> Any:
    body = None if content is None else json.dumps(content).encode()
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(address + path, body, headers)
    with urllib.request.urlopen(request, timeout=SECONDS) as response:
        return json.load(response)


def wait_for(condition: Any) -> None:
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.process
def test_a_process_answers_reloads_logs_and_ends(rules: Path, tmp_path: Path) -> None:
    log, token = tmp_path / "log.jsonl", tmp_path / "token"
    token.write_text(f"{TOKEN}\n")
    words = ("--reload-seconds", 0.05, "--log", log, "--token-file", token)
    with serving(rules, *words) as (address, process):
        content = {"samples": [SAMPLE]}
        with pytest.raises(HTTPError, match="401"):
            ask(address, "/infer", content)
        first = ask(address, "/infer", content, TOKEN)
        assert first["answers"][0]["outputs"]["decision"]["certainty"] == 0.8
        rules.write_text("no rules at all")
        wait_for(lambda: ask(address, "/health")["status"] == "reload failed")
        assert ask(address, "/infer", content, TOKEN)["model"] == first["model"]
        rules.write_text(LOAN.replace("certainty=0.8", "certainty=0.7"))
        wait_for(lambda: ask(address, "/health")["status"] == "ok")
        second = ask(address, "/infer", content, TOKEN)
        assert second["answers"][0]["outputs"]["decision"]["certainty"] == 0.7
        assert second["model"]["sha256"] != first["model"]["sha256"]
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=SECONDS)
    assert "the model is not replaced" in errors
    assert "the model is replaced" in errors
    assert "Traceback" not in errors
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["kind"] for line in lines] == [
        "model",
        "decision",
        "decision",
        "model",
        "decision",
    ]


def serve(*words: object, **environment: str) -> Any:
    return CliRunner().invoke(app, ["serve", *map(str, words)], env=environment)


def test_other_machines_need_a_token(rules: Path, tmp_path: Path) -> None:
    for host in ("0.0.0.0", "::", "10.0.0.1", "rules.example.org"):
        done = serve(rules, "--host", host)
        assert done.exit_code == 2
        assert "--token-file" in done.stderr
        assert "--no-token" in done.stderr
    short, empty = tmp_path / "short", tmp_path / "empty"
    short.write_text("short")
    empty.write_text("\n")
    assert "at least 16 characters" in serve(rules, "--token-file", short).stderr
    assert "is empty" in serve(rules, "--token-file", empty).stderr
    assert "PINESY_TOKEN: a token" in serve(rules, PINESY_TOKEN="with blanks in it!").stderr


def test_wrong_models_and_options_are_errors(rules: Path, tmp_path: Path) -> None:
    assert serve(tmp_path / "gone.rules").exit_code == 3
    rules.write_text("nonsense")
    assert serve(rules).exit_code == 3
    rules.write_text(LOAN)
    assert serve(rules, "--log-inputs", "hashed").exit_code == 2
    assert serve(rules, "--transform", "nothing").exit_code == 2
    assert "is an attribute" in serve(rules, "--id", "age").stderr
    assert "No such file" in serve(rules, "--log", tmp_path / "gone" / "log").stderr
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        bound.listen()
        done = serve(rules, "--port", bound.getsockname()[1])
    assert done.exit_code == 3
    assert "give another --port" in done.stderr
