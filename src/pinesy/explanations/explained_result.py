"""A result of inference that is explained: its proposition, values, rivals and clashes."""

from collections.abc import Hashable, Mapping
from functools import cached_property
from math import nan
from typing import Any

import numpy as np

from pinesy._common.masks import mask_of, mask_table
from pinesy._common.names import name_of
from pinesy.exceptions import UnknownAttributeError
from pinesy.explanations.justification import ExplanationGraph, ExplanationNode
from pinesy.explanations.labels import Wording
from pinesy.explanations.points_text import card_scores
from pinesy.explanations.restraints import Clash, clashes_of
from pinesy.rules.attributes import Attribute
from pinesy.rules.outcomes import Outcome, rule_numbers_text, verdict_text
from pinesy.rules.propositions import Proposition


class ExplainedResult:
    """A proposition on an inferred attribute, and how possible and how certain it is.

    Parameters
    ----------
    graph : the sample
    proposition : the proposition to explain; None for the most possible values
    depth : rule sets to go down from the result; None for all
    wording : the names of attributes and values in texts
    plain_values : the plain values of the inputs that have one
    has_points : whether the rules give points to values

    Attributes
    ----------
    attribute : the attribute that was inferred
    distribution : the inferred distribution
    normalised : whether some value is fully possible, of the attribute and of every attribute that
        it depends on; if not, rules contradict each other
    asked : the proposition that the user gave, or None
    proposition : the proposition explained: `asked`, or that the value is a most possible one
    possibility : ``Pi(P)``
    other_possibility : ``Pi(not P)``
    eta : degrees below it count as 0 where premises are reduced
    """

    def __init__(
        self,
        graph: ExplanationGraph,
        proposition: Proposition | None,
        depth: int | None,
        wording: Wording,
        plain_values: Mapping[str, Any],
        has_points: bool,
    ) -> None:
        self.graph, self.asked, self.depth, self.wording = graph, proposition, depth, wording
        self.plain_values, self.has_points, self.eta = plain_values, has_points, graph.eta
        self.attribute: Attribute = graph.plan.attribute
        self.distribution = graph.result
        self.normalised = bool(self.distribution.normalised)
        degrees = self.distribution.degrees
        if proposition is None:
            inside = np.asarray(degrees == degrees.max())
            proposition = Proposition(self.attribute, mask_of(np.flatnonzero(inside).tolist()))
        else:
            inside = mask_table(len(degrees), [proposition.mask])[:, 0]
        self.proposition, self._inside = proposition, inside
        self.possibility = float(degrees[inside].max(initial=0.0))
        self.other_possibility = float(degrees[~inside].max(initial=0.0))

    @property
    def certainty(self) -> float:
        """``N(P) = 1 - Pi(not P)``; NaN where the rules contradict each other."""
        return 1.0 - self.other_possibility if self.normalised else nan

    @property
    def outcome(self) -> Outcome:
        """Whether the result decides on a value, or why not (`Possibility.outcome`)."""
        outcome: Outcome = self.distribution.outcome
        return outcome

    @cached_property
    def probability(self) -> dict[Hashable, float] | None:
        """The probability of each value by the score card of induced rules; None of other rules."""
        scores = card_scores(self.graph)
        if scores is None:
            return None
        return dict(zip(self.attribute.domain, scores.probability[0].tolist(), strict=True))

    @cached_property
    def predicted(self) -> Hashable:
        """The class that the score card of induced rules predicts; None of other rules."""
        scores = card_scores(self.graph)
        return None if scores is None else self.attribute.domain[int(scores.best[0])]

    @cached_property
    def verdict(self) -> str:
        """The outcome in words; of a contradiction with the first rules that clash."""
        rules, result = "", self.distribution
        if self.clashes:
            rules = rule_numbers_text(self.clashes[0].groups[0])
        names = [self.wording.value(self.attribute, value) for value in result.best_values]
        return verdict_text(self.outcome, names, result.certainty, result.contradiction, rules)

    @property
    def contradiction(self) -> float:
        """How far the rules contradict each other (`Possibility.contradiction`)."""
        return float(self.distribution.contradiction)

    @cached_property
    def clashes(self) -> tuple[Clash, ...]:
        """Where rules contradict each other: which ones, and the values that each excludes."""
        return () if self.normalised else clashes_of(self.graph)

    @cached_property
    def values(self) -> tuple[ExplanationNode, ...]:
        """The values of the proposition that attain ``Pi(P)``."""
        attaining = self._inside & (self.distribution.degrees == self.possibility)
        indices = np.flatnonzero(attaining).tolist()
        return tuple(self.graph.node(self.attribute, index) for index in indices)

    @cached_property
    def rivals(self) -> tuple[ExplanationNode, ...]:
        """The other values that attain ``Pi(not P)``: what limits them makes `P` certain."""
        attaining = ~self._inside & (self.distribution.degrees == self.other_possibility)
        indices = np.flatnonzero(attaining).tolist()
        return tuple(self.graph.node(self.attribute, index) for index in indices)

    def node(self, attribute: Attribute | str, value: Hashable) -> ExplanationNode:
        """Return the node of any value of an attribute that the result depends on."""
        name = name_of(attribute)
        known = self.graph.plan.attributes.get(name)
        if known is None:
            raise UnknownAttributeError(f"{self.attribute.name!r} does not depend on {name!r}")
        return self.graph.node(known, known.position(value))
