"""Factors: what the crisp values of some attributes say of each other, by max and min.

For crisp inputs `x` a rule set says of each value of its output

``pi*(b | x) = min_j (max(s_j, [x |= p_j]) if b in Q_j else max(r_j, [x |/= p_j]))``.

Values that no rule of a factor tells apart form a class, and factors work on classes. Messages are
expressions: degrees are columns of samples that nobody has seen yet.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray
from pinesy.engine.circuit import ColumnCircuit

Bools = npt.NDArray[np.bool_]
#: ColumnCircuit of the degrees of values or classes.
Values = list[int]


@dataclass(frozen=True, eq=False)
class Classes:
    """A partition of a domain.

    Attributes
    ----------
    of : the class of each value
    count : the number of classes; some may have no value
    """

    of: tuple[int, ...]
    count: int

    @cached_property
    def members(self) -> list[list[int]]:
        """For each class the positions of its values."""
        found: list[list[int]] = [[] for _ in range(self.count)]
        for i, c in enumerate(self.of):
            found[c].append(i)
        return found

    def reduce(self, made: ColumnCircuit, degrees: Values) -> Values:
        """Return the largest degree of each class, 0 where it is empty."""
        return [made.join(degrees[i] for i in places) for places in self.members]

    def expand(self, degrees: Values) -> Values:
        """Return the degree of each value, that of its class."""
        return [degrees[c] for c in self.of]

    def mask(self, chosen: Bools) -> int:
        """Return the values of the chosen classes: bit `i` stands for value `i`."""
        return sum(1 << i for i, c in enumerate(self.of) if chosen[c])


@dataclass(frozen=True, eq=False)
class Factor:
    """What some rules say of their output and inputs.

    Attributes
    ----------
    names : the attributes, the output first
    classes : the classes of each attribute's values
    """

    names: tuple[str, ...]
    classes: tuple[Classes, ...]

    def messages(
        self, made: ColumnCircuit, degrees: Sequence[Values], wanted: Iterable[int]
    ) -> list[Values]:
        """Return ``max {min(factor, degrees of the other attributes)}`` for each value.

        Parameters
        ----------
        made : where expressions are built
        degrees : for each attribute the degrees of its values
        wanted : the attributes that messages are wanted for, as places in `names`
        """
        wanted = list(wanted)
        pairs = zip(self.classes, degrees, strict=True)
        found = self._messages(made, [c.reduce(made, d) for c, d in pairs], wanted)
        return [self.classes[i].expand(m) for i, m in zip(wanted, found, strict=True)]

    def _messages(
        self, made: ColumnCircuit, degrees: list[Values], wanted: list[int]
    ) -> list[Values]:
        raise NotImplementedError

    @property
    def conclusions(self) -> frozenset[int]:
        """The sets of output values at degree 1, as masks: one for each crisp input, each once."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Table(Factor):
    """A factor listed for all classes of its attributes: `entries`, the output's axis first."""

    entries: FloatArray

    def _messages(
        self, made: ColumnCircuit, degrees: list[Values], wanted: list[int]
    ) -> list[Values]:
        return [self._message(made, degrees, i) for i in wanted]

    def _message(self, made: ColumnCircuit, degrees: list[Values], i: int) -> Values:
        """Take the other attributes out one after the other, the last one first."""
        entries = np.moveaxis(self.entries, i, 0)
        flat = [made.constant(number) for number in entries.ravel().tolist()]
        for other in reversed([d for k, d in enumerate(degrees) if k != i]):
            n = len(other)
            flat = [
                made.join(made.meet(pair) for pair in zip(flat[j : j + n], other, strict=True))
                for j in range(0, len(flat), n)
            ]
        return flat

    @property
    def conclusions(self) -> frozenset[int]:
        """The sets of output values at degree 1, as masks: one for each crisp input, each once."""
        ones = (self.entries == 1.0).reshape(len(self.entries), -1)
        return frozenset(self.classes[0].mask(column) for column in np.unique(ones.T, axis=0))


@dataclass(frozen=True, eq=False)
class Conjunction(Factor):
    """One rule on any number of attributes, in closed form; class 1 of each is inside.

    With ``T_i, F_i`` the best degrees inside and outside ``P_i`` and ``A_i = max(T_i, F_i)``, the
    premise holds at best with ``min T_i`` and fails with ``min(max F_i, min A_i)``.
    """

    s: float
    r: float

    def _messages(
        self, made: ColumnCircuit, degrees: list[Values], wanted: list[int]
    ) -> list[Values]:
        output, *inputs = degrees
        to_inputs = self._to_inputs(made, output, inputs) if wanted != [0] else []
        return [to_inputs[i - 1] if i else self._to_output(made, inputs) for i in wanted]

    def _to_output(self, made: ColumnCircuit, inputs: list[Values]) -> Values:
        known = made.meet(made.join(pair) for pair in inputs)
        holds = made.join([made.constant(self.s), made.meet(inside for _, inside in inputs)])
        fails = made.join([made.constant(self.r), *(outside for outside, _ in inputs)])
        return [made.meet([fails, known]), made.meet([holds, known])]

    def _to_inputs(self, made: ColumnCircuit, output: Values, inputs: list[Values]) -> list[Values]:
        """Return the messages to all inputs: every proposition but their own at its best."""
        s, r = made.constant(self.s), made.constant(self.r)
        not_q, q = output
        false = made.join([made.meet([q, s]), not_q])
        known = _of_others(made.meet, [made.join(pair) for pair in inputs])
        holds = _of_others(made.meet, [inside for _, inside in inputs])
        fails = _of_others(made.join, [outside for outside, _ in inputs])
        found = []
        for k, h, f in zip(known, holds, fails, strict=True):
            sides = [made.meet([q, made.join([s, h])]), made.meet([not_q, made.join([r, f])])]
            found.append([made.meet([false, k]), made.meet([made.join(sides), k])])
        return found

    @property
    def conclusions(self) -> frozenset[int]:
        """The sets of output values at degree 1, as masks: one for each crisp input, each once."""
        can_hold = all(len(c.members[1]) for c in self.classes[1:])
        can_fail = any(len(c.members[0]) for c in self.classes[1:])
        sides = [[self.r == 1.0, True]] * can_hold + [[True, self.s == 1.0]] * can_fail
        return frozenset(self.classes[0].mask(np.array(side)) for side in sides)


def _of_others(combine: Callable[[Iterable[int]], int], values: Values) -> Values:
    """Return for each value the min or max of all others: of those before and those after it."""
    before = list(accumulate(values, lambda a, b: combine([a, b]), initial=combine([])))
    after = list(accumulate(values[::-1], lambda a, b: combine([a, b]), initial=combine([])))
    n = len(values)
    return [combine([before[i], after[n - 1 - i]]) for i in range(n)]
