"""Rules made again without some samples: learned or induced as those that are audited were."""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from pinesy._common.names import by_name
from pinesy._common.validation import BoolArray, object_array
from pinesy.evidence.evidence_form import Evidence
from pinesy.evidence.frames import frame_columns, native_array
from pinesy.exceptions import CascadeError, DataError
from pinesy.induction import induce
from pinesy.learning.learn import learn
from pinesy.learning.learning_arguments import Rules, TrainingBatch
from pinesy.learning.learning_result import LearningResult
from pinesy.learning.model_file import LearnedRules
from pinesy.learning.parameter_estimates import ParameterEstimate
from pinesy.learning.set_audits import Judged
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.point_sums import point_sums
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.rules.rule import Rule

#: Rules, or what learning made of them.
AuditedRules = Rules | LearningResult | ParameterEstimate | LearnedRules
Table = Mapping[str, npt.NDArray[Any]]


def learned_result(rules: AuditedRules) -> LearningResult | ParameterEstimate | None:
    """Return the result of learning that rules come with; None for rules alone."""
    result = rules.result if isinstance(rules, LearnedRules) else rules
    return result if isinstance(result, LearningResult | ParameterEstimate) else None


def learned_again(
    cascade: Cascade,
    result: LearningResult | ParameterEstimate | None,
    method: Judged,
    batch: TrainingBatch,
    kept: BoolArray,
) -> Cascade:
    """Learn parameters from the samples that are kept.

    Where the method is that of a result, so are the tolerances, the smoothing and what is fixed.
    """
    evidence, targets = batch.part(np.flatnonzero(kept))
    options: dict[str, Any] = {}
    if result is not None and learned_method(result) == method:
        targets = {name: t for name, t in targets.items() if name in result.sets} or targets
        sets = {name: one for name, one in result.sets.items() if name in targets}
        fixed = {n: one.fixed for n, one in sets.items() if one.fixed is not None}
        options["fixed"] = {n: ~np.isnan(x).reshape(-1, 2) for n, x in fixed.items()} or None
        if isinstance(result, LearningResult):
            options["tolerance"] = {n: one.tolerance for n, one in result.sets.items() if n in sets}
        else:
            options["smoothing"] = result.smoothing
    result_again: Any = learn(cascade, evidence, targets, method=cast(Any, method), **options)
    return cast(Cascade, result_again.cascade)


def learned_method(result: LearningResult | ParameterEstimate) -> Judged:
    """Return the method that a result was learned by."""
    return "exact" if isinstance(result, LearningResult) else result.method


# --- induced rules ------------------------------------------------------------------------------


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
    used = {a.name for a in cascade.inputs} | set(cascade.sets)
    return [a for name, a in cascade.attributes.items() if name not in used]


def can_induce(batch: TrainingBatch, name: str, folds: int) -> bool:
    """Return whether there are labels enough to induce rules without any one of the folds."""
    target = batch.targets.get(name)
    if target is None or len(batch.targets) > 1 or target.is_graded:
        return False
    _, counts = np.unique(target.labels, return_counts=True)
    return batch.n >= 2 * folds and bool((counts > 1).sum() > 1)


def plain_table(cascade: Cascade, evidence: Evidence, n: int) -> Table | None:
    """Return the columns of plain values that evidence holds; None where it holds degrees.

    Columns that are declared count too, though no rule uses them: rules that are induced again may.
    They come by name, so that their order in a file or a table changes nothing.
    """
    if isinstance(evidence, Mapping):
        given = by_name(evidence, "input", CascadeError)
    elif (frame := frame_columns(evidence)) is not None:
        given = frame
    else:
        return None
    columns = {
        name: _plain_column(content, n)
        for name, content in sorted(given.items())
        if name in cascade.attributes and name not in cascade.sets
    }
    plain = {name: column for name, column in columns.items() if column is not None}
    return plain if all(a.name in plain for a in cascade.inputs) else None


def _plain_column(content: Any, n: int) -> npt.NDArray[Any] | None:
    values = native_array(content)
    if isinstance(values, list | tuple) and len(values) == n:
        values = object_array(values)
    if not isinstance(values, np.ndarray) or values.shape != (n,):
        return None
    if values.dtype.kind == "O":
        odd = (Mapping, Possibility, list, tuple, np.ndarray)
        return None if any(isinstance(value, odd) for value in values) else values
    return values


def induced_again(cascade: Cascade, name: str, table: Table, batch: TrainingBatch) -> Any:
    """Return what induces rules from the samples that are kept.

    They are at most as many as those of the cascade, with at most as many conditions; rules of the
    user's own stay.
    """
    output = cascade[name].output
    giving = [one.rules[0] for total in point_sums(cascade, output) for one in total.gives]
    own = [rule for rule in cascade[name].rules if _is_own(rule, cascade)]
    labels = object_array([output.domain[i] for i in batch.targets[name].labels.tolist()])
    columns = {**table, name: labels}

    def from_rows(kept: BoolArray) -> Cascade:
        return induce(
            {title: column[kept] for title, column in columns.items()},
            name,
            max_rules=len(giving),
            max_conditions=max(len(rule.premise.propositions) for rule in giving),
            keep=own or None,
            sample=None,
        )

    return from_rows


def _is_own(rule: Rule, cascade: Cascade) -> bool:
    """Return whether a rule on the classes is a user's own: on columns, not on points."""
    parts, inputs = rule.premise.propositions, {a.name for a in cascade.inputs}
    on_columns = all(p.attribute.name in inputs for p in parts)
    return on_columns and any(p.mask != p.attribute.full for p in parts)


def refuse_induction(cascade: Cascade, table: Table | None, name: str | None) -> None:
    """Raise `DataError` for what rules cannot be induced again from."""
    if name is None:
        raise DataError(
            "method 'induce' induces rules again, without each fold, so it takes induced rules; "
            "for others take 'given', 'counts', 'gradient' or 'exact'"
        )
    if table is None:
        raise DataError(
            "method 'induce' induces rules again, so it takes a table of plain values, one column "
            f"for each of {', '.join(a.name for a in cascade.inputs[:6])}; the evidence has degrees"
        )
    raise DataError(
        f"method 'induce' induces rules again, without each fold, so it takes one label of {name!r}"
        " a sample, several of two classes, and two samples or more a fold"
    )
