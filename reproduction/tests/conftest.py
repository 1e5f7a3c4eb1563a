"""A small MNIST, places that serve it, and nothing of the world outside."""

import gzip
import hashlib
import os
import stat
import struct
import sys
import tarfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from reproduction import mnist as digit_images
from reproduction.mnist import Mnist


@dataclass
class Mirror:
    """A web server with some files, which counts what it is asked for."""

    files: dict[str, bytes]
    missing_bytes: int = 0  # announced, but not sent
    asked: list[str] = field(default_factory=list)
    address: str = ""


@dataclass
class World:
    """All that `mnist` can see: the right files, and the places where they may be."""

    raw: dict[str, bytes]
    arrays: Mnist
    cache: Path
    start: Callable[[Mirror], str]
    install_npm: Callable[[str], None]

    @property
    def packed(self) -> dict[str, bytes]:
        return {f"{name}.gz": gzip.compress(content) for name, content in self.raw.items()}

    @property
    def cached(self) -> dict[str, bytes]:
        place = self.cache / "mnist"
        return {p.name: p.read_bytes() for p in place.iterdir()} if place.exists() else {}

    def fill(self, directory: Path, files: dict[str, bytes]) -> Path:
        directory.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (directory / name).write_bytes(content)
        return directory

    def mirror(self, files: dict[str, bytes], missing_bytes: int = 0) -> Mirror:
        mirror = Mirror(files, missing_bytes)
        mirror.address = self.start(mirror)
        digit_images.MIRRORS.append(mirror.address)
        return mirror


def idx(array: np.ndarray) -> bytes:
    header = struct.pack(">BBBB", 0, 0, 8, array.ndim) + struct.pack(
        f">{array.ndim}I", *array.shape
    )
    return header + array.tobytes()


def small_mnist() -> Mnist:
    rng = np.random.default_rng(0)
    images = [rng.integers(0, 256, (n, 28, 28), dtype=np.uint8) for n in (6, 3)]
    labels = [rng.integers(0, 10, n, dtype=np.uint8) for n in (6, 3)]
    return Mnist(images[0], labels[0], images[1], labels[1])


def handler(mirror: Mirror) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.strip("/")
            mirror.asked.append(name)
            if name not in mirror.files:
                return self.send_error(404)
            content = mirror.files[name]
            self.send_response(200)
            self.send_header("Content-Length", str(len(content) + mirror.missing_bytes))
            self.end_headers()
            self.wfile.write(content)
            return None

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            del format, args

    return Handler


@pytest.fixture
def servers() -> Iterator[Callable[[Mirror], str]]:
    running: list[ThreadingHTTPServer] = []

    def start(mirror: Mirror) -> str:
        running.append(ThreadingHTTPServer(("127.0.0.1", 0), handler(mirror)))
        threading.Thread(target=running[-1].serve_forever, args=(0.01,), daemon=True).start()
        return f"http://127.0.0.1:{running[-1].server_port}/"

    yield start
    for server in running:
        server.shutdown()
        server.server_close()


@pytest.fixture
def world(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, servers: Callable[[Mirror], str]
) -> World:
    arrays = small_mnist()
    contents = (arrays.train_images, arrays.train_labels, arrays.test_images, arrays.test_labels)
    raw = dict(zip(digit_images.FILES, map(idx, contents), strict=True))
    for name, content in raw.items():
        right = digit_images.File(hashlib.sha256(content).hexdigest(), len(content))
        monkeypatch.setitem(digit_images.FILES, name, right)
    programs = tmp_path / "programs"
    programs.mkdir()
    monkeypatch.setattr(digit_images, "MIRRORS", [])
    monkeypatch.setenv("PINESY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.delenv("PINESY_OFFLINE", raising=False)

    def install_npm(body: str) -> None:
        program = programs / "npm"
        program.write_text(f"#!{sys.executable}\nimport sys, time\nplace = sys.argv[4]\n{body}\n")
        os.chmod(program, program.stat().st_mode | stat.S_IXUSR)

    return World(raw, arrays, tmp_path / "cache", servers, install_npm)


def package(files: dict[str, bytes]) -> bytes:
    """Return the archive that ``npm pack`` would make."""
    stream = BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(f"package/data/{name}")
            member.size = len(content)
            tar.addfile(member, BytesIO(content))
    return stream.getvalue()
