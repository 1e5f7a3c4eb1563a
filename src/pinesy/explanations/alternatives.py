"""What may become of the inputs: which of them may change, and the ways of each, with its cost."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
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
from pinesy.exceptions import CascadeError, DataError, DegreeError, UnknownAttributeError
from pinesy.explanations.decision import Decision
from pinesy.explanations.replacements import Replacement, replacements_of
from pinesy.rules.attributes import Attribute
from pinesy.transforms import antipignistic_inverse

#: What a change is, and which is the smallest; see `smallest_change`.
Mode = Literal["smallest", "fewest", "values"]
#: What the size of a change of readings counts.
Measure = Literal["possibility", "probability"]
#: A distribution, what it is called, its cost, and what decides between equal costs.
_Way = tuple[FloatArray, Any, float, float]

CLEARANCE = 0.1
#: The rows that may be inferred, unless the user says how many.
EFFORT: dict[Mode, int] = {"smallest": 200_000, "fewest": 1_000_000, "values": 1_000_000}
#: The instructions that these may take, of all rows: of a large program there are fewer rows.
INSTRUCTIONS = 10**9


@dataclass(frozen=True, eq=False)
class Alternatives:
    """What may become of one input: it stays as it is (the first), or changes.

    Attributes
    ----------
    attribute, columns : the input, and its columns in a row of all inputs
    costs : array (k,), rising; 0 for the first
    ties : array (k,), what decides between changes of the same cost
    degrees : array (k, |D|), the distributions
    values : what each is: a value that the input is read as, or a `Replacement`; None for the first
    """

    attribute: Attribute
    columns: slice
    costs: FloatArray
    ties: FloatArray
    degrees: FloatArray
    values: tuple[Any, ...]

    @classmethod
    def of(cls, attribute: Attribute, decision: Decision, ways: Iterable[_Way]) -> "Alternatives":
        """Put the ways to change an input in order, after its staying as it is."""
        columns = decision.plan.slices[attribute.name]
        stays: _Way = (decision.row[columns], None, 0.0, 0.0)
        ordered = [stays, *sorted(ways, key=lambda way: way[2:])]
        degrees, values, costs, ties = zip(*ordered, strict=True)
        return cls(
            attribute, columns, np.array(costs), np.array(ties), np.array(degrees), tuple(values)
        )

    def __len__(self) -> int:
        """Return the number of ways, its staying as it is among them."""
        return len(self.costs)

    def within(self, size: float) -> FloatArray:
        """Return the distributions that cost at most `size`."""
        return self.degrees[: np.searchsorted(self.costs, size, side="right")]


@dataclass(frozen=True)
class ChangeRequest:
    """What kind of change is asked for; see `smallest_change`."""

    mode: Mode | None = None
    change: Sequence[str | Attribute] | None = None
    keep: Sequence[str | Attribute] | None = None
    clearance: float | None = None
    measure: Measure | None = None
    effort: int | None = None

    def mode_for(self, decision: Decision) -> Mode:
        """Return the mode: values where all inputs are given as such, unless the user says."""
        of_readings = {"clearance": self.clearance, "measure": self.measure}
        said = [name for name, content in of_readings.items() if content is not None]
        if self.mode is None:
            is_plain = len(decision.given) == len(decision.program.inputs)
            return "values" if is_plain and not said else "smallest"
        if not is_word(self.mode, get_args(Mode)):
            raise DataError(f"mode is {self.mode!r:.60}; choose {listed(get_args(Mode))}")
        if self.mode == "values" and said:
            raise DataError(f"{said[0]} is of readings; leave it out where mode is 'values'")
        return self.mode

    def rows(self, mode: Mode, decision: Decision) -> int:
        """Return how many rows may be inferred."""
        if self.effort is None:
            return min(EFFORT[mode], INSTRUCTIONS // (1 + len(decision.program.code.ops)))
        return check_integer(self.effort, "effort", least=1, error=DataError)

    def alternatives(self, decision: Decision, mode: Mode) -> tuple[Alternatives, ...]:
        """Return what may become of each input of a decision."""
        free = self.free_inputs(decision)
        ways = _replacing(decision) if mode == "values" else self._reading(decision)
        return tuple(
            Alternatives.of(a, decision, ways(a) if a.name in free else ())
            for a in decision.program.inputs
        )

    def free_inputs(self, decision: Decision) -> list[str]:
        """Return the names of the inputs that may change."""
        if self.change is not None and self.keep is not None:
            raise DataError("change and keep are both given; name the inputs that may change, or "
                            "those that stay")  # fmt: skip
        inputs = [a.name for a in decision.program.inputs]
        if self.change is not None:
            named = _checked_inputs(self.change, "change", decision)
            left = [name for name in inputs if name in named]
        else:
            named = _checked_inputs(() if self.keep is None else self.keep, "keep", decision)
            left = [name for name in inputs if name not in named]
        if not left:
            raise DataError(
                f"no input is left that may change; {decision.output.name!r} depends on "
                f"{listed(inputs)}"
            )
        return left

    def left_at(self) -> float:
        """Return the clearance of a reading, or raise `DegreeError`."""
        clear = check_degree(CLEARANCE if self.clearance is None else self.clearance, "clearance")
        if clear == 0.0:
            raise DegreeError("clearance is 0; an input is read as a value only if it is above 0")
        return clear

    def counted(self) -> Measure:
        """Return what the size of readings counts, or raise `DataError`."""
        measure = "possibility" if self.measure is None else self.measure
        if not is_word(measure, get_args(Measure)):
            raise DataError(f"measure is {measure!r:.60}; choose 'possibility' or 'probability'")
        return measure

    def _reading(self, decision: Decision) -> Callable[[Attribute], Iterable[_Way]]:
        clear, measure = self.left_at(), self.counted()
        return lambda attribute: _readings(attribute, decision, clear, measure)


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


def _readings(
    attribute: Attribute, decision: Decision, clearance: float, measure: Measure
) -> Iterable[_Way]:
    """Yield the readings of an input, none that changes nothing."""
    degrees = decision.row[decision.plan.slices[attribute.name]]
    for place, value in enumerate(attribute.domain):
        changed = np.minimum(degrees, 1.0 - clearance)
        changed[place] = 1.0
        if not np.array_equal(changed, degrees):
            cost = _cost(degrees, changed, measure)
            yield changed, value, cost, cost


def _cost(old: FloatArray, new: FloatArray, measure: Measure) -> float:
    """Return the largest change, of a degree or of a probability."""
    if measure == "probability":
        old, new = antipignistic_inverse(old), antipignistic_inverse(new)
    return float(np.abs(new - old).max())


def _replacing(decision: Decision) -> Callable[[Attribute], Iterable[_Way]]:
    def ways(attribute: Attribute) -> Iterable[_Way]:
        pairs: Iterable[tuple[Replacement, FloatArray]] = replacements_of(decision, attribute)
        return ((degrees, one, one.distance, one.crossed) for one, degrees in pairs)

    return ways
