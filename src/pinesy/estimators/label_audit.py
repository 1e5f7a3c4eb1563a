"""Which labels of a table are suspicious: classifiers fitted without a row judge its label."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.console import check_stop
from pinesy._common.validation import FloatArray, check_integer
from pinesy.estimators.feature_table import Columns, feature_evidence
from pinesy.exceptions import TableError
from pinesy.learning.audit import Audit, Judged, LabelJudges, fold_of_samples
from pinesy.learning.learning_arguments import batch_of
from pinesy.learning.set_audits import SetSuspicion, judged_sets
from pinesy.learning.stages import CascadeStages
from pinesy.rulebase.cascade import Cascade
from pinesy.transforms import antipignistic

Indices = npt.NDArray[np.intp]
#: Fits a classifier to some rows, by a seed; gives the rules, and the probability of each class in
#: each of other rows.
FoldFit = Callable[[Indices, Indices, int], tuple[Cascade, FloatArray]]


@dataclass(frozen=True)
class AuditTable:
    """A table whose labels are audited.

    Attributes
    ----------
    columns : of the features
    labels : of the rows
    classes : the labels that there are, in the order of the columns of probabilities
    target : the name of the labels
    """

    columns: Columns
    labels: npt.NDArray[Any]
    classes: npt.NDArray[Any]
    target: str

    def audit(
        self,
        cascade: Cascade,
        fit_fold: FoldFit,
        method: Judged,
        folds: int,
        repeats: int,
    ) -> Audit:
        """Judge each label by rules that come from other rows, several times over.

        The rules of one fold vary with its rows. The mean of the probabilities over repeats, each
        with folds of its own, varies less; the possibilities are its antipignistic transformation.
        """
        codes = np.searchsorted(self.classes, self.labels)
        self._check(codes, check_integer(folds, "folds", 2))
        check_integer(repeats, "repeats", 1)
        n = len(codes)
        p = np.zeros((repeats, n, len(self.classes)))
        fold = np.empty((repeats, n), dtype=np.intp)
        cascades = []
        for repeat in range(repeats):
            fold[repeat] = fold_of_samples(n, folds, repeat, codes) + repeat * folds
            for k in range(repeat * folds, (repeat + 1) * folds):
                check_stop()
                rows = np.flatnonzero(fold[repeat] == k)
                others = np.flatnonzero(fold[repeat] != k)
                rules, p[repeat, rows] = fit_fold(others, rows, repeat)
                cascades.append(rules)
        mean = p.mean(axis=0)
        pi = np.asarray(antipignistic(mean / mean.sum(axis=1, keepdims=True)))
        samples, best = np.arange(n), pi.argmax(axis=1)
        suspicion = SetSuspicion(pi[samples, codes], mean[samples, codes], pi.max(axis=1), best)
        # Of the rules that judged a row, those of the first repeat that agree with the mean of all
        # give the reason.
        agrees = p.argmax(axis=2) == best
        judges = LabelJudges(cascades, fold[agrees.argmax(axis=0), samples], self.columns, repeats)
        evidence = feature_evidence(self.columns, cascade.inputs)
        batch = batch_of(cascade, evidence, {self.target: self.labels.tolist()})
        code = CascadeStages(cascade, batch.targets).program()
        sets = judged_sets(cascade, code, batch)
        return Audit(cascade, sets, {self.target: suspicion}, method, code, batch, judges)

    def _check(self, codes: Indices, folds: int) -> None:
        counts = np.bincount(codes)
        if folds > len(codes):
            raise TableError(f"{folds} folds of {len(codes)} rows: give at most as many folds")
        if (counts > 1).sum() < 2:
            raise TableError(
                "labels are judged by rules that come from other rows, so two classes must have "
                f"two rows or more; the most frequent have {sorted(counts.tolist())[::-1][:2]}"
            )
