"""Hypothesis strategies: attributes, rules, cascades, evidence and targets, on decimal grids."""

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import prod
from operator import and_
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

import oracles
from pinesy import Attribute, Cascade, Iff, Premise, Proposition, Rule, RuleSet
from pinesy.exceptions import DomainError

FloatArray = npt.NDArray[np.float64]
Draw = st.DrawFn

#: Texts that a careless writer or reader of rules would trip over.
ODD_TEXTS = [
    "", " ", "a b", "long-sleep", "a-1", "-", "if", "then", "true", "none", "where", "0", "1.5",
    'say "x"', "it's", "back\\slash", "tab\t", "line\nend", "#not a comment", "{a, b}", "[s=1]",
    "0..9", "é", "日本", "s", "r", "x" * 40, "\u2028", "a`b", "\x00", "_", "__import__", "²",
]  # fmt: skip
#: The same for names: printable, and without the backquote that encloses them.
ODD_NAMES = [
    "left", "right", "long-sleep", "a b", " ", "if", "and", "attribute", "0", "1.5", "x-1", "-",
    'say "x"', "it's", "#a", "{", "[s=1]", "é", "日本", "s", "r", "a_1", "where", "not", "\\n", "²",
]  # fmt: skip

SAMPLE_SIZES = (1, 2, 127, 128, 129, 300)


# --- degrees -----------------------------------------------------------------------------------


#: Multiples of 1/10 and of 1/100; 0 and 1 are frequent.
DEGREES = st.sampled_from(
    [0.0] * 30 + [1.0] * 10 + [i / 10 for i in range(11)] * 4 + [i / 100 for i in range(101)]
)


@st.composite
def distributions(draw: Draw, size: int) -> list[float]:
    """A normalised distribution: some value has degree 1."""
    pi = draw(st.lists(DEGREES, min_size=size, max_size=size))
    pi[draw(st.integers(0, size - 1))] = 1.0
    return pi


@st.composite
def probabilities(draw: Draw, max_size: int = 8) -> list[int]:
    """Probabilities as counts of a whole (divide by the sum): ties and zeros are frequent."""
    size = draw(st.integers(1, max_size))
    counts = draw(st.lists(st.integers(0, 5) | st.integers(0, 1000), min_size=size, max_size=size))
    counts[draw(st.integers(0, size - 1))] += 1
    return counts


def random_batch(rng: np.random.Generator, n: int, size: int, grid: int = 10) -> FloatArray:
    """Draw `n` normalised distributions on a decimal grid."""
    rows = rng.integers(0, grid + 1, (n, size)) / grid
    rows[rng.random((n, size)) < 0.3] = 0.0
    rows[np.arange(n), rng.integers(0, size, n)] = 1.0
    return rows


# --- attributes and propositions ---------------------------------------------------------------


_PLAIN: st.SearchStrategy[Hashable] = st.one_of(
    st.integers(-3, 12),
    st.integers(-(10**20), 10**20),
    st.sampled_from(ODD_TEXTS),
    st.text(max_size=4),
    st.booleans(),
    st.none(),
    st.floats(allow_nan=False, allow_infinity=False),
)
#: Domain values of every kind that has a written form.
VALUES = st.recursive(_PLAIN, lambda v: st.lists(v, max_size=3).map(tuple), max_leaves=4)
MIXED_DOMAINS = st.lists(VALUES, min_size=1, max_size=6, unique=True)

_PRINTABLE = st.text(
    st.characters(exclude_categories=("C", "Z"), exclude_characters="`"), min_size=1, max_size=5
)
#: Names of attributes, plain and odd.
NAMES = st.sampled_from(ODD_NAMES) | _PRINTABLE.filter(str.isprintable)
MANY_NAMES = st.lists(NAMES, min_size=12, max_size=12, unique=True)

SIZES = st.integers(1, 6)
#: Domains of one to six values of some kinds, quick to draw.
FEW_DOMAINS = st.sampled_from(
    [(False, True), ("low", "medium", "high"), ((0, 0), (0, 1), (1, 0), (1, 1)), (1, "1", (1,))]
    + [tuple(range(n)) for n in range(1, 7)] * 2
)


@st.composite
def attributes(draw: Draw, name: str | None = None, odd: bool = True) -> Attribute:
    """A plain attribute: a range of integers, or (where `odd`) values of mixed kinds."""
    name = draw(NAMES) if name is None else name
    return Attribute(name, draw(MIXED_DOMAINS if odd and draw(st.booleans()) else FEW_DOMAINS))


def chosen(attribute: Attribute, mask: int) -> list[Hashable]:
    """Return the values at the set bits of `mask`."""
    return [v for i, v in enumerate(attribute.domain) if mask >> i & 1]


@st.composite
def propositions(draw: Draw, attribute: Attribute, empty: bool = True) -> Proposition:
    """A proposition on any subset, the full and (where allowed) the empty one included."""
    full = 2 ** len(attribute.domain) - 1
    return attribute.isin(chosen(attribute, draw(st.integers(0 if empty else 1, full))))


def literal(value: Hashable) -> str:
    """Write a value as conditions take it: texts in quotes."""
    if isinstance(value, tuple):
        return f"({''.join(literal(v) + ',' for v in value)})"
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value) if isinstance(value, str) else repr(value)


@st.composite
def conditions(draw: Draw, attribute: Attribute) -> str:
    """The text of a condition on an attribute, or on the factors of a product."""
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        part = draw(st.sampled_from(attribute.factors or (attribute,)))
        writable = [v for v in part.domain if "()" not in literal(v)]  # `()` is no expression
        value = literal(draw(st.sampled_from(writable or [0])))
        test = draw(st.sampled_from(["{} == {}", "{} != {}", "{} in {{{}}}", "not {} == {}"]))
        parts.append(test.format(f"`{part.name}`", value))
    return draw(st.sampled_from([" and ", " or "])).join(parts)


@st.composite
def stated(draw: Draw, attribute: Attribute, empty: bool = True) -> Proposition:
    """A proposition given by its values or by the text of a condition."""
    if draw(st.booleans()):
        try:
            proposition = attribute.where(draw(conditions(attribute)))
        except DomainError:
            pass
        else:
            if empty or proposition.mask:
                return proposition
    return draw(propositions(attribute, empty=empty))


# --- rules and cascades ------------------------------------------------------------------------


@st.composite
def premises(draw: Draw, known: Sequence[Attribute], texts: bool = False) -> Premise:
    """A conjunction of one to three propositions; attributes may repeat."""
    which = draw(st.lists(st.sampled_from(list(known)), min_size=1, max_size=3))
    kind = stated if texts else propositions
    return reduce(and_, [draw(kind(a)) for a in which[1:]], Premise((draw(kind(which[0])),)))


@st.composite
def rules(draw: Draw, known: Sequence[Attribute], output: Attribute, texts: bool = False) -> Rule:
    """A rule with parameters on a decimal grid."""
    kind = stated if texts else propositions
    conclusion = draw(kind(output, empty=False))
    premise = draw(premises(known, texts))
    return Iff(premise).then(conclusion, draw(DEGREES), draw(DEGREES))


@st.composite
def rule_sets(
    draw: Draw,
    known: Sequence[Attribute],
    output: Attribute,
    max_rules: int = 5,
    texts: bool = False,
) -> RuleSet:
    """Rules that conclude on `output` from attributes of `known`."""
    one = rules(known, output, texts)
    return RuleSet(draw(st.lists(one, min_size=1, max_size=max_rules)))


@st.composite
def block_rule_sets(draw: Draw, parts: Sequence[Attribute], name: str) -> RuleSet:
    """Rules on each factor of a product, so that the sign table is a product of blocks.

    Sometimes a rule on both factors follows, so that it is not.
    """
    output = Attribute.product(name, *parts)
    made = []
    for place, part in enumerate(parts):
        full = 2 ** len(part.domain) - 1
        for mask in draw(st.lists(st.integers(1, full), min_size=1, max_size=3)):
            inside = chosen(part, mask)
            subset = [t for t in output.domain if isinstance(t, tuple) and t[place] in inside]
            premise = draw(propositions(part))
            s, r = draw(DEGREES), draw(DEGREES)
            made.append(Iff(premise).then(output.isin(subset), s, r))
    if draw(st.integers(0, 3)) == 0:
        made.append(draw(rules(parts, output)))
    return RuleSet(draw(st.permutations(made)))


@st.composite
def function_rule_sets(draw: Draw, known: Sequence[Attribute], output: Attribute) -> RuleSet:
    """Rules that say of a function of one attribute which value it takes: always coherent."""
    source = draw(st.sampled_from(list(known)))
    n = len(source.domain)
    image = draw(st.lists(st.sampled_from(output.domain), min_size=n, max_size=n))
    made = []
    for value in output.domain:
        reached = [u for u, v in zip(source.domain, image, strict=True) if v == value]
        s, r = draw(DEGREES), draw(DEGREES)
        made.append(Iff(source.isin(reached)).then(output.isin([value]), s, r))
    return RuleSet(made[draw(st.integers(0, len(made) - 1)) :])


@st.composite
def cascades(draw: Draw, texts: bool = False) -> Cascade:
    """Rule sets on one to four levels; outputs feed several later sets, some are products.

    With `texts` the names and values are odd ones, some propositions are given by conditions and
    an attribute may be declared that no rule uses.
    """
    fresh = iter(draw(MANY_NAMES) if texts else [f"a_{i}" for i in range(12)])
    known = [draw(attributes(next(fresh), texts)) for _ in range(draw(st.integers(1, 3)))]
    made: list[RuleSet] = []
    for _ in range(draw(st.integers(1, 4))):
        last = known[-4:]  # so that long chains occur
        made += [draw(_next_rule_set(last, next(fresh), texts)) for _ in range(draw(PAIR))]
        known += [s.output for s in made if s.output not in known]
    extra = [draw(attributes(next(fresh)))] if texts and draw(st.booleans()) else []
    return Cascade(*draw(st.permutations(made)), attributes=extra)


PAIR = st.integers(1, 2)


@st.composite
def _next_rule_set(draw: Draw, known: Sequence[Attribute], name: str, texts: bool) -> RuleSet:
    factors = draw(st.permutations(known))[: draw(st.integers(0, 3))]
    if len(factors) < 2 or prod(len(f.domain) for f in factors) > 36:
        output = draw(attributes(name, texts))
        if draw(st.booleans()):
            return draw(function_rule_sets(known, output))
    elif draw(st.booleans()):
        return draw(block_rule_sets(factors, name))
    else:
        output = Attribute.product(name, *factors)
    return draw(rule_sets(known, output, texts=texts))


@dataclass(frozen=True)
class Case:
    """A cascade and evidence for it: one distribution for each input, in domain order."""

    cascade: Cascade
    evidence: dict[str, list[float]]


@st.composite
def cases(draw: Draw) -> Case:
    """A cascade with one sample."""
    cascade = draw(cascades())
    return Case(cascade, {a.name: draw(distributions(len(a.domain))) for a in cascade.inputs})


@dataclass(frozen=True)
class BatchCase:
    """A cascade and a batch of samples: an array (n, size) for each input."""

    cascade: Cascade
    evidence: dict[str, FloatArray]
    n: int

    def row(self, i: int) -> dict[str, list[float]]:
        """Return the evidence of one sample."""
        return {name: rows[i].tolist() for name, rows in self.evidence.items()}

    @property
    def some_rows(self) -> set[int]:
        """Samples to compare one by one: the first and last, every ninth, and where blocks end."""
        ends = {i for i in range(self.n) if i % 128 in (0, 1, 126, 127)}
        return {*range(0, self.n, 9), *ends, max(0, self.n - 2), self.n - 1}


@st.composite
def batches(draw: Draw, sizes: Sequence[int] = SAMPLE_SIZES) -> BatchCase:
    """A cascade with a batch of one of the sizes that block boundaries make interesting."""
    cascade = draw(cascades())
    n = draw(st.sampled_from(sizes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    grid = draw(st.sampled_from([10, 100]))
    evidence = {a.name: random_batch(rng, n, len(a.domain), grid) for a in cascade.inputs}
    return BatchCase(cascade, evidence, n)


# --- learning ----------------------------------------------------------------------------------


Sample = dict[str, list[Fraction]]
#: For each set the attributes that its premises use: 0 and 1 are inputs, set `i` gives ``i + 2``.
SHAPES: list[list[tuple[int, ...]]] = [
    [(0, 1)],
    [(0, 1), (2,)],
    [(0, 1), (2,), (3,)],
    [(0,), (0, 1), (2, 3)],
    [(0, 1), (1, 2), (2, 3)],
]


class LearningProblem(NamedTuple):
    """A cascade, samples, and targets for some of its sets: a value or degrees for each sample."""

    cascade: Cascade
    samples: list[Sample]
    targets: dict[str, list[Any]]


def decimals(size: int) -> st.SearchStrategy[list[Fraction]]:
    """A normalised distribution in fractions, on the grids of `DEGREES`."""
    return distributions(size).map(lambda pi: [oracles.decimal(d) for d in pi])


@st.composite
def learning_problems(draw: Draw) -> LearningProblem:
    """One to three small sets in a chain or a diamond, one to five samples."""
    n = draw(st.integers(1, 5))
    cascade = draw(shaped_cascades())
    samples = draw(st.lists(samples_of(cascade), min_size=n, max_size=n))
    outputs = [rule_set.output for rule_set in cascade.rule_sets]
    taught = draw(st.permutations(outputs))[draw(st.integers(0, len(outputs) - 1)) :]
    inferred = [infer_decimals(cascade, sample) for sample in samples]
    return LearningProblem(
        cascade,
        samples,
        {a.name: draw(target_lists(a, [one[a.name] for one in inferred])) for a in taught},
    )


@st.composite
def shaped_cascades(draw: Draw) -> Cascade:
    """One of `SHAPES`, with conclusions on any subsets or on the values of a function."""
    known = [draw(attributes(f"a_{i}", odd=False)) for i in range(2)]
    made = []
    for i, used in enumerate(draw(st.sampled_from(SHAPES)), len(known)):
        output, inputs = draw(attributes(f"a_{i}", odd=False)), [known[j] for j in used]
        kind = rule_sets(inputs, output, max_rules=4) | function_rule_sets(inputs, output)
        made.append(draw(kind))
        known.append(output)
    return Cascade(*draw(st.permutations(made)))


def samples_of(cascade: Cascade) -> st.SearchStrategy[Sample]:
    """A distribution for each input."""
    return st.fixed_dictionaries({a.name: decimals(len(a.domain)) for a in cascade.inputs})


def infer_decimals(cascade: Cascade, sample: Mapping[str, Sequence[Fraction]]) -> Sample:
    """What the rules say of a sample, in decimals; the largest degrees are raised to 1."""
    evidence = {
        a.name: dict(zip(a.domain, map(Fraction, map(float, sample[a.name])), strict=True))
        for a in cascade.inputs
    }
    found = oracles.infer(cascade.rule_sets, evidence).distributions
    top = {name: max(pi.values()) for name, pi in found.items()}
    return {
        name: [Fraction(1) if d == top[name] else oracles.decimal(float(d)) for d in pi.values()]
        for name, pi in found.items()
    }


@st.composite
def target_lists(draw: Draw, attribute: Attribute, inferred: Sequence[list[Fraction]]) -> list[Any]:
    """Values, or degrees: for each sample any, or those that the rules infer for it.

    Inferred targets are often consistent, some with a degree changed, so that distances are small.
    """
    best = [attribute.domain[pi.index(max(pi))] for pi in inferred]
    if draw(st.booleans()):
        return [draw(st.just(value) | st.sampled_from(attribute.domain)) for value in best]
    changed = [_one_changed(pi) for pi in inferred]
    anything = decimals(len(attribute.domain))
    return [draw(st.just(p) | q | anything) for p, q in zip(inferred, changed, strict=True)]


@st.composite
def _one_changed(draw: Draw, pi: list[Fraction]) -> list[Fraction]:
    """Change a degree, not the first that is 1."""
    places = [i for i in range(len(pi)) if i != pi.index(max(pi))]
    result = list(pi)
    if places:
        result[draw(st.sampled_from(places))] = draw(DEGREES.map(oracles.decimal))
    return result
