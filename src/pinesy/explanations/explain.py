"""Explain a result: why it is as possible and as certain as it is."""

from collections.abc import Iterator, Mapping
from typing import Any

from pinesy._common.validation import check_degree, check_limit
from pinesy.evidence.evidence_form import Evidence
from pinesy.exceptions import DegreeError, DomainError
from pinesy.explanations.decision import only_output
from pinesy.explanations.explained_result import ExplainedResult
from pinesy.explanations.json_form import DataWriter, json_text
from pinesy.explanations.justification import ExplanationGraph, ExplanationNode
from pinesy.explanations.labels import Labels, Wording
from pinesy.explanations.outline import Outline, TextWriter
from pinesy.explanations.points_text import card_evidence, points_lines
from pinesy.explanations.sample import plain_values_of, plan_for
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.point_sums import point_sums
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.propositions import Proposition


def explain(
    rules: Cascade | RuleSet,
    evidence: Evidence,
    proposition: Proposition | Attribute | str | None = None,
    *,
    eta: float = 0.1,
    depth: int | None = None,
    labels: Labels | None = None,
) -> "Explanation":
    """Explain why a proposition is as possible and as certain as the rules infer it to be.

    Parameters
    ----------
    rules : Cascade or RuleSet
    evidence : one sample, in any form that `infer` takes
    proposition : such as ``total.isin({7})``; or an attribute (or its name), for its most
        possible value; by default that of the only output
    eta : degrees below it count as nothing, where premises are reduced
    depth : rule sets to go down from the result; by default down to the inputs
    labels : for some attributes' names, a `Label` (or just a text) to call them by

    Returns
    -------
    Explanation : print it, or see `Explanation.to_dict`

    Notes
    -----
    It costs a few inferences at most: all else is computed when it is used.

    Examples
    --------
    >>> from pinesy import Attribute, Iff, RuleSet
    >>> rain, grass = Attribute("rain", ["no", "yes"]), Attribute("grass", ["dry", "wet"])
    >>> rules = RuleSet([Iff(rain.isin({"yes"})).then(grass.isin({"wet"}))])
    >>> print(explain(rules, {"rain": {"yes": 1.0, "no": 0.2}}))
    wet, certain 0.80
    Because: Rain is yes (certain 0.80), so the grass is wet (rule 1).
    <BLANKLINE>
    It is possible that grass is wet, because it is possible that rain is yes (rule 1).
    It is certain at 0.8 that grass is wet: any other value is possible at 0.2 at most.
    It is possible at 0.2 that grass is dry, because it is certain at 0.8 that rain is yes (rule 1).
    """
    cascade = as_cascade(rules)
    eta = check_degree(eta, "the threshold eta")
    if eta == 0.0:
        raise DegreeError("the threshold eta is 0; it must be above 0, such as 0.1")
    depth = check_limit(depth, "depth")
    attribute = _attribute(cascade, proposition)
    plan = plan_for(cascade, attribute)
    evidence = card_evidence(cascade, evidence)
    wording = Wording.of(labels, cascade.attributes)
    graph = ExplanationGraph(plan, plan.row(evidence), eta)
    event = proposition if isinstance(proposition, Proposition) else None
    plain_values = plain_values_of(cascade, evidence, plan.inputs)
    has_points = bool(point_sums(cascade, attribute))
    return Explanation(graph, event, depth, wording, plain_values, has_points)


def _attribute(cascade: Cascade, question: object) -> Attribute:
    """Return the attribute of a proposition, an attribute, a name, or None for the only output."""
    if question is None:
        first = cascade.outputs[0].name
        return only_output(cascade, f"say which to explain: explain(rules, evidence, {first!r})")
    if isinstance(question, str):
        attribute = cascade.attributes.get(question)
        return cascade[question].output if attribute is None else attribute
    if isinstance(question, Attribute):
        return question
    if not isinstance(question, Proposition):
        raise DomainError(
            f"cannot explain {question!r:.60}: give a proposition such as "
            "attribute.isin({value}), an attribute, or its name"
        )
    if question.mask == 0:
        raise DomainError(f"{question} has no values: there is nothing to explain")
    return question.attribute


class Explanation(ExplainedResult):
    """Why a proposition on a result is as possible, and as certain, as it is: `explain` makes it.

    Print it for a text; `to_dict`, `to_json` and `to_svg` give other forms.
    """

    def walk(
        self, *, depth: int | None = None, limit: int | None = None, nodes: int | None = None
    ) -> Iterator[tuple[ExplanationNode, int]]:
        """Return the nodes of the tree with their levels, each once, nearest to the result first.

        Parameters
        ----------
        depth : nodes of this level are not followed, by default the explanation's own
        limit : triplets, propositions and values that are followed, of each at most so many
        nodes : nodes after which it ends
        """
        return Outline(self, depth, limit, nodes).walk()

    def text(self, *, depth: int | None = None, limit: int | None = 5) -> str:
        """Return the answer and why in two lines, then the `justification`."""
        from pinesy.display.cards import explained_verdict

        verdict = explained_verdict(self)
        head = f"{verdict.answer}\nBecause: {verdict.because}"
        return f"{head}\n\n{self.justification(depth=depth, limit=limit)}"

    def justification(self, *, depth: int | None = None, limit: int | None = 5) -> str:
        """Return the justification of the paper in plain English.

        Of induced rules it is short: which lines of the score card gave points to which class, and
        how certain and how probable that makes it (docs/induction.md); with a depth, the rules of
        their sums follow.

        Parameters
        ----------
        depth : rule sets to go down, by default the explanation's own, or 4 if it has none
        limit : values, triplets and propositions to show, of each at most so many, those that
            decide first; what is left out is counted. None for all.
        """
        depth = check_limit(self.depth if depth is None else depth, "depth")
        writer = TextWriter(self, depth or TEXT_DEPTH, limit)
        lines: list[str] = []
        if self.has_points and self.normalised:
            value = self.asked.values[0] if self.asked is not None else None
            lines += points_lines(self.graph, self.plain_values, value, writer.limit, self.wording)
        if not lines:
            return writer.text()
        details = [] if depth is None else ["", writer.text()]
        return "\n".join([*writer.head(), *lines, *details])

    def to_dict(
        self, *, depth: int | None = None, limit: int | None = 20, nodes: int | None = 500
    ) -> dict[str, Any]:
        """Return the explanation as plain data; ``docs/explanations.md`` describes it.

        Parameters
        ----------
        depth : rule sets to go down, by default the explanation's own
        limit, nodes : as in `walk`; the others are counted. None for all.
        """
        return DataWriter(self, depth, limit, nodes).to_dict()

    def to_json(self, *, indent: int | None = None, **limits: Any) -> str:
        """Return `to_dict` as JSON."""
        return json_text(self.to_dict(**limits), indent)

    def to_svg(self, images: Mapping[str, Any] | None = None, **limits: Any) -> str:
        """Return the `picture`: one SVG, with the images that there are of inputs."""
        return picture(self, images, **limits)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        from pinesy.display.cards import explanation_card

        return explanation_card(self)

    def __repr__(self) -> str:
        degree = f"certain at {self.certainty:.4g}"
        if not self.normalised:
            degree = f"contradiction {self.contradiction:.4g}"
        return f"Explanation({self.proposition}, possible at {self.possibility:.4g}, {degree})"


#: Values, rules and propositions of each, and boxes, that a picture shows by default.
PICTURE_LIMIT, PICTURE_NODES = 3, 60


def picture(
    explanation: Explanation,
    images: Mapping[str, Any] | None = None,
    *,
    depth: int | None = None,
    limit: int | None = PICTURE_LIMIT,
    nodes: int | None = PICTURE_NODES,
) -> str:
    """Return a picture of an explanation as SVG, from the result on the left to the inputs.

    Boxes are the result, the values that it rests on, the rules between them with their degrees
    (P: possible, C: certain) and the inputs with their most possible values. A box is drawn once
    however many lead to it; where something is left out, a box says how much. The same explanation
    gives the same bytes.

    Parameters
    ----------
    explanation : Explanation
    images : for some inputs, by name, an image: a uint8 array (height, width)
    depth : rule sets to go down, by default the explanation's own
    limit : values, rules and propositions to show of each, those that decide first; None for all
    nodes : boxes of values and inputs to show, those nearest to the result first; None for all

    Examples
    --------
    >>> from pinesy import Attribute, Iff, RuleSet
    >>> from pinesy.explanations import explain
    >>> rain, grass = Attribute("rain", ["no", "yes"]), Attribute("grass", ["dry", "wet"])
    >>> rules = RuleSet([Iff(rain.isin({"yes"})).then(grass.isin({"wet"}))])
    >>> svg = picture(explain(rules, {"rain": {"yes": 1.0, "no": 0.2}}))
    >>> svg[:4], "rule 1 · C 0.8" in svg
    ('<svg', True)
    """
    from pinesy.display.explanation_picture import explanation_svg

    return explanation_svg(explanation, images, depth, limit, nodes)


#: Rule sets that a text goes down by default.
TEXT_DEPTH = 4
