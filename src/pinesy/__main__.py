"""``python -m pinesy``: the command line."""

import os
import signal
import sys
import threading
from types import FrameType


def main() -> None:
    """Run the command line; Ctrl-C while it is loaded is one line too."""
    is_usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    is_ours = is_usual and threading.current_thread() is threading.main_thread()
    if is_ours:  # an exception would be lost, or printed, in the callbacks of an import
        signal.signal(signal.SIGINT, _end)
    try:
        from pinesy.cli.app import run_pinesy

        if is_ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        run_pinesy()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)


def _end(_number: int, _frame: FrameType | None) -> None:
    """End the process at once: nothing has been done that could be lost."""
    os.write(2, b"interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    main()
