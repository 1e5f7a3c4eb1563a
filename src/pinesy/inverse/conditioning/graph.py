"""The graph of a cascade's attributes and factors, and the order in which messages pass."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pinesy._common.caching import cached_on_owner
from pinesy.engine.code import Code
from pinesy.inverse.conditioning.factors import Factor
from pinesy.inverse.conditioning.splitting import factors_of
from pinesy.rulebase.cascade import Cascade
from pinesy.rules.attributes import Attribute


@dataclass(frozen=True)
class Step:
    """A factor, and the place of the attribute that it was reached from (the nearest the root)."""

    factor: Factor
    parent: int

    @property
    def children(self) -> list[int]:
        """The places of the other attributes."""
        return [i for i in range(len(self.factor.names)) if i != self.parent]


@dataclass(frozen=True, eq=False)
class Graph:
    """Attributes and factors.

    Attributes
    ----------
    attributes : those that rules use, by name
    steps : the factors, each after the one that it is reached from
    is_forest : whether there is no loop: no two ways from one attribute to another
    programs : what was compiled for it, by the names of targets and of what is wanted
    """

    attributes: Mapping[str, Attribute]
    steps: tuple[Step, ...]
    is_forest: bool
    programs: dict[tuple[Any, ...], Code] = field(default_factory=dict)

    @property
    def roots(self) -> list[str]:
        """The attributes that no factor is left by: one for each tree of a forest."""
        below = {step.factor.names[i] for step in self.steps for i in step.children}
        return [name for name in self.attributes if name not in below]

    @cached_property
    def coherent(self) -> frozenset[str]:
        """The outputs of rule sets that are known to leave some value at 1 for all crisp inputs.

        Then some value is at 1 for all normalised inputs, because degrees only rise with theirs.
        """
        factors: dict[str, list[Factor]] = {}
        for step in self.steps:
            factors.setdefault(step.factor.names[0], []).append(step.factor)
        return frozenset(name for name, parts in factors.items() if _leave_a_value(parts))


#: The most sets of values that the check for coherence keeps at a time.
MAX_SETS = 1 << 12


def _leave_a_value(factors: Iterable[Factor]) -> bool:
    """Tell whether some output value is at degree 1 in all factors, whatever the crisp inputs.

    Factors of one set share no input (or are taken as if they did not, which asks for more), so
    every combination of what they leave occurs.
    """
    left = {-1}
    for factor in factors:
        left = {one & other for one in left for other in factor.conclusions}
        if 0 in left or len(left) > MAX_SETS:
            return False
    return True


@cached_on_owner
def graph_of(cascade: Cascade) -> Graph:
    """Return the graph of a cascade, made once.

    Examples
    --------
    >>> from pinesy.problems import addition, sudoku
    >>> graph_of(addition(3)).is_forest, graph_of(sudoku(4)).is_forest
    (True, False)
    """
    attributes = {a.name: a for s in cascade.order for a in (*s.inputs, s.output)}
    factors = [factor for rule_set in cascade.order for factor in factors_of(rule_set)]
    steps, is_forest = _walk(attributes, factors)
    return Graph(attributes, tuple(steps), is_forest)


def _walk(attributes: Mapping[str, Attribute], factors: list[Factor]) -> tuple[list[Step], bool]:
    """Go breadth first from a root of each tree; return the factors, and if no loop was seen."""
    at: dict[str, list[Factor]] = {name: [] for name in attributes}
    for factor in factors:
        for name in factor.names:
            at[name].append(factor)
    steps: list[Step] = []
    passed: set[int] = set()
    reached: set[str] = set()
    no_loop = True
    for root in reversed(list(attributes)):  # outputs are the last
        queue = [] if root in reached else [root]
        reached.add(root)
        for name in queue:  # grows on the way
            for factor in (f for f in at[name] if id(f) not in passed):
                passed.add(id(factor))
                steps.append(Step(factor, factor.names.index(name)))
                others = [n for n in factor.names if n != name]
                no_loop = no_loop and reached.isdisjoint(others)
                queue += [n for n in others if n not in reached]
                reached.update(others)
    return steps, no_loop
