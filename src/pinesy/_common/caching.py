"""Work on an object that is done once for as long as the object lives."""

import weakref
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Thing = TypeVar("Thing")
Result = TypeVar("Result")


def kept(function: Callable[[Thing], Result]) -> Callable[[Thing], Result]:
    """Keep the results of a function of one object by its identity.

    The hash of a cascade would read every rule, again at each call.
    """
    results: dict[int, Any] = {}

    @wraps(function)
    def wrapper(thing: Thing) -> Result:
        key = id(thing)
        if key not in results:
            results[key] = function(thing)
            weakref.finalize(thing, results.pop, key, None)
        found: Result = results[key]
        return found

    return wrapper
