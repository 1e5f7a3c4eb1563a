"""What may become of inputs: they are read as another value, or have another one.

The propositions of the rules divide the domain of an input into cells (docs/changes.md). Values of
one cell have the same effect, so one of them stands for all: of a numeric input the nearest.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, isfinite, nextafter
from typing import Any, Literal, get_args

import numpy as np

from pinesy._common.names import name_of
from pinesy._common.validation import (
    FloatArray,
    check_degree,
    check_integer,
    is_iterable,
    is_word,
    listed,
    suggestion,
)
from pinesy.evidence.plain_values import is_missing
from pinesy.exceptions import CascadeError, DataError, DegreeError, UnknownAttributeError
from pinesy.explanations.change_search import Alternatives
from pinesy.explanations.decision import Decision, first_few
from pinesy.explanations.json_form import plain_value
from pinesy.explanations.labels import given_text
from pinesy.rules.attributes import Attribute
from pinesy.rules.cut_texts import bounds_of, bounds_text, limit_number
from pinesy.rules.numbers import Scale, as_floats, is_number
from pinesy.rules.partition import Partition
from pinesy.rules.possibility import Possibility
from pinesy.rules.syntax.writer import format_name, show_value
from pinesy.transforms import antipignistic_inverse

#: What a change is, and which is the smallest; see `smallest_change`.
Mode = Literal["smallest", "fewest", "values"]
#: What the size of a change of readings counts.
Measure = Literal["possibility", "probability"]

CLEARANCE = 0.1
#: The rows that may be inferred, unless the user says how many.
EFFORT: dict[Mode, int] = {"smallest": 200_000, "fewest": 1_000_000, "values": 1_000_000}
#: The instructions that these may take, of all rows: of a large program there are fewer rows.
INSTRUCTIONS = 10**9


@dataclass(frozen=True)
class ChangeRequest:
    """What kind of change of a decision is asked for; see `smallest_change`.

    Attributes
    ----------
    mode : the mode
    free : the names of the inputs that may change
    clearance : of readings
    measure : of readings, what their size counts
    rows : how many may be inferred
    """

    mode: Mode
    free: tuple[str, ...]
    clearance: float
    measure: Measure
    rows: int

    @classmethod
    def of(
        cls,
        decision: Decision,
        mode: Mode | None,
        change: Sequence[str | Attribute] | None,
        keep: Sequence[str | Attribute] | None,
        clearance: float | None,
        measure: Measure | None,
        effort: int | None,
    ) -> "ChangeRequest":
        """Check what a user asks for, and put what is usual where nothing is said."""
        of_readings = {"clearance": clearance, "measure": measure}
        said = [name for name, content in of_readings.items() if content is not None]
        if mode is None:
            is_plain = len(decision.given) == len(decision.program.inputs)
            mode = "values" if is_plain and not said else "smallest"
        elif not is_word(mode, get_args(Mode)):
            raise DataError(f"mode is {mode!r:.60}; choose {listed(get_args(Mode))}")
        elif mode == "values" and said:
            raise DataError(f"{said[0]} is of readings; leave it out where mode is 'values'")
        free = _free_inputs(decision, change, keep)
        clear = check_degree(CLEARANCE if clearance is None else clearance, "clearance")
        if clear == 0.0:
            raise DegreeError("clearance is 0; an input is read as a value only if it is above 0")
        if measure is not None and not is_word(measure, get_args(Measure)):
            raise DataError(f"measure is {measure!r:.60}; choose 'possibility' or 'probability'")
        rows = min(EFFORT[mode], INSTRUCTIONS // (1 + len(decision.program.code.ops)))
        if effort is not None:
            rows = check_integer(effort, "effort", least=1, error=DataError)
        return cls(mode, tuple(free), clear, measure or "possibility", rows)

    def alternatives(self, decision: Decision) -> tuple[Alternatives, ...]:
        """Return what may become of each input of a decision; the cheapest ways first."""
        return tuple(self._alternatives(decision, a) for a in decision.program.inputs)

    def _alternatives(self, decision: Decision, attribute: Attribute) -> Alternatives:
        columns = decision.plan.slices[attribute.name]
        # A distribution, what it is called, its cost, and what decides between equal costs.
        ways: list[tuple[FloatArray, Any, float, float]] = [(decision.row[columns], None, 0.0, 0.0)]
        if attribute.name in self.free and self.mode == "values":
            pairs = replacements_of(decision, attribute)
            ways += [(degrees, one, one.distance, one.crossed) for one, degrees in pairs]
        elif attribute.name in self.free:
            found = [(*way, way[-1]) for way in self._readings(attribute, decision.row[columns])]
            ways += sorted(found, key=lambda way: way[2])
        degrees, values, costs, ties = zip(*ways, strict=True)
        return Alternatives(
            attribute, columns, np.array(degrees), values, np.array(costs), np.array(ties)
        )

    def _readings(
        self, attribute: Attribute, degrees: FloatArray
    ) -> Iterator[tuple[FloatArray, Hashable, float]]:
        """Yield the readings of an input with their costs, none that changes nothing."""
        for place, value in enumerate(attribute.domain):
            changed = np.minimum(degrees, 1.0 - self.clearance)
            changed[place] = 1.0
            if not np.array_equal(changed, degrees):
                old, new = degrees, changed
                if self.measure == "probability":
                    old, new = antipignistic_inverse(old), antipignistic_inverse(new)
                yield changed, value, float(np.abs(new - old).max())


def _free_inputs(
    decision: Decision,
    change: Iterable[str | Attribute] | None,
    keep: Iterable[str | Attribute] | None,
) -> list[str]:
    """Return the names of the inputs that may change."""
    if change is not None and keep is not None:
        raise DataError("change and keep are both given; name the inputs that may change, or those "
                        "that stay")  # fmt: skip
    inputs = [a.name for a in decision.program.inputs]
    named = _checked_inputs(change, "change", decision) if change is not None else set(inputs)
    kept = _checked_inputs(keep, "keep", decision) if keep is not None else set()
    left = [name for name in inputs if name in named - kept]
    if not left:
        raise DataError(
            f"no input is left that may change; {decision.output.name!r} depends on "
            f"{listed(inputs)}"
        )
    return left


def _checked_inputs(
    named: Iterable[str | Attribute], what: str, decision: Decision
) -> set[Hashable]:
    """Return the names of inputs, or raise."""
    if isinstance(named, str | Attribute) or not is_iterable(named):
        raise DataError(f"{what} is {named!r:.60}; give a list of inputs")
    names = {name_of(one) for one in named}
    known = decision.plan.known
    for name in sorted(names.difference(known), key=str):
        if name in decision.plan.cascade.sets:
            raise CascadeError(f"{what}: rules conclude on {name!r}; name inputs")
        raise UnknownAttributeError(f"{what}: there is no input {name!r}{suggestion(name, known)}")
    return names


@dataclass(frozen=True, eq=False)
class Replacement:
    """Values that an input may have instead of the one it has; the rules do not tell them apart.

    Attributes
    ----------
    attribute : the input
    now : what was given of it: a plain value, None or NaN (unknown), or a distribution
    value : one of the values, the nearest of a numeric input; evidence as it is
    values : all of them; of a numeric input the intervals that they lie in
    bounds : of a numeric input the numbers, such as ``{"at least": 100.0, "below": 126.0}``; else
        empty
    distance : of a numeric input the way in its units, as a share of the range that its cuts and
        the number now span; else 1, as where nothing is known now
    crossed : the number of cuts on the way; 1 where there is no such way
    """

    attribute: Attribute
    now: Any
    value: Any
    values: tuple[Hashable, ...]
    bounds: dict[str, float]
    distance: float
    crossed: int

    @property
    def to(self) -> str:
        """The values in words, such as ``below 126`` or ``no``."""
        if self.bounds:
            return bounds_text(self.bounds)
        return " or ".join(first_few([show_value(v) for v in self.values], "values"))

    def __str__(self) -> str:
        is_named = self.attribute.scale is not None and self.attribute.scale.names
        names = " or ".join(show_value(v) for v in self.values) + "; " if is_named else ""
        return f"{format_name(self.attribute.name)} were {self.to} ({names}now {self._now_text()})"

    def _now_text(self) -> str:
        if isinstance(self.now, Possibility):
            degrees = self.now.to_dict()
            most = [show_value(v) for v, d in degrees.items() if d == 1.0]
            if len(most) == len(degrees):
                return "unknown"
            return f"most possible: {' or '.join(first_few(most, 'values'))}"
        return given_text(self.attribute, self.now)

    def to_dict(self) -> dict[str, Any]:
        """Return the values and bounds as plain data; ``now`` is None where no value is known."""
        no_value = isinstance(self.now, Possibility) or (
            self.now not in self.attribute and is_missing(self.now)
        )
        is_other = is_number(self.now) and not isinstance(self.now, int | float)
        now = None if no_value else _float(self.now) if is_other else self.now
        bounds = {word.replace(" ", "_"): number for word, number in self.bounds.items()}
        return {
            "now": plain_value(now),
            "values": [plain_value(value) for value in self.values],
            **bounds,
            "distance": self.distance,
            "text": str(self),
        }


def replacements_of(
    decision: Decision, attribute: Attribute
) -> Iterator[tuple[Replacement, FloatArray]]:
    """Yield what an input may be replaced by, with the distribution of each, none without effect.

    Of those with one effect the nearest. ``O(|D| n)`` for `n` propositions on the input.
    """
    cells = decision.plan.cells[attribute.name]
    degrees = decision.row[decision.plan.slices[attribute.name]]
    now = decision.given.get(attribute.name, Possibility(attribute, degrees.copy()))
    made = _categories(attribute, now, cells)
    if attribute.scale is not None:
        made = _numbers(attribute, attribute.scale, now, cells)
    seen = {cells.possibilities(degrees).tobytes()}
    for one in sorted(made, key=lambda one: (one.distance, one.crossed)):
        changed = _degrees_of(attribute, one.value)
        effect = cells.possibilities(changed).tobytes()
        if effect not in seen:
            seen.add(effect)
            yield one, changed


def _degrees_of(attribute: Attribute, value: Any) -> FloatArray:
    """Return the distribution of an input that has a value."""
    if attribute.scale is not None:
        return np.asarray(attribute.scale.degrees(np.array([value]))[0])
    degrees = np.zeros(len(attribute.domain))
    degrees[attribute.position(value)] = 1.0
    return degrees


def _categories(attribute: Attribute, now: Any, cells: Partition) -> Iterator[Replacement]:
    """Yield one replacement for each cell of an input that is not numeric, in domain order."""
    for cell in dict.fromkeys(cells.cell_of.tolist()):
        values = tuple(attribute.domain[i] for i in np.flatnonzero(cells.cell_of == cell))
        yield Replacement(attribute, now, values[0], values, {}, 1.0, 1)


def _numbers(
    attribute: Attribute, scale: Scale, now: Any, cells: Partition
) -> Iterator[Replacement]:
    """Yield one replacement for each run of neighbouring intervals in one cell."""
    place = _Place.of(attribute, scale, now)
    starts = np.flatnonzero(np.diff(cells.cell_of, prepend=-1)).tolist()
    for first, after in pairwise([*starts, len(cells.cell_of)]):
        low, high = scale.certain_numbers(first, after - 1)
        yield Replacement(
            attribute,
            now,
            place.nearest(low, high),
            attribute.domain[first:after],
            bounds_of(low, high),
            place.distance(low, high, scale),
            place.crossed(first, after - 1),
        )


@dataclass(frozen=True)
class _Place:
    """Where a numeric input is now.

    Attributes
    ----------
    low, high : the numbers that it may be: both the same, or the ends of an interval
    interval : the place of the interval; None if nothing is known, or a distribution
    """

    low: float
    high: float
    interval: int | None

    @classmethod
    def of(cls, attribute: Attribute, scale: Scale, now: Any) -> "_Place":
        if not isinstance(now, Possibility) and now in attribute:
            at = attribute.position(now)
            low, high = [-inf, *scale.cuts, inf][at : at + 2]
            return cls(limit_number(low), limit_number(high), at)
        if isinstance(now, Possibility) or not is_number(now) or is_missing(now):
            return cls(-inf, inf, None)
        number = _float(now)
        return cls(number, number, int(scale.positions(np.array([number]))[0]))

    def nearest(self, low: float, high: float) -> float:
        """Return the number nearest to where it is of those from `low` to below `high`."""
        last = nextafter(high, -inf)
        if self.interval is None:
            return low if isfinite(low) else last if isfinite(high) else 0.0
        return low if self.high <= low else last if self.low >= last else max(self.low, low)

    def distance(self, low: float, high: float, scale: Scale) -> float:
        """Return the way to these numbers, as a share of the range of cuts and number."""
        if self.interval is None:
            return 1.0
        if low <= self.high and self.low <= high:
            return 0.0
        gap = max(limit_number(low) - self.high, self.low - limit_number(high))
        known = (self.low, self.high, *map(limit_number, scale.cuts))
        span = [number for number in known if isfinite(number)]
        spread = max(span) - min(span)
        return min(1.0, gap / spread) if spread > 0.0 else 1.0

    def crossed(self, first: int, last: int) -> int:
        """Return the number of cuts between here and some intervals."""
        return 1 if self.interval is None else max(first - self.interval, self.interval - last, 0)


def _float(number: Any) -> float:
    return float(as_floats([number])[0])
