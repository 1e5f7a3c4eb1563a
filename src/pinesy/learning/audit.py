"""`audit`: which labels of training samples are suspicious, and which rules speak against them.

The samples are judged twice. Their equation systems (`judged_sets`) say by how much the rules
contradict each target, whatever the parameters. `LabelJudges` infer how possible the labels are;
where rules come from the same samples, each sample is judged by rules that were learned or induced
again without the fold that it is in.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, cast, get_args

import numpy as np
import numpy.typing as npt

from pinesy._common.console import check_stop
from pinesy._common.names import by_name, name_of
from pinesy._common.reports import ReportTable, TableReport, count_text, data_frame
from pinesy._common.validation import (
    BoolArray,
    FloatArray,
    check_integer,
    check_known,
    check_sample,
    is_word,
    object_array,
)
from pinesy.engine.code import Code
from pinesy.engine.program import Trace, run
from pinesy.evidence.evidence_form import Evidence
from pinesy.evidence.frames import frame_columns, native_array
from pinesy.exceptions import CascadeError, DataError
from pinesy.induction import induce
from pinesy.learning.learn import learn
from pinesy.learning.learning_arguments import Rules, TrainingBatch, batch_of
from pinesy.learning.learning_result import LearningResult
from pinesy.learning.model_file import LearnedRules
from pinesy.learning.parameter_estimates import ParameterEstimate
from pinesy.learning.set_audits import (
    Blame,
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
from pinesy.rules.outcomes import short_degree
from pinesy.rules.possibility import Possibility
from pinesy.rules.syntax.writer import show_value

#: Rules, or a result of learning.
AuditedRules = Rules | LearningResult | ParameterEstimate | LearnedRules
#: By which rules: as they are, with parameters that are learned again, or induced again.
Judged = Literal["given", "exact", "counts", "gradient", "induce"]
Indices = npt.NDArray[np.intp]
Table = Mapping[str, npt.NDArray[Any]]
#: Samples whose labels are judged at a time.
INFERRED = 8192
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
    'wet is possible at 0.20 only, dry at 1, by rule 1, iff rain in {yes} then grass in {wet}'
    >>> found.repaired(1)["grass"]
    Possibility(grass, {dry: 1, wet: 0.2})
    """
    methods = get_args(Judged)
    if method is not None and not is_word(method, methods):
        raise DataError(f"unknown method {method!r:.60}; expected one of {', '.join(methods)}")
    learned = rules.result if isinstance(rules, LearnedRules) else rules
    result = learned if isinstance(learned, LearningResult | ParameterEstimate) else None
    cascade = as_cascade(cast(Rules, rules if result is None else result.cascade))
    batch = batch_of(cascade, evidence, targets)
    induction = None
    if method == "induce" or (method is None and result is None):
        induction = _induction(cascade, evidence, batch, folds, required=method == "induce")
    if method is None:
        method = "given" if induction is None else "induce"
        method = method if result is None else _method_of(result)
    code = CascadeStages(cascade, batch.targets).program()
    sets = judged_sets(cascade, code, batch)
    if induction is None:
        learned_from = partial(learned_again, cascade, result, method, batch)
        judges = LabelJudges.of(cascade, batch.n, method, folds, seed, learned_from)
    else:
        judges = LabelJudges.of(cascade, batch.n, method, folds, seed, *induction)
    return Audit(cascade, sets, judges.suspicions(batch), method, code, batch, judges)


@dataclass(frozen=True, eq=False)
class LabelJudges:
    """The rules that the samples are judged by.

    Attributes
    ----------
    cascades : one for each fold
    fold : the fold of each sample: the one that its judge does not come from
    table : the columns of plain values that rules induced again, with cuts of their own, take;
        None where all judges take the degrees that the samples have
    repeats : how often the samples were divided into folds, each time anew; `fold` is then that
        of the rules that give the reason
    """

    cascades: Sequence[Cascade]
    fold: Indices
    table: Mapping[str, npt.NDArray[Any]] | None = None
    repeats: int = 1

    @classmethod
    def of(
        cls,
        cascade: Cascade,
        n: int,
        method: Judged,
        folds: int,
        seed: int,
        learned_from: Callable[[BoolArray], Cascade],
        table: Mapping[str, npt.NDArray[Any]] | None = None,
        labels: Indices | None = None,
    ) -> "LabelJudges":
        """Return the rules as given, or learned without the samples of each fold.

        `learned_from` learns, by the method, from the samples that a mask selects.
        """
        if isinstance(method, str) and method == "given":
            return cls([cascade], np.zeros(n, dtype=np.intp))
        check_integer(folds, "the number of folds", 2)
        if folds > n:
            raise DataError(f"{folds} folds of {n} samples: give at most as many folds")
        fold = fold_of_samples(n, folds, check_integer(seed, "seed"), labels)
        cascades = []
        for k in range(folds):
            check_stop()
            cascades.append(learned_from(fold != k))
        return cls(cascades, fold, table)

    def of_sample(self, sample: int) -> Cascade:
        """Return the rules that judge a sample."""
        return self.cascades[int(self.fold[sample])]

    def evidence(self, batch: TrainingBatch, cascade: Cascade, rows: Indices) -> dict[str, Any]:
        """Return the evidence of a batch, which has some of the rows, as a judge takes it."""
        if self.table is None:
            return dict(batch.known)
        evidence = {a.name: self.table[a.name][rows] for a in cascade.inputs}
        for a in cascade.inputs:
            if a.scale is None:  # categories that were in no sample of the judge are unknown to it
                values = evidence[a.name].tolist()
                evidence[a.name] = object_array([v if v in a else None for v in values])
        return evidence

    def suspicions(self, batch: TrainingBatch) -> dict[str, SetSuspicion]:
        """Judge all labels. Memory: four numbers a sample and set, and a chunk of results."""
        judged = {name: SetSuspicion.empty(batch.n) for name in batch.targets}
        for fold, cascade in enumerate(self.cascades):
            in_fold = np.flatnonzero(self.fold == fold)
            for begin in range(0, len(in_fold), INFERRED):
                check_stop()
                rows = in_fold[begin : begin + INFERRED]
                part = batch.rows_at(rows)
                evidence = self.evidence(part, cascade, rows)
                inferred = cascade.infer(evidence, outputs=list(part.targets))
                for name, target in part.targets.items():
                    judged[name].fill(rows, inferred[name], target)
        return judged


def fold_of_samples(n: int, folds: int, seed: int, labels: Indices | None = None) -> Indices:
    """Return a fold for each sample, drawn by the seed; with `labels` each has its share of each.

    Examples
    --------
    >>> sorted(fold_of_samples(6, 2, 0, np.array([0, 0, 0, 0, 1, 1]))[4:].tolist())
    [0, 1]
    """
    order = np.random.default_rng(seed).permutation(n)
    if labels is not None:
        order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(n, dtype=np.intp)
    fold[order] = np.arange(n) % folds
    return fold


# --- rules learned or induced again, without some samples ---------------------------------------


def learned_again(
    cascade: Cascade,
    result: LearningResult | ParameterEstimate | None,
    method: Judged,
    batch: TrainingBatch,
    mask: BoolArray,
) -> Cascade:
    """Learn parameters from the samples that a mask selects.

    Where the method is that of a result, so are tolerances, smoothing and fixed parameters.
    """
    evidence, targets = batch.part(np.flatnonzero(mask))
    options: dict[str, Any] = {}
    if result is not None and _method_of(result) == method:
        targets = {name: t for name, t in targets.items() if name in result.sets} or targets
        sets = {name: learned for name, learned in result.sets.items() if name in targets}
        fixed = {n: learned.fixed for n, learned in sets.items() if learned.fixed is not None}
        options["fixed"] = {n: ~np.isnan(x).reshape(-1, 2) for n, x in fixed.items()} or None
        if isinstance(result, LearningResult):
            exact = result.sets.items()
            options["tolerance"] = {n: learned.tolerance for n, learned in exact if n in sets}
        else:
            options["smoothing"] = result.smoothing
    result_again: Any = learn(cascade, evidence, targets, method=cast(Any, method), **options)
    return cast(Cascade, result_again.cascade)


def _method_of(result: LearningResult | ParameterEstimate) -> Judged:
    """Return the method that a result was learned by."""
    return "exact" if isinstance(result, LearningResult) else result.method


def induced_output(cascade: Cascade) -> str | None:
    """Return the attribute whose values induced rules give points to; None for other rules."""
    names = [a.name for a in cascade.outputs if point_sums(cascade, a)]
    return names[0] if len(names) == 1 else None


def unused_inputs(cascade: Cascade) -> list[Attribute]:
    """Return the attributes that induced rules declare and do not use; none of other rules.

    They are columns of the table that the rules come from.
    """
    if induced_output(cascade) is None:
        return []
    used_names = {a.name for a in cascade.inputs} | set(cascade.sets)
    return [a for name, a in cascade.attributes.items() if name not in used_names]


def _induction(
    cascade: Cascade, evidence: Evidence, batch: TrainingBatch, folds: int, required: bool
) -> tuple[Callable[[BoolArray], Cascade], Table, Indices] | None:
    """Return what rules are induced again by: a function of a mask of samples, table, labels.

    None where the rules are not induced, or the samples do not suffice; an error if that is
    `required`.
    """
    name, labels, reason = induced_output(cascade), None, ""
    table = None if name is None else plain_table(cascade, evidence, batch.n)
    target = None if name is None else batch.targets.get(name)
    if target is not None and len(batch.targets) == 1 and not target.is_graded:
        _, counts = np.unique(target.labels, return_counts=True)
        if batch.n >= 2 * folds and (counts > 1).sum() > 1:  # without any fold two classes remain
            labels = target.labels.astype(np.intp)
    if name is not None and table is not None and labels is not None:
        return induced_again(cascade, name, table, batch), table, labels
    if not required:
        return None
    if name is None:
        reason = "it takes induced rules; for others take 'given', 'counts', 'gradient' or 'exact'"
    elif table is None:
        inputs = ", ".join(a.name for a in cascade.inputs[:6])
        reason = (
            f"it takes a table of plain values, one column for each of {inputs}; the evidence has "
            "degrees"
        )
    else:
        reason = (
            f"it takes one label of {name!r} a sample, several of two classes, and two samples or "
            "more a fold"
        )
    raise DataError(f"method 'induce' induces rules again, without each fold, so {reason}")


def plain_table(cascade: Cascade, evidence: Evidence, n: int) -> Table | None:
    """Return the columns of plain values that evidence holds; None where it holds degrees.

    Columns that are declared count too, though no rule uses them: rules that are induced again may.
    They come by name, so that their order in a file or a table changes nothing.
    """
    if (columns := frame_columns(evidence)) is not None:
        contents = columns
    elif isinstance(evidence, Mapping):
        contents = by_name(evidence, "input", CascadeError)
    else:
        return None
    plain = {}
    for name, content in sorted(contents.items()):
        if name not in cascade.attributes or name in cascade.sets:
            continue
        values = native_array(content)
        if isinstance(values, list | tuple) and len(values) == n:
            values = object_array(values)
        if not isinstance(values, np.ndarray) or values.shape != (n,):
            continue
        degrees = (Mapping, Possibility, list, tuple, np.ndarray)
        if values.dtype.kind != "O" or not any(isinstance(v, degrees) for v in values):
            plain[name] = values
    return plain if all(a.name in plain for a in cascade.inputs) else None


def induced_again(
    cascade: Cascade, name: str, table: Table, batch: TrainingBatch
) -> Callable[[BoolArray], Cascade]:
    """Return a function that induces rules from the samples that a mask selects.

    They are at most as many as those of the cascade, with at most as many conditions; the user's
    rules stay.
    """
    output, inputs = cascade[name].output, {a.name for a in cascade.inputs}
    giving = [points.rules[0] for total in point_sums(cascade, output) for points in total.gives]
    user_rules = []
    for rule in cascade[name].rules:  # those of the user are on columns, not on points
        parts = rule.premise.propositions
        on_columns = all(p.attribute.name in inputs for p in parts)
        if on_columns and any(p.mask != p.attribute.full for p in parts):
            user_rules.append(rule)
    labels = object_array([output.domain[i] for i in batch.targets[name].labels.tolist()])
    columns = {**table, name: labels}

    def from_rows(mask: BoolArray) -> Cascade:
        return induce(
            {title: column[mask] for title, column in columns.items()},
            name,
            max_rules=len(giving),
            max_conditions=max(len(rule.premise.propositions) for rule in giving),
            keep=user_rules or None,
            sample=None,
        )

    return from_rows


# --- the report ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Audit(TableReport):
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
        return {name: set_audit.nabla for name, set_audit in self.sets.items()}

    @property
    def agrees(self) -> dict[str, BoolArray]:
        """Whether repair leaves the target its best values, for each rule set and sample."""
        return {name: set_audit.agrees for name, set_audit in self.sets.items()}

    @cached_property
    def worst(self) -> FloatArray:
        """The largest distance of each sample, over the rule sets."""
        return np.asarray(np.max(list(self.nabla.values()), axis=0))

    @cached_property
    def support(self) -> FloatArray:
        """The least possibility that a set, taken as certain, gives to what has target 1."""
        return np.asarray(np.min([set_audit.support for set_audit in self.sets.values()], axis=0))

    @cached_property
    def suspicion(self) -> FloatArray:
        """The largest suspicion of a label of each sample, over the rule sets."""
        return np.asarray(np.max([label.suspicion for label in self.labels.values()], axis=0))

    @cached_property
    def suspicious(self) -> BoolArray:
        """Which samples have a label that is less possible than another value, or impossible."""
        return np.asarray(np.any([label.suspicious for label in self.labels.values()], axis=0))

    @property
    def out_of_fold(self) -> bool:
        """Whether samples were judged by rules that were made without them."""
        return self.method != "given"

    @property
    def fold(self) -> Indices | None:
        """The fold of each sample, from 0; None where the rules judge as they are.

        Folds of repeats are numbered through; it is that of the rules that give the reason.
        """
        return self._judges.fold if self.out_of_fold else None

    @property
    def basis(self) -> str:
        """By which rules the labels were judged, in words."""
        if not self.out_of_fold:
            return (
                "judged by the rules as they are, which is in sample if they come from these "
                "samples"
            )
        repeats = self._judges.repeats
        n = len(self._judges.cascades) // repeats
        source = (
            "rules induced" if self.method == "induce" else f"parameters learned ({self.method})"
        )
        times = f", {repeats} times" if repeats > 1 else ""
        return f"judged out of fold, by {source} without each of {n} folds{times}"

    @cached_property
    def impossible(self) -> BoolArray:
        """Which samples have a label of possibility 0."""
        possibilities = [label.possibility for label in self.labels.values()]
        return np.asarray(np.min(possibilities, axis=0) == 0.0)

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
        label_score = -self.suspicion if others else first.probability
        return np.lexsort((-total, self.support, -self.worst, label_score, ~self.suspicious))

    def top(self, k: int = SHOWN) -> npt.NDArray[np.intp]:
        """Return the `k` worst samples, worst first."""
        return self.order[: check_integer(k, "the number of samples")]

    def blame(self, sample: int) -> list[Blame]:
        """Return where a sample contradicts the rules: for each set that it does, worst first."""
        i = check_sample(sample, len(self))
        violations = [
            self._blame(name, i)
            for name, set_audit in self.sets.items()
            if set_audit.nabla[i] > 0.0
        ]
        return sorted(violations, key=lambda violation: (-violation.nabla, violation.support))

    def _blame(self, name: str, i: int) -> Blame:
        first = self.cascade.rule_number(name, 0)
        return self.sets[name].blame(i, self._batch.targets[name].distribution(i), first)

    def equations(self, sample: int) -> dict[str, EquationSystem]:
        """Return the equation system of a sample, for each rule set."""
        i = check_sample(sample, len(self))
        out = run(self._code, self._batch.single(i).rows(self._code))[:, 0]
        systems = {}
        for name, set_audit in self.sets.items():
            partition, degrees = set_audit.rule_set.partition, out[self._code.degrees[name]]
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
        set_audit, judged, label = self.sets[name], self.labels[name], self._label(name, i)
        rule_number, text, reason = None, None, None
        if judged.suspicious[i]:
            rule_number, text, reason = self._speaks_against(name, i)
        elif set_audit.nabla[i] > 0.0:
            reason = self._blame(name, i).reason
        return {
            "sample": i,
            "suspicious": bool(judged.suspicious[i]),
            "suspicion": float(judged.suspicion[i]),
            "possibility": float(judged.possibility[i]),
            "probability": float(judged.probability[i]),
            "nabla": float(set_audit.nabla[i]),
            "support": float(set_audit.support[i]),
            "set": name,
            "label": label,
            "best": show_value(self.cascade[name].output.domain[int(judged.best[i])]),
            "repaired": set_audit.repaired(i, label),
            "agrees": bool(set_audit.agrees[i]),
            "rule": rule_number,
            "text": text,
            "reason": reason,
        }

    def suspicious_pairs(self) -> list[tuple[str, str, str, int]]:
        """Return suspicious labels and what is more possible, the most frequent pairs first.

        Each is the name of an attribute, the label, the value that is more possible, and how many
        labels there are; a distribution counts as its first most possible value.
        """
        pairs = []
        for name, judged in self.labels.items():
            attribute = self._batch.targets[name].attribute
            values = [show_value(value) for value in attribute.domain]
            labels = self._batch.targets[name].distributions.argmax(axis=1)
            indices = np.stack([labels, judged.best], axis=1)[judged.suspicious]
            unique, counts = np.unique(indices, axis=0, return_counts=True)
            pairs += [
                (name, values[label], values[best], count)
                for (label, best), count in zip(unique.tolist(), counts.tolist(), strict=True)
            ]
        return sorted(pairs, key=lambda pair: -pair[-1])

    def _worst_set(self, i: int) -> str:
        def badness(name: str) -> tuple[float, ...]:
            set_audit, judged = self.sets[name], self.labels[name]
            nabla, support = float(set_audit.nabla[i]), float(set_audit.support[i])
            return bool(judged.suspicious[i]), float(judged.suspicion[i]), nabla, -support

        return max(self.sets, key=badness)

    def _speaks_against(self, name: str, i: int) -> tuple[int | None, str | None, str]:
        """Return the number and the text of the rule that speaks against a label, and a reason."""
        judged, judge = self.labels[name], self._judges.of_sample(i)
        best = self.cascade[name].output.domain[int(judged.best[i])]
        degree, highest = float(judged.possibility[i]), float(judged.highest[i])
        possible = f"possible at {short_degree(degree)} only" if degree else "impossible"
        other = f"{show_value(best)} {'' if degree else 'possible '}at {short_degree(highest)}"
        start = f"{self._label(name, i)} is {possible}, {other if highest else 'as all values'}"
        evidence: Evidence = self._judges.evidence(self._batch.single(i), judge, np.array([i]))
        giving = _most_points(judge, name, best, evidence)
        if giving is not None:
            points, rule = points_of(giving), giving.rules[0]
            text = f"{rule.premise} (+{points} for {show_value(best)})"
            return None, str(rule), f"{start}, most by {short(text)}"
        for points_sum in point_sums(judge, judge[name].output):
            if points_sum.value == best and points_sum.start:  # no rule holds that gives it more
                points = points_sum.start
                return None, None, f"{start}, most by its start (+{points} for {show_value(best)})"
        index = self._limiting_rule(judge, name, i, evidence)
        rule = judge[name].rules[index]
        number = judge.rule_number(name, index)
        return number, str(rule), f"{start}, by rule {number}, {short(rule)}"

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
        suspicious = count_text(int(self.suspicious.sum()), "label", "suspicious ")
        excluded = int(self.impossible.sum())
        impossible = f" ({excluded:,} impossible)" if excluded else ""
        return f"Audit({suspicious}{impossible} in {count_text(len(self), 'sample')}; {self.basis})"

    def _tables(self) -> list[ReportTable]:
        """Return the first suspicious labels, with the rules that speak against them."""
        n_suspicious = int(self.suspicious.sum())
        lines = [_line(row) for row in self.rows(min(SHOWN, n_suspicious))]
        return [ReportTable(HEAD, lines, total=n_suspicious, noun="samples")]

    def plot(self, axes: Any = None) -> Any:
        """Draw the distances and suspicions of all samples, from the worst on; return the axes."""
        from pinesy.display.report_plots import plot_audit

        return plot_audit(self, axes)


def _most_points(
    cascade: Cascade, name: str, value: Hashable, evidence: Evidence
) -> RuleSet | None:
    """Return the rule that gives a value the most points on a sample, if rules give points."""
    sums = {total.value: total for total in point_sums(cascade, cascade[name].output)}
    gives = sums[value].gives if value in sums else ()
    if not gives:
        return None
    inferred = cascade.infer(evidence, [rule_set.output for rule_set in gives])
    holding = [s for s in gives if inferred.degrees(s.output.name).reshape(-1)[0] == 0.0]
    return max(holding, key=points_of, default=None)


def _line(row: Mapping[str, Any]) -> tuple[str, ...]:
    numbers = [f"{row[key]:.4g}" for key in ("sample", *NUMBERS)]
    return *numbers, row["set"], row["label"], row["best"], row["reason"]
