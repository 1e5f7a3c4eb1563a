"""Compiled loops are loaded when they are first needed: importing pinesy does not load Numba."""

from functools import cache
from importlib import import_module
from types import ModuleType

from pinesy._common.console import notice


@cache
def load_kernels(name: str) -> ModuleType:
    """Import a module of compiled loops; the first time ever on a machine they are compiled."""
    with notice("pinesy: compiling its kernels (once on this machine, some seconds) ..."):
        return import_module(name)
