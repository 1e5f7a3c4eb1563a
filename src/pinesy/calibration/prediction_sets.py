"""Prediction sets at a level, and explanations of them."""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.names import name_of
from pinesy._common.reports import printed_html
from pinesy._common.validation import BoolArray, FloatArray, check_sample, suggestion
from pinesy.calibration.score_counts import exceeds
from pinesy.exceptions import DomainError, UnknownAttributeError
from pinesy.explanations import Explanation, WhyNot
from pinesy.explanations.json_form import json_text, plain_value
from pinesy.rules.attributes import Attribute
from pinesy.rules.outcomes import (
    OUTCOME_WORDS,
    outcome_codes,
    outcome_indices,
    plain_text,
    verdict_text,
)
from pinesy.rules.possibility import Possibility
from pinesy.rules.syntax.writer import equation_text, format_name, show_value

#: The most values that a text names, by decreasing possibility.
SHOWN = 8


@dataclass(frozen=True, eq=False, repr=False)
class PredictionSets(Mapping[str, Any]):
    """For each output the values that are not excluded at a level: ``{u : pi(u) > 1 - level}``.

    A mapping from the names of outputs to sets, tuples of values in the order of the domain; for a
    batch, to a list with the set of each sample.

    Attributes
    ----------
    level : float
    possibilities : by output, the calibrated distributions; the sets are cuts of them
    conformity : for each sample the p-value of the best value of its least conforming input (or
        output)

    Examples
    --------
    >>> from pinesy.rules import Attribute
    >>> total = Possibility(Attribute("total", range(4)), np.array([0.04, 1.0, 0.3, 0.01]))
    >>> sets = PredictionSets(0.95, {"total": total}, 1.0)
    >>> sets["total"], sets.outcomes["total"], sets.verdict("total")
    ((1, 2), 'several', 'undecided: 1 or 2 remain')
    >>> sets.excluded_at("total").tolist()  # the highest level that excludes each value
    [0.96, 0.0, 0.7, 0.99]
    """

    level: float
    possibilities: Mapping[str, Possibility]
    conformity: float | FloatArray

    def __getitem__(self, key: Any) -> Any:
        members = self.members(key)
        domain = self.possibilities[name_of(key)].attribute.domain
        return (
            _select_values(members, domain)
            if members.ndim == 1
            else [_select_values(m, domain) for m in members]
        )

    def members(self, key: Any) -> BoolArray:
        """Return which values are in the set of an output, shape ``(..., size of the domain)``."""
        return exceeds(self._possibility(key).degrees, self.level)

    def _possibility(self, key: Any) -> Possibility:
        name = name_of(key)
        if name not in self.possibilities:
            raise UnknownAttributeError(f"{name!r} was not inferred{suggestion(name, self)}")
        return self.possibilities[name]

    def excluded_at(self, key: Any) -> FloatArray:
        """Return for each value the highest level that excludes it: ``1 - pi(u)``.

        At all higher levels it is in the set. A value of level 0 is in the set at every level.
        """
        return np.asarray((1.0 - self._possibility(key).degrees).round(12))

    @cached_property
    def sizes(self) -> dict[str, Any]:
        """The sizes of the sets, by output."""
        return {name: self.members(name).sum(axis=-1) for name in self}

    @cached_property
    def outcomes(self) -> dict[str, Any]:
        """The outcome codes of samples (`Outcome`), by output.

        ``"contradiction"``: the rules contradict each other; ``"novel"``: no value of some input
        (or output) conforms to the calibration samples; ``"no_rule"``: all values are fully
        possible; ``"several"``: several values remain; ``"decided"``: one does.
        """
        return {name: outcome_codes(self.outcome_indices(name)) for name in self}

    def outcome_indices(self, key: Any) -> npt.NDArray[np.intp]:
        """Return the indices of `outcomes` in `OUTCOMES`."""
        pi = self._possibility(key)
        novel = ~exceeds(self.conformity, self.level)
        clash = ~np.asarray(pi.normalised)
        unrestricted = (pi.degrees == 1.0).all(axis=-1)
        return outcome_indices(self.members(key), unrestricted, clash, novel)

    def verdict(self, key: Any, row: int | None = None) -> str:
        """Return the outcome of one sample, or of a row of a batch, as text."""
        pi = self._possibility(key)
        if pi.is_batch == (row is None):
            raise DomainError("give a row of a batch, and none for one sample")
        values, codes = self[key], self.outcomes[name_of(key)]
        if row is not None:
            row = check_sample(row, len(pi))
            values, codes = values[row], codes[row]
        return verdict_text(codes, [plain_text(value) for value in values])

    def __iter__(self) -> Iterator[str]:
        return iter(self.possibilities)

    def __len__(self) -> int:
        return len(self.possibilities)

    def __repr__(self) -> str:
        first = next(iter(self.possibilities.values()))
        if first.is_batch:
            return f"PredictionSets({len(first)} samples of {', '.join(self)} at {self.level:g})"
        texts = ", ".join(f"{name} in {_format_set(self[name])}" for name in self)
        return f"PredictionSets({texts} at {self.level:g})"

    def _repr_html_(self) -> str:
        from pinesy.display.markup import first_lines, tag

        first = next(iter(self.possibilities.values()))
        members = {name: np.atleast_2d(self.members(name)) for name in self}
        outcomes = {name: np.atleast_1d(self.outcomes[name]) for name in self}
        n = len(first) if first.is_batch else 1
        lines = (
            [
                str(row),
                name,
                _format_set(_select_values(members[name][row], domain)),
                OUTCOME_WORDS[outcomes[name][row]],
            ]
            for row in range(n)
            for name, domain in ((a, self.possibilities[a].attribute.domain) for a in self)
        )
        head = ["sample", "output", f"set at {self.level:g}", "outcome"]
        return tag("div", repr(self)) + first_lines(head, lines, n * len(self), "sets")


def _select_values(members: BoolArray, domain: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
    return tuple(domain[i] for i in np.flatnonzero(members))


def _format_set(values: tuple[Hashable, ...]) -> str:
    ending = ", ..." if len(values) > 6 else ""
    return "{" + ", ".join(show_value(v) for v in values[:6]) + ending + "}"


@dataclass(frozen=True, eq=False, repr=False)
class LevelExplanation:
    """Which values of an output are excluded at which levels, and why.

    Attributes
    ----------
    sets : the prediction sets of one sample, at the requested level
    explanation : the explanation by the rules, of the most possible value or of the proposition
    guarantee : the guarantee as a sentence
    """

    sets: PredictionSets
    explanation: Explanation
    guarantee: str

    @property
    def attribute(self) -> Attribute:
        """The output."""
        return self.explanation.attribute

    @cached_property
    def excluded_at(self) -> dict[Hashable, float]:
        """For each value the highest level that excludes it; 0 if none does."""
        levels = self.sets.excluded_at(self.attribute).tolist()
        return dict(zip(self.attribute.domain, levels, strict=True))

    def text(self, **limits: Any) -> str:
        """Return the levels, the explanation (`Explanation.text`) and the guarantee."""
        levels = "\n".join([self._set_text(), *self._excluded_text()])
        return "\n\n".join([levels, self.explanation.text(**limits), self.guarantee])

    def _set_text(self) -> str:
        values = self.sets[self.attribute]
        name, outcome = format_name(self.attribute.name), self.sets.outcomes[self.attribute.name]
        text = " or ".join(
            [show_value(v) for v in values[:SHOWN]] + ["..."] * (len(values) > SHOWN)
        )
        why = f" ({OUTCOME_WORDS[outcome]})" * (outcome != "decided")
        return f"At {percent(self.sets.level)}: {name} is {text or 'none of its values'}{why}."

    def _excluded_text(self) -> list[str]:
        level, members = self.sets.level, self.sets[self.attribute]
        excluded = {v: z for v, z in self.excluded_at.items() if v not in members}
        included = {v: z for v, z in self.excluded_at.items() if v in members and z > 0.0}
        lines = [f"Excluded at {percent(level)}: {_format_levels(excluded)}."] if excluded else []
        return lines + (
            [f"Excluded at lower levels: {_format_levels(included)}."] if included else []
        )

    def to_dict(self, **limits: Any) -> dict[str, Any]:
        """Return a dict for JSON; ``"explanation"`` is that of `Explanation.to_dict`."""
        return {
            "format": "pinesy levels",
            "version": 2,
            "attribute": self.attribute.name,
            "level": self.sets.level,
            "set": [plain_value(v) for v in self.sets[self.attribute]],
            "outcome": self.sets.outcomes[self.attribute.name],
            "verdict": self.sets.verdict(self.attribute),
            "excluded_at": [
                {"value": plain_value(v), "level": z} for v, z in self.excluded_at.items()
            ],
            "guarantee": self.guarantee,
            "explanation": self.explanation.to_dict(**limits),
        }

    def to_json(self, *, indent: int | None = None, **limits: Any) -> str:
        """Return `to_dict` as JSON."""
        return json_text(self.to_dict(**limits), indent)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"LevelExplanation({self._set_text()[:-1]})"

    _repr_html_ = printed_html


@dataclass(frozen=True, eq=False, repr=False)
class LevelWhyNot:
    """At which levels a value is excluded, and which p-values exclude it.

    Attributes
    ----------
    level : the requested level
    p_value : the p-value of the value, which is excluded at all levels up to ``1 - p_value``
    reason : the rules that limit the value; with calibrated inputs, its degrees are p-values
    of_inputs : whether the inputs were calibrated, or the answers
    """

    level: float
    p_value: float
    reason: WhyNot
    of_inputs: bool

    @property
    def excluded_at(self) -> float:
        """The highest level that excludes the value."""
        return round(1.0 - self.p_value, 12)

    @property
    def is_excluded(self) -> bool:
        """Whether the value is excluded at the requested level."""
        return self.excluded_at >= self.level

    @property
    def p_values(self) -> list[tuple[str, Hashable, float]]:
        """The attribute, value and p-value of each value that excludes this one.

        These are values of inputs; if answers are calibrated, the value itself.
        """
        if not self.of_inputs:
            return [(self.reason.attribute.name, self.reason.value, self.p_value)]
        return [
            (bottleneck.attribute.name, bottleneck.value, bottleneck.degree)
            for bottleneck in self.reason.bottlenecks
        ]

    def text(self) -> str:
        """Return the levels, the p-values that exclude the value, and the rules."""
        name = equation_text(self.reason.attribute.name, self.reason.value)
        level_text = percent(self.level)
        is_in = "excluded" if self.is_excluded else "in the set, not excluded,"
        up = (
            f"it is excluded up to {percent(self.excluded_at)}"
            if self.p_value < 1.0
            else "no level excludes it"
        )
        reasons = [
            f"  the p-value of {equation_text(n, v)} is {p:.4g}"
            for n, v, p in self.p_values[:SHOWN]
        ]
        return "\n".join([f"{name} is {is_in} at {level_text}; {up}:", *reasons, str(self.reason)])

    def to_dict(self) -> dict[str, Any]:
        """Return a dict for JSON."""
        return {
            "attribute": self.reason.attribute.name,
            "value": plain_value(self.reason.value),
            "level": self.level,
            "excluded": self.is_excluded,
            "excluded_at": self.excluded_at,
            "p_values": [
                {"attribute": n, "value": plain_value(v), "p_value": p} for n, v, p in self.p_values
            ],
            "text": str(self.reason),
        }

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        value = f"{self.reason.attribute.name} = {show_value(self.reason.value)}"
        return f"LevelWhyNot({value}: excluded up to {percent(self.excluded_at)})"

    _repr_html_ = printed_html


def percent(level: float) -> str:
    """Return a level as a percentage.

    Examples
    --------
    >>> percent(0.95), percent(0.9875)
    ('95 %', '98.75 %')
    """
    return f"{np.floor(1e4 * level + 1e-6) / 100:g} %"


def _format_levels(levels: dict[Hashable, float]) -> str:
    """Return the text of values with their levels, by increasing level."""
    ordered = sorted(levels.items(), key=lambda item: item[1])
    texts = [f"{show_value(v)} (up to {percent(z)})" for v, z in ordered[:SHOWN]]
    hidden = len(ordered) - SHOWN
    return ", ".join(texts + [f"{hidden} more"] * (hidden > 0))
