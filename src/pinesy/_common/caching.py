"""Work that is done once: stored on the object it is about, or a module of compiled loops."""

from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar, TypeVarTuple

Owner = TypeVar("Owner")
Key = TypeVarTuple("Key")
Result = TypeVar("Result")

#: Where an object holds the results of the functions that were asked of it.
CACHE = "_cached"
#: How many results of a function an object holds, the last ones: any propositions may be asked for.
MOST = 64


def cached_on_owner(
    function: Callable[[Owner, *Key], Result],
) -> Callable[[Owner, *Key], Result]:
    """Compute a function of one object once, and store the result in the object's ``__dict__``.

    If it has more arguments, which must be hashable, the results of the last 64 of them are held.
    Results live as long as the object and no longer, even if they refer to it. A cache keyed by
    equality would read every rule of a cascade at each call.

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
        try:  # one look: keys may be long
            return owner.__dict__[CACHE][function][key]  # type: ignore[no-any-return]
        except KeyError:
            pass
        result = function(owner, *key)
        results: dict[Any, Result] = owner.__dict__.setdefault(CACHE, {}).setdefault(function, {})
        results[key] = result
        for oldest in list(results)[:-MOST]:
            results.pop(oldest, None)
        return result

    return wrapper


def without_cache(owner: object) -> dict[str, Any]:
    """Return an object's state as it is pickled: what was computed is computed again."""
    return {name: content for name, content in owner.__dict__.items() if name != CACHE}


@cache
def load_kernels(name: str) -> ModuleType:
    """Import a module of compiled loops, and Numba with it, when one of them is first needed."""
    return import_module(name)
