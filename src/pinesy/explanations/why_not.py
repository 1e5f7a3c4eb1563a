"""Counterfactuals: why a value did not win, and the smallest change that makes it win."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from pinesy._common.console import WorkStopped
from pinesy.evidence.evidence_form import Evidence
from pinesy.exceptions import UnreachableError
from pinesy.explanations.decision import SHOWN, Decision, first_few
from pinesy.explanations.json_form import plain_value
from pinesy.explanations.labels import Wording, number_texts
from pinesy.explanations.points_text import card_evidence, points_lines
from pinesy.explanations.restraints import (
    MAX_RESTRAINTS,
    LimitingDegree,
    Restraint,
    restraints_on,
)
from pinesy.explanations.smallest_change import (
    Change,
    Measure,
    Mode,
    change_request,
    change_to,
)
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.rules.syntax.writer import show_value


def why_not(
    rules: Cascade | RuleSet,
    evidence: Evidence,
    value: Hashable,
    output: str | Attribute | None = None,
    *,
    mode: Mode | None = None,
    change: Sequence[str | Attribute] | None = None,
    keep: Sequence[str | Attribute] | None = None,
    clearance: float | None = None,
    measure: Measure | None = None,
    effort: int | None = None,
) -> "WhyNot":
    """Return which rules limit a value that did not win, and the smallest change that makes it win.

    ``pi*(u) = min_j (max(s_j, lambda_j) if u in Q_j else max(r_j, rho_j))``: the rules that attain
    this minimum limit `u`, by the degree of their premise or by their parameter. Where the premise
    is on an inferred attribute, rules limit the values that set its degree, and so on.

    Parameters
    ----------
    rules : Cascade or RuleSet
    evidence : one sample, as `Cascade.infer` takes it
    value, output, mode, change, keep, clearance, measure, effort : as for `smallest_change`

    Examples
    --------
    >>> from pinesy import antipignistic
    >>> from pinesy.problems import addition
    >>> sees = {"a_1": antipignistic({3: 0.8, 8: 0.2}), "a_2": antipignistic({4: 0.9, 9: 0.1})}
    >>> print(why_not(addition(1), sees, 2, "y_1"))  # doctest: +ELLIPSIS
    y_1 = 2 has possibility 0.4; the highest is 1, of 7
      y_1 = 2 is possible at 0.4 at most, because of rule 24 (iff ... then y_1 in {2}): ...
      a_1 = 8 has possibility 0.4
    if a_1 were read as 8 rather than 3 (possibility 0.4 -> 1), y_1 would be 2
    """
    evidence = card_evidence(as_cascade(rules), evidence)
    decision = Decision.of(rules, evidence, output)
    index = decision.losing_index(value)
    restraints, cut = restraints_on(decision, index)
    request = change_request(decision, mode, change, keep, clearance, measure, effort)
    smallest, obstacle = None, ""
    try:
        smallest = change_to(decision, index, request)
    except UnreachableError as error:
        obstacle = str(error)
    except WorkStopped:  # the rules that limit the value are an answer
        obstacle = "the search for the smallest change was stopped before it found one"
    inputs = {a.name for a in decision.program.inputs}
    reasons = (reason for restraint in restraints for reason in restraint.reasons)
    return WhyNot(
        decision.output,
        decision.output.domain[index],
        float(decision.result.degrees[index]),
        decision.winners,
        decision.result,
        tuple(restraints),
        tuple(dict.fromkeys(r for r in reasons if r.attribute.name in inputs)),
        cut,
        smallest,
        obstacle,
        tuple(points_lines(decision, decision.plain_values, value, SHOWN, Wording())),
    )


@dataclass(frozen=True, eq=False, repr=False)
class WhyNot:
    """Why a value is not the only winner.

    Attributes
    ----------
    attribute, value, degree : the output, the value, its possibility
    winners : the values of the highest possibility
    result : the inferred distribution of the output
    restraints : the rules that limit the value; first the rules on the output, then, down the
        cascade, the rules that limit the values that set the degrees of their premises
    bottlenecks : the degrees of inputs that limit the value through these rules
    cut : whether the search ended after 1000 rules: then there may be more `restraints` and
        `bottlenecks`
    change : the smallest change of the inputs that makes the value win, or None
    obstacle : why there is no change, else an empty text
    points : of rules that give points, what each class got and why: in the text in place of the
        rules that compare sums
    """

    attribute: Attribute
    value: Hashable
    degree: float
    winners: tuple[Hashable, ...]
    result: Possibility
    restraints: tuple[Restraint, ...]
    bottlenecks: tuple[LimitingDegree, ...]
    cut: bool
    change: Change | None
    obstacle: str
    points: tuple[str, ...] = ()

    @property
    def rules(self) -> tuple[Restraint, ...]:
        """The rules on the output that limit the value: they attain its degree."""
        return tuple(r for r in self.restraints if r.attribute == self.attribute)

    def __str__(self) -> str:
        statement = Wording().equation(self.attribute, self.value)
        winners = " and ".join(first_few([show_value(v) for v in self.winners], "values"))
        degree, top = number_texts(self.degree, float(self.result.degrees.max()))
        lines = [f"{statement} has possibility {degree}; the highest is {top}, of {winners}"]
        lines += self.points
        for limits in () if self.points else (self.rules, self.bottlenecks):
            lines += [f"  {limit}" for limit in limits[:SHOWN]]
            if len(limits) > SHOWN:
                lines.append(f"  and {len(limits) - SHOWN} more")
        if self.cut and not self.points:
            lines.append(f"  and perhaps others: the search was cut after {MAX_RESTRAINTS} rules")
        lines.append(str(self.change) if self.change else self.obstacle)
        return "\n".join(lines)

    def to_dict(self, limit: int | None = None) -> dict[str, Any]:
        """Return plain data: at most `limit` rules and degrees, and how many are omitted."""
        restraints, bottlenecks = self.restraints[:limit], self.bottlenecks[:limit]
        return {
            "attribute": self.attribute.name,
            "value": plain_value(self.value),
            "possibility": self.degree,
            "winners": [plain_value(v) for v in self.winners],
            "restraints": [
                _degree_data(r) | {"rule": r.number, "text": r.rule.line(limit), "by": r.by}
                for r in restraints
            ],
            "restraints_omitted": len(self.restraints) - len(restraints),
            "bottlenecks": [_degree_data(b) for b in bottlenecks],
            "bottlenecks_omitted": len(self.bottlenecks) - len(bottlenecks),
            "points": list(self.points),
            "cut": self.cut,
            "change": self.change and self.change.to_dict(),
            "obstacle": self.obstacle or None,
        }

    def __repr__(self) -> str:
        rules = f"{len(self.restraints)} rules" + ", cut" * self.cut
        return f"WhyNot({self.attribute.name} = {show_value(self.value)}: {rules})"

    def _repr_html_(self) -> str:
        from pinesy.display.explanation_picture import why_not_html

        return why_not_html(self)


def _degree_data(limit: Restraint | LimitingDegree) -> dict[str, Any]:
    value = plain_value(limit.value)
    return {"attribute": limit.attribute.name, "value": value, "possibility": limit.degree}
