"""Which candidates become rules: the ones that raise the likelihood of the labels most.

A rule speaks for one class, with a weight. The score of a class is the sum of the weights of the
rules for it that hold, and the likelihood of a label is that of the softmax of scores. Rules are
added one after the other (for many classes, one for each), by the gain in log-likelihood that a
step of Newton's promises, less a cost for each condition; then all weights are fitted again.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from pinesy._common.caching import load_kernels
from pinesy._common.validation import BoolArray, FloatArray
from pinesy.induction.candidate_rules import Candidates
from pinesy.induction.training_table import IntArray

KERNELS = "pinesy.induction.selection_kernels"
#: Weights that change by less are fitted.
ENOUGH = 1e-3
#: Sweeps over the weights after each choice, and after the last.
SWEEPS, LAST_SWEEPS = 2, 30
#: Of the best rules for each class those are taken at once that gain this share of the best.
SHARE = 0.3


@dataclass(frozen=True)
class SelectionSettings:
    """How rules are chosen.

    Attributes
    ----------
    max_rules : the most rules
    cost : of a condition, in log-likelihood
    ridge : pulls weights to 0
    """

    max_rules: int
    cost: float
    ridge: float


@dataclass
class ChosenRules:
    """The rules chosen so far.

    Attributes
    ----------
    chosen : their positions among the candidates
    classes : that they speak for
    weights : of the rules
    prior : the scores of the classes where no rule holds
    """

    chosen: list[int] = field(default_factory=list)
    classes: list[int] = field(default_factory=list)
    weights: FloatArray = field(default_factory=lambda: np.zeros(0))
    prior: FloatArray = field(default_factory=lambda: np.zeros(0))


class RuleSelector:
    """Chooses among candidates; `run` may be interrupted, and keeps what was chosen.

    A choice costs two products of the matrix of candidates and rows with that of rows and classes.
    """

    def __init__(
        self,
        candidates: Candidates,
        labels: IntArray,
        sizes: FloatArray,
        may: BoolArray,
        settings: SelectionSettings,
    ) -> None:
        self._candidates, self._settings = candidates, settings
        self.boxes = candidates.boxes
        self._labels, self._sizes = labels, sizes
        self._may = may.copy()
        self._n_classes = may.shape[1]
        self._holds = candidates.holds.astype(np.float32)
        self._truth = np.eye(self._n_classes)[labels]
        self._rows = [np.arange(len(labels))] * self._n_classes
        shares = sizes @ self._truth + 0.5
        prior = np.log(shares / shares.sum())
        self._odds = np.tile(np.exp(prior), (len(labels), 1))
        self.selection = ChosenRules(prior=prior)

    def run(self, advance: Callable[[], object]) -> ChosenRules:
        """Choose until nothing gains more than it costs; call `advance` after each choice."""
        try:
            while self._add():
                advance()
        except KeyboardInterrupt:  # the best so far is an answer
            pass
        self._fit(LAST_SWEEPS)
        return self.selection

    def _add(self) -> bool:
        room = self._settings.max_rules - len(self.selection.chosen)
        best = self._best()[:room]
        for candidate, label in best:
            self._may[candidate, label] = False
            if self._n_classes == 2:  # for one class is against the other
                self._may[candidate] = False
            self.selection.chosen.append(candidate)
            self.selection.classes.append(label)
            self._rows.append(np.flatnonzero(self._candidates.holds[candidate]))
        self.selection.weights = np.append(self.selection.weights, np.zeros(len(best)))
        if best:
            self._fit(SWEEPS)
        return bool(best)

    def _best(self) -> list[tuple[int, int]]:
        """Return the candidates to add, and the classes that they speak for, the best first."""
        if not len(self._holds):
            return []
        gains = self._gains()
        first = gains.argmax(axis=0)
        best = gains[first, np.arange(self._n_classes)]
        least = SHARE * best.max() if self._n_classes > 2 else best.max()
        order = np.argsort(-best, kind="stable")
        taken = [int(c) for c in order if best[c] > 0 and best[c] >= least]
        return [(int(first[c]), c) for c in taken[: self._n_classes if self._n_classes > 2 else 1]]

    def _gains(self) -> npt.NDArray[np.float32]:
        """Return what a step of Newton's in each candidate's weight gains, less its cost."""
        sizes = self._sizes[:, None]
        slopes = self._holds @ (sizes * (self._truth - self._odds)).astype(np.float32)
        bends = self._holds @ (sizes * self._odds * (1.0 - self._odds)).astype(np.float32)
        gains = 0.5 * np.maximum(slopes, 0.0) ** 2 / (bends + np.float32(self._settings.ridge))
        gains -= (self._settings.cost * self._candidates.sizes[:, None]).astype(np.float32)
        gains[~self._may] = -1.0
        found: npt.NDArray[np.float32] = gains
        return found

    def _fit(self, sweeps: int) -> None:
        """Fit priors, as rules that hold everywhere, and weights."""
        chosen, k = self.selection, self._n_classes
        weights = np.concatenate([chosen.prior, chosen.weights])
        starts = np.concatenate([[0], np.cumsum([len(r) for r in self._rows])]).astype(np.int64)
        classes = np.concatenate([np.arange(k), np.array(chosen.classes, dtype=np.int64)])
        is_rule = np.arange(len(weights)) >= k
        load_kernels(KERNELS).fit_weights(
            starts,
            np.concatenate(self._rows),
            classes,
            weights,
            np.where(is_rule, 0.0, -np.inf),
            np.where(is_rule, self._settings.ridge, 0.0),
            self._odds,
            self._labels,
            self._sizes,
            sweeps,
            ENOUGH,
        )
        chosen.prior, chosen.weights = weights[:k], weights[k:]
