"""Why a value is excluded at a level: what every tuple that has it would need."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pinesy._common.reports import printed_html
from pinesy._common.validation import BoolArray, FloatArray
from pinesy.calibration.prediction_sets import percent
from pinesy.calibration.score_counts import exceeds
from pinesy.explanations.json_form import plain_value
from pinesy.inverse.posterior import Posterior, posterior
from pinesy.rulebase.cascade import Cascade
from pinesy.rules.attributes import Attribute
from pinesy.rules.outcomes import list_text, number_text
from pinesy.rules.possibility import Possibility
from pinesy.rules.syntax.writer import equation_text, format_name, format_subset

#: The most attributes that a condition of a need names.
MAX_NAMED = 3


@dataclass(frozen=True, eq=False)
class Restriction:
    """What is known of an attribute of one sample: calibrated degrees, or 0 and 1 of an answer."""

    attribute: Attribute
    degrees: FloatArray

    @property
    def name(self) -> str:
        """The name of the attribute."""
        return self.attribute.name

    def remaining(self, level: float) -> BoolArray:
        """Return which values are not excluded at a level."""
        return exceeds(self.degrees, level)

    def values(self, mask: BoolArray) -> tuple[Hashable, ...]:
        """Return the values of a mask."""
        return tuple(self.attribute.domain[i] for i in np.flatnonzero(mask))


@dataclass(frozen=True)
class NeededValues:
    """What an excluded value needs of an attribute, if others have values of their sets.

    Attributes
    ----------
    attribute : the name of the attribute
    values : those that it would need; all of them are excluded
    p_value : the largest of their degrees
    remaining : the values of the attribute that are not excluded
    """

    attribute: str
    values: tuple[Hashable, ...]
    p_value: float
    remaining: tuple[Hashable, ...]


@dataclass(frozen=True, eq=False, repr=False)
class ExclusionReason:
    """Why a value is in no consistent tuple at a level.

    Attributes
    ----------
    attribute, value, level : what is excluded, and where
    degree : of the value: it is excluded at all levels up to 1 minus it
    needs : of a smallest set of attributes that exclude the value together, what it would need of
        each, given the sets of the others; empty if the rules exclude it, or nothing does
    """

    attribute: Attribute
    value: Hashable
    level: float
    degree: float
    needs: tuple[NeededValues, ...]

    @property
    def is_excluded(self) -> bool:
        """Whether the value is excluded at the level."""
        return not exceeds(self.degree, self.level)

    @cached_property
    def text(self) -> str:
        """The reason as text."""
        name, level = equation_text(self.attribute.name, self.value), percent(self.level)
        if not self.is_excluded:
            return f"{name} is in the set at {level}: a consistent tuple has it."
        if not self.needs:
            return f"{name} is excluded at {level}: the rules exclude it, whatever the inputs are."
        lines = [f"  {self._need_text(need)}" for need in self.needs]
        head = f"{name} is excluded at {level}: every tuple that has it needs"
        return "\n".join([head, *lines])

    @property
    def sentence(self) -> str:
        """The reason as one sentence."""
        head, *needs = self.text.splitlines()
        return f"{head} {'; and '.join(need.strip() for need in needs)}." if needs else head

    def _need_text(self, need: NeededValues) -> str:
        others = [other for other in self.needs if other is not need]
        conditions = [
            f"{format_name(other.attribute)} in {format_subset(other.remaining)}"
            for other in others[:MAX_NAMED]
        ]
        conditions += [f"{len(others) - MAX_NAMED} more"] * (len(others) > MAX_NAMED)
        text = f"{format_name(need.attribute)} in {format_subset(need.values)}"
        if conditions:
            text += f" (with {list_text(conditions)})"
        if need.p_value > 0.0:
            return f"{text}, of p-values up to {number_text(need.p_value)}"
        if len(need.remaining) == 1:
            return f"{text}, but it is {format_subset(need.remaining)[1:-1]}"
        return f"{text}, all of them excluded"

    def to_dict(self) -> dict[str, Any]:
        """Return the reason as plain data, for JSON."""
        return {
            "attribute": self.attribute.name,
            "value": plain_value(self.value),
            "level": self.level,
            "excluded": self.is_excluded,
            "degree": self.degree,
            "needs": [
                {
                    "attribute": need.attribute,
                    "values": [plain_value(v) for v in need.values],
                    "p_value": need.p_value,
                    "remaining": [plain_value(v) for v in need.remaining],
                }
                for need in self.needs
            ],
            "text": self.text,
        }

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"ExclusionReason({self.text.splitlines()[0].rstrip(':')})"

    _repr_html_ = printed_html


def exclusion_reason(
    rules: Cascade,
    attribute: Attribute,
    value: Hashable,
    degree: float,
    level: float,
    restrictions: Sequence[Restriction],
) -> ExclusionReason:
    """Return why a value of a degree is excluded: a smallest set of restrictions that do it.

    Each restriction is dropped if the others exclude the value without it. Cost: one `posterior`
    for each restriction, and one for each that remains.
    """
    reason = ExclusionReason(attribute, value, level, degree, ())
    if not reason.is_excluded:
        return reason
    question = _Question(rules, attribute, value, level)
    active = {r.name: r for r in restrictions if not r.remaining(level).all()}
    for name in list(active):
        others = {key: r for key, r in active.items() if key != name}
        if not question.is_possible(others):
            active = others
    needs = []
    for name, restriction in active.items():
        others = {key: r for key, r in active.items() if key != name}
        mask = question.possible_values(others, restriction.attribute)
        p_value = float(restriction.degrees[mask].max(initial=0.0))
        remaining = restriction.values(restriction.remaining(level))
        needs.append(NeededValues(name, restriction.values(mask), p_value, remaining))
    return ExclusionReason(attribute, value, level, degree, tuple(needs))


@dataclass(frozen=True)
class _Question:
    """Whether a value of an attribute is possible at a level, under some restrictions."""

    rules: Cascade
    attribute: Attribute
    value: Hashable
    level: float

    def is_possible(self, restrictions: Mapping[str, Restriction]) -> bool:
        return bool(exceeds(self._answer(restrictions, []).compatibility, self.level))

    def possible_values(
        self, restrictions: Mapping[str, Restriction], attribute: Attribute
    ) -> BoolArray:
        answer = self._answer(restrictions, [attribute])
        return exceeds(answer.joint[attribute.name].degrees, self.level)

    def _answer(
        self, restrictions: Mapping[str, Restriction], attributes: list[Attribute]
    ) -> Posterior:
        degrees = {name: r.remaining(self.level) * 1.0 for name, r in restrictions.items()}
        value = np.zeros(len(self.attribute.domain))
        value[self.attribute.position(self.value)] = 1.0
        name = self.attribute.name
        degrees[name] = np.minimum(degrees.get(name, value), value)
        inputs = {a.name: degrees.pop(a.name, np.ones(len(a.domain))) for a in self.rules.inputs}
        if any(d.max() == 0.0 for d in (*inputs.values(), *degrees.values())):
            impossible = {a.name: Possibility(a, np.zeros(len(a.domain))) for a in attributes}
            return Posterior(impossible, 0.0, True)
        return posterior(self.rules, inputs, degrees, attributes or None)
