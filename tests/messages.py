"""Error messages are part of what is tested."""

import re

import pytest

from pinesy import PinesyError


def raises_saying(error: type[PinesyError], *parts: str) -> "pytest.RaisesExc[PinesyError]":
    """Expect this type of error, with all the parts in its message, in this order."""
    pattern = re.compile(".*".join(map(re.escape, parts)), re.DOTALL)
    return pytest.RaisesExc(error, match=pattern)
