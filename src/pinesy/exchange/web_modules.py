"""The JavaScript and the style of pages, as one script and one style that need nothing else."""

import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files

_IMPORT = re.compile(r"^import\b[^;]*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=\w)", re.MULTILINE)


def web_text(name: str) -> str:
    """Return the text of a file in ``web``."""
    return (files("pinesy.exchange") / "web" / name).read_text(encoding="utf-8")


def bundle(modules: Sequence[str]) -> str:
    """Return modules as one, in an order in which each stands after those that it imports.

    They are put one after the other, without their imports and exports: so no two of them may
    declare one name, and none imports under another name.

    Examples
    --------
    >>> bundle(["engine.js"]).count("export")
    0
    """
    return "".join(_EXPORT.sub("", _IMPORT.sub("", web_text(name))) for name in modules)


def content_hash(text: str) -> str:
    """Return what a content security policy calls a script or style that may stand in a page.

    Examples
    --------
    >>> content_hash("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
