"""Checks of a rule base: likely mistakes, oddities, and the cost of inference."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import product
from operator import or_
from typing import Literal

import numpy as np

from pinesy._common.masks import mask_table, positions
from pinesy._common.reports import printed_html
from pinesy.engine.code import Code
from pinesy.engine.rule_set_kinds import COMPILING, Kind, circuit_of
from pinesy.rulebase.clashes import DataCheck, RulePairs
from pinesy.rulebase.exactness import upper_bounds
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.definitions import is_satisfiable
from pinesy.rules.outcomes import rule_numbers_text
from pinesy.rules.propositions import Proposition
from pinesy.rules.rule import Rule
from pinesy.rules.syntax.writer import format_subset, show_value

#: Cells times rules, and pairs of rules, up to which every rule is tried for being redundant.
REDUNDANCY_LIMIT, REDUNDANCY_PAIRS = 200_000, 1_000_000
#: Pairs of rules that are listed of one set; more are counted.
PAIRS_LISTED = 1000
#: Sets of rules that are joined, times their size (small ones cost as if they were larger).
PAIRS_WORK, FIXED_WORK = 2 * 10**10, 3000
#: Findings of one kind that are written out; more are counted.
SHOWN = 5
#: The note on degrees that are not known to be exact.
BOUND = "its degrees, and what rests on them, are upper bounds: they may be above the exact ones"
Level = Literal["warning", "note"]
#: A remark on a rule set: its level, kind and message.
Remark = tuple[Level, str, str]


@dataclass(frozen=True)
class Finding:
    """A likely mistake or a note: its level and kind, the rule set or attribute, and a message."""

    level: Level
    kind: str
    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.level}: {self.where}: {self.message} [{self.kind}]"


@dataclass(frozen=True)
class Cost:
    """What there is to compute: sizes of the rule base, and of the program it becomes."""

    rule_sets: int
    rules: int
    cells: int
    tree_nodes: int
    kernels: int
    instructions: int
    operands: int

    def __str__(self) -> str:
        return (
            f"{self.rule_sets} rule sets, {self.rules} rules, {self.cells} cells, "
            f"{self.tree_nodes} prefix-tree nodes; compiled to {self.kernels} kernels, "
            f"{self.instructions} instructions, {self.operands} operands a sample"
        )


@dataclass(frozen=True, repr=False)
class Report:
    """The findings on a rule base, warnings first, its cost, and what it makes of samples."""

    findings: tuple[Finding, ...]
    cost: Cost
    data: DataCheck | None = None

    def on(
        self, data: DataCheck, sets: Mapping[str, RuleSet], lines: Sequence[int] | None = None
    ) -> "Report":
        """Return the report with what was seen on samples: rules that clash are warnings."""
        findings = []
        for clash in data.clashes:
            where = f"row {clash.row}" if lines is None else f"line {lines[clash.row]}"
            indices = [number - 1 for number in clash.rules]
            verb = "clash" if len(indices) > 1 else "excludes every value"
            texts = "; ".join(f"'{sets[clash.name].rules[j]}'" for j in indices[:SHOWN])
            of = f"{clash.count} of {data.samples} samples"
            message = f"{rule_numbers_text(indices)} {verb} on {of}, such as {where}: {texts}"
            subject = f"rules on {clash.name!r}"
            findings.append(Finding("warning", "contradiction", subject, message))
        return Report((*findings, *self.findings), self.cost, data)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that are likely mistakes."""
        return tuple(f for f in self.findings if f.level == "warning")

    def summary(self, most: int = SHOWN) -> list[str]:
        """Return the findings as lines, at most `most` of each kind and how many more there are."""
        kinds = Counter(f.kind for f in self.findings)
        lines: list[str] = []
        counts: Counter[str] = Counter()
        for finding in self.findings:
            counts[finding.kind] += 1
            if counts[finding.kind] <= most:
                lines.append(str(finding))
            elif counts[finding.kind] == kinds[finding.kind]:
                hidden = kinds[finding.kind] - most
                lines.append(f"{finding.level}: and {hidden} more [{finding.kind}]")
        return lines

    def __str__(self) -> str:
        data = [] if self.data is None else [str(self.data)]
        return "\n".join([*self.summary(), *data, f"cost: {self.cost}"])

    def __repr__(self) -> str:
        return f"Report({len(self.warnings)} warnings, {len(self.findings)} findings in all)"

    _repr_html_ = printed_html


def check(rule_sets: Sequence[RuleSet], attributes: Mapping[str, Attribute], code: Code) -> Report:
    """Return the report on rule sets (see `Cascade.check`)."""
    findings = list(_unused(rule_sets, attributes))
    stated = [s for s in rule_sets if s.output.formula is None]
    for look, rule_set in product(LOOKS, stated):
        where = f"rules on {rule_set.output.name!r}"
        findings += [Finding(level, kind, where, text) for level, kind, text in look(rule_set)]
    findings += [
        Finding("note", "upper bound", f"attribute {name!r}", f"{BOUND}, as {reason}")
        for name, reason in upper_bounds(rule_sets)
    ]
    findings.sort(key=lambda f: f.level != "warning")
    partitions = [s.partition for s in rule_sets]
    cost = Cost(
        len(rule_sets),
        sum(map(len, rule_sets)),
        sum(map(len, partitions)),
        sum(p.tree_nodes for p in partitions),
        code.n_kernels,
        len(code.ops),
        len(code.args),
    )
    return Report(tuple(findings), cost)


def _unused(rule_sets: Sequence[RuleSet], attributes: Mapping[str, Attribute]) -> Iterator[Finding]:
    in_rules = [a for s in rule_sets for a in (*s.inputs, s.output)]
    names = {a.name for a in in_rules} | {f.name for a in in_rules for f in a.factors}
    for name in attributes:
        if name not in names:
            message = "declared, but no rule uses it"
            yield Finding("warning", "unused attribute", f"attribute {name!r}", message)


def _one_cell(rule_set: RuleSet) -> Iterator[Remark]:
    """Values in one cell always get the same degree."""
    if len(rule_set.partition) == len(rule_set.output.domain):
        return
    for cell in rule_set.partition.cells(rule_set.output.domain):
        if len(cell) > 1:
            yield "note", "one cell", f"no rule tells the values {format_subset(cell)} apart"


def _bounds(rule_set: RuleSet) -> Iterator[Remark]:
    """Values whose degree cannot reach 1, or cannot fall below 1, whatever the inputs are."""
    if not any(_bounded(rule) for rule in rule_set.rules):
        return
    lows, highs = _ranges(rule_set)
    for value, low, high in zip(rule_set.output.domain, lows, highs, strict=True):
        text = show_value(value)
        if high < 1.0:
            message = f"the value {text} can never be fully possible: at most {high:g}"
            yield "warning", "never possible", message
        if low == 1.0:
            message = f"no rule can make the value {text} impossible: it always has degree 1"
            yield "warning", "never impossible", message


def _ranges(rule_set: RuleSet) -> tuple[list[float], list[float]]:
    """Return the lowest and highest degrees of values over all inputs; rules alike count once."""
    full, size = rule_set.output.full, len(rule_set.output.domain)
    inside_some: dict[tuple[float, float], int] = {}
    for rule in rule_set.rules:
        for inside, mask in ((1, rule.conclusion.mask), (0, full & ~rule.conclusion.mask)):
            term = _range_of(rule, inside)
            inside_some[term] = inside_some.get(term, 0) | mask
    table = mask_table(size, inside_some.values())
    terms = np.array([*inside_some])
    lows, highs = (np.where(table, terms[:, i], 1.0).min(axis=1).tolist() for i in (0, 1))
    return lows, highs


def _bounded(rule: Rule) -> bool:
    """Return whether a rule's terms can be bounded at all: a trivial premise, or a parameter 1."""
    return 1.0 in (rule.s, rule.r) or any(
        p.mask in (0, p.attribute.full) for p in rule.premise.propositions
    )


def _range_of(rule: Rule, inside: int) -> tuple[float, float]:
    """Return the lowest and highest value of a rule's term, alpha or beta, over all inputs."""
    propositions = rule.premise.propositions
    never = any(p.mask == 0 for p in propositions)
    always = all(p.mask == p.attribute.full for p in propositions)
    if inside:
        return (1.0, 1.0) if always else (rule.s, rule.s if never else 1.0)
    return (1.0, 1.0) if never else (rule.r, rule.r if always else 1.0)


def _unconcluded(rule_set: RuleSet) -> Iterator[Remark]:
    """Values in no conclusion: they are possible only so far as every premise may fail."""
    concluded = reduce(or_, (rule.conclusion.mask for rule in rule_set.rules))
    left = Proposition(rule_set.output, rule_set.output.full & ~concluded)
    if left.mask:
        yield "note", "unconcluded", f"the values {format_subset(left.values)} are in no conclusion"


def _trivial(rule_set: RuleSet) -> Iterator[Remark]:
    """Premises that hold always or never, conclusions that exclude nothing, empty rules."""
    for number, rule in enumerate(rule_set.rules, 1):
        if rule.conclusion.mask == rule_set.output.full:
            message = f"rule {number}: its conclusion leaves every value of the domain"
            yield "warning", "trivial conclusion", message
        if not _compatible(rule, rule) and all(p.mask for p in rule.premise.propositions):
            message = f"rule {number}: no values meet all of '{rule.premise}'"
            yield "warning", "contradictory premise", message
        for proposition in rule.premise.propositions:
            if proposition.mask in (0, proposition.attribute.full):
                frequency = "never" if proposition.mask == 0 else "always"
                message = f"rule {number}: '{proposition}' {frequency} holds"
                yield "warning", "trivial premise", message
        if rule.s == rule.r == 1.0:
            yield "warning", "says nothing", f"rule {number} says nothing: s = r = 1"


def _duplicates(rule_set: RuleSet) -> Iterator[Remark]:
    first_number: dict[object, int] = {}
    for number, rule in enumerate(rule_set.rules, 1):
        first = first_number.setdefault(_content(rule), number)
        if first != number:
            other = rule_set.rules[first - 1]
            equal = (rule.s, rule.r) == (other.s, other.r)
            same = "the same" if equal else "the same up to parameters"
            message = f"rules {first} and {number} are {same}: 'iff {rule.premise} then ...'"
            yield "warning", "duplicate", message


def _content(rule: Rule) -> object:
    """Return premise and conclusion of a rule, without order and parameters."""
    return frozenset(rule.premise.propositions), rule.conclusion


def _redundant(rule_set: RuleSet) -> Iterator[Remark]:
    kind = rule_set.unit.kind({a.name for a in rule_set.inputs})
    n = len(rule_set)
    if n * len(rule_set.partition) > REDUNDANCY_LIMIT or n * n > REDUNDANCY_PAIRS:
        yield "note", "not checked", "too many cells and rules to look for redundant rules"
        return
    twice = Counter(map(_content, rule_set.rules))
    for j in _redundant_rules(kind):
        if twice[_content(rule_set.rules[j])] > 1:
            continue  # reported as a duplicate: one of the two has to stay
        message = f"rule {j + 1} changes nothing beside the others: '{rule_set.rules[j]}'"
        yield "warning", "redundant", message


@lru_cache(maxsize=256)
def _redundant_rules(kind: Kind) -> tuple[int, ...]:
    """Return the rules whose term is above another one's in every cell, for all inputs."""
    with COMPILING:
        circuit = circuit_of(kind)
        rows = np.where(kind.partition.signs, circuit.alphas, circuit.betas).tolist()
        idle = np.array([circuit.idle(row) for row in rows], dtype=np.bool_)
        return tuple(np.flatnonzero(idle.all(axis=0)).tolist())


def _conflicts(rule_set: RuleSet) -> Iterator[Remark]:
    """Pairs of rules that may both fire and leave no value between them.

    Costs one "or" of sets of rules for each value of a subset, until `PAIRS_WORK`.
    """
    rules, listed, left = rule_set.rules, 0, 0
    pairs = RulePairs(rules)
    for i, others in pairs:
        if pairs.work * (len(rules) + FIXED_WORK) > PAIRS_WORK:
            which = f"only pairs with rules 1 to {i} are looked at"
            yield "note", "not checked", f"too many values and rules to find all conflicts: {which}"
            break
        if listed >= PAIRS_LISTED:
            left += others.bit_count()
            continue
        for j in positions(others):
            if _compatible(rules[i], rules[j]):  # formulas may exclude it
                listed += 1
                together = "can hold together, yet no value fits both conclusions"
                yield "warning", "conflict", f"rules {i + 1} and {j + 1} {together}"
    if left:
        message = f"{left:,} more pairs of rules that may hold together have no value in common"
        yield "warning", "conflict", f"{message}; they are counted, not listed"


def _compatible(first: Rule, second: Rule) -> bool:
    """Return whether some values of the inputs meet both premises."""
    return is_satisfiable(*first.premise.propositions, *second.premise.propositions)


LOOKS: tuple[Callable[[RuleSet], Iterator[Remark]], ...] = (
    _bounds,
    _trivial,
    _duplicates,
    _redundant,
    _conflicts,
    _unconcluded,
    _one_cell,
)
