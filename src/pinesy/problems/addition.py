"""Addition-k: the sum of two numbers of k digits, digit by digit with carries.

Its rules, their labels, and samples of images of digits.
"""

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import check_integer, check_integers, check_rng
from pinesy.exceptions import DataError, DomainError, ShapeError
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.propositions import Proposition
from pinesy.rules.statements import Iff

Indices = npt.NDArray[np.int64]

#: The most digits of a number, and the largest base.
MAX_DIGITS = 100_000


def addition(k: int, base: int = 10) -> Cascade:
    """Return the rule base of Addition-k: ``3k + 1`` rule sets, ``32k`` rules for base 10.

    The rules are those of the paper [subsec:rulesformnistadd].

    Parameters
    ----------
    k : the number of digits of each number
    base : the base of the numbers

    Notes
    -----
    Inputs are ``a_1 .. a_k`` (first number, most significant digit first) and
    ``a_{k+1} .. a_{2k}`` (second number); outputs the digits ``y_0, y_1 .. y_k`` of the sum.
    Between them, ``c_i`` is the pair of digits `i` with the incoming carry, and ``w_i`` the
    outgoing carry; ``c_k`` has no incoming carry.

    Examples
    --------
    >>> addition(2)
    Cascade(7 rule sets, 64 rules: a_2, a_4, a_1, a_3 -> y_1, y_2, y_0)
    """
    if not (isinstance(k, int) and isinstance(base, int)) or k < 1 or base < 2:
        raise DomainError(f"addition needs k >= 1 digits in base >= 2; got k={k!r}, base={base!r}")
    if max(k, base) > MAX_DIGITS:
        raise DomainError(f"addition takes k and base up to {MAX_DIGITS:,}; got k={k}, base={base}")
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
        tuples, carry, digit = masks[len(carry_in)].rule_sets(c, w[i], y, base)
        chain += [tuples, carry]
        sums.insert(0, digit)
    first = RuleSet([Iff(w[1].isin({0})).then(Attribute("y_0", bits).isin({0}))])
    return Cascade(*chain, *sums, first)


class _Masks:
    """The masks of the tuples of a digit position, shared by all positions."""

    def __init__(self, base: int, carry: bool) -> None:
        parts = [Attribute("u", range(base)), Attribute("v", range(base))]
        parts += [Attribute("w", (0, 1))] * carry
        c = Attribute.product("c", *parts)
        #: The masks by factor and value; for the carry only 0.
        self.by_value = [
            [c.where(lambda *t, p=p, d=d: t[p] == d).mask for d in range(1 if p == 2 else base)]
            for p in range(len(parts))
        ]
        self.overflow = c.where(lambda *t: sum(t) >= base).mask
        self.sums = [c.where(lambda *t, d=d: sum(t) % base == d).mask for d in range(base)]

    def rule_sets(
        self, c: Attribute, w: Attribute, y: Attribute, base: int
    ) -> tuple[RuleSet, RuleSet, RuleSet]:
        """Return the rule sets of a position: for its tuple, its carry, and its digit."""
        tuples = [
            Iff(a.isin({d})).then(Proposition(c, mask, f"{a.name} == {d}"))
            for a, masks in zip(c.factors, self.by_value, strict=True)
            for d, mask in enumerate(masks)
        ]
        total = " + ".join(f.name for f in c.factors)
        overflow = Proposition(c, self.overflow, f"{total} >= {base}")
        digit = [
            Iff(Proposition(c, mask, f"({total}) % {base} == {d}")).then(y.isin({d}))
            for d, mask in enumerate(self.sums)
        ]
        return RuleSet(tuples), RuleSet([Iff(overflow).then(w.isin({1}))]), RuleSet(digit)


def addition_labels(digits: npt.ArrayLike, base: int = 10) -> dict[str, Indices]:
    """Return the true value of every attribute that `addition` concludes on, for each sample.

    Parameters
    ----------
    digits : integer array (n_samples, 2k)
        The digits ``a_1, ..., a_2k`` of both numbers, in the order of the inputs.

    Examples
    --------
    >>> {name: v.tolist() for name, v in addition_labels([[7, 5]]).items()}
    {'c_1': [[7, 5]], 'w_1': [1], 'y_1': [2], 'y_0': [1]}
    """
    array = check_integers(digits, "digits", 2, "of integers (n_samples, 2k)").astype(np.int64)
    k, remainder = divmod(array.shape[1], 2)
    if remainder or not k:
        raise ShapeError(f"digits has shape {array.shape}; it must be (n_samples, 2k)")
    labels: dict[str, Indices] = {}
    carry: list[Indices] = []
    for i in range(k, 0, -1):
        labels[f"c_{i}"] = np.stack([array[:, i - 1], array[:, k + i - 1], *carry], axis=1)
        total = labels[f"c_{i}"].sum(axis=1)
        labels[f"w_{i}"] = (total >= base).astype(np.int64)
        labels[f"y_{i}"] = total % base
        carry = [labels[f"w_{i}"]]
    return {**labels, "y_0": labels["w_1"]}


def addition_samples(labels: npt.ArrayLike, k: int, rng: np.random.Generator) -> Indices:
    """Draw ``floor(size / 2k)`` samples of two k-tuples of images, without replacement.

    Parameters
    ----------
    labels : the digit on each image
    k : the number of digits of each number
    rng : the random generator

    Returns
    -------
    samples : array (n, 2k) of indices into `labels`
        The first `k` of a row are the first number, most significant digit first, in the order of
        the inputs ``a_1 .. a_{2k}`` of `pinesy.problems.addition`.

    Examples
    --------
    >>> addition_samples([5, 0, 4, 1, 9], 2, np.random.default_rng(0)).shape
    (1, 4)
    """
    check_rng(rng)
    k = check_integer(k, "k", 1)
    size = len(check_integers(labels, "labels", 1, "one integer for each image", DataError))
    n = size // (2 * k)
    if n == 0:
        raise DataError(f"one sample with k={k} needs {2 * k} images; there are {size}")
    return rng.permutation(size)[: 2 * k * n].reshape(n, 2 * k)
