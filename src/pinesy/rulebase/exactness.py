"""Where inference is exact, and where it gives upper bounds (docs/exactness.md).

Inference takes the premises of rules, and the attributes of a premise, as independent. What it
gives is the projection of the joint distribution of all attributes, the min of the inputs and of
what each rule set gives for crisp inputs, if no attribute counts twice; else it is an upper bound.

By level cuts, one cell of a rule set is a set of clauses: each term of [eq:redFP] asks
that, unless its parameter allows it anyway, some attribute has a value in some subset. Inference
asks whether each clause can be met, the joint whether all can be met at once. They agree if for
each attribute the subsets that clauses name are nested (after clauses that follow from others are
dropped): its value in the smallest subset that it can be in serves all clauses.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from pinesy._common.masks import positions
from pinesy.engine.circuit import Facet, Node
from pinesy.engine.linker import structures_of
from pinesy.engine.rule_set_kinds import COMPILING, RuleSetStructure, circuit_of
from pinesy.engine.wide import is_always_normalised
from pinesy.rulebase.rule_set import RuleSet
from pinesy.semantics.factors import tied_rules

#: Cells times rules up to which a rule set is looked at.
LOOK_LIMIT = 20_000_000
#: Clauses of a cell that are compared pair by pair.
PAIR_LIMIT = 200
#: Subsets that are looked at where paths meet, in all.
FACET_LIMIT = 30_000


#: A premise: its propositions, each the index of the attribute among the inputs and the subset.
Masks = tuple[tuple[int, int], ...]


class Clause(NamedTuple):
    """That some attribute has a value in its subset, or else the degree is at most `parameter`."""

    masks: Mapping[int, int]
    parameter: float
    rule: int


class Overlap(NamedTuple):
    """Two rules (by index) that use an attribute in ways that inference takes as independent."""

    attribute: int
    rules: tuple[int, int]


def upper_bounds(sets: Sequence[RuleSet]) -> Iterator[tuple[str, str]]:
    """Yield the attributes whose inferred degrees may be above the joint's, by name, and why.

    Attributes are exact that get none and have none behind them, for all inputs for which no rules
    behind them contradict each other.

    Parameters
    ----------
    sets : the rule sets of a cascade, in an order of inference
    """
    cure = "; posterior(rules, evidence, {}) is exact where its `exact` is true"
    offered = cure if _is_forest(sets) else ""
    for rule_set in sets:
        name = rule_set.output.name
        parameters = tuple(z for rule in rule_set.rules for z in (rule.s, rule.r))
        if len(rule_set.partition) * len(rule_set) > LOOK_LIMIT:
            yield (name, "there are too many cells and rules to look at")
        elif overlap := _overlap(rule_set.unit.structure(set()), parameters):
            i, j = overlap.rules
            attribute = rule_set.inputs[overlap.attribute].name
            which = f"rule {i + 1} uses" if i == j else f"rules {i + 1} and {j + 1} use"
            reason = f"{which} {attribute!r} along several paths, as if it were several"
            yield (name, reason + offered)
    yield from _loops(sets)


# --- within one rule set ----------------------------------------------------------------------


@lru_cache(maxsize=256)
def _overlap(kind: RuleSetStructure, parameters: tuple[float, ...]) -> Overlap | None:
    """Return two rules that count an attribute twice, if there are any; attributes by index."""
    full = [(1 << size) - 1 for size in kind.sizes]
    sides = list(zip(kind.premises, parameters[0::2], parameters[1::2], strict=True))
    inside = [_inside(premise, s, j, full) for j, (premise, s, _) in enumerate(sides)]
    outside = [_outside(premise, r, j, full) for j, (premise, _, r) in enumerate(sides)]
    signs = kind.partition.signs
    for group in tied_rules([[a for a, _ in premise] for premise in kind.premises]):
        packed = np.packbits(signs[:, group], axis=1)
        _, first = np.unique(packed, axis=0, return_index=True)
        for pattern in signs[first][:, group].tolist():  # groups are independent
            terms = zip(group, pattern, strict=True)
            parts = (inside[j] if sign else outside[j] for j, sign in terms)
            if overlap := _in_cell([clause for part in parts for clause in part]):
                return overlap
    return None


def _inside(premise: Masks, s: float, rule: int, full: Sequence[int]) -> list[Clause]:
    """Return what ``alpha = max(s, lambda)`` asks for: that each proposition holds."""
    if s == 1.0:
        return []
    return [Clause({a: mask}, s, rule) for a, mask in premise if mask != full[a]]


def _outside(premise: Masks, r: float, rule: int, full: Sequence[int]) -> list[Clause]:
    """Return what ``beta = max(r, rho)`` asks for: that some proposition fails."""
    masks: dict[int, int] = {}
    for a, mask in premise:
        masks[a] = masks.get(a, 0) | (full[a] & ~mask)
    if r == 1.0 or any(mask == full[a] for a, mask in masks.items()):
        return []  # the rule excludes nothing, or its premise never holds
    return [Clause({a: mask for a, mask in masks.items() if mask}, r, rule)]


def _in_cell(clauses: Sequence[Clause]) -> Overlap | None:
    """Return two clauses that meet in an attribute in subsets that are not nested, if there are."""
    left = _without_implied(clauses)
    masks: dict[int, set[int]] = {}
    for clause in left:
        for name, mask in clause.masks.items():
            masks.setdefault(name, set()).add(mask)
    crossing = [name for name, subsets in masks.items() if not _nested(subsets)]
    for first, second in combinations(left, 2) if crossing else ():
        for name in crossing:
            pair = {first.masks.get(name, -1), second.masks.get(name, -1)}
            if -1 not in pair and not _nested(pair) and _both_count(first, second, left):
                return Overlap(name, (min(first.rule, second.rule), max(first.rule, second.rule)))
    return None


def _nested(masks: Iterable[int]) -> bool:
    """Return whether subsets form a chain."""
    ordered = sorted(masks, key=int.bit_count)
    return all(small & ~large == 0 for small, large in pairwise(ordered))


def _without_implied(clauses: Sequence[Clause]) -> list[Clause]:
    """Return the clauses that do not follow from another one, at any level."""
    distinct: dict[frozenset[tuple[int, int]], Clause] = {}
    for clause in sorted(clauses, key=lambda c: c.parameter):
        distinct.setdefault(frozenset(clause.masks.items()), clause)
    least: dict[int, Clause] = {}  # of those on one attribute, that with the smallest subset
    for clause in distinct.values():
        if len(clause.masks) == 1:
            [(name, mask)] = clause.masks.items()
            if name not in least or mask.bit_count() < least[name].masks[name].bit_count():
                least[name] = clause
    units = list(least.values())
    left = [c for c in distinct.values() if not _implied(c, c.parameter, units, c.masks)]
    if len(left) <= PAIR_LIMIT:
        left = [c for c in left if not _implied(c, c.parameter, left)]
    return left


def _implied(
    clause: Clause, level: float, others: Iterable[Clause], within: Container[int] | None = None
) -> bool:
    """Return whether a clause follows from another one that counts at a level."""
    return any(
        other is not clause
        and other.parameter <= level
        and (within is None or all(name in within for name in other.masks))
        and all(not mask & ~clause.masks.get(name, 0) for name, mask in other.masks.items())
        for other in others
    )


def _both_count(first: Clause, second: Clause, clauses: Sequence[Clause]) -> bool:
    """Return whether neither clause follows from another one at the first level that has both."""
    level = max(first.parameter, second.parameter)
    return not (_implied(first, level, clauses) or _implied(second, level, clauses))


# --- across rule sets -------------------------------------------------------------------------


def _is_forest(sets: Sequence[RuleSet]) -> bool:
    """Return whether there is only one way between attributes along groups of tied rules."""
    groups: list[list[str]] = []
    for rule_set in sets:
        premises = [rule.premise.masks for rule in rule_set.rules]
        for group in tied_rules(premises):
            attributes = dict.fromkeys(name for j in group for name in premises[j])
            groups.append([rule_set.output.name, *attributes])
    names = {name for group in groups for name in group}
    # Each group joins as many trees as it has names; with a loop, some are joined already.
    return sum(len(group) - 1 for group in groups) == len(names) - len(tied_rules(groups))


def _loops(sets: Sequence[RuleSet]) -> Iterator[tuple[str, str]]:
    """Yield where paths from one attribute meet first, unless subsets are nested."""
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
    name: str, bit: int, by_output: Mapping[str, RuleSet], sources: Mapping[str, int]
) -> list[str]:
    """Return the attributes on the way from the one of a bit to another one."""
    path = [name]
    while name in by_output:
        inputs = [a.name for a in by_output[name].inputs if sources[a.name] & bit]
        if not inputs:
            break
        name = inputs[0]
        path.append(name)
    return path[::-1]


class FacetsBehind:
    """The subsets ``Pi(a in A)`` of attributes that the possibility of a subset is made of.

    If those of each attribute are nested, the possibility is exact whatever the paths are: of each
    attribute, input or not, the value in the smallest subset that it can be in serves all.

    Parameters
    ----------
    sets : the rule sets, in an order of inference
    """

    def __init__(self, sets: Sequence[RuleSet]) -> None:
        self._sets = {s.output.name: s for s in sets}
        self._kinds: dict[str, RuleSetStructure] | None = None
        self._known: dict[tuple[str, int], frozenset[tuple[str, int]]] = {}
        self._looks = 0

    def are_nested(self, rule_set: RuleSet) -> bool:
        """Return whether they are, for each value of an output; False where that is not known."""
        cells = range(len(rule_set.partition))
        first = [int(np.argmax(rule_set.partition.cell_of == cell)) for cell in cells]
        with COMPILING:
            return all(self._is_chain(rule_set.output.name, 1 << value) for value in first)

    def _is_chain(self, name: str, mask: int) -> bool:
        masks: dict[str, set[int]] = {}
        waiting, reached = [(name, mask)], {(name, mask)}
        for facet in waiting:  # grows on the way
            self._looks += 1
            if self._looks > FACET_LIMIT:
                return False
            if facet[0] in self._sets:
                new = self._used(*facet) - reached
                reached |= new
                waiting += new
                for attribute, subset in new:
                    masks.setdefault(attribute, set()).add(subset)
                    if not self._is_sound(attribute) or not _nested(masks[attribute]):
                        return False
        return True

    def _is_sound(self, name: str) -> bool:
        """Return whether an attribute is always normalised."""
        return name not in self._sets or is_always_normalised(self._kind(name))

    def _kind(self, name: str) -> RuleSetStructure:
        if self._kinds is None:
            inputs = {a.name for s in self._sets.values() for a in s.inputs} - self._sets.keys()
            self._kinds = structures_of([s.unit for s in self._sets.values()], inputs)
        return self._kinds[name]

    def _used(self, name: str, mask: int) -> frozenset[tuple[str, int]]:
        """Return the subsets of inputs that the possibility of a subset is computed from."""
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
