"""Every command that writes, ended by signals at random moments, in processes of their own.

``python tests/hostile/killing.py 20`` ends each of them 20 times and prints what was found then.
The processes are forks of this one, which has loaded all that they need.
"""

import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from typer.core import TyperCommand

from hostile.sabotage import abandon
from hostile.writers import SAVES, WRITERS, asked, old_file, program, saved
from pinesy.cli.app import run_program

INVOKE = TyperCommand.invoke


def begin(name: str, words: Sequence[str], path: Path) -> int:
    """Start a writer in a process of its own, and return its number."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # it waits until somebody catches it
    number = os.fork()
    if number:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        return number
    code = 1
    try:
        if name in SAVES:
            allow_interrupts()
        with (path.parent / "said").open("w") as said, open(os.devnull, "w") as nothing:
            sys.stdout, sys.stderr = nothing, said
            code = _write(name, words, path)
            said.flush()
    except KeyboardInterrupt:  # before the writer began, or after its end
        code = 130
    finally:
        os._exit(code)


def allow_interrupts() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def interruptible(command: TyperCommand, context: Any) -> Any:
    """Run a command; until then interrupts wait: pydantic, which reads options, loses them."""
    allow_interrupts()
    return INVOKE(command, context)


def _write(name: str, words: Sequence[str], path: Path) -> int:
    """Do as the program does, and return its exit code."""
    try:
        if name in SAVES:
            saved(path)
        else:
            sys.argv = ["pinesy", *words]
            with patch.object(TyperCommand, "invoke", interruptible):
                run_program(program(name), "pinesy")
    except SystemExit as ended:
        return int(ended.code or 0)
    except KeyboardInterrupt:  # as in __main__.py
        sys.stderr.write("interrupted\n")
        return 130
    return 0


def warm(name: str, words: Sequence[str], path: Path) -> None:
    """Write in this process, so that the others need not load the kernels again."""
    streams = sys.stdout, sys.stderr
    with open(os.devnull, "w") as sys.stdout, open(os.devnull, "w") as sys.stderr:
        code = _write(name, words, path)
    sys.stdout, sys.stderr = streams
    assert code == 0, name


def ended(number: int) -> int:
    """Wait for a process; return its exit code, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])


def kill(name: str, place: Path, kills: int, rng: random.Random) -> Counter[str]:
    """End a writer by signals; return how often which file was there then.

    `AssertionError` if one is half, something is left at last, or a signal is told badly.
    """
    (place / "tmp").mkdir()
    tempfile.tempdir = str(place / "tmp")
    words, path = asked(name, place)
    warm(name, words, path)
    old, start = old_file(path), time.monotonic()
    assert ended(begin(name, words, path)) == 0, (place / "said").read_text()
    seconds, new = time.monotonic() - start, path.read_bytes()
    assert new != old
    found: Counter[str] = Counter()
    for i in range(kills):
        old_file(path)
        process = begin(name, words, path)
        time.sleep(rng.random() * 1.1 * seconds)
        how = signal.SIGINT if i % 3 == 2 else signal.SIGKILL
        os.kill(process, how)
        code, said = ended(process), (place / "said").read_text()
        there = {old: "old", new: "new"}.get(path.read_bytes(), "half")
        found[f"{how.name}: {there}"] += 1
        assert there != "half", (name, i)
        if how == signal.SIGINT:
            assert code in (0, 130), (name, i, code)
            assert said in ("", "interrupted\n"), (name, i, said)
    abandon(place)
    assert ended(begin(name, words, path)) == 0
    assert path.read_bytes() == new, f"{name}: after kills another file is written"
    assert abandon(place) == [], f"{name}: something of killed ones is left"
    return found


def main(kills: int, seed: int, names: Sequence[str] = WRITERS) -> None:
    """End writers, and print the counts."""
    for name in names:
        with tempfile.TemporaryDirectory(dir="/tmp") as place:
            counts = kill(name, Path(place), kills, random.Random(f"{name} {seed}"))
        sys.stdout.write(f"{name}: {dict(sorted(counts.items()))}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0, sys.argv[3:] or WRITERS)
