"""Factors of rule sets: possibility degrees of the joint values of some attributes.

For crisp inputs `x` a rule set infers for each value of its output

``pi*(b | x) = min_j (max(s_j, [x |= p_j]) if b in Q_j else max(r_j, [x |/= p_j]))``,

which is [eq:redFP] for crisp inputs. Rules without a common input share only the output, so a rule
set is the min of several factors: one for each group of attributes that premises connect
(docs/changes.md). Values that no rule of a factor distinguishes form a class, and factors are over
classes. Messages are expressions of a circuit, which is compiled and run on samples later.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from itertools import accumulate
from math import prod

import numpy as np

from pinesy._common.console import check_stop
from pinesy._common.masks import contains, mask_of, mask_table
from pinesy._common.validation import BoolArray, FloatArray
from pinesy.engine.code import ColumnCircuit
from pinesy.engine.rule_set_kinds import RuleUnit
from pinesy.rules.attributes import Attribute
from pinesy.rules.rule import Rule

#: The most entries of the table of a factor. Rules that would need a larger one become a factor
#: each, which makes the results an upper bound.
MAX_TABLE = 1 << 14

#: The most sets of values that `leaves_a_value` enumerates.
MAX_SETS = 1 << 12

#: The degrees of values or classes, as expressions of a `ColumnCircuit`.
Values = list[int]


@dataclass(frozen=True, eq=False)
class ValueClasses:
    """A partition of a domain into classes of values.

    Attributes
    ----------
    of : the class of each value
    count : the number of classes; some may be empty
    """

    of: tuple[int, ...]
    count: int

    @cached_property
    def members(self) -> list[list[int]]:
        """The positions of the values of each class."""
        members: list[list[int]] = [[] for _ in range(self.count)]
        for i, c in enumerate(self.of):
            members[c].append(i)
        return members

    def reduce(self, circuit: ColumnCircuit, degrees: Values) -> Values:
        """Return the maximum degree of each class, 0 for an empty class."""
        return [circuit.join(degrees[i] for i in members) for members in self.members]

    def mask(self, is_chosen: BoolArray) -> int:
        """Return the mask of the values of the chosen classes."""
        return mask_of([i for i, c in enumerate(self.of) if is_chosen[c]])


@dataclass(frozen=True, eq=False)
class Factor:
    """The joint possibility of the output and some inputs, by some rules of a set.

    Attributes
    ----------
    names : the attributes, the output first
    classes : the classes of each attribute's values
    """

    names: tuple[str, ...]
    classes: tuple[ValueClasses, ...]

    def messages(
        self, circuit: ColumnCircuit, degrees: Sequence[Values], indices: Iterable[int]
    ) -> list[Values]:
        """Return ``max {min(factor, degrees of the other attributes)}`` for each value.

        Parameters
        ----------
        circuit : the circuit of all expressions
        degrees : the degrees of the values of each attribute
        indices : the attributes that receive messages, as indices into `names`
        """
        indices = list(indices)
        pairs = zip(self.classes, degrees, strict=True)
        messages = self._class_messages(circuit, [c.reduce(circuit, d) for c, d in pairs], indices)
        return [[m[c] for c in self.classes[i].of] for i, m in zip(indices, messages, strict=True)]

    def _class_messages(
        self, circuit: ColumnCircuit, degrees: list[Values], indices: list[int]
    ) -> list[Values]:
        """Return the same by classes."""
        raise NotImplementedError

    @property
    def conclusions(self) -> frozenset[int]:
        """The distinct sets of output values at degree 1 over all crisp inputs, as masks."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class TableFactor(Factor):
    """A factor listed for all classes of its attributes: `entries`, the output's axis first."""

    entries: FloatArray

    def _class_messages(
        self, circuit: ColumnCircuit, degrees: list[Values], indices: list[int]
    ) -> list[Values]:
        messages = []
        for i in indices:  # eliminate the other attributes one after the other, the last one first
            entries = np.moveaxis(self.entries, i, 0)
            flat = [circuit.constant(number) for number in entries.ravel().tolist()]
            for other in reversed(degrees[:i] + degrees[i + 1 :]):
                rows = [flat[j : j + len(other)] for j in range(0, len(flat), len(other))]
                pairs = [zip(row, other, strict=True) for row in rows]
                flat = [circuit.join(map(circuit.meet, row)) for row in pairs]
            messages.append(flat)
        return messages

    @property
    def conclusions(self) -> frozenset[int]:
        """The distinct sets of output values at degree 1 over all crisp inputs, as masks."""
        ones = (self.entries == 1.0).reshape(len(self.entries), -1)
        return frozenset(self.classes[0].mask(column) for column in np.unique(ones.T, axis=0))


@dataclass(frozen=True, eq=False)
class ConjunctionFactor(Factor):
    """One rule on any number of attributes, in closed form; class 1 of each is inside its subset.

    With ``T_i, F_i`` the best degrees inside and outside ``P_i`` and ``A_i = max(T_i, F_i)``, the
    premise holds at best with ``min T_i`` and fails with ``min(max F_i, min A_i)``.
    """

    s: float
    r: float

    def _class_messages(
        self, circuit: ColumnCircuit, degrees: list[Values], indices: list[int]
    ) -> list[Values]:
        output, *inputs = degrees
        messages = self._input_messages(circuit, output, inputs) if indices != [0] else []
        return [messages[i - 1] if i else self._output_message(circuit, inputs) for i in indices]

    def _output_message(self, circuit: ColumnCircuit, inputs: list[Values]) -> Values:
        known = circuit.meet(circuit.join(pair) for pair in inputs)
        holds = circuit.join(
            [circuit.constant(self.s), circuit.meet(inside for _, inside in inputs)]
        )
        fails = circuit.join([circuit.constant(self.r), *(outside for outside, _ in inputs)])
        return [circuit.meet([fails, known]), circuit.meet([holds, known])]

    def _input_messages(
        self, circuit: ColumnCircuit, output: Values, inputs: list[Values]
    ) -> list[Values]:
        """Return the messages to all inputs, each from the output and all other inputs."""
        s, r = circuit.constant(self.s), circuit.constant(self.r)
        not_q, q = output
        false = circuit.join([circuit.meet([q, s]), not_q])
        known = _combine_others(circuit.meet, [circuit.join(pair) for pair in inputs])
        holds = _combine_others(circuit.meet, [inside for _, inside in inputs])
        fails = _combine_others(circuit.join, [outside for outside, _ in inputs])
        messages = []
        for k, h, f in zip(known, holds, fails, strict=True):
            true = circuit.join(
                [
                    circuit.meet([q, circuit.join([s, h])]),
                    circuit.meet([not_q, circuit.join([r, f])]),
                ]
            )
            messages.append([circuit.meet([false, k]), circuit.meet([true, k])])
        return messages

    @property
    def conclusions(self) -> frozenset[int]:
        """The distinct sets of output values at degree 1 over all crisp inputs, as masks."""
        can_hold = all(len(c.members[1]) for c in self.classes[1:])
        can_fail = any(len(c.members[0]) for c in self.classes[1:])
        sides = [[self.r == 1.0, True]] * can_hold + [[True, self.s == 1.0]] * can_fail
        return frozenset(self.classes[0].mask(np.array(side)) for side in sides)


def _combine_others(combine: Callable[[Iterable[int]], int], values: Values) -> Values:
    """Return for each value the min or max of all others, by prefixes and suffixes."""
    before = list(accumulate(values, lambda a, b: combine([a, b]), initial=combine([])))
    after = list(accumulate(values[::-1], lambda a, b: combine([a, b]), initial=combine([])))
    n = len(values)
    return [combine([before[i], after[n - 1 - i]]) for i in range(n)]


def factors_of(unit: RuleUnit, largest: int | None = None) -> list[Factor]:
    """Return the factors whose min is the rule set, with tables of at most `largest` entries.

    Examples
    --------
    >>> from pinesy.problems import addition
    >>> [factor.names for factor in factors_of(addition(2)["c_1"].unit)]
    [('c_1', 'a_1'), ('c_1', 'a_3'), ('c_1', 'w_2')]
    """
    attributes = {a.name: a for a in (*unit.inputs, unit.output)}
    most = MAX_TABLE if largest is None else largest
    factors: list[Factor] = []
    masks = [rule.premise.masks for rule in unit.rules]
    for indices in tied_rules(masks):
        rules, premises = [unit.rules[i] for i in indices], [masks[i] for i in indices]
        names = tuple(dict.fromkeys(name for premise_masks in premises for name in premise_masks))
        parts = [unit.output, *(attributes[name] for name in names)]
        if len(rules) == 1 and len(names) > 1:
            factors.append(_conjunction_factor(rules[0], premises[0], parts))
        elif (table := _table_factor(rules, premises, parts, most)) is not None:
            factors.append(table)
        else:
            factors += [
                _conjunction_factor(
                    rule, premise_masks, [parts[0], *(attributes[name] for name in premise_masks)]
                )
                for rule, premise_masks in zip(rules, premises, strict=True)
            ]
    return factors


def joint_conclusions(factors: Iterable[Factor], max_sets: int) -> set[int] | None:
    """Return the distinct sets of output values at degree 1 in all factors, as masks.

    All combinations of the factors' sets count, as if factors shared no input. None if there are
    more than `max_sets`.
    """
    left = {-1}
    for factor in factors:
        conclusions = factor.conclusions
        left = {mask & conclusion for mask in left for conclusion in conclusions}
        if len(left) > max_sets:
            return None
    return left


def leaves_a_value(unit: RuleUnit) -> bool:
    """Return whether some output value is known to have degree 1 for all crisp inputs.

    Then one has degree 1 for all normalised inputs, because inference is monotone.
    """
    check_stop()
    left = joint_conclusions(factors_of(unit), MAX_SETS)
    return left is not None and 0 not in left


def _conjunction_factor(
    rule: Rule, premise: Mapping[str, int], parts: Sequence[Attribute]
) -> ConjunctionFactor:
    masks = [rule.conclusion.mask, *premise.values()]
    classes = (
        ValueClasses(tuple(int(contains(mask, i)) for i in range(len(a.domain))), 2)
        for mask, a in zip(masks, parts, strict=True)
    )
    return ConjunctionFactor(tuple(a.name for a in parts), tuple(classes), rule.s, rule.r)


def joint_table(unit: RuleUnit, largest: int) -> TableFactor | None:
    """Return all rules of a set in one table, or None if it has more than `largest` entries."""
    premises = [rule.premise.masks for rule in unit.rules]
    return _table_factor(unit.rules, premises, [unit.output, *unit.inputs], largest)


def _table_factor(
    rules: Sequence[Rule],
    premises: Sequence[Mapping[str, int]],
    parts: Sequence[Attribute],
    largest: int,
) -> TableFactor | None:
    """Return the table of some rules, or None if it has more than `largest` entries."""
    masks = [tuple(rule.conclusion.mask for rule in rules)]
    for part in parts[1:]:
        name, full = part.name, part.full
        masks.append(tuple(p.get(name, full) & full for p in premises))
    pairs = [_mask_classes(len(a.domain), m) for a, m in zip(parts, masks, strict=True)]
    if prod(classes.count for classes, _ in pairs) > largest:
        return None
    entries = _table_entries(rules, [signs for _, signs in pairs])
    return TableFactor(
        tuple(a.name for a in parts), tuple(classes for classes, _ in pairs), entries
    )


@lru_cache(maxsize=1024)
def _mask_classes(size: int, masks: tuple[int, ...]) -> tuple[ValueClasses, BoolArray]:
    """Return the classes of values in the same masks, and their membership (classes, masks)."""
    distinct, of = np.unique(mask_table(size, masks), axis=0, return_inverse=True)
    return ValueClasses(tuple(of.ravel().tolist()), len(distinct)), distinct


def _table_entries(rules: Sequence[Rule], signs: Sequence[BoolArray]) -> FloatArray:
    """Return ``pi*(b | x)`` for all classes; `signs` are (classes, rules) for each attribute."""
    entries = np.ones([len(s) for s in signs])
    for j, rule in enumerate(rules):
        axes = np.eye(len(signs), dtype=np.intp) * -2 + 1  # each along its own axis: -1, else 1
        inside, *holds = (s[:, j].reshape(axis) for s, axis in zip(signs, axes, strict=True))
        premise = reduce(np.logical_and, holds)
        bound = np.where(inside, np.maximum(premise, rule.s), np.maximum(~premise, rule.r))
        np.minimum(entries, bound, out=entries)
    return entries


def tied_rules(premises: Sequence[Collection[Hashable]]) -> list[list[int]]:
    """Group the rules whose premises share attributes, directly or through others, by index.

    Examples
    --------
    >>> tied_rules([["a"], ["b", "c"], ["a"], ["d", "b"]])
    [[0, 2], [1, 3]]
    """
    leader: dict[Hashable, Hashable] = {}

    def find(name: Hashable) -> Hashable:
        while leader.setdefault(name, name) != name:
            name = leader[name]
        return name

    for first, *others in premises:
        for name in others:
            leader[find(name)] = find(first)
    groups: dict[Hashable, list[int]] = {}
    for index, premise in enumerate(premises):
        groups.setdefault(find(next(iter(premise))), []).append(index)
    return list(groups.values())
