"""The reliability audit: which training samples contradict the rules, where, and by how much."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from pinesy._common.console import data_frame, text_table
from pinesy._common.markup import BLUE, ORANGE, first_lines, tag
from pinesy._common.names import name_of
from pinesy._common.pages import axes_for
from pinesy._common.validation import (
    BoolArray,
    FloatArray,
    check_integer,
    check_known,
    check_sample,
)
from pinesy.engine.code import Code
from pinesy.engine.evidence import Evidence
from pinesy.engine.program import Trace, run
from pinesy.learning.learn import learn
from pinesy.learning.learning_arguments import Rules, TrainingBatch, batch_of
from pinesy.learning.set_audits import (
    Blame,
    Judged,
    LabelJudges,
    SetAudit,
    SetSuspicion,
    judged_sets,
    rule_terms,
    short,
    values_text,
)
from pinesy.learning.stages import CascadeStages
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.equations import EquationSystem
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.rules.syntax.writer import show_value

#: Samples that the printed table shows.
SHOWN = 10
#: The numbers of a row that the printed table shows.
NUMBERS = ("suspicion", "nabla", "support")
HEAD = ("sample", *NUMBERS, "set", "label", "repaired", "contradiction")
#: What a row says of the blame, as that does itself.
BLAMED = ("rule", "text", "side", "degree", "limit", "limit_text", "reason")


def audit(
    rules: Rules,
    evidence: Evidence,
    targets: Any,
    *,
    method: Judged = "given",
    folds: int = 5,
    seed: int = 0,
) -> "Audit":
    """Judge training samples: how badly, and where, each contradicts the rules.

    Those that do are training data of poor quality [subsec:poorqualtrainingdata]. The judgement is
    the Chebyshev distance ``nabla`` of a sample's equation system for each rule set: by so much, at
    least, some degree of its target must change before any parameters give it. It does not depend
    on the set's own parameters, but the premise degrees of later sets depend on those of earlier
    ones, which are taken as they are: audit ``result.cascade`` for what `learn` found. Cost:
    O(omega n) a sample and set; memory: a few numbers a sample and set.

    Beside it stands the *suspicion* ``max_u pi*(u) - pi*(label)``: by how much the rules, with
    their parameters, find another value more possible. With a `method` the parameters are learned,
    each sample's from the folds that it is not in, and samples are ranked by suspicion first: that
    is the way to find wrong labels in noisy data, where rules have exceptions.

    Parameters
    ----------
    rules : a rule set or a cascade
    method : ``"given"``, the parameters that the rules have; or a method of `learn`
    folds, seed : with a method of `learn`, the number of folds, and what they are drawn by
    evidence, targets : as `learn` takes them; they are not copied, and `Audit.repaired` looks at
        them again

    Examples
    --------
    >>> from pinesy import Attribute, Iff, RuleSet
    >>> rain, grass = Attribute("rain", ["yes", "no"]), Attribute("grass", ["wet", "dry"])
    >>> rules = RuleSet([Iff(rain.isin({"yes"})).then(grass.isin({"wet"}))])
    >>> found = audit(rules, {"rain": [[1.0, 0.0], [0.2, 1.0], [1.0, 0.3]]}, ["wet", "wet", "wet"])
    >>> found.order, found.worst
    (array([1, 2, 0]), array([0. , 1. , 0.3]))
    >>> blame = found.blame(2)[0]
    >>> blame.values, blame.target, blame.rule, blame.side, blame.degree
    (('dry',), 0.0, 1, 'complement', 0.3)
    >>> found.repaired(1)["grass"]
    Possibility(grass, {dry: 1, wet: 0.2})
    """
    cascade = as_cascade(rules)
    batch = batch_of(cascade, evidence, targets)
    code = CascadeStages(cascade, batch.targets).program()
    sets = judged_sets(cascade, code, batch)

    def learned_from(kept: BoolArray) -> Cascade:
        evidence, targets = batch.part(np.flatnonzero(kept))
        learned = learn(cascade, evidence, targets, method=cast(Any, method))
        return cast(Cascade, learned.cascade)

    judges = LabelJudges.of(cascade, batch.n, method, folds, seed, learned_from)
    return Audit(cascade, sets, judges.suspicions(batch), method, code, batch, judges)


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """Training samples, ranked by how badly they contradict the rules.

    Attributes
    ----------
    cascade : the rules that the samples were judged by
    sets : by the name of each output with a target, a `SetAudit`
    labels : by the same names, how possible the labels are: a `SetSuspicion`
    method : where the parameters behind `labels` come from
    """

    cascade: Cascade
    sets: Mapping[str, SetAudit]
    labels: Mapping[str, SetSuspicion]
    method: Judged
    _code: Code
    _batch: TrainingBatch
    _judges: LabelJudges

    def __len__(self) -> int:
        """Return the number of samples."""
        return self._batch.n

    def __getitem__(self, key: str | Attribute) -> SetAudit:
        """Return what was found for one rule set."""
        name = name_of(key)
        check_known(name, self.sets, f"{name!r} had no target")
        return self.sets[name]

    @property
    def nabla(self) -> dict[str, FloatArray]:
        """The distance of each sample, for each rule set."""
        return {name: one.nabla for name, one in self.sets.items()}

    @property
    def agrees(self) -> dict[str, BoolArray]:
        """Whether repair leaves the target its best values, for each rule set and sample."""
        return {name: one.agrees for name, one in self.sets.items()}

    @cached_property
    def worst(self) -> FloatArray:
        """The largest distance of each sample, over the rule sets."""
        return np.asarray(np.max(list(self.nabla.values()), axis=0))

    @cached_property
    def support(self) -> FloatArray:
        """The least possibility that a set, taken as certain, gives to what has target 1."""
        return np.asarray(np.min([one.support for one in self.sets.values()], axis=0))

    @cached_property
    def suspicion(self) -> FloatArray:
        """The largest suspicion of a label of each sample, over the rule sets."""
        return np.asarray(np.max([one.suspicion for one in self.labels.values()], axis=0))

    @cached_property
    def impossible(self) -> BoolArray:
        """Which samples have a label of possibility 0."""
        return np.asarray(np.min([one.possibility for one in self.labels.values()], axis=0) == 0.0)

    @cached_property
    def order(self) -> npt.NDArray[np.intp]:
        """All samples, worst first.

        With learned parameters by `suspicion`, the largest first. Then, and without, by `worst`,
        the largest first; then by `support`, the lowest first, because ``worst`` is 1 wherever
        another value than the target's is fully possible, be the target's nearly so or not at all;
        then by the sum of ``nabla`` over the sets; then by index.
        """
        total = np.sum(list(self.nabla.values()), axis=0)
        first = np.zeros(len(self)) if self.method == "given" else -self.suspicion
        return np.lexsort((-total, self.support, -self.worst, first))

    def top(self, k: int = SHOWN) -> npt.NDArray[np.intp]:
        """Return the `k` worst samples, worst first."""
        return self.order[: check_integer(k, "the number of samples")]

    def blame(self, sample: int) -> list[Blame]:
        """Return where a sample contradicts the rules: for each set that it does, worst first."""
        i = check_sample(sample, len(self))
        blames = [self._blame(name, i) for name, one in self.sets.items() if one.nabla[i] > 0.0]
        return sorted(blames, key=lambda blame: (-blame.nabla, blame.support))

    def _blame(self, name: str, i: int) -> Blame:
        return self.sets[name].blame(i, self._batch.targets[name].distribution(i))

    def equations(self, sample: int) -> dict[str, EquationSystem]:
        """Return the equation system of a sample, for each rule set."""
        i = check_sample(sample, len(self))
        out = run(self._code, self._batch.single(i).rows(self._code))[:, 0]
        systems = {}
        for name, one in self.sets.items():
            partition, degrees = one.rule_set.partition, out[self._code.degrees[name]]
            target = partition.possibilities(self._batch.targets[name].distribution(i))
            systems[name] = EquationSystem(partition, degrees[0::2], degrees[1::2], target)
        return systems

    def repaired(self, sample: int) -> dict[str, Possibility]:
        """Return the minimally repaired target of each set: the nearest that parameters give.

        Of several that are as near it is the lowest, and it need not be normalised.
        """
        return {
            name: Possibility(
                self.cascade[name].output, system.lowest_approximation[system.partition.cell_of]
            )
            for name, system in self.equations(sample).items()
        }

    def rows(self, k: int | None = None) -> Iterator[dict[str, Any]]:
        """Yield a plain dict for each of the `k` worst samples (by default all), worst first.

        It is about the set with the largest distance and, of these, the least support. Values are
        written as text; `repaired` is None where several are best after repair, and all of the
        blame where there is none.
        """
        for i in self.top(len(self) if k is None else k).tolist():
            yield self.row(i)

    def row(self, sample: int) -> dict[str, Any]:
        """Return what `rows` has on one sample."""
        i = check_sample(sample, len(self))
        name = self._worst_set(i)
        one, label = self.sets[name], self._label(name, i)
        blame = self._blame(name, i) if one.nabla[i] > 0.0 else None
        judged = self.labels[name]
        return {
            "sample": i,
            "suspicion": float(judged.suspicion[i]),
            "possibility": float(judged.possibility[i]),
            "nabla": float(one.nabla[i]),
            "support": float(one.support[i]),
            "set": name,
            "label": label,
            "repaired": one.repaired(i, label),
            "agrees": bool(one.agrees[i]),
            "values": blame and values_text(blame.values),
            **{key: blame and getattr(blame, key) for key in BLAMED},
            **self._suspect(name, i),
        }

    def _worst_set(self, i: int) -> str:
        def badness(name: str) -> tuple[float, ...]:
            one, judged = self.sets[name], self.labels[name].suspicion[i]
            first = 0.0 if self.method == "given" else float(judged)
            return first, float(one.nabla[i]), -float(one.support[i])

        return max(self.sets, key=badness)

    def _suspect(self, name: str, i: int) -> dict[str, Any]:
        """Return the reason of a suspicion, where it is one that the distance does not tell."""
        one, judged = self.sets[name], self.labels[name]
        blamed = self.method == "given" and (one.nabla[i] > 0.0 or not self.impossible[i])
        if blamed or (judged.suspicion[i] == 0.0 and judged.possibility[i] > 0.0):
            return {}
        rule_set = self._judges.of_sample(i)[name]
        best = show_value(rule_set.output.domain[int(judged.best[i])])
        number = self._limiting_rule(rule_set, name, i)
        return {
            "reason": (
                f"{self._label(name, i)} is possible to {judged.possibility[i]:.4g}, {best} to "
                f"{judged.highest[i]:.4g}, by rule {number + 1}, {short(rule_set.rules[number])}"
            )
        }

    def _limiting_rule(self, rule_set: RuleSet, name: str, i: int) -> int:
        """Return the index of the first rule that keeps the possibility of a label down."""
        evidence, target = self._batch.single(i).known, self._batch.targets[name].distribution(i)
        program = self._judges.of_sample(i).compile([rule_set.output], trace=True)
        degrees = cast(Trace, program.infer(evidence)).premises[name]
        terms = rule_terms(rule_set, degrees, np.flatnonzero(target == 1.0))
        return int(terms[terms.min(axis=1).argmax()].argmin())

    def _label(self, name: str, i: int) -> str:
        """Return the value, or the best values, of a sample's target."""
        domain = self.sets[name].rule_set.output.domain
        best = np.flatnonzero(self._batch.targets[name].distribution(i) == 1.0)
        return values_text([domain[u] for u in best])

    def to_frame(self, k: int | None = None) -> Any:
        """Return `rows` as a pandas DataFrame."""
        return data_frame(list(self.rows(k)))

    def __repr__(self) -> str:
        contrary = int((self.worst > 0.0).sum())
        changed = int((~np.all(list(self.agrees.values()), axis=0)).sum())
        excluded = int(self.impossible.sum())
        labels = f"; {excluded} labels are impossible with the parameters" if excluded else ""
        return (
            f"Audit({len(self)} samples: {contrary} contradict the rules, {changed} so that repair "
            f"changes the best values{labels})"
        )

    def __str__(self) -> str:
        """Return a table of the worst samples, with what they contradict in words."""
        rows = [row for row in self.rows(SHOWN) if row["reason"]]
        if not rows:
            return repr(self)
        return f"{self!r}\n{text_table([HEAD, *map(_line, rows)])}"

    def _repr_html_(self) -> str:
        lines = [_line(row) for row in self.rows(SHOWN) if row["reason"]]
        suspected = (self.suspicion > 0.0) & (self.method != "given")
        n = int(np.count_nonzero((self.worst > 0.0) | self.impossible | suspected))
        return tag("div", repr(self)) + first_lines(HEAD, lines, n, "samples")

    def plot(self, axes: Any = None) -> Any:
        """Draw the distances and suspicions of all samples, from the worst on; return the axes."""
        axes, places = axes_for(axes), np.arange(1, len(self) + 1)
        for values, colour, label in (
            (self.worst, BLUE, "distance"),
            (self.suspicion, ORANGE, "suspicion"),
        ):
            axes.plot(places, np.sort(values)[::-1], color=colour, label=label)
        axes.set(xlabel="samples, the worst first", ylabel="degree", ylim=(-0.03, 1.03))
        axes.set_title("How badly samples contradict the rules")
        axes.legend()
        return axes


def _line(row: Mapping[str, Any]) -> tuple[str, ...]:
    numbers = [f"{row[key]:.4g}" for key in ("sample", *NUMBERS)]
    return *numbers, row["set"], row["label"], row["repaired"] or "undecided", row["reason"]
