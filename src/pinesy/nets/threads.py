"""How many threads PyTorch works with."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from pinesy.exceptions import DomainError


@contextmanager
def using_threads(n: int | None = None) -> Iterator[int]:
    """Let PyTorch work with `n` threads in the block; give how many it has.

    Parameters
    ----------
    n : by default as many as PyTorch takes, one for each core

    Examples
    --------
    >>> with using_threads(1) as n:
    ...     n
    1
    """
    if n is not None and (not isinstance(n, int) or isinstance(n, bool) or n < 1):
        raise DomainError(f"threads is {n!r:.60}; it must be a whole number, at least 1")
    before = torch.get_num_threads()
    torch.set_num_threads(n or before)
    try:
        yield torch.get_num_threads()
    finally:
        torch.set_num_threads(before)
