"""Systems whose rows come in batches, from files, streams or a cluster: two passes and a merge.

The first pass summarises the columns of each batch and merges the summaries; the second measures
the rows of each batch against them. No matrix is ever put together.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pinesy._common.cluster_tasks import ClusterTasks, checked_parts
from pinesy._common.validation import FloatArray
from pinesy.equations.column_summary import ColumnSummary
from pinesy.equations.compositions import Composition, as_composition
from pinesy.equations.fronts import TOLERANCE
from pinesy.equations.product import check_same_length, degree_array
from pinesy.equations.summaries import summarise
from pinesy.equations.systems import System
from pinesy.exceptions import DataError, InconsistentSystemError, placed

Batches = Iterable[Any] | Callable[[], Iterable[Any]]


@dataclass(frozen=True)
class BatchSolution:
    """What is known of a system whose rows came in batches; see `System` for the terms.

    Attributes
    ----------
    composition : the composition
    n_rows : the number of rows
    is_consistent : whether there is a solution
    chebyshev_distance : float
    is_attained : whether the distance is attained
    batch, row : the batch, and the row in it, that is farthest from consistent
    candidate : array (M,), the extreme solution if there is any
    """

    composition: Composition
    n_rows: int
    is_consistent: bool
    chebyshev_distance: float
    is_attained: bool
    batch: int
    row: int
    candidate: FloatArray
    summary: ColumnSummary

    @property
    def extreme_approximate_solution(self) -> FloatArray:
        """The greatest (lowest) vector whose residual is the distance."""
        if not self.is_attained:
            raise InconsistentSystemError(
                f"the distance {self.chebyshev_distance!r} is not attained; ask for "
                "solution_within(d) of a larger d",
                self.chebyshev_distance,
            )
        return self.solution_within(self.chebyshev_distance)

    def solution_within(self, distance: float) -> FloatArray:
        """Return the greatest (lowest) vector with a residual of at most `distance`."""
        x: FloatArray = self.composition.turn_back(self.summary.solution(distance))
        return x

    def __repr__(self) -> str:
        verdict = "consistent" if self.is_consistent else f"distance {self.chebyshev_distance:g}"
        return f"BatchSolution({self.n_rows:,} rows, {self.composition.name!r}, {verdict})"


class BatchDistance(NamedTuple):
    """The farthest row of a batch; `open_distance` is that of rows that do not attain theirs."""

    distance: float
    open_distance: float
    is_reached: bool
    batch: int
    row: int
    n_rows: int


def solve_batches(
    batches: Batches, composition: str | Composition = "max-min", *, client: Any = None
) -> BatchSolution:
    """Solve a system whose rows come in batches.

    With min, max, Lukasiewicz and the Goedel implication the distance does not depend on how rows
    are divided, to the last bit; with product and Goguen it does by rounding only.

    Parameters
    ----------
    batches : pairs ``(matrix, right)``
        A list, or a function that returns an iterator: they are read twice. On a cluster a list of
        pairs, `dask.delayed` calls or futures.
    composition : str
    client : a `distributed.Client`, for work on a cluster

    Examples
    --------
    >>> batches = [([[1.0]], [0.6]), ([[0.5], [0.25]], [0.0, 0.0])]
    >>> solution = solve_batches(batches, "max-product")
    >>> solution
    BatchSolution(3 rows, 'max-product', distance 0.2)
    >>> solution.extreme_approximate_solution
    array([0.4])
    """
    kind = as_composition(composition)
    work = _local_work(batches) if client is None else _cluster_work(batches, client)
    summary = _merge(work(partial(_summarise, kind)))
    candidate = kind.turn_back(summary.solution(0.0))
    measured = list(work(partial(_measure, kind, summary, candidate)))
    farthest = max(measured, key=lambda part: part.distance)
    is_consistent = all(part.is_reached for part in measured)
    distance = 0.0 if is_consistent else farthest.distance
    open_distance = max(part.open_distance for part in measured)
    return BatchSolution(
        kind,
        sum(part.n_rows for part in measured),
        is_consistent,
        distance,
        is_consistent or open_distance < distance - TOLERANCE,
        farthest.batch,
        farthest.row,
        candidate,
        summary,
    )


def _local_work(batches: Batches) -> Callable[[Callable[..., Any]], Iterator[Any]]:
    """Return how to do a function on every batch in this process."""
    if not callable(batches) and iter(batches) is batches:
        raise DataError(
            "batches is an iterator, which can be read once; give a list, or a function that "
            "returns a new iterator"
        )

    def work(function: Callable[..., Any]) -> Iterator[Any]:
        index = -1
        for index, batch in enumerate(batches() if callable(batches) else batches):
            yield function(index, batch)
        if index < 0:
            raise DataError("there is no batch; give at least one pair (matrix, right)")

    return work


def _cluster_work(parts: Any, client: Any) -> Callable[[Callable[..., Any]], Sequence[Any]]:
    """Return how to do a function on every part at the workers of a cluster."""
    tasks = ClusterTasks(client)
    named_parts = list(tasks.named_parts(checked_parts(parts)))

    def work(function: Callable[..., Any]) -> Sequence[Any]:
        futures = [
            tasks.submit(function, index, part, where=where)
            for index, (where, part) in enumerate(named_parts)
        ]
        return tasks.results(futures)

    return work


def _system(composition: Composition, index: int, batch: Any) -> System:
    with placed(f"batch {index}"):
        if not isinstance(batch, tuple | list) or len(batch) != 2:
            raise DataError(f"is {batch!r:.60}; a batch is a pair (matrix, right)")
        matrix = degree_array(batch[0], "the matrix", 2)
        return System(matrix, batch[1], composition)


def _summarise(composition: Composition, index: int, batch: Any) -> tuple[int, ColumnSummary]:
    """Return the number of columns of a batch, and their summary."""
    system = _system(composition, index, batch)
    turned = composition.turn(system.a, system.b)
    return system.a.shape[1], summarise(composition, *turned)


def _merge(parts: Iterable[tuple[int, ColumnSummary]]) -> ColumnSummary:
    """Return the summary of all batches, which must have as many columns as the first."""
    merged: ColumnSummary | None = None
    n_columns = 0
    for index, (columns, summary) in enumerate(parts):
        n_columns = n_columns or columns
        check_same_length(columns, f"the columns of batch {index}", n_columns, "those of batch 0")
        merged = summary if merged is None else merged.merge(summary)
    assert merged is not None  # there is a batch
    return merged


def _measure(
    composition: Composition, summary: ColumnSummary, x: FloatArray, index: int, batch: Any
) -> BatchDistance:
    """Return the farthest row of a batch, and whether `x` solves all its rows."""
    system = _system(composition, index, batch)
    distances = summary.distances(*composition.turn(system.a, system.b))
    is_open = distances.attained > distances.infimum + TOLERANCE
    row = int(distances.infimum.argmax())
    is_reached = (np.abs(system.apply(x) - system.b) <= system.tolerance).all()
    return BatchDistance(
        float(distances.infimum[row]),
        float(distances.infimum.max(where=is_open, initial=-1.0)),
        bool(is_reached),
        index,
        row,
        len(system.b),
    )
