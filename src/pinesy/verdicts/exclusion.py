"""What speaks against a value: the facts and rules that limit it, and what would change it."""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pinesy.explanations.smallest_change import Change
from pinesy.verdicts.reasons import DecidingRules, deciding_rules
from pinesy.verdicts.sentences import Sentences, as_sentence, short_degree


@dataclass(frozen=True, eq=False, repr=False)
class Exclusion(Sentences):
    """Why a value is not the answer; as a verdict, with the rules that limit this value.

    Attributes
    ----------
    value : of the output
    """

    value: Hashable

    @property
    def possible(self) -> float:
        """How possible the value is."""
        return float(self.distribution.degrees[self.attribute.position(self.value)])

    @property
    def values(self) -> tuple[Hashable, ...]:
        """No value: that another one is decided on is not what is asked."""
        return ()

    @cached_property
    def chain(self) -> tuple[DecidingRules, ...]:
        """The rules that limit the value, from the inputs to the output; none of a possible one."""
        if self.possible == 1.0:
            return ()
        limits = np.full(len(self.attribute.domain), np.inf)
        limits[self.attribute.position(self.value)] = self.possible
        return tuple(deciding_rules(self.decision, self.attribute.name, limits))

    @cached_property
    def deciding_inputs(self) -> tuple[str, ...]:
        """The inputs that these rules rest on."""
        names = {name for rules in self.chain for name in rules.inputs}
        return tuple(name for name in self.decision.plan.slices if name in names)

    @cached_property
    def change(self) -> Change | None:
        """A change of the fewest inputs that decides on the value; None if none was found."""
        index = self.attribute.position(self.value)
        return None if self._is_decided(index) else self.change_to(index)

    @property
    def because(self) -> str:
        """The facts and rules that limit the value."""
        name = self.wording.value(self.attribute, self.value)
        if not self.chain:
            return f"Nothing rules out {name}."
        degree = f"possible {short_degree(self.possible)} only" if self.possible else "ruled out"
        if self.points:
            excluded = [points for points in self.points if points.value == self.value]
            rivals = [points for points in self.points if points.value != self.value]
            text = self._points_text([*rivals[:1], *excluded])
            return as_sentence(f"{name} is {degree}: {text}")
        return as_sentence(f"{name} is {degree}: {self._facts()}{self._conclusions()}.")
