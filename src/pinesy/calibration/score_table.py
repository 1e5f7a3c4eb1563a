"""Scores looked up among many that are sorted: by buckets, in compiled loops."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.caching import load_kernels
from pinesy._common.threads import n_threads, share
from pinesy._common.validation import FloatArray

KERNELS = "pinesy.calibration.score_kernels"
#: Numbers up to which NumPy does the work, if the loops are not loaded yet.
FEW = 20_000
#: Numbers a task of a thread.
CHUNK = 100_000


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """A table of numbers, read at the place that a score has among those of calibration.

    Buckets are narrow near 0 and near 1, where the scores of a good classifier crowd; within one it
    is a binary search. So a look-up costs a few nanoseconds, and gives what ``np.searchsorted``
    gives.

    Attributes
    ----------
    scores : rising, each of them once
    """

    scores: FloatArray

    @cached_property
    def _starts(self) -> npt.NDArray[np.int32]:
        kernels = load_kernels(KERNELS)
        starts = np.empty(kernels.BUCKETS + 1, dtype=np.int32)
        kernels.count_buckets(self.scores, starts)
        return starts

    def look_up(self, t: FloatArray, table: FloatArray) -> FloatArray:
        """Return ``table[i]`` for each `t`, where `i` is how many scores are less."""
        if is_little(t):
            return np.asarray(table[np.searchsorted(self.scores, t, side="left")])
        flat = np.ascontiguousarray(t, dtype=np.float64).ravel()
        out, kernels, starts = np.empty(flat.shape), load_kernels(KERNELS), self._starts

        def work(rows: slice) -> None:
            kernels.look_up(flat[rows], self.scores, starts, table, out[rows])

        in_chunks(work, len(flat), CHUNK)
        return out.reshape(t.shape)

    def conform(
        self, fits: FloatArray, table: FloatArray, raised: bool
    ) -> tuple[FloatArray, FloatArray, bool]:
        """Look up ``1 - fit`` for all values, and for the best value of each distribution.

        Parameters
        ----------
        fits : array ``(..., values)``
        raised : whether the best values get 1

        Returns
        -------
        found, tops, good : the last tells whether all fits lie in [0, 1]
        """
        if is_little(fits):
            return self._conform_few(fits, table, raised)
        rows = np.ascontiguousarray(fits, dtype=np.float64).reshape(-1, fits.shape[-1])
        out, tops = np.empty(rows.shape), np.empty(len(rows))
        kernels, starts, good = load_kernels(KERNELS), self._starts, []

        def work(own: slice) -> None:
            given = self.scores, starts, table, raised
            good.append(kernels.conform(rows[own], *given, out[own], tops[own]))

        in_chunks(work, len(rows), max(1, CHUNK // rows.shape[1]))
        return out.reshape(fits.shape), tops.reshape(fits.shape[:-1]), all(good)

    def _conform_few(
        self, fits: FloatArray, table: FloatArray, raised: bool
    ) -> tuple[FloatArray, FloatArray, bool]:
        scores = 1.0 - fits
        least = scores.min(axis=-1, keepdims=True)
        found, tops = self.look_up(scores, table), self.look_up(least[..., 0], table)
        if raised:
            found[scores == least] = 1.0
        return found, tops, bool(((fits >= 0.0) & (fits <= 1.0)).all())


def leads(scores: FloatArray) -> FloatArray:
    """Return 1 minus how far the best value of each distribution is ahead of the second."""
    if is_little(scores):
        least = np.partition(scores, 1, axis=-1)
        return np.asarray(1.0 - (least[..., 1] - least[..., 0]))
    rows = np.ascontiguousarray(scores, dtype=np.float64).reshape(-1, scores.shape[-1])
    out, kernels = np.empty(len(rows)), load_kernels(KERNELS)

    def work(own: slice) -> None:
        kernels.lead_rows(rows[own], out[own])

    in_chunks(work, len(rows), max(1, CHUNK // rows.shape[1]))
    return out.reshape(scores.shape[:-1])


def is_little(numbers: npt.NDArray[Any]) -> bool:
    """Tell whether NumPy is done with numbers before compiled loops would be loaded."""
    return numbers.size <= FEW and KERNELS not in sys.modules


def in_chunks(work: Callable[[slice], None], n: int, step: int) -> None:
    """Do work on all of `n` rows, some at a time, on several threads if there are many."""
    starts = range(0, n, step)

    def each(queue: Iterator[int]) -> None:
        for start in queue:
            work(slice(start, start + step))

    share(each, starts, min(n_threads(), len(starts)))
