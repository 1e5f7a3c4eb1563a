"""Lazy compilation of kernels by Numba, cached on disk. Only modules of kernels import this.

A kernel is compiled at its first call, and Numba stores it on disk: in ``NUMBA_CACHE_DIR``, beside
the module, or in the cache of the user. It is read where it cannot be written, too, and of several
processes one compiles it, for which the others wait.
"""

# mypy: disable-error-code="no-untyped-call"
import hashlib
import os
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import cache, update_wrapper
from pathlib import Path
from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import intrinsic

from pinesy._common.console import notice, warn_once

_NOTICE = "pinesy: compiling kernels (each once on this machine, some seconds) ..."
_NOTICE_NOT_STORED = "pinesy: compiling kernels (some seconds) ..."

if hasattr(os, "register_at_fork"):  # else a lock held at the fork is never released in the child
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )


_WITHIN: dict[str, Any] = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

#: Decorator of a function that only kernels call; it is compiled with the first of them.
inner = numba.njit(**_WITHIN)

#: Decorator of a function that is inlined into kernels: cheapest to compile if few call it.
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
        """The type that Numba infers for this kernel in other kernels."""
        return types.Dispatcher(self._compiled or self._compile())

    def _compile(self) -> Any:
        with global_compiler_lock, ExitStack() as stack:
            if self._compiled is None:
                # A division is one instruction, as NumPy's: it never raises ZeroDivisionError.
                decorate = numba.njit(nogil=True, error_model="numpy", **self._options)
                dispatcher: Any = decorate(self._function)
                dispatcher._cache = _DiskCache(self._function)
                dispatcher._cache.stack = stack
                dispatcher.compile(self._signature)
                dispatcher.disable_compile()
                self._compiled = dispatcher
        return self._compiled


def compiled(signature: Any, **options: Any) -> Callable[[Callable[..., Any]], Kernel]:
    """Decorate a function as a `Kernel` with a signature and options of Numba."""
    return lambda function: Kernel(function, signature, **options)


#: Numba's locators of cache directories; the names of their classes depend on its version.
_LOCATORS: list[Any] = CompileResultCacheImpl._locator_classes
_InTree: Any = next(c for c in _LOCATORS if c.__name__.endswith("InTreeCacheLocator"))


class _UnwritableLocator(_InTree):  # type: ignore[misc]
    """The directory beside the module, where no directory can be written."""

    def ensure_cache_path(self) -> None:
        """Accept it."""


class _CacheFiles(CompileResultCacheImpl):
    _locator_classes = [*_LOCATORS, _UnwritableLocator]  # noqa: RUF012


class _DiskCache(FunctionCache):
    """Numba's disk cache of a function, which survives files that cannot be read or written.

    A kernel contains the loops that it calls, in whichever module they are. So the source of all
    kernels is part of the cache key. A process that does not find a kernel holds a lock on it until
    `stack` is closed: Numba would mix up the files of two that are stored at the same time.
    """

    _impl_class = _CacheFiles
    stack: ExitStack

    def load_overload(self, signature: Any, context: Any) -> Any:
        overload = self._load(signature, context)
        if overload is None:
            self._lock()
            overload = self._load(signature, context)
        if overload is None:  # announced only here: to load one may take long on a busy machine
            self._warn_of_setting()
            is_stored = not isinstance(self._impl.locator, _UnwritableLocator)
            self.stack.enter_context(notice(_NOTICE if is_stored else _NOTICE_NOT_STORED))
        return overload

    def save_overload(self, signature: Any, result: Any) -> None:
        self._attempt(super().save_overload, (signature, _source_digest()), result)

    def _load(self, signature: Any, context: Any) -> Any:
        """Return a stored kernel, also of a directory that cannot be written, or None."""
        key = (signature, _source_digest())
        try:
            overload = super().load_overload(key, context)
        except Exception:  # a broken pickle may raise any
            self._attempt(self.flush)
            overload = None
        own_files = self._cache_file
        for directory in _directories(self._impl.locator, self._py_func):
            if overload is None and directory != self.cache_path:
                stamp, name = self._impl.locator.get_source_stamp(), self._impl.filename_base
                self._cache_file = IndexDataCacheFile(directory, name, stamp)
                with suppress(Exception):
                    overload = super().load_overload(key, context)
        self._cache_file = own_files
        return overload

    def _lock(self) -> None:
        """Wait for other processes that compile this kernel; none wait where there are no locks."""
        with suppress(ImportError, OSError):
            import fcntl

            lock = os.open(f"{self._cache_file._index_path}.lock", os.O_RDWR | os.O_CREAT, 0o666)
            self.stack.callback(os.close, lock)
            fcntl.flock(lock, fcntl.LOCK_EX)

    def _warn_of_setting(self) -> None:
        """Warn if kernels are not stored in NUMBA_CACHE_DIR."""
        setting = os.environ.get("NUMBA_CACHE_DIR", "")
        if not self.cache_path.startswith(setting):
            warn_once(f"NUMBA_CACHE_DIR is not used, because it cannot be written: {setting!r}")

    def _attempt(self, write: Callable[..., None], *arguments: Any) -> None:
        try:
            write(*arguments)
        except OSError as error:
            _warn_not_stored(f"{error.strerror or error} in {self.cache_path}")


def _directories(locator: Any, function: Callable[..., Any]) -> list[str]:
    """Return where the kernels of a module are stored by those who may write there."""
    source = function.__code__.co_filename
    beside = os.path.join(os.path.dirname(source), "__pycache__")
    setting = os.environ.get("NUMBA_CACHE_DIR", "")
    return [os.path.join(setting, locator.get_suitable_cache_subpath(source)), beside]


def _warn_not_stored(reason: str) -> None:
    """Warn that kernels are not stored, with the cure."""
    warn_once(
        f"pinesy compiles its kernels anew in every process, because {reason}; set the environment "
        "variable NUMBA_CACHE_DIR to a directory that can be written"
    )


@cache
def _source_digest() -> str:
    """Return the SHA-256 digest of the source of all modules of kernels and loops."""
    root = Path(__file__).parents[1]
    modules = [*root.rglob("*kernels.py"), *root.rglob("*loops.py")]
    sources = sorted([*modules, Path(__file__), root / "_version.py"])
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()


def _machine_operation(of_floats: str, of_integers: str) -> Any:
    """Return a Numba intrinsic on two numbers, or vectors, of one type: one LLVM instruction.

    With a comparison, ``t[i] = max(t[i], x[i])`` compiles to masked stores, four times slower.
    The fast-math flags rely on what is checked on input: no NaN, and no -0.0. Integers are
    unsigned.
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
