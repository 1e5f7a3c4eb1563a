"""What a record says about how it was made: times, memory, versions, the machine."""

import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import pinesy

#: The parts of an experiment's time that are symbolic, and all of them.
SYMBOLIC: Final = ("transform", "thresholds", "learning", "inference")
TIMED: Final = ("training", "prediction", "samples", *SYMBOLIC)


class Stopwatch:
    """Adds up the seconds spent on each kind of work.

    Examples
    --------
    >>> watch = Stopwatch()
    >>> with watch("learning"):
    ...     pass
    >>> list(watch.seconds)
    ['learning']
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, part: str) -> Iterator[None]:
        """Count the time that the block takes."""
        start = perf_counter()
        try:
            yield
        finally:
            self.add(part, perf_counter() - start)

    def add(self, part: str, seconds: float) -> None:
        """Count time that was measured elsewhere."""
        self.seconds[part] = self.seconds.get(part, 0.0) + seconds


def peak_memory() -> float | None:
    """Return the most memory that this process had so far, in MB; None where nobody knows."""
    if find_spec("resource") is None:
        return None
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(most / (2**20 if sys.platform == "darwin" else 2**10), 1)


def environment(threads: int) -> dict[str, Any]:
    """Return what results may depend on besides the code's input.

    Parameters
    ----------
    threads : those that the network worked with
    """
    return {**_environment(), "threads": threads}


@cache
def _environment() -> dict[str, Any]:
    return {
        "commit": _commit(Path(pinesy.__file__).resolve().parent),
        "pinesy": pinesy.__version__,
        "torch": version("torch"),
        "numpy": version("numpy"),
        "python": platform.python_version(),
        "machine": _machine(),
        "cores": os.cpu_count(),
    }


def _commit(package: Path) -> str | None:
    """Return the commit that a package was loaded from, if it lies in its own work tree.

    A ``+`` after it says that the tree was not as committed.
    """
    git = ["git", "-C", str(package)]
    try:
        top = _said([*git, "rev-parse", "--show-toplevel"])
        if Path(top) / "src" / "pinesy" != package:
            return None
        commit = _said([*git, "rev-parse", "--short", "HEAD"])
        paths = [".", ":/reproduction"]
        changed = _said([*git, "status", "--porcelain", "--untracked-files=no", *paths])
    except (OSError, subprocess.SubprocessError):
        return None
    return commit + "+" * bool(changed)


def _said(command: list[str]) -> str:
    """Return what a command prints, or raise."""
    process = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
    return process.stdout.strip()


def _machine() -> str:
    """Return the name of the processor, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.processor() or platform.machine()
