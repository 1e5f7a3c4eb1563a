"""What is the same for all samples when results on one attribute are explained."""

from collections.abc import Iterable, Mapping
from functools import cached_property

import numpy as np

from pinesy._common.caching import cached_on_owner
from pinesy._common.validation import FloatArray
from pinesy.engine.evidence import Evidence, Rows
from pinesy.engine.program import Program
from pinesy.exceptions import CascadeError, DegreeError, UnknownAttributeError
from pinesy.explanations.tables import IntArray, table_of
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.rule import If


class Plan:
    """What is the same for all samples when results on one attribute are explained.

    The program infers the attribute and the degree of each proposition that its rules use. A
    proposition `p` is asked for by an attribute of its own, with the one rule "if p then holds"
    and both parameters 0: then ``pi(holds) = Pi(P)`` and ``pi(fails) = Pi(not P)``. So a rule
    with 810 propositions costs 1620 numbers, not the 810 distributions behind them.

    Parameters
    ----------
    cascade : Cascade
    attribute : one that rules conclude on
    """

    def __init__(self, cascade: Cascade, attribute: Attribute) -> None:
        self.attribute = attribute
        self.table = table_of(cascade[attribute])
        self._concluded = frozenset(s.output.name for s in cascade.order)
        needed = cascade.needed([attribute.name])
        self.rule_sets = {s.output.name: s for s in needed}
        questions = self._questions(set(cascade.attributes))
        known = {a.name: a for a in cascade.inputs}
        units = [s.unit for s in [*needed, *questions]]
        outputs = [attribute, *(s.output for s in questions)]
        self.program = Program(units, outputs, known)
        self.places = _places(self.program.inputs)
        self._cascade_columns = _places(cascade.compile().inputs)
        code = self.program.code
        self.columns = code.columns[attribute.name]
        self.coherence = code.coherence.get(attribute.name)
        first = [code.columns[s.output.name].start for s in questions]
        self.held: IntArray = np.array(first, dtype=np.intp)

    def _questions(self, taken: set[str]) -> list[RuleSet]:
        found = []
        for number, proposition in enumerate(self.table.propositions):
            name = f"?{number}"
            while name in taken:
                name = f"?{name}"
            answer = Attribute(name, ("holds", "fails"))
            found.append(RuleSet([If(proposition).then(answer.isin({"holds"}))]))
        return found

    @cached_property
    def behind(self) -> Program:
        """The program for the distributions of all attributes behind the one explained."""
        names = [name for name in self.rule_sets if name != self.attribute.name]
        sets = [self.rule_sets[name] for name in names]
        known = {a.name: a for a in self.program.inputs}
        return Program([s.unit for s in sets], [s.output for s in sets], known)

    @cached_property
    def behind_columns(self) -> IntArray:
        """The columns of this plan's program that `behind` takes."""
        return _columns(self.places[a.name][1] for a in self.behind.inputs)

    @cached_property
    def known(self) -> dict[str, Attribute]:
        """The inputs of the whole cascade by name."""
        return {a.name: a for a, _ in self._cascade_columns.values()}

    @cached_property
    def _whole(self) -> tuple[Attribute, ...]:
        return tuple(a for a, _ in self._cascade_columns.values())

    @cached_property
    def _picked(self) -> IntArray:
        """The columns of the whole cascade that this plan's program takes."""
        return _columns(self._cascade_columns[name][1] for name in self.places)

    def row(self, evidence: Evidence) -> FloatArray:
        """Return the evidence of one sample as the columns of the program."""
        wanted = self.program.inputs if isinstance(evidence, Mapping) else self._whole
        columns = sum(len(a.domain) for a in wanted)
        rows = Rows.of(evidence, wanted, self.known, self._concluded, columns)
        if rows.is_batch:
            raise DegreeError(
                f"an explanation is of one sample; got a batch of {rows.n}. Pick one: "
                "{name: rows[i] for name, rows in evidence.items()}, or evidence[i] of one array"
            )
        row: FloatArray = rows.block(0, 1)[0]
        # A copy: explanations look at it later, when its owner may have changed it.
        return row.copy() if wanted is self.program.inputs else row[self._picked]


def _columns(parts: Iterable[slice]) -> IntArray:
    return np.concatenate([np.arange(p.start, p.stop) for p in parts])


def _places(attributes: tuple[Attribute, ...]) -> dict[str, tuple[Attribute, slice]]:
    places, start = {}, 0
    for attribute in attributes:
        places[attribute.name] = (attribute, slice(start, start + len(attribute.domain)))
        start += len(attribute.domain)
    return places


@cached_on_owner
def _plans(_: Cascade) -> dict[str, Plan]:
    """Return the plans of a cascade by attribute, to be filled."""
    return {}


def plan_for(cascade: Cascade, attribute: Attribute) -> Plan:
    """Return the plan for results on an attribute, made once."""
    made = _plans(cascade)
    if attribute.name not in made:
        if attribute in cascade.inputs:
            raise CascadeError(
                f"{attribute.name!r} is an input: it is perceived, no rule concludes on it; ask "
                f"for an attribute that rules conclude on, such as {cascade.outputs[0].name!r}"
            )
        if cascade.attributes.get(attribute.name) != attribute:
            cascade[attribute]  # raises where no rule concludes on this name
            raise UnknownAttributeError(
                f"the cascade's attribute {attribute.name!r} has another domain than {attribute!r}"
            )
        made[attribute.name] = Plan(cascade, attribute)
    return made[attribute.name]
