"""While modules are imported: Ctrl-C ends the process at once, and no garbage is collected."""

import gc
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def loading() -> Iterator[None]:
    """Import modules in the block; Ctrl-C is one line then too, and nothing slows the imports."""
    is_usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    is_ours = is_usual and threading.current_thread() is threading.main_thread()
    if is_ours:  # an exception would be lost, or printed, in the callbacks of an import
        signal.signal(signal.SIGINT, _end)
    collects = gc.isenabled()
    gc.disable()  # modules stay: to look for garbage among them takes a fifth of the time
    try:
        yield
    finally:
        if collects:
            gc.enable()
        if is_ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(_number: int, _frame: FrameType | None) -> None:
    """End the process at once: nothing has been done that could be lost."""
    os.write(2, b"interrupted\n")
    os._exit(130)
