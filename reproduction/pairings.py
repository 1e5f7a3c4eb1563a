"""Long sums on many pairings of the images for test, with the error that shared images leave.

The test images make 50 sums of two numbers of 100 digits, too few for a figure. Paired anew, they
make as many as one likes; these share images, so that their number says nothing about the error.
It is estimated by a bootstrap over images: images are drawn with replacement and paired as before.
"""

from collections.abc import Callable, Sequence
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Final

import numpy as np

from pinesy import transforms
from pinesy._common.validation import FloatArray
from pinesy.problems import addition_labels, addition_samples
from pinesy.rulebase.cascade import Cascade
from reproduction.bench import judge, solve
from reproduction.environment import Stopwatch, environment
from reproduction.experiments import Experiment
from reproduction.run_lines import Record, do_missing_runs, grouped_runs, read_runs
from reproduction.scales import Images, Scale
from reproduction.tasks import Indices, Part, Task, task_of

if TYPE_CHECKING:  # it loads PyTorch, which reading records does without
    from reproduction.trained_networks import Networks

FORMAT: Final = "pinesy.pairings/1"
#: At least so many sums are made of the test images, and so many bootstrap samples are drawn.
SAMPLES: Final = 1000
RESAMPLES: Final = 200


def paired_part(pool: Indices, images: Images, k: int, rng: np.random.Generator, n: int) -> Part:
    """Return at least `n` sums of images of a pool, all of which are paired as often as needed."""
    if len(pool) < 2 * k:
        raise ValueError(f"{len(pool)} images do not make a sum of {2 * k}")
    n_pairings = -(-n // (len(pool) // (2 * k)))
    labels = images.labels[pool]
    rows = [pool[addition_samples(labels, k, rng)] for _ in range(n_pairings)]
    indices = np.concatenate(rows)
    return Part(indices, addition_labels(images.labels[indices]))


def bootstrap_shares(
    judged: Callable[[Part], float],
    images: Images,
    k: int,
    rng: np.random.Generator,
    *,
    n: int,
    resamples: int,
) -> list[float]:
    """Return the share of right sums for each bootstrap sample of the test images."""
    size = len(images.test)
    return [
        judged(paired_part(rng.choice(images.test, size), images, k, rng, n))
        for _ in range(resamples)
    ]


def pairings_record(
    experiment: Experiment,
    networks: "Networks",
    images: Images,
    scale: Scale,
    *,
    n: int = SAMPLES,
    resamples: int = RESAMPLES,
) -> Record:
    """Return the record of one run: rules learned as in the experiment, judged on many pairings."""
    task = task_of(experiment, images, scale)
    score: dict[str, float] = {}
    if experiment.setting == "deepsoftlog-cnn":  # a run is a training
        reading, score["score"] = networks.see_training(experiment, task)
    else:
        reading = networks.see(experiment, task)
    _, cascade, _ = solve(task, experiment, reading.probabilities, len(images.labels), Stopwatch())
    transform = getattr(transforms, experiment.transform.replace("-", "_"))
    possibilities = np.zeros((len(images.labels), reading.probabilities.shape[1]))
    possibilities[task.seen] = transform(reading.probabilities)
    rng = np.random.default_rng([experiment.run, experiment.size, 3])  # 0 to 2 made the experiment
    part = paired_part(images.test, images, experiment.size, rng, n)
    outcome = judge(cascade, task.evidence(cascade, part, possibilities), part.targets)

    def judged(resample: Part) -> float:
        return _share(cascade, task, resample, possibilities)

    shares = bootstrap_shares(judged, images, experiment.size, rng, n=n, resamples=resamples)
    rows = task.seen.searchsorted(images.test)
    read = reading.probabilities[rows].argmax(axis=1) == images.labels[images.test]
    return {
        "format": FORMAT,
        **experiment.fields,
        "scale": scale.marks["scale"],
        "samples": len(part),
        "images": len(images.test),
        "right": outcome["right"],
        "bootstrap": {"resamples": resamples, "deviation": stdev(shares)},
        "digit_accuracy": float(read.mean()),
        **score,
        "network": reading.network["file"],
        "commit": environment(1)["commit"],
    }


def _share(cascade: Cascade, task: Task, part: Part, possibilities: FloatArray) -> float:
    evidence = task.evidence(cascade, part, possibilities)
    return float(judge(cascade, evidence, part.targets)["accuracy"])


def do_pairings(
    experiments: Sequence[Experiment],
    networks: "Networks",
    images: Images,
    scale: Scale,
    *,
    directory: Path,
    n: int = SAMPLES,
    resamples: int = RESAMPLES,
    say: Callable[[str], object] = lambda _: None,
) -> list[Record]:
    """Do the runs that are not done yet, and return the records of all; a file for each size."""

    def make(experiment: Experiment) -> Record:
        return pairings_record(experiment, networks, images, scale, n=n, resamples=resamples)

    def tell(record: Record) -> None:
        name = Experiment(*(record[name] for name in Experiment.__dataclass_fields__))
        say(f"{name}: {record['right']} of {record['samples']} pairings right")

    return do_missing_runs(experiments, directory, read_pairings, make, tell)


def read_pairings(path: Path) -> list[Record]:
    """Return the records in a file, or raise `DataError`."""
    names = "samples", "images", "right", "digit_accuracy"
    return read_runs(
        path,
        "pairings",
        FORMAT,
        lambda record: [*(record[name] for name in names), record["bootstrap"]["deviation"]],
    )


def pairings_table(records: Sequence[Record]) -> str:
    """Return a table in Markdown: for each experiment the mean over its runs, with two errors.

    Runs have networks of their own and the same test images. So the deviation over the runs says
    how much networks differ, and the bootstrap how much the choice of test images matters; the
    standard error is the root of the sum of both variances, the first divided by the number of
    runs. Of DeepSoftLog's network a run is a training, and the one that the paper would choose,
    by perturbed images for training, has a line of its own.
    """
    lines = [
        "| k | setting | transformation | runs | sums a run | right, % | deviation over runs "
        "| bootstrap over images | standard error | digits, % |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for (size, setting, transform), runs in grouped_runs(records).items():
        lines.append(_table_line(size, setting, transform, runs))
        if setting == "deepsoftlog-cnn":
            chosen = max(runs, key=lambda run: run["score"])
            lines.append(
                _table_line(size, f"{setting}, run {chosen['run']} chosen", transform, [chosen])
            )
    return "\n".join(lines) + "\n"


def _table_line(size: int, setting: str, transform: str, runs: Sequence[Record]) -> str:
    """Return a line of the table: the mean over runs, with its errors."""
    shares = [100.0 * run["right"] / run["samples"] for run in runs]
    deviation = stdev(shares) if len(shares) > 1 else 0.0
    bootstrap = 100.0 * sqrt(fmean(run["bootstrap"]["deviation"] ** 2 for run in runs))
    error = sqrt(deviation**2 / len(runs) + bootstrap**2)
    digits = 100.0 * fmean(run["digit_accuracy"] for run in runs)
    between = f"{deviation:.1f}" if len(runs) > 1 else ""
    return (
        f"| {size} | {setting} | {transform} | {len(runs)} | {runs[0]['samples']} "
        f"| {fmean(shares):.1f} | {between} | {bootstrap:.1f} | {error:.1f} | {digits:.2f} |"
    )
