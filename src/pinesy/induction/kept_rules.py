"""Rules of the user's own, kept beside induced ones on the same columns."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pinesy._common.validation import as_list
from pinesy.exceptions import RuleSetError
from pinesy.induction.binary_features import BoolArray
from pinesy.induction.training_table import TableColumn, TrainingTable
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.propositions import Premise, Proposition
from pinesy.rules.rule import Rule


class KeptRules:
    """Rules that conclude on the target from conditions on columns.

    Parameters
    ----------
    keep : a rule, rules, a rule set or a cascade of one
    table : whose columns they are on
    """

    def __init__(self, keep: Any, table: TrainingTable) -> None:
        self._rules = _rules(keep)
        self._columns = {c.name: c for c in table.columns}
        for rule in self._rules:
            self._check(rule, table)

    def _check(self, rule: Rule, table: TrainingTable) -> None:
        output = rule.conclusion.attribute
        if output.name != table.target or set(output.domain) != set(table.classes):
            raise RuleSetError(
                f"the kept rule '{rule}' concludes on {output!r}; rules that are kept conclude on "
                f"{table.target!r}, with the values {list(table.classes)}"
            )
        for attribute in (p.attribute for p in rule.premise.propositions):
            column = self._columns.get(attribute.name)
            if column is None or (attribute.scale is None) != bool(column.domain):
                raise RuleSetError(
                    f"the kept rule '{rule}' is on {attribute.name!r}; rules that are kept are "
                    "conjunctions of conditions on the table's columns: on numbers by comparison"
                )
            if attribute.scale is not None and attribute.scale.blur:
                raise RuleSetError(
                    f"the kept rule '{rule}' is on {attribute.name!r} with a blur; induced rules "
                    "have sharp cuts: leave the blur out"
                )

    def cuts(self, column: str) -> tuple[float, ...]:
        """Return the cuts of a column that the rules use."""
        scales = (
            p.attribute.scale
            for r in self._rules
            for p in r.premise.propositions
            if p.attribute.name == column
        )
        return tuple(cut for scale in scales if scale is not None for cut in scale.cuts)

    def rules_on(self, inputs: Sequence[Attribute], output: Attribute) -> list[Rule]:
        """Return the rules on attributes that may have more cuts, or another order of values."""
        known = {a.name: a for a in (*inputs, output)}
        found = []
        for rule in self._rules:
            parts = [_moved(p, known[p.attribute.name]) for p in rule.premise.propositions]
            conclusion = _moved(rule.conclusion, output)
            found.append(Rule(Premise(tuple(parts)), conclusion, rule.s, rule.r))
        return found

    def undecided(self, columns: Sequence[TableColumn]) -> BoolArray:
        """Return the rows in which no premise holds, so that there is something to induce."""
        rows = np.ones(len(columns[0].values), dtype=np.bool_)
        for rule in self._rules:
            holds = np.ones_like(rows)
            for proposition in rule.premise.propositions:
                holds &= _holds(proposition, self._columns[proposition.attribute.name])
            rows &= ~holds
        return rows


def _rules(keep: Any) -> list[Rule]:
    if keep is None:
        return []
    if isinstance(keep, Rule):
        return [keep]
    if isinstance(keep, Cascade):
        return [rule for rule_set in keep.stated for rule in rule_set.rules]
    found = as_list(keep.rules if isinstance(keep, RuleSet) else keep, "keep", RuleSetError)
    for rule in found:
        if not isinstance(rule, Rule):
            raise RuleSetError(f"keep has {rule!r:.60}; give rules, or a set of them")
    return found


def _moved(proposition: Proposition, attribute: Attribute) -> Proposition:
    """Return the same proposition on an attribute of the same name."""
    old = proposition.attribute
    if old.scale is None or attribute.scale is None:
        return attribute.isin({v for i, v in enumerate(old.domain) if proposition.mask >> i & 1})
    lowest = (-np.inf, *attribute.scale.cuts)
    places = np.searchsorted(old.scale.cuts, lowest, side="right")
    return Proposition(
        attribute, sum(1 << i for i, k in enumerate(places) if proposition.mask >> int(k) & 1)
    )


def _holds(proposition: Proposition, column: TableColumn) -> BoolArray:
    """Return the rows in which a proposition certainly holds."""
    attribute, known = proposition.attribute, ~np.isnan(column.values)
    if attribute.scale is not None:
        places = np.searchsorted(attribute.scale.cuts, column.values, side="right")
        inside = np.array([proposition.mask >> i & 1 for i in range(len(attribute.domain))], bool)
        return np.asarray(known & inside[places])
    allowed = {v for i, v in enumerate(attribute.domain) if proposition.mask >> i & 1}
    of_value = np.array([*(v in allowed for v in column.domain), False])
    return np.asarray(known & of_value[np.where(known, column.values, -1).astype(np.int64)])
