"""Rules ``if p then b in Q`` with their uncertainty parameters (s, r)."""

from dataclasses import dataclass
from decimal import Decimal

from pinesy._common.budgets import RULE, take_steps
from pinesy._common.validation import check_degree
from pinesy.exceptions import RuleSetError
from pinesy.rules.propositions import Premise, Proposition


@dataclass(frozen=True, repr=False)
class Rule:
    """The possibilistic rule ``R: if p then b in Q``.

    Attributes
    ----------
    premise : Premise
    conclusion : Proposition
    s, r : float in [0, 1]
        ``s = pi(q | not p)`` and ``r = pi(not q | p)``: the rule holds with certainty ``1 - r``,
        its converse with certainty ``1 - s``. With ``s = 1`` it is an implication, which says
        nothing where `p` does not hold; with both 0 an equivalence, ``iff p then b in Q``.

    Examples
    --------
    >>> from pinesy import Attribute, If
    >>> left, total = Attribute("left", range(10)), Attribute("total", range(19))
    >>> If(left.isin({3})).then(total.isin({7}), s=0.1)
    if left in {3} then total in {7} [s=0.1, r=0]
    """

    premise: Premise
    conclusion: Proposition
    s: float = 1.0
    r: float = 0.0

    def __post_init__(self) -> None:
        take_steps(RULE)
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
            value = getattr(self, name)
            if type(value) is not float or not 0.0 <= value <= 1.0:  # else the message costs time
                rule = f"if {self.premise} then {self.conclusion}"
                value = check_degree(value, f"parameter {name} of rule '{rule}'")
            object.__setattr__(self, name, value + 0.0)

    def __str__(self) -> str:
        return self._with_parameters(str(self.premise))

    def line(self, most: int | None = None) -> str:
        """Return the rule in one line, with the first `most` propositions of its premise."""
        most = len(self.premise.propositions) if most is None else most
        return " ".join(self._with_parameters(self.premise.first(most)).split())

    def _with_parameters(self, premise: str) -> str:
        """Return the rule as text, given the text of its premise."""
        if self.s == self.r == 0.0:
            return f"iff {premise} then {self.conclusion}"
        text = f"if {premise} then {self.conclusion}"
        if (self.s, self.r) == (1.0, 0.0):
            return text
        certainty = from_certainty(self.r)  # its own inverse
        if self.s == 1.0 and from_certainty(certainty) == self.r:
            return f"{text} [certainty={_short(certainty)}]"
        return f"{text} [s={_short(self.s)}, r={_short(self.r)}]"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from pinesy.display.rules_html import rule_html

        return rule_html(self)


def from_certainty(certainty: float) -> float:
    """Return ``r = 1 - certainty``, computed in decimals.

    Examples
    --------
    >>> from_certainty(0.9), 1 - 0.9
    (0.1, 0.09999999999999998)
    """
    return float(1 - Decimal(repr(certainty)))


def _short(degree: float) -> str:
    """Return the repr of a degree without ``.0``."""
    return repr(degree).removesuffix(".0")
