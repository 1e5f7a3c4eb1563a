"""The smallest change of the inputs that makes another value win.

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
from pinesy.explanations.labels import Wording, list_text, number_text, number_texts
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
from pinesy.rules.syntax.writer import show_value
from pinesy.samples import degrees_by_name
from pinesy.transforms import antipignistic_inverse

#: The kind of change, and what is minimal; see `smallest_change`.
Mode = Literal["smallest", "fewest", "values"]
#: Whether the size of a change of readings is in possibilities or in probabilities.
Measure = Literal["possibility", "probability"]

CLEARANCE = 0.1
#: The default maximum number of rows to infer.
EFFORT: dict[Mode, int] = {"smallest": 200_000, "fewest": 1_000_000, "values": 1_000_000}
#: The maximum number of instructions of all these rows: for a large program there are fewer.
INSTRUCTIONS = 10**9


@dataclass(frozen=True, eq=False, repr=False)
class Change:
    """A change of input distributions that makes a value the only winner.

    After it the value is fully possible and no rules contradict each other, if any change can do
    that (`decides`).

    Attributes
    ----------
    attribute, value : the output and the value that wins after the change
    winners : the values that won before
    readings : for each changed input, by name, the value that it is read as, or has instead
    old, new : the distributions of all inputs that the output depends on, before and after
    size : the largest change of any degree (or probability, see `measure`); of a `ValueChange` the
        sum of the distances
    measure : ``"possibility"``, ``"probability"`` or, of a `ValueChange`, ``"distance"``
    mode : ``"smallest"``, ``"fewest"`` or ``"values"``
    exact : whether it is proved that no smaller change of this kind makes the value win; else the
        search ended before
    result : the inferred distribution of the output after the change
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
        """For each changed input, by name, its probabilities before and after.

        By the inverse of the antipignistic transformation: the outputs that a network would need.
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
        inputs = [self._input_text(name) for name in self.readings]
        wording = Wording()
        wins = (
            f"{wording.name(self.attribute)} would be {wording.value(self.attribute, self.value)}"
        )
        smaller = "a smaller change" if self.mode == "smallest" else "a change of fewer inputs"
        notes = [] if self.exact else [f"there may be {smaller}"]
        if not self.decides:
            by = number_text(float(self.result.contradiction))
            none = "no change decides" if self.exact else "no change was found that decides"
            notes.insert(0, f"though the rules contradict each other then, by {by}; {none}")
        return f"if {' and '.join(inputs)}, {wins}" + (f" ({'; '.join(notes)})" if notes else "")

    def _input_text(self, name: str) -> str:
        """Return the change of an input in words."""
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
        called = Wording().name(self.old[name].attribute)
        return f"{called} were read as {show_value(value)}{rather} ({degrees})"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: ``old`` and ``new`` have the degrees of changed inputs."""
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
    """New values of an input, which the rules do not distinguish from each other.

    Attributes
    ----------
    attribute : the input
    now : the current evidence: a plain value, None or NaN (unknown), or a distribution
    value : one of the new values, for a numeric input the nearest number
    values : all new values; for a numeric input the intervals of the new numbers
    bounds : for a numeric input the bounds of the new numbers, such as ``{"at least": 100.0,
        "below": 126.0}``; else empty
    distance : for a known number the distance to the new numbers, divided by the range of the cuts
        and the number; else 1
    crossed : the number of cuts between the number and the new numbers; else 1
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
        """The new values in words, such as ``below 126`` or ``no``."""
        return self.words(Wording())

    def words(self, wording: Wording) -> str:
        """Return the new values in words, with labels."""
        if self.bounds:
            return wording.with_unit(self.attribute, bounds_text(self.bounds))
        texts = [wording.value(self.attribute, v) for v in self.values]
        return list_text(first_few(texts, "values"), "or")

    def __str__(self) -> str:
        is_named = self.attribute.scale is not None and self.attribute.scale.names
        names = " or ".join(show_value(v) for v in self.values) + "; " if is_named else ""
        if not isinstance(self.now, Possibility):
            now = Wording().plain_value(self.attribute, self.now)
        elif self.now.is_best.all():
            now = "unknown"
        else:
            most = [show_value(value) for value in self.now.best_values]
            now = f"most possible: {' or '.join(first_few(most, 'values'))}"
        return f"{Wording().name(self.attribute)} were {self.to} ({names}now {now})"

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
    """A change of the values of inputs that makes a value of the output the only winner.

    Attributes
    ----------
    replacements : for each changed input, by name, its current and its new values
    """

    replacements: dict[str, Replacement]

    @property
    def values(self) -> dict[str, Any]:
        """For each changed input, by name, a new value: of a numeric input the nearest number."""
        return {name: change.value for name, change in self.replacements.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with the current and the new values of inputs as ``inputs``."""
        return super().to_dict() | {
            "inputs": {n: r.to_dict() for n, r in self.replacements.items()}
        }

    def _input_text(self, name: str) -> str:
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

    The only winner is the only value of highest possibility. The mode is the kind of change:

    ``"smallest"``
        some inputs are *read* as a value. An input read as `v` has ``pi'(v) = 1`` and
        ``pi'(u) = min(pi(u), 1 - clearance)`` for all others. The size of a change is the largest
        ``|pi'(u) - pi(u)|`` of any input; a change of minimal size is returned.
    ``"fewest"``
        the same kind of change; the number of changed inputs is minimal, then the size.
    ``"values"``
        some inputs have other values, in the units of the data: numbers, or values of the domain.
        The number of changed inputs is minimal, then the sum of distances, then the number of cuts
        crossed. The distance of numbers is divided by the range of the cuts and the current number;
        the distance of other values is 1. A `ValueChange` is returned.

    All other inputs stay as they are, and every change is necessary: without it, the value does not
    win.

    Changes after which the value is fully possible, and no rules contradict each other, are
    preferred. If there is none, the value is only the most possible one after the change:
    `Change.decides` is False, and the text says so.

    Parameters
    ----------
    rules : Cascade or RuleSet
    evidence : one sample, as `Cascade.infer` takes it
    value : the value that should win
    output : the attribute of the value, by default the only output of the cascade
    mode : by default ``"values"`` if every input has a plain value (or None) and neither
        `clearance` nor `measure` is given, else ``"smallest"``
    change : the inputs that may change, by default all
    keep : the inputs that may not; give this or `change`
    clearance : for readings, above 0, at most 1: ``1 - clearance`` is the maximum possibility of
        the other values of a changed input; 0.1 by default
    measure : for readings, ``"probability"`` if the size is the largest change of any probability,
        under the inverse of the antipignistic transformation: the output that a network would need
    effort : the maximum number of rows to infer; a change that is found within it, but not proved
        to be minimal, is not `exact`. By default 200,000, or 1,000,000 for the other modes; for
        large rule bases fewer, so that ``rows * instructions`` of the program stay below 10^9 (some
        seconds). Changes of more than three inputs are proved to be of the fewest if there are at
        most ``effort / 20`` combinations. If the search is interrupted, the best change so far is
        returned

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
    index = decision.losing_index(value)
    request = change_request(decision, mode, change, keep, clearance, measure, effort)
    return change_to(decision, index, request)


@dataclass(frozen=True)
class ChangeRequest:
    """The checked arguments of `smallest_change`.

    Attributes
    ----------
    mode, clearance, measure : as for `smallest_change`
    free : the names of the inputs that may change
    rows : the maximum number of rows to infer
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
    """Return the arguments of `smallest_change`, checked and with their defaults."""
    of_readings = {"clearance": clearance, "measure": measure}
    arguments = [name for name, content in of_readings.items() if content is not None]
    if mode is None:
        is_plain = len(decision.plain_values) == len(decision.program.inputs)
        mode = "values" if is_plain and not arguments else "smallest"
    elif not is_word(mode, get_args(Mode)):
        raise DataError(f"mode is {mode!r:.60}; choose {listed(get_args(Mode))}")
    elif mode == "values" and arguments:
        raise DataError(f"{arguments[0]} is for readings; leave it out where mode is 'values'")
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
    inputs, known = [a.name for a in decision.program.inputs], decision.plan.all_inputs
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
        # Where rules may contradict each other, half is reserved for a change that does not decide.
        reserve = 0 if decision.always_normalised else request.rows // 2
        effort = SearchEffort(request.rows - reserve, bar)
        choice, exact = search(decides=True).run()
        if choice is None and not decision.always_normalised:
            effort = SearchEffort(effort.left + reserve, bar)
            choice, complete = search(decides=False).run()
            exact = exact and complete
    if choice is None:
        raise _unreachable_error(decision, index, request, exact)
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
    """Return the change of a choice: pairs of the options of an input and the index of one."""
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
    # Tuples of a distribution, the value or replacement, its cost and its tie-breaker.
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
    """Yield the readings of an input that change it: distribution, value, cost, tie-breaker."""
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
    """Yield the replacements of an input with their distributions, the nearest first.

    One for each effect: the possibilities of the cells, other than the current ones. It takes
    ``O(|D| n)`` for `n` propositions on the input.
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


def _unreachable_error(
    decision: Decision, index: int, request: ChangeRequest, proven: bool
) -> UnreachableError:
    """Return the error that explains why no change makes a value win, or that none was found."""
    statement = Wording().equation(decision.output, decision.output.domain[index])
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

    Where another value is always as possible, no inputs do. The same holds for coherent rules: only
    degrees of 1 count there, and they do not depend on the clearance. Else it is proved for this
    clearance only, and the text says so. Inputs that are not free stay as they are.
    """
    rival = _dominating_rival(decision, index)
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


def _dominating_rival(decision: Decision, index: int) -> str:
    """Return, in words, a value that is as possible for all inputs; empty if there is none.

    A rule bounds a value by ``max(z, d)``, with ``(z, d) = (s, lambda)`` inside its conclusion and
    ``(r, rho)`` outside. A rival is as possible if each of its bounds is 1 or no lower than a bound
    of the value: with the same `d`, and no lower `z`.
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
        return f"no rule distinguishes it from {rival}, which is always as possible"
    name, number = decision.output.name, decision.plan.rule_number
    indices = np.flatnonzero(differs[nearest]).tolist()
    texts = [f"rule {number(name, j)} ({rule_text(rules[j])})" for j in indices]
    return (
        f"{rival} is always as possible; where a rule distinguishes them, {rival} is not less "
        f"possible: {' and '.join(first_few(texts, 'rules'))}"
    )
