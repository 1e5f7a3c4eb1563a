"""Expressions of min and max over possibility degrees, shared and simplified exactly.

Min and max form a distributive lattice, so laws such as ``min(x, max(x, y)) = x`` hold for all
numbers, bit for bit. A circuit builds each distinct expression once and applies these laws at
compile time, which removes most of the work of a rule base.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pinesy._common.masks import positions
from pinesy._common.validation import BoolArray

#: The operations: MAX and MIN of a list; in programs also the max of mins of pairs (MAXMIN), the
#: min of maxes of pairs (``MAXMIN + 1``), and STORE, which writes an output.
MAX, MIN, MAXMIN, STORE = 0, 1, 2, 4
ZERO, ONE = 0, 1


@dataclass(frozen=True, slots=True)
class Facet:
    """The possibility ``Pi(a in A)``: the index of an input attribute, and the mask of `A`."""

    attribute: int
    mask: int


@dataclass(frozen=True, slots=True)
class Parameter:
    """A rule parameter, by its index in ``s_1, r_1, s_2, r_2, ...``."""

    index: int


@dataclass(frozen=True, slots=True)
class Node:
    """A min or max.

    Attributes
    ----------
    op : MIN or MAX
    children : the node ids it is computed from
    terms : its operands after simplification: for a max node ids, for a min a mask of term indices
    """

    op: int
    children: tuple[int, ...]
    terms: tuple[int, ...] | int


class Circuit:
    """Hash-consed min/max expressions; an expression is the id of its node.

    Parameters
    ----------
    full : the mask of the domain of each input attribute
    normalised : for each input attribute whether ``Pi(D_a) = 1`` is known
    n_columns : the number of parameters to create, as `columns`
    """

    def __init__(self, full: Sequence[int], normalised: Sequence[bool], n_columns: int = 0) -> None:
        self.full = tuple(full)
        self.normalised = tuple(normalised)
        self.nodes: list[Node | Facet | Parameter | None] = [None, None]  # ZERO and ONE
        self._known: dict[object, int] = {}
        self._order = _TermOrder(self)
        self.columns = [self.parameter(index) for index in range(n_columns)]

    def facet(self, attribute: int, mask: int) -> int:
        """Return ``Pi(a in A)``: 0 for the empty set, 1 for the domain if it is normalised."""
        if mask == 0:
            return ZERO
        if mask == self.full[attribute] and self.normalised[attribute]:
            return ONE
        return self._leaf(Facet(attribute, mask))

    def parameter(self, index: int) -> int:
        """Return the rule parameter of an index."""
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

        Facets of one attribute unite: ``max(Pi(A), Pi(B)) = Pi(A or B)``. A min is absorbed when
        one of its terms is below another operand. The maximum is 1 when each term of a min has
        maximum 1 with the facets (``max(lambda, rho) = 1`` for normalised inputs).
        """
        children = [c for c in dict.fromkeys(operands) if c != ZERO]
        masks, others = self.split_join(children)
        if ONE in others or any(self.facet(a, m) == ONE for a, m in masks.items()):
            return ONE
        remaining = {o for o in others if not self._is_absorbed(o, masks, others)}
        if any(self._makes_one(o, masks) for o in remaining):
            return ONE
        terms = tuple(sorted({self.facet(a, m) for a, m in masks.items()} | remaining))
        if len(terms) <= 1:
            return terms[0] if terms else ZERO
        same = sum(len(self._max_terms(c)) for c in children) == len(terms)
        return self._node(MAX, children if same else terms, terms)

    def meet(self, operands: Iterable[int]) -> int:
        """Return the minimum of the operands, without those that are above another operand."""
        children = [c for c in dict.fromkeys(operands) if c != ONE]
        if ZERO in children:
            return ZERO
        bits = self._minimal_terms(children)
        if bits.bit_count() <= 4:  # cheaper than from the operands, and often exactly these
            children = self._order.terms(bits)
        if len(children) <= 1:
            return children[0] if children else ONE
        # Computed from its operands, it shares their work, though some terms may be redundant.
        return self._node(MIN, children, bits)

    def redundant_operands(self, operands: Sequence[int]) -> list[bool]:
        """Return which operands of a minimum are redundant for all inputs.

        An operand is redundant if each of its terms is, or is above, a term of another operand.
        Linear in the number of terms.
        """
        zeros = sum(operand == ZERO for operand in operands)
        terms = [0 if o in (ZERO, ONE) else self._min_terms(o) for o in operands]
        once = twice = 0
        for bits in terms:
            once, twice = once | bits, twice | once & bits
        return [
            operand == ONE
            or zeros - (operand == ZERO) > 0
            or (operand != ZERO and self._order.is_above(bits, twice | once & ~bits))
            for operand, bits in zip(operands, terms, strict=True)
        ]

    def _minimal_terms(self, operands: Iterable[int]) -> int:
        """Return the mask of the terms of a minimum, without those that are above another term."""
        bits = 0
        for operand in operands:
            bits = self._order.minimal_union(bits, self._min_terms(operand))
        return bits

    def chained_meet(self, operands: Iterable[int]) -> int:
        """Return the minimum of the operands, term by term in a fixed order.

        Minima with a common prefix of terms share its nodes.
        """
        children = [c for c in dict.fromkeys(operands) if c != ONE]
        if ZERO in children:
            return ZERO
        value = ONE
        for term in self._order.terms(self._minimal_terms(children)):
            value = self.meet([value, term])
        return value

    def subset_maxima(self, members: BoolArray, values: Sequence[int]) -> list[int]:
        """Return the max over each column of `members` (values x subsets); atoms are shared."""
        atom_members, atom_subsets = atoms(members)
        maxima = [self.marked_maximum(values, member) for member in atom_members]
        return self.column_maxima(maxima, atom_subsets)

    def marked_maximum(self, values: Sequence[int], marked: BoolArray) -> int:
        """Return the max of the marked values."""
        return self.join([values[i] for i in np.flatnonzero(marked).tolist()])

    def column_maxima(self, values: Sequence[int], members: BoolArray) -> list[int]:
        """Return the max over each column of `members` (values x subsets).

        Subsets without exactly one value are joined from prefix and suffix maxima: ``3n`` nodes for
        all of them instead of ``n^2``.
        """
        gaps = np.count_nonzero(members, axis=0) == len(values) - 1
        if np.count_nonzero(gaps) < 3:
            return [self.marked_maximum(values, member) for member in members.T]
        prefix, suffix = self._prefix_maxima(values), self._prefix_maxima(values[::-1])[::-1]
        nodes = []
        for member, is_gap in zip(members.T, gaps, strict=True):
            gap = int(np.argmin(member))
            sides = [prefix[gap], suffix[gap + 1]]
            nodes.append(self.join(sides) if is_gap else self.marked_maximum(values, member))
        return nodes

    def _prefix_maxima(self, values: Sequence[int]) -> list[int]:
        """Return the maxima of the first 0, 1, 2, ... values."""
        maxima = [ZERO]
        for value in values:
            maxima.append(self.join([maxima[-1], value]))
        return maxima

    def _node(self, op: int, children: Sequence[int], terms: tuple[int, ...] | int) -> int:
        key = (op, terms)
        if key not in self._known:
            self._known[key] = len(self.nodes)
            self.nodes.append(Node(op, tuple(children), terms))
        return self._known[key]

    def _min_terms(self, node: int) -> int:
        """Return the terms of `node` as a min, as a mask of term indices."""
        content = self.nodes[node]
        if isinstance(content, Node) and isinstance(content.terms, int):
            return content.terms
        return 1 << self._order.index_of(node)

    def _max_terms(self, node: int) -> tuple[int, ...]:
        """Return the terms of `node` as a max; of any other node, the node itself."""
        content = self.nodes[node]
        if isinstance(content, Node) and isinstance(content.terms, tuple):
            return content.terms
        return (node,)

    def split_join(self, children: Iterable[int]) -> tuple[dict[int, int], set[int]]:
        """Return the united facets of a maximum as masks by attribute, and its other terms."""
        masks: dict[int, int] = {}
        others: set[int] = set()
        for child in children:
            for term in self._max_terms(child):
                leaf = self.nodes[term]
                if isinstance(leaf, Facet):
                    masks[leaf.attribute] = masks.get(leaf.attribute, 0) | leaf.mask
                else:
                    others.add(term)
        return masks, others

    def _is_absorbed(self, node: int, masks: dict[int, int], others: set[int]) -> bool:
        """Return whether `node` is a min with a term below another operand of a maximum."""
        content = self.nodes[node]
        if not isinstance(content, Node) or not isinstance(content.terms, int):
            return False
        return any(
            leaf.mask & ~masks.get(leaf.attribute, 0) == 0
            if isinstance(leaf := self.nodes[term], Facet)
            else term in others
            for term in self._order.terms(content.terms)
        )

    def _makes_one(self, node: int, masks: dict[int, int]) -> bool:
        """Return whether `node` is a min whose terms all have maximum 1 with the united facets."""
        content = self.nodes[node]
        if not isinstance(content, Node) or not isinstance(content.terms, int):
            return False
        return all(
            isinstance(leaf := self.nodes[term], Facet)
            and self.facet(leaf.attribute, leaf.mask | masks.get(leaf.attribute, 0)) == ONE
            for term in self._order.terms(content.terms)
        )


def atoms(members: BoolArray) -> tuple[BoolArray, BoolArray]:
    """Return the atoms of subsets: ``(atoms, values)`` and ``(atoms, subsets)`` membership.

    `members` has the values as rows and the subsets as columns; values in no subset have no atom.
    """
    rows, atom_of = np.unique(members, axis=0, return_inverse=True)
    inside = np.flatnonzero(rows.any(axis=1))
    return atom_of.ravel() == inside[:, None], rows[inside]


class _TermOrder:
    """The partial order of the terms of minima, as masks of term indices."""

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit
        self.ids: list[int] = []
        self._parts: list[tuple[dict[int, int], set[int]]] = []
        self._index: dict[int, int] = {}
        self._terms: dict[int, list[int]] = {}
        self._above: list[int] = []  # for each term the mask of the terms above it
        self._below: list[int] = []
        #: The terms that contain a facet of an attribute, or a parameter.
        self._users: dict[object, list[int]] = {}

    def terms(self, bits: int) -> list[int]:
        """Return the node ids of the terms in a mask."""
        if bits not in self._terms:
            self._terms[bits] = [self.ids[index] for index in positions(bits)]
        return self._terms[bits]

    def minimal_union(self, bits: int, others: int) -> int:
        """Return the union of two masks, without the terms that are above another term."""
        if bits == 0:
            return others
        for index in positions(others):
            if not bits & self._below[index]:
                bits = bits & ~self._above[index] | 1 << index
        return bits

    def is_above(self, bits: int, others: int) -> bool:
        """Return whether each term of `bits` is, or is above, a term of `others`."""
        indices = positions(bits & ~others)
        return all(self._below[index] & others for index in indices)

    def index_of(self, term: int) -> int:
        """Return the index of a term; a new term is compared with those that share its parts."""
        if term in self._index:
            return self._index[term]
        index = self._index[term] = len(self.ids)
        masks, others = self.circuit.split_join([term])
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
        return index

    def _leq(self, low: int, high: int) -> bool:
        """Return whether term `low` is at most term `high` for all inputs, given their indices."""
        low_masks, low_others = self._parts[low]
        masks, others = self._parts[high]
        for attribute, mask in low_masks.items():
            if mask & ~masks.get(attribute, 0):
                return False
        return low_others <= others
