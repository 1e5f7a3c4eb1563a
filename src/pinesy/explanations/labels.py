"""How attributes and values are called in texts."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pinesy._common.validation import check_known
from pinesy.evidence.plain_values import is_missing
from pinesy.exceptions import DataError, DomainError
from pinesy.rules.attributes import Attribute
from pinesy.rules.cut_texts import bounds_of, bounds_text, exact_text
from pinesy.rules.numbers import as_floats, is_number
from pinesy.rules.outcomes import list_text as list_text
from pinesy.rules.outcomes import number_text as number_text
from pinesy.rules.outcomes import plain_text
from pinesy.rules.propositions import Proposition
from pinesy.rules.syntax.writer import runs_of, show_value


@dataclass(frozen=True)
class Label:
    """What to call an attribute in texts.

    Parameters
    ----------
    name : in place of the attribute's name
    unit : written after values
    values : other texts for some values

    Examples
    --------
    >>> glucose = Attribute("bg", [70, 120])
    >>> wording = Wording({"bg": Label("blood glucose", unit="mg/dl", values={70: "low"})})
    >>> wording.says(glucose.isin({120})), wording.says(glucose.isin({70}))
    ('blood glucose is 120 mg/dl', 'blood glucose is low')
    """

    name: str | None = None
    unit: str | None = None
    values: Mapping[Hashable, str] = field(default_factory=dict)


#: For some attributes, by name or as the attribute itself, what to call them.
Labels = Mapping[Any, Label | str]


def number_texts(first: float, second: float) -> tuple[str, str]:
    """Write two degrees with three digits, or in full where that would make them look equal.

    Examples
    --------
    >>> number_texts(0.25, 0.5), number_texts(0.50001, 0.50002), number_texts(0.99999, 1.0)
    (('0.25', '0.5'), ('0.50001', '0.50002'), ('more than 0.999', '1'))
    """
    short = number_text(first), number_text(second)
    return short if first == second or short[0] != short[1] else (repr(first), repr(second))


#: A degree of 1 and of 0 in words: of possibility, and of certainty.
WORDS = {"P": ("possible", "impossible"), "C": ("certain", "not certain at all")}


def degree_text(semantics: str, degree: float) -> str:
    """Return a possibility ("P") or a certainty ("C") in words.

    Examples
    --------
    >>> degree_text("P", 1.0), degree_text("P", 0.3), degree_text("P", 0.0)
    ('possible', 'possible at 0.3', 'impossible')
    >>> degree_text("C", 0.7), degree_text("C", 0.0)
    ('certain at 0.7', 'not certain at all')
    """
    full, none = WORDS[semantics]
    if degree in (0.0, 1.0):
        return full if degree else none
    return f"{full} at {number_text(degree)}"


def given_text(attribute: Attribute, value: Any) -> str:
    """Return a plain value that is given of an input: of its domain, a number, or unknown."""
    if value in attribute:
        return show_value(value)
    if is_missing(value):
        return "unknown"
    return exact_text(float(as_floats([value])[0])) if is_number(value) else show_value(value)


class Wording:
    """Names, values, propositions and rules in words."""

    def __init__(self, labels: Mapping[str, Label] | None = None) -> None:
        self._labels = dict(labels or {})

    @classmethod
    def of(cls, labels: Labels | None, known: Mapping[str, Attribute]) -> "Wording":
        """Check labels against the known attributes."""
        if not isinstance(labels, Mapping | None):
            raise DataError(f"labels are a mapping from attributes to words; got {labels!r:.60}")
        checked = {}
        for key, label in (labels or {}).items():
            name = key.name if isinstance(key, Attribute) else key
            check_known(name, known, f"a label is given for {name!r}, which no rule uses")
            if isinstance(label, str):
                label = Label(label)
            if not isinstance(label, Label):
                raise DomainError(f"the label of {name!r} is {label!r:.60}; give a Label or text")
            for value in label.values:
                known[name].position(value)  # raises where there is no such value
            checked[name] = label
        return cls(checked)

    def name(self, attribute: Attribute) -> str:
        """Return what an attribute is called."""
        label = self._labels.get(attribute.name)
        return attribute.name if label is None or label.name is None else label.name

    def value(self, attribute: Attribute, value: Hashable) -> str:
        """Return what a value is called, with its unit."""
        label = self._labels.get(attribute.name)
        if label is not None and value in label.values:
            return label.values[value]
        text = plain_text(value)
        return text if label is None or label.unit is None else f"{text} {label.unit}"

    def domain(self, attribute: Attribute) -> tuple[str, ...]:
        """Return what all values of an attribute are called."""
        return tuple(self.value(attribute, v) for v in attribute.domain)

    def says(
        self, proposition: Proposition, limit: int | None = None, compact: bool = False
    ) -> str:
        """Return a proposition as a sentence; of more than `limit` values some are shown.

        A `compact` one has no "and" of its own: ``(a, b) is (1, 2)`` for a tuple.
        """
        values = proposition.values
        if proposition.condition is not None and len(values) > 1:
            return proposition.condition
        return self.has(proposition.attribute, values, limit, compact)

    def says_all(
        self, propositions: Sequence[Proposition], limit: int | None, last: str = ""
    ) -> str:
        """Return propositions, each as `says` does, joined by "and"; with a `last` text."""
        compact = len(propositions) > 1 or bool(last)
        texts = [self.says(proposition, limit, compact) for proposition in propositions]
        return list_text([*texts, *([last] if last else [])])

    def has(
        self,
        attribute: Attribute,
        values: Sequence[Hashable],
        limit: int | None = None,
        compact: bool = False,
    ) -> str:
        """Return, as `says` does, that an attribute has one of some values."""
        if len(values) == 1 and attribute.factors and isinstance(values[0], tuple):
            pairs = list(zip(attribute.factors, values[0], strict=True))
            if compact:
                names = ", ".join(self.name(f) for f, _ in pairs)
                return f"({names}) is ({', '.join(self.value(f, v) for f, v in pairs)})"
            return list_text([f"{self.name(f)} is {self.value(f, v)}" for f, v in pairs])
        return f"{self.name(attribute)} {self._is(attribute, values, limit)}"

    def _is(self, attribute: Attribute, values: Sequence[Hashable], limit: int | None) -> str:
        if not values:
            return "has none of its values"
        between = self._between(attribute, values)
        if between:
            return f"is {between}"
        others: list[Hashable] = []
        if len(values) > 2:
            members = set(values)
            others = [value for value in attribute.domain if value not in members]
        if len(others) == 1:
            return f"is not {self.value(attribute, others[0])}"
        if len(values) > 1 and not others and len(values) == len(attribute.domain):
            return "has any of its values"
        texts, left = self._some(attribute, values, limit)
        if left and 0 < len(others) < len(values):  # a shorter list, or a shorter part of it
            if len(others) == 2:
                return "is neither " + " nor ".join(self.value(attribute, v) for v in others)
            return f"is none of {_or(*self._some(attribute, others, limit))}"
        return f"is {_or(texts, left, 'one of ')}"

    def _between(self, attribute: Attribute, values: Sequence[Hashable]) -> str:
        """Return the bounds of intervals without names; empty for other values, and for any."""
        scale, label = attribute.scale, self._labels.get(attribute.name)
        if scale is None or scale.names or (label is not None and label.values):
            return ""
        ranges = scale.ranges(attribute.isin(values).mask)
        text = " or ".join(bounds_text(bounds_of(*limits)) for limits in ranges)
        return f"{text} {label.unit}" if text and label is not None and label.unit else text

    def values(
        self, attribute: Attribute, values: Sequence[Hashable], limit: int | None, last: str = "or"
    ) -> str:
        """Return a list of values; runs of whole numbers as "0 to 9"."""
        return _or(*self._some(attribute, values, limit), "one of ", last)

    def _some(
        self, attribute: Attribute, values: Sequence[Hashable], limit: int | None
    ) -> tuple[list[str], int]:
        """Return the texts of the first values or runs, and how many values are left out."""
        runs = runs_of(values) if len(values) > 2 else [[value] for value in values]
        if limit is None or len(runs) <= limit + 1:
            limit = len(runs)
        texts = [
            " to ".join(self.value(attribute, v) for v in dict.fromkeys((run[0], run[-1])))
            for run in runs[:limit]
        ]
        return texts, sum(map(len, runs[limit:]))


def _or(texts: list[str], left: int, one_of: str = "", last: str = "or") -> str:
    """Join the texts of values, and the number of those that are left out."""
    return list_text([*texts, *([f"{one_of}{left} more values"] if left else [])], last)
