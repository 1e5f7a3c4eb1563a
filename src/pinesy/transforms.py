"""Probability-possibility transformations.

Each function takes one distribution, as a dict ``{value: degree}`` or an array ``(m,)``, or
several, as an array ``(..., m)`` or a table of pandas or polars, and returns the same form: a table
keeps its columns and its index. The most probable value always gets exactly 1.0. Degrees are
computed in float64, whatever the numbers that are given. Cost O(m log(m)^2) a distribution, which
is less than rules need; `Program.infer` takes probabilities and transforms them as it reads them.
"""

import sys
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import lru_cache
from typing import Any, Literal, Protocol, TypeVar, overload

import numpy as np
import numpy.typing as npt

from pinesy._common import transform_loops
from pinesy._common.caching import load_kernels
from pinesy._common.threads import n_threads, share
from pinesy._common.transform_loops import ANTIPIGNISTIC, EQUAL_TIES, INVERSE, MINIMUM_SPECIFICITY
from pinesy._common.validation import (
    FloatArray,
    check_distribution,
    check_unmasked,
    cut_repr,
    suggestion,
)
from pinesy.exceptions import DegreeError, DomainError, placed

__all__ = ["antipignistic", "antipignistic_inverse", "inverse", "minimum_specificity"]

#: How far a probability distribution may sum from 1 and still be one: float32 softmax outputs
#: stray by some 1e-7 times the number of classes. They are divided by their sum.
SUM_TOLERANCE = 1e-4

KERNELS = "pinesy._common.transform_kernels"
#: Numbers up to which Python runs the loops, if they are not compiled yet: that takes 5 ms, loading
#: Numba a hundred times as long.
FEW = 500
#: Numbers a task of a thread, and numbers from which a second thread pays.
CHUNK, THREAD_CELLS = 100_000, 40_000

Value = TypeVar("Value", bound=Hashable)


class NamedColumns(Protocol):
    """A table with names of columns: a DataFrame of pandas or polars."""

    @property
    def columns(self) -> Any: ...


Columns = TypeVar("Columns", bound=NamedColumns)


@overload
def antipignistic(probability: Mapping[Value, float]) -> dict[Value, float]: ...
@overload
def antipignistic(probability: Columns) -> Columns: ...
@overload
def antipignistic(probability: npt.ArrayLike) -> FloatArray: ...
def antipignistic(
    probability: Mapping[Value, float] | Columns | npt.ArrayLike,
) -> Any:
    """Transform probabilities into possibilities by the antipignistic method.

    ``pi_i = sum_j min(p_j, p_i)``; with ``p_1 >= ... >= p_m`` this is computed from the least
    probable value up as ``pi_i = pi_{i+1} + i (p_i - p_{i+1})``, so that tied values get equal
    degrees to the last bit. One-to-one; see `antipignistic_inverse`.

    Examples
    --------
    >>> antipignistic({3: 0.8, 8: 0.2})
    {3: 1.0, 8: 0.4}
    """
    return _apply(ANTIPIGNISTIC, probability)


@overload
def antipignistic_inverse(possibility: Mapping[Value, float]) -> dict[Value, float]: ...
@overload
def antipignistic_inverse(possibility: Columns) -> Columns: ...
@overload
def antipignistic_inverse(possibility: npt.ArrayLike) -> FloatArray: ...
def antipignistic_inverse(
    possibility: Mapping[Value, float] | Columns | npt.ArrayLike,
) -> Any:
    """Transform normalised possibilities back into the probabilities they came from.

    ``p_i = sum_{j >= i} (pi_j - pi_{j+1}) / j`` with ``pi_1 >= ... >= pi_m``, ``pi_{m+1} = 0``.
    `minimum_specificity` has no inverse.

    Examples
    --------
    >>> antipignistic_inverse({3: 1.0, 8: 0.4})
    {3: 0.8, 8: 0.2}
    """
    return _apply(INVERSE, possibility)


@overload
def minimum_specificity(
    probability: Mapping[Value, float], ties: Literal["order", "equal"] = "order"
) -> dict[Value, float]: ...
@overload
def minimum_specificity(
    probability: Columns, ties: Literal["order", "equal"] = "order"
) -> Columns: ...
@overload
def minimum_specificity(
    probability: npt.ArrayLike, ties: Literal["order", "equal"] = "order"
) -> FloatArray: ...
def minimum_specificity(
    probability: Mapping[Value, float] | Columns | npt.ArrayLike,
    ties: Literal["order", "equal"] = "order",
) -> Any:
    """Transform probabilities into the most specific possibilities that dominate them.

    ``pi_i = sum_{j >= i} p_j`` with ``p_1 >= ... >= p_m``. Not invertible.

    Parameters
    ----------
    probability : dict, array (m,), array (..., m) or table
    ties : ``"order"`` breaks ties by domain order, as the paper's example does;
        ``"equal"`` gives tied values one degree, the sum of all ``p_j <= p_i``.

    Examples
    --------
    >>> minimum_specificity({"a": 0.5, "b": 0.25, "c": 0.25})
    {'a': 1.0, 'b': 0.5, 'c': 0.25}
    >>> minimum_specificity({"a": 0.5, "b": 0.25, "c": 0.25}, ties="equal")
    {'a': 1.0, 'b': 0.5, 'c': 0.5}
    """
    if ties not in ("order", "equal"):
        raise DegreeError(f"ties={ties!r} is unknown; choose 'order' or 'equal'")
    return _apply(MINIMUM_SPECIFICITY if ties == "order" else EQUAL_TIES, probability)


def inverse(transform: Callable[..., object]) -> Callable[..., object]:
    """Return the inverse of a transformation, where there is one.

    Examples
    --------
    >>> inverse(antipignistic)({"a": 1.0, "b": 1.0})
    {'a': 0.5, 'b': 0.5}
    """
    if transform is antipignistic:
        return antipignistic_inverse
    if transform is minimum_specificity:
        raise DegreeError(
            "minimum_specificity has no inverse (different probabilities give the same "
            "possibilities); use antipignistic where probabilities are needed back"
        )
    raise DegreeError(f"{transform!r} is not a transformation of pinesy, so its inverse is unknown")


def _apply(kind: int, distribution: Mapping[Value, float] | Columns | npt.ArrayLike) -> Any:
    """Transform distributions, giving back the form that came in."""
    if isinstance(distribution, Mapping):
        rows = _as_rows(list(distribution.values()))
        result = _transformed(kind, rows, tuple(distribution))
        return dict(zip(distribution, result.tolist(), strict=True))
    columns = getattr(distribution, "columns", None)
    rows = _as_rows(distribution)
    values = range(rows.shape[-1]) if columns is None else tuple(columns)
    result = _transformed(kind, rows, values)
    return result if columns is None else _as_table(result, distribution)


def _transformed(kind: int, rows: npt.NDArray[Any], values: Sequence[object]) -> FloatArray:
    """Return the transformed rows (..., m), or raise the error of the first that cannot be."""
    flat = rows.reshape(-1, rows.shape[-1])
    result = np.empty(flat.shape)
    bad = RowTransform(kind, rows.shape[-1:]).fill(flat, result)
    if bad >= 0:
        place = tuple(map(int, np.unravel_index(bad, rows.shape[:-1] or (1,))))
        row = f"row {bad}" if rows.ndim < 3 else f"index {place}"
        _refuse(kind, flat[bad].astype(np.float64), values, row, alone=len(flat) == 1)
    return result.reshape(rows.shape)


def _refuse(
    kind: int, degrees: FloatArray, values: Sequence[object], where: str, alone: bool
) -> None:
    """Raise the error of a row that is no distribution."""
    if kind == INVERSE:
        check_distribution(degrees, tuple(values), f"possibilities, {where}")
    with nullcontext() if alone else placed(where):
        check_probabilities(degrees, values)


def check_probabilities(row: FloatArray, values: Iterable[object]) -> None:
    """Raise `DegreeError` unless a row is a probability distribution on `values`."""
    for value, p in zip(values, row.tolist(), strict=True):
        if not p >= 0.0:
            raise DegreeError(f"the probability of {value!r} is {p!r}; must be >= 0")
    total = float(row.sum())
    if not abs(total - 1.0) <= SUM_TOLERANCE:
        raise DegreeError(
            f"the probabilities sum to {total!r}; they must sum to 1 (within {SUM_TOLERANCE}): "
            "apply a softmax to raw scores first"
        )


class RowTransform:
    """A transformation of rows that hold distributions side by side.

    Parameters
    ----------
    kind : ``ANTIPIGNISTIC``, ``MINIMUM_SPECIFICITY``, ``EQUAL_TIES`` or ``INVERSE``
    sizes : of the distributions of a row, in their order
    left_out : the numbers of those that stay as they are
    """

    def __init__(self, kind: int, sizes: Sequence[int], left_out: Collection[int] = ()) -> None:
        self.kind, self.left_out = kind, left_out
        starts: dict[int, list[int]] = {}
        begin = 0
        for number, size in enumerate(sizes):
            if number not in left_out:
                starts.setdefault(size, []).append(begin)
            begin += size
        self._groups = [(np.array(s, np.uint32), m, _leaves(m)) for m, s in starts.items()]

    def fill(self, x: npt.NDArray[Any], out: FloatArray) -> int:
        """Fill `out` (n, columns) from `x` on all cores; return the first bad row, or -1.

        A bad row holds something that is no distribution. Memory: for numbers other than float64,
        a chunk of rows a thread.
        """
        step = max(1, CHUNK // x.shape[1])
        chunks = range(0, len(x), step)

        def work(queue: Iterator[int]) -> int:
            for start in queue:
                rows = slice(start, start + step)
                if (bad := self.fill_block(x[rows], out[rows])) >= 0:
                    return start + bad
            return -1

        threads = min(n_threads(), len(chunks)) if x.size > THREAD_CELLS else 1
        return min((row for row in share(work, chunks, threads) if row >= 0), default=-1)

    def fill_block(self, x: npt.NDArray[Any], out: FloatArray) -> int:
        """Fill `out` in this thread; see `fill`."""
        x = np.ascontiguousarray(x, dtype=np.float64)
        if self.left_out:
            out[...] = x
        if x.size > FEW or KERNELS in sys.modules:
            return self._run(load_kernels(KERNELS), x, out)
        with np.errstate(all="ignore"):  # what comes of infinities is refused
            return self._run(transform_loops, x, out)

    def _run(self, loops: Any, x: FloatArray, out: FloatArray) -> int:
        found = [loops.transform_rows(x, out, *g, self.kind, SUM_TOLERANCE) for g in self._groups]
        return min((row for row in found if row >= 0), default=-1)


@lru_cache(maxsize=256)
def _leaves(size: int) -> npt.NDArray[np.uint32]:
    return np.array(transform_loops.summation(size), dtype=np.uint32)


def _as_table(rows: FloatArray, like: Any) -> Any:
    """Return rows as a table with the columns (and the index, if it has one) of another."""
    if hasattr(like, "index"):  # pandas
        return type(like)(rows, index=like.index, columns=like.columns)
    return type(like)(rows, schema=list(like.columns))


def _as_rows(distribution: Any) -> npt.NDArray[Any]:
    """Return numbers (..., m), of the type they have."""
    check_unmasked(distribution, "a distribution")
    try:
        rows = np.asarray(distribution)
        rows = rows if rows.dtype.kind in "fiub" else np.asarray(distribution, dtype=np.float64)
    except (TypeError, ValueError):
        cure = "; take the columns of the distribution alone" * hasattr(distribution, "columns")
        text = cut_repr(distribution, None).replace("\n", " ")
        raise DegreeError(f"a distribution must hold numbers{cure}; got {text:.80}") from None
    if not rows.ndim or rows.shape[-1] == 0:
        raise DegreeError(
            f"a distribution has shape (m,), several (..., m), m >= 1; got shape {rows.shape}"
        )
    return rows


#: The transformations of probabilities, by name, and their kinds.
TRANSFORMS: dict[str, Callable[..., Any]] = {
    "antipignistic": antipignistic,
    "minimum_specificity": minimum_specificity,
}
KINDS = {"antipignistic": ANTIPIGNISTIC, "minimum_specificity": MINIMUM_SPECIFICITY}


def transform_name(transform: object) -> str:
    """Return the name of a transformation, which is given by its name or as a function.

    Examples
    --------
    >>> transform_name("minimum-specificity"), transform_name(antipignistic)
    ('minimum_specificity', 'antipignistic')
    """
    word = transform.replace("-", "_") if isinstance(transform, str) else None
    for name, function in TRANSFORMS.items():
        if transform is function or word == name:
            return name
    raise DomainError(
        f"there is no transformation {transform!r:.60}{suggestion(transform, TRANSFORMS)}"
    )
