"""A verdict: the answer, the facts and rules that decide it, what would change it, how firm it is.

Every surface takes its words from here: the command line, notebooks, the studio, the page, reports.
"""

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np

from pinesy._common.validation import check_flag
from pinesy.evidence.evidence_form import Evidence
from pinesy.exceptions import DataError
from pinesy.explanations.decision import Decision
from pinesy.explanations.json_form import plain_value
from pinesy.explanations.labels import Labels, Wording
from pinesy.explanations.points_text import PointsGiven
from pinesy.explanations.smallest_change import Change, ValueChange
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.outcomes import short_degree, verdict_text
from pinesy.rules.possibility import Possibility
from pinesy.transforms.transformation import Transformation, as_transform
from pinesy.verdicts.exclusion import Exclusion
from pinesy.verdicts.sentences import MAX_NAMED, Sentences, as_sentence

#: Values of the domain that `to_dict` has, the most possible first.
MAX_VALUES = 20


def verdict(
    rules: Cascade | RuleSet,
    evidence: Evidence | None = None,
    output: str | Attribute | None = None,
    *,
    probabilities: Mapping[str, Any] | None = None,
    transform: str | Transformation = "antipignistic",
    labels: Labels | None = None,
    guarantee: "Guarantee | None" = None,
    exact: bool = False,
) -> "Verdict":
    """Return the verdict on one sample.

    Parameters
    ----------
    rules : Cascade or RuleSet
    evidence : one sample, in any form that `infer` takes; beside `probabilities`, a dict of the
        other inputs
    output : the attribute that is decided on, by default the only output
    probabilities : by input, what a classifier says: a dict from values to probabilities, or a list
        or array in the order of the domain
    transform : how the probabilities become possibilities
    labels : for some attributes' names, a `Label` (or just a text) to call them by
    guarantee : what calibration guarantees of this sample
    exact : whether the answer is that of exact inference; where it differs from inference, the
        answer has both, and the rest explains the latter unless it decides otherwise

    Notes
    -----
    The answer costs one inference. The rest is computed when it is used.

    Examples
    --------
    >>> from pinesy import parse
    >>> rules = parse('''
    ...     number debt
    ...     attribute history in {good, bad}
    ...     attribute risk in {low, high}
    ...     attribute decision in {approve, reject}
    ...     if debt >= 0.45 and history == bad then risk == high [certainty=0.8]
    ...     if risk == high then decision == reject
    ... ''')
    >>> found = verdict(rules, {"debt": 0.639, "history": "bad"})
    >>> found.answer
    'reject, certain 0.80'
    >>> [fact.text for fact in found.facts]
    ['debt is 0.639', 'history is bad']

    Where a classifier reads an input, give its probabilities:

    >>> read = {"history": {"bad": 0.8, "good": 0.2}}
    >>> verdict(rules, {"debt": 0.639}, probabilities=read).answer
    'reject, certain 0.60'
    """
    if probabilities is not None:
        evidence = _with_probabilities(evidence, probabilities, as_transform(transform))
    elif evidence is None:
        raise DataError("a verdict needs a sample: give evidence, probabilities, or both")
    decision = Decision.of(rules, evidence, output)
    cascade = decision.plan.cascade
    wording = Wording.of(labels, cascade.attributes)
    distribution = None
    if check_flag(exact, "exact"):
        distribution = cascade.infer(decision.row, [decision.output], exact=True)[decision.output]
    return Verdict(decision, wording, guarantee, distribution)


def _with_probabilities(
    evidence: Evidence | None, probabilities: Mapping[str, Any], transform: Transformation
) -> dict[str, Any]:
    """Return the evidence and, as possibilities, what probabilities say of the other inputs."""
    evidence = {} if evidence is None else evidence
    if not isinstance(evidence, Mapping) or not isinstance(probabilities, Mapping):
        raise DataError("probabilities, and evidence beside them, are dicts with a key an input")
    for name, content in probabilities.items():
        if name in evidence:
            raise DataError(f"{name!r} is in evidence and in probabilities; give it once")
        if not isinstance(content, dict | list | tuple | np.ndarray):
            raise DataError(
                f"the probabilities of {name!r} are {content!r:.60}; give a dict from values to "
                "probabilities or a list, and what is certain as evidence"
            )
    return {**evidence, **{name: transform(p) for name, p in probabilities.items()}}


@dataclass(frozen=True)
class Guarantee:
    """What calibration says of a sample.

    Attributes
    ----------
    level : such as 0.95
    values : the prediction set at that level
    text : what is guaranteed, in words
    """

    level: float
    values: tuple[Hashable, ...]
    text: str

    @classmethod
    def of(
        cls, level: float, values: Sequence[Hashable], attribute: Attribute, wording: Wording
    ) -> "Guarantee":
        """Return what a prediction set guarantees."""
        percent = f"{100 * level:g}"
        promise = f"Sets made like this hold the truth in at least {percent} of 100 cases."
        if len(values) == len(attribute.domain):
            text = f"Nothing can be ruled out at {percent} %."
        elif not values:
            text = f"No value is left at {percent} %: the sample is unlike those that calibrated."
        else:
            text = as_sentence(f"{wording.value_list(attribute, values, MAX_NAMED)}. {promise}")
        return cls(level, tuple(values), text)


@dataclass(frozen=True, eq=False, repr=False)
class Verdict(Sentences):
    """The verdict on one sample; print it, or see `to_dict`.

    Attributes
    ----------
    guarantee : what calibration guarantees, or None
    exact : the exact distribution, or None if it was not computed
    """

    guarantee: Guarantee | None = None
    exact: Possibility | None = None

    @property
    def answer(self) -> str:
        """The answer, or why there is none; the exact one if it was computed."""
        inferred = super().answer
        pi = self.exact
        if pi is None or np.array_equal(pi.degrees, self.distribution.degrees):
            return inferred
        names = [self.wording.value(self.attribute, value) for value in pi.best_values]
        text = verdict_text(pi.outcome, names, None, pi.contradiction)
        if pi.outcome == "decided":
            text = f"{names[0]}, certain {short_degree(pi.certainty)}"
        return f"{text} (exact; each rule alone: {inferred})"

    def questions(self) -> dict[str, str]:
        """Return the sentences by the questions that they answer, without empty ones.

        Where the exact outcome is another, the reason is what all rules exclude together.
        """
        if self.exact is not None and self.exact.best_values != self.distribution.best_values:
            sentences = {"Because": self._together(self.exact)}
        else:
            sentences = {
                "Because": self.because,
                "What would change it": self.what_would_change_it,
                "Is it firm": self.how_firm,
            }
        if self.guarantee is not None:
            sentences["Guaranteed"] = self.guarantee.text
        return {question: sentence for question, sentence in sentences.items() if sentence}

    def _together(self, exact: Possibility) -> str:
        """Return the value that rules exclude most together, compared with each of them alone."""
        inferred = self.distribution.degrees
        index = int(np.argmax(inferred - exact.degrees))
        value = self.wording.value(self.attribute, self.attribute.domain[index])
        exact_text, inferred_text = (
            short_degree(float(degrees[index])) for degrees in (exact.degrees, inferred)
        )
        return f"all rules together allow {value} at most {exact_text}, each alone {inferred_text}."

    def text(self) -> str:
        """Return the answer and one line for each question, as plain text."""
        return "\n".join([self.answer, *(f"{q}: {line}" for q, line in self.questions().items())])

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        from pinesy.display.cards import chain_card, panel, verdict_card

        return panel(verdict_card(self), chain_card(self))

    def __repr__(self) -> str:
        return f"Verdict({self.attribute.name}: {self.answer})"

    def why_not(self, value: Hashable) -> Exclusion:
        """Return what speaks against a value, and what would have to change for it."""
        self.attribute.position(value)  # raises where there is no such value
        return Exclusion(self.decision, self.wording, value)

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data; `verdict_schema` describes it."""
        change, firmness = self.change, self.firmness
        content: dict[str, Any] = self.answer_dict() | {
            "because": self.because,
            "facts": [_fields(fact) for fact in self.facts],
            "reasons": [_fields(reason) for reason in self.reasons],
            "points": [self._points_content(points) for points in self.points[:2]],
            "near_miss": None,
            "what_would_change_it": self.what_would_change_it,
            "change": None if change is None else _change_content(change, self.changed_certainty),
            "how_firm": self.how_firm,
            "firmness": None if firmness is None else _fields(firmness),
            "guarantee": None,
            "degrees": self._degrees(),
        }
        if self.near_miss is not None:
            content["near_miss"] = _fields(self.near_miss)
            del content["near_miss"]["needs"]
        if self.guarantee is not None:
            values = [plain_value(value) for value in self.guarantee.values]
            content["guarantee"] = _fields(self.guarantee) | {"values": values}
        return content

    def _points_content(self, points: PointsGiven) -> dict[str, Any]:
        """Return the points of a class as plain data, with the lines that hold, by their inputs."""
        return {
            "value": plain_value(points.value),
            "points": points.low,
            "most": points.high,
            "start": points.start or 0,
            "lines": [
                {"inputs": list(names), "points": total}
                for names, total in self.point_groups(points).items()
            ],
        }

    def answer_dict(self) -> dict[str, Any]:
        """Return the part of `to_dict` that one inference gives: the answer without reasons."""
        return {
            "question": self.wording.name(self.attribute),
            "attribute": self.attribute.name,
            "outcome": self.outcome,
            "values": [plain_value(value) for value in self.values],
            "certainty": self.certainty,
            "answer": self.answer,
        }

    def _degrees(self) -> list[dict[str, Any]]:
        """Return the most possible values with their degrees, in the order of the domain."""
        degrees = self.distribution.degrees
        most = np.sort(np.argsort(-degrees, kind="stable")[:MAX_VALUES]).tolist()
        values = [(self.attribute.domain[i], float(degrees[i])) for i in most]
        return [
            {
                "value": plain_value(value),
                "possible": degree,
                "certain": max(0.0, float(self.distribution.necessity([value]))),
            }
            for value, degree in values
        ]

    def to_json(self, indent: int | None = None) -> str:
        """Return `to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)


def _change_content(change: Change, certainty: float) -> dict[str, Any]:
    """Return a change as plain data: what inputs would be, and the answer then."""
    inputs = {name: {"to": plain_value(value)} for name, value in change.readings.items()}
    if isinstance(change, ValueChange):
        for name, replacement in change.replacements.items():
            inputs[name] = {"to": plain_value(replacement.value), "text": replacement.to}
    return {"inputs": inputs, "value": plain_value(change.value), "certainty": certainty}


def _fields(record: Any) -> dict[str, Any]:
    """Return the fields of a record as plain data, without those that are None."""
    fields = {name: getattr(record, name) for name in record.__dataclass_fields__}
    return {
        name: list(content) if isinstance(content, tuple) else content
        for name, content in fields.items()
        if content is not None
    }


def verdict_schema() -> Mapping[str, Any]:
    """Return the JSON Schema of `Verdict.to_dict`."""
    text = files("pinesy.verdicts").joinpath("verdict.schema.json").read_text(encoding="utf-8")
    content: Mapping[str, Any] = json.loads(text)
    return content
