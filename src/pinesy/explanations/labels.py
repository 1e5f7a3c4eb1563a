"""The names of attributes and values in texts, and sentences with them."""

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
    """The name of an attribute in texts, the unit and the names of its values.

    Parameters
    ----------
    name : replaces the title, or the name, of the attribute
    unit : is written after its numbers and intervals
    values : replacements for the texts of some values

    Examples
    --------
    >>> glucose = Attribute("bg", [70, 120])
    >>> wording = Wording({"bg": Label("blood glucose", unit="mg/dl", values={70: "low"})})
    >>> wording.proposition_sentence(glucose.isin({120}))
    'blood glucose is 120 mg/dl'
    >>> wording.proposition_sentence(glucose.isin({70}))
    'blood glucose is low'
    """

    name: str | None = None
    unit: str | None = None
    values: Mapping[Hashable, str] = field(default_factory=dict)


#: Labels, or just names, of some attributes; the keys are attributes or their names.
Labels = Mapping[Any, Label | str]


def number_texts(first: float, second: float) -> tuple[str, str]:
    """Return two degrees with three digits, or in full where these digits are the same.

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


#: Words before which no article stands.
DETERMINERS = frozenset(
    ["the", "a", "an", "my", "your", "his", "her", "its", "our", "their"]
    + ["this", "that", "each", "every", "no", "whether"]
)
#: Values of attributes that are questions or adjectives, such as ``valid`` or ``is open``.
TRUTHS = frozenset(["true", "false", "yes", "no", "0", "1"])


def _takes_article(name: str, attribute: Attribute) -> bool:
    """Return whether a name is a noun as far as can be seen: not ``a_1``, not ``valid``."""
    if len(name) == 1 or not name[0].isalpha() or name[-1] in "0123456789":
        return False
    if name.split(" ")[0].lower() in DETERMINERS:
        return False
    return not (len(attribute.domain) == 2 and TRUTHS.issuperset(map(plain_text, attribute.domain)))


class Wording:
    """Attributes, values and propositions in words: labels, else titles and units, else names.

    Parameters
    ----------
    labels : by the names of attributes
    known : the attributes of the rules; one that a rule uses may have no title there
    """

    def __init__(
        self,
        labels: Mapping[str, Label] | None = None,
        known: Mapping[str, Attribute] | None = None,
    ) -> None:
        self._labels = dict(labels or {})
        self._known = known or {}
        self._has_articles = False

    def with_articles(self) -> "Wording":
        """Return the wording of sentences: ``the debt ratio`` for what a title or a word names.

        Examples
        --------
        >>> rain, digit = Attribute("rain", ["no", "heavy"]), Attribute("a_1", range(10))
        >>> spoken = Wording().with_articles()
        >>> spoken.name(rain), spoken.name(digit)
        ('the rain', 'a_1')
        """
        spoken = Wording(self._labels, self._known)
        spoken._has_articles = True
        return spoken

    @classmethod
    def of(cls, labels: Labels | None, known: Mapping[str, Attribute]) -> "Wording":
        """Return the wording with labels, after a check that their attributes are known."""
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
        return cls(checked, known)

    def name(self, attribute: Attribute) -> str:
        """Return what an attribute is called: its label, else its title, else its name."""
        name = self._plain_name(attribute)
        return f"the {name}" if self._has_articles and _takes_article(name, attribute) else name

    def _plain_name(self, attribute: Attribute) -> str:
        label = self._labels.get(attribute.name)
        if label is not None and label.name is not None:
            return label.name
        return self._known.get(attribute.name, attribute).title or attribute.name

    def with_unit(self, attribute: Attribute, text: str) -> str:
        """Return the text of a number or of an interval with the unit of its attribute, if any."""
        label = self._labels.get(attribute.name)
        unit = None if label is None else label.unit
        unit = unit or self._known.get(attribute.name, attribute).unit
        return f"{text} {unit}" if unit else text

    def value(self, attribute: Attribute, value: Hashable) -> str:
        """Return the text of a value, a number or an interval with its unit."""
        label = self._labels.get(attribute.name)
        if label is not None and value in label.values:
            return label.values[value]
        text, scale = plain_text(value), attribute.scale
        is_interval = scale is not None and not scale.names and bool(scale.cuts)
        return self.with_unit(attribute, text) if is_interval or is_number(value) else text

    def plain_value(self, attribute: Attribute, value: Any) -> str:
        """Return the plain value of an input: of its domain, a number, or "unknown"."""
        if value in attribute:  # 2.0 is the value 2
            return self.value(attribute, attribute.domain[attribute.position(value)])
        if is_missing(value):
            return "unknown"
        if not is_number(value):
            return show_value(value)
        return self.with_unit(attribute, exact_text(float(as_floats([value])[0])))

    def equation(self, attribute: Attribute, value: Hashable) -> str:
        """Return the text of an attribute and its value, such as ``credit history = bad``."""
        return f"{self.name(attribute)} = {self.value(attribute, value)}"

    def domain(self, attribute: Attribute) -> tuple[str, ...]:
        """Return the texts of all values of an attribute."""
        return tuple(self.value(attribute, v) for v in attribute.domain)

    def proposition_sentence(
        self, proposition: Proposition, limit: int | None = None, compact: bool = False
    ) -> str:
        """Return a proposition as a sentence; about `limit` values are named, if it has more.

        A `compact` sentence has no "and": ``(a, b) is (1, 2)`` for a tuple.
        """
        values = proposition.values
        if proposition.condition is not None and len(values) > 1:
            return proposition.condition
        return self.values_sentence(proposition.attribute, values, limit, compact)

    def premise_sentence(
        self, propositions: Sequence[Proposition], limit: int | None, last: str = ""
    ) -> str:
        """Return the sentences of propositions, and a `last` one, joined by "and"."""
        compact = len(propositions) > 1 or bool(last)
        texts = [self.proposition_sentence(p, limit, compact) for p in propositions]
        return list_text([*texts, *([last] if last else [])])

    def values_sentence(
        self,
        attribute: Attribute,
        values: Sequence[Hashable],
        limit: int | None = None,
        compact: bool = False,
    ) -> str:
        """Return the sentence that an attribute has one of some values."""
        if len(values) == 1 and attribute.factors and isinstance(values[0], tuple):
            pairs = list(zip(attribute.factors, values[0], strict=True))
            if compact:
                names = ", ".join(self._plain_name(f) for f, _ in pairs)
                return f"({names}) is ({', '.join(self.value(f, v) for f, v in pairs)})"
            return list_text([f"{self.name(f)} is {self.value(f, v)}" for f, v in pairs])
        return f"{self.name(attribute)} {self._predicate(attribute, values, limit)}"

    def _predicate(
        self, attribute: Attribute, values: Sequence[Hashable], limit: int | None
    ) -> str:
        """Return the shortest predicate of an attribute that has one of some values."""
        if not values:
            return "has none of its values"
        intervals = self._intervals(attribute, values)
        if intervals:
            return f"is {intervals}"
        others: list[Hashable] = []
        if len(values) > 2:
            members = set(values)
            others = [value for value in attribute.domain if value not in members]
        if len(others) == 1:
            return f"is not {self.value(attribute, others[0])}"
        if len(values) > 1 and not others and len(values) == len(attribute.domain):
            return "has any of its values"
        text, n_omitted = self._value_list(attribute, values, limit, "one of ")
        if n_omitted and 0 < len(others) < len(values):  # the list of others omits fewer, or none
            if len(others) == 2:
                return "is neither " + " nor ".join(self.value(attribute, v) for v in others)
            return f"is none of {self._value_list(attribute, others, limit)[0]}"
        return f"is {text}"

    def _intervals(self, attribute: Attribute, values: Sequence[Hashable]) -> str:
        """Return the bounds of intervals without names; empty for other values, and for all."""
        scale, label = attribute.scale, self._labels.get(attribute.name)
        if scale is None or scale.names or (label is not None and label.values):
            return ""
        ranges = scale.ranges(attribute.isin(values).mask)
        text = " or ".join(bounds_text(bounds_of(*limits)) for limits in ranges)
        return self.with_unit(attribute, text) if text else text

    def value_list(
        self, attribute: Attribute, values: Sequence[Hashable], limit: int | None, last: str = "or"
    ) -> str:
        """Return a list of values; runs of integers as "0 to 9"."""
        return self._value_list(attribute, values, limit, "one of ", last)[0]

    def _value_list(
        self,
        attribute: Attribute,
        values: Sequence[Hashable],
        limit: int | None,
        one_of: str = "",
        last: str = "or",
    ) -> tuple[str, int]:
        """Return a list of the first values or runs, and the number of values that it omits."""
        runs = runs_of(values) if len(values) > 2 else [[value] for value in values]
        if limit is None or len(runs) <= limit + 1:
            limit = len(runs)
        texts = [
            " to ".join(self.value(attribute, v) for v in dict.fromkeys((run[0], run[-1])))
            for run in runs[:limit]
        ]
        n_omitted = sum(map(len, runs[limit:]))
        if n_omitted:
            texts.append(f"{one_of}{n_omitted} more values")
        return list_text(texts, last), n_omitted
