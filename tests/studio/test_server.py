"""Ports, two studios at once, and the command."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

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


ADDRESS = re.compile(r"The studio is at (http://127\.0\.0\.1:\d+)/\?code=([\w-]{32})$")


@contextmanager
def running(*arguments: str, **environment: str) -> Iterator[IO[str]]:
    """Run the command until it is interrupted; yield what it prints."""
    command = [sys.executable, "-m", "pinesy", "studio", *arguments, "--port", "0"]
    variables = os.environ | {"PYTHONPATH": str(SOURCE), "PYTHONUNBUFFERED": "1"} | environment
    with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        yield run.stdout
        run.send_signal(signal.SIGINT)
        assert run.wait(30) == 0


def enter(address: str, code: str) -> int:
    """Return how a studio answers a code."""
    content = json.dumps({"code": code}).encode()
    try:
        with urllib.request.urlopen(f"{address}/api/enter", content, timeout=30) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_the_command_serves_until_it_is_interrupted(rules: Path, data: Path) -> None:
    with running(str(rules), str(data), "--no-open") as printed:
        found = ADDRESS.search(printed.readline())
        assert found
        address, code = found.groups()
        assert "Ctrl-C ends the studio" in printed.readline()
        assert [enter(address, code) for _ in range(2)] == [200, 403]
        new = ADDRESS.search(printed.readline())
        assert new
        assert new[1] == address
        assert enter(address, new[2]) == 200


@pytest.mark.skipif(os.name != "posix", reason="a browser is a shell script here, modes are POSIX")
def test_the_command_line_of_the_browser_holds_no_code(rules: Path, tmp_path: Path) -> None:
    browser, seen, copy = (tmp_path / name for name in ("browser", "seen", "copy.html"))
    browser.write_text(
        '#!/bin/sh\npath="${1#file://}"\ncp -p "$path" ' + f"'{copy}'\n"
        'ls -ld "$(dirname "$path")" "$path" ' + f"> '{seen}.new' && mv '{seen}.new' '{seen}'\n"
    )
    browser.chmod(0o700)
    with running(str(rules), BROWSER=f"{browser} %s", TMPDIR=str(tmp_path)) as printed:
        found = ADDRESS.search(printed.readline())
        assert found
        while not seen.exists():
            time.sleep(0.05)
        directory, file = seen.read_text().splitlines()
        assert directory.startswith("drwx------")
        assert file.startswith("-rw-------")
        path = Path(file.split()[-1])
        assert path.exists()
        leading = re.search(r"url=(\S+)/\?code=([\w-]{32})'", copy.read_text())
        assert leading
        assert leading[1] == found[1]
        assert leading[2] not in file
        assert enter(leading[1], leading[2]) == 200
        assert enter(found[1], found[2]) == 200  # the printed one is another
    assert not path.parent.exists()


def test_what_is_missing_is_said(rules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(studio_command, "find_spec", lambda _name: None)
    with pytest.raises(DataError, match=r"starlette, uvicorn: pip install 'pinesy\[studio\]'"):
        studio_command.studio(rules, file_options=DataOptions())


def test_without_a_file_the_demo_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[Any] = []
    say: list[Callable[[str], None]] = []

    def demo(told: Callable[[str], None]) -> str:
        say.append(told)
        return "the demo"

    monkeypatch.setattr(studio_command, "demo_session", demo)
    monkeypatch.setattr(web_application, "serve", lambda *given: served.append(given[:3]))
    studio_command.studio(None, port=9, no_open=True, file_options=DataOptions())
    [(opened, *others)] = served
    assert (opened(), *others) == ("the demo", 9, False)


def test_answers_are_sent_at_once() -> None:
    """By asyncio's rule: without the name of the protocol each answer waits some 40 ms."""
    with listening(0) as bound:
        assert bound.proto == socket.IPPROTO_TCP
