"""Sets of inputs and answers against those of others, all on the same probabilities.

A small network reads digits of MNIST; its probabilities of images that it was not trained on are
the population. Each split draws calibration and test samples from it with replacement, so that they
are exchangeable whatever the number of inputs. Compared are

* ours: inputs calibrated together, with consistent sets (`consistent_sets`); calibrated answers;
* per-input quantiles, each at the level, or at the level of Bonferroni, and the products of their
  sets filtered by the rules: what is published as COCOCO (arXiv 2605.18202), from its description;
* split conformal prediction of the final answer: MAPIE (LAC and APS) and crepes; it has no sets of
  inputs;
* possibilities as they are, cut at 1 - level.

``python -m reproduction.conformal_comparison docs/results/conformal.json`` trains the network and
does it all; needs pip install '.[nn,data,reproduction]'.
"""

import json
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pinesy import Attribute, Cascade, antipignistic, calibrate, consistent_sets, sum_of
from pinesy._common.files import atomic_text
from pinesy._common.validation import FloatArray
from pinesy.guarantees import threshold_of
from pinesy.guarantees.decisions import margins
from pinesy.problems import addition, addition_labels, digits
from reproduction.split_conformal import sum_classes_sets
from reproduction.sum_splits import TASKS

LEVEL: Final = 0.9
SPLITS: Final = 200
LONG_SPLITS: Final = 20
CALIBRATION: Final = 500
TEST: Final = 500
#: Products of sets of more tuples than this are not listed.
MOST_TUPLES: Final = 1_000_000
#: Promised errors, confidence, samples of each calibration, and calibrations.
ERRORS: Final = (0.01, 0.02)
CONFIDENCE, SELECTIVE_SAMPLES, CALIBRATIONS = 0.95, 2500, 1000
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Population:
    """What a network makes of images that it was not trained on.

    Attributes
    ----------
    probabilities : array (images, 10)
    labels : the true digits
    """

    probabilities: FloatArray
    labels: Ints

    def draw(self, pairs: Ints | None, shape: tuple[int, int], rng: Any) -> "Drawn":
        """Draw samples of images, of any digits, or of digits as in rows of `pairs`."""
        if pairs is None:
            images = rng.integers(len(self.labels), size=shape)
        else:
            digits_of_samples = pairs[rng.integers(len(pairs), size=shape[0])]
            images = np.empty(shape, dtype=np.int64)
            for digit in np.unique(pairs):
                pool, where = np.flatnonzero(self.labels == digit), digits_of_samples == digit
                images[where] = rng.choice(pool, int(where.sum()))
        return Drawn(self.probabilities[images], self.labels[images])


@dataclass(frozen=True, eq=False)
class Drawn:
    """Samples: probabilities (n, inputs, digits) and true digits (n, inputs)."""

    p: FloatArray
    truth: Ints

    def first(self, n_digits: int) -> "Drawn":
        """Return the same with the probabilities of the first digits alone."""
        part = self.p[..., :n_digits] + 1e-12
        return Drawn(part / part.sum(axis=-1, keepdims=True), self.truth)


@dataclass(frozen=True, eq=False)
class Problem:
    """Digits whose sum is asked.

    Attributes
    ----------
    name : what it is called
    n_inputs, n_digits : how many images, and which digits
    pairs : of two inputs, those that occur; None for all
    """

    name: str
    n_inputs: int
    n_digits: int = 10
    pairs: Ints | None = None

    @cached_property
    def rules(self) -> Cascade:
        """The rules of the sum."""
        inputs = [Attribute(f"a_{i + 1}", range(self.n_digits)) for i in range(self.n_inputs)]
        return sum_of("total", inputs)

    def inputs(self, values: npt.NDArray[Any]) -> dict[str, Any]:
        """Return an array (n, inputs, ...) by input."""
        return {f"a_{i + 1}": values[:, i] for i in range(self.n_inputs)}


PROBLEMS: Final = (
    Problem("sum of 2", 2),
    Problem("sum of 3", 3),
    Problem("sum of 5", 5),
    *(
        Problem(f"MNIST-{task.name}", 2, task.n_digits, np.array(task.observed))
        for task in TASKS.values()
    ),
)


@dataclass(frozen=True, eq=False)
class Sets:
    """Sets of inputs (n, inputs, digits), if there are some, and of sums (n, sums)."""

    inputs: Bools | None
    sums: Bools
    seconds: float

    def figures(self, truth: Ints) -> dict[str, float | None]:
        """Return coverage, consistency and sizes."""
        rows, totals = np.arange(len(truth)), truth.sum(axis=1)
        covered = self.sums[rows, totals]
        sizes = self.sums.sum(axis=1)
        figures: dict[str, float | None] = {
            "answer covered": float(covered.mean()),
            "answer size": float(sizes.mean()),
            "single answers": float((sizes == 1).mean()),
            "empty": float((sizes == 0).mean()),
            "ms a sample": 1e3 * self.seconds / len(truth),
        }
        if self.inputs is None:
            return figures | dict.fromkeys(("all covered", "consistent", "input size"))
        members = np.take_along_axis(self.inputs, truth[..., None], axis=2)[..., 0]
        is_consistent = consistent_rows(self.inputs, self.sums)
        return figures | {
            "all covered": float((covered & members.all(axis=1)).mean()),
            "consistent": float(is_consistent.mean()),
            "input size": float(self.inputs.sum(axis=2).mean()),
        }


def sum_weights(weights: npt.NDArray[Any]) -> FloatArray:
    """Return the weight of each sum: its tuples' products of weights (n, inputs, digits)."""
    n, n_inputs, n_digits = weights.shape
    sums = np.zeros((n, n_inputs * (n_digits - 1) + 1))
    sums[:, 0] = 1.0
    for index in range(n_inputs):
        shifted = np.zeros_like(sums)
        for digit in range(n_digits):
            shifted[:, digit:] += sums[:, : sums.shape[1] - digit] * weights[:, index, [digit]]
        sums = shifted
    return sums


def reachable_sums(inputs: Bools) -> Bools:
    """Return which sums some tuple of values of sets has; sets are an array (n, inputs, digits)."""
    return sum_weights(inputs) > 0.0


def consistent_rows(inputs: Bools, sums: Bools) -> Bools:
    """Return in which samples every value of a set belongs to a tuple of the sets."""
    are_used = (sums <= reachable_sums(inputs)).all(axis=1)
    n_digits = inputs.shape[2]
    for index in range(inputs.shape[1]):
        others = reachable_sums(np.delete(inputs, index, axis=1))
        for digit in range(n_digits):
            fits = (others & sums[:, digit : digit + others.shape[1]]).any(axis=1)
            are_used &= fits | ~inputs[:, index, digit]
    return np.asarray(are_used)


def sum_probabilities_of(p: FloatArray) -> FloatArray:
    """Return the probabilities of the sums of digits (n, inputs, digits), independent."""
    sums = sum_weights(p)
    return np.asarray(sums / sums.sum(axis=1, keepdims=True))


def consistent(problem: Problem, known: Drawn, new: Drawn) -> Sets:
    """Return our sets."""
    start = perf_counter()
    sure = calibrate(problem.rules, problem.inputs(known.p), problem.inputs(known.truth))
    sets = consistent_sets(sure, problem.inputs(new.p), LEVEL)
    seconds = perf_counter() - start
    names = problem.inputs(new.p)
    return Sets(np.stack([sets.members(n) for n in names], axis=1), sets.members("total"), seconds)


def by_answers(problem: Problem, known: Drawn, new: Drawn) -> Sets:
    """Return our sets of the sum alone: answers are calibrated."""
    start = perf_counter()
    true = {"total": known.truth.sum(axis=1)}
    sure = calibrate(problem.rules, problem.inputs(known.p), true, transform="antipignistic")
    sums = sure.predict_set(problem.inputs(new.p), LEVEL).members("total")
    return Sets(None, sums, perf_counter() - start)


def by_quantiles(known: Drawn, new: Drawn, level: float) -> Sets:
    """Return sets by a quantile for each input, and the sums of the products of the sets."""
    start = perf_counter()
    inputs = quantile_sets(known, new, level)
    return Sets(inputs, list_sums(inputs), perf_counter() - start)


def quantile_sets(known: Drawn, new: Drawn, level: float) -> Bools:
    """Return sets of inputs, each by a quantile of its own scores."""
    scores = 1.0 - np.take_along_axis(known.p, known.truth[..., None], axis=2)[..., 0]
    n = len(scores)
    rank = min(int(np.ceil(round((n + 1) * level, 9))), n) - 1
    limits = np.sort(scores, axis=0)[rank]
    return np.asarray(1.0 - new.p <= limits[None, :, None])


def apart(problem: Problem, known: Drawn, new: Drawn) -> Sets:
    """Return sets of inputs and of the sum that nobody has made consistent (Bonferroni)."""
    start = perf_counter()
    level = 1.0 - (1.0 - LEVEL) / (problem.n_inputs + 1)
    p, q = sum_probabilities_of(known.p), sum_probabilities_of(new.p)
    sums = sum_classes_sets(p, q, known.truth.sum(axis=1), [level])[0]
    return Sets(quantile_sets(known, new, level), sums, perf_counter() - start)


def list_sums(inputs: Bools) -> Bools:
    """Return the sums of all tuples of sets, by listing the tuples."""
    n, n_inputs, n_digits = inputs.shape
    sums = np.zeros((n, n_inputs * (n_digits - 1) + 1), dtype=np.bool_)
    for row, sets in enumerate(inputs):
        values = [np.flatnonzero(members).tolist() for members in sets]
        if np.prod([len(v) for v in values]) > MOST_TUPLES:
            raise ValueError("too many tuples")
        sums[row, sorted({sum(values_of_tuple) for values_of_tuple in product(*values)})] = True
    return sums


def plain_possibilities(problem: Problem, _known: Drawn, new: Drawn) -> Sets:
    """Return cuts of possibilities that nobody has calibrated."""
    start = perf_counter()
    pi = antipignistic(new.p)
    sums = problem.rules.infer(problem.inputs(pi))["total"].degrees > 1.0 - LEVEL
    return Sets(pi > 1.0 - LEVEL, sums, perf_counter() - start)


def by_mapie(score: str) -> Callable[[Problem, Drawn, Drawn], Sets]:
    """Return split conformal prediction of the sum by MAPIE, with a score."""

    def predict(_problem: Problem, known: Drawn, new: Drawn) -> Sets:
        start = perf_counter()
        p, q = sum_probabilities_of(known.p), sum_probabilities_of(new.p)
        sums = sum_classes_sets(p, q, known.truth.sum(axis=1), [LEVEL], score)[0]
        return Sets(None, sums, perf_counter() - start)

    return predict


def by_crepes(_problem: Problem, known: Drawn, new: Drawn) -> Sets:
    """Return split conformal prediction of the sum by crepes."""
    from crepes import ConformalClassifier

    start = perf_counter()
    p, q = sum_probabilities_of(known.p), sum_probabilities_of(new.p)
    scores = 1.0 - p[np.arange(len(p)), known.truth.sum(axis=1)]
    classifier = ConformalClassifier().fit(scores)
    sums = classifier.predict_set(1.0 - q, confidence=LEVEL, smoothing=False).astype(np.bool_)
    return Sets(None, sums, perf_counter() - start)


METHODS: Final[Mapping[str, Callable[[Problem, Drawn, Drawn], Sets]]] = {
    "pinesy, consistent sets": consistent,
    "pinesy, calibrated answers": by_answers,
    "a quantile for each input": lambda _, known, new: by_quantiles(known, new, LEVEL),
    "the same with Bonferroni": lambda problem, known, new: by_quantiles(
        known, new, 1.0 - (1.0 - LEVEL) / problem.n_inputs
    ),
    "inputs and sum apart, Bonferroni": apart,
    "MAPIE LAC on the sum": by_mapie("lac"),
    "MAPIE APS on the sum": by_mapie("aps"),
    "crepes on the sum": by_crepes,
    "possibilities as they are": plain_possibilities,
}


def compare(problem: Problem, population: Population, splits: int) -> dict[str, Any]:
    """Return the mean figures of each method over splits."""
    records: dict[str, list[dict[str, float | None]]] = {name: [] for name in METHODS}
    for split in range(splits):
        rng = np.random.default_rng([split, problem.n_inputs, problem.n_digits])
        known, new = (
            population.draw(problem.pairs, (n, problem.n_inputs), rng).first(problem.n_digits)
            if problem.pairs is not None
            else population.draw(None, (n, problem.n_inputs), rng)
            for n in (CALIBRATION, TEST)
        )
        for name, method in METHODS.items():
            records[name].append(method(problem, known, new).figures(new.truth))
    return {name: means(rows) for name, rows in records.items()}


def means(rows: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """Return the mean of each figure, None where there is none."""
    columns = {key: [row[key] for row in rows] for key in rows[0]}
    return {
        key: None if None in column else float(np.mean(np.array(column, dtype=np.float64)))
        for key, column in columns.items()
    }


def long_sums(k: int, population: Population, splits: int) -> dict[str, float | None]:
    """Return our figures of the sum of two numbers of `k` digits, whose tuples cannot be listed."""
    rules, rows = addition(k), []
    for split in range(splits):
        rng = np.random.default_rng([split, k])
        known, new = (population.draw(None, (n, 2 * k), rng) for n in (CALIBRATION, TEST))
        problem = Problem(f"Addition-{k}", 2 * k)
        start = perf_counter()
        sure = calibrate(rules, problem.inputs(known.p), problem.inputs(known.truth))
        sets = consistent_sets(sure, problem.inputs(new.p), LEVEL)
        seconds = perf_counter() - start
        true: dict[str, Any] = problem.inputs(new.truth) | addition_labels(new.truth)
        names = [a.name for a in (*rules.inputs, *rules.outputs)]
        hits = {
            n: sets.members(n)[np.arange(TEST), np.asarray(true[n], dtype=np.int64)] for n in names
        }
        outputs = [a.name for a in rules.outputs]
        sizes = np.stack([sets.sizes[n] for n in outputs])
        rows.append(
            {
                "all covered": float(np.all([*hits.values()], axis=0).mean()),
                "answer covered": float(np.all([hits[n] for n in outputs], axis=0).mean()),
                "single answers": float((sizes == 1).all(axis=0).mean()),
                "answer size": float(sizes.mean()),
                "input size": float(np.mean([sets.sizes[a.name] for a in rules.inputs])),
                "empty": float((sizes == 0).any(axis=0).mean()),
                "ms a sample": 1e3 * seconds / TEST,
                "consistent": 1.0 if sets.exact else None,
            }
        )
    return means(rows)


def selective(
    population: Population, error: float, calibrations: int = CALIBRATIONS
) -> dict[str, Any]:
    """Return how often decisions on sums of two break the promise, and how many are made.

    The true risk of a threshold is that of a million pairs.
    """
    large = _ranked(population.draw(None, (1_000_000, 2), np.random.default_rng(10**6)))
    order = np.argsort(-large[0])
    certainty = large[0][order]
    risk = np.cumsum(large[1][order]) / np.arange(1, len(order) + 1)
    records: dict[str, list[tuple[bool, float]]] = {"pinesy": [], "by the observed error": []}
    for seed in range(calibrations):
        rng = np.random.default_rng([seed, SELECTIVE_SAMPLES])
        sample = _ranked(population.draw(None, (SELECTIVE_SAMPLES, 2), rng))
        chosen = threshold_of(*sample, error=error, confidence=CONFIDENCE, seed=seed).threshold
        for name, threshold in (
            ("pinesy", chosen),
            ("by the observed error", _observed(*sample, error)),
        ):
            n = 0
            if threshold is not None:
                n = int(np.searchsorted(-certainty, -threshold, side="right"))
            records[name].append((bool(n and risk[n - 1] > error), n / len(order)))
    best = np.flatnonzero(risk <= error)
    return {
        "error": error,
        "confidence": CONFIDENCE,
        "samples": SELECTIVE_SAMPLES,
        "calibrations": calibrations,
        "best share": (int(best[-1]) + 1) / len(order) if len(best) else 0.0,
        **{
            name: {
                "violations": int(sum(is_broken for is_broken, _ in rows)),
                "mean share decided": float(np.mean([share for _, share in rows])),
            }
            for name, rows in records.items()
        },
    }


def _ranked(sample: Drawn) -> tuple[FloatArray, FloatArray]:
    """Return the certainty of the best sum of two, and whether it is wrong (1 or 0).

    By possibilities, the certainty of a function of independent inputs is the least of theirs.
    """
    certainty = np.min([margins(sample.p[:, i]) for i in range(2)], axis=0)
    wrong = sample.p.argmax(axis=2).sum(axis=1) != sample.truth.sum(axis=1)
    return certainty, wrong.astype(np.float64)


def _observed(certainty: FloatArray, wrong: FloatArray, error: float) -> float | None:
    """Return the threshold of the largest share whose observed error is at most the promise."""
    order = np.argsort(-certainty)
    observed = np.cumsum(wrong[order]) / np.arange(1, len(order) + 1)
    passing = np.flatnonzero(observed <= error)
    return float(certainty[order[passing[-1]]]) if len(passing) else None


def read_population(n_train: int = 1000, epochs: int = 6) -> Population:
    """Train a small network on some images; return what it makes of the others."""
    from pinesy.nets import DeepSoftLogCNN, NetworkPerception, Recipe

    images, labels = digits()
    order = np.random.default_rng(0).permutation(len(labels))
    first, others = order[:n_train], order[n_train:]
    recipe = Recipe("adamw", 3e-3, "cosine", batch=32, epochs=epochs, t_max=epochs)
    network = NetworkPerception(DeepSoftLogCNN(10, seed=0), recipe, seed=0)
    network.fit(images[first], labels[first])
    p = np.asarray(network.predict_proba(images[others]), dtype=np.float64)
    return Population(p / p.sum(axis=1, keepdims=True), labels[others].astype(np.int64))


def run_comparison(
    population: Population, splits: int = SPLITS, long_splits: int = LONG_SPLITS
) -> dict[str, Any]:
    """Return all figures."""
    accuracy = (population.probabilities.argmax(axis=1) == population.labels).mean()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "level": LEVEL,
            "splits": splits,
            "long splits": long_splits,
            "calibration": CALIBRATION,
            "test": TEST,
            "digit accuracy": float(accuracy),
            "images": len(population.labels),
            "problems": {p.name: compare(p, population, splits) for p in PROBLEMS},
            "long": {f"Addition-{k}": long_sums(k, population, long_splits) for k in (15, 100)},
            "selective": [selective(population, error) for error in ERRORS],
        }


if __name__ == "__main__":
    record = run_comparison(read_population())
    with atomic_text(Path(sys.argv[1])) as stream:
        stream.write(json.dumps(record, indent=1) + "\n")
