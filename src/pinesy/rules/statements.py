"""Rules in Python: ``If(...).then(...)`` and ``Iff(...).then(...)``."""

from typing import ClassVar

from pinesy._common.validation import check_degree
from pinesy.exceptions import RuleSetError
from pinesy.rules.definitions import premise_of
from pinesy.rules.propositions import Proposition, Statement
from pinesy.rules.rule import Rule, from_certainty


class If:
    """The start of an implication: ``If(p, q, ...).then(conclusion, certainty=0.9)``.

    It says nothing where the premise does not hold. Parts may be formulas: ``If(p & (q | ~t))``.

    Examples
    --------
    >>> from pinesy import Attribute
    >>> fever, measles = Attribute("fever", ["yes", "no"]), Attribute("measles", ["yes", "no"])
    >>> If(fever.isin({"yes"})).then(measles.isin({"yes"}), certainty=0.8)
    if fever in {yes} then measles in {yes} [certainty=0.8]
    """

    #: The default of the parameter s.
    s: ClassVar[float] = 1.0

    def __init__(self, *premise: Statement) -> None:
        self.premise = premise_of(*premise)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.premise}) without .then(...)"

    def then(
        self,
        conclusion: Proposition,
        s: float | None = None,
        r: float | None = None,
        *,
        certainty: float | None = None,
    ) -> Rule:
        """Return the rule with this premise.

        Parameters
        ----------
        s : ``pi(q | not p)``: 1 makes an implication (the default after `If`), 0 with ``r = 0`` an
            equivalence (the default after `Iff`)
        r : ``pi(not q | p)``, by default 0
        certainty : the certainty of the rule, in place of ``r = 1 - certainty``
        """
        if certainty is not None:
            if r is not None:
                raise RuleSetError(f"certainty={certainty!r} sets r; give one of them, not both")
            r = from_certainty(check_degree(certainty, "the certainty of a rule"))
        return Rule(self.premise, conclusion, self.s if s is None else s, 0.0 if r is None else r)


class Iff(If):
    """The start of an equivalence: ``Iff(p, q, ...).then(conclusion)``.

    The conclusion holds where the premise does, and does not hold where it does not. Two
    equivalences with one conclusion contradict each other where one premise holds and the other
    does not; implications (`If`) do not.
    """

    s = 0.0
