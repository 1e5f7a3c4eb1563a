"""Programs that go from targets back to the inputs and forth again, compiled once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pinesy._common.caching import cached_on_owner
from pinesy._common.console import notice
from pinesy._common.validation import FloatArray
from pinesy.engine.code import Code
from pinesy.engine.compiler import link
from pinesy.engine.evidence import Rows
from pinesy.engine.program import run
from pinesy.inverse.backpropagation.reversal import Reversal
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute

COMPILING = "pinesy: compiling the rules ..."

Arrays = Mapping[str, FloatArray]


@dataclass(frozen=True)
class Results:
    """What a program gave for a batch: distributions by name, premise degrees by set."""

    code: Code
    out: FloatArray

    def degrees(self, attribute: Attribute) -> FloatArray:
        """Return the distributions of an attribute, of shape ``(n, |D_a|)``."""
        return self.out[self.code.columns[attribute.name]].T

    def first(self, attribute: Attribute) -> FloatArray:
        """Return the distribution of an attribute for the first sample."""
        return np.asarray(self.degrees(attribute)[0])

    def premises(self, attribute: Attribute) -> tuple[FloatArray, FloatArray]:
        """Return ``lambda`` and ``rho`` of the rules on an attribute, of shape ``(n, n_rules)``."""
        pairs = self.out[self.code.degrees[attribute.name]].T
        return pairs[:, 0::2], pairs[:, 1::2]


class Passage:
    """The programs for one cascade and one set of target attributes."""

    def __init__(self, cascade: Cascade, targets: Sequence[str]) -> None:
        self.reversal = Reversal(cascade, targets)
        sets = self.reversal.sets
        self.targets = {name: sets[name].output for name in targets}
        self.partitions = {name: sets[name].partition for name in targets}

    def back(self, targets: Arrays) -> Results:
        """Find the greatest inputs, without choices."""
        return self._run(self._back, targets)

    def forth(self, inputs: Arrays, normalised: bool) -> Results:
        """Infer what inputs give; where not all are `normalised`, by the formulas as they stand."""
        return self._run(self._forth if normalised else self._forth_loosely, inputs)

    def reach(self, targets: Arrays) -> Results:
        """Find ``M box F^up`` of each target."""
        return self._run(self._reaching, targets)

    def choose(self, targets: Arrays, switches: FloatArray, *, full: bool = False) -> Results:
        """Find the greatest inputs with choices; `switches` is 1 where one is on, ``(n, all)``.

        With `full`, every attribute's distribution and every premise degree is kept.
        """
        off = {
            a.name: np.stack([1.0 - switches[:, i], np.ones(len(switches))], axis=1)
            for i, a in enumerate(self.reversal.switches)
        }
        return self._run(self._full if full else self._choosing, {**targets, **off})

    @cached_property
    def _back(self) -> Code:
        back = self.reversal
        sets = [*self._reached_first(), *back.backward(choosing=False)]
        return self._link(sets, [*back.inputs, *self._chosen_from])

    @cached_property
    def _forth(self) -> Code:
        return self._link_forward([])

    @cached_property
    def _forth_loosely(self) -> Code:
        return self._link_forward([a.name for a in self.reversal.inputs])

    def _link_forward(self, loose: list[str]) -> Code:
        units = [s.unit for s in self.reversal.forward()]
        with notice(COMPILING):
            return link(units, self._inferred, self.reversal.inputs, self._lowered, loose)

    @cached_property
    def _reaching(self) -> Code:
        return self._link(self.reversal.reaching(), list(self.reversal.reached.values()))

    @cached_property
    def _choosing(self) -> Code:
        wanted = [*self.reversal.inputs, *self._inferred, *self._chosen_from]
        return self._link(self._all_sets(), wanted, self._lowered)

    @cached_property
    def _full(self) -> Code:
        back = self.reversal
        wanted = [*back.inputs, *back.inferred.values(), *back.sources.values()]
        return self._link(self._all_sets(), wanted, [a.name for a in back.inferred.values()])

    @property
    def _inferred(self) -> list[Attribute]:
        return [self.reversal.inferred[name] for name in self.targets]

    @property
    def _chosen_from(self) -> list[Attribute]:
        """The targets of the sets that have conjunctions: they tell ``lambda_up``."""
        sources = self.reversal.sources
        return [sources[name] for name in dict.fromkeys(n for n, _ in self.reversal.choices)]

    @property
    def _lowered(self) -> list[str]:
        """The sets that have conjunctions, by the names of what is inferred."""
        names = dict.fromkeys(n for n, _ in self.reversal.choices)
        return [self.reversal.inferred[name].name for name in names]

    def _reached_first(self) -> list[RuleSet]:
        used = {a.name for a in self.reversal.sources.values()}
        return [s for s in self.reversal.reaching() if s.output.name in used]

    def _all_sets(self) -> list[RuleSet]:
        back = self.reversal
        return [*self._reached_first(), *back.backward(choosing=True), *back.forward()]

    def _link(
        self, sets: list[RuleSet], outputs: list[Attribute], degrees: Sequence[str] = ()
    ) -> Code:
        known = [*self.targets.values(), *self.reversal.switches]
        distinct = list({a.name: a for a in outputs}.values())
        with notice(COMPILING):
            return link([s.unit for s in sets], distinct, known, degrees)

    def _run(self, code: Code, arrays: Arrays) -> Results:
        parts = [arrays[a.name] for a in code.inputs]
        rows = Rows(code.inputs, parts, len(parts[0]), True)
        return Results(code, run(code, rows))


def passage_of(rules: RuleSet | Cascade, cascade: Cascade, targets: Sequence[str]) -> Passage:
    """Return the programs for some targets, kept as long as the rules that they belong to."""
    known, key = _passages(rules), tuple(targets)
    if key not in known:
        known[key] = Passage(cascade, key)
    return known[key]


@cached_on_owner
def _passages(_rules: RuleSet | Cascade) -> dict[tuple[str, ...], Passage]:
    return {}
