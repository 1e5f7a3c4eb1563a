"""One experiment, from its samples to its record.

What the network sees is transformed, rules are learned and infer, and what they infer is judged.
"""

from collections.abc import Mapping
from time import perf_counter
from typing import Any, Final

import numpy as np

from pinesy import Attribute, transforms
from pinesy._common.validation import FloatArray
from pinesy.concepts.concept_check import ConceptCheck, check_concepts
from pinesy.learning import LearningResult, ToleranceSearch, candidate_tolerances, search_tolerances
from pinesy.learning.evaluate import final_values
from pinesy.learning.learning_arguments import batch_of, matching_sets
from pinesy.problems import addition, addition_labels, explained_sums
from pinesy.rulebase.cascade import Cascade
from reproduction.environment import TIMED, Stopwatch, environment, peak_memory
from reproduction.experiments import Experiment
from reproduction.scales import Images, Scale
from reproduction.tasks import PARTS, Task, task_of
from reproduction.trained_networks import Networks, Seen

#: The problem, size, transformation and run whose samples are explained.
EXPLAINED: Final = ("addition", 2, "antipignistic", 0)


class Bench:
    """Where experiments are done.

    Parameters
    ----------
    images, scale : what the experiments are made of, and how large they are
    networks : those of `scale`
    threads : that PyTorch works with
    """

    def __init__(self, images: Images, scale: Scale, networks: Networks, threads: int) -> None:
        self._images, self._scale = images, scale
        self._networks, self._threads = networks, threads
        self._is_warm = False

    def record(self, experiment: Experiment) -> dict[str, Any]:
        """Do an experiment, and return its record, and under ``"cases"`` explained samples, if any.

        Raises
        ------
        BusyError
            Another process is at work with the network that it needs.
        """
        self._networks.check_free(experiment)
        watch = Stopwatch()
        with watch("samples"):
            task = task_of(experiment, self._images, self._scale)
        reading = self._networks.see(experiment, task)
        if not self._is_warm:
            warm_up()
            self._is_warm = True
        watch.add("training", reading.training)
        watch.add("prediction", reading.prediction)
        check = self._reading(task, reading)
        n_images = len(self._images.labels)
        solved, cascade, inputs = solve(task, experiment, reading.probabilities, n_images, watch)
        return {
            "cases": self._cases(experiment, task, cascade, inputs),
            **self._scale.marks,
            "supervision": experiment.supervision,
            "samples": {name: len(getattr(task, name)) for name in PARTS},
            "digit_accuracy": check.accuracy,
            "reading": check.reading,
            **solved,
            "seconds": {part: watch.seconds.get(part, 0.0) for part in TIMED},
            "memory_mb": peak_memory(),
            "network": reading.network,
            "environment": environment(self._threads),
        }

    def _cases(
        self, experiment: Experiment, task: Task, cascade: Cascade, inputs: FloatArray
    ) -> list[dict[str, Any]]:
        """Return a right and a wrong sample, explained, of the experiments that have some."""
        which = experiment.problem, experiment.size, experiment.transform, experiment.run
        if which != EXPLAINED or experiment.setting == "ablation":
            return []
        parts = np.split(inputs, len(cascade.inputs), axis=1)
        evidence = {a.name: part for a, part in zip(cascade.inputs, parts, strict=True)}
        pixels = self._images.pixels[task.test.images]
        images = {name: pixels[:, column] for name, column in task.columns.items()}
        sums = explained_sums(cascade, evidence, task.test.targets, images)
        return [case.to_dict() for case in sums]

    def _reading(self, task: Task, reading: Seen) -> ConceptCheck:
        """Return how the network reads images for test, whose digits it never learned from."""
        rows = task.seen.searchsorted(task.judged_on)
        digit = Attribute("digit", range(reading.probabilities.shape[1]))
        labels = self._images.labels[task.judged_on]
        return check_concepts(digit, reading.probabilities[rows], labels)


def candidate_power(setting: str) -> int:
    """Return the power ``h`` of the candidates for tolerances: lower where data are few.

    As in the paper's experiments [sec:exp].
    """
    return 2 if setting == "low-data" else 5


def solve(
    task: Task, experiment: Experiment, probabilities: FloatArray, n_images: int, watch: Stopwatch
) -> tuple[dict[str, Any], Cascade, FloatArray]:
    """Learn the rules' parameters and infer the samples for test.

    Return what a record says, the rules with their parameters, and the inputs for test.

    Parameters
    ----------
    probabilities : array (seen, classes), those of the images `Task.seen`
    n_images : the number of all images
    watch : takes the seconds of each part; making and compiling the rules is part of learning
    """
    with watch("learning"):
        cascade = task.rules()
    with watch("transform"):
        transform = getattr(transforms, experiment.transform.replace("-", "_"))
        possibilities = np.zeros((n_images, probabilities.shape[1]))
        possibilities[task.seen] = transform(probabilities)
        inputs = {
            name: task.evidence(cascade, getattr(task, name), possibilities)
            for name in (PARTS if experiment.is_learned else ["test"])
        }
    learned = _nothing_learned()
    if experiment.is_learned:
        search = _searched(task, cascade, inputs, candidate_power(experiment.setting), watch)
        cascade, learned = search.result.cascade, _learned(search, task.groups)
    with watch("learning"):  # once for the rules, however many samples there are
        cascade.compile()
    with watch("inference"):
        outcome = judge(cascade, inputs["test"], task.test.targets)
    return {**outcome, **learned}, cascade, inputs["test"]


def _searched(
    task: Task, cascade: Cascade, inputs: Mapping[str, FloatArray], power: int, watch: Stopwatch
) -> ToleranceSearch:
    """Learn with the tolerances of the paper's search; the last learning is counted apart."""
    start = perf_counter()
    search = search_tolerances(
        cascade,
        inputs["train"],
        task.train.targets,
        (inputs["valid"], task.valid.targets),
        groups=list(task.groups),
        candidates=candidate_tolerances(power=power),
    )
    watch.add("learning", search.result.seconds)
    watch.add("thresholds", max(perf_counter() - start - search.result.seconds, 0.0))
    return search


def _learned(search: ToleranceSearch, groups: tuple[str, ...]) -> dict[str, Any]:
    sets = search.result.sets.values()
    return {
        "thresholds": {str(group): float(tau) for group, tau in search.tolerances.items()},
        "evaluations": len(search.evaluations),
        "reliable": {group: _reliable(search.result, group) for group in groups},
        "largest_parameter": max(float(learned_set.lowest.max()) for learned_set in sets),
        "distance": max(float(learned_set.distance) for learned_set in sets),
    }


def _nothing_learned() -> dict[str, Any]:
    """Return what a record says where rules are taken as certain."""
    empty: dict[str, Any] = {"thresholds": {}, "evaluations": 0, "reliable": {}}
    return {**empty, "largest_parameter": 0.0, "distance": None}


def _reliable(result: LearningResult, group: str) -> list[float]:
    """Return the least, mean and largest number of samples that a set was learned from."""
    names = matching_sets(group, list(result.sets))
    numbers = np.array([result[name].n_reliable for name in names])
    return [int(numbers.min()), float(numbers.mean()), int(numbers.max())]


def judge(cascade: Cascade, inputs: FloatArray, targets: Mapping[str, Any]) -> dict[str, Any]:
    """Return how many samples have all outputs decided and right, and how many are undecided.

    A sample is undecided if one of its outputs has several most possible values, which is an error;
    records call it ambiguous.
    """
    batch = batch_of(cascade, inputs, targets)
    indices_by_output = final_values(cascade, batch.targets)
    inference = cascade.infer(batch.known, list(indices_by_output))
    right, undecided = np.ones(batch.n, np.bool_), np.zeros(batch.n, np.bool_)
    for name, positions in indices_by_output.items():
        right &= (inference[name].degrees.argmax(axis=1) == positions) & inference[name].decided
        undecided |= inference[name].normalised & ~inference[name].decided
    count = int(right.sum())
    return {"accuracy": count / batch.n, "right": count, "ambiguous": int(undecided.sum())}


def warm_up() -> None:
    """Load the compiled loops, so that the first experiment is not charged for it."""
    cascade = addition(2)
    digits = np.array([[5, 5, 5, 5], [1, 2, 3, 4]])
    inputs = {f"a_{i + 1}": np.eye(10)[digits[:, i]] for i in range(4)}
    targets = addition_labels(digits)
    search_tolerances(cascade, inputs, targets, (inputs, targets), progress=False)
