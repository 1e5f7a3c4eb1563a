"""Caches: results of functions, stored on the object they are about; modules of kernels."""

import sys
from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from threading import RLock
from types import ModuleType
from typing import Any, TypeVar, TypeVarTuple

Owner = TypeVar("Owner")
Key = TypeVarTuple("Key")
Result = TypeVar("Result")

#: The key in an object's ``__dict__`` of the results that are stored on it.
CACHE = "_cached"
#: Results of a function that an object holds; older ones are dropped, as any propositions may be
#: requested.
MAX_RESULTS = 64


def cached_on_owner(
    function: Callable[[Owner, *Key], Result],
) -> Callable[[Owner, *Key], Result]:
    """Decorate a function so that its results are cached in the ``__dict__`` of its first argument.

    Further arguments must be hashable; results are kept for the last 64 of them. Results live as
    long as the object, even if they refer to it. (`functools.lru_cache`, which compares by
    equality, would read every rule of a cascade at each call.)

    Examples
    --------
    >>> class Rules: ...
    >>> @cached_on_owner
    ... def program(rules):
    ...     return object()
    >>> rules = Rules()
    >>> program(rules) is program(rules), program(rules) is program(Rules())
    (True, False)
    """

    @wraps(function)
    def wrapper(owner: Owner, *key: *Key) -> Result:
        try:  # one lookup: keys may be long
            return owner.__dict__[CACHE][function][key]  # type: ignore[no-any-return]
        except KeyError:
            pass
        result = function(owner, *key)
        results: dict[Any, Result] = owner.__dict__.setdefault(CACHE, {}).setdefault(function, {})
        results[key] = result
        for oldest in list(results)[:-MAX_RESULTS]:
            results.pop(oldest, None)
        return result

    return wrapper


def state_without_cache(owner: object) -> dict[str, Any]:
    """Return an object's ``__dict__`` without cached results, for ``__getstate__``."""
    return {name: content for name, content in owner.__dict__.items() if name != CACHE}


#: Held while kernels are imported: threads that import parts of Numba in different orders would
#: find modules that are half initialized.
_IMPORTING = RLock()


@cache
def load_kernels(name: str) -> ModuleType:
    """Import a module of compiled loops, and Numba with it, at its first use."""
    with _IMPORTING:
        return import_module(name)


#: Nanoseconds of processor time that importing Numba and loading kernels from disk takes.
LOADING_TIME = 400_000_000
#: Nanoseconds that work without kernels has taken in this process, about.
_without_kernels = 0.0


def kernels_pay(name: str, nanoseconds: float) -> bool:
    """Return whether to run a module of compiled loops, or else the same without Numba.

    Without it until that has taken as long as loading would, so that neither one call nor a loop of
    calls takes more than twice the time of the better choice. Loaded modules always pay.

    Parameters
    ----------
    name : the module of kernels
    nanoseconds : about how long the work takes without them
    """
    global _without_kernels
    if name in sys.modules or _without_kernels + nanoseconds > LOADING_TIME:
        return True
    _without_kernels += nanoseconds
    return False


def prefer_kernels() -> None:
    """Run compiled loops from now on: a process that lives long loads them once, at its start."""
    global _without_kernels
    _without_kernels = LOADING_TIME
