"""A word to the user when something takes longer than they would expect."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["KERNELS", "notice"]

#: Seconds of silence.
PATIENCE = 2.0

KERNELS = "pinesy: compiling its kernels (once on this machine, some seconds) ..."


@contextmanager
def notice(line: str) -> Iterator[None]:
    """Print `line` to stderr if the block takes longer than `PATIENCE`."""
    timer = threading.Timer(PATIENCE, lambda: sys.stderr.write(line + "\n"))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
