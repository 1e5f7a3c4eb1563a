"""The directory where pinesy keeps what it has fetched or worked out."""

import os
from pathlib import Path


def cache_directory(directory: str | os.PathLike[str] | None = None) -> Path:
    """Return the cache directory: `directory`, else ``$PINESY_CACHE``, else ``~/.cache/pinesy``.

    It need not exist yet.

    Examples
    --------
    >>> cache_directory("somewhere").name
    'somewhere'
    """
    return Path(directory or os.environ.get("PINESY_CACHE") or "~/.cache/pinesy").expanduser()
