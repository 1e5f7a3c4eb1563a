"""Rule sets of very many rules or values, compiled by arrays in about linear time.

The circuits of `kinds` compare expressions with one another, which pays for small sets and is
quadratic in their size. Here no two expressions are compared: rules and values are lists of
positions, and minima and maxima of all but a few come from `Folds`
(docs/decisions/0010-wide-sets.md). The results are the same numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from pinesy._common.masks import Numbers, distinct_pairs, mask_lists, run_starts
from pinesy._common.validation import BoolArray
from pinesy.engine.circuit import MAX, MIN, ONE, Facet, Parameter
from pinesy.engine.folds import SubsetFolds, Subsets
from pinesy.engine.rule_set_kinds import Kind, circuit_of

#: The most conclusions that are looked at one by one, beside those that a value is inside of.
MAX_LEFT = 6


@lru_cache(maxsize=512)
def wide_set(kind: Kind) -> "WideSet":
    """Return the operations of a wide kind of rule set, built once."""
    return WideSet(kind)


def is_always_normalised(kind: Kind) -> bool:
    """Return whether the result of a kind of rule set is known to be always normalised."""
    return (wide_set(kind) if kind.is_wide else circuit_of(kind)).height == ONE


class WideSet:
    """The operations of one wide kind of rule set, with places left open for its inputs."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        subset_index: list[dict[int, int]] = [{} for _ in kind.sizes]
        propositions = [
            (rule, a, subset_index[a].setdefault(mask, len(subset_index[a])))
            for rule, premise in enumerate(kind.premises)
            for a, mask in premise
        ]
        #: Of each proposition its rule, attribute, and the number of its subset of that attribute.
        self._propositions = np.array(propositions, dtype=np.int64).T
        self._masks = [list(known) for known in subset_index]
        self._subsets = [
            Subsets.of(size, masks) for size, masks in zip(kind.sizes, self._masks, strict=True)
        ]
        self._open = [index for index, z in enumerate(kind.parameters) if z is None]
        sizes = [subsets.n_atoms for subsets in self._subsets]
        self.folds = SubsetFolds(sizes, kind.normalised, len(self._open))
        #: The distinct conclusions, each a column of a table of cells, and the column of each rule.
        self._conclusions = list(dict.fromkeys(kind.conclusions))
        column = {q: index for index, q in enumerate(self._conclusions)}
        self._column_of = np.array([column[q] for q in kind.conclusions])
        #: How many subsets of the output may still be asked for: their operations stay.
        self.remaining = kind.max_asked

    @cached_property
    def leaves(self) -> tuple[Facet | Parameter, ...]:
        """The inputs in the order of their numbers, from 2 on."""
        atoms = [
            Facet(a, mask)
            for a, (subsets, masks) in enumerate(zip(self._subsets, self._masks, strict=True))
            for mask in subsets.masks(masks)
        ]
        return (*atoms, *map(Parameter, self._open))

    # --- premises and parameters ---------------------------------------------------------------

    @cached_property
    def lambdas(self) -> Numbers:
        """The degrees ``lambda = min_j pi(p_j)`` of the premises [eq:pinegpiformulae]."""
        return self._degrees(MIN, self._subsets)

    @cached_property
    def rhos(self) -> Numbers:
        """The degrees ``rho = max_j pi(not p_j)`` of their negations."""
        turned = [subsets._replace(inverted=~subsets.inverted) for subsets in self._subsets]
        return self._degrees(MAX, turned)

    def _degrees(self, op: int, subsets: Sequence[Subsets]) -> Numbers:
        rules, attributes, masks = self._propositions
        degrees = np.empty(len(rules), dtype=np.int64)
        order = np.argsort(attributes, kind="stable")
        ends = np.cumsum(np.bincount(attributes, minlength=len(subsets)))
        for a, (family, mine) in enumerate(zip(subsets, np.split(order, ends[:-1]), strict=True)):
            measures = self.folds.measures(family, self.folds.atoms[a])
            if not self.kind.bare:
                measures[self._is_full(a, op == MAX)] = ONE
            degrees[mine] = measures[masks[mine]]
        return self.folds.lists(op, len(self.kind.premises), rules, degrees)

    def _is_full(self, attribute: int, negated: bool) -> BoolArray:
        """Return which subsets of an attribute (or their complements) are its whole domain."""
        full = 0 if negated else (1 << self.kind.sizes[attribute]) - 1
        return np.array([mask == full for mask in self._masks[attribute]], dtype=bool)

    @cached_property
    def _alphas(self) -> Numbers:
        """The least ``alpha = max(s, lambda)`` [eq:alphabeta] of each conclusion's rules."""
        return self._least(0, self.lambdas)

    @cached_property
    def _betas(self) -> Numbers:
        """The least ``beta = max(r, rho)``; not computed where nobody needs it."""
        return self._least(1, self.rhos)

    def _least(self, side: int, degrees: Numbers) -> Numbers:
        numbers = np.array([0 if z is None else z for z in self.kind.parameters], dtype=np.int64)
        numbers[self._open] = self.folds.others
        terms = self.folds.pairs(MAX, numbers[side::2], degrees)
        return self.folds.lists(MIN, len(self._conclusions), self._column_of, terms)

    # --- cells -----------------------------------------------------------------------------------

    @cached_property
    def cells(self) -> Numbers:
        """The expression of ``pi*(u) = min_j (alpha_j or beta_j)`` [eq:redFP] for each value `u`.

        Conclusions are taken block by block: those whose premises are about the same attributes.
        """
        columns, values, inverted = mask_lists(self.kind.output_size, self._conclusions)
        blocks = self._blocks
        n_blocks = int(blocks.max()) + 1
        _ = self._alphas
        excluded = self._exclusions(inverted)
        order = np.lexsort((columns, blocks[columns], values))
        columns, values = columns[order], values[order]
        keys = values * n_blocks + blocks[columns]
        starts = run_starts(keys)
        parts = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(keys)))
        minima = self._few(excluded, parts, columns)
        is_open = minima[parts] < 0
        of_defaults = np.full(n_blocks, ONE, dtype=np.int64)
        if is_open.any() or len(minima) < n_blocks * self.kind.output_size:
            minima[minima < 0], of_defaults = self._all(inverted, parts[is_open], columns[is_open])
        value, block = np.divmod(keys[starts], n_blocks)
        return self._joined(of_defaults, value, block, minima)

    @cached_property
    def _blocks(self) -> Numbers:
        """A number for the set of attributes that each conclusion's premises are about."""
        rules, attributes, _ = self._propositions
        columns, attribute_of, _ = distinct_pairs(self._column_of[rules], attributes)
        ends = np.cumsum(np.bincount(columns, minlength=len(self._conclusions)))
        known: dict[bytes, int] = {}
        sets = [
            known.setdefault(p.tobytes(), len(known)) for p in np.split(attribute_of, ends[:-1])
        ]
        return np.array(sets, dtype=np.int64)

    def _few(self, excluded: "Exclusions", parts: Numbers, columns: Numbers) -> Numbers:
        """Return the min of parts in which a few terms exclude all others; -1 for the rest."""
        minima = np.full(int(parts[-1]) + 1 if len(parts) else 0, -1, dtype=np.int64)
        left = excluded.left[columns]
        order = np.lexsort((left, parts))
        best = order[run_starts(parts[order])]
        best = best[left[best] <= MAX_LEFT]
        part_index = np.full(len(minima), -1, dtype=np.int64)
        part_index[parts[best]] = np.arange(len(best))
        inside = part_index[parts] >= 0
        rows, related = excluded.near(columns[best])
        n = len(self._alphas)
        in_part = part_index[parts[inside]] * n + columns[inside]
        others = np.setdiff1d(rows * n + related, in_part)
        rows, beside = np.divmod(others, n)
        rows = np.concatenate([in_part // n, rows])
        terms = self._alphas[in_part % n]
        if len(beside):
            terms = np.concatenate([terms, self._betas[beside]])
        minima[parts[best]] = self.folds.lists(MIN, len(best), rows, terms)
        return minima

    def _all(
        self, inverted: BoolArray, parts: Numbers, columns: Numbers
    ) -> tuple[Numbers, Numbers]:
        """Return the min of parts over all columns of a block, and that of no entries."""
        order = np.argsort(self._blocks, kind="stable")
        listed = np.where(inverted, self._betas, self._alphas)
        others = np.where(inverted, self._alphas, self._betas)
        starts = run_starts(parts)
        numbers = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(parts)))
        entries = numbers, np.argsort(order)[columns], listed[columns]
        return self.folds.forest(MIN, others[order], self._blocks[order], entries)

    def _joined(
        self, of_defaults: Numbers, values: Numbers, blocks: Numbers, minima: Numbers
    ) -> Numbers:
        """Return the min over blocks for each value; those with few different parts first."""
        distinct, _, _ = distinct_pairs(blocks, minima)
        order = np.argsort(np.bincount(distinct, minlength=len(of_defaults)), kind="stable")
        rank = np.argsort(order)[blocks]
        by_value = np.lexsort((rank, values))
        entries = values[by_value], rank[by_value], minima[by_value]
        return self.folds.over(MIN, of_defaults[order], self.kind.output_size, entries)

    # --- subsets of the output -------------------------------------------------------------------

    @cached_property
    def height(self) -> int:
        """The expression of ``Pi*(D_b)``; it is ONE where it is seen to be always 1."""
        distinct = np.unique(self.cells)
        return int(self.folds.maxima(1, np.zeros_like(distinct), distinct)[0])

    def facets(self, masks: Sequence[int]) -> Numbers:
        """Return ``Pi*(b in A)`` for each subset `A` of the output domain, given as masks."""
        self.remaining -= len(masks)
        subsets = Subsets.of(self.kind.output_size, masks)
        atom_of, values, _ = distinct_pairs(subsets.atom_of, self.cells)
        atoms = self.folds.maxima(subsets.n_atoms, atom_of, values)
        return self.folds.measures(subsets, atoms)

    # --- what premises exclude -------------------------------------------------------------------

    def _exclusions(self, inverted: BoolArray) -> "Exclusions":
        """Find what premises say of single attributes in few atoms; linear in the lists.

        Blocks on several attributes are left alone, and those with inverted lists: `inverted` tells
        of each conclusion whether its list is one.
        """
        rules, attributes, _ = self._propositions
        columns, blocks = self._column_of[rules], self._blocks
        is_inverted, starts, stops, listed = self._atom_lists()
        bad = np.zeros(int(blocks.max()) + 1, dtype=bool)
        bad[blocks[inverted]], bad[blocks[columns[is_inverted]]] = True, True
        pairs = np.unique(np.stack([blocks[columns], attributes]), axis=1)
        bad |= np.bincount(pairs[0], minlength=len(bad)) > 1
        good = np.flatnonzero(~bad[blocks[columns]])
        atoms = listed[ranges(starts[good], stops[good])]
        owners = np.repeat(columns[good], (stops - starts)[good])
        n_atoms = int(listed.max(initial=-1)) + 1
        high_starts = np.append(0, np.cumsum(np.bincount(atoms, minlength=n_atoms)))
        # alpha is the degree of a premise where s = 0 is known; the shortest list is the best.
        certain = np.array([z == 0 for z in self.kind.parameters[::2]])
        low = good[certain[rules[good]]]
        low = low[np.lexsort(((stops - starts)[low], columns[low]))]
        low = low[run_starts(columns[low])]
        lengths = np.zeros(len(blocks) + 1, dtype=np.int64)
        lengths[1:][columns[low]] = (stops - starts)[low]
        usable = np.isin(np.arange(len(blocks)), columns[low])
        return Exclusions(
            np.cumsum(lengths),
            listed[ranges(starts[low], stops[low])],
            high_starts,
            owners[np.lexsort((owners, atoms))],
            usable,
        )

    def _atom_lists(self) -> tuple[BoolArray, Numbers, Numbers, Numbers]:
        """Return of each proposition whether its list is inverted, and where it begins and ends.

        And the lists of all subsets, the atoms of all attributes numbered through.
        """
        _, attributes, masks = self._propositions
        counts = [len(subsets.inverted) for subsets in self._subsets]
        subset = np.cumsum([0, *counts])[attributes] + masks
        lengths = [
            np.bincount(subsets.rows, minlength=n)
            for subsets, n in zip(self._subsets, counts, strict=True)
        ]
        atoms = [
            mine[subsets.atoms]
            for subsets, mine in zip(self._subsets, self.folds.atoms, strict=True)
        ]
        ends = np.append(0, np.cumsum(np.concatenate(lengths)))
        inverted = np.concatenate([subsets.inverted for subsets in self._subsets])
        return inverted[subset], ends[subset], ends[subset + 1], np.concatenate(atoms)


@dataclass(frozen=True, eq=False)
class Exclusions:
    """Which conclusions exclude which, because of what their premises say of one attribute.

    If ``alpha_g <= Pi(a in A)`` and ``beta_h >= Pi(a not in P)``, and `A` and `P` have no value in
    common, then ``alpha_g <= beta_h``: beside the first, the second one does not count.

    Attributes
    ----------
    low_starts, low_atoms : for each conclusion the atoms of `A`, one list after the other
    high_starts, high_columns : for each atom the conclusions whose `P` it is in, likewise
    usable : whether a conclusion has such an `A`, and all that have premises on `a` such a `P`
    """

    low_starts: Numbers
    low_atoms: Numbers
    high_starts: Numbers
    high_columns: Numbers
    usable: BoolArray

    @cached_property
    def left(self) -> Numbers:
        """For each conclusion how many others it may not exclude, at most; many if not usable."""
        counts = np.diff(self.high_starts)[self.low_atoms]
        sums = np.append(0, np.cumsum(counts))
        left = sums[self.low_starts[1:]] - sums[self.low_starts[:-1]]
        return np.where(self.usable, left, MAX_LEFT + 1)

    def near(self, columns: Numbers) -> tuple[Numbers, Numbers]:
        """Return the conclusions that each of some does not exclude, as rows and columns."""
        starts, stops = self.low_starts[columns], self.low_starts[columns + 1]
        atoms = self.low_atoms[ranges(starts, stops)]
        rows = np.repeat(np.arange(len(columns)), stops - starts)
        starts, stops = self.high_starts[atoms], self.high_starts[atoms + 1]
        return np.repeat(rows, stops - starts), self.high_columns[ranges(starts, stops)]


def ranges(starts: Numbers, stops: Numbers) -> Numbers:
    """Return the numbers from each start to its stop, one range after the other.

    Examples
    --------
    >>> ranges(np.array([3, 9]), np.array([5, 10])).tolist()
    [3, 4, 9]
    """
    lengths = stops - starts
    offsets = np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
    return offsets + np.arange(len(offsets))
