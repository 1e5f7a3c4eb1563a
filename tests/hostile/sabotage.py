"""Writers that are stopped at each of their steps, in this process: as if killed, or refused.

A step is something that changes the disk: a file opened for writing, brought to the disk, renamed
or deleted, a directory made or deleted. From the step on that is asked for, every step raises
`Killed`, so that nothing is tidied up, as after SIGKILL; or an error of the system.
"""

import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pinesy._common import files

#: Audit events that change the disk; that of `open` only if it is for writing.
EVENTS = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.truncate", "os.link"}
NETWORK = ("socket.", "urllib.", "http.", "ftplib.", "smtplib.")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


class Killed(BaseException):
    """What no code expects."""


@dataclass
class Sabotage:
    """What happens to steps below a directory.

    Attributes
    ----------
    place : steps elsewhere are left alone
    at : the number of the step from which on steps raise `error`; -1 for never
    steps : those that were seen
    calls : what was asked of the network, which is always refused
    """

    place: str
    at: int = -1
    error: Callable[[], BaseException] = Killed
    steps: list[tuple[str, str]] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)

    def step(self, what: str, path: str) -> None:
        """Note a step, or stop it."""
        if path.startswith(self.place):
            self.steps.append((what, path))
            if 0 <= self.at < len(self.steps):
                raise self.error()


_active: list[Sabotage] = []


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if _active and event.startswith(NETWORK):
        _active[-1].calls.append(event)
        raise OSError(errno.ENETUNREACH, "the network is asked for")
    if not _active or (event != "open" and event not in EVENTS):
        return
    if event == "open" and not arguments[2] & WRITING:
        return
    if isinstance(arguments[0], str | bytes | os.PathLike):
        _active[-1].step(event, os.path.abspath(os.fsdecode(arguments[0])))


def _fsync(descriptor: int) -> None:
    if _active:
        _active[-1].step("fsync", os.readlink(f"/proc/self/fd/{descriptor}"))


_installed: list[bool] = []


@contextmanager
def sabotaged(plan: Sabotage) -> Iterator[Sabotage]:
    """Do as planned in a block."""
    if not _installed:  # an audit hook stays for ever
        sys.addaudithook(_hook)
        _installed.append(True)
    fsync, os.fsync = os.fsync, _fsync  # type: ignore[assignment]
    _active.append(plan)
    try:
        yield plan
    finally:
        _active.pop()
        os.fsync = fsync


def abandon(place: Path) -> list[str]:
    """Make what killed writers left look old; return its names."""
    left = [*place.rglob(".*.tmp"), *place.rglob(f"{files.SCRATCH}*")]
    for one in left:
        os.utime(one, (0, 0))
    return sorted(one.name for one in left)
