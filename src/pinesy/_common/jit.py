"""How kernels are compiled and stored. Importing this loads Numba, so only modules of kernels do.

Each of them is compiled when it is first called, so that nobody waits for those that are not
used, and Numba stores it on disk: in ``NUMBA_CACHE_DIR``, or beside the module, or in the cache of
the user.
"""

# mypy: disable-error-code="no-untyped-call"
import hashlib
import os
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache, partial, update_wrapper
from pathlib import Path
from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.caching import FunctionCache, NullCache
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import intrinsic

from pinesy._common.console import notice, warn_once

_NOTICE = "pinesy: compiling its kernels (once on this machine, some seconds) ..."

if hasattr(os, "register_at_fork"):  # a lock that another thread holds stays locked in a child
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )


_WITHIN: dict[str, Any] = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

#: A loop that is called in kernels only, compiled with the first of them.
inner = numba.njit(**_WITHIN)

#: Lines that are copied into the kernels that call them: the cheapest to compile if few do.
inlined = numba.njit(inline="always")


class Kernel:
    """A loop with one signature: compiled, or loaded from disk, when it is first called.

    Other kernels may call it too; it becomes part of them.
    """

    def __init__(self, function: Callable[..., Any], signature: Any, **options: Any) -> None:
        update_wrapper(self, function)
        self._function = function
        self._signature = signature
        self._options = options
        self._compiled: Any = None

    def __call__(self, *arguments: Any) -> Any:
        return (self._compiled or self._compile())(*arguments)

    @property
    def _numba_type_(self) -> Any:
        """What Numba takes it for in the source of other kernels."""
        return types.Dispatcher(self._compiled or self._compile())

    def _compile(self) -> Any:
        with global_compiler_lock, ExitStack() as stack:
            if self._compiled is None:
                # A division is one instruction, as NumPy's: it never raises ZeroDivisionError.
                decorate = numba.njit(nogil=True, error_model="numpy", **self._options)
                dispatcher: Any = decorate(self._function)
                # Announced only where it is not loaded: that may take long too on a busy machine.
                announce = partial(stack.enter_context, notice(_NOTICE))
                dispatcher._cache = _disk_cache(self._function, announce)
                dispatcher.compile(self._signature)
                dispatcher.disable_compile()
                self._compiled = dispatcher
        return self._compiled


def compiled(signature: Any, **options: Any) -> Callable[[Callable[..., Any]], Kernel]:
    """Make a function a `Kernel` of a signature, with options of Numba's."""
    return lambda function: Kernel(function, signature, **options)


class _DiskCache(FunctionCache):
    """Numba's cache of a function, which a file that cannot be read or written does not stop.

    A kernel contains the loops that it calls, wherever they stand: so what is stored is found
    again only if the source of all kernels is the same. What is not found will be compiled:
    `missed` is called.
    """

    missed: Callable[[], object]

    def load_overload(self, signature: Any, context: Any) -> Any:
        try:
            overload = super().load_overload((signature, _all_kernels()), context)
        except Exception:  # a broken pickle may raise any
            self._attempt(self.flush)
            overload = None
        if overload is None:
            self.missed()
        return overload

    def save_overload(self, signature: Any, result: Any) -> None:
        self._attempt(super().save_overload, (signature, _all_kernels()), result)

    def _attempt(self, write: Callable[..., None], *arguments: Any) -> None:
        try:
            write(*arguments)
        except OSError as error:
            _not_stored(f"{error.strerror or error} in {self.cache_path}")


def _disk_cache(
    function: Callable[..., Any], missed: Callable[[], object]
) -> FunctionCache | NullCache:
    """Return where a kernel is stored; warn if it is nowhere, or not where it should be."""
    try:
        cache_on_disk = _DiskCache(function)
    except RuntimeError:
        _not_stored("no directory for them can be written")
        missed()
        return NullCache()
    cache_on_disk.missed = missed
    wish = os.environ.get("NUMBA_CACHE_DIR", "")
    if not cache_on_disk.cache_path.startswith(wish):
        warn_once(f"NUMBA_CACHE_DIR is not used, because it cannot be written: {wish!r}")
    return cache_on_disk


def _not_stored(reason: str) -> None:
    """Warn that kernels are not stored, with the cure."""
    warn_once(
        f"pinesy compiles its kernels anew in every process, because {reason}; set the environment "
        "variable NUMBA_CACHE_DIR to a directory that can be written"
    )


@cache
def _all_kernels() -> str:
    """Return a digest of the source of all modules of kernels and loops."""
    root = Path(__file__).parents[1]
    modules = [*root.rglob("*kernels.py"), *root.rglob("*loops.py")]
    sources = sorted([*modules, Path(__file__), root / "_version.py"])
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()


def _machine_operation(of_floats: str, of_integers: str) -> Any:
    """Return an operation on two numbers, or vectors, of one type that becomes one instruction.

    Written as a comparison, ``t[i] = max(t[i], x[i])`` turns into masked stores, four times
    slower. The flags promise what is checked on input: no NaN, and no -0.0 to tell from 0.0.
    Integers are unsigned.
    """

    @intrinsic
    def operation(_context, a, b):  # type: ignore[no-untyped-def]
        def code(_context, builder, _signature, arguments):  # type: ignore[no-untyped-def]
            kind = arguments[0].type
            is_vector = isinstance(kind, ir.VectorType)
            element = kind.element if is_vector else kind
            is_integer = isinstance(element, ir.IntType)
            count = f"v{kind.count}" if is_vector else ""
            name = f"{of_integers if is_integer else of_floats}.{count}{element.intrinsic_name}"
            function = cgutils.get_or_insert_function(
                builder.module, ir.FunctionType(kind, [kind, kind]), name
            )
            return builder.call(function, arguments, fastmath=() if is_integer else ("nnan", "nsz"))

        return (a(a, b), code) if a == b else None

    return operation


machine_max = _machine_operation("llvm.maxnum", "llvm.umax")
machine_min = _machine_operation("llvm.minnum", "llvm.umin")
