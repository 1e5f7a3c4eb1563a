"""Checks of a rule base: contradictions, gaps, rules that never decide, and other likely mistakes.

Of up to `cases.MAX_CASES` cases (combinations of values that rules distinguish) all are tried; then
a contradiction or a gap is reported iff some case shows it. Of larger rule bases pairs of rules are
compared, a case is searched for each, and gaps are looked for in random cases.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, reduce
from operator import or_

import numpy as np

from pinesy._common.masks import mask_table, positions
from pinesy.engine.program import Program
from pinesy.engine.rule_set_kinds import COMPILING, RuleSetStructure, circuit_of
from pinesy.exact.exactness import RuleNumber, upper_bounds
from pinesy.rulebase.cases import (
    MAX_GROUPS,
    CaseGrid,
    case_of_rules,
    gap_boxes,
    max_cases,
    never_certain,
    random_gap,
    try_all_cases,
)
from pinesy.rulebase.check_report import FIRST_KINDS, Cost, Finding, Report
from pinesy.rulebase.clashes import RulePairs
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.definitions import is_satisfiable
from pinesy.rules.outcomes import rule_numbers_text
from pinesy.rules.propositions import Proposition
from pinesy.rules.rule import Rule
from pinesy.rules.syntax.writer import format_subset, show_value

#: Cells times rules, and pairs of rules, at most, for the search of redundant rules.
REDUNDANCY_LIMIT, REDUNDANCY_PAIRS = 200_000, 1_000_000
#: Contradictions of a set that are listed, at most; more are counted.
PAIRS_LISTED = 1000
#: Work of the search of conflicts: unions of sets of rules, times their size plus a constant.
PAIRS_WORK, FIXED_WORK = 2 * 10**10, 3000
#: Pairs of rules of a set for which a case is searched, where not all cases are tried.
PAIRS_WITH_CASE = 20


def check(
    rule_sets: Sequence[RuleSet],
    first_numbers: Mapping[str, int],
    attributes: Mapping[str, Attribute],
    inputs: Sequence[Attribute],
    program: Program,
    rule_number: RuleNumber,
) -> Report:
    """Return the report on rule sets (see `Cascade.check`).

    Parameters
    ----------
    rule_sets : in an order of inference
    first_numbers : the number of the first rule of each set, without those of formulas
    attributes : all that are declared, by name
    inputs : of the rule base
    program : infers the outputs
    rule_number : `Cascade.rule_number`
    """
    stated = [s for s in rule_sets if s.output.name in first_numbers]
    findings = list(_find_unused_attributes(rule_sets, attributes))
    for find in CHECKS:
        for rule_set in stated:
            findings += find(rule_set, first_numbers[rule_set.output.name])
    findings += _find_in_cases(rule_sets, first_numbers, inputs, program, _idle_rules(findings))
    findings += [
        Finding("note", "upper bound", name, _bound_message(name, reason))
        for name, reason in upper_bounds([s.unit for s in rule_sets], rule_number)
    ]
    findings.sort(key=_rank)
    partitions = [s.partition for s in rule_sets]
    code = program.code
    cost = Cost(
        len(rule_sets),
        sum(map(len, rule_sets)),
        sum(map(len, partitions)),
        sum(p.tree_nodes for p in partitions),
        code.n_templates,
        len(code.ops),
        len(code.args),
    )
    outputs = {a.name for a in program.outputs}
    between = [s.output for s in stated if s.output.name not in outputs and not s.output.factors]
    return Report(
        tuple(findings),
        tuple(inputs),
        tuple(between),
        program.outputs,
        sum(map(len, stated)),
        first_numbers,
        cost,
    )


def _rank(finding: Finding) -> int:
    """Return the rank of a finding in a report."""
    if finding.kind in FIRST_KINDS:
        return FIRST_KINDS.index(finding.kind)
    return len(FIRST_KINDS) + (finding.level != "warning")


def _bound_message(name: str, reason: str) -> str:
    return (
        f"the degrees of {name}, and those inferred from them, may exceed the exact ones (they are "
        f"upper bounds), as {reason}; infer(evidence, exact=True) gives the exact ones"
    )


def _idle_rules(findings: Sequence[Finding]) -> set[int]:
    """Return the numbers of the rules that are already known never to decide."""
    kinds = ("never decides", "trivial premise")
    return {number for finding in findings if finding.kind in kinds for number in finding.rules}


def _find_unused_attributes(
    rule_sets: Sequence[RuleSet], attributes: Mapping[str, Attribute]
) -> Iterator[Finding]:
    """Find attributes that no rule uses."""
    in_rules = [a for s in rule_sets for a in (*s.inputs, s.output)]
    names = {a.name for a in in_rules} | {f.name for a in in_rules for f in a.factors}
    for name in attributes:
        if name not in names:
            yield Finding("warning", "unused attribute", name, f"no rule uses {name}")


# --- in cases ---


def _find_in_cases(
    rule_sets: Sequence[RuleSet],
    first_numbers: Mapping[str, int],
    inputs: Sequence[Attribute],
    program: Program,
    idle: set[int],
) -> Iterator[Finding]:
    """Find contradictions, gaps and rules that never decide, with a case for each."""
    grid = CaseGrid(inputs, rule_sets)
    if grid.size > max_cases(program):
        yield from _find_in_some_cases(grid, rule_sets, first_numbers, program)
        return
    known = {a.name: a for a in inputs}
    tracer = Program([s.unit for s in rule_sets], [s.output for s in rule_sets], known, True)
    results = try_all_cases(grid, rule_sets, program.outputs, tracer)
    for count, ((name, group), cases) in enumerate(results.clashes.items()):
        if count == MAX_GROUPS:
            message = f"more than {count:,} groups of rules can contradict each other"
            yield Finding("warning", "contradiction", name, message)
            break
        is_member = np.zeros(grid.size, dtype=np.bool_)
        is_member[cases] = True
        box = grid.propositions(grid.box(is_member, int(cases[0])))
        yield _contradiction(name, group, first_numbers, box, grid.evidence(int(cases[0])))
    for output in program.outputs:
        name = output.name
        on = f" on {output.title or name}" * (len(program.outputs) > 1)
        for case, cells in gap_boxes(grid, results.gaps[name]):
            message = f"no rule decides{on} when"
            box = grid.propositions(cells)
            if not box:
                message = f"no rule decides{on}, whatever the inputs"
            yield Finding("note", "gap", name, message, (), box, grid.evidence(case))
    for rule_set in rule_sets:
        first = first_numbers.get(rule_set.output.name, 0)
        for index in results.idle[rule_set.output.name] if first else []:
            if first + index not in idle:
                propositions = rule_set.rules[index].premise.propositions
                reasons = never_certain(grid, tracer, propositions)
                yield _never_decides(rule_set, first, index, reasons[:1])


def _find_in_some_cases(
    grid: CaseGrid,
    rule_sets: Sequence[RuleSet],
    first_numbers: Mapping[str, int],
    program: Program,
) -> Iterator[Finding]:
    """Find pairs of rules that contradict each other, and a gap in random cases."""
    for count, rule_set in enumerate(rule_sets):
        if rule_set.output.name not in first_numbers:
            continue
        needed = _needed(rule_sets[: count + 1])
        n_searched = 0
        for finding, pair in _find_conflicts(rule_set, first_numbers[rule_set.output.name]):
            if pair and n_searched < PAIRS_WITH_CASE:
                n_searched += 1
                case = case_of_rules(grid, needed, pair)
                if case is not None:
                    rules = [rule_set.rules[i] for i in pair]
                    premises = tuple(p for rule in rules for p in rule.premise.propositions)
                    finding = _contradiction(finding.attribute, pair, first_numbers, premises, case)
            yield finding
    for output in program.outputs:
        case = random_gap(grid, output, program)
        if case is not None:
            on = f" on {output.title or output.name}" * (len(program.outputs) > 1)
            message = f"no rule decides{on} in some of {grid.size:,} cases"
            yield Finding("note", "gap", output.name, message, (), (), case)


def _needed(rule_sets: Sequence[RuleSet]) -> list[RuleSet]:
    """Return the rule sets that the last one depends on, and itself, in their order."""
    names = {rule_sets[-1].output.name}
    needed = []
    for rule_set in reversed(rule_sets):
        if rule_set.output.name in names:
            needed.append(rule_set)
            names.update(a.name for a in rule_set.inputs)
    return needed[::-1]


def _contradiction(
    name: str,
    group: Sequence[int],
    first_numbers: Mapping[str, int],
    propositions: tuple[Proposition, ...],
    case: Mapping[str, object],
) -> Finding:
    """Return the finding that rules contradict each other."""
    numbers = tuple(first_numbers[name] + index for index in group if name in first_numbers)
    message = f"the parts of the formula {name} contradict each other"
    if numbers:
        names = rule_numbers_text(numbers)
        can = "can contradict each other" if len(group) > 1 else "can exclude every value"
        message = f"{names} {can}: when" if propositions else f"{names} {can}"
    return Finding("warning", "contradiction", name, message, numbers, propositions, case)


def _never_decides(
    rule_set: RuleSet, first: int, index: int, reasons: Sequence[Proposition]
) -> Finding:
    """Return the finding that a rule never decides, as propositions are never certain."""
    why = "in no case without a contradiction does it exclude a value"
    why = "it is never certain that" if reasons else why
    message = f"rule {first + index} never decides: {why}"
    return _finding("never decides", rule_set, message, (first + index,), tuple(reasons))


def _find_conflicts(rule_set: RuleSet, first: int) -> Iterator[tuple[Finding, tuple[int, ...]]]:
    """Find pairs of rules whose premises are compatible and whose conclusions are disjoint.

    It takes one union of sets of rules for each value of a subset, up to `PAIRS_WORK`. Yields a
    finding without a case, and the indices of the rules.
    """
    rules, listed, left = rule_set.rules, 0, 0
    pairs = RulePairs(rules)
    name = rule_set.output.name
    for i, others in pairs:
        if pairs.work * (len(rules) + FIXED_WORK) > PAIRS_WORK:
            which = f"only pairs with rules {first} to {first + i - 1} are looked at"
            message = f"too many values and rules to find all contradictions: {which}"
            yield Finding("note", "not checked", name, message), ()
            break
        if listed >= PAIRS_LISTED:
            left += others.bit_count()
            continue
        for j in positions(others):
            if _compatible(rules[i], rules[j]):  # formulas may exclude it
                listed += 1
                names = rule_numbers_text([first + i, first + j])
                message = f"{names} may contradict each other: no value fits both conclusions"
                numbers = (first + i, first + j)
                yield Finding("warning", "contradiction", name, message, numbers), (i, j)
    if left:
        message = f"{left:,} more pairs of rules may contradict each other; they are counted only"
        yield Finding("warning", "contradiction", name, message), ()


# --- in each rule set ---


def _finding(
    kind: str,
    rule_set: RuleSet,
    message: str,
    rules: tuple[int, ...] = (),
    propositions: tuple[Proposition, ...] = (),
) -> Finding:
    """Return a warning on a rule set."""
    return Finding("warning", kind, rule_set.output.name, message, rules, propositions)


def _find_shared_cells(rule_set: RuleSet, _first: int) -> Iterator[Finding]:
    """Find values in the same cell, which always have the same degree."""
    if len(rule_set.partition) == len(rule_set.output.domain):
        return
    for cell in rule_set.partition.cells(rule_set.output.domain):
        if len(cell) > 1:
            name = rule_set.output.title or rule_set.output.name
            message = f"no rule tells these values of {name} apart: {format_subset(cell)}"
            yield Finding("note", "one cell", rule_set.output.name, message)


def _find_bounded_values(rule_set: RuleSet, _first: int) -> Iterator[Finding]:
    """Find values whose degree is always below 1, or always 1, whatever the inputs."""
    if not any(
        1.0 in (rule.s, rule.r)
        or any(p.mask in (0, p.attribute.full) for p in rule.premise.propositions)
        for rule in rule_set.rules
    ):  # neither a parameter 1 nor a trivial premise: no term is bounded
        return
    lows, highs = _degree_ranges(rule_set)
    name = rule_set.output.title or rule_set.output.name
    for value, low, high in zip(rule_set.output.domain, lows, highs, strict=True):
        text = show_value(value)
        if high < 1.0:
            message = f"{text} is never fully possible as a value of {name}: at most {high:g}"
            yield _finding("never possible", rule_set, message)
        if low == 1.0:
            message = f"no rule excludes {text} as a value of {name}"
            yield _finding("never impossible", rule_set, message)


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


def _find_unconcluded_values(rule_set: RuleSet, _first: int) -> Iterator[Finding]:
    """Find values that neither conclusions nor, where premises fail, converse rules lead to."""
    concluded = reduce(or_, (rule.conclusion.mask for rule in rule_set.rules))
    excluded = reduce(or_, (r.conclusion.mask for r in rule_set.rules if r.s < 1.0), 0)
    left = Proposition(rule_set.output, rule_set.output.full & ~concluded)
    if left.mask and excluded != concluded:
        name = rule_set.output.name
        yield Finding("note", "unconcluded", name, "no rule concludes that", (), (left,))


def _find_trivial_parts(rule_set: RuleSet, first: int) -> Iterator[Finding]:
    """Find premises that hold always or never, conclusions and rules that exclude nothing."""
    for number, rule in enumerate(rule_set.rules, first):
        never = f"rule {number} never decides"
        if rule.conclusion.mask == rule_set.output.full:
            message = f"{never}: its conclusion leaves every value"
            yield _finding("never decides", rule_set, message, (number,))
        if not _compatible(rule, rule) and all(p.mask for p in rule.premise.propositions):
            message = f"{never}: no inputs meet all of its premise"
            yield _finding("never decides", rule_set, message, (number,))
        for proposition in rule.premise.propositions:
            if proposition.mask in (0, proposition.attribute.full):
                frequency = "never" if proposition.mask == 0 else "always"
                message = f"in rule {number} '{proposition}' {frequency} holds"
                yield _finding("trivial premise", rule_set, message, (number,))
        if rule.s == rule.r == 1.0:
            message = f"{never}: it is not certain at all (s = r = 1)"
            yield _finding("never decides", rule_set, message, (number,))


def _find_duplicates(rule_set: RuleSet, first: int) -> Iterator[Finding]:
    """Find rules with the same premise and conclusion."""
    first_number: dict[object, int] = {}
    for number, rule in enumerate(rule_set.rules, first):
        earlier = first_number.setdefault(_rule_key(rule), number)
        if earlier != number:
            other = rule_set.rules[earlier - first]
            equal = (rule.s, rule.r) == (other.s, other.r)
            same = "the same" if equal else "the same up to their certainty"
            message = f"rules {earlier} and {number} are {same}"
            yield _finding("duplicate", rule_set, message, (earlier, number))


def _rule_key(rule: Rule) -> object:
    """Return the premise (without order) and the conclusion of a rule."""
    return frozenset(rule.premise.propositions), rule.conclusion


def _find_redundant_rules(rule_set: RuleSet, first: int) -> Iterator[Finding]:
    """Find rules that never change a result."""
    kind = rule_set.unit.structure({a.name for a in rule_set.inputs})
    n = len(rule_set)
    if n * len(rule_set.partition) > REDUNDANCY_LIMIT or n * n > REDUNDANCY_PAIRS:
        message = f"too many values and rules on {rule_set.output.name} to look for redundant ones"
        yield Finding("note", "not checked", rule_set.output.name, message)
        return
    twice = Counter(map(_rule_key, rule_set.rules))
    for j in _redundant_rules(kind):
        if twice[_rule_key(rule_set.rules[j])] > 1:
            continue  # reported as a duplicate: one of the two has to stay
        message = f"rule {first + j} never decides: the others exclude all that it excludes"
        yield _finding("never decides", rule_set, message, (first + j,))


@lru_cache(maxsize=256)
def _redundant_rules(kind: RuleSetStructure) -> tuple[int, ...]:
    """Return the indices of the rules whose term is never the minimum alone, in any cell."""
    with COMPILING:
        circuit = circuit_of(kind)
        rows = np.where(kind.partition.signs, circuit.alphas, circuit.betas).tolist()
        redundant = np.array([circuit.redundant_operands(row) for row in rows], dtype=np.bool_)
        return tuple(np.flatnonzero(redundant.all(axis=0)).tolist())


def _compatible(first: Rule, second: Rule) -> bool:
    """Return whether some values of the inputs satisfy both premises."""
    return is_satisfiable(*first.premise.propositions, *second.premise.propositions)


CHECKS: tuple[Callable[[RuleSet, int], Iterator[Finding]], ...] = (
    _find_bounded_values,
    _find_trivial_parts,
    _find_duplicates,
    _find_redundant_rules,
    _find_unconcluded_values,
    _find_shared_cells,
)
