"""Expressions of min and max over possibility degrees, shared and simplified exactly.

Min and max form a distributive lattice, so ``min(x, max(x, y)) = x`` and its kin hold for all
numbers, bit for bit. A circuit builds each distinct expression once and applies these laws as it
builds; most of a rule base's work disappears here, before any number is seen.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pinesy._common.masks import positions
from pinesy._common.validation import BoolArray

#: The operations: MAX and MIN of a list; in programs also the max of mins of pairs, the min of
#: maxes of pairs (which is 3), and output.
MAX, MIN, MAXMIN, STORE = 0, 1, 2, 4
ZERO, ONE = 0, 1


@dataclass(frozen=True, slots=True)
class Facet:
    """The input ``Pi(a in A)``: `attribute` counts the circuit's inputs, `mask` gives `A`."""

    attribute: int
    mask: int


@dataclass(frozen=True, slots=True)
class Parameter:
    """The rule parameter number `index` (``s_1, r_1, s_2, r_2, ...``)."""

    index: int


@dataclass(frozen=True, slots=True)
class Node:
    """A min or max: `children` is how to compute it, `terms` the operands it comes down to.

    For a min these are bits, each the place of a term in the circuit's order.
    """

    op: int
    children: tuple[int, ...]
    terms: tuple[int, ...] | int


class Circuit:
    """Hash-consed min/max expressions; an expression is the number of its node.

    Parameters
    ----------
    full : the mask of the whole domain of each input attribute
    normalised : whether ``Pi(D_a) = 1`` is known for each of them
    n_columns : how many parameters to begin with, as `columns`
    """

    def __init__(self, full: Sequence[int], normalised: Sequence[bool], n_columns: int = 0) -> None:
        self.full = tuple(full)
        self.normalised = tuple(normalised)
        self.nodes: list[Node | Facet | Parameter | None] = [None, None]  # ZERO and ONE
        self._known: dict[object, int] = {}
        self._order = _Order(self)
        self.columns = [self.parameter(index) for index in range(n_columns)]

    def facet(self, attribute: int, mask: int) -> int:
        """Return ``Pi(a in A)``: 0 for the empty set, 1 for the domain if it is normalised."""
        if mask == 0:
            return ZERO
        if mask == self.full[attribute] and self.normalised[attribute]:
            return ONE
        return self._leaf(Facet(attribute, mask))

    def parameter(self, index: int) -> int:
        """Return the rule parameter number `index`."""
        return self._leaf(Parameter(index))

    def premise(
        self, propositions: Sequence[tuple[int, int]], bare: bool = False
    ) -> tuple[int, int]:
        """Return ``lambda = min_j pi(p_j)`` and ``rho = max_j pi(not p_j)`` [eq:pinegpiformulae].

        Propositions are pairs of an attribute and a mask. One with all values is true and one with
        none is false, whatever the height of the attribute's distribution, unless `bare`.
        """

        def measure(a: int, mask: int) -> int:
            return ONE if mask == self.full[a] and not bare else self.facet(a, mask)

        true = [measure(a, mask) for a, mask in propositions]
        false = [measure(a, self.full[a] & ~mask) for a, mask in propositions]
        return self.meet(true), self.join(false)

    def _leaf(self, leaf: Facet | Parameter) -> int:
        if leaf not in self._known:
            self._known[leaf] = len(self.nodes)
            self.nodes.append(leaf)
        return self._known[leaf]

    def join(self, operands: Iterable[int]) -> int:
        """Return the maximum of the operands.

        Facets of one attribute unite: ``max(Pi(A), Pi(B)) = Pi(A or B)``. A min drops out when
        one of its terms is below another operand, and the whole is 1 when each term of a min
        makes 1 with the rest (``max(lambda, rho) = 1`` for normalised inputs).
        """
        children = [c for c in dict.fromkeys(operands) if c != ZERO]
        masks, others = self.united(children)
        if ONE in others or any(self.facet(a, m) == ONE for a, m in masks.items()):
            return ONE
        left = {o for o in others if not self._below_join(o, masks, others)}
        if any(self._completes(o, masks) for o in left):
            return ONE
        terms = tuple(sorted({self.facet(a, m) for a, m in masks.items()} | left))
        if len(terms) <= 1:
            return terms[0] if terms else ZERO
        same = sum(len(self._operands(c)) for c in children) == len(terms)
        return self._node(MAX, children if same else terms, terms)

    def meet(self, operands: Iterable[int]) -> int:
        """Return the minimum of the operands, without those that another one is below."""
        children = [c for c in dict.fromkeys(operands) if c != ONE]
        if ZERO in children:
            return ZERO
        bits = self._lowest_terms(children)
        if bits.bit_count() <= 4:  # quicker than by way of the operands, and often all there is
            children = self._order.terms(bits)
        if len(children) <= 1:
            return children[0] if children else ONE
        # Computing it from its operands is right even where a term of theirs drops out, and
        # it shares their work.
        return self._node(MIN, children, bits)

    def idle(self, operands: Sequence[int]) -> list[bool]:
        """Return which operands of a minimum are redundant, for all inputs.

        One is if each of its terms is, or is above, a term of another operand. Costs one step for
        each term.
        """
        zeros = sum(operand == ZERO for operand in operands)
        terms = [0 if o in (ZERO, ONE) else self._bits(o) for o in operands]
        once = twice = 0
        for bits in terms:
            once, twice = once | bits, twice | once & bits
        return [
            operand == ONE
            or zeros - (operand == ZERO) > 0
            or (operand != ZERO and self._order.is_above(bits, twice | once & ~bits))
            for operand, bits in zip(operands, terms, strict=True)
        ]

    def _lowest_terms(self, operands: Iterable[int]) -> int:
        """Return the terms of a minimum, in bits, without those that another one is below."""
        bits = 0
        for operand in operands:
            bits = self._order.lowest(bits, self._bits(operand))
        return bits

    def chained_meet(self, operands: Iterable[int]) -> int:
        """Return the minimum of the operands, term by term in a fixed order.

        So minima that begin with the same terms share their work, as along the prefix tree.
        """
        children = [c for c in dict.fromkeys(operands) if c != ONE]
        if ZERO in children:
            return ZERO
        value = ONE
        for term in self._order.terms(self._lowest_terms(children)):
            value = self.meet([value, term])
        return value

    def subsets(self, members: BoolArray, values: Sequence[int]) -> list[int]:
        """Return the max over each column of `members` (values x subsets), by way of atoms."""
        marked, inside = atoms(members)
        return self.unions([self.largest(values, member) for member in marked], inside)

    def largest(self, values: Sequence[int], marked: BoolArray) -> int:
        """Return the max of the values that are marked."""
        return self.join([values[i] for i in np.flatnonzero(marked).tolist()])

    def unions(self, values: Sequence[int], members: BoolArray) -> list[int]:
        """Return the max of the values in each column of `members` (values x subsets).

        Subsets that leave out just one value are joined from prefix and suffix maxima: ``3n`` steps
        for all of them in place of ``n^2``.
        """
        gaps = np.count_nonzero(members, axis=0) == len(values) - 1
        if np.count_nonzero(gaps) < 3:
            return [self.largest(values, member) for member in members.T]
        prefix, suffix = self._running(values), self._running(values[::-1])[::-1]
        nodes = []
        for member, is_gap in zip(members.T, gaps, strict=True):
            gap = int(np.argmin(member))
            sides = [prefix[gap], suffix[gap + 1]]
            nodes.append(self.join(sides) if is_gap else self.largest(values, member))
        return nodes

    def _running(self, atoms: Sequence[int]) -> list[int]:
        """Return the maxima of the first 0, 1, 2, ... atoms."""
        maxima = [ZERO]
        for atom in atoms:
            maxima.append(self.join([maxima[-1], atom]))
        return maxima

    def _node(self, op: int, children: Sequence[int], terms: tuple[int, ...] | int) -> int:
        key = (op, terms)
        if key not in self._known:
            self._known[key] = len(self.nodes)
            self.nodes.append(Node(op, tuple(children), terms))
        return self._known[key]

    def _bits(self, node: int) -> int:
        """Return the terms of `node` as a min, in bits."""
        content = self.nodes[node]
        if isinstance(content, Node) and isinstance(content.terms, int):
            return content.terms
        return 1 << self._order.index_of(node)

    def _operands(self, node: int) -> tuple[int, ...]:
        """Return the terms of `node` as a max: itself, if it is something else."""
        content = self.nodes[node]
        if isinstance(content, Node) and isinstance(content.terms, tuple):
            return content.terms
        return (node,)

    def united(self, children: Iterable[int]) -> tuple[dict[int, int], set[int]]:
        """Take a maximum apart: a mask for each attribute, and the operands that are not facets."""
        masks: dict[int, int] = {}
        others: set[int] = set()
        for child in children:
            for term in self._operands(child):
                leaf = self.nodes[term]
                if isinstance(leaf, Facet):
                    masks[leaf.attribute] = masks.get(leaf.attribute, 0) | leaf.mask
                else:
                    others.add(term)
        return masks, others

    def _below_join(self, node: int, masks: dict[int, int], others: set[int]) -> bool:
        """Return whether the min `node` has a term that is below another operand of the join."""
        content = self.nodes[node]
        if not isinstance(content, Node) or not isinstance(content.terms, int):
            return False
        return any(
            leaf.mask & ~masks.get(leaf.attribute, 0) == 0
            if isinstance(leaf := self.nodes[term], Facet)
            else term in others
            for term in self._order.terms(content.terms)
        )

    def _completes(self, node: int, masks: dict[int, int]) -> bool:
        """Return whether every term of the min `node` makes 1 together with the united facets."""
        content = self.nodes[node]
        if not isinstance(content, Node) or not isinstance(content.terms, int):
            return False
        return all(
            isinstance(leaf := self.nodes[term], Facet)
            and self.facet(leaf.attribute, leaf.mask | masks.get(leaf.attribute, 0)) == ONE
            for term in self._order.terms(content.terms)
        )


def atoms(members: BoolArray) -> tuple[BoolArray, BoolArray]:
    """Return which values make up each atom of some subsets, and which subsets it is inside of.

    `members` tells which values (rows) are in which subsets (columns); values in none have no atom.
    """
    rows, atom_of = np.unique(members, axis=0, return_inverse=True)
    inside = np.flatnonzero(rows.any(axis=1))
    return atom_of.ravel() == inside[:, None], rows[inside]


class _Order:
    """Which terms of minima are below which, kept as bits so that a look-up is one operation."""

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit
        self.ids: list[int] = []
        self._parts: list[tuple[dict[int, int], set[int]]] = []
        self._index: dict[int, int] = {}
        self._terms: dict[int, list[int]] = {}
        self._above: list[int] = []  # the bits of the terms above each term
        self._below: list[int] = []
        #: The terms that a facet of some attribute, or some parameter, is an operand of.
        self._users: dict[object, list[int]] = {}

    def terms(self, bits: int) -> list[int]:
        """Return the terms whose bits are set."""
        if bits not in self._terms:
            self._terms[bits] = [self.ids[index] for index in positions(bits)]
        return self._terms[bits]

    def lowest(self, bits: int, others: int) -> int:
        """Return the union without the terms that are above another one."""
        if bits == 0:
            return others
        for index in positions(others):
            if not bits & self._below[index]:
                bits = bits & ~self._above[index] | 1 << index
        return bits

    def is_above(self, bits: int, others: int) -> bool:
        """Return whether each of some terms is one of the others, or above one."""
        indices = positions(bits & ~others)
        return all(self._below[index] & others for index in indices)

    def index_of(self, term: int) -> int:
        """Return the index of a term; a new one is compared with those that share parts with it."""
        if term not in self._index:
            self._index[term] = len(self.ids)
            self._add(term)
        return self._index[term]

    def _add(self, term: int) -> None:
        index = len(self.ids)
        masks, others = self.circuit.united([term])
        self.ids.append(term)
        self._parts.append((masks, others))
        parts: list[object] = [("facet of", a) for a in masks]
        parts += others
        related = sorted({u for part in parts for u in self._users.get(part, ())})
        self._below.append(0)
        self._above.append(0)
        for other in related:
            if self._leq(other, index):
                self._below[index] |= 1 << other
                self._above[other] |= 1 << index
            if self._leq(index, other):
                self._above[index] |= 1 << other
                self._below[other] |= 1 << index
        for part in parts:
            self._users.setdefault(part, []).append(index)

    def _leq(self, low: int, high: int) -> bool:
        """Return whether term `low` is at most term `high` for all inputs, given their indices."""
        low_masks, low_others = self._parts[low]
        masks, others = self._parts[high]
        for attribute, mask in low_masks.items():
            if mask & ~masks.get(attribute, 0):
                return False
        return low_others <= others
