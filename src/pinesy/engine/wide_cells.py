"""The possibility of each value of a wide rule set's output: a min over very many rules."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pinesy._common.masks import BoolArray, Numbers, distinct_pairs, run_starts
from pinesy.engine.circuit import MIN, ONE
from pinesy.engine.exclusions import MAX_LEFT, Exclusions
from pinesy.engine.folds import Folds


@dataclass(frozen=True, eq=False)
class CellTable:
    """The distinct conclusions of a rule set, each a column: its rules' alphas and betas.

    Attributes
    ----------
    alphas : the least alpha of each conclusion's rules
    least_betas : gives the least beta of each, which is not computed where nobody needs it
    columns, places : the values that are inside each conclusion, as entries
    inverted : for each conclusion whether its entries are the values outside
    blocks : a number for the set of attributes that the premises are about
    exclusions : which conclusions exclude others
    size : how many values there are
    """

    alphas: Numbers
    least_betas: Callable[[], Numbers]
    columns: Numbers
    places: Numbers
    inverted: BoolArray
    blocks: Numbers
    exclusions: Exclusions
    size: int

    @cached_property
    def betas(self) -> Numbers:
        """The least beta of each conclusion's rules."""
        return self.least_betas()

    def values(self, folds: Folds) -> Numbers:
        """Return ``min_j (alpha_j or beta_j)`` for each value [eq:redFP], block by block."""
        n_blocks = int(self.blocks.max()) + 1
        order = np.lexsort((self.columns, self.blocks[self.columns], self.places))
        columns, places = self.columns[order], self.places[order]
        keys = places * n_blocks + self.blocks[columns]
        starts = run_starts(keys)
        parts = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(keys)))
        found = self._few(folds, parts, columns)
        rest = found[parts] < 0
        every = np.full(n_blocks, ONE, dtype=np.int64)
        if rest.any() or len(found) < n_blocks * self.size:
            found[found < 0], every = self._all(folds, parts[rest], columns[rest])
        place, block = np.divmod(keys[starts], n_blocks)
        return self._joined(folds, every, place, block, found)

    def _few(self, folds: Folds, parts: Numbers, columns: Numbers) -> Numbers:
        """Return the min of parts in which a few terms exclude all others; -1 for the rest."""
        found = np.full(int(parts[-1]) + 1 if len(parts) else 0, -1, dtype=np.int64)
        left = self.exclusions.left[columns]
        order = np.lexsort((left, parts))
        best = order[run_starts(parts[order])]
        best = best[left[best] <= MAX_LEFT]
        number = np.full(len(found), -1, dtype=np.int64)
        number[parts[best]] = np.arange(len(best))
        inside = number[parts] >= 0
        rows, near = self.exclusions.near(columns[best])
        n = len(self.alphas)
        own = number[parts[inside]] * n + columns[inside]
        others = np.setdiff1d(rows * n + near, own)
        rows, beside = np.divmod(others, n)
        rows = np.concatenate([own // n, rows])
        terms = self.alphas[own % n]
        if len(beside):
            terms = np.concatenate([terms, self.betas[beside]])
        found[parts[best]] = folds.lists(MIN, len(best), rows, terms)
        return found

    def _all(self, folds: Folds, parts: Numbers, columns: Numbers) -> tuple[Numbers, Numbers]:
        """Return the min of parts over all columns of a block, and that of no entries."""
        order = np.argsort(self.blocks, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        listed, others = self.alphas.copy(), self.betas.copy()
        listed[self.inverted], others[self.inverted] = others[self.inverted], listed[self.inverted]
        starts = run_starts(parts)
        numbers = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(parts)))
        entries = numbers, rank[columns], listed[columns]
        return folds.forest(MIN, others[order], self.blocks[order], entries)

    def _joined(
        self, folds: Folds, every: Numbers, places: Numbers, blocks: Numbers, found: Numbers
    ) -> Numbers:
        """Return the min over blocks for each value; those with few different parts first."""
        kinds, _, _ = distinct_pairs(blocks, found)
        order = np.argsort(np.bincount(kinds, minlength=len(every)), kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        by_place = np.lexsort((rank[blocks], places))
        entries = places[by_place], rank[blocks][by_place], found[by_place]
        return folds.over(MIN, every[order], self.size, entries)
