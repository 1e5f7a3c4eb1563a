"""Static checks of a rule base: likely mistakes, notes, and the cost of inference."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import product
from operator import or_
from typing import Literal, Protocol

import numpy as np

from pinesy._common.masks import mask_table, positions
from pinesy._common.reports import printed_html
from pinesy.engine.code import Code
from pinesy.engine.rule_set_kinds import COMPILING, RuleSetStructure, circuit_of
from pinesy.rulebase.clashes import DataCheck, RulePairs
from pinesy.rulebase.exactness import RuleNumber, upper_bounds
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.definitions import is_satisfiable
from pinesy.rules.outcomes import rule_numbers_text
from pinesy.rules.propositions import Proposition
from pinesy.rules.rule import Rule
from pinesy.rules.syntax.writer import format_subset, show_value

#: Cells times rules, and pairs of rules, at most, for the search of redundant rules.
REDUNDANCY_LIMIT, REDUNDANCY_PAIRS = 200_000, 1_000_000
#: Conflicting pairs of rules of a set that are listed, at most; more are counted.
PAIRS_LISTED = 1000
#: Work of the search of conflicts: unions of sets of rules, times their size plus a constant.
PAIRS_WORK, FIXED_WORK = 2 * 10**10, 3000
#: Findings of one kind that are printed, at most; more are counted.
MAX_SHOWN = 5
#: The note on degrees that are not known to be exact.
BOUND = (
    "its degrees, and those inferred from them, are upper bounds: they may exceed the exact ones"
)
Level = Literal["warning", "note"]
#: A remark on a rule set: its level, kind and message.
Remark = tuple[Level, str, str]


@dataclass(frozen=True)
class Finding:
    """A finding: level, kind, location (rule set or attribute) and message."""

    level: Level
    kind: str
    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.level}: {self.where}: {self.message} [{self.kind}]"


@dataclass(frozen=True)
class Cost:
    """The cost of inference: sizes of the rule base and of the compiled program."""

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
    """The findings on a rule base, warnings first; its cost; its results on samples, if any."""

    findings: tuple[Finding, ...]
    cost: Cost
    data: DataCheck | None = None

    def on(
        self, rules: "NumberedRules", data: DataCheck, lines: Sequence[int] | None = None
    ) -> "Report":
        """Return the report with results on samples; rules that clash become warnings."""
        findings = []
        for clash in data.clashes:
            where = f"row {clash.row}" if lines is None else f"line {lines[clash.row]}"
            verb = "clash" if len(clash.rules) > 1 else "excludes every value"
            clashing, first = rules.sets[clash.name].rules, rules.rule_number(clash.name, 0)
            texts = "; ".join(f"'{clashing[n - first]}'" for n in clash.rules[:MAX_SHOWN])
            of = f"{clash.count} of {data.samples} samples"
            message = f"{rule_numbers_text(clash.rules)} {verb} on {of}, such as {where}: {texts}"
            subject = f"rules on {clash.name!r}"
            findings.append(Finding("warning", "contradiction", subject, message))
        return Report((*findings, *self.findings), self.cost, data)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that are likely mistakes."""
        return tuple(f for f in self.findings if f.level == "warning")

    def summary(self, most: int = MAX_SHOWN) -> list[str]:
        """Return the findings as lines, at most `most` of each kind, and the number of others."""
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


class NumberedRules(Protocol):
    """Rule sets by the names of their outputs, and the numbers of their rules: a `Cascade`."""

    sets: Mapping[str, RuleSet]

    def rule_number(self, output: str, index: int) -> int:
        """Return the number of a rule."""


def check(
    rule_sets: Sequence[RuleSet],
    attributes: Mapping[str, Attribute],
    code: Code,
    rule_number: RuleNumber,
) -> Report:
    """Return the report on rule sets (see `Cascade.check`)."""
    findings = list(_find_unused_attributes(rule_sets, attributes))
    stated = [s for s in rule_sets if s.output.formula is None]
    for find, rule_set in product(CHECKS, stated):
        where = f"rules on {rule_set.output.name!r}"
        first = rule_number(rule_set.output.name, 0)
        remarks = find(rule_set, first)
        findings += [Finding(level, kind, where, text) for level, kind, text in remarks]
    findings += [
        Finding("note", "upper bound", f"attribute {name!r}", f"{BOUND}, as {reason}")
        for name, reason in upper_bounds(rule_sets, rule_number)
    ]
    findings.sort(key=lambda f: f.level != "warning")
    partitions = [s.partition for s in rule_sets]
    cost = Cost(
        len(rule_sets),
        sum(map(len, rule_sets)),
        sum(map(len, partitions)),
        sum(p.tree_nodes for p in partitions),
        code.n_templates,
        len(code.ops),
        len(code.args),
    )
    return Report(tuple(findings), cost)


def _find_unused_attributes(
    rule_sets: Sequence[RuleSet], attributes: Mapping[str, Attribute]
) -> Iterator[Finding]:
    """Find attributes that no rule uses."""
    in_rules = [a for s in rule_sets for a in (*s.inputs, s.output)]
    names = {a.name for a in in_rules} | {f.name for a in in_rules for f in a.factors}
    for name in attributes:
        if name not in names:
            message = "declared, but no rule uses it"
            yield Finding("warning", "unused attribute", f"attribute {name!r}", message)


def _find_shared_cells(rule_set: RuleSet, _first: int = 1) -> Iterator[Remark]:
    """Find values in the same cell, which always have the same degree."""
    if len(rule_set.partition) == len(rule_set.output.domain):
        return
    for cell in rule_set.partition.cells(rule_set.output.domain):
        if len(cell) > 1:
            yield "note", "one cell", f"no rule tells the values {format_subset(cell)} apart"


def _find_bounded_values(rule_set: RuleSet, _first: int = 1) -> Iterator[Remark]:
    """Find values whose degree is always below 1, or always 1, whatever the inputs."""
    if not any(
        1.0 in (rule.s, rule.r)
        or any(p.mask in (0, p.attribute.full) for p in rule.premise.propositions)
        for rule in rule_set.rules
    ):  # neither a parameter 1 nor a trivial premise: no term is bounded
        return
    lows, highs = _degree_ranges(rule_set)
    for value, low, high in zip(rule_set.output.domain, lows, highs, strict=True):
        text = show_value(value)
        if high < 1.0:
            message = f"the value {text} can never be fully possible: at most {high:g}"
            yield "warning", "never possible", message
        if low == 1.0:
            message = f"no rule can make the value {text} impossible: it always has degree 1"
            yield "warning", "never impossible", message


def _degree_ranges(rule_set: RuleSet) -> tuple[list[float], list[float]]:
    """Return the minima and the maxima of the degrees of all values over all inputs."""
    full, size = rule_set.output.full, len(rule_set.output.domain)
    masks: dict[tuple[float, float], int] = {}
    for rule in rule_set.rules:
        for inside, mask in ((1, rule.conclusion.mask), (0, full & ~rule.conclusion.mask)):
            term = _term_range(rule, inside)
            masks[term] = masks.get(term, 0) | mask
    table = mask_table(size, masks.values())
    terms = np.array([*masks])
    lows, highs = (np.where(table, terms[:, i], 1.0).min(axis=1).tolist() for i in (0, 1))
    return lows, highs


def _term_range(rule: Rule, inside: int) -> tuple[float, float]:
    """Return the minimum and maximum of a rule's term, alpha or beta, over all inputs."""
    propositions = rule.premise.propositions
    never = any(p.mask == 0 for p in propositions)
    always = all(p.mask == p.attribute.full for p in propositions)
    if inside:
        return (1.0, 1.0) if always else (rule.s, rule.s if never else 1.0)
    return (1.0, 1.0) if never else (rule.r, rule.r if always else 1.0)


def _find_unconcluded_values(rule_set: RuleSet, _first: int = 1) -> Iterator[Remark]:
    """Find values in no conclusion: they are possible only as far as all premises may fail."""
    concluded = reduce(or_, (rule.conclusion.mask for rule in rule_set.rules))
    left = Proposition(rule_set.output, rule_set.output.full & ~concluded)
    if left.mask:
        yield "note", "unconcluded", f"the values {format_subset(left.values)} are in no conclusion"


def _find_trivial_parts(rule_set: RuleSet, first: int = 1) -> Iterator[Remark]:
    """Find premises that hold always or never, conclusions and rules that exclude nothing."""
    for number, rule in enumerate(rule_set.rules, first):
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


def _find_duplicates(rule_set: RuleSet, first: int = 1) -> Iterator[Remark]:
    """Find rules with the same premise and conclusion."""
    first_number: dict[object, int] = {}
    for number, rule in enumerate(rule_set.rules, first):
        same_number = first_number.setdefault(_rule_key(rule), number)
        if same_number != number:
            other = rule_set.rules[same_number - first]
            equal = (rule.s, rule.r) == (other.s, other.r)
            same = "the same" if equal else "the same up to parameters"
            message = f"rules {same_number} and {number} are {same}: 'iff {rule.premise} then ...'"
            yield "warning", "duplicate", message


def _rule_key(rule: Rule) -> object:
    """Return the premise (without order) and the conclusion of a rule."""
    return frozenset(rule.premise.propositions), rule.conclusion


def _find_redundant_rules(rule_set: RuleSet, first: int = 1) -> Iterator[Remark]:
    """Find rules that never change a result."""
    kind = rule_set.unit.structure({a.name for a in rule_set.inputs})
    n = len(rule_set)
    if n * len(rule_set.partition) > REDUNDANCY_LIMIT or n * n > REDUNDANCY_PAIRS:
        yield "note", "not checked", "too many cells and rules to look for redundant rules"
        return
    twice = Counter(map(_rule_key, rule_set.rules))
    for j in _redundant_rules(kind):
        if twice[_rule_key(rule_set.rules[j])] > 1:
            continue  # reported as a duplicate: one of the two has to stay
        message = f"rule {first + j} changes nothing beside the others: '{rule_set.rules[j]}'"
        yield "warning", "redundant", message


@lru_cache(maxsize=256)
def _redundant_rules(kind: RuleSetStructure) -> tuple[int, ...]:
    """Return the indices of the rules whose term is never the minimum alone, in any cell."""
    with COMPILING:
        circuit = circuit_of(kind)
        rows = np.where(kind.partition.signs, circuit.alphas, circuit.betas).tolist()
        redundant = np.array([circuit.redundant_operands(row) for row in rows], dtype=np.bool_)
        return tuple(np.flatnonzero(redundant.all(axis=0)).tolist())


def _find_conflicts(rule_set: RuleSet, first: int = 1) -> Iterator[Remark]:
    """Find pairs of rules whose premises are compatible and whose conclusions are disjoint.

    It takes one union of sets of rules for each value of a subset, up to `PAIRS_WORK`.
    """
    rules, listed, left = rule_set.rules, 0, 0
    pairs = RulePairs(rules)
    for i, others in pairs:
        if pairs.work * (len(rules) + FIXED_WORK) > PAIRS_WORK:
            which = f"only pairs with rules {first} to {first + i - 1} are looked at"
            yield "note", "not checked", f"too many values and rules to find all conflicts: {which}"
            break
        if listed >= PAIRS_LISTED:
            left += others.bit_count()
            continue
        for j in positions(others):
            if _compatible(rules[i], rules[j]):  # formulas may exclude it
                listed += 1
                together = "can hold together, yet no value fits both conclusions"
                yield "warning", "conflict", f"rules {first + i} and {first + j} {together}"
    if left:
        message = f"{left:,} more pairs of rules that may hold together have no value in common"
        yield "warning", "conflict", f"{message}; they are counted, not listed"


def _compatible(first: Rule, second: Rule) -> bool:
    """Return whether some values of the inputs satisfy both premises."""
    return is_satisfiable(*first.premise.propositions, *second.premise.propositions)


#: Each takes a rule set, and the number of its first rule.
CHECKS: tuple[Callable[[RuleSet, int], Iterator[Remark]], ...] = (
    _find_bounded_values,
    _find_trivial_parts,
    _find_duplicates,
    _find_redundant_rules,
    _find_conflicts,
    _find_unconcluded_values,
    _find_shared_cells,
)
