"""The modules of the library that users import."""

import pkgutil

import pinesy

#: Rooms that are not for users: nobody imports from them but the library.
INNER = {"_common", "cli", "display", "engine", "evidence"}


def public_modules() -> list[str]:
    """Return the modules that users import from: the root's, and the ``__init__`` of packages."""
    tops = [m.name for m in pkgutil.iter_modules(pinesy.__path__) if m.name not in INNER]
    return ["pinesy", *(f"pinesy.{name}" for name in tops if not name.startswith("_"))]
