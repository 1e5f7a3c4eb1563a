"""One sample as explanations see it: degrees of whatever is looked at, found when it is."""

from dataclasses import dataclass, field
from functools import cached_property

from pinesy._common.validation import FloatArray
from pinesy.engine.evidence import Rows
from pinesy.engine.program import Program, run
from pinesy.explanations.plan import Plan
from pinesy.explanations.tables import BoolArray, PropositionDegrees, RuleTable, table_of
from pinesy.rules.attributes import Attribute


@dataclass
class Sample:
    """The degrees of one sample, found when they are looked at, each once."""

    plan: Plan
    row: FloatArray
    coherent: bool = field(init=False)

    def __post_init__(self) -> None:
        plan = self.plan
        out = _run(plan.program, self.row)
        self.coherent = plan.coherence is None or bool(out[plan.coherence] == 1.0)
        self._degrees = {plan.attribute.name: out[plan.columns]}
        asked = PropositionDegrees(out[plan.held], out[plan.held + 1])
        self._measured = {plan.attribute.name: asked}
        self._attaining: dict[tuple[str, float], BoolArray] = {}
        self._premises: dict[str, tuple[FloatArray, FloatArray]] = {}

    def is_input(self, name: str) -> bool:
        """Tell whether an attribute is perceived, not inferred."""
        return name in self.plan.places

    def attribute(self, name: str) -> Attribute | None:
        """Return the attribute of this name, if it is the one explained or behind it."""
        if self.is_input(name):
            return self.plan.places[name][0]
        return self.plan.rule_sets[name].output if name in self.plan.rule_sets else None

    def table(self, name: str) -> RuleTable:
        """Return the table of the rules that conclude on an attribute."""
        return table_of(self.plan.rule_sets[name])

    def degrees(self, name: str) -> FloatArray:
        """Return the distribution of an attribute."""
        found = self._degrees.get(name)
        if found is None:
            found = self._degrees[name] = self._find(name)
        return found

    def _find(self, name: str) -> FloatArray:
        if self.is_input(name):
            return self.row[self.plan.places[name][1]]
        inputs = self.plan.rule_sets[name].inputs
        if all(a.name in self._degrees or self.is_input(a.name) for a in inputs):
            return self.table(name).infer(self.measured(name))
        return self._behind[self.plan.behind.code.columns[name]]

    @cached_property
    def _behind(self) -> FloatArray:
        return _run(self.plan.behind, self.row[self.plan.behind_columns])

    def attaining(self, name: str, degree: float) -> BoolArray:
        """Return which values of an attribute have just this possibility."""
        key = (name, degree)
        if key not in self._attaining:
            self._attaining[key] = self.degrees(name) == degree
        return self._attaining[key]

    def measured(self, name: str) -> PropositionDegrees:
        """Return the degrees of the propositions that the rules on an attribute use."""
        if name not in self._measured:
            table = self.table(name)
            known = {n: self.degrees(n) for n in table.by_attribute}
            self._measured[name] = table.measure(known)
        return self._measured[name]

    def premises(self, name: str) -> tuple[FloatArray, FloatArray]:
        """Return the degrees ``lambda`` and ``rho`` of the rules on an attribute."""
        if name not in self._premises:
            self._premises[name] = self.table(name).premises(self.measured(name))
        return self._premises[name]


def _run(program: Program, row: FloatArray) -> FloatArray:
    """Run a program on one sample that is in the form of its columns."""
    rows = Rows(program.inputs, [row[None, :]], 1, False)
    out: FloatArray = run(program.code, rows)[:, 0]
    return out
