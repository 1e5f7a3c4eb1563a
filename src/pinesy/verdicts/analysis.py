"""What a verdict says, as data: the answer, the facts and rules that decide, changes, firmness."""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pinesy.exceptions import CascadeError, DataError, UnreachableError
from pinesy.explanations.decision import Decision
from pinesy.explanations.labels import Wording
from pinesy.explanations.restraints import Clash, clashes_of
from pinesy.explanations.sample import Sample, infer_row
from pinesy.explanations.smallest_change import Change, Mode, ValueChange, change_request, change_to
from pinesy.rules.attributes import Attribute
from pinesy.rules.outcomes import Outcome
from pinesy.rules.possibility import Possibility
from pinesy.verdicts.deciding_inputs import deciding_inputs
from pinesy.verdicts.firmness import Firmness, firmness_of
from pinesy.verdicts.reasons import DecidingRules, deciding_rules, excluded_limits

#: Values to change to that are tried, and rows that may be inferred for each.
MAX_RIVALS, CHANGE_EFFORT = 4, 20_000
#: Instructions that these rows may take.
CHANGE_INSTRUCTIONS = 10**8


@dataclass(frozen=True, eq=False, repr=False)
class Analysis:
    """What decides a sample, each part computed when it is first used.

    Attributes
    ----------
    decision : the sample with its degrees
    wording : what attributes and values are called
    """

    decision: Decision
    wording: Wording

    @property
    def attribute(self) -> Attribute:
        """The attribute that is decided on."""
        return self.decision.output

    @property
    def distribution(self) -> Possibility:
        """The inferred distribution."""
        return self.decision.result

    @property
    def outcome(self) -> Outcome:
        """Whether one value is decided on, or why not."""
        outcome: Outcome = self.distribution.outcome
        return outcome

    @property
    def values(self) -> tuple[Hashable, ...]:
        """The values that remain: one where it is decided; none of a contradiction."""
        return () if self.outcome == "contradiction" else tuple(self.distribution.best_values)

    @property
    def certainty(self) -> float:
        """How certain it is that the value is one of `values`; 0 where rules contradict."""
        if self.outcome == "contradiction":
            return 0.0
        return float(self.distribution.necessity(list(self.values)))

    @cached_property
    def deciding_inputs(self) -> tuple[str, ...]:
        """The inputs that decide: with all others unknown the answer and its certainty stay."""
        return deciding_inputs(self.decision)

    @cached_property
    def _sample(self) -> Sample:
        """The sample with the deciding inputs; all others are unknown."""
        row = np.ones_like(self.decision.row)
        for name in self.deciding_inputs:
            columns = self.decision.plan.slices[name]
            row[columns] = self.decision.row[columns]
        return Sample(self.decision.plan, row)

    @cached_property
    def clash(self) -> Clash | None:
        """Of a contradiction, the first rules that contradict each other."""
        clashes = clashes_of(self._sample) if self.outcome == "contradiction" else ()
        return clashes[0] if clashes else None

    @cached_property
    def chain(self) -> tuple[DecidingRules, ...]:
        """The rules that decide, from the inputs to the answer; formulas and products included."""
        attribute, values = self.attribute, self.values
        if self.clash is not None:
            attribute, values = self.clash.attribute, ()
        others = [i for i, value in enumerate(attribute.domain) if value not in values]
        limit = float(self._sample.degrees[attribute.name][others].max(initial=0.0))
        if limit == 1.0:
            return ()
        limits = excluded_limits(attribute, values, limit)
        return tuple(deciding_rules(self._sample, attribute.name, limits))

    @cached_property
    def change(self) -> Change | None:
        """A change of the fewest inputs that gives another answer; None if none was found."""
        order = np.argsort(-self.distribution.degrees, kind="stable").tolist()
        rivals = [i for i in order[: MAX_RIVALS + 1] if not self._is_decided(i)]
        changes = [change for change in map(self.change_to, rivals) if change is not None]
        return min(changes, key=lambda c: (len(c.readings), c.size), default=None)

    def _is_decided(self, index: int) -> bool:
        """Return whether the value at an index is the only winner."""
        return (self.attribute.domain[index],) == self.decision.winners

    def change_to(self, index: int) -> Change | None:
        """Return a change of the fewest inputs that decides on the value at an index, if found."""
        is_plain = len(self.decision.plain_values) == len(self.decision.program.inputs)
        mode: Mode = "values" if is_plain else "fewest"
        rows = min(CHANGE_EFFORT, CHANGE_INSTRUCTIONS // (1 + len(self.decision.program.code.ops)))
        try:
            request = change_request(self.decision, mode, None, None, None, None, max(1, rows))
            change = change_to(self.decision, index, request)
        except (UnreachableError, CascadeError, DataError):
            return None
        return change if change.decides else None

    @cached_property
    def changed_certainty(self) -> float:
        """How certain the other answer would be if the changed inputs were certain."""
        change = self.change
        if change is None:
            return 0.0
        if isinstance(change, ValueChange):
            return float(change.result.certainty)
        row = self.decision.row.copy()
        for name, value in change.readings.items():
            attribute = self.decision.plan.attributes[name]
            columns = self.decision.plan.slices[name]
            row[columns] = np.arange(len(attribute.domain)) == attribute.position(value)
        result = infer_row(self.decision.program, row, self.attribute)
        return float(result.necessity([change.value]))

    @cached_property
    def firmness(self) -> Firmness | None:
        """What errors of the inputs the answer stands; None where nothing is decided."""
        if self.outcome != "decided":
            return None
        return firmness_of(self.decision, self.deciding_inputs, self.chain)
