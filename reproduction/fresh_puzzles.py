"""Sudokus of images that a run never used, so many that chance hardly moves their figure.

A run of the paper's protocol has 100 puzzles for test, which share 800 (4x4) or 4,050 (9x9)
images. Here each network is judged on puzzles of the images of MNIST that were in no puzzle of its
run, and on all these images one by one.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Final

import numpy as np

from pinesy import transforms
from pinesy.problems import sudoku_labels, sudoku_samples
from reproduction.bench import judge, solve
from reproduction.environment import Stopwatch, environment
from reproduction.experiments import Experiment
from reproduction.run_lines import Record, do_missing_runs, grouped_runs, read_runs
from reproduction.scales import Images, Scale
from reproduction.standard_errors import error_over_runs
from reproduction.tasks import Indices, Part, task_of

if TYPE_CHECKING:  # it loads PyTorch, which reading records does without
    from reproduction.trained_networks import Networks

FORMAT: Final = "pinesy.fresh-puzzles/1"
#: Correct puzzles of a run; as many incorrect copies are made of them.
PUZZLES: Final = 500


def fresh_pool(used: Indices, images: Images, dim: int, rng: np.random.Generator) -> Indices:
    """Return images (dim, m) of each digit that are not among the used ones, in random order."""
    is_fresh = np.ones(len(images.labels), np.bool_)
    is_fresh[used] = False
    rows = [
        rng.permutation(np.flatnonzero(is_fresh & (images.labels == digit))) for digit in range(dim)
    ]
    return np.stack([row[: min(map(len, rows))] for row in rows])


def fresh_record(
    experiment: Experiment, networks: "Networks", images: Images, scale: Scale, n: int = PUZZLES
) -> Record:
    """Return the record of one run: rules learned as in the experiment, judged on new puzzles."""
    task, dim = task_of(experiment, images, scale), experiment.size
    rng = np.random.default_rng([experiment.run, dim, 3])  # 0 to 2 made the puzzles of the run
    pool = fresh_pool(task.seen, images, dim, rng)
    task = replace(task, seen=np.union1d(task.seen, pool))
    reading = networks.see(experiment, task)
    _, cascade, _ = solve(task, experiment, reading.probabilities, len(images.labels), Stopwatch())
    puzzles = sudoku_samples(pool, min(n, pool.shape[1] // dim), rng)
    part = Part(puzzles.images, sudoku_labels(puzzles.digits.reshape(-1, dim, dim)))
    transform = getattr(transforms, experiment.transform.replace("-", "_"))
    possibilities = np.zeros((len(images.labels), reading.probabilities.shape[1]))
    possibilities[task.seen] = transform(reading.probabilities)
    outcome = judge(cascade, task.evidence(cascade, part, possibilities), part.targets)
    fresh = pool.ravel()
    read = reading.probabilities[task.seen.searchsorted(fresh)].argmax(axis=1)
    return {
        "format": FORMAT,
        **experiment.fields,
        "scale": scale.marks["scale"],
        "samples": len(part),
        "right": outcome["right"],
        "images": len(fresh),
        "images_right": int((read == images.labels[fresh]).sum()),
        "network": reading.network["file"],
        "commit": environment(1)["commit"],
    }


def do_fresh_puzzles(
    experiments: Sequence[Experiment],
    networks: "Networks",
    images: Images,
    scale: Scale,
    *,
    directory: Path,
    n: int = PUZZLES,
    say: Callable[[str], object] = lambda _: None,
) -> list[Record]:
    """Judge the runs that are not judged yet, and return the records of all."""

    def make(experiment: Experiment) -> Record:
        return fresh_record(experiment, networks, images, scale, n)

    def tell(record: Record) -> None:
        digits = 100.0 * record["images_right"] / record["images"]
        say(
            f"sudoku-{record['size']} {record['setting']} run {record['run']}: {record['right']} "
            f"of {record['samples']} new puzzles right (digits {digits:.2f} %)"
        )

    return do_missing_runs(experiments, directory, read_fresh_puzzles, make, tell)


def read_fresh_puzzles(path: Path) -> list[Record]:
    """Return the records in a file, or raise `DataError`."""
    names = "samples", "right", "images", "images_right"
    return read_runs(path, "new puzzles", FORMAT, lambda record: [record[name] for name in names])


def fresh_puzzles_table(records: Sequence[Record]) -> str:
    """Return a table in Markdown: means over runs, each with its deviation and standard error."""
    lines = [
        "| size | setting | transformation | runs | puzzles a run | right, % | deviation over runs "
        "| standard error | images a run | digits, % | standard error |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for (size, setting, transform), runs in grouped_runs(records).items():
        puzzles = [100.0 * run["right"] / run["samples"] for run in runs]
        digits = [100.0 * run["images_right"] / run["images"] for run in runs]
        (deviation, error), (_, digits_error) = map(_deviation_and_error, (puzzles, digits))
        lines.append(
            f"| {size} | {setting} | {transform} | {len(runs)} | {runs[0]['samples']} "
            f"| {fmean(puzzles):.1f} | {deviation} | {error} | {runs[0]['images']} "
            f"| {fmean(digits):.2f} | {digits_error} |"
        )
    return "\n".join(lines) + "\n"


def _deviation_and_error(shares: Sequence[float]) -> tuple[str, str]:
    """Return the deviation over runs and the standard error of their mean; empty for one run."""
    if len(shares) < 2:
        return "", ""
    return f"{stdev(shares):.2f}", f"{error_over_runs(shares):.2f}"
