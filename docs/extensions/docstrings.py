"""Docstrings and signatures as people write them.

What a signature calls `FloatArray` stays that: Python puts in its place what it stands for, three
lines for each array.
"""

import re

from sphinx.application import Sphinx

from extensions.citations import with_numbers
from extensions.docstring_fields import with_fields

_ARRAY = re.compile(
    r"~?numpy\.ndarray\[tuple\[~?typing\.Any, \.\.\.\], ~?numpy\.dtype\[~?([\w.]+)\]\]"
)
_ARRAY_LIKE = re.compile(
    r"~?numpy\._typing\._array_like\._Buffer \| .*?_NestedSequence\[complex \| bytes \| str\]"
)
_ARRAYS = {
    "typing.Any": "NDArray",
    "numpy.bool": "BoolArray",
    "numpy.float64": "FloatArray",
    "numpy.int64": "IntArray",
}


def setup(app: Sphinx) -> dict[str, bool]:
    """Come before napoleon, which reads the sections of docstrings."""
    app.connect("autodoc-process-docstring", read_fields, priority=400)
    app.connect("autodoc-process-signature", shorten_types)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def read_fields(
    app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    """Rewrite the fields and citations of a docstring, in place."""
    lines[:] = with_fields([with_numbers(line) for line in lines])


def shorten_types(
    app: Sphinx,
    what: str,
    name: str,
    thing: object,
    options: object,
    signature: str | None,
    returned: str | None,
) -> tuple[str | None, str | None]:
    """Return a signature with the names of types of arrays."""
    return _shortened(signature), _shortened(returned)


def _shortened(text: str | None) -> str | None:
    if text is None:
        return None
    return _ARRAY.sub(lambda m: _ARRAYS.get(m[1], "NDArray"), _ARRAY_LIKE.sub("ArrayLike", text))
