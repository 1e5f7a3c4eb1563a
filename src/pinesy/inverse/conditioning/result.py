"""Conditioned distributions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pinesy._common.validation import FloatArray, suggestion
from pinesy.exceptions import DegreeError, UnknownAttributeError
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.transforms import antipignistic_inverse


@dataclass(frozen=True, eq=False, repr=False)
class Beliefs(Mapping[str, Possibility]):
    """Distributions conditioned on targets, by attribute name or attribute.

    Attributes
    ----------
    joint : the distributions before they are rescaled: the projections of the joint distribution,
        or upper bounds of them where `exact` is False
    compatibility : how possible it is that beliefs, rules and targets hold together: the largest
        degree of the joint (or an upper bound); 0 is a contradiction, of which no distribution
        is left: all degrees are 0, and `best` means nothing
    exact : whether the graph of rules has no loop, so that the above are exact
    """

    joint: Mapping[str, Possibility]
    compatibility: Any
    exact: bool

    def __getitem__(self, key: str | Attribute) -> Possibility:
        name = key.name if isinstance(key, Attribute) else key
        if name not in self.joint:
            raise UnknownAttributeError(f"{name!r} was not asked for{suggestion(name, self.joint)}")
        return self._rescaled[name]

    @cached_property
    def _rescaled(self) -> dict[str, Possibility]:
        return {name: self._rescale(pi) for name, pi in self.joint.items()}

    def _rescale(self, pi: Possibility) -> Possibility:
        top = np.asarray(self.compatibility)[..., None]
        degrees = np.divide(pi.degrees, top, out=np.zeros_like(pi.degrees), where=top > 0.0)
        return Possibility(pi.attribute, degrees)

    def __iter__(self) -> Iterator[str]:
        return iter(self.joint)

    def __len__(self) -> int:
        return len(self.joint)

    def probabilities(self) -> dict[str, FloatArray]:
        """Return the distributions as probabilities: soft labels for a network to learn from.

        The inverse of the antipignistic transformation, row by row. Samples that contradict have
        none: leave the rows with `compatibility` 0 out first.
        """
        if np.any(self.compatibility == 0.0):
            where = ""
            if np.ndim(self.compatibility):
                where = f"row {int(np.argmin(self.compatibility))}: "
            raise DegreeError(
                f"{where}beliefs, rules and targets contradict each other (compatibility 0), so "
                "there are no probabilities; leave out the samples where compatibility is 0"
            )
        return {name: antipignistic_inverse(self[name].degrees) for name in self}

    def __repr__(self) -> str:
        kind = "exact" if self.exact else "upper bounds"
        names = ", ".join(list(self)[:4]) + ", ..." * (len(self) > 4)
        if np.ndim(self.compatibility):
            lost = int(np.count_nonzero(self.compatibility == 0.0))
            kind += f", {lost} of compatibility 0 (contradictions)" * (lost > 0)
            return f"Beliefs({len(self.compatibility)} samples of {names}; {kind})"
        if self.compatibility == 0.0:
            return f"Beliefs({names}; compatibility 0: a contradiction, no distribution is left)"
        return f"Beliefs({names}; compatibility {self.compatibility:.4g}, {kind})"
