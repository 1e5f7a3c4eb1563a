"""`compare_methods`: which method of learning to take.

Methods are compared on held-out samples. Two baselines are compared too: the initial rules, and the
most frequent value.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from pinesy._common.reports import ReportTable, TableReport, printed_html
from pinesy.evidence.evidence_form import Evidence
from pinesy.exceptions import DataError, LearningError
from pinesy.learning.evaluate import LEVELS, DecisionScores
from pinesy.learning.learn import Method, learn
from pinesy.learning.learning_arguments import Rules, batch_of, initial_cascade
from pinesy.rules.possibility import Possibility
from pinesy.transforms import antipignistic

#: The column heads of `DecisionScores.cells`.
HEADS = (
    "right",
    "most possible",
    "undecided",
    "contradictory",
    *(f"ahead by {level:g}" for level in LEVELS),
    "log loss",
)


def compare_methods(
    rules: Rules,
    evidence: Evidence,
    targets: Any,
    *,
    methods: Sequence[Method] = get_args(Method),
    held_out: float = 0.3,
    seed: int = 0,
    **options: Any,
) -> "MethodComparison":
    """Learn by several methods from a part of the samples; compare them on the held-out part.

    Parameters
    ----------
    rules, evidence, targets : as for `learn`; the targets are values
    methods : the methods to compare
    held_out : the share of the samples that is held out, drawn at random by `seed`
    options : ``fixed`` and ``initial`` of `learn`

    Examples
    --------
    >>> from pinesy import Attribute, If, RuleSet
    >>> sky, rain = Attribute("sky", ["dark", "clear"]), Attribute("rain", ["yes", "no"])
    >>> rules = RuleSet([If(sky.isin({"dark"})).then(rain.isin({"yes"}))])
    >>> days = {"sky": ["dark", "dark", "dark", "clear", "clear"] * 20}
    >>> labels = ["yes", "yes", "no", "no", "no"] * 20
    >>> comparison = compare_methods(rules, days, labels, fixed=None)
    >>> scores = comparison.scores["rain"]
    >>> scores["counts"].accuracy > scores["as given"].accuracy
    True
    """
    cascade = initial_cascade(rules, options.pop("initial", None))
    batch = batch_of(cascade, evidence, targets)
    for name, target in batch.targets.items():
        if target.is_graded:
            raise DataError(
                f"the targets of {name!r} are distributions; methods are compared by how often "
                "they predict values, so give values"
            )
    n_test = round(batch.n * held_out) if 0.0 < held_out < 1.0 else 0
    if n_test in (0, batch.n):
        raise DataError(
            f"{held_out!r} of {batch.n} samples cannot be held out; give a share between 0 and 1 "
            "that leaves samples on both sides"
        )
    order = np.random.default_rng(seed).permutation(batch.n)
    train, test = np.sort(order[n_test:]), np.sort(order[:n_test])
    evidence, truth = batch.part(test)
    scores: dict[str, dict[str, DecisionScores]] = {}
    for name, target in batch.targets.items():
        counts = np.bincount(target[train].labels, minlength=len(target.attribute.domain))
        degrees = np.tile(antipignistic(counts / counts.sum()), (n_test, 1))
        majority = Possibility(target.attribute, degrees)
        scores[name] = {"majority": DecisionScores.of(majority, truth[name])}
    cascades = {"as given": cascade}
    for method in methods:
        try:
            learned: Any = learn(cascade, *batch.part(train), method=method, **options)
            cascades[method] = learned.cascade
        except LearningError:  # no sample is reliable: there is no model to compare
            continue
    for method_name, rules_of_method in cascades.items():
        for name, pi in rules_of_method.infer(evidence, outputs=list(truth)).items():
            scores[name][method_name] = DecisionScores.of(pi, truth[name])
    return MethodComparison(scores, len(train), n_test)


@dataclass(frozen=True, eq=False, repr=False)
class MethodComparison(TableReport):
    """The scores of each method, for each attribute with targets, on held-out samples.

    Attributes
    ----------
    scores : by attribute, then by method: ``"majority"`` (the most frequent value of the training
        samples), ``"as given"``, ``"exact"``, ``"counts"``, ``"gradient"``
    train, held_out : the numbers of samples
    """

    SEPARATOR = "\n\n"

    scores: dict[str, dict[str, DecisionScores]]
    train: int
    held_out: int

    def _records(self) -> list[dict[str, Any]]:
        return [
            {"attribute": name, "method": method, **vars(scores)}
            for name, by_method in self.scores.items()
            for method, scores in by_method.items()
        ]

    def __repr__(self) -> str:
        return f"MethodComparison({self.train} samples to learn from, {self.held_out} held out)"

    def _tables(self) -> list[ReportTable]:
        return [
            ReportTable((name, *HEADS), [[m, *scores.cells] for m, scores in by_method.items()])
            for name, by_method in self.scores.items()
        ]

    _repr_html_ = printed_html
