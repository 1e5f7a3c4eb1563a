"""A probability-possibility transformation as one object: registered, and applied to any form."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.caching import kernels_pay, load_kernels
from pinesy._common.threads import n_threads, run_on_threads
from pinesy._common.validation import (
    FloatArray,
    check_distribution,
    check_unmasked,
    cut_repr,
    suggestion,
)
from pinesy.exceptions import DegreeError, DomainError, placed
from pinesy.transforms import transform_loops

#: The largest difference between the sum of probabilities and 1: that of float32 softmax outputs is
#: about 1e-7 times the number of classes. They are divided by their sum.
SUM_TOLERANCE = 1e-4

KERNELS = "pinesy.transforms.transform_kernels"
#: Nanoseconds that Python takes to interpret the loops for a number.
NUMBER_TIME = 10_000
#: Numbers of a task, and numbers from which a second thread pays.
CHUNK, THREAD_CELLS = 100_000, 40_000
#: The entry point group of transformations in other packages.
ENTRY_POINTS = "pinesy.transforms"


@dataclass(frozen=True, eq=False)
class Transformation:
    """A transformation of probabilities into possibilities, in NumPy, PyTorch and ONNX.

    Register it (`register_transform`), and `infer`, layers, ONNX, the command line and the studio
    accept its name. Where an implementation is missing they raise an error that names it.

    Attributes
    ----------
    name : such as ``"minimum_specificity"``; ``-`` may be written for ``_``
    rows : a function of an array ``(n, m)`` of probabilities whose rows sum to 1 that returns the
        possibilities, of the same shape; the largest of a row is 1
    loop : instead of `rows`, the code of a loop of `transform_loops`
    torch : a function of a tensor ``(..., m)``, or ``"module:name"`` of one
    onnx : a function of a graph, the name of rows ``(n, m)`` in it and ``m`` that appends nodes and
        returns the name of their result, or ``"module:name"`` of one
    inverse : a function of possibilities ``(n, m)``, each row with a 1, that returns the
        probabilities; None if there is none
    function : its public function, which is accepted like its name

    Examples
    --------
    >>> ratio = Transformation("ratio", rows=lambda p: p / p.max(axis=1, keepdims=True))
    >>> ratio({"a": 0.8, "b": 0.2})
    {'a': 1.0, 'b': 0.25}
    """

    name: str
    rows: Callable[[FloatArray], Any] | None = None
    loop: int | None = None
    torch: Callable[..., Any] | str | None = None
    onnx: Callable[..., Any] | str | None = None
    inverse: Callable[..., Any] | None = None
    function: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and self.name.isidentifier()):
            raise DomainError(
                f"the name of a transformation is {self.name!r:.60}; give letters, digits and _"
            )
        if (self.rows is None) == (self.loop is None):
            raise DomainError(
                f"transformation {self.name!r}: give rows, a function of an array (n, m)"
            )

    def __call__(self, distribution: Any) -> Any:
        """Transform a dict, an array ``(..., m)`` or a table; see `pinesy.transforms`."""
        return apply_transform(self, distribution)

    def part(self, name: str) -> Callable[..., Any]:
        """Return the implementation ``"torch"`` or ``"onnx"``; `DomainError` if there is none."""
        part = getattr(self, name)
        if part is None:
            raise DomainError(
                f"the transformation {self.name!r} has no {name} function: register it with "
                f"{name}=..., or transform the probabilities first and give possibilities"
            )
        if not isinstance(part, str):
            return part  # type: ignore[no-any-return]
        module, _, function = part.partition(":")
        return getattr(import_module(module), function)  # type: ignore[no-any-return]


#: The registered transformations by name; `pinesy.transforms` registers those of the paper.
TRANSFORMS: dict[str, Transformation] = {}


def register_transform(transformation: Transformation) -> Transformation:
    """Make a transformation known by its name everywhere; return it.

    Raises
    ------
    DomainError : if another transformation has the name
    """
    if TRANSFORMS.setdefault(transformation.name, transformation) is not transformation:
        raise DomainError(f"there is a transformation {transformation.name!r} already")
    return transformation


def as_transform(transform: object) -> Transformation:
    """Return a transformation, given as an object, by its name or by its function.

    Unknown names are looked up in the entry points of installed packages.

    Examples
    --------
    >>> from pinesy import antipignistic
    >>> as_transform("minimum-specificity").name, as_transform(antipignistic).name
    ('minimum_specificity', 'antipignistic')
    """
    transformation = _find(transform)
    if transformation is None and isinstance(transform, str):
        from importlib.metadata import entry_points  # slow to import

        for entry in entry_points(group=ENTRY_POINTS):
            if entry.name not in TRANSFORMS:
                register_transform(entry.load())
        transformation = _find(transform)
    if transformation is None:
        raise DomainError(
            f"unknown transformation {transform!r:.60}{suggestion(transform, TRANSFORMS)}"
        )
    return transformation


def _find(transform: object) -> Transformation | None:
    """Return a registered transformation, or None."""
    if isinstance(transform, Transformation):
        return transform
    if isinstance(transform, str):
        return TRANSFORMS.get(transform.replace("-", "_"))
    known = TRANSFORMS.values()
    return next((t for t in known if transform is t.function and t.function is not None), None)


# --- distributions in any form ------------------------------------------------------------------


def apply_transform(transform: Transformation, distribution: Any) -> Any:
    """Return transformed distributions in the form of the argument: dict, array or table."""
    if isinstance(distribution, Mapping):
        rows = _as_rows(list(distribution.values()))
        result = _transform_rows(transform, rows, tuple(distribution))
        return dict(zip(distribution, result.tolist(), strict=True))
    columns = getattr(distribution, "columns", None)
    rows = _as_rows(distribution)
    values = range(rows.shape[-1]) if columns is None else tuple(columns)
    result = _transform_rows(transform, rows, values)
    return result if columns is None else _as_table(result, distribution)


def _transform_rows(
    transform: Transformation, rows: npt.NDArray[Any], values: Sequence[object]
) -> FloatArray:
    """Return the transformed rows (..., m), or raise the error of the first invalid row."""
    flat = rows.reshape(-1, rows.shape[-1])
    result = np.empty(flat.shape)
    bad_row = RowTransform(transform, rows.shape[-1:]).fill(flat, result)
    if bad_row >= 0:
        index = tuple(map(int, np.unravel_index(bad_row, rows.shape[:-1] or (1,))))
        where = f"row {bad_row}" if rows.ndim < 3 else f"index {index}"
        degrees = flat[bad_row].astype(np.float64)
        if transform.loop == transform_loops.INVERSE:
            check_distribution(degrees, tuple(values), f"possibilities, {where}")
        with nullcontext() if len(flat) == 1 else placed(where):
            check_probabilities(degrees, values)
    return result.reshape(rows.shape)


def check_probabilities(row: FloatArray, values: Iterable[object]) -> None:
    """Raise `DegreeError` unless a row is a probability distribution on `values`."""
    for value, p in zip(values, row.tolist(), strict=True):
        if not p >= 0.0:
            raise DegreeError(f"the probability of {value!r} is {p!r}; must be >= 0")
    total = float(np.cumsum(row)[-1])  # added one after the other, as the loops do
    if not abs(total - 1.0) <= SUM_TOLERANCE:
        raise DegreeError(
            f"the probabilities sum to {total!r}; they must sum to 1 (within {SUM_TOLERANCE}): "
            "apply a softmax to raw scores first"
        )


class RowTransform:
    """A transformation of rows of concatenated distributions.

    Parameters
    ----------
    transform : the transformation
    sizes : the size of each distribution of a row
    unchanged : the indices of the distributions that are not transformed
    """

    def __init__(
        self, transform: Transformation, sizes: Sequence[int], unchanged: Collection[int] = ()
    ) -> None:
        self.transform, self.unchanged = transform, unchanged
        starts: dict[int, list[int]] = {}
        begin = 0
        for index, size in enumerate(sizes):
            if index not in unchanged:
                starts.setdefault(size, []).append(begin)
            begin += size
        self._groups = [(np.array(s, np.uint32), m) for m, s in starts.items()]

    def fill(self, x: npt.NDArray[Any], out: FloatArray) -> int:
        """Fill `out` (n, columns) from `x` on all cores; return the first invalid row, or -1.

        Memory: for dtypes other than float64, a chunk of rows per thread.
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
        return min((row for row in run_on_threads(work, chunks, threads) if row >= 0), default=-1)

    def fill_block(self, x: npt.NDArray[Any], out: FloatArray) -> int:
        """Fill `out` in this thread; see `fill`."""
        x = np.ascontiguousarray(x, dtype=np.float64)
        if self.unchanged:
            out[...] = x
        if self.transform.rows is not None:
            return self._fill_by_function(self.transform.rows, x, out)
        is_compiled = kernels_pay(KERNELS, x.size * NUMBER_TIME)
        loops: Any = load_kernels(KERNELS) if is_compiled else transform_loops
        loop = self.transform.loop
        with np.errstate(all="ignore"):  # infinities are invalid
            rows = [loops.transform_rows(x, out, *g, loop, SUM_TOLERANCE) for g in self._groups]
        return min((row for row in rows if row >= 0), default=-1)

    def _fill_by_function(self, rows: Any, x: FloatArray, out: FloatArray) -> int:
        """Fill `out` by the function of a transformation that has no compiled loop."""
        for starts, size in self._groups:
            columns = starts[:, None].astype(np.intp) + np.arange(size)
            probabilities = x[:, columns].reshape(-1, size)
            totals = np.cumsum(probabilities, axis=1)[:, -1:]
            is_valid = (probabilities >= 0.0).all(axis=1)
            is_valid &= np.abs(totals[:, 0] - 1.0) <= SUM_TOLERANCE
            if not is_valid.all():
                return int(np.argmin(is_valid)) // len(starts)
            degrees = np.asarray(rows(probabilities / totals), dtype=np.float64)
            self._check_degrees(degrees, probabilities.shape)
            out[:, columns] = degrees.reshape(len(x), len(starts), size)
        return -1

    def _check_degrees(self, degrees: FloatArray, shape: tuple[int, ...]) -> None:
        """Raise `DegreeError` unless an array function returned possibilities."""
        name = self.transform.name
        if degrees.shape != shape:
            raise DegreeError(
                f"the transformation {name!r} returned shape {degrees.shape} for {shape}"
            )
        is_degree = (degrees >= 0.0) & (degrees <= 1.0)
        if degrees.size and not (is_degree.all() and (degrees.max(axis=1) == 1.0).all()):
            raise DegreeError(
                f"the transformation {name!r} returned rows that are no possibilities: all must be "
                "in [0, 1], and the largest exactly 1"
            )


def _as_table(rows: FloatArray, like: Any) -> Any:
    """Return rows as a table with the columns (and index, if any) of another table."""
    if hasattr(like, "index"):  # pandas
        return type(like)(rows, index=like.index, columns=like.columns)
    return type(like)(rows, schema=list(like.columns))


def _as_rows(distribution: Any) -> npt.NDArray[Any]:
    """Return distributions as an array (..., m) of their numeric dtype."""
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
