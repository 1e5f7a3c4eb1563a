"""The parameters of rules before and after, rule by rule, those that changed most first."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.rulebase.cascade import Cascade
from pinesy.samples import Batch
from pinesy.studio.learning_runs import LearningOptions, learned

#: Rows that are shown of a difference.
SHOWN = 20


@dataclass(frozen=True, eq=False)
class ParameterTable:
    """The parameters of the same rules, twice.

    Attributes
    ----------
    rules : with the parameters after
    places : for each rule the name of its set, and its number there from 1 on
    before, after : arrays (rules, 2) of `s` and `r`
    """

    rules: Cascade
    places: list[tuple[str, int]]
    before: FloatArray
    after: FloatArray

    @classmethod
    def of(cls, before: Cascade, after: Cascade) -> "ParameterTable":
        """Compare rules that differ in nothing but their parameters."""
        places = [(s.output.name, i + 1) for s in after.order for i in range(len(s.rules))]
        return cls(after, places, _parameters(before), _parameters(after))

    @cached_property
    def changes(self) -> FloatArray:
        """The larger change of the two parameters of each rule."""
        return np.asarray(np.abs(self.after - self.before).max(axis=1, initial=0.0))

    @property
    def n_changed(self) -> int:
        """How many rules have other parameters."""
        return int((self.changes > 0.0).sum())

    def page(self, start: int, count: int, all_rules: bool) -> dict[str, Any]:
        """Return some rows: those that changed most first, or all in the order of the rules."""
        order = np.argsort(-self.changes, kind="stable")[: self.n_changed]
        chosen = np.arange(len(self.places)) if all_rules else order
        return {
            "total": len(chosen),
            "changed": self.n_changed,
            "rules": len(self.places),
            "start": start,
            "rows": [self._row(i) for i in chosen[start : start + count].tolist()],
        }

    def _row(self, i: int) -> dict[str, Any]:
        name, number = self.places[i]
        return {
            "set": name,
            "rule": number,
            "text": self.rules[name].rules[number - 1].line(5),
            "before": self.before[i].tolist(),
            "after": self.after[i].tolist(),
        }


def _parameters(rules: Cascade) -> FloatArray:
    pairs = [np.stack([one.s, one.r], axis=1) for one in rules.order]
    return np.concatenate(pairs)


def learned_difference(
    rules: Cascade, before: Batch, after: Batch, method: object
) -> dict[str, Any]:
    """Learn from samples with two kinds of labels; return which parameters differ."""
    options = LearningOptions.of({"method": method})
    one, other = (learned(rules, batch, options).cascade for batch in (before, after))
    return ParameterTable.of(one, other).page(0, SHOWN, all_rules=False)
