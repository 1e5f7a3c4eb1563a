"""The structure of a rule set, without attribute names and parameter values, and its circuit."""

import itertools
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.masks import mask_table
from pinesy._common.validation import BoolArray
from pinesy.engine.circuit import ONE, Circuit, atoms
from pinesy.rules.attributes import Attribute
from pinesy.rules.partition import Partition, partition_of
from pinesy.rules.rule import Rule

#: Distinct slices of a table along its last axis, and the indices of each.
Slices = list[tuple[BoolArray, list[int]]]

#: Rules that are compared with all others in one matrix product.
RULES_AT_A_TIME = 128
#: Subsets times values from which on a rule set is compiled by arrays, without comparing
#: expressions; the sets of Sudoku are below.
WIDE = 16384


@dataclass(frozen=True)
class RuleSetStructure:
    """The structure of a rule set; sets of equal structure share their compiled form.

    Attributes
    ----------
    sizes, normalised : for each input attribute, the size of its domain and whether its
        distribution is known to be normalised
    premises : for each rule, its propositions as (input attribute, mask)
    output_size, conclusions : the size of ``D_b`` and the masks ``Q_i``
    parameters : each of ``s_1, r_1, s_2, ...`` if it is 0 or 1, else None
    bare : whether the proposition ``a in D_a`` has the possibility ``Pi(D_a)``; else it has 1,
        whatever the height of the distribution
    """

    sizes: tuple[int, ...]
    normalised: tuple[bool, ...]
    premises: tuple[tuple[tuple[int, int], ...], ...]
    output_size: int
    conclusions: tuple[int, ...]
    parameters: tuple[int | None, ...]
    bare: bool = False

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        # Hashing many large masks takes long.
        return hash((self.sizes, self.premises, self.conclusions, self.parameters))

    @property
    def is_wide(self) -> bool:
        """Whether it is compiled by arrays (`WideSet`), because of its many rules and values."""
        return len(self.premises) * (self.output_size + max(self.sizes)) > WIDE

    @property
    def max_subsets(self) -> int:
        """The number of output subsets whose expressions the shared circuit may store."""
        return 1024 + 16 * self.output_size

    @property
    def partition(self) -> Partition:
        """The partition of the output domain."""
        return partition_of(self.output_size, self.conclusions)


@dataclass(frozen=True)
class RuleUnit:
    """The rules that conclude on one attribute; `bare` as in `RuleSetStructure`."""

    output: Attribute
    inputs: tuple[Attribute, ...]
    rules: tuple[Rule, ...]
    bare: bool = False

    def structure(self, normalised: set[str]) -> RuleSetStructure:
        """Return the structure of the rule set, given the names of the normalised attributes."""
        sizes, *structure = self._structure
        return RuleSetStructure(sizes, tuple(a.name in normalised for a in self.inputs), *structure)

    @cached_property
    def _structure(self) -> tuple[Any, ...]:
        """The fields of the structure without `normalised`."""
        index_of = {a.name: i for i, a in enumerate(self.inputs)}
        return (
            tuple(len(a.domain) for a in self.inputs),
            tuple(
                tuple((index_of[p.attribute.name], p.mask) for p in rule.premise.propositions)
                for rule in self.rules
            ),
            len(self.output.domain),
            tuple(rule.conclusion.mask for rule in self.rules),
            tuple(
                int(z) if z in (0.0, 1.0) else None for rule in self.rules for z in (rule.s, rule.r)
            ),
            self.bare,
        )


#: The lock of all circuits: threads share the circuit of a structure.
COMPILING = threading.RLock()


@lru_cache(maxsize=256)
def circuit_of(structure: RuleSetStructure) -> "RuleSetCircuit":
    """Return the circuit of a rule set structure, cached."""
    return RuleSetCircuit(structure)


class RuleSetCircuit(Circuit):
    """The expressions of a rule set: premise degrees, cells, possibilities of output subsets."""

    def __init__(self, structure: RuleSetStructure) -> None:
        super().__init__([(1 << size) - 1 for size in structure.sizes], structure.normalised)
        self.structure = structure
        degrees = [
            self.premise(propositions, structure.bare) for propositions in structure.premises
        ]
        self.lambdas, self.rhos = map(list, zip(*degrees, strict=True))
        # alpha_i = max(s_i, lambda_i), beta_i = max(r_i, rho_i)  [eq:alphabeta]
        self.alphas = [self._with_parameter(2 * j, d) for j, d in enumerate(self.lambdas)]
        self.betas = [self._with_parameter(2 * j + 1, d) for j, d in enumerate(self.rhos)]
        self._best: dict[tuple[int, bytes], int] = {}
        #: The number of output subsets that may still be added; their expressions are kept.
        self.remaining = structure.max_subsets

    def _with_parameter(self, index: int, degree: int) -> int:
        """Return the maximum of a parameter and a degree."""
        known = self.structure.parameters[index]
        if known is None:
            return self.join([self.parameter(index), degree])
        return ONE if known else degree

    @cached_property
    def _blocks(self) -> "tuple[list[list[int]], npt.NDArray[np.intp]]":
        """The pattern expressions of each block, and the pattern of each cell (blocks x cells)."""
        signs = self.structure.partition.signs
        blocks = [
            (rules, *np.unique(signs[:, rules], axis=0, return_inverse=True))
            for rules in independent_blocks(signs)
        ]
        # The block with the fewest patterns goes last: it is sliced first, and the slices are
        # shared by more subsets.
        blocks.sort(key=lambda block: -len(block[1]))
        values = [self._pattern_minima(rules, patterns) for rules, patterns, _ in blocks]
        return values, np.stack([inverse.reshape(-1) for _, _, inverse in blocks])

    def _pattern_minima(self, rules: Sequence[int], patterns: BoolArray) -> list[int]:
        """Return ``min_j (alpha_j or beta_j)`` [eq:redFP] for each sign pattern."""
        nodes = []
        for pattern in patterns.tolist():
            sides = zip(rules, pattern, strict=True)
            terms = [self.alphas[j] if sign else self.betas[j] for j, sign in sides]
            nodes.append(self.chained_meet(terms))
        return nodes

    def _maximum(self, table: BoolArray) -> int:
        """Return the max over the marked cells of a table of the min over blocks.

        Min distributes over max, so with `y` along the last axis it is the max over `y`
        of ``min(g(y), F(slice at y))``; equal slices are taken together.
        """
        depth = table.ndim
        key = (depth, table.tobytes())
        if key not in self._best:
            values = self._blocks[0][depth - 1]
            if depth == 1:
                self._best[key] = self.marked_maximum(values, table)
            else:
                self._best[key] = self._join_slices(_slices(table), values, self._maximum)
        return self._best[key]

    def _join_slices(
        self, slices: Slices, values: Sequence[int], slice_value: Callable[[BoolArray], int]
    ) -> int:
        """Return the max over slices of ``min(max of the slice's values, slice_value)``."""
        return self.join(
            [
                self.meet([self.join([values[y] for y in group]), slice_value(slice_table)])
                for slice_table, group in slices
            ]
        )

    @cached_property
    def height(self) -> int:
        """The expression of ``Pi*(D_b)``; ONE if the result is always normalised."""
        return self._maximum(self._tables([(1 << self.structure.output_size) - 1])[0])

    def facets(self, masks: Sequence[int], split: bool) -> list[int]:
        """Return ``Pi*(b in A)`` for each mask `A` of the output domain.

        Subsets are joined from their common atoms. With `split`, their tables are sliced along the
        last block first, and the slices are joined from atoms. Which is cheaper depends on the
        subsets.
        """
        self.remaining -= len(masks)
        tables = self._tables(masks)
        if not split or tables[0].ndim == 1:
            return self._table_maxima(tables)
        values = self._blocks[0][tables[0].ndim - 1]
        slices = [_slices(table) for table in tables]
        distinct = {table.tobytes(): table for table_slices in slices for table, _ in table_slices}
        maxima = dict(zip(distinct, self._table_maxima(list(distinct.values())), strict=True))
        return [
            self._join_slices(table_slices, values, lambda table: maxima[table.tobytes()])
            for table_slices in slices
        ]

    def _tables(self, masks: Sequence[int]) -> list[BoolArray]:
        """Return for each subset a table over the blocks' patterns, marked at its cells."""
        values, pattern_of = self._blocks
        inside = mask_table(self.structure.output_size, tuple(masks))
        tables = np.zeros((len(masks), *map(len, values)), dtype=bool)
        cells = pattern_of[:, self.structure.partition.cell_of]
        for table, column in zip(tables, inside.T, strict=True):
            table[tuple(cells[:, column])] = True
        return list(tables)

    def _table_maxima(self, tables: Sequence[BoolArray]) -> list[int]:
        """Return the max over the marked cells of each table; common atoms are shared."""
        if not tables:  # empty subsets have no slices
            return []
        shape = tables[0].shape
        members, atom_tables = atoms(np.stack([table.ravel() for table in tables], axis=1))
        maxima = [self._maximum(member.reshape(shape)) for member in members]
        return self.column_maxima(maxima, atom_tables)


def _slices(table: BoolArray) -> Slices:
    """Return the slices of a table along its last axis that are not empty, equal ones grouped."""
    groups: dict[bytes, tuple[BoolArray, list[int]]] = {}
    for y in range(table.shape[-1]):
        slice_table = np.ascontiguousarray(table[..., y])
        if slice_table.any():
            groups.setdefault(slice_table.tobytes(), (slice_table, []))[1].append(y)
    return list(groups.values())


def independent_blocks(signs: BoolArray) -> list[list[int]]:
    """Split the rules into blocks so that the sign table is the product of the blocks' patterns.

    Two rules are in one block if not all combinations of their signs occur. If the products of the
    blocks' patterns are not all cells, all rules are one block.
    """
    blocks = _dependent_rules(signs)
    if len(blocks) == 1:
        return blocks
    patterns = [len(np.unique(signs[:, block], axis=0)) for block in blocks]
    if np.prod(patterns, dtype=float) == len(signs):
        return blocks
    return [list(range(signs.shape[1]))]


def _dependent_rules(signs: BoolArray) -> list[list[int]]:
    """Return the connected components of rules for which not all combinations of signs occur."""
    plus = signs.astype(np.float32)  # fast matrix products, and counts of cells are exact
    unseen = np.arange(signs.shape[1])
    groups = []
    while len(unseen):
        group, unseen = [int(unseen[0])], unseen[1:]
        for first in itertools.count(0, RULES_AT_A_TIME):  # the group grows in the loop
            rules = group[first : first + RULES_AT_A_TIME]
            if not rules or not len(unseen):
                break
            linked = _misses_sign_pair(plus[:, rules], plus[:, unseen])
            group += unseen[linked].tolist()
            unseen = unseen[~linked]
        groups.append(sorted(group))
    return groups


def _misses_sign_pair(rules: npt.NDArray[np.float32], others: npt.NDArray[np.float32]) -> BoolArray:
    """Return for which of the others a combination of signs with one of the rules is missing."""
    cells, count, other_count = len(rules), rules.sum(axis=0)[:, None], others.sum(axis=0)
    with np.errstate(invalid="ignore"):  # some BLAS libraries read padding
        common = rules.T @ others
    missing: BoolArray = (common == 0) & (count > 0) & (other_count > 0)
    missing |= (common == count) & (count > 0) & (other_count < cells)
    missing |= (common == other_count) & (other_count > 0) & (count < cells)
    missing |= (count + other_count - common == cells) & (count < cells) & (other_count < cells)
    return np.asarray(missing.any(axis=0))
