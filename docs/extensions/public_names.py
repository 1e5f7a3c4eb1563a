"""The table of what ``from pinesy import ...`` offers, on the first page of the reference."""

from sphinx.application import Sphinx

import pinesy

PAGE = "reference/index"


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the table before the page is parsed."""
    app.connect("source-read", add_table)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def add_table(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put a line for every name at the end of the page: what its docstring says first."""
    if docname == PAGE:
        names = "".join(f"   {name}\n" for name in pinesy.__all__)
        head = ".. currentmodule:: pinesy\n\n.. autosummary::\n   :nosignatures:\n"
        source[0] += f"\n{head}\n{names}"
