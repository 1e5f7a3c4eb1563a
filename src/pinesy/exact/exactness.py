"""Where inference is exact, and where it gives upper bounds (docs/exactness.md).

Inference treats the premises of rules, and the attributes of a premise, as independent. Its result
is the projection of the joint distribution of all attributes (the min of the inputs and of the
distributions of each rule set for crisp inputs) if no attribute counts twice; else it is an upper
bound.

By level cuts, a cell of a rule set is a set of clauses: each term of [eq:redFP] requires some
attribute to have a value in some subset, unless its parameter is large enough. Inference decides
whether each clause is satisfiable, the joint whether all are together. They agree if the subsets
of each attribute in the clauses (without implied clauses) form a chain: a value in the smallest
subset possible satisfies all clauses.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from pinesy._common.masks import positions
from pinesy.engine.circuit import Facet, Node
from pinesy.engine.linker import structures_of
from pinesy.engine.rule_set_kinds import COMPILING, RuleSetStructure, RuleUnit, circuit_of
from pinesy.engine.wide import is_always_normalised
from pinesy.semantics.factors import tied_rules

#: Cells times rules of a rule set, at most; larger ones are not checked.
LOOK_LIMIT = 20_000_000
#: Clauses of a cell, at most, that are compared in pairs.
PAIR_LIMIT = 200
#: Subsets that are visited where paths meet, at most.
FACET_LIMIT = 30_000


#: A premise: its propositions, each the index of the attribute among the inputs and the subset.
Masks = tuple[tuple[int, int], ...]


class Clause(NamedTuple):
    """Some attribute has a value in its subset, or the degree is at most `parameter`."""

    masks: Mapping[int, int]
    parameter: float
    rule: int


class Overlap(NamedTuple):
    """Two rules (by index) that use an attribute as if it were two independent ones."""

    attribute: int
    rules: tuple[int, int]


#: From the name of an output and the index of a rule in its set to the number of the rule.
RuleNumber = Callable[[str, int], int]


def upper_bounds(sets: Sequence[RuleUnit], rule_number: RuleNumber) -> Iterator[tuple[str, str]]:
    """Yield the names of attributes whose inferred degrees may exceed the exact ones, and why.

    An attribute is exact if neither it nor an attribute that it depends on is yielded, for all
    inputs without a contradiction.

    Parameters
    ----------
    sets : the rule sets of a cascade, in an order of inference
    rule_number : as `Cascade.rule_number`
    """
    for rule_set in sets:
        name = rule_set.output.name
        parameters = tuple(z for rule in rule_set.rules for z in (rule.s, rule.r))
        structure = rule_set.structure(set())
        if len(structure.partition) * len(rule_set.rules) > LOOK_LIMIT:
            yield (name, "there are too many cells and rules to look at")
        elif overlap := _rule_set_overlap(structure, parameters):
            i, j = (rule_number(name, index) for index in overlap.rules)
            attribute = rule_set.inputs[overlap.attribute].name
            which = f"rule {i} uses" if i == j else f"rules {i} and {j} use"
            yield (name, f"{which} {attribute!r} along several paths, as if it were several")
    yield from _find_loops(sets)


# --- within one rule set ----------------------------------------------------------------------


@lru_cache(maxsize=256)
def _rule_set_overlap(kind: RuleSetStructure, parameters: tuple[float, ...]) -> Overlap | None:
    """Return two rules that count an attribute twice, or None."""
    full = [(1 << size) - 1 for size in kind.sizes]
    sides = list(zip(kind.premises, parameters[0::2], parameters[1::2], strict=True))
    inside = [_alpha_clauses(premise, s, j, full) for j, (premise, s, _) in enumerate(sides)]
    outside = [_beta_clauses(premise, r, j, full) for j, (premise, _, r) in enumerate(sides)]
    signs = kind.partition.signs
    for group in tied_rules([[a for a, _ in premise] for premise in kind.premises]):
        packed = np.packbits(signs[:, group], axis=1)
        _, first = np.unique(packed, axis=0, return_index=True)
        for pattern in signs[first][:, group].tolist():  # groups are independent
            terms = zip(group, pattern, strict=True)
            parts = (inside[j] if sign else outside[j] for j, sign in terms)
            if overlap := _find_overlap([clause for part in parts for clause in part]):
                return overlap
    return None


def _alpha_clauses(premise: Masks, s: float, rule: int, full: Sequence[int]) -> list[Clause]:
    """Return the clauses of ``alpha = max(s, lambda)``: each proposition holds."""
    if s == 1.0:
        return []
    return [Clause({a: mask}, s, rule) for a, mask in premise if mask != full[a]]


def _beta_clauses(premise: Masks, r: float, rule: int, full: Sequence[int]) -> list[Clause]:
    """Return the clause of ``beta = max(r, rho)``: some proposition fails."""
    masks: dict[int, int] = {}
    for a, mask in premise:
        masks[a] = masks.get(a, 0) | (full[a] & ~mask)
    if r == 1.0 or any(mask == full[a] for a, mask in masks.items()):
        return []  # the rule excludes nothing, or its premise never holds
    return [Clause({a: mask for a, mask in masks.items() if mask}, r, rule)]


def _find_overlap(clauses: Sequence[Clause]) -> Overlap | None:
    """Return the rules of two clauses whose subsets of an attribute are not nested, or None."""
    left = _drop_implied(clauses)
    masks: dict[int, set[int]] = {}
    for clause in left:
        for name, mask in clause.masks.items():
            masks.setdefault(name, set()).add(mask)
    crossing = [name for name, subsets in masks.items() if not _are_nested(subsets)]
    for first, second in combinations(left, 2) if crossing else ():
        for name in crossing:
            pair = {first.masks.get(name, -1), second.masks.get(name, -1)}
            level = max(first.parameter, second.parameter)  # the lowest that has both clauses
            is_crossing = -1 not in pair and not _are_nested(pair)
            if is_crossing and not any(_is_implied(c, level, left) for c in (first, second)):
                return Overlap(name, (min(first.rule, second.rule), max(first.rule, second.rule)))
    return None


def _are_nested(masks: Iterable[int]) -> bool:
    """Return whether subsets are nested."""
    ordered = sorted(masks, key=int.bit_count)
    return all(small & ~large == 0 for small, large in pairwise(ordered))


def _drop_implied(clauses: Sequence[Clause]) -> list[Clause]:
    """Return the clauses that no other clause implies, at any level."""
    distinct: dict[frozenset[tuple[int, int]], Clause] = {}
    for clause in sorted(clauses, key=lambda c: c.parameter):
        distinct.setdefault(frozenset(clause.masks.items()), clause)
    least: dict[int, Clause] = {}  # of one attribute: the clause with the smallest subset
    for clause in distinct.values():
        if len(clause.masks) == 1:
            [(name, mask)] = clause.masks.items()
            if name not in least or mask.bit_count() < least[name].masks[name].bit_count():
                least[name] = clause
    units = list(least.values())
    left = [c for c in distinct.values() if not _is_implied(c, c.parameter, units, c.masks)]
    if len(left) <= PAIR_LIMIT:
        left = [c for c in left if not _is_implied(c, c.parameter, left)]
    return left


def _is_implied(
    clause: Clause, level: float, others: Iterable[Clause], within: Container[int] | None = None
) -> bool:
    """Return whether another clause, whose parameter is at most `level`, implies a clause."""
    return any(
        other is not clause
        and other.parameter <= level
        and (within is None or all(name in within for name in other.masks))
        and all(not mask & ~clause.masks.get(name, 0) for name, mask in other.masks.items())
        for other in others
    )


# --- across rule sets -------------------------------------------------------------------------


def _find_loops(sets: Sequence[RuleUnit]) -> Iterator[tuple[str, str]]:
    """Yield attributes where paths from one attribute meet first, unless subsets are nested."""
    by_output = {s.output.name: s for s in sets}
    names = list(dict.fromkeys([a.name for s in sets for a in s.inputs if a.name not in by_output]))
    names += by_output
    sources = {name: 1 << i for i, name in enumerate(names)}  # attributes as bits, with their own
    facets, noted, bits = FacetsBehind(sets), 0, dict(sources)
    for rule_set in sets:
        name, once, twice = rule_set.output.name, 0, 0
        for attribute in rule_set.inputs:
            once, twice = once | sources[attribute.name], twice | once & sources[attribute.name]
        sources[name] |= once
        if twice and not once & noted and not facets.are_nested(rule_set):
            noted |= bits[name]
            shared = positions(twice)
            bit = 1 << shared[-1]  # the nearest
            starts = [a.name for a in rule_set.inputs if sources[a.name] & bit][:2]
            paths = [
                " -> ".join([*_path(start, bit, by_output, sources), name]) for start in starts
            ]
            remark = f" (and {len(shared) - 1} more attributes do)" if len(shared) > 1 else ""
            reason = f"leads to it along several paths, {' and '.join(paths)}{remark}"
            yield (name, f"{names[shared[-1]]!r} {reason}")


def _path(
    name: str, bit: int, by_output: Mapping[str, RuleUnit], sources: Mapping[str, int]
) -> list[str]:
    """Return the attributes on a path from the attribute of a bit to `name`."""
    path = [name]
    while name in by_output:
        inputs = [a.name for a in by_output[name].inputs if sources[a.name] & bit]
        if not inputs:
            break
        name = inputs[0]
        path.append(name)
    return path[::-1]


class FacetsBehind:
    """The facets ``Pi(a in A)`` of attributes from which the possibility of a subset is computed.

    If the subsets of each attribute are nested, the possibility is exact whatever the paths are: a
    value in the smallest subset possible satisfies all.

    Parameters
    ----------
    sets : the rule sets, in an order of inference
    """

    def __init__(self, sets: Sequence[RuleUnit]) -> None:
        self._sets = {s.output.name: s for s in sets}
        self._kinds: dict[str, RuleSetStructure] | None = None
        self._known: dict[tuple[str, int], frozenset[tuple[str, int]]] = {}
        self._looks = 0

    def are_nested(self, rule_set: RuleUnit) -> bool:
        """Return whether the facets of each value of an output are nested; False if unknown."""
        partition = rule_set.structure(set()).partition
        cells = range(len(partition))
        first = [int(np.argmax(partition.cell_of == cell)) for cell in cells]
        with COMPILING:
            return all(self._is_chain(rule_set.output.name, 1 << value) for value in first)

    def _is_chain(self, name: str, mask: int) -> bool:
        """Return whether the facets of a subset are nested, for each attribute before it."""
        masks: dict[str, set[int]] = {}
        waiting, reached = [(name, mask)], {(name, mask)}
        for facet in waiting:  # grows on the way
            self._looks += 1
            if self._looks > FACET_LIMIT:
                return False
            if facet[0] in self._sets:
                new = self._input_facets(*facet) - reached
                reached |= new
                waiting += new
                for attribute, subset in new:
                    masks.setdefault(attribute, set()).add(subset)
                    if not self._is_normalised(attribute) or not _are_nested(masks[attribute]):
                        return False
        return True

    def _is_normalised(self, name: str) -> bool:
        """Return whether an attribute is always normalised."""
        return name not in self._sets or is_always_normalised(self._kind(name))

    def _kind(self, name: str) -> RuleSetStructure:
        """Return the structure of the rule set of an attribute."""
        if self._kinds is None:
            inputs = {a.name for s in self._sets.values() for a in s.inputs} - self._sets.keys()
            self._kinds = structures_of(list(self._sets.values()), inputs)
        return self._kinds[name]

    def _input_facets(self, name: str, mask: int) -> frozenset[tuple[str, int]]:
        """Return the facets of inputs from which the possibility of a subset is computed."""
        if (name, mask) not in self._known:
            circuit, inputs = circuit_of(self._kind(name)), self._sets[name].inputs
            waiting = circuit.facets([mask], split=False)
            reached, facets = set(waiting), set()
            for index in waiting:  # grows on the way
                node = circuit.nodes[index]
                if isinstance(node, Facet):
                    facets.add((inputs[node.attribute].name, node.mask))
                elif isinstance(node, Node):
                    new = [child for child in node.children if child not in reached]
                    reached.update(new)
                    waiting += new
            self._known[name, mask] = frozenset(facets)
        return self._known[name, mask]
