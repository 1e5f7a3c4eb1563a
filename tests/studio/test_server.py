"""Ports, two studios at once, and the command."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pinesy.cli import studio_command
from pinesy.cli.options import DataOptions
from pinesy.exceptions import DataError
from pinesy.studio import web_application
from pinesy.studio.web_application import listening

SOURCE = Path(web_application.__file__).parents[2]


def test_a_port_in_use_is_told_with_its_cure() -> None:
    with listening(0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(DataError, match=f"port {port} cannot be used: .*leave out --port"):
            listening(port)


def test_a_second_studio_takes_the_next_port(monkeypatch: pytest.MonkeyPatch) -> None:
    with listening(0) as first:
        monkeypatch.setattr(web_application, "PORT", first.getsockname()[1])
        with listening(None) as second:
            assert second.getsockname()[1] > web_application.PORT
        monkeypatch.setattr(web_application, "PORTS", 1)
        with pytest.raises(DataError, match=r"no port from .* is free; give another: --port"):
            listening(None)


def test_only_this_machine_is_listened_to() -> None:
    with listening(0) as bound:
        assert bound.getsockname()[0] == "127.0.0.1"


def test_the_command_serves_until_it_is_interrupted(rules: Path, data: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "pinesy",
        "studio",
        str(rules),
        str(data),
        "--port",
        "0",
        "--no-open",
    ]
    environment = os.environ | {"PYTHONPATH": str(SOURCE), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        address = run.stdout.readline()
        assert re.search(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{32}$", address)
        assert "Ctrl-C ends the studio" in run.stdout.readline()
        run.send_signal(signal.SIGINT)
        assert run.wait(30) == 0


def test_what_is_missing_is_said(rules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(studio_command, "find_spec", lambda _name: None)
    with pytest.raises(DataError, match=r"starlette, uvicorn: pip install 'pinesy\[studio\]'"):
        studio_command.studio(rules, how=DataOptions())


def test_without_a_file_the_demo_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[Any] = []
    say: list[Callable[[str], None]] = []

    def demo(told: Callable[[str], None]) -> str:
        say.append(told)
        return "the demo"

    monkeypatch.setattr(studio_command, "demo_session", demo)
    monkeypatch.setattr(web_application, "serve", lambda *given: served.append(given[:3]))
    studio_command.studio(None, port=9, no_open=True, how=DataOptions())
    assert served == [("the demo", 9, False)]


def test_answers_are_sent_at_once() -> None:
    """By asyncio's rule: without the name of the protocol each answer waits some 40 ms."""
    with listening(0) as bound:
        assert bound.proto == socket.IPPROTO_TCP
