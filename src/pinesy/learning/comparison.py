"""How good predictions are, and which method to take.

Methods are compared on samples that they were not learned from. So that nobody keeps a model that
is worse than no model, the rules as they were given and the most frequent value stand beside.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from pinesy._common.console import data_frame, text_table
from pinesy._common.markup import text_html
from pinesy._common.validation import BoolArray, FloatArray
from pinesy.evidence.evidence_form import Evidence
from pinesy.evidence.targets import Target
from pinesy.exceptions import DataError, LearningError
from pinesy.learning.learn import Method, learn
from pinesy.learning.learning_arguments import Rules, TrainingBatch, batch_of, with_initial
from pinesy.learning.refinement import log_loss
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rules.possibility import Possibility
from pinesy.transforms import antipignistic

Rows = npt.NDArray[np.intp]
#: Leads of which a score says how many samples have them, and how many of these are right.
LEVELS = (0.5, 0.8, 0.95)


@dataclass(frozen=True, eq=False)
class Decisions:
    """What became of each sample.

    Attributes
    ----------
    ahead : how far the largest degree is ahead of the second
    right : whether the most possible value is the true one, alone
    contradictory : whether no value is fully possible
    losses : ``-log q(value)``
    """

    ahead: FloatArray
    right: BoolArray
    contradictory: BoolArray
    losses: FloatArray

    @classmethod
    def of(cls, pi: Possibility, target: Target) -> "Decisions":
        """Compare a batch of distributions with targets that are values."""
        ahead = lead(pi.degrees)
        right = (ahead > 0.0) & (pi.degrees.argmax(axis=1) == target.labels)
        return cls(ahead, right, ~pi.normalised, log_loss(pi.degrees, target.distributions)[0])

    @classmethod
    def join(cls, parts: "Sequence[Decisions]") -> "Decisions":
        """Return what became of the samples of several batches, one after the other."""
        return cls(*map(np.concatenate, zip(*(vars(one).values() for one in parts), strict=True)))

    @property
    def decided(self) -> BoolArray:
        """Whether one value alone is the most possible."""
        return self.ahead > 0.0


@dataclass(frozen=True)
class DecisionScores:
    """How good inferred distributions are as predictions of values.

    Attributes
    ----------
    accuracy : the share of samples whose value is the most possible one, alone
    undecided : the share with several most possible values
    contradictory : the share where no value is fully possible: estimated parameters contradict
        each other a little wherever rules disagree, and the most possible value counts all the same
    coverage : for each level in `LEVELS`, the share of samples where the most possible value is
        ahead of the second by at least that: by its certainty, less the contradiction
    selective : the share of these that is right; NaN if there are none
    log_loss : the mean of ``-log q(value)``, with the probabilities `q` that the distributions
        stand for (mixed with a thousandth of the uniform distribution)
    """

    accuracy: float
    undecided: float
    contradictory: float
    coverage: tuple[float, ...]
    selective: tuple[float, ...]
    log_loss: float

    @classmethod
    def of(cls, pi: Possibility, target: Target) -> "DecisionScores":
        """Return the scores of a batch of distributions, for targets that are values."""
        return cls.of_decisions(Decisions.of(pi, target))

    @classmethod
    def of_decisions(cls, made: Decisions) -> "DecisionScores":
        """Return the scores of what became of samples."""
        right, sure = made.right, [made.ahead >= level for level in LEVELS]
        return cls(
            float(right.mean()),
            float((~made.decided).mean()),
            float(made.contradictory.mean()),
            tuple(float(one.mean()) for one in sure),
            tuple(float(right[one].mean()) if one.any() else float("nan") for one in sure),
            float(made.losses.mean()),
        )

    @property
    def cells(self) -> list[str]:
        """The scores as the cells of a line of a table."""
        pairs = zip(self.coverage, self.selective, strict=True)
        sure = [f"{right:.1%} of {share:.0%}" if share else "-" for share, right in pairs]
        return [
            f"{self.accuracy:.1%}",
            f"{self.undecided:.1%}",
            f"{self.contradictory:.1%}",
            *sure,
            f"{self.log_loss:.4f}",
        ]


def lead(degrees: FloatArray) -> FloatArray:
    """Return how far the largest degree of each row is ahead of the second."""
    if degrees.shape[1] == 1:
        return degrees[:, 0]
    second, first = np.partition(degrees, -2, axis=1)[:, -2:].T
    return np.asarray(first - second)


#: The heads of these cells.
HEADS = (
    "right",
    "undecided",
    "contradictory",
    *(f"ahead by {level:g}" for level in LEVELS),
    "log loss",
)


def accuracy(rules: Rules, evidence: Evidence, targets: Any) -> float:
    """Return the fraction of samples whose final outputs are all predicted rightly.

    A prediction is right if the most possible value is the target and no other value is as
    possible: a result that is not decided (`Possibility.outcome`) counts as an error, a
    contradiction too, even if one value is ahead of the others in it. The final outputs are
    those of `Cascade.outputs` that have targets; if none has, all attributes with targets.

    Parameters
    ----------
    rules : a cascade or a rule set
    evidence, targets : as `learn` takes them; targets that are distributions stand for their most
        possible value, and must have only one

    Examples
    --------
    >>> from pinesy import Attribute, Iff, RuleSet
    >>> rain, grass = Attribute("rain", ["yes", "no"]), Attribute("grass", ["wet", "dry"])
    >>> rules = RuleSet([Iff(rain.isin({"yes"})).then(grass.isin({"wet"}))])
    >>> rains = {"rain": [[1.0, 0.0], [0.2, 1.0], [1.0, 1.0]]}  # nobody knows in the third sample
    >>> accuracy(rules, rains, ["wet", "wet", "wet"]) * 3
    1.0
    """
    cascade = as_cascade(rules)
    batch, wanted = answers(cascade, evidence, targets)
    inferred = cascade.infer(batch.known, list(wanted))
    right = np.ones(batch.n, dtype=np.bool_)
    for name, positions in wanted.items():
        right &= (inferred[name].degrees.argmax(axis=1) == positions) & inferred[name].decided
    return float(right.mean())


def answers(
    cascade: Cascade, evidence: Evidence, targets: Any
) -> tuple[TrainingBatch, dict[str, Rows]]:
    """Check samples; return them and the right value of each final output, by its position."""
    batch = batch_of(cascade, evidence, targets)
    return batch, final_positions(cascade, batch.targets)


def final_positions(cascade: Cascade, targets: Mapping[str, Target]) -> dict[str, Rows]:
    """Return the right value of each final output, by its position; see `accuracy`."""
    final = [a.name for a in cascade.outputs if a.name in targets]
    return {name: _positions(targets[name]) for name in final or targets}


def _positions(target: Target) -> Rows:
    if not target.is_graded:
        return target.labels.astype(np.intp)
    ties = (target.degrees == 1.0).sum(axis=1) > 1
    if ties.any():
        raise DataError(
            f"the target of {target.attribute.name!r}, row {int(np.argmax(ties))}, has several "
            "most possible values, so that no prediction is the right one; give values as "
            "targets, or a metric of your own"
        )
    return np.asarray(target.degrees.argmax(axis=1))


@dataclass(frozen=True, eq=False, repr=False)
class MethodComparison:
    """The scores of each method, for each attribute with targets, on held-out samples.

    Attributes
    ----------
    scores : by attribute, then by method: ``"majority"`` (the most frequent value of the training
        samples), ``"as given"``, ``"exact"``, ``"counts"``, ``"gradient"``
    train, held_out : the numbers of samples
    """

    scores: dict[str, dict[str, DecisionScores]]
    train: int
    held_out: int

    def to_frame(self) -> Any:
        """Return the scores as a pandas DataFrame, a row for each attribute and method."""
        return data_frame(
            [
                {"attribute": name, "method": method, **vars(one)}
                for name, by_method in self.scores.items()
                for method, one in by_method.items()
            ]
        )

    def __repr__(self) -> str:
        return f"MethodComparison({self.train} samples to learn from, {self.held_out} held out)"

    def __str__(self) -> str:
        """Return a table for each attribute."""
        tables = [
            text_table([(name, *HEADS), *([method, *one.cells] for method, one in rows.items())])
            for name, rows in self.scores.items()
        ]
        return "\n\n".join([repr(self), *tables])

    _repr_html_ = text_html


def compare_methods(
    rules: Rules,
    evidence: Evidence,
    targets: Any,
    *,
    methods: Sequence[Method] = get_args(Method),
    held_out: float = 0.3,
    seed: int = 0,
    **options: Any,
) -> MethodComparison:
    """Learn by several methods from a part of the samples and compare them on the others.

    Parameters
    ----------
    rules, evidence, targets : as for `learn`; the targets are values
    methods : those to compare
    held_out : the share of the samples that is held out, drawn by `seed`
    options : ``fixed`` and ``initial`` of `learn`

    Examples
    --------
    >>> from pinesy import Attribute, If, RuleSet
    >>> sky, rain = Attribute("sky", ["dark", "clear"]), Attribute("rain", ["yes", "no"])
    >>> rules = RuleSet([If(sky.isin({"dark"})).then(rain.isin({"yes"}))])
    >>> days = {"sky": ["dark", "dark", "dark", "clear", "clear"] * 20}
    >>> found = compare_methods(rules, days, ["yes", "yes", "no", "no", "no"] * 20)
    >>> found.scores["rain"]["counts"].accuracy > found.scores["rain"]["as given"].accuracy
    True
    """
    cascade = with_initial(rules, options.pop("initial", None))
    batch = batch_of(cascade, evidence, targets)
    for name, target in batch.targets.items():
        if target.is_graded:
            raise DataError(
                f"the targets of {name!r} are distributions; methods are compared by how often "
                "they predict values, so give values"
            )
    train, test = _split(batch.n, held_out, seed)
    scores = {
        name: {"majority": DecisionScores.of(_frequencies(target[train], len(test)), target[test])}
        for name, target in batch.targets.items()
    }
    evidence, truth = batch.part(test)
    for method, learned in _models(cascade, batch.part(train), methods, options):
        for name, pi in learned.infer(evidence, outputs=list(truth)).items():
            scores[name][method] = DecisionScores.of(pi, truth[name])
    return MethodComparison(scores, len(train), len(test))


def _split(n: int, share: float, seed: int) -> tuple[Rows, Rows]:
    """Return the samples to learn from and those to hold out."""
    if not 0.0 < share < 1.0 or round(n * share) in (0, n):
        raise DataError(
            f"{share!r} of {n} samples cannot be held out; give a share between 0 and 1 that "
            "leaves samples on both sides"
        )
    order = np.random.default_rng(seed).permutation(n)
    cut = round(n * share)
    return np.sort(order[cut:]), np.sort(order[:cut])


def _models(
    cascade: Cascade, train: tuple[Any, Any], methods: Sequence[Method], options: dict[str, Any]
) -> Iterator[tuple[str, Cascade]]:
    yield "as given", cascade
    for method in methods:
        try:
            yield method, learn(cascade, *train, method=method, **options).cascade
        except LearningError:  # no sample is reliable: there is no model to compare
            continue


def _frequencies(target: Target, n: int) -> Possibility:
    """Return how frequent values are, as the distribution of each of `n` samples."""
    counts = np.bincount(target.labels, minlength=len(target.attribute.domain))
    degrees = antipignistic(counts / counts.sum())
    return Possibility(target.attribute, np.tile(degrees, (n, 1)))
