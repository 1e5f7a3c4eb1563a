"""What is the same for all samples of a rule set: its propositions, premises and sides."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pinesy._common.caching import cached_on_owner
from pinesy._common.validation import FloatArray
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute, Proposition
from pinesy.rules.rule import Rule

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.intp]


def members(attribute: Attribute, mask: int) -> BoolArray:
    """Return for each value of the domain whether it is in the subset.

    Examples
    --------
    >>> a = Attribute("a", range(3))
    >>> members(a, a.isin({0, 2}).mask).tolist()
    [True, False, True]
    """
    size = len(attribute.domain)
    packed = np.frombuffer(mask.to_bytes((size + 7) // 8, "little"), dtype=np.uint8)
    return np.unpackbits(packed, count=size, bitorder="little").view(np.bool_)


@dataclass(frozen=True, eq=False)
class PropositionDegrees:
    """``Pi(P_j)`` and ``Pi(not P_j)`` of the distinct propositions of a rule set."""

    held: FloatArray
    failed: FloatArray


@dataclass(frozen=True, eq=False)
class RuleTable:
    """The parts of a rule set as arrays.

    Attributes
    ----------
    output : the attribute that the rules conclude on
    rules : the rules (not their set, so that a cache by set lets go of it)
    propositions : the distinct propositions of all premises
    flat, starts : the propositions of rule `i` (from 0) are ``flat[starts[i]:starts[i + 1]]``
    inside : array (values, rules), whether the value is in the rule's conclusion
    parameters : array (values, rules), `s` of the rule where the value is inside, else `r`
    masks : for each proposition its members, as an array over the values
    by_attribute : for each input its propositions' numbers, and their members (number, value)
    """

    output: Attribute
    rules: tuple[Rule, ...]
    propositions: tuple[Proposition, ...]
    flat: IntArray
    starts: IntArray
    inside: BoolArray
    parameters: FloatArray
    masks: tuple[BoolArray, ...]
    by_attribute: dict[str, tuple[IntArray, BoolArray]]

    def span(self, rule: int) -> IntArray:
        """Return the numbers of the propositions in the premise of a rule (from 0)."""
        return self.flat[self.starts[rule] : self.starts[rule + 1]]

    def premises(self, degrees: PropositionDegrees) -> tuple[FloatArray, FloatArray]:
        """Return ``lambda_i = min_j Pi(P_j)`` and ``rho_i = max_j Pi(not P_j)`` of all rules."""
        starts = self.starts[:-1]
        lambdas: FloatArray = np.minimum.reduceat(degrees.held[self.flat], starts)
        rhos: FloatArray = np.maximum.reduceat(degrees.failed[self.flat], starts)
        return lambdas, rhos

    def measure(self, known: dict[str, FloatArray]) -> PropositionDegrees:
        """Return the degrees of all propositions, given the distributions of the inputs."""
        held, failed = np.empty(len(self.propositions)), np.empty(len(self.propositions))
        for name, (numbers, masks) in self.by_attribute.items():
            held[numbers] = np.where(masks, known[name], 0.0).max(axis=1)
            failed[numbers] = np.where(masks, 0.0, known[name]).max(axis=1)
        return PropositionDegrees(held, failed)

    def infer(self, degrees: PropositionDegrees) -> FloatArray:
        """Return ``pi*(u) = min_i max(z_i, d_i)``, with the parameter and degree of u's side."""
        lambdas, rhos = self.premises(degrees)
        terms = np.maximum(self.parameters, np.where(self.inside, lambdas, rhos))
        found: FloatArray = terms.min(axis=1)
        return found


@cached_on_owner
def table_of(rule_set: RuleSet) -> RuleTable:
    """Return the table of a rule set, made once."""
    numbers: dict[Proposition, int] = {}
    flat: list[int] = []
    starts = [0]
    for rule in rule_set.rules:
        flat += [numbers.setdefault(p, len(numbers)) for p in rule.premise.propositions]
        starts.append(len(flat))
    masks = tuple(members(p.attribute, p.mask) for p in numbers)
    inside = np.stack([members(rule_set.output, r.conclusion.mask) for r in rule_set.rules], 1)
    return RuleTable(
        rule_set.output,
        rule_set.rules,
        tuple(numbers),
        np.array(flat, dtype=np.intp),
        np.array(starts, dtype=np.intp),
        inside,
        np.where(inside, rule_set.s, rule_set.r),
        masks,
        _by_attribute(tuple(numbers), masks),
    )


def _by_attribute(
    propositions: tuple[Proposition, ...], masks: tuple[BoolArray, ...]
) -> dict[str, tuple[IntArray, BoolArray]]:
    groups: dict[str, list[int]] = {}
    for number, proposition in enumerate(propositions):
        groups.setdefault(proposition.attribute.name, []).append(number)
    return {
        name: (
            np.array(found, dtype=np.intp),
            np.stack([masks[i] for i in found]),
        )
        for name, found in groups.items()
    }
