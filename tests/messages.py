"""Error messages are part of what is tested."""

import re

import pytest

from pinesy import PinesyError


def raises_saying(error: type[PinesyError], *parts: str) -> "pytest.RaisesExc[PinesyError]":
    """Expect this type of error, with all the parts in its message, in this order."""
    pattern = re.compile(".*".join(map(re.escape, parts)), re.DOTALL)
    return pytest.RaisesExc(error, match=pattern)


def without_notices(stderr: str) -> str:
    """Return what a process said, less the notice that it compiles its kernels.

    It is said once on a machine, or where a busy machine takes long to load them.
    """
    return re.sub(r"^pinesy: compiling .*\n", "", stderr, flags=re.MULTILINE)
