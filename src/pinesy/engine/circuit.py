"""Expressions of min and max over possibility degrees, shared and simplified exactly.

Min and max form a distributive lattice, so ``min(x, max(x, y)) = x`` and its kin hold for all
numbers, bit for bit. A circuit builds each distinct expression once and applies these laws as it
builds; most of a rule base's work disappears here, before any number is seen.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["MAX", "MIN", "ONE", "ZERO", "Circuit", "Facet", "Node", "Parameter"]

MAX, MIN = 0, 1
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
    """A min or max: `children` is how to compute it, `terms` its flat set of operands."""

    op: int
    children: tuple[int, ...]
    terms: frozenset[int]


class Circuit:
    """Hash-consed min/max expressions; an expression is the number of its node.

    Parameters
    ----------
    full : the mask of the whole domain of each input attribute
    normalised : whether ``Pi(D_a) = 1`` is known for each of them
    """

    def __init__(self, full: Sequence[int], normalised: Sequence[bool]) -> None:
        self.full = tuple(full)
        self.normalised = tuple(normalised)
        self.nodes: list[Node | Facet | Parameter | None] = [None, None]  # ZERO and ONE
        self._known: dict[object, int] = {}

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
        masks, others = self._united(children)
        if ONE in others or any(self.facet(a, m) == ONE for a, m in masks.items()):
            return ONE
        kept = {o for o in others if not self._below_join(o, masks, others)}
        if any(self._completes(o, masks) for o in kept):
            return ONE
        terms = frozenset({self.facet(a, m) for a, m in masks.items()} | kept)
        return self._node(MAX, children, terms)

    def meet(self, operands: Iterable[int]) -> int:
        """Return the minimum of the operands, without those that another one is below."""
        children = [c for c in dict.fromkeys(operands) if c != ONE]
        flat: set[int] = set()
        for child in children:
            node = self.nodes[child]
            flat |= node.terms if isinstance(node, Node) and node.op == MIN else {child}
        if ZERO in flat:
            return ZERO
        return self._node(MIN, children, frozenset(self._lowest(flat)))

    def _node(self, op: int, children: Sequence[int], terms: frozenset[int]) -> int:
        """Return the node of `terms`, computed from `children` where they say just the same."""
        if len(terms) <= 1:
            return next(iter(terms), ONE if op == MIN else ZERO)
        key = (op, terms)
        if key not in self._known:
            said = [self._terms(op, c) for c in children]
            if sum(map(len, said)) != len(terms) or frozenset().union(*said) != terms:
                children = sorted(terms)
            self._known[key] = len(self.nodes)
            self.nodes.append(Node(op, tuple(children), terms))
        return self._known[key]

    def _terms(self, op: int, node: int) -> frozenset[int]:
        content = self.nodes[node]
        return (
            content.terms if isinstance(content, Node) and content.op == op else frozenset([node])
        )

    def _united(self, children: Iterable[int]) -> tuple[dict[int, int], set[int]]:
        """Take a maximum apart: a mask for each attribute, and the operands that are not facets."""
        masks: dict[int, int] = {}
        others: set[int] = set()
        for child in children:
            for term in self._terms(MAX, child):
                leaf = self.nodes[term]
                if isinstance(leaf, Facet):
                    masks[leaf.attribute] = masks.get(leaf.attribute, 0) | leaf.mask
                else:
                    others.add(term)
        return masks, others

    def _below_join(self, node: int, masks: dict[int, int], others: set[int]) -> bool:
        """Tell whether the min `node` has a term that is below another operand of the join."""
        content = self.nodes[node]
        if not isinstance(content, Node) or content.op != MIN:
            return False
        return any(
            leaf.mask & ~masks.get(leaf.attribute, 0) == 0
            if isinstance(leaf := self.nodes[term], Facet)
            else term in others
            for term in content.terms
        )

    def _completes(self, node: int, masks: dict[int, int]) -> bool:
        """Tell whether every term of the min `node` makes 1 together with the united facets."""
        content = self.nodes[node]
        if not isinstance(content, Node) or content.op != MIN:
            return False
        return all(
            isinstance(leaf := self.nodes[term], Facet)
            and self.facet(leaf.attribute, leaf.mask | masks.get(leaf.attribute, 0)) == ONE
            for term in content.terms
        )

    def _lowest(self, terms: set[int]) -> set[int]:
        """Drop each term that is above another one."""
        facets: dict[int, list[int]] = {}
        for term in terms:
            leaf = self.nodes[term]
            if isinstance(leaf, Facet):
                facets.setdefault(leaf.attribute, []).append(leaf.mask)
        return {t for t in terms if not self._above_some(t, terms, facets)}

    def _above_some(self, term: int, terms: set[int], facets: dict[int, list[int]]) -> bool:
        content = self.nodes[term]
        if isinstance(content, Facet):
            masks, inside = {content.attribute: content.mask}, frozenset[int]()
        elif isinstance(content, Node) and content.op == MAX:
            masks, others = self._united([term])
            inside = frozenset(others)
        else:
            return False
        if inside & (terms - {term}):
            return True
        return any(
            below & ~mask == 0 and not (isinstance(content, Facet) and below == mask)
            for attribute, mask in masks.items()
            for below in facets.get(attribute, ())
        )
