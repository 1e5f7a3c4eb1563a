"""Justifications: what sets the degree of a value, down to the inputs.

Triplets, reduction and unexpectedness are those of the paper [subsub:explainability]. A node is
made once for each value, when it is first used. So the tree of an explanation is a graph in memory,
and it is computed lazily.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import Any, Literal

import numpy as np

from pinesy._common.masks import mask_of
from pinesy._common.validation import FloatArray
from pinesy.explanations.sample import IntArray, RuleTable, Sample, SamplePlan
from pinesy.rulebase.attaining_rules import attaining_rules
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.rules.propositions import Premise, Proposition
from pinesy.rules.rule import Rule

Semantics = Literal["P", "C"]

#: Certainties are differences ``1 - rho``: this much rounding must not carry one across `eta`.
ROUNDING = 1e-15


@dataclass(frozen=True)
class TripletProposition:
    """A proposition of a triplet's premise, and its degree for the sample.

    Attributes
    ----------
    number : the number of the proposition in the premise, from 1
    proposition : the proposition of the rule
    reduced : under possibility restricted to the values that attain its degree; under certainty
        widened by the values that are excluded with more certainty
    degree : ``pi(p_j)`` under possibility, ``n(p_j)`` under certainty
    decides : whether its degree is the degree of the premise
    values : the values that attain its degree: in `P` under possibility, outside under certainty
    """

    number: int
    proposition: Proposition
    reduced: Proposition
    degree: float
    decides: bool
    values: tuple[Hashable, ...]


@dataclass(frozen=True, eq=False)
class Triplet:
    """A triplet ``(p, semantics, degree)`` of a justification [subsub:explainability].

    Attributes
    ----------
    rule, index : the rule with premise `p`, and its index in its set
    number : its number in the rule base
    semantics : ``"P"``: `p` is possible at `degree` ``= lambda``; ``"C"``: `p` is certain at
        `degree` ``= 1 - rho``
    possibility : the degree of the value that it justifies: ``lambda``, or ``rho``
    eta : degrees below it count as 0
    """

    rule: Rule
    index: int
    number: int
    semantics: Semantics
    possibility: float
    eta: float
    _sample: Sample = field(repr=False)
    _table: RuleTable = field(repr=False)
    _propositions: dict[int, TripletProposition] = field(
        init=False, repr=False, default_factory=dict
    )

    @property
    def premise(self) -> Premise:
        """The premise `p` of the rule."""
        return self.rule.premise

    @cached_property
    def degree(self) -> float:
        """The possibility ``lambda`` of the premise, or its certainty ``1 - rho``."""
        return self.possibility if self.semantics == "P" else 1.0 - self.possibility

    @cached_property
    def holds(self) -> bool:
        """Whether the premise's degree reaches eta; if not, its low degree is what justifies."""
        return not self._is_below_eta(self.possibility)

    def _is_below_eta(self, measures: Any) -> Any:
        """Return whether degrees are below eta, of ``Pi(P_j)`` or of ``Pi(not P_j)``."""
        if self.semantics == "P":
            return measures < self.eta
        return measures - (1.0 - self.eta) > ROUNDING

    @cached_property
    def _measures(self) -> FloatArray:
        """``Pi(P_j)`` under possibility, ``Pi(not P_j)`` under certainty, of each proposition."""
        sides = self._sample.measures[self.rule.conclusion.attribute.name]
        measures: FloatArray = sides[int(self.semantics == "C")]
        return measures[self._table.premises[self.index]]

    @cached_property
    def _order(self) -> tuple[IntArray, IntArray]:
        """The indices of the reduced premise, nearest to its degree first; of the unexpected."""
        nearest = np.argsort(np.abs(self._measures - self.possibility), kind="stable")
        if self.holds:
            return nearest, nearest[:0]
        low = self._is_below_eta(self._measures)[nearest]
        return nearest[low], nearest[~low][::-1]

    @cached_property
    def reduced(self) -> tuple[TripletProposition, ...]:
        """The reduced premise, the propositions nearest to its degree first.

        All propositions where the degree of the premise reaches eta, else those below eta.
        """
        return self.first_propositions(None)[0]

    @cached_property
    def unexpected(self) -> tuple[TripletProposition, ...]:
        """The propositions that reach eta though the premise does not: "even if ...".

        The farthest from the premise's degree come first.
        """
        return self.first_propositions(None, unexpected=True)[0]

    def first_propositions(
        self, limit: int | None, unexpected: bool = False
    ) -> tuple[tuple[TripletProposition, ...], list[float]]:
        """Return the first of `reduced` (or of `unexpected`), and the degrees of all of them."""
        order = self._order[unexpected]
        indices, measures = order[:limit].tolist(), self._measures[order]
        for index in indices:
            if index not in self._propositions:
                self._propositions[index] = self._reduce(index)
        degrees = measures if self.semantics == "P" else 1.0 - measures
        return tuple(self._propositions[i] for i in indices), degrees.tolist()

    @property
    def n_unexpected(self) -> int:
        """The number of unexpected propositions."""
        return len(self._order[1])

    @property
    def n_deciding(self) -> int:
        """The number of propositions that attain the degree of the premise."""
        return int((self._measures == self.possibility).sum())

    def deciding_values(self, limit: int | None = None) -> list[tuple[Attribute, list[int]]]:
        """Return the values that set the degree of the premise.

        For each of the (at most `limit`) propositions that attain it a pair: the attribute, and the
        indices of its values that attain it.
        """
        deciding = (self._measures == self.possibility).nonzero()[0][:limit].tolist()
        propositions = self.rule.premise.propositions
        return [(propositions[i].attribute, self._attaining_values(i)[1]) for i in deciding]

    def _attaining_values(self, index: int) -> tuple[FloatArray, list[int]]:
        """Return the distribution of a proposition's attribute, and the values of its degree.

        These are the indices of values in the proposition under possibility, outside of it under
        certainty.
        """
        pi = self._sample.degrees[self.rule.premise.propositions[index].attribute.name]
        inside = self._table.members[self._table.premises[self.index][index]]
        side = inside if self.semantics == "P" else ~inside
        return pi, (side & (pi == self._measures[index])).nonzero()[0].tolist()

    def _reduce(self, index: int) -> TripletProposition:
        """Return a proposition with its degree, reduced if it reaches eta."""
        proposition, measure = self.rule.premise.propositions[index], float(self._measures[index])
        pi, attaining = self._attaining_values(index)
        mask = proposition.mask
        if attaining and not self._is_below_eta(measure):
            if self.semantics == "P":
                mask = mask_of(attaining)
            else:  # the values below `measure`; values inside are in the mask already
                mask |= mask_of((pi < measure).nonzero()[0].tolist())
        attribute, is_same = proposition.attribute, mask == proposition.mask
        return TripletProposition(
            index + 1,
            proposition,
            proposition if is_same else Proposition(attribute, mask),
            measure if self.semantics == "P" else 1.0 - measure,
            measure == self.possibility,
            tuple(attribute.domain[i] for i in attaining),
        )


@dataclass(frozen=True)
class JustifyingParameter:
    """A rule parameter that sets a degree: `name` is ``"s"`` or ``"r"``."""

    rule: Rule
    index: int
    number: int
    name: Literal["s", "r"]
    degree: float


@dataclass(frozen=True, eq=False)
class Justification:
    """Why ``pi*(value) = degree``: triplets, or rule parameters where no premise attains it.

    While the premise of one triplet stays at its degree, no change of other inputs raises the
    possibility of the value above `degree`.
    """

    attribute: Attribute
    value: Hashable
    degree: float
    triplets: tuple[Triplet, ...]
    parameters: tuple[JustifyingParameter, ...]

    @property
    def by_parameters(self) -> bool:
        """Whether rule parameters alone set the degree."""
        return not self.triplets

    @cached_property
    def reasons(self) -> tuple[Triplet, ...]:
        """The triplets under possibility, and those under certainty whose premise reaches eta."""
        return tuple(t for t in self.triplets if t.semantics == "P" or t.holds)

    @cached_property
    def silent(self) -> tuple[Triplet, ...]:
        """The other triplets: rules that exclude the value, but whose premise is not certain."""
        return tuple(t for t in self.triplets if t.semantics == "C" and not t.holds)

    @cached_property
    def rules(self) -> tuple[object, ...]:
        """The degree, and the rules that justify it: equal for values with equal justifications."""
        triplets = tuple((t.index, t.semantics) for t in self.triplets)
        return (self.degree, triplets, tuple((p.index, p.name) for p in self.parameters))


def causes(
    sample: Sample, name: str, index: int, eta: float
) -> list[Triplet | JustifyingParameter]:
    """Return the premises and parameters that attain the degree of a value.

    The degree is ``pi*(u) = min_i max(z_i, d_i)`` [eq:pistarbxu] [subsub:explainability].
    Triplets are ``(p_i, P, lambda_i)`` where the value is in ``Q_i``, ``s_i <= lambda_i`` and
    ``lambda_i = pi*(u)``; ``(p_i, C, 1 - rho_i)`` where it is not, ``r_i <= rho_i`` and
    ``rho_i = pi*(u)``. Parameters are `s_i` or `r_i` where they are above ``lambda_i`` or
    ``rho_i``, and ``pi*(u)``.
    """
    table, degree = sample.plan.tables[name], float(sample.degrees[name][index])
    lambdas, rhos = sample.premises[name]
    attained: list[Triplet | JustifyingParameter] = []
    for i in attaining_rules(sample.bounds(name, index), degree):
        rule, is_inside = table.rules[i], table.inside[index, i]
        number = sample.plan.rule_number(name, i)
        if (lambdas if is_inside else rhos)[i] == degree:
            semantics: Semantics = "P" if is_inside else "C"
            attained.append(Triplet(rule, i, number, semantics, degree, eta, sample, table))
        else:
            parameter: Literal["s", "r"] = "s" if is_inside else "r"
            attained.append(JustifyingParameter(rule, i, number, parameter, degree))
    return attained


@dataclass(frozen=True, eq=False, repr=False)
class ExplanationNode:
    """A value of an attribute, its degrees, and why it has them.

    Attributes
    ----------
    attribute, index, value : the attribute, and the value with its index in the domain
    possibility : ``pi(value)``
    is_perceived : whether the attribute is an input
    """

    attribute: Attribute
    index: int
    value: Hashable
    possibility: float
    is_perceived: bool
    _graph: "ExplanationGraph" = field(repr=False)

    @cached_property
    def certainty(self) -> float:
        """``N({value}) = 1 - max {pi(w): w not value}``."""
        others = np.delete(self._graph.degrees[self.attribute.name], self.index)
        return 1.0 - float(others.max(initial=0.0))

    @property
    def distribution(self) -> Possibility:
        """The distribution of the attribute."""
        return Possibility(self.attribute, self._graph.degrees[self.attribute.name])

    @cached_property
    def justification(self) -> Justification | None:
        """Why the value has its possibility; None for an input, which needs no justification."""
        if self.is_perceived:
            return None
        attained = causes(self._graph, self.attribute.name, self.index, self._graph.eta)
        triplets = [cause for cause in attained if isinstance(cause, Triplet)]
        triplets.sort(key=attrgetter("semantics"), reverse=True)  # "P" before "C"
        parameters = [] if triplets else [p for p in attained if isinstance(p, JustifyingParameter)]
        return Justification(
            self.attribute, self.value, self.possibility, tuple(triplets), tuple(parameters)
        )

    def children_of(self, part: TripletProposition) -> "tuple[ExplanationNode, ...]":
        """Return the children by one proposition of a triplet: none unless it decides.

        They have the possibility that this node has: min and max only copy.
        """
        attribute = part.proposition.attribute
        values = part.values if part.decides else ()
        return tuple(self._graph.node(attribute, attribute.position(v)) for v in values)

    @cached_property
    def children(self) -> "tuple[ExplanationNode, ...]":
        """The values that set the possibility of this one: all nodes, each once."""
        return self.first_children(None)[0]

    def first_children(self, limit: int | None) -> "tuple[tuple[ExplanationNode, ...], int]":
        """Return some children, and how many inferred values of their propositions are omitted.

        They are those by the first triplets, of each the first propositions and values.
        """
        triplets = self.justification.triplets if self.justification else ()
        children: dict[ExplanationNode, None] = {}
        hidden = 0
        for triplet in triplets[:limit]:
            for attribute, indices in triplet.deciding_values(limit):
                children.update((self._graph.node(attribute, i), None) for i in indices[:limit])
                if limit and attribute.name not in self._graph.plan.slices:
                    hidden += len(indices[limit:])
        return tuple(children), hidden

    def __repr__(self) -> str:
        degrees = f"possible at {self.possibility:.4g}, certain at {self.certainty:.4g}"
        return f"ExplanationNode({self.attribute.name} = {self.value}, {degrees})"


class ExplanationGraph(Sample):
    """A sample with the nodes of its values, each made once; degrees below `eta` count as 0."""

    def __init__(self, plan: SamplePlan, row: FloatArray, eta: float) -> None:
        super().__init__(plan, row)
        self.eta = eta
        self._nodes: dict[tuple[str, int], ExplanationNode] = {}

    def node(self, attribute: Attribute, index: int) -> ExplanationNode:
        """Return the node of ``domain[index]``."""
        key = (attribute.name, index)
        if key not in self._nodes:
            possibility = float(self.degrees[attribute.name][index])
            value, is_input = attribute.domain[index], attribute.name in self.plan.slices
            self._nodes[key] = ExplanationNode(attribute, index, value, possibility, is_input, self)
        return self._nodes[key]
