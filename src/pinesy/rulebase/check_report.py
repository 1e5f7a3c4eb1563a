"""The report on a rule base: findings in sentences, what it takes to what, and its cost."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pinesy._common.reports import count_text
from pinesy.rulebase.clashes import DataCheck
from pinesy.rules.attributes import Attribute
from pinesy.rules.outcomes import rule_numbers_text
from pinesy.rules.propositions import Proposition

#: Findings of one kind that are printed, at most; more are counted.
MAX_SHOWN = 5
Level = Literal["warning", "note"]
#: The kinds to look at first, in this order; then other warnings, then other notes.
FIRST_KINDS = ("contradiction", "gap", "never decides")


@dataclass(frozen=True)
class Finding:
    """A finding on a rule base.

    Attributes
    ----------
    level : ``"warning"`` for a likely mistake, else ``"note"``
    kind : such as ``"contradiction"``, ``"gap"`` or ``"never decides"``
    attribute : the name of the attribute that it is about, which `rules` conclude on
    message : the sentence, without `propositions`
    rules : the numbers of the rules, through the whole rule base, from 1
    propositions : what the sentence ends with: for which inputs, or what is never certain
    case : a plain value for each input that shows it, as `infer` takes it; or None
    """

    level: Level
    kind: str
    attribute: str
    message: str
    rules: tuple[int, ...] = ()
    propositions: tuple[Proposition, ...] = ()
    case: Mapping[str, Any] | None = None

    @property
    def text(self) -> str:
        """The finding as a sentence."""
        from pinesy.display.finding_text import finding_text

        return finding_text(self.message, self.propositions)

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data."""
        return {
            "level": self.level,
            "kind": self.kind,
            "attribute": self.attribute,
            "text": self.text,
            "rules": list(self.rules),
            "case": None if self.case is None else dict(self.case),
        }

    def __str__(self) -> str:
        return self.text


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
    """What `Cascade.check` finds: what to look at first comes first.

    Attributes
    ----------
    findings : contradictions, gaps, rules that never decide; other warnings, other notes
    inputs, between, outputs : the attributes that rules take to others, on the way, and at the end
    n_rules : the number of rules that the text of the rule base has
    first_numbers : by the name of an attribute, the number of the first rule on it
    cost : the cost of inference
    data : results on samples, or None
    """

    findings: tuple[Finding, ...]
    inputs: tuple[Attribute, ...]
    between: tuple[Attribute, ...]
    outputs: tuple[Attribute, ...]
    n_rules: int
    first_numbers: Mapping[str, int]
    cost: Cost
    data: DataCheck | None = None

    @property
    def overview(self) -> str:
        """What the rules take to what, as a sentence."""
        from pinesy.display.finding_text import overview_text

        return overview_text(self.n_rules, self.inputs, self.between, self.outputs)

    def case_text(self, finding: Finding) -> str:
        """Return the case of a finding in words; an empty text without one."""
        from pinesy.display.finding_text import case_text

        return case_text(finding.case or {}, self.inputs)

    def on(self, data: DataCheck, lines: Sequence[int] | None = None) -> "Report":
        """Return the report with results on samples; rules that clash become warnings."""
        cases = {f.rules: f.case for f in self.findings if f.kind == "contradiction" and f.rules}
        findings = []
        for clash in data.clashes:
            where = f"row {clash.row}" if lines is None else f"line {lines[clash.row]}"
            numbers = clash.rules if clash.name in self.first_numbers else ()
            names = f"the parts of the formula {clash.name}"
            names = rule_numbers_text(numbers) if numbers else names
            verb = "excludes every value" if len(numbers) == 1 else "contradict each other"
            message = f"{names} {verb} on {clash.count} of {data.samples} samples, such as {where}"
            case = cases.get(numbers)
            finding = Finding("warning", "contradiction", clash.name, message, numbers, (), case)
            findings.append(finding)
        on_samples = {finding.rules for finding in findings}
        others = (f for f in self.findings if not f.rules or f.rules not in on_samples)
        return replace(self, findings=(*findings, *others), data=data)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that are likely mistakes."""
        return tuple(f for f in self.findings if f.level == "warning")

    def first_findings(self, most: int = MAX_SHOWN) -> tuple[list[Finding], list[str]]:
        """Return at most `most` findings of each kind, and sentences that count the others."""
        totals = Counter(f.kind for f in self.findings)
        counts: Counter[str] = Counter()
        first = []
        for finding in self.findings:
            counts[finding.kind] += 1
            if counts[finding.kind] <= most:
                first.append(finding)
        left = {kind: total - most for kind, total in totals.items() if total > most}
        return first, [f"And {count_text(n, 'finding', 'more ')}: {k}." for k, n in left.items()]

    def __str__(self) -> str:
        first, left = self.first_findings()
        lines = [
            f"{finding.text} For example: {self.case_text(finding)}."
            if finding.case
            else finding.text
            for finding in first
        ]
        data = [] if self.data is None else [str(self.data)]
        return "\n".join([self.overview, *lines, *left, *data])

    def __repr__(self) -> str:
        return f"Report({len(self.warnings)} warnings, {len(self.findings)} findings in all)"

    def _repr_html_(self) -> str:
        from pinesy.display.cards import check_card

        return check_card(self)
