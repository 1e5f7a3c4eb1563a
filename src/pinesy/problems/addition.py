"""Addition-k: the sum of two numbers of k digits, digit by digit with carries."""

from pinesy.exceptions import DomainError
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute, Premise, Proposition
from pinesy.rules.rule import Rule


def addition(k: int, base: int = 10) -> Cascade:
    """Return the rule base of Addition-k: ``3k + 1`` rule sets, ``32k`` rules for base 10.

    Parameters
    ----------
    k : the number of digits of each number
    base : the base they are written in

    Notes
    -----
    Inputs are ``a_1 .. a_k`` (first number, most significant digit first) and
    ``a_{k+1} .. a_{2k}`` (second number); outputs the digits ``y_0, y_1 .. y_k`` of the sum. On
    the way, ``c_i`` is the pair of digits at place `i` with the carry into it, ``w_i`` the carry
    out of it; ``c_k`` has no carry into it.

    Examples
    --------
    >>> addition(2)
    Cascade(7 rule sets, 64 rules: a_2, a_4, a_1, a_3 -> y_1, y_2, y_0)
    """
    if not (isinstance(k, int) and isinstance(base, int)) or k < 1 or base < 2:
        raise DomainError(f"addition needs k >= 1 digits in base >= 2; got k={k!r}, base={base!r}")
    digits, bits = range(base), (0, 1)
    a = {i: Attribute(f"a_{i}", digits) for i in range(1, 2 * k + 1)}
    w = {i: Attribute(f"w_{i}", bits) for i in range(1, k + 1)}
    chain: list[RuleSet] = []
    sums: list[RuleSet] = []
    masks = [_Masks(base, carry=False), _Masks(base, carry=True)]
    for i in range(k, 0, -1):
        carry_in = (w[i + 1],) if i < k else ()
        c = Attribute.product(f"c_{i}", a[i], a[k + i], *carry_in)
        y = Attribute(f"y_{i}", digits)
        place = masks[len(carry_in)]
        chain += [place.tuples(c), place.carry(c, w[i], base)]
        sums.insert(0, place.digit(c, y, base))
    first = RuleSet([_rule(w[1].isin({0}), Attribute("y_0", bits).isin({0}))])
    return Cascade(*chain, *sums, first)


def _rule(premise: Proposition, conclusion: Proposition) -> Rule:
    return Rule(Premise((premise,)), conclusion)


class _Masks:
    """The subsets of a place's tuples, worked out once and used for all places."""

    def __init__(self, base: int, carry: bool) -> None:
        parts = [Attribute("u", range(base)), Attribute("v", range(base))]
        parts += [Attribute("w", (0, 1))] * carry
        c = Attribute.product("c", *parts)
        self.by_digit = [
            [c.where(lambda *t, p=p, d=d: t[p] == d).mask for d in range(base)] for p in range(2)
        ]
        self.no_carry = c.where(lambda *t: t[-1] == 0).mask
        self.overflow = c.where(lambda *t: sum(t) >= base).mask
        self.sums = [c.where(lambda *t, d=d: sum(t) % base == d).mask for d in range(base)]

    def tuples(self, c: Attribute) -> RuleSet:
        """Return the rules that put the digits (and the carry) together."""
        rules = [
            _rule(a.isin({d}), Proposition(c, self.by_digit[p][d], f"{a.name} == {d}"))
            for p, a in enumerate(c.factors[:2])
            for d in range(len(a.domain))
        ]
        for w in c.factors[2:]:
            rules.append(_rule(w.isin({0}), Proposition(c, self.no_carry, f"{w.name} == 0")))
        return RuleSet(rules)

    def carry(self, c: Attribute, w: Attribute, base: int) -> RuleSet:
        """Return the rule for the carry out of a place."""
        total = " + ".join(f.name for f in c.factors)
        return RuleSet([_rule(Proposition(c, self.overflow, f"{total} >= {base}"), w.isin({1}))])

    def digit(self, c: Attribute, y: Attribute, base: int) -> RuleSet:
        """Return the rules for the digit of the sum at a place."""
        total = " + ".join(f.name for f in c.factors)
        return RuleSet(
            _rule(Proposition(c, mask, f"({total}) % {base} == {d}"), y.isin({d}))
            for d, mask in enumerate(self.sums)
        )
