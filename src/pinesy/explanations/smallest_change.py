"""The smallest change of the inputs by which another value would win.

The propositions of the rules divide the domain of an input into cells (docs/changes.md). Values of
one cell have the same effect, so one of them stands for all: of a numeric input the nearest.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import inf, isfinite, nextafter
from typing import Any, Literal, get_args

import numpy as np

from pinesy._common.console import progress
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
from pinesy.evidence.evidence_form import Evidence
from pinesy.evidence.plain_values import is_missing
from pinesy.exceptions import (
    CascadeError,
    DataError,
    DegreeError,
    UnknownAttributeError,
    UnreachableError,
)
from pinesy.explanations.change_search import (
    Alternatives,
    FewestSearch,
    ReadingSearch,
    SearchEffort,
)
from pinesy.explanations.decision import Decision, first_few
from pinesy.explanations.json_form import plain_value
from pinesy.explanations.labels import given_text, number_text, number_texts
from pinesy.explanations.restraints import restraints_on, rule_text
from pinesy.explanations.sample import infer_row
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.cut_texts import bound_number, bounds_of, bounds_text
from pinesy.rules.numbers import Scale, as_floats, is_number
from pinesy.rules.partition import Partition
from pinesy.rules.possibility import Possibility
from pinesy.rules.propositions import Premise
from pinesy.rules.syntax.writer import equation_text, format_name, show_value
from pinesy.samples import degrees_by_name
from pinesy.transforms import antipignistic_inverse

#: What a change is, and which is the smallest; see `smallest_change`.
Mode = Literal["smallest", "fewest", "values"]
#: What the size of a change of readings counts.
Measure = Literal["possibility", "probability"]

CLEARANCE = 0.1
#: The rows that may be inferred by default.
EFFORT: dict[Mode, int] = {"smallest": 200_000, "fewest": 1_000_000, "values": 1_000_000}
#: The instructions that these may take, of all rows: of a large program there are fewer rows.
INSTRUCTIONS = 10**9


@dataclass(frozen=True, eq=False, repr=False)
class Change:
    """A change of input distributions by which a value becomes the only winner.

    If any change does, the value is fully possible after it, and no rules contradict each other.

    Attributes
    ----------
    attribute, value : the output and the value that wins after the change
    winners : the values that won before
    readings : for each changed input, the value that it is read as, or has instead
    old, new : the distributions of all inputs that the output depends on, before and after
    size : the largest change of any degree (or probability, as `measure` says); of a `ValueChange`
        the sum of the distances
    measure : ``"possibility"``, ``"probability"`` or, of a `ValueChange`, ``"distance"``
    mode : ``"smallest"``, ``"fewest"`` or ``"values"``
    exact : whether no smaller change of this kind makes the value win; where it is False the
        search was given up before that was known
    result : what is inferred of the output after the change
    """

    attribute: Attribute
    value: Hashable
    winners: tuple[Hashable, ...]
    readings: dict[str, Hashable]
    old: dict[str, Possibility]
    new: dict[str, Possibility]
    size: float
    measure: Measure | Literal["distance"]
    mode: Mode
    exact: bool
    result: Possibility

    @property
    def decides(self) -> bool:
        """Whether the value is decided on after the change, without a contradiction.

        If not, no such change was found: none exists where `exact` is True.
        """
        return bool(self.result.normalised)

    @cached_property
    def probabilities(self) -> dict[str, tuple[FloatArray, FloatArray]]:
        """For each changed input its probabilities before and after.

        The inverse of the antipignistic transformation: the output that the network would need.
        """
        pairs = {name: (self.old[name], self.new[name]) for name in self.readings}
        return {
            name: (antipignistic_inverse(old.degrees), antipignistic_inverse(new.degrees))
            for name, (old, new) in pairs.items()
        }

    @property
    def probability_size(self) -> float:
        """The largest change of any probability (see `probabilities`)."""
        pairs = self.probabilities.values()
        return max((float(np.abs(new - old).max()) for old, new in pairs), default=0.0)

    def __str__(self) -> str:
        parts = [self._part(name) for name in self.readings]
        wins = f"{format_name(self.attribute.name)} would be {show_value(self.value)}"
        return f"if {' and '.join(parts)}, {wins}{self._reserve()}"

    def _reserve(self) -> str:
        """Return what the reader must not take for granted, in brackets."""
        smaller = "a smaller change" if self.mode == "smallest" else "a change of fewer inputs"
        notes = [] if self.exact else [f"there may be {smaller}"]
        if not self.decides:
            by = number_text(float(self.result.contradiction))
            none = "no change decides" if self.exact else "no change was found that decides"
            notes.insert(0, f"though the rules contradict each other then, by {by}; {none}")
        return f" ({'; '.join(notes)})" if notes else ""

    def _part(self, name: str) -> str:
        value, old, new = self.readings[name], self.old[name].to_dict(), self.new[name].to_dict()
        highest = max(old.values())
        others = [show_value(v) for v, d in old.items() if d == highest and v != value]
        rather = f" rather than {' or '.join(first_few(others, 'values'))}" if others else ""
        # How the value rises; where it was at 1 already, how the others fall.
        changes = [_arrow(old[value], new[value])]
        if old[value] == 1.0:
            fallen = sorted((u for u in old if new[u] < old[u]), key=lambda u: -old[u])
            changes = [f"of {show_value(u)}: {_arrow(old[u], new[u])}" for u in fallen]
        degrees = f"possibility {', '.join(first_few(changes, 'values'))}"
        return f"{format_name(name)} were read as {show_value(value)}{rather} ({degrees})"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data: ``old`` and ``new`` have the degrees of changed inputs."""
        return {
            "mode": self.mode,
            "readings": {n: plain_value(v) for n, v in self.readings.items()},
            "size": self.size,
            "exact": self.exact,
            "old": {n: degrees_by_name(self.old[n]) for n in self.readings},
            "new": {n: degrees_by_name(self.new[n]) for n in self.readings},
            "text": str(self),
        }

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size {number_text(self.size)}: {self})"

    def _repr_html_(self) -> str:
        from pinesy.display.explanation_picture import change_html

        return change_html(self)


def _arrow(old: float, new: float) -> str:
    return " -> ".join(number_texts(old, new))


@dataclass(frozen=True, eq=False)
class Replacement:
    """Values that an input may have instead of the one it has; the rules do not tell them apart.

    Attributes
    ----------
    attribute : the input
    now : its evidence: a plain value, None or NaN (unknown), or a distribution
    value : one of the values, the nearest of a numeric input; evidence as it is
    values : all of them; of a numeric input the intervals that they lie in
    bounds : of a numeric input the numbers, such as ``{"at least": 100.0, "below": 126.0}``; else
        empty
    distance : of a numeric input the distance in its units, as a share of the range that its cuts
        and the number now span; else 1, as where nothing is known now
    crossed : the number of cuts between; 1 where there is no such distance
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
        now = None if no_value else float(as_floats([self.now])[0]) if is_other else self.now
        bounds = {key.replace(" ", "_"): number for key, number in self.bounds.items()}
        return {
            "now": plain_value(now),
            "values": [plain_value(value) for value in self.values],
            **bounds,
            "distance": self.distance,
            "text": str(self),
        }


@dataclass(frozen=True, eq=False, repr=False)
class ValueChange(Change):
    """A change of the values of inputs by which a value of the output becomes the only winner.

    Attributes
    ----------
    replacements : for each changed input, what it was and what it has to be
    """

    replacements: dict[str, Replacement]

    @property
    def values(self) -> dict[str, Any]:
        """For each changed input a value that will do, the nearest number: evidence as it is."""
        return {name: change.value for name, change in self.replacements.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, with what each input is ``now`` and has to be as ``inputs``."""
        return super().to_dict() | {
            "inputs": {n: r.to_dict() for n, r in self.replacements.items()}
        }

    def _part(self, name: str) -> str:
        return str(self.replacements[name])


def smallest_change(
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
) -> Change:
    """Return the smallest change of the inputs that makes a value the only winner.

    The only winner is the only value of highest possibility. What a change is:

    ``"smallest"``
        some inputs are *read* as a value. An input read as `v` has ``pi'(v) = 1`` and
        ``pi'(u) = min(pi(u), 1 - clearance)`` for all others. The size of a change is the largest
        ``|pi'(u) - pi(u)|`` of any input; one of least size is returned.
    ``"fewest"``
        the same kind; one of the fewest inputs is returned and, of these, of least size.
    ``"values"``
        some inputs have other values, in the units of the data: numbers, or values of the domain.
        One of the fewest inputs and, of these, with the least sum of distances is returned, as a
        `ValueChange`. The distance of numbers is that to the nearest that will do as a share of
        the range that the cuts and the number now span, of other values 1; between equal sums the
        number of cuts crossed decides.

    All other inputs stay as they are, and no input is changed without need: any one changed back,
    the value does not win.

    A change after which the value is fully possible, and no rules contradict each other, is
    preferred to any other. If there is none, the value is only the most possible one after the
    change: `Change.decides` is False, and the text says so.

    Parameters
    ----------
    rules : Cascade or RuleSet
    evidence : one sample, as `Cascade.infer` takes it
    value : the value that should win
    output : the attribute it belongs to, by default the only output of the cascade
    mode : by default ``"values"`` where every input is given as a plain value (or None) and neither
        `clearance` nor `measure` is, else ``"smallest"``
    change : the inputs that may change, by default all
    keep : the inputs that may not; give this or `change`
    clearance : of readings, above 0, at most 1: how clearly a changed input is read; 0.1 by default
    measure : of readings, ``"probability"`` to let the size be the largest change of any
        probability, under the inverse of the antipignistic transformation: the output that a
        network would need
    effort : the rows that may be inferred in all before the search is given up; then the change,
        if one was found, is not `exact`. By default 200,000 or, where the fewest inputs are
        searched, 1,000,000; of large rule bases fewer, so that ``rows * instructions`` of the
        program stay below 10^9 (some seconds). Changes of more than three inputs are known to be
        of the fewest if their combinations are at most a twentieth of it. If the search is
        interrupted, the best change so far is returned

    Raises
    ------
    DomainError : the value is not in the domain, or wins already
    UnreachableError : no change of this kind makes it win (the message says why, and whether
        that is known for this clearance only), or none was found within `effort`

    Examples
    --------
    >>> from pinesy import antipignistic, parse
    >>> from pinesy.problems import addition
    >>> sees = {"a_1": antipignistic({3: 0.8, 8: 0.2}), "a_2": antipignistic({4: 0.9, 9: 0.1})}
    >>> print(smallest_change(addition(1), sees, 2, "y_1"))
    if a_1 were read as 8 rather than 3 (possibility 0.4 -> 1), y_1 would be 2
    >>> rules = parse("number glucose attribute risk in {low, high} "
    ...     "if glucose < 126 then risk in {low} if glucose >= 126 then risk in {high}")
    >>> print(smallest_change(rules, {"glucose": 140}, "low"))
    if glucose were below 126 (now 140), risk would be low
    """
    decision = Decision.of(rules, evidence, output)
    index = decision.loser(value)
    request = change_request(decision, mode, change, keep, clearance, measure, effort)
    return change_to(decision, index, request)


@dataclass(frozen=True)
class ChangeRequest:
    """The kind of change of a decision that is searched; see `smallest_change`.

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


def change_request(
    decision: Decision,
    mode: Mode | None,
    change: Sequence[str | Attribute] | None,
    keep: Sequence[str | Attribute] | None,
    clearance: float | None,
    measure: Measure | None,
    effort: int | None,
) -> ChangeRequest:
    """Check the arguments of `smallest_change`, and put the defaults in."""
    of_readings = {"clearance": clearance, "measure": measure}
    arguments = [name for name, content in of_readings.items() if content is not None]
    if mode is None:
        is_plain = len(decision.plain_values) == len(decision.program.inputs)
        mode = "values" if is_plain and not arguments else "smallest"
    elif not is_word(mode, get_args(Mode)):
        raise DataError(f"mode is {mode!r:.60}; choose {listed(get_args(Mode))}")
    elif mode == "values" and arguments:
        raise DataError(f"{arguments[0]} is of readings; leave it out where mode is 'values'")
    free = _free_inputs(decision, change, keep)
    clear = check_degree(CLEARANCE if clearance is None else clearance, "clearance")
    if clear == 0.0:
        raise DegreeError("clearance is 0; an input is read as a value only if it is above 0")
    if measure is not None and not is_word(measure, get_args(Measure)):
        raise DataError(f"measure is {measure!r:.60}; choose 'possibility' or 'probability'")
    rows = min(EFFORT[mode], INSTRUCTIONS // (1 + len(decision.program.code.ops)))
    if effort is not None:
        rows = check_integer(effort, "effort", least=1, error=DataError)
    return ChangeRequest(mode, tuple(free), clear, measure or "possibility", rows)


def _free_inputs(
    decision: Decision,
    change: Iterable[str | Attribute] | None,
    keep: Iterable[str | Attribute] | None,
) -> list[str]:
    """Return the names of the inputs that may change."""
    if change is not None and keep is not None:
        raise DataError("change and keep are both given; name the inputs that may change, or those "
                        "that stay")  # fmt: skip
    inputs, known = [a.name for a in decision.program.inputs], decision.plan.known
    names = {"change": set[Hashable](inputs), "keep": set[Hashable]()}
    for argument, attributes in (("change", change), ("keep", keep)):
        if attributes is None:
            continue
        if isinstance(attributes, str | Attribute) or not is_iterable(attributes):
            raise DataError(f"{argument} is {attributes!r:.60}; give a list of inputs")
        names[argument] = {name_of(attribute) for attribute in attributes}
        for name in sorted(names[argument].difference(known), key=str):
            if name in decision.plan.cascade.sets:
                raise CascadeError(f"{argument}: rules conclude on {name!r}; name inputs")
            raise UnknownAttributeError(
                f"{argument}: there is no input {name!r}{suggestion(name, known)}"
            )
    free = [name for name in inputs if name in names["change"] - names["keep"]]
    if not free:
        raise DataError(
            f"no input is left that may change; {decision.output.name!r} depends on "
            f"{listed(inputs)}"
        )
    return free


def change_to(decision: Decision, index: int, request: ChangeRequest) -> Change:
    """Return the smallest change that makes the value at an index the only winner."""
    inputs = tuple(_alternatives(decision, request, a) for a in decision.program.inputs)

    def search(decides: bool) -> ReadingSearch | FewestSearch:
        if request.mode == "smallest":
            return ReadingSearch(decision, index, inputs, effort, decides=decides)
        total: Literal["sum", "max"] = "sum" if request.mode == "values" else "max"
        return FewestSearch(decision, index, inputs, effort, total, decides=decides)

    with progress("searching the smallest change", request.rows) as bar:
        # Where rules may contradict each other, half is left for a change that does not decide.
        reserve = 0 if decision.always_normalised else request.rows // 2
        effort = SearchEffort(request.rows - reserve, bar)
        choice, exact = search(decides=True).run()
        if choice is None and not decision.always_normalised:
            effort = SearchEffort(effort.left + reserve, bar)
            choice, complete = search(decides=False).run()
            exact = exact and complete
    if choice is None:
        raise _unreachable(decision, index, request, exact)
    return _change(
        decision, index, request, [(inputs[i], choice[i]) for i in sorted(choice)], exact
    )


def _change(
    decision: Decision,
    index: int,
    request: ChangeRequest,
    choice: list[tuple[Alternatives, int]],
    exact: bool,
) -> Change:
    """Return the chosen options of some inputs as a change."""
    by_value = request.mode == "values"
    values = {options.attribute.name: options.values[k] for options, k in choice}
    costs = [float(options.costs[k]) for options, k in choice]
    row, old = decision.row.copy(), decision.distributions()
    new = dict(old)
    for options, k in choice:
        row[options.columns] = options.degrees[k]
        new[options.attribute.name] = Possibility(options.attribute, options.degrees[k])
    change = Change(
        decision.output,
        decision.output.domain[index],
        decision.winners,
        {name: new[name].best_values[0] for name in values} if by_value else values,
        old,
        new,
        sum(costs) if by_value else max(costs),
        "distance" if by_value else request.measure,
        request.mode,
        exact,
        infer_row(decision.program, row, decision.output),
    )
    return ValueChange(**vars(change), replacements=values) if by_value else change


# --- the options of an input ---


def _alternatives(decision: Decision, request: ChangeRequest, attribute: Attribute) -> Alternatives:
    """Return the options of an input of a decision, the cheapest first."""
    columns = decision.plan.slices[attribute.name]
    degrees = decision.row[columns]
    # A distribution, the value or replacement, its cost, and what decides between equal costs.
    options: list[tuple[FloatArray, Any, float, float]] = [(degrees, None, 0.0, 0.0)]
    if attribute.name in request.free and request.mode == "values":
        options += [
            (changed, replacement, replacement.distance, replacement.crossed)
            for replacement, changed in _replacements(decision, attribute)
        ]
    elif attribute.name in request.free:
        options += sorted(_readings(request, attribute, degrees), key=lambda option: option[2])
    distributions, values, costs, ties = zip(*options, strict=True)
    return Alternatives(
        attribute, columns, np.array(distributions), values, np.array(costs), np.array(ties)
    )


def _readings(
    request: ChangeRequest, attribute: Attribute, degrees: FloatArray
) -> Iterator[tuple[FloatArray, Hashable, float, float]]:
    """Yield the readings of an input with their costs, none that changes nothing."""
    for index, value in enumerate(attribute.domain):
        changed = np.minimum(degrees, 1.0 - request.clearance)
        changed[index] = 1.0
        if not np.array_equal(changed, degrees):
            old, new = degrees, changed
            if request.measure == "probability":
                old, new = antipignistic_inverse(old), antipignistic_inverse(new)
            cost = float(np.abs(new - old).max())
            yield changed, value, cost, cost


def _replacements(
    decision: Decision, attribute: Attribute
) -> Iterator[tuple[Replacement, FloatArray]]:
    """Yield the replacements of an input with their distributions, none without effect.

    Of those with one effect the nearest. ``O(|D| n)`` for `n` propositions on the input.
    """
    cells = decision.plan.cells[attribute.name]
    degrees = decision.row[decision.plan.slices[attribute.name]]
    now = decision.plain_values.get(attribute.name, Possibility(attribute, degrees.copy()))
    if attribute.scale is None:
        replacements = _categories(attribute, now, cells)
    else:
        replacements = _numbers(attribute, attribute.scale, now, cells)
    effects = {cells.possibilities(degrees).tobytes()}
    for replacement in sorted(replacements, key=lambda r: (r.distance, r.crossed)):
        if attribute.scale is not None:
            changed = np.asarray(attribute.scale.degrees(np.array([replacement.value]))[0])
        else:
            changed = np.zeros(len(attribute.domain))
            changed[attribute.position(replacement.value)] = 1.0
        effect = cells.possibilities(changed).tobytes()
        if effect not in effects:
            effects.add(effect)
            yield replacement, changed


def _categories(attribute: Attribute, now: Any, cells: Partition) -> Iterator[Replacement]:
    """Yield one replacement for each cell of an input that is not numeric, in domain order."""
    for cell in dict.fromkeys(cells.cell_of.tolist()):
        values = tuple(attribute.domain[i] for i in np.flatnonzero(cells.cell_of == cell))
        yield Replacement(attribute, now, values[0], values, {}, 1.0, 1)


def _numbers(
    attribute: Attribute, scale: Scale, now: Any, cells: Partition
) -> Iterator[Replacement]:
    """Yield one replacement for each run of neighbouring intervals in one cell."""
    current = _CurrentNumber.of(attribute, scale, now)
    starts = np.flatnonzero(np.diff(cells.cell_of, prepend=-1)).tolist()
    for first, after in pairwise([*starts, len(cells.cell_of)]):
        low, high = scale.certain_numbers(first, after - 1)
        yield Replacement(
            attribute,
            now,
            current.nearest(low, high),
            attribute.domain[first:after],
            bounds_of(low, high),
            current.distance(low, high, scale),
            current.crossed(first, after - 1),
        )


@dataclass(frozen=True)
class _CurrentNumber:
    """The number that an input is now.

    Attributes
    ----------
    low, high : the numbers that it may be: both the same, or the ends of an interval
    interval : the index of the interval; None if nothing is known, or a distribution
    """

    low: float
    high: float
    interval: int | None

    @classmethod
    def of(cls, attribute: Attribute, scale: Scale, now: Any) -> "_CurrentNumber":
        if not isinstance(now, Possibility) and now in attribute:
            interval = attribute.position(now)
            low, high = [-inf, *scale.cuts, inf][interval : interval + 2]
            return cls(bound_number(low), bound_number(high), interval)
        if isinstance(now, Possibility) or not is_number(now) or is_missing(now):
            return cls(-inf, inf, None)
        number = float(as_floats([now])[0])
        return cls(number, number, int(scale.positions(np.array([number]))[0]))

    def nearest(self, low: float, high: float) -> float:
        """Return the nearest number of those from `low` to below `high`."""
        last = nextafter(high, -inf)
        if self.interval is None:
            return low if isfinite(low) else last if isfinite(high) else 0.0
        return low if self.high <= low else last if self.low >= last else max(self.low, low)

    def distance(self, low: float, high: float, scale: Scale) -> float:
        """Return the distance to these numbers, as a share of the range of cuts and number."""
        if self.interval is None:
            return 1.0
        if low <= self.high and self.low <= high:
            return 0.0
        gap = max(bound_number(low) - self.high, self.low - bound_number(high))
        known = (self.low, self.high, *map(bound_number, scale.cuts))
        span = [number for number in known if isfinite(number)]
        spread = max(span) - min(span)
        return min(1.0, gap / spread) if spread > 0.0 else 1.0

    def crossed(self, first: int, last: int) -> int:
        """Return the number of cuts between the number and some intervals."""
        return 1 if self.interval is None else max(first - self.interval, self.interval - last, 0)


# --- why there is no change ---


def _unreachable(
    decision: Decision, index: int, request: ChangeRequest, proven: bool
) -> UnreachableError:
    """Return the error that explains why no change makes a value win, or that none was found."""
    statement = equation_text(decision.output.name, decision.output.domain[index])
    changes = "values" if request.mode == "values" else "readings"
    if len(request.free) < len(decision.program.inputs):
        changes += f" of {' and '.join(first_few(request.free, 'inputs'))}"
    if proven:
        why = _obstacle(decision, index, request)
        return UnreachableError(f"no {changes} make {statement} the only winner: {why}")
    return UnreachableError(
        f"no {changes} were found that make {statement} the only winner within "
        f"effort={request.rows}; raise it",
        proven=False,
    )


def _obstacle(decision: Decision, index: int, request: ChangeRequest) -> str:
    """Return why no readings of a clearance, or no values, make a value the only winner.

    Where another value is always as possible, no inputs at all do. Nor do they where the rules are
    coherent, for then only degrees of 1 count, and these no clearance changes. Else it is known of
    this clearance only, and the text says so. Inputs that are not free stay as they are.
    """
    rival = _always_as_possible(decision, index)
    if rival:
        return rival
    ignorant = Decision(decision.plan, np.ones_like(decision.row), decision.program, {})
    restraints, _ = restraints_on(ignorant, index)
    texts = [str(r) for r in restraints if r.attribute == decision.output]
    limit = f"even if every value of every input were possible, {texts[0]}" if texts else ""
    by_value = request.mode == "values"
    left = 1.0 if by_value else 1.0 - request.clearance
    is_proof = decision.coherent and left < 1.0
    if is_proof and limit:
        return limit
    bound = "another value is at least as possible"
    if len(request.free) < len(decision.program.inputs):
        bound += "; other inputs may not change"
    if by_value:
        bound = f"whatever values these inputs have, {bound}"
    elif is_proof:
        bound = f"whatever the inputs are read as, {bound}"
    else:
        bound = (
            f"where the other values of an input that is read anew are left at up to "
            f"{number_text(left)}, {bound}; other clearances were not tried"
        )
    return f"{bound} ({limit})" if limit else bound


def _always_as_possible(decision: Decision, index: int) -> str:
    """Name a value that is as possible whatever the inputs are, and the rules where they differ.

    A rule bounds a value by ``max(z, d)``, with ``(z, d) = (s, lambda)`` inside its conclusion and
    ``(r, rho)`` outside. A value is seen to be as possible, by the rules one by one, if each of its
    bounds is 1 or no lower than one of the other value: the same `d`, and no lower `z`.
    """
    rule_set = decision.plan.rule_sets[decision.output.name]
    inside, rules = decision.plan.tables[decision.output.name].inside, rule_set.rules
    parameters = np.where(inside, rule_set.s, rule_set.r)
    premises: dict[Premise, int] = {}
    numbers = [premises.setdefault(rule.premise, len(premises)) for rule in rules]
    sides = inside.astype(np.intp)
    least = np.ones((len(premises), 2))  # of each premise and side, the lowest `z` of the value
    np.minimum.at(least, (numbers, sides[index]), parameters[index])
    as_possible = (parameters >= least[numbers, sides]).all(axis=1)
    rivals = [other for other in np.flatnonzero(as_possible).tolist() if other != index]
    if not rivals:
        return ""
    excludes = np.minimum(rule_set.s, rule_set.r) < 1.0
    differs = excludes & (inside != inside[index])
    nearest = min(rivals, key=lambda other: int(differs[other].sum()))
    rival = show_value(decision.output.domain[nearest])
    if not differs[nearest].any():
        return f"no rule tells it from {rival}, which is always as possible"
    texts = [f"rule {j + 1} ({rule_text(rules[j])})" for j in np.flatnonzero(differs[nearest])]
    return (
        f"{rival} is always as possible; where a rule tells them apart, it does not hold {rival} "
        f"lower: {' and '.join(first_few(texts, 'rules'))}"
    )
