"""Probability-possibility transformations.

Each function takes one distribution, as a dict ``{value: degree}`` or an array ``(m,)``, or a
batch ``(n, m)``, as an array or a table of pandas or polars, and returns the same form: a table
keeps its columns and its index. The most probable value always gets exactly 1.0.
"""

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Literal, Protocol, TypeVar, overload

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray, check_distributions, suggestion
from pinesy.exceptions import DegreeError, DomainError

__all__ = ["antipignistic", "antipignistic_inverse", "inverse", "minimum_specificity"]

#: How far a probability distribution may sum from 1 and still be one: float32 softmax outputs
#: stray by some 1e-7 times the number of classes. They are divided by their sum.
SUM_TOLERANCE = 1e-4

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
    degrees to the last bit. One-to-one; see `antipignistic_inverse`. Cost O(m log m) a sample.

    Examples
    --------
    >>> antipignistic({3: 0.8, 8: 0.2})
    {3: 1.0, 8: 0.4}
    """
    return _apply(_antipignistic, _probabilities, probability)


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
    return _apply(_antipignistic_inverse, _possibilities, possibility)


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
    probability : dict, array (m,), batch (n, m) or table
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
    transform = _minimum_specificity if ties == "order" else _minimum_specificity_equal
    return _apply(transform, _probabilities, probability)


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


def _apply(
    transform: Callable[[FloatArray, npt.NDArray[np.intp]], FloatArray],
    check: Callable[[FloatArray, tuple[object, ...]], FloatArray],
    distribution: Mapping[Value, float] | Columns | npt.ArrayLike,
) -> Any:
    """Run `transform` on sorted rows, giving back the form that came in."""
    if isinstance(distribution, Mapping):
        rows = _as_rows([list(distribution.values())])
        result = _on_sorted(transform, check(rows, tuple(distribution)))
        return dict(zip(distribution, result[0].tolist(), strict=True))
    columns = getattr(distribution, "columns", None)
    rows = _as_rows(distribution)
    values = tuple(range(rows.shape[-1]) if columns is None else columns)
    result = _on_sorted(transform, check(np.atleast_2d(rows), values)).reshape(rows.shape)
    return result if columns is None else _as_table(result, distribution)


def _as_table(rows: FloatArray, like: Any) -> Any:
    """Return rows as a table with the columns (and the index, if it has one) of another."""
    if hasattr(like, "index"):  # pandas
        return type(like)(rows, index=like.index, columns=like.columns)
    return type(like)(rows, schema=list(like.columns))


def _as_rows(distribution: Any) -> FloatArray:
    try:
        rows = np.asarray(distribution, dtype=np.float64)
    except (TypeError, ValueError):
        cure = "; take the columns of the distribution alone" * hasattr(distribution, "columns")
        shown = repr(distribution).replace("\n", " ")
        raise DegreeError(f"a distribution must hold numbers{cure}; got {shown:.80}") from None
    if rows.ndim not in (1, 2) or rows.shape[-1] == 0:
        raise DegreeError(
            f"a distribution has shape (m,) and a batch (n, m), m >= 1; got shape {rows.shape}"
        )
    return rows


def _probabilities(rows: FloatArray, values: tuple[object, ...]) -> FloatArray:
    """Check that each row is a probability distribution; divide it by its sum."""
    with np.errstate(invalid="ignore"):  # inf - inf; such rows are refused below
        total = rows.sum(axis=1, keepdims=True)
    wrong = ~((rows >= 0.0).all(axis=1) & (np.abs(total[:, 0] - 1.0) <= SUM_TOLERANCE))
    if wrong.any():
        row = int(np.argmax(wrong))
        where = f"row {row}: " if len(rows) > 1 else ""
        for value, p in zip(values, rows[row].tolist(), strict=True):
            if not p >= 0.0:
                raise DegreeError(f"{where}the probability of {value!r} is {p!r}; must be >= 0")
        raise DegreeError(
            f"{where}the probabilities sum to {float(total[row, 0])!r}; they must sum to 1 "
            f"(within {SUM_TOLERANCE}): apply a softmax to raw scores first"
        )
    return np.asarray(rows / total, dtype=np.float64)


def _possibilities(rows: FloatArray, values: tuple[object, ...]) -> FloatArray:
    check_distributions(rows, values, "possibilities")
    return rows


def _on_sorted(
    transform: Callable[[FloatArray, npt.NDArray[np.intp]], FloatArray], rows: FloatArray
) -> FloatArray:
    """Apply `transform` to the rows sorted in decreasing order, ties in domain order."""
    order = np.argsort(-rows, axis=1, kind="stable")
    rank = np.arange(1, rows.shape[1] + 1)
    result = np.empty_like(rows)
    np.put_along_axis(result, order, transform(np.take_along_axis(rows, order, 1), rank), 1)
    return result


def _suffix_sums(rows: FloatArray) -> FloatArray:
    return np.cumsum(rows[:, ::-1], axis=1)[:, ::-1]


def _antipignistic(p: FloatArray, rank: npt.NDArray[np.intp]) -> FloatArray:
    # pi_i = sum_j min(p_j, p_i)  [subsec:antipignistic]
    following = np.concatenate([p[:, 1:], np.zeros((len(p), 1))], axis=1)
    return _exact_top(p, _suffix_sums(rank * (p - following)))


def _antipignistic_inverse(pi: FloatArray, rank: npt.NDArray[np.intp]) -> FloatArray:
    # p_i = sum_{j >= i} (pi_j - pi_{j+1}) / j  [subsec:antipignistic]
    following = np.concatenate([pi[:, 1:], np.zeros((len(pi), 1))], axis=1)
    return _suffix_sums((pi - following) / rank)


def _minimum_specificity(p: FloatArray, _rank: npt.NDArray[np.intp]) -> FloatArray:
    # pi_i = sum_{j >= i} p_j  [subsec:probposs_mps]
    pi = np.minimum(_suffix_sums(p), 1.0)
    pi[:, 0] = 1.0
    return pi


def _minimum_specificity_equal(p: FloatArray, rank: npt.NDArray[np.intp]) -> FloatArray:
    """Give each run of equal probabilities the degree of its first member."""
    starts = np.concatenate([np.ones((len(p), 1), bool), p[:, 1:] != p[:, :-1]], axis=1)
    first = np.maximum.accumulate(np.where(starts, rank - 1, 0), axis=1)
    return np.take_along_axis(_minimum_specificity(p, rank), first, axis=1)


def _exact_top(p: FloatArray, pi: FloatArray) -> FloatArray:
    """Set the values tied for the first place to 1.0, and no other above it, despite rounding."""
    return np.where(p == p[:, :1], 1.0, np.minimum(pi, 1.0))


#: The transformations of probabilities, by name.
TRANSFORMS: dict[str, Callable[..., Any]] = {
    "antipignistic": antipignistic,
    "minimum_specificity": minimum_specificity,
}


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
