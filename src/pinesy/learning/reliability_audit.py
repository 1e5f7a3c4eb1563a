"""The audit of training samples: which labels are suspicious, and the rules against them."""

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, cast, get_args

import numpy as np
import numpy.typing as npt

from pinesy._common.console import data_frame, text_table
from pinesy._common.markup import BLUE, ORANGE, counted, first_lines, tag
from pinesy._common.names import name_of
from pinesy._common.pages import axes_for
from pinesy._common.validation import (
    BoolArray,
    FloatArray,
    check_integer,
    check_known,
    check_sample,
    is_word,
)
from pinesy.engine.code import Code
from pinesy.engine.program import Trace, run
from pinesy.evidence.evidence_form import Evidence
from pinesy.exceptions import DataError
from pinesy.learning.learning_arguments import Rules, TrainingBatch, batch_of
from pinesy.learning.rules_again import (
    AuditedRules,
    Table,
    can_induce,
    induced_again,
    induced_output,
    learned_again,
    learned_method,
    learned_result,
    plain_table,
    refuse_induction,
)
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
from pinesy.rulebase.point_sums import point_sums, points_of
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rulebase.sample_equations import EquationSystem
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.rules.syntax.writer import show_value

#: Samples that the printed table shows.
SHOWN = 10
#: The numbers of a row that the printed table shows.
NUMBERS = ("suspicion", "probability", "nabla")
HEAD = ("sample", *NUMBERS, "set", "label", "more possible", "why")


def audit(
    rules: AuditedRules,
    evidence: Evidence,
    targets: Any,
    *,
    method: Judged | None = None,
    folds: int = 5,
    seed: int = 0,
) -> "Audit":
    """Rank training samples by how suspicious their labels are, and name the rules against them.

    A label is *suspicious* if the rules find another value more possible. Rules and parameters
    that come from the same samples excuse wrong labels; then each sample is judged by others, made
    without the fold that it is in. Rules alone do not tell where they come from:

    * what `learn` returns, or a model that was loaded, is learned again, by its method;
    * induced rules are induced again, if the evidence is a table of plain values;
    * other rules judge as they are, unless a `method` says how to learn their parameters.

    ``print(audit(...))`` says which it was.

    Beside it stands the Chebyshev distance ``nabla`` of a sample's equation system for each rule
    set [subsec:poorqualtrainingdata]: by so much, at least, some degree of its target must change
    before any parameters give it. It does not depend on the set's own parameters, but the premise
    degrees of later sets depend on those of earlier ones, which are taken as they are. Cost:
    O(omega n) a sample and set, and that of making rules again; memory: a few numbers a sample and
    set.

    Parameters
    ----------
    rules : a rule set or a cascade, what `learn` returns, or a learned model
    method : ``"given"``, the rules as they are; a method of `learn`; or ``"induce"``, for induced
        rules. By default as above
    folds, seed : the number of folds, and what they are drawn by
    evidence, targets : as `learn` takes them; they are not copied, and `Audit.repaired` looks at
        them again

    Examples
    --------
    >>> from pinesy import Attribute, Iff, RuleSet
    >>> rain, grass = Attribute("rain", ["yes", "no"]), Attribute("grass", ["wet", "dry"])
    >>> rules = RuleSet([Iff(rain.isin({"yes"})).then(grass.isin({"wet"}))])
    >>> found = audit(rules, {"rain": [[1.0, 0.0], [0.2, 1.0], [1.0, 0.3]]}, ["wet", "wet", "wet"])
    >>> found.order, found.suspicion
    (array([1, 2, 0]), array([0. , 0.8, 0. ]))
    >>> found.row(1)["reason"]
    'wet is possible to 0.2, dry to 1, by rule 1, iff rain in {yes} then grass in {wet}'
    >>> found.repaired(1)["grass"]
    Possibility(grass, {dry: 1, wet: 0.2})
    """
    methods = get_args(Judged)
    if method is not None and not is_word(method, methods):
        raise DataError(f"there is no method {method!r:.60} of audits; take {', '.join(methods)}")
    result = learned_result(rules)
    cascade = as_cascade(cast(Rules, rules if result is None else result.cascade))
    batch = batch_of(cascade, evidence, targets)
    name, table = induced_output(cascade), None
    if name is not None and method in (None, "induce"):
        table = plain_table(cascade, evidence, batch.n)
    again = table is not None and name is not None and can_induce(batch, name, folds)
    if method is None:
        method = "given" if result is None else learned_method(result)
        method = "induce" if again and result is None else method
    if method == "induce" and not again:
        refuse_induction(cascade, table, name)
    made_from: Callable[[BoolArray], Cascade] = partial(
        learned_again, cascade, result, method, batch
    )
    labels = None
    if method == "induce":
        made_from = induced_again(cascade, cast(str, name), cast(Table, table), batch)
        labels = batch.targets[cast(str, name)].labels.astype(np.intp)
    code = CascadeStages(cascade, batch.targets).program()
    sets = judged_sets(cascade, code, batch)
    judges = LabelJudges.of(cascade, batch.n, method, folds, seed, made_from, table, labels)
    return Audit(cascade, sets, judges.suspicions(batch), method, code, batch, judges)


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """Training samples, ranked by how suspicious their labels are.

    Attributes
    ----------
    cascade : the rules that were audited
    sets : by the name of each output with a target, a `SetAudit`
    labels : by the same names, how possible the labels are: a `SetSuspicion`
    method : where the rules behind `labels` come from: ``"given"``, as they are; else they were
        learned or induced again, without the fold of each sample
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
    def suspicious(self) -> BoolArray:
        """Which samples have a label that is less possible than another value, or impossible."""
        return np.asarray(np.any([one.suspicious for one in self.labels.values()], axis=0))

    @property
    def out_of_fold(self) -> bool:
        """Whether samples were judged by rules that were made without them."""
        return self.method != "given"

    @property
    def fold(self) -> npt.NDArray[np.intp] | None:
        """The fold of each sample, from 0; None where the rules judge as they are."""
        return self._judges.fold if self.out_of_fold else None

    @property
    def basis(self) -> str:
        """By which rules the labels were judged, in words."""
        if not self.out_of_fold:
            return (
                "judged by the rules as they are, which is in sample if they come from these "
                "samples"
            )
        n = len(self._judges.cascades)
        if self.method == "induce":
            return f"judged out of fold, by rules induced without each of {n} folds"
        return (
            f"judged out of fold, by parameters learned ({self.method}) without each of {n} folds"
        )

    @cached_property
    def impossible(self) -> BoolArray:
        """Which samples have a label of possibility 0."""
        return np.asarray(np.min([one.possibility for one in self.labels.values()], axis=0) == 0.0)

    @cached_property
    def order(self) -> npt.NDArray[np.intp]:
        """All samples, the most suspicious first.

        Suspicious labels come before others; then by the probability of the label, the lowest
        first, or with several sets, whose domains differ, by `suspicion`, the largest first; then
        by `worst`, the largest first, by `support`, the lowest first, by the sum of ``nabla`` over
        the sets, and by index.
        """
        total = np.sum(list(self.nabla.values()), axis=0)
        [first, *others] = self.labels.values()
        doubt = -self.suspicion if others else first.probability
        return np.lexsort((-total, self.support, -self.worst, doubt, ~self.suspicious))

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

        It is about the set with the most suspicious label. Values are written as text; `repaired`
        is None where several are best after repair. Of a suspicious label `rule` is the number,
        from 1, of the rule that speaks against it, `text` the rule (induced again, it has no
        number); of others both are None.
        """
        for i in self.top(len(self) if k is None else k).tolist():
            yield self.row(i)

    def row(self, sample: int) -> dict[str, Any]:
        """Return what `rows` has on one sample."""
        i = check_sample(sample, len(self))
        name = self._worst_set(i)
        one, judged, label = self.sets[name], self.labels[name], self._label(name, i)
        number, text, reason = None, None, None
        if judged.suspicious[i]:
            number, text, reason = self._speaks_against(name, i)
        elif one.nabla[i] > 0.0:
            reason = self._blame(name, i).reason
        return {
            "sample": i,
            "suspicious": bool(judged.suspicious[i]),
            "suspicion": float(judged.suspicion[i]),
            "possibility": float(judged.possibility[i]),
            "probability": float(judged.probability[i]),
            "nabla": float(one.nabla[i]),
            "support": float(one.support[i]),
            "set": name,
            "label": label,
            "best": show_value(self.cascade[name].output.domain[int(judged.best[i])]),
            "repaired": one.repaired(i, label),
            "agrees": bool(one.agrees[i]),
            "rule": number,
            "text": text,
            "reason": reason,
        }

    def _worst_set(self, i: int) -> str:
        def badness(name: str) -> tuple[float, ...]:
            one, judged = self.sets[name], self.labels[name]
            nabla, support = float(one.nabla[i]), float(one.support[i])
            return bool(judged.suspicious[i]), float(judged.suspicion[i]), nabla, -support

        return max(self.sets, key=badness)

    def _speaks_against(self, name: str, i: int) -> tuple[int | None, str, str]:
        """Return the number and the text of the rule that speaks against a label, and a reason."""
        judged, judge = self.labels[name], self._judges.of_sample(i)
        best = self.cascade[name].output.domain[int(judged.best[i])]
        start = (
            f"{self._label(name, i)} is possible to {judged.possibility[i]:.4g}, "
            f"{show_value(best)} to {judged.highest[i]:.4g}"
        )
        evidence: Evidence = self._judges.evidence(self._batch.single(i), judge, np.array([i]))
        giving = _most_points(judge, name, best, evidence)
        if giving is not None:
            points, rule = points_of(giving), giving.rules[0]
            text = f"{rule.premise} (+{points} for {show_value(best)})"
            return None, str(rule), f"{start}, most by {short(text)}"
        number = self._limiting_rule(judge, name, i, evidence)
        rule = judge[name].rules[number]
        return number + 1, str(rule), f"{start}, by rule {number + 1}, {short(rule)}"

    def _limiting_rule(self, judge: Cascade, name: str, i: int, evidence: Evidence) -> int:
        """Return the index of the first rule that keeps the possibility of a label down."""
        rule_set, target = judge[name], self._batch.targets[name].distribution(i)
        program = judge.compile([rule_set.output], trace=True)
        degrees = cast(Trace, program.infer(evidence)).premises[name]
        values = [self.cascade[name].output.domain[u] for u in np.flatnonzero(target == 1.0)]
        known = [rule_set.output.position(value) for value in values if value in rule_set.output]
        if not known:  # a class that only this sample has: every rule speaks for others
            return 0
        terms = rule_terms(rule_set, degrees, np.array(known))
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
        suspicious = counted(int(self.suspicious.sum()), "label", "suspicious ")
        excluded = int(self.impossible.sum())
        impossible = f" ({excluded:,} impossible)" if excluded else ""
        return f"Audit({suspicious}{impossible} in {counted(len(self), 'sample')}; {self.basis})"

    def _suspicious_rows(self) -> list[dict[str, Any]]:
        """Return the rows of the first suspicious labels."""
        return list(self.rows(min(SHOWN, int(self.suspicious.sum()))))

    def __str__(self) -> str:
        """Return a table of the suspicious labels, with the rules that speak against them."""
        rows = self._suspicious_rows()
        if not rows:
            return repr(self)
        return f"{self!r}\n{text_table([HEAD, *map(_line, rows)])}"

    def _repr_html_(self) -> str:
        lines = [_line(row) for row in self._suspicious_rows()]
        n = int(self.suspicious.sum())
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


def _most_points(
    cascade: Cascade, name: str, value: Hashable, evidence: Evidence
) -> RuleSet | None:
    """Return the rule that gives a value the most points on a sample, if rules give points."""
    sums = {one.value: one for one in point_sums(cascade, cascade[name].output)}
    gives = sums[value].gives if value in sums else ()
    if not gives:
        return None
    inferred = cascade.infer(evidence, [one.output for one in gives])
    holding = [one for one in gives if inferred.degrees(one.output.name).reshape(-1)[0] == 0.0]
    return max(holding, key=points_of, default=None)


def _line(row: Mapping[str, Any]) -> tuple[str, ...]:
    numbers = [f"{row[key]:.4g}" for key in ("sample", *NUMBERS)]
    return *numbers, row["set"], row["label"], row["best"], row["reason"]
