"""What a rule set computes, apart from the names of its attributes and its parameters' values."""

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

#: What is marked of a product of blocks, and the values of the last block it is marked with.
Slices = list[tuple[BoolArray, list[int]]]

#: Rules that are compared with all others at once.
RULES_AT_A_TIME = 128
#: Subsets times values from which on they are compiled in arrays, and their expressions are not
#: compared; the sets of Sudoku gain by comparing, both ways.
WIDE = 16384


@dataclass(frozen=True)
class Kind:
    """The structure of a rule set; sets of one kind share their compiled form.

    Attributes
    ----------
    sizes, normalised : for each input attribute, the size of its domain and whether its
        distribution is known to be normalised
    premises : for each rule, its propositions as (input attribute, mask)
    output_size, conclusions : the size of ``D_b`` and the masks ``Q_i``
    parameters : for each of ``s_1, r_1, s_2, ...``, 0 or 1 where it is that, else None
    bare : whether a proposition with all values has the possibility ``Pi(D_a)``; else it is true,
        and one without values false, whatever the height of the distribution
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
        # Once: of many large masks it takes long.
        return hash((self.sizes, self.premises, self.conclusions, self.parameters))

    @property
    def is_wide(self) -> bool:
        """Whether it is compiled in arrays, because of its many rules and values."""
        return len(self.premises) * (self.output_size + max(self.sizes)) > WIDE

    @property
    def max_asked(self) -> int:
        """How many subsets of the output its shared expressions, which hold each, may grow by."""
        return 1024 + 16 * self.output_size

    @property
    def partition(self) -> Partition:
        """The partition of the output domain."""
        return partition_of(self.output_size, self.conclusions)


@dataclass(frozen=True)
class RuleUnit:
    """The rules that conclude on one attribute, as the engine sees them; `bare` as in `Kind`."""

    output: Attribute
    inputs: tuple[Attribute, ...]
    rules: tuple[Rule, ...]
    bare: bool = False

    def kind(self, normalised: set[str]) -> Kind:
        """Return the structure of this rule set; `normalised` names the attributes known to be."""
        sizes, *structure = self._structure
        return Kind(sizes, tuple(a.name in normalised for a in self.inputs), *structure)

    @cached_property
    def _structure(self) -> tuple[Any, ...]:
        """All of the kind but which inputs are normalised."""
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


#: Held while circuits grow: sets of one kind share one, whatever thread compiles them.
COMPILING = threading.RLock()


@lru_cache(maxsize=256)
def circuit_of(kind: Kind) -> "KindCircuit":
    """Return the circuit of a kind of rule set, built once."""
    return KindCircuit(kind)


class KindCircuit(Circuit):
    """The expressions of one kind of rule set: premise degrees, cells, possibilities of subsets."""

    def __init__(self, kind: Kind) -> None:
        super().__init__([(1 << size) - 1 for size in kind.sizes], kind.normalised)
        self.kind = kind
        degrees = [self.premise(propositions, kind.bare) for propositions in kind.premises]
        self.lambdas, self.rhos = map(list, zip(*degrees, strict=True))
        # alpha_i = max(s_i, lambda_i), beta_i = max(r_i, rho_i)  [eq:alphabeta]
        self.alphas = [self._with_parameter(2 * j, d) for j, d in enumerate(self.lambdas)]
        self.betas = [self._with_parameter(2 * j + 1, d) for j, d in enumerate(self.rhos)]
        self._best: dict[tuple[int, bytes], int] = {}
        #: How many subsets of the output may still be asked for: their expressions stay.
        self.remaining = kind.max_asked

    def _with_parameter(self, index: int, degree: int) -> int:
        """Return the maximum of a parameter and a degree."""
        known = self.kind.parameters[index]
        if known is None:
            return self.join([self.parameter(index), degree])
        return ONE if known else degree

    @cached_property
    def _blocks(self) -> "tuple[list[list[int]], npt.NDArray[np.intp]]":
        """For each block its patterns' expressions, and the place of each cell in their product."""
        signs = self.kind.partition.signs
        blocks = [
            (rules, *np.unique(signs[:, rules], axis=0, return_inverse=True))
            for rules in independent_blocks(signs)
        ]
        # The block with the fewest patterns goes last: the last one is taken apart first,
        # and what remains is shared by more subsets.
        blocks.sort(key=lambda block: -len(block[1]))
        values = [self._patterns(rules, patterns) for rules, patterns, _ in blocks]
        return values, np.stack([inverse.reshape(-1) for _, _, inverse in blocks])

    def _patterns(self, rules: Sequence[int], patterns: BoolArray) -> list[int]:
        """Return ``min_j (alpha_j or beta_j)`` [eq:redFP] for each sign pattern."""
        nodes = []
        for pattern in patterns.tolist():
            sides = zip(rules, pattern, strict=True)
            terms = [self.alphas[j] if sign else self.betas[j] for j, sign in sides]
            nodes.append(self.chained_meet(terms))
        return nodes

    def _maximum(self, table: BoolArray) -> int:
        """Return the max over the marked cells of the min over blocks.

        Min distributes over max, so with `y` ranging over the last block it is the max over `y`
        of ``min(g(y), F(rest marked with y))``; values of `y` with equal rest are taken together.
        """
        depth = table.ndim
        key = (depth, table.tobytes())
        if key not in self._best:
            values = self._blocks[0][depth - 1]
            if depth == 1:
                self._best[key] = self.largest(values, table)
            else:
                self._best[key] = self._over_slices(_slices(table), values, self._maximum)
        return self._best[key]

    def _over_slices(
        self, slices: Slices, values: Sequence[int], slice_value: Callable[[BoolArray], int]
    ) -> int:
        """Return the max over slices of the min of the slice's own part and the rest's value."""
        return self.join(
            [
                self.meet([self.join([values[y] for y in group]), slice_value(slice_table)])
                for slice_table, group in slices
            ]
        )

    @cached_property
    def height(self) -> int:
        """The expression of ``Pi*(D_b)``; it is ONE where the result is always normalised."""
        return self._maximum(self._tables([(1 << self.kind.output_size) - 1])[0])

    def facets(self, masks: Sequence[int], split: bool) -> list[int]:
        """Return ``Pi*(b in A)`` for each subset `A` of the output domain, given as masks.

        Subsets are joined from the atoms that they are all made of. With `split`, they are taken
        apart by the last block first, and what remains of them is joined from atoms. Which is
        less work depends on the subsets.
        """
        self.remaining -= len(masks)
        tables = self._tables(masks)
        if not split or tables[0].ndim == 1:
            return self._by_atoms(tables)
        values = self._blocks[0][tables[0].ndim - 1]
        parts = [_slices(table) for table in tables]
        rests = {slice_table.tobytes(): slice_table for part in parts for slice_table, _ in part}
        maxima = dict(zip(rests, self._by_atoms(list(rests.values())), strict=True))
        return [
            self._over_slices(part, values, lambda table: maxima[table.tobytes()]) for part in parts
        ]

    def _tables(self, masks: Sequence[int]) -> list[BoolArray]:
        """Mark the cells that each subset touches, in the product of the blocks' patterns."""
        values, pattern_of = self._blocks
        inside = mask_table(self.kind.output_size, tuple(masks))
        tables = np.zeros((len(masks), *map(len, values)), dtype=bool)
        cells = pattern_of[:, self.kind.partition.cell_of]
        for table, column in zip(tables, inside.T, strict=True):
            table[tuple(cells[:, column])] = True
        return list(tables)

    def _by_atoms(self, tables: Sequence[BoolArray]) -> list[int]:
        """Return the max over each table's marked cells, by way of the atoms they share."""
        if not tables:  # of empty subsets nothing remains
            return []
        shape = tables[0].shape
        flat = np.stack([table.ravel() for table in tables], axis=1)
        marked, inside = atoms(flat)
        return self.unions([self._maximum(member.reshape(shape)) for member in marked], inside)


def _slices(table: BoolArray) -> Slices:
    """Return what is marked with each value of the last block, equal slices together."""
    groups: dict[bytes, tuple[BoolArray, list[int]]] = {}
    for y in range(table.shape[-1]):
        slice_table = np.ascontiguousarray(table[..., y])
        if slice_table.any():
            groups.setdefault(slice_table.tobytes(), (slice_table, []))[1].append(y)
    return list(groups.values())


def independent_blocks(signs: BoolArray) -> list[list[int]]:
    """Split the rules so that the sign table is the product of the blocks' patterns.

    Two rules go together if not all combinations of their signs occur; if the blocks so found
    do not multiply to the number of cells, all rules are one block.
    """
    blocks = _dependent_rules(signs)
    if len(blocks) == 1:
        return blocks
    patterns = [len(np.unique(signs[:, block], axis=0)) for block in blocks]
    if np.prod(patterns, dtype=float) == len(signs):
        return blocks
    return [list(range(signs.shape[1]))]


def _dependent_rules(signs: BoolArray) -> list[list[int]]:
    """Group rules that are linked: not all combinations of their signs occur.

    Once every rule has its group no two are compared any more.
    """
    plus = signs.astype(np.float32)  # NumPy multiplies it fast, and counts of cells are exact
    unseen = np.arange(signs.shape[1])
    groups = []
    while len(unseen):
        group, unseen = [int(unseen[0])], unseen[1:]
        for first in itertools.count(0, RULES_AT_A_TIME):  # the group grows on the way
            rules = group[first : first + RULES_AT_A_TIME]
            if not rules or not len(unseen):
                break
            linked = _linked(plus[:, rules], plus[:, unseen])
            group += unseen[linked].tolist()
            unseen = unseen[~linked]
        groups.append(sorted(group))
    return groups


def _linked(rules: npt.NDArray[np.float32], others: npt.NDArray[np.float32]) -> BoolArray:
    """Return which of the other rules miss a combination of signs with one of some rules."""
    cells, count, other_count = len(rules), rules.sum(axis=0)[:, None], others.sum(axis=0)
    with np.errstate(invalid="ignore"):  # some BLAS libraries compute with what lies beside arrays
        common = rules.T @ others
    missing: BoolArray = (common == 0) & (count > 0) & (other_count > 0)
    missing |= (common == count) & (count > 0) & (other_count < cells)
    missing |= (common == other_count) & (other_count > 0) & (count < cells)
    missing |= (count + other_count - common == cells) & (count < cells) & (other_count < cells)
    return np.asarray(missing.any(axis=0))
