"""Score cards: lines that give points to classes, and what a lead in points says.

A condition ``a in A`` has possibility ``P = max pi(A)`` and necessity ``N = 1 - max pi(not A)``; a
line has the least of those of its conditions. It gives its class

    ``points * N + undetermined * (P - N)``

points: all where it holds, none where it fails, and `undetermined` where a blank leaves that open
(what it is expected to give). A class has the sum of these and of its start. A class that trails
the leading one by `t` points has possibility ``levels[t]``, between whole points by interpolation.

This is the *expected* reading, of `predict` and `predict_proba`. The cascade that a card is
compiled to (`points_cascade`) has the *cautious* one, where a blank may give any points. Without
blanks both are the same, bit for bit.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pinesy._common.caching import state_without_cache
from pinesy._common.masks import mask_table, positions
from pinesy._common.names import column_slices
from pinesy._common.reports import count_text, data_frame, text_table
from pinesy._common.validation import FloatArray, check_integer
from pinesy.evidence.evidence_form import Evidence, evidence_rows
from pinesy.evidence.rows import Rows
from pinesy.evidence.unseen_values import without_unseen
from pinesy.exceptions import DataError, DegreeError
from pinesy.rulebase.rules_json import RulesContent, attribute_content, rule_content
from pinesy.rules.attributes import Attribute
from pinesy.rules.propositions import Proposition
from pinesy.rules.rule import Rule
from pinesy.rules.syntax.writer import format_name, format_subset, show_value
from pinesy.transforms import probabilities

#: The version of the form of `ScoreCard.to_dict`.
VERSION = 1
#: Rows that are scored at a time: bounds the memory of the degrees of all lines.
BLOCK = 4096
#: Categories up to which all of a condition are shown, and the first ones that are of more.
MAX_CATEGORIES, FIRST_CATEGORIES = 8, 5
#: The titles of a card.
HEAD = ("if", "then for", "points", "if not known", "rows", "right")

Indices = npt.NDArray[np.intp]


def conjunction_text(conditions: Iterable[Proposition]) -> str:
    """Return conditions as text; of many categories the first ones, or those left out.

    Examples
    --------
    >>> zip_code = Attribute("zip", [f"z{i}" for i in range(30)])
    >>> conjunction_text([zip_code.isin([f"z{i}" for i in range(12)])])
    'zip in {z0, z1, z2, z3, z4, ... 7 more}'
    >>> conjunction_text([zip_code.isin([f"z{i}" for i in range(28)])])
    'zip not in {z28, z29}'
    """
    return " and ".join(map(_condition_text, conditions))


def _condition_text(condition: Proposition) -> str:
    name, values = format_name(condition.attribute.name), condition.values
    if condition.attribute.scale is not None or len(values) <= MAX_CATEGORIES:
        return " ".join(str(condition).split())
    others = condition.complement.values
    if len(others) <= MAX_CATEGORIES:
        return f"{name} not in {format_subset(others)}"
    first = format_subset(values[:FIRST_CATEGORIES])
    return f"{name} in {first[:-1]}, ... {len(values) - FIRST_CATEGORIES} more}}"


class CardLine(NamedTuple):
    """One line of a score card.

    Attributes
    ----------
    attribute : the name of the attribute that has the points in the cascade
    value : the class that gets them
    points : how many
    conditions : what must hold, all of it
    undetermined : the points where a blank leaves open whether the line holds
    support : training rows in which it holds, by their weights; None for a rule of the user
    precision : the share of these with the line's class; None for a rule of the user
    weight : the points before they were rounded
    condition_text : the conditions in words, where groups of categories have names
    """

    attribute: str
    value: Hashable
    points: int
    conditions: tuple[Proposition, ...]
    undetermined: int = 0
    support: float | None = None
    precision: float | None = None
    weight: float = 0.0
    condition_text: str | None = None

    @property
    def premise(self) -> str:
        """The conditions as text; groups of categories by name, long sets are cut."""
        return self.condition_text or conjunction_text(self.conditions)

    @property
    def text(self) -> str:
        """The line: its points, its class and its conditions."""
        return f"+{self.points} for {show_value(self.value)}: {self.premise}"

    @property
    def record(self) -> str:
        """How many rows the line covers, and how often it is right there; or that it is given."""
        if self.support is None or self.precision is None:
            return "a rule of yours"
        return f"{self.support:.6g} rows, {self.precision:.0%} right"


@dataclass(frozen=True, eq=False)
class CardScores:
    """What a card gives for samples.

    Attributes
    ----------
    totals : the points of each class, shape ``(n_samples, n_classes)``
    possibility : of each class, of the same shape
    """

    totals: FloatArray
    possibility: FloatArray

    @property
    def probability(self) -> FloatArray:
        """The probability of each class: the inverse antipignistic transformation."""
        return probabilities(self.possibility)

    @property
    def best(self) -> Indices:
        """The class of most points among the most possible ones, the first of ties: its index."""
        is_top = self.possibility == self.possibility.max(axis=1, keepdims=True)
        return np.asarray(np.where(is_top, self.totals, -np.inf).argmax(axis=1))


@dataclass(frozen=True)
class ScoreCard:
    """Lines that give points to classes, without the rules that add and compare sums.

    Attributes
    ----------
    lines : those of most points first within a class
    start : the points that each class begins with
    output : the attribute of the classes
    levels : the possibility that a lead of 0, 1, ... points leaves; the last also for longer ones
    columns : the attributes of all columns of the table, also of those that no line uses
    user_rules : rules of the user, which hold besides the points
    shares : of each class, its share of the training rows
    """

    lines: tuple[CardLine, ...]
    start: dict[Hashable, int]
    output: Attribute
    levels: tuple[float, ...]
    columns: tuple[Attribute, ...]
    user_rules: tuple[Rule, ...] = ()
    shares: dict[Hashable, float] = field(default_factory=dict)

    @property
    def certainties(self) -> tuple[float, ...]:
        """The certainty of a lead of 1, 2, ... points; of longer ones it is the last."""
        return tuple(round(1.0 - level, 4) for level in self.levels[1:])

    # --- scores --------------------------------------------------------------------------------

    @cached_property
    def inputs(self) -> tuple[Attribute, ...]:
        """The attributes that the card uses, in the order of the columns of the table.

        Where no line uses any it is the first one, which says how many samples there are.
        """
        premises = [*(line.conditions for line in self.lines)]
        premises += (rule.premise.propositions for rule in self.user_rules)
        names = {p.attribute.name for premise in premises for p in premise}
        return tuple(a for a in self.columns if a.name in names) or self.columns[:1]

    @property
    def sets(self) -> Mapping[str, Any]:
        """The output, by its name: it takes no evidence."""
        return {self.output.name: self}

    @cached_property
    def attributes(self) -> Mapping[str, Attribute]:
        """All attributes by name."""
        return {a.name: a for a in (*self.columns, self.output)}

    def score(self, evidence: Evidence) -> CardScores:
        """Return points and possibility of each class, for one sample or several.

        Parameters
        ----------
        evidence : in any form that `Cascade.infer` takes; None and NaN are unknown, and so are
            categories that the card does not know
        """
        return self.score_rows(self.read_rows(evidence))

    def read_rows(self, evidence: Evidence) -> Rows:
        """Return evidence as rows; categories that the card does not know are unknown."""
        return evidence_rows(self, without_unseen(evidence, self.inputs, self.attributes))

    def score_rows(self, rows: Rows) -> CardScores:
        """Return the same for evidence that was read; it may have more columns than the card."""
        parts = [self.score_degrees(rows.attributes, block) for block in checked_blocks(rows)]
        totals = np.concatenate([part.totals for part in parts])
        return CardScores(totals, np.concatenate([part.possibility for part in parts]))

    def score_degrees(self, attributes: tuple[Attribute, ...], degrees: FloatArray) -> CardScores:
        """Return the same for degrees of attributes side by side, which are not checked."""
        points = self.line_points(*self.line_measures(attributes, degrees))
        totals = self.totals(points)
        lead = totals.max(axis=1, keepdims=True) - totals
        return CardScores(totals, self.possibility_of_leads(lead, attributes, degrees))

    def cautious_possibility(self, evidence: Evidence) -> FloatArray:
        """Return the possibility of each class as the cascade of the card infers it.

        ``pi(d) = levels[max_c low_c - high_d]``, where points of lines that are open are missing
        from `low` and counted in `high`. For inputs that are plain values or unknown; others need
        the cascade.
        """
        rows = self.read_rows(evidence)
        return np.concatenate([self._cautious(rows, block) for block in checked_blocks(rows)])

    def _cautious(self, rows: Rows, degrees: FloatArray) -> FloatArray:
        possible, negated = self.line_measures(rows.attributes, degrees)
        if not (np.isin(possible, (0.0, 1.0)).all() and np.isin(negated, (0.0, 1.0)).all()):
            raise DegreeError("some lines hold to a degree; infer with the rules of the card")
        points = np.array([[line.points] for line in self.lines]).reshape(-1, 1)
        low, high = self.totals(points * (1.0 - negated)), self.totals(points * possible)
        lead = np.maximum(low.max(axis=1, keepdims=True) - high, 0.0)
        return self.possibility_of_leads(lead, rows.attributes, degrees)

    def totals(self, line_points: FloatArray) -> FloatArray:
        """Return the points of each class, from those that the lines give."""
        start = np.array([*self.start.values()], dtype=np.float64)
        return np.asarray(start + line_points.T @ self._gives)

    def possibility_of_leads(
        self, lead: FloatArray, attributes: tuple[Attribute, ...], degrees: FloatArray
    ) -> FloatArray:
        """Return what leads leave to the classes, and the rules of the user."""
        possibility = interpolate_levels(np.array(self.levels), lead)
        premises = [rule.premise.propositions for rule in self.user_rules]
        lambdas, rhos = premise_measures(premises, attributes, degrees)
        masks = [rule.conclusion.mask for rule in self.user_rules]
        inside = mask_table(len(self.output.domain), masks).T
        for rule, is_in, lam, rho in zip(self.user_rules, inside, lambdas, rhos, strict=True):
            alpha, beta = np.maximum(rule.s, lam)[:, None], np.maximum(rule.r, rho)[:, None]
            possibility = np.minimum(possibility, np.where(is_in, alpha, beta))
        return possibility

    @cached_property
    def _gives(self) -> FloatArray:
        """Whether a line speaks for a class, shape ``(n_lines, n_classes)``."""
        classes = np.array([self.output.position(c.value) for c in self.lines], dtype=np.intp)
        return np.asarray(np.eye(len(self.output.domain))[classes])

    def line_measures(
        self, attributes: tuple[Attribute, ...], degrees: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the possibility of each line, and that of its negation, in each row.

        Parameters
        ----------
        attributes, degrees : the inputs, and their degrees side by side
        """
        return premise_measures([line.conditions for line in self.lines], attributes, degrees)

    def line_points(self, possible: FloatArray, negated: FloatArray) -> FloatArray:
        """Return the points that lines give, from their `line_measures`."""
        points = np.array([(c.points, c.undetermined) for c in self.lines], dtype=np.float64)
        points = points.reshape(-1, 2)
        certain = 1.0 - negated
        return np.asarray(points[:, :1] * certain + points[:, 1:] * (possible - certain))

    def line_counts(
        self, rows: Rows, labels: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return in how many rows each line holds, and how many of these have its class.

        Parameters
        ----------
        labels : the indices of the classes of rows
        """
        classes = self._gives.argmax(axis=1)[:, None]
        counts = np.zeros((2, len(self.lines)), dtype=np.int64)
        for first in range(0, rows.n, BLOCK):
            degrees = rows.block(first, min(first + BLOCK, rows.n))
            holds = self.line_measures(rows.attributes, degrees)[1] == 0.0
            right = holds & (labels[first : first + len(degrees)] == classes)
            counts += holds.sum(axis=1), right.sum(axis=1)
        return counts[0], counts[1]

    # --- shown ---------------------------------------------------------------------------------

    def __str__(self) -> str:
        """Return the card as text."""
        return f"{text_table([HEAD, *self.rows()])}\n{self.leads_text}"

    def rows(self) -> list[tuple[str, ...]]:
        """Return the cells of the card, below `HEAD`: the starts first, then the lines."""
        starts = [(v, n) for v, n in self.start.items() if n]
        rows: list[tuple[str, ...]] = [
            ("start", show_value(v), f"+{n}", "", "", "") for v, n in starts
        ]
        return rows + [
            (
                line.premise,
                show_value(line.value),
                f"+{line.points}",
                f"+{line.undetermined}",
                "" if line.support is None else f"{line.support:.6g}",
                "" if line.precision is None else f"{line.precision:.0%}",
            )
            for line in self.lines
        ]

    @property
    def summary(self) -> str:
        """How large the card is, in one line."""
        lines, columns = count_text(len(self.lines), "line"), count_text(len(self.inputs), "column")
        return (
            f"a score card of {lines} that give points to {len(self.start)} classes of "
            f"{self.output.name!r}, from {columns}"
        )

    @property
    def leads_text(self) -> str:
        """What a lead says, in one line."""
        leads = ", ".join(f"{c:.2g}" for c in self.certainties[:12])
        ending = ", ..." * (len(self.certainties) > 12)
        return f"certainty of a lead of 1, 2, ... points: {leads}{ending}"

    def _repr_html_(self) -> str:
        """Return the card as a table."""
        from pinesy.display.markup import html_table, lines_of

        return html_table(HEAD, self.rows()) + lines_of(self.leads_text)

    def records(self) -> list[dict[str, Any]]:
        """Return the lines as plain data; `lift` is the precision over the share of the class."""
        return [
            {
                "premise": line.premise,
                "class": line.value,
                "points": line.points,
                "undetermined": line.undetermined,
                "support": line.support,
                "precision": line.precision,
                "lift": self._lift(line),
            }
            for line in self.lines
        ]

    def _lift(self, line: CardLine) -> float | None:
        share = self.shares.get(line.value, 0.0)
        return line.precision / share if line.precision is not None and share > 0.0 else None

    def table(self) -> Any:
        """Return `records` as a pandas DataFrame."""
        return data_frame(self.records())

    def __getstate__(self) -> dict[str, Any]:
        return state_without_cache(self)

    # --- as plain data -------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the card as an object of JSON."""
        return {
            "version": VERSION,
            "attributes": [attribute_content(a) for a in (*self.columns, self.output)],
            "levels": list(self.levels),
            "start": [*self.start.values()],
            "shares": [*self.shares.values()],
            "lines": [
                {
                    "name": line.attribute,
                    "if": [[p.attribute.name, positions(p.mask)] for p in line.conditions],
                    "class": self.output.position(line.value),
                    **{key: getattr(line, key) for key in NUMBERS},
                    **({"text": line.condition_text} if line.condition_text else {}),
                }
                for line in self.lines
            ],
            "user_rules": [rule_content(rule) for rule in self.user_rules],
        }

    @classmethod
    def from_dict(cls, content: Any) -> "ScoreCard":
        """Return the card that an object of JSON holds, or raise `DataError`."""
        if not isinstance(content, Mapping) or content.get("version") != VERSION:
            version = content.get("version") if isinstance(content, Mapping) else None
            raise DataError(
                f"a score card of version {version!r:.40}; this pinesy reads version {VERSION}"
            )
        reader = RulesContent({**content, "rule_sets": []})
        *columns, output = reader.read_attributes()
        classes = output.domain
        start = [check_integer(n, "start", error=DataError) for n in content["start"]]
        shares = [_number(share, "shares") for share in content["shares"]]
        levels = tuple(_number(level, "levels") for level in content["levels"])
        if len(start) != len(classes) or len(shares) not in (0, len(classes)) or len(levels) < 2:
            raise DataError(f"a score card of {len(classes)} classes has as many starts and shares")
        return cls(
            tuple(_line(reader, entry, classes) for entry in content["lines"]),
            dict(zip(classes, start, strict=True)),
            output,
            levels,
            tuple(columns),
            tuple(map(reader.read_rule, content["user_rules"])),
            dict(zip(classes, shares, strict=False)),
        )


#: The numbers of a line, as they are written.
NUMBERS = ("points", "undetermined", "support", "precision", "weight")


def _line(reader: RulesContent, entry: Mapping[str, Any], classes: Sequence[Hashable]) -> CardLine:
    points, undetermined = (
        check_integer(entry[key], key, error=DataError) for key in ("points", "undetermined")
    )
    support, precision = (
        None if entry[key] is None else _number(entry[key], key) for key in ("support", "precision")
    )
    return CardLine(
        str(entry["name"]),
        classes[check_integer(entry["class"], "class", error=DataError)],
        points,
        tuple(map(reader.read_proposition, entry["if"])),
        undetermined,
        support,
        precision,
        _number(entry["weight"], "weight"),
        str(entry["text"]) if "text" in entry else None,
    )


def _number(number: object, name: str) -> float:
    if type(number) not in (int, float) or not isfinite(number):  # type: ignore[arg-type]
        raise DataError(f"{name} of a score card has {number!r:.40}, which is no number")
    return number  # type: ignore[return-value]


def checked_blocks(rows: Rows) -> Iterator[FloatArray]:
    """Yield the degrees of some rows at a time, checked."""
    slices = column_slices(rows.attributes).values()
    for first in range(0, max(rows.n, 1), BLOCK):
        degrees = rows.block(first, min(first + BLOCK, rows.n))
        good = ((degrees >= 0.0) & (degrees <= 1.0)).all(axis=1)
        for part in slices:
            good &= degrees[:, part].max(axis=1) == 1.0
        if not good.all():
            rows.refuse(first + int(np.argmin(good)))
        yield degrees


def premise_measures(
    premises: Sequence[Sequence[Proposition]],
    attributes: tuple[Attribute, ...],
    degrees: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return ``min_j Pi(p_j)`` and ``max_j Pi(not p_j)`` of conjunctions, in each row.

    Both of shape ``(n_premises, n_rows)``. Costs two looks in a table for each distinct condition
    and row; of an attribute with graded degrees two maxima of its columns.
    """
    distinct = dict.fromkeys(p for premise in premises for p in premise)
    measures = dict(zip(distinct, _measures(distinct, attributes, degrees), strict=True))
    possible = np.ones((len(premises), len(degrees)))
    negated = np.zeros_like(possible)
    for i, premise in enumerate(premises):
        for proposition in premise:
            yes, no = measures[proposition]
            np.minimum(possible[i], yes, out=possible[i])
            np.maximum(negated[i], no, out=negated[i])
    return possible, negated


def _measures(
    propositions: Mapping[Proposition, None], attributes: tuple[Attribute, ...], degrees: FloatArray
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield ``Pi(a in A)`` and ``Pi(a not in A)`` in each row."""
    slices = column_slices(attributes)
    names = {p.attribute.name for p in propositions}
    columns = {name: np.ascontiguousarray(degrees[:, slices[name]].T) for name in names}
    codes = {name: _value_codes(rows) for name, rows in columns.items()}
    for proposition in propositions:
        name = proposition.attribute.name
        rows, code = columns[name], codes[name]
        inside = mask_table(len(rows), [proposition.mask])[:, 0]
        if code is None:
            yield rows[inside].max(axis=0, initial=0.0), rows[~inside].max(axis=0, initial=0.0)
        else:
            yes, no = (np.append(side, side.any()).astype(np.float64) for side in (inside, ~inside))
            yield yes[code], no[code]


def _value_codes(rows: FloatArray) -> Indices | None:
    """Return the index of the value of each sample, the number of values where it is unknown.

    None where some sample has another distribution. Parameters: degrees ``(n_values, n_samples)``.
    """
    is_one = rows == 1.0
    count = is_one.sum(axis=0)
    if not ((is_one | (rows == 0.0)).all() and ((count == 1) | (count == len(rows))).all()):
        return None
    return np.asarray(np.where(count == 1, is_one.argmax(axis=0), len(rows)))


def interpolate_levels(levels: FloatArray, lead: FloatArray) -> FloatArray:
    """Return the possibility that a lead leaves: ``levels[lead]``, between whole leads on the line.

    Examples
    --------
    >>> interpolate_levels(np.array([1.0, 0.5, 0.25]), np.array([0.0, 1.0, 1.5, 9.0])).tolist()
    [1.0, 0.5, 0.375, 0.25]
    """
    last = len(levels) - 1
    lead = np.minimum(lead, last)
    below = np.floor(lead).astype(np.intp)
    above = levels[np.minimum(below + 1, last)]
    return np.asarray(levels[below] + (above - levels[below]) * (lead - below))
