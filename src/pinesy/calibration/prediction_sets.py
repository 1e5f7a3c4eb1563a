"""The values that remain at a level, and why there is not one alone."""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.markup import first_lines, tag
from pinesy._common.names import name_of
from pinesy._common.validation import FloatArray, suggestion
from pinesy.calibration.score_counts import significance
from pinesy.exceptions import UnknownAttributeError
from pinesy.rules.possibility import Possibility
from pinesy.rules.syntax.writer import show_value

#: Why there is no single answer, where there is none.
ABSTENTIONS = ("", "ambiguous", "novel", "contradictory")


@dataclass(frozen=True, eq=False, repr=False)
class PredictionSets(Mapping[str, Any]):
    """For each output the values that are not excluded at a level: ``{u : pi(u) > 1 - level}``.

    A mapping from the names of outputs to sets, tuples of values in the order of the domain; for a
    batch a list of them, one for each sample.

    Attributes
    ----------
    level : float
    possibilities : by output, the calibrated distributions that the sets are cuts of
    conformity : how well the least conforming input (or output) fits at best: the p-value of its
        best value, one for each sample

    Examples
    --------
    >>> from pinesy.rules import Attribute
    >>> total = Possibility(Attribute("total", range(4)), np.array([0.04, 1.0, 0.3, 0.01]))
    >>> sets = PredictionSets(0.95, {"total": total}, 1.0)
    >>> sets["total"], sets.abstentions["total"]
    ((1, 2), 'ambiguous')
    >>> sets.excluded_at("total").tolist()  # the highest level that leaves each value out
    [0.96, 0.0, 0.7, 0.99]
    """

    level: float
    possibilities: Mapping[str, Possibility]
    conformity: float | FloatArray

    def __getitem__(self, key: Any) -> Any:
        members = self.members(key)
        domain = self.possibilities[name_of(key)].attribute.domain
        return (
            _values(members, domain) if members.ndim == 1 else [_values(m, domain) for m in members]
        )

    def members(self, key: Any) -> npt.NDArray[np.bool_]:
        """Return which values are in the set of an output, shape ``(..., size of the domain)``."""
        return np.asarray(self._possibility(key).degrees > significance(self.level))

    def _possibility(self, key: Any) -> Possibility:
        name = name_of(key)
        if name not in self.possibilities:
            raise UnknownAttributeError(f"{name!r} was not inferred{suggestion(name, self)}")
        return self.possibilities[name]

    def excluded_at(self, key: Any) -> FloatArray:
        """Return for each value the highest level at which it is left out: ``1 - pi(u)``.

        At all higher levels it is in the set. A value with 0 is in the set at every level.
        """
        return np.asarray((1.0 - self._possibility(key).degrees).round(12))

    @cached_property
    def sizes(self) -> dict[str, Any]:
        """How many values remain, by output."""
        return {name: self.members(name).sum(axis=-1) for name in self}

    @cached_property
    def abstentions(self) -> dict[str, Any]:
        """Why no single value remains, by output: for each sample a word, empty if one does.

        ``"contradictory"``: the rules contradict each other on it; ``"novel"``: no value of some
        input (or output) conforms to what calibration has seen; ``"ambiguous"``: several remain.
        """
        words = {name: np.array(ABSTENTIONS)[self.reasons(name)] for name in self}
        return {name: found if found.ndim else str(found) for name, found in words.items()}

    def reasons(self, key: Any) -> npt.NDArray[np.intp]:
        """Return the places of the words of `abstentions` in `ABSTENTIONS`."""
        name = name_of(key)
        novel = np.asarray(self.conformity) <= significance(self.level)
        clash = ~np.asarray(self.possibilities[name].normalised)
        several = np.asarray(self.sizes[name]) != 1
        return np.where(clash, 3, np.where(novel, 2, np.where(several, 1, 0)))

    def __iter__(self) -> Iterator[str]:
        return iter(self.possibilities)

    def __len__(self) -> int:
        return len(self.possibilities)

    def __repr__(self) -> str:
        first = next(iter(self.possibilities.values()))
        if first.is_batch:
            return f"PredictionSets({len(first)} samples of {', '.join(self)} at {self.level:g})"
        shown = ", ".join(f"{name} in {_shown(self[name])}" for name in self)
        return f"PredictionSets({shown} at {self.level:g})"

    def _repr_html_(self) -> str:
        first = next(iter(self.possibilities.values()))
        members = {name: np.atleast_2d(self.members(name)) for name in self}
        words = {name: np.atleast_1d(self.abstentions[name]) for name in self}
        n = len(first) if first.is_batch else 1
        lines = (
            [str(row), name, _shown(_values(members[name][row], domain)), str(words[name][row])]
            for row in range(n)
            for name, domain in ((a, self.possibilities[a].attribute.domain) for a in self)
        )
        head = ["sample", "output", f"set at {self.level:g}", "why not one"]
        return tag("div", repr(self)) + first_lines(head, lines, n * len(self), "sets")


def _values(members: npt.NDArray[np.bool_], domain: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
    return tuple(domain[i] for i in np.flatnonzero(members))


def _shown(values: tuple[Hashable, ...]) -> str:
    more = ", ..." if len(values) > 6 else ""
    return "{" + ", ".join(show_value(v) for v in values[:6]) + more + "}"
