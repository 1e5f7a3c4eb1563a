"""Rules ``if p then b in Q`` with their uncertainty parameters (s, r)."""

from dataclasses import dataclass

from pinesy._common.validation import check_degree
from pinesy.exceptions import RuleSetError
from pinesy.rules.attributes import Premise, Proposition, conjunction


@dataclass(frozen=True, repr=False)
class Rule:
    """The possibilistic rule ``R: if p then b in Q``.

    Attributes
    ----------
    premise : Premise
    conclusion : Proposition
    s, r : float in [0, 1]
        ``s = pi(q | not p)`` and ``r = pi(not q | p)``: the rule holds with certainty ``1 - r``,
        its converse with certainty ``1 - s``. Both 0 make it an equivalence.

    Examples
    --------
    >>> from pinesy import Attribute, If
    >>> left, total = Attribute("left", range(10)), Attribute("total", range(19))
    >>> If(left.isin({3})).then(total.isin({7}), s=0.1)
    if left in {3} then total in {7} [s=0.1, r=0]
    """

    premise: Premise
    conclusion: Proposition
    s: float = 0.0
    r: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.premise, Premise):
            raise RuleSetError(f"the premise is {self.premise!r}; write If(...).then(...)")
        if not isinstance(self.conclusion, Proposition):
            raise RuleSetError(
                f"a conclusion is a proposition such as attribute.isin({{...}}); "
                f"got {self.conclusion!r}"
            )
        if self.conclusion.mask == 0:
            raise RuleSetError(
                f"the rule 'if {self.premise} then {self.conclusion}' has an empty conclusion: no "
                f"value of {self.conclusion.attribute.name!r} is left; check the set or condition"
            )
        for name in ("s", "r"):
            object.__setattr__(self, name, self._parameter(name))

    def _parameter(self, name: str) -> float:
        value = getattr(self, name)
        if type(value) is float and 0.0 <= value <= 1.0:  # the common case, without the message
            return value + 0.0
        return check_degree(value, f"parameter {name} of rule '{self._text}'")

    @property
    def _text(self) -> str:
        return f"if {self.premise} then {self.conclusion}"

    def __str__(self) -> str:
        if self.s == self.r == 0.0:
            return self._text
        return f"{self._text} [s={_short(self.s)}, r={_short(self.r)}]"

    __repr__ = __str__


class If:
    """The start of a rule: ``If(p, q, ...).then(conclusion, s=0.1, r=0)``."""

    def __init__(self, *premise: Proposition | Premise) -> None:
        self.premise = Premise(conjunction(premise))

    def __repr__(self) -> str:
        return f"If({self.premise}) without .then(...)"

    def then(self, conclusion: Proposition, s: float = 0.0, r: float = 0.0) -> Rule:
        """Return the rule with this premise."""
        return Rule(self.premise, conclusion, s, r)


def _short(degree: float) -> str:
    return repr(degree).removesuffix(".0")
