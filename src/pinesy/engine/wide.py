"""Rule sets of very many rules or values, compiled by arrays in about linear time.

The circuits of `kinds` compare expressions with one another, which pays for small sets and is
quadratic in their size. Here no two expressions are compared: rules and values are lists of
positions, and minima and maxima of all but a few come from `Folds`
(docs/decisions/0010-wide-sets.md). The results are the same numbers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

import numpy as np

from pinesy._common.masks import Numbers, distinct_pairs, mask_lists, run_starts
from pinesy._common.validation import BoolArray
from pinesy.engine.circuit import MAX, MIN, ONE, Facet, Parameter
from pinesy.engine.folds import Folds
from pinesy.engine.kinds import Kind, circuit_of
from pinesy.engine.subsets import (
    MAX_LEFT,
    Exclusions,
    Propositions,
    SubsetFolds,
    Subsets,
    exclusions,
)

#: Rules times values from which on a set is wide; those of Sudoku gain by comparing, both ways.
WIDE = 16384


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


def is_wide(kind: Kind) -> bool:
    """Tell whether a set has so many rules and values that its expressions are not compared."""
    return is_large(len(kind.premises), kind.output_size + max(kind.sizes))


def is_large(n_subsets: int, n_values: int) -> bool:
    """Tell whether so many subsets of so many values are taken in arrays."""
    return n_subsets * n_values > WIDE


@lru_cache(maxsize=512)
def wide_set(kind: Kind) -> "WideSet":
    """Return the operations of a wide kind of rule set, built once."""
    return WideSet(kind)


def is_always_normalised(kind: Kind) -> bool:
    """Tell whether the result of a kind of rule set is known to be always normalised."""
    return (wide_set(kind) if is_wide(kind) else circuit_of(kind)).height == ONE


class WideSet:
    """The operations of one wide kind of rule set, with places left open for its inputs."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        places: list[dict[int, int]] = [{} for _ in kind.sizes]
        parts = [
            (rule, a, places[a].setdefault(mask, len(places[a])))
            for rule, premise in enumerate(kind.premises)
            for a, mask in premise
        ]
        self._parts = np.array(parts, dtype=np.int64).T
        self._masks = [list(known) for known in places]
        self._subsets = [
            Subsets.of(size, masks) for size, masks in zip(kind.sizes, self._masks, strict=True)
        ]
        self._open = [index for index, z in enumerate(kind.parameters) if z is None]
        sizes = [subsets.n_atoms for subsets in self._subsets]
        self.folds = SubsetFolds(sizes, kind.normalised, len(self._open))

    @cached_property
    def leaves(self) -> tuple[Facet | Parameter, ...]:
        """The inputs in the order of their numbers, from 2 on."""
        atoms = [
            Facet(a, mask)
            for a, (subsets, given) in enumerate(zip(self._subsets, self._masks, strict=True))
            for mask in subsets.masks(given)
        ]
        return (*atoms, *map(Parameter, self._open))

    @cached_property
    def lambdas(self) -> Numbers:
        """The degrees ``lambda = min_j pi(p_j)`` of the premises [eq:pinegpiformulae]."""
        return self._degrees(MIN, self._subsets)

    @cached_property
    def rhos(self) -> Numbers:
        """The degrees ``rho = max_j pi(not p_j)`` of their negations."""
        turned = [one._replace(inverted=~one.inverted) for one in self._subsets]
        return self._degrees(MAX, turned)

    def _degrees(self, op: int, subsets: Sequence[Subsets]) -> Numbers:
        rules, attributes, masks = self._parts
        degrees = np.empty(len(rules), dtype=np.int64)
        order = np.argsort(attributes, kind="stable")
        ends = np.cumsum(np.bincount(attributes, minlength=len(subsets)))
        for a, (one, mine) in enumerate(zip(subsets, np.split(order, ends[:-1]), strict=True)):
            degrees[mine] = self.folds.measures(one, self.folds.atoms[a])[masks[mine]]
        return self.folds.lists(op, len(self.kind.premises), rules, degrees)

    def _with_parameters(self, side: int, degrees: Numbers) -> Numbers:
        """Return ``alpha = max(s, lambda)`` or ``beta = max(r, rho)`` [eq:alphabeta]."""
        known = self.kind.parameters
        numbers = np.array([0 if z is None else z for z in known], dtype=np.int64)
        numbers[self._open] = self.folds.others
        return self.folds.pairs(MAX, numbers[side::2], degrees)

    @cached_property
    def cells(self) -> Numbers:
        """The expression of ``pi*(u)`` for each value `u` of the output [eq:redFP]."""
        groups: dict[int, int] = {}
        column_of = np.array([groups.setdefault(q, len(groups)) for q in self.kind.conclusions])

        def least(side: int) -> Numbers:
            degrees = self.rhos if side else self.lambdas
            terms = self._with_parameters(side, degrees)
            return self.folds.lists(MIN, len(groups), column_of, terms)

        listed = mask_lists(self.kind.output_size, list(groups))
        blocks = self._blocks(column_of, len(groups))
        bad = np.zeros(int(blocks.max()) + 1, dtype=bool)
        bad[blocks[listed[2]]] = True
        certain = np.array([z == 0 for z in self.kind.parameters[::2]])
        excluded = exclusions(self._propositions(), column_of, certain, blocks, bad)
        size = self.kind.output_size
        table = CellTable(least(0), partial(least, 1), *listed, blocks, excluded, size)
        return table.values(self.folds)

    def _blocks(self, column_of: Numbers, n: int) -> Numbers:
        """Return a number for the set of attributes that each conclusion's premises are about."""
        rules, attributes, _ = self._parts
        columns, named, _ = distinct_pairs(column_of[rules], attributes)
        ends = np.cumsum(np.bincount(columns, minlength=n))
        known: dict[bytes, int] = {}
        found = [known.setdefault(p.tobytes(), len(known)) for p in np.split(named, ends[:-1])]
        return np.array(found, dtype=np.int64)

    def _propositions(self) -> Propositions:
        """Return the propositions with the subsets and atoms of all attributes numbered through."""
        rules, attributes, masks = self._parts
        counts = [len(subsets.inverted) for subsets in self._subsets]
        first = np.cumsum([0, *counts])
        lengths = [
            np.bincount(one.rows, minlength=n) for one, n in zip(self._subsets, counts, strict=True)
        ]
        atoms = [mine[one.atoms] for one, mine in zip(self._subsets, self.folds.atoms, strict=True)]
        return Propositions(
            rules,
            attributes,
            first[attributes] + masks,
            np.append(0, np.cumsum(np.concatenate(lengths))),
            np.concatenate(atoms),
            np.concatenate([subsets.inverted for subsets in self._subsets]),
        )

    @cached_property
    def height(self) -> int:
        """The expression of ``Pi*(D_b)``; it is ONE where it is seen to be always 1."""
        distinct = np.unique(self.cells)
        return int(self.folds.maxima(1, np.zeros_like(distinct), distinct)[0])

    def facets(self, masks: Sequence[int]) -> Numbers:
        """Return ``Pi*(b in A)`` for each subset `A` of the output domain, given as masks."""
        subsets = Subsets.of(self.kind.output_size, masks)
        atom_of, values, _ = distinct_pairs(subsets.atom_of, self.cells)
        atoms = self.folds.maxima(subsets.n_atoms, atom_of, values)
        return self.folds.measures(subsets, atoms)
