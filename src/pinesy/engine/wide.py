"""Rule sets of very many rules or values, compiled by arrays in about linear time.

A `RuleSetCircuit` compares expressions pairwise, which is quadratic in the size of the rule set.
Here no two expressions are compared: rules and values are index arrays, and `Folds` builds their
minima and maxima (docs/decisions/0010-wide-sets.md). The results are the same numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from pinesy._common.masks import Numbers, distinct_pairs, mask_lists, run_starts
from pinesy._common.validation import BoolArray
from pinesy.engine.circuit import MAX, MIN, ONE, Facet, Parameter
from pinesy.engine.folds import SubsetFolds, Subsets
from pinesy.engine.rule_set_kinds import RuleSetStructure, circuit_of

#: The most conclusions, other than those with the value, that are listed for a minimum.
MAX_LISTED = 6


@lru_cache(maxsize=512)
def wide_set(structure: RuleSetStructure) -> "WideSet":
    """Return the operations of a wide rule set structure, cached."""
    return WideSet(structure)


def is_always_normalised(structure: RuleSetStructure) -> bool:
    """Return whether the output of a rule set structure is known to be always normalised."""
    return (wide_set(structure) if structure.is_wide else circuit_of(structure)).height == ONE


class WideSet:
    """The min and max operations of a wide rule set, over leaves for its inputs and parameters."""

    def __init__(self, structure: RuleSetStructure) -> None:
        self.structure = structure
        subset_index: list[dict[int, int]] = [{} for _ in structure.sizes]
        propositions = [
            (rule, a, subset_index[a].setdefault(mask, len(subset_index[a])))
            for rule, premise in enumerate(structure.premises)
            for a, mask in premise
        ]
        #: For each proposition its rule, its attribute, and the index of its subset (3, n).
        self._propositions = np.array(propositions, dtype=np.int64).T
        self._masks = [list(known) for known in subset_index]
        self._subsets = [
            Subsets.from_masks(size, masks)
            for size, masks in zip(structure.sizes, self._masks, strict=True)
        ]
        self._free = [index for index, z in enumerate(structure.parameters) if z is None]
        sizes = [subsets.n_atoms for subsets in self._subsets]
        self.folds = SubsetFolds(sizes, structure.normalised, len(self._free))
        #: The distinct conclusions, each a column of a table of cells, and the column of each rule.
        self._conclusions = list(dict.fromkeys(structure.conclusions))
        column = {q: index for index, q in enumerate(self._conclusions)}
        self._column_of = np.array([column[q] for q in structure.conclusions])
        #: The number of output subsets that may still be added; their operations are kept.
        self.remaining = structure.max_subsets

    @cached_property
    def leaves(self) -> tuple[Facet | Parameter, ...]:
        """The leaves in the order of their ids, from 2 on."""
        atoms = [
            Facet(a, mask)
            for a, (subsets, masks) in enumerate(zip(self._subsets, self._masks, strict=True))
            for mask in subsets.atom_masks(masks)
        ]
        return (*atoms, *map(Parameter, self._free))

    # --- premises and parameters ---------------------------------------------------------------

    @cached_property
    def lambdas(self) -> Numbers:
        """The degrees ``lambda = min_j pi(p_j)`` of the premises [eq:pinegpiformulae]."""
        return self._premise_degrees(MIN, self._subsets)

    @cached_property
    def rhos(self) -> Numbers:
        """The degrees ``rho = max_j pi(not p_j)`` of their negations."""
        complements = [subsets._replace(inverted=~subsets.inverted) for subsets in self._subsets]
        return self._premise_degrees(MAX, complements)

    def _premise_degrees(self, op: int, subsets: Sequence[Subsets]) -> Numbers:
        """Return `op` over the propositions of each rule, with `subsets` by attribute."""
        rules, attributes, masks = self._propositions
        degrees = np.empty(len(rules), dtype=np.int64)
        order = np.argsort(attributes, kind="stable")
        ends = np.cumsum(np.bincount(attributes, minlength=len(subsets)))
        groups = zip(subsets, np.split(order, ends[:-1]), strict=True)
        for a, (attribute_subsets, propositions) in enumerate(groups):
            possibilities = self.folds.subset_possibilities(attribute_subsets, self.folds.atoms[a])
            if not self.structure.bare:
                full = 0 if op == MAX else (1 << self.structure.sizes[a]) - 1
                possibilities[[mask == full for mask in self._masks[a]]] = ONE
            degrees[propositions] = possibilities[masks[propositions]]
        return self.folds.reduce_lists(op, len(self.structure.premises), rules, degrees)

    @cached_property
    def _alphas(self) -> Numbers:
        """The least ``alpha = max(s, lambda)`` [eq:alphabeta] over the rules of each conclusion."""
        return self._conclusion_minima(0, self.lambdas)

    @cached_property
    def _betas(self) -> Numbers:
        """The least ``beta = max(r, rho)`` over the rules of each conclusion."""
        return self._conclusion_minima(1, self.rhos)

    def _conclusion_minima(self, side: int, degrees: Numbers) -> Numbers:
        """Return the min over the rules of each conclusion of ``max(parameter, degree)``."""
        parameters = np.array(
            [0 if z is None else z for z in self.structure.parameters], dtype=np.int64
        )
        parameters[self._free] = self.folds.others
        terms = self.folds.combine(MAX, parameters[side::2], degrees)
        return self.folds.reduce_lists(MIN, len(self._conclusions), self._column_of, terms)

    # --- cells -----------------------------------------------------------------------------------

    @cached_property
    def cells(self) -> Numbers:
        """The expression of ``pi*(u) = min_j (alpha_j or beta_j)`` [eq:redFP] for each value `u`.

        A block has the conclusions whose premises use the same attributes; a part has the
        conclusions of a block with the same value.
        """
        columns, values, inverted = mask_lists(self.structure.output_size, self._conclusions)
        blocks = self._blocks
        n_blocks = int(blocks.max()) + 1
        _ = self._alphas  # first, so that their operations have the lower ids
        excluded = self._exclusions(inverted)
        order = np.lexsort((columns, blocks[columns], values))
        columns, values = columns[order], values[order]
        keys = values * n_blocks + blocks[columns]
        starts = run_starts(keys)
        parts = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(keys)))
        minima = self._short_minima(excluded, parts, columns)
        is_open = minima[parts] < 0
        block_defaults = np.full(n_blocks, ONE, dtype=np.int64)
        if is_open.any() or len(minima) < n_blocks * self.structure.output_size:
            minima[minima < 0], block_defaults = self._full_minima(
                inverted, parts[is_open], columns[is_open]
            )
        values, blocks = np.divmod(keys[starts], n_blocks)
        # The min over blocks for each value; blocks with few distinct minima first.
        distinct, _, _ = distinct_pairs(blocks, minima)
        order = np.argsort(np.bincount(distinct, minlength=n_blocks), kind="stable")
        rank = np.argsort(order)[blocks]
        by_value = np.lexsort((rank, values))
        entries = values[by_value], rank[by_value], minima[by_value]
        return self.folds.reduce_rows(
            MIN, block_defaults[order], self.structure.output_size, entries
        )

    @cached_property
    def _blocks(self) -> Numbers:
        """The block of each conclusion: an index for the attribute set of its premises."""
        rules, attributes, _ = self._propositions
        columns, attribute_of, _ = distinct_pairs(self._column_of[rules], attributes)
        ends = np.cumsum(np.bincount(columns, minlength=len(self._conclusions)))
        known: dict[bytes, int] = {}
        sets = [
            known.setdefault(p.tobytes(), len(known)) for p in np.split(attribute_of, ends[:-1])
        ]
        return np.array(sets, dtype=np.int64)

    def _short_minima(self, excluded: "Exclusions", parts: Numbers, columns: Numbers) -> Numbers:
        """Return the min of parts in which a few terms exclude all others; -1 for other parts."""
        minima = np.full(int(parts[-1]) + 1 if len(parts) else 0, -1, dtype=np.int64)
        n_kept = excluded.n_kept[columns]
        order = np.lexsort((n_kept, parts))
        best = order[run_starts(parts[order])]
        best = best[n_kept[best] <= MAX_LISTED]
        part_index = np.full(len(minima), -1, dtype=np.int64)
        part_index[parts[best]] = np.arange(len(best))
        inside = part_index[parts] >= 0
        rows, related = excluded.kept_pairs(columns[best])
        n = len(self._alphas)
        in_part = part_index[parts[inside]] * n + columns[inside]
        others = np.setdiff1d(rows * n + related, in_part)
        rows, outside = np.divmod(others, n)
        rows = np.concatenate([in_part // n, rows])
        terms = self._alphas[in_part % n]
        if len(outside):  # betas are computed only where needed
            terms = np.concatenate([terms, self._betas[outside]])
        minima[parts[best]] = self.folds.reduce_lists(MIN, len(best), rows, terms)
        return minima

    def _full_minima(
        self, inverted: BoolArray, parts: Numbers, columns: Numbers
    ) -> tuple[Numbers, Numbers]:
        """Return the min of each part over all columns of its block, and of block defaults."""
        order = np.argsort(self._blocks, kind="stable")
        listed = np.where(inverted, self._betas, self._alphas)
        others = np.where(inverted, self._alphas, self._betas)
        starts = run_starts(parts)
        rows = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(parts)))
        entries = rows, np.argsort(order)[columns], listed[columns]
        return self.folds.reduce_trees(MIN, others[order], self._blocks[order], entries)

    # --- subsets of the output -------------------------------------------------------------------

    @cached_property
    def height(self) -> int:
        """The expression of ``Pi*(D_b)``; ONE if the result is known to be always normalised."""
        distinct = np.unique(self.cells)
        return int(self.folds.maxima(1, np.zeros_like(distinct), distinct)[0])

    def facets(self, masks: Sequence[int]) -> Numbers:
        """Return ``Pi*(b in A)`` for each mask `A` of the output domain."""
        self.remaining -= len(masks)
        subsets = Subsets.from_masks(self.structure.output_size, masks)
        atom_of, values, _ = distinct_pairs(subsets.atom_of, self.cells)
        atoms = self.folds.maxima(subsets.n_atoms, atom_of, values)
        return self.folds.subset_possibilities(subsets, atoms)

    # --- conclusions that exclude each other -----------------------------------------------------

    def _exclusions(self, inverted: BoolArray) -> "Exclusions":
        """Return which conclusions exclude which, in time linear in the lists of atoms.

        Only blocks with premises on a single attribute and without inverted lists are considered;
        `inverted` is true for the conclusions whose list of values is that of the complement.
        """
        rules, attributes, _ = self._propositions
        columns, blocks = self._column_of[rules], self._blocks
        is_inverted, starts, stops, listed = self._atom_lists()
        is_excluded = np.zeros(int(blocks.max()) + 1, dtype=bool)
        is_excluded[blocks[inverted]], is_excluded[blocks[columns[is_inverted]]] = True, True
        pairs = np.unique(np.stack([blocks[columns], attributes]), axis=1)
        is_excluded |= np.bincount(pairs[0], minlength=len(is_excluded)) > 1
        usable = np.flatnonzero(~is_excluded[blocks[columns]])
        atoms = listed[ranges(starts[usable], stops[usable])]
        owners = np.repeat(columns[usable], (stops - starts)[usable])
        n_atoms = int(listed.max(initial=-1)) + 1
        high_starts = np.append(0, np.cumsum(np.bincount(atoms, minlength=n_atoms)))
        # alpha is the degree of a premise where s = 0 is known; the shortest list is the best.
        certain = np.array([z == 0 for z in self.structure.parameters[::2]])
        low = usable[certain[rules[usable]]]
        low = low[np.lexsort(((stops - starts)[low], columns[low]))]
        low = low[run_starts(columns[low])]
        lengths = np.zeros(len(blocks) + 1, dtype=np.int64)
        lengths[1:][columns[low]] = (stops - starts)[low]
        return Exclusions(
            np.cumsum(lengths),
            listed[ranges(starts[low], stops[low])],
            high_starts,
            owners[np.lexsort((owners, atoms))],
            np.isin(np.arange(len(blocks)), columns[low]),
        )

    def _atom_lists(self) -> tuple[BoolArray, Numbers, Numbers, Numbers]:
        """Return the list of atoms of each proposition: inverted, starts, stops, and all lists.

        ``lists[starts[i]:stops[i]]`` are the leaf ids of the atoms of proposition `i`, or those of
        its complement where it is inverted.
        """
        _, attributes, masks = self._propositions
        counts = [len(subsets.inverted) for subsets in self._subsets]
        subset = np.cumsum([0, *counts])[attributes] + masks
        lengths = [
            np.bincount(subsets.rows, minlength=n)
            for subsets, n in zip(self._subsets, counts, strict=True)
        ]
        atoms = [
            leaf_ids[subsets.atoms]
            for subsets, leaf_ids in zip(self._subsets, self.folds.atoms, strict=True)
        ]
        ends = np.append(0, np.cumsum(np.concatenate(lengths)))
        inverted = np.concatenate([subsets.inverted for subsets in self._subsets])
        return inverted[subset], ends[subset], ends[subset + 1], np.concatenate(atoms)


@dataclass(frozen=True, eq=False)
class Exclusions:
    """Which conclusions exclude which, by their premises on one attribute.

    If ``alpha_g <= Pi(a in A)`` and ``beta_h >= Pi(a not in P)``, and `A` and `P` are disjoint,
    then ``alpha_g <= beta_h``: conclusion `g` excludes `h` from a minimum.

    Attributes
    ----------
    low_starts, low_atoms : for each conclusion the atoms of `A`, concatenated
    high_starts, high_columns : for each atom the conclusions whose `P` contains it, concatenated
    usable : whether a conclusion has such an `A`, and all with premises on `a` have such a `P`
    """

    low_starts: Numbers
    low_atoms: Numbers
    high_starts: Numbers
    high_columns: Numbers
    usable: BoolArray

    @cached_property
    def n_kept(self) -> Numbers:
        """An upper bound of the conclusions that each one does not exclude; many if not usable."""
        counts = np.diff(self.high_starts)[self.low_atoms]
        sums = np.append(0, np.cumsum(counts))
        n_kept = sums[self.low_starts[1:]] - sums[self.low_starts[:-1]]
        return np.where(self.usable, n_kept, MAX_LISTED + 1)

    def kept_pairs(self, columns: Numbers) -> tuple[Numbers, Numbers]:
        """Return pairs of an index into `columns` and a conclusion that it does not exclude."""
        starts, stops = self.low_starts[columns], self.low_starts[columns + 1]
        atoms = self.low_atoms[ranges(starts, stops)]
        rows = np.repeat(np.arange(len(columns)), stops - starts)
        starts, stops = self.high_starts[atoms], self.high_starts[atoms + 1]
        return np.repeat(rows, stops - starts), self.high_columns[ranges(starts, stops)]


def ranges(starts: Numbers, stops: Numbers) -> Numbers:
    """Return the concatenated ranges from each start to its stop.

    Examples
    --------
    >>> ranges(np.array([3, 9]), np.array([5, 10])).tolist()
    [3, 4, 9]
    """
    lengths = stops - starts
    offsets = np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
    return offsets + np.arange(len(offsets))
