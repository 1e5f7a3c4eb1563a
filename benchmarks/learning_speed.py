"""The speed figures of learning: against the paper's formulas, with the number of samples, and
against one epoch of training the paper's network."""

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import paper_formulas
import plain_formulas
from measure import Line, best_times, exponent

from pinesy import RuleSet, learn
from pinesy._common.validation import FloatArray
from pinesy.engine.program import Program
from pinesy.evidence.targets import Target
from pinesy.learning import LearningResult, learn_batches
from pinesy.learning.learning_arguments import TrainingBatch
from pinesy.learning.sample_passes import BatchPasses
from pinesy.learning.stages import CascadeStages
from pinesy.problems import addition, addition_labels, sudoku, sudoku_labels
from pinesy.rulebase.cascade import as_cascade

SECTION = "learning"
SEED = 0


def pairs(n: int, seed: int = SEED) -> tuple[FloatArray, FloatArray]:
    """Return random normalised distributions of two digits (n, 20), and random graded targets."""
    rng = np.random.default_rng(seed)
    x = rng.random((n, 2, 10))
    graded = rng.random((n, 100))
    graded /= graded.max(axis=1, keepdims=True)
    return (x / x.max(axis=-1, keepdims=True)).reshape(n, 20), graded


def labels_of(x: FloatArray, seed: int = SEED) -> FloatArray:
    """Return a label pair for each sample: mostly the most possible digits, some others."""
    rng = np.random.default_rng(seed)
    digits = x.reshape(len(x), 2, 10).argmax(axis=-1)
    wrong = rng.random(digits.shape) < 0.01
    found: FloatArray = np.where(wrong, rng.integers(0, 10, digits.shape), digits)
    return found


def the_set() -> RuleSet:
    """Return the 20-rule, 100-cell set of Addition."""
    return addition(1)["c_1"]


def premise_degrees(rules: RuleSet, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ``lambda`` and ``rho`` for each sample and rule."""
    known = {a.name: a for a in rules.inputs}
    trace: Any = Program([rules.unit], [rules.output], known, degrees=True).infer(x)
    premises = trace.premises[rules.output.name]
    return premises.lambdas, premises.rhos


def cell_targets(rules: RuleSet, target: Target) -> FloatArray:
    """Return the target possibility of each cell (n, omega)."""
    cells = np.zeros((len(target), len(rules.partition)))
    if target.is_graded:
        for u, cell in enumerate(rules.partition.cell_of):
            cells[:, cell] = np.maximum(cells[:, cell], target.degrees[:, u])
    else:
        cells[np.arange(len(target)), rules.partition.cell_of[target.labels]] = 1.0
    return cells


def distances(kind: str, n: int) -> Line:
    """Time the distance of each sample, from the premise degrees, against the paper's formula."""
    rules, (x, graded) = the_set(), pairs(n)
    cascade = as_cascade(rules)
    stage = CascadeStages(cascade, ["c_1"]).stage(1, None)
    target = Target.of(labels_of(x) if kind == "labels" else graded, rules.output)
    batch = TrainingBatch(n, {"a_1": x[:, :10], "a_2": x[:, 10:]}, {"c_1": target})
    passes = BatchPasses(stage, batch)
    given = (*premise_degrees(rules, x), cell_targets(rules, target), rules.partition.signs)
    times = best_times(
        {
            "ours": passes.measure,
            "the paper's formula": partial(plain_formulas.sample_distances, *given),
            "the paper's formula, tuned": partial(paper_formulas.sample_distances, *given),
        }
    )
    found = [f.sample_distances(*given) for f in (plain_formulas, paper_formulas)]
    difference = max(np.abs(passes.nabla["c_1"] - other).max() for other in found)
    ours, note = times.pop("ours"), f"largest difference {difference:.0e}"
    return Line(SECTION, f"distances, {kind}, {n:,} samples", ours, n, times, note=note)


def stacked(kind: str, n: int) -> Line:
    """Time learning the set against the paper's formula."""
    rules, (x, graded) = the_set(), pairs(n)
    target = Target.of(labels_of(x) if kind == "labels" else graded, rules.output)
    given = (*premise_degrees(rules, x), cell_targets(rules, target), rules.partition.signs)
    one = learn(rules, x, target)["c_1"]
    times, difference = {}, 0.0
    ways = (("the paper's formula", plain_formulas), ("the paper's formula, tuned", paper_formulas))
    for name, formulas in ways:
        formulas.learn_stacked(*(part[:2] for part in given[:3]), given[3])  # compiles
        start = perf_counter()
        distance, solution = formulas.learn_stacked(*given)
        times[name] = perf_counter() - start
        difference = max(difference, abs(one.distance - distance))
        difference = max(difference, np.abs(one.lowest - solution).max())
    ours = best_times({"ours": partial(learn, rules, x, target)}, seconds=1.0)["ours"]
    note = f"distance {one.distance:.3g}, largest difference {difference:.0e}"
    return Line(SECTION, f"learned, {kind}, {n:,} samples", ours, n, times, note=note)


def growth(kind: str, sizes: tuple[int, ...]) -> Line:
    """Time learning from many samples, and say how it grows with their number."""
    rules, (x, graded) = the_set(), pairs(sizes[-1])
    target = Target.of(labels_of(x) if kind == "labels" else graded, rules.output)
    times = best_times(
        {str(n): partial(learn, rules, x[:n], target[:n]) for n in sizes}, seconds=1.0
    )
    spent, most = [times[str(n)] for n in sizes], sizes[-1]
    return Line(
        SECTION,
        f"learned, {kind}, {most:,} samples",
        spent[-1],
        most,
        note=f"time grows as N^{exponent(sizes, spent):.2f}",
        bytes=float(x.nbytes + (labels_of(x).nbytes if kind == "labels" else graded.nbytes)),
    )


def normalised(rng: np.random.Generator, digits: Any, classes: int) -> FloatArray:
    """Return distributions as of a good network: mostly sure of the true digit."""
    p = rng.dirichlet(np.full(classes, 0.05), size=digits.shape)
    p[np.arange(len(digits))[:, None], np.arange(digits.shape[1]), digits] += 20.0
    x: FloatArray = p / p.max(axis=-1, keepdims=True)
    return x.reshape(len(digits), -1)


def addition_1() -> LearningResult:
    """Learn the whole cascade of Addition-1 from 25,000 samples, all of them kept."""
    rng = np.random.default_rng(SEED)
    digits = rng.integers(0, 10, (25_000, 2))
    return _timed(addition(1), normalised(rng, digits, 10), addition_labels(digits))


def sudoku_9() -> LearningResult:
    """Learn the whole cascade of Sudoku 9x9 from 200 puzzles, all of them kept."""
    rng = np.random.default_rng(SEED)
    grids = rng.integers(0, 9, (200, 9, 9))
    return _timed(sudoku(9), normalised(rng, grids.reshape(200, 81), 9), sudoku_labels(grids))


def _timed(cascade: Any, x: FloatArray, labels: Any) -> LearningResult:
    warm = normalised(np.random.default_rng(SEED), np.zeros((2, 16), dtype=int), 4)
    learn(sudoku(4), warm, sudoku_labels(np.zeros((2, 4, 4), dtype=int)))  # loads the kernels
    before = peak_memory(reset=True)
    times = []
    for _ in range(3):
        start = perf_counter()
        result = learn(cascade, x, labels)
        times.append(perf_counter() - start)
    kept = min(one.n_reliable for one in result.sets.values())
    print(times[0], min(times), peak_memory() - before, kept)
    return result


def peak_memory(reset: bool = False) -> float:
    """Return the most memory that this process has held, in MB (since it was last reset)."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def against_epoch() -> list[Line]:
    """Time cascade learning against one training epoch of the paper's CNN on as many images."""
    found, image = [], image_seconds()
    for name, code, images in (
        ("Addition-1, 25,000 samples", "addition_1()", 50_000),
        ("Sudoku 9x9, 200 puzzles", "sudoku_9()", 16_200),
    ):
        first, again, memory, kept = _in_new_process(code)
        epoch = f"an epoch on its {images:,} images"
        note = f"{first:.3f} s the first time; all {kept:.0f} kept; {memory:.0f} MB more memory"
        found.append(Line(SECTION, name, again, 1, {epoch: images * image}, note=note))
    return found


def _in_new_process(function: str) -> list[float]:
    code = f"import sys; sys.path.insert(0, 'benchmarks')\nfrom learning_speed import *\n{function}"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return [float(word) for word in done.stdout.split()]


def image_seconds() -> float:
    """Return the time that training the paper's CNN takes for an image, in an epoch on 1,000."""
    from dataclasses import replace

    from pinesy.nets import PAPER, PaperCNN, train
    from pinesy.problems import digits

    images, labels = (part[::5] for part in digits())
    start = perf_counter()
    train(PaperCNN(10), images, labels, replace(PAPER, epochs=1), seed=SEED, progress=False)
    return (perf_counter() - start) / len(images)


class Endless:
    """Batches of random samples of the set, made anew each time they are read."""

    def __init__(self, n: int, batch: int = 10_000) -> None:
        self.n, self.batch = n, batch

    def __iter__(self) -> Iterator[tuple[FloatArray, Any]]:
        for number in range(self.n // self.batch):
            rng = np.random.default_rng([SEED, number])
            x = rng.random((self.batch, 2, 10))
            x /= x.max(axis=-1, keepdims=True)
            graded = rng.integers(0, 11, (self.batch, 100)) / 10.0
            graded[:, 0] = 1.0
            yield x.reshape(self.batch, 20), graded if number % 100 == 0 else x.argmax(axis=-1)


def stream(n: int) -> None:
    """Learn the set from a stream of `n` samples, and print time and memory."""
    rules = the_set()
    learn_batches(rules, Endless(20_000))
    before = peak_memory(reset=True)
    start = perf_counter()
    result = learn_batches(rules, Endless(n))
    print(perf_counter() - start, peak_memory() - before, result.samples)


def streaming(sizes: tuple[int, ...]) -> list[Line]:
    """Measure time and memory of learning from streams."""
    found = []
    for n in sizes:
        seconds, memory, samples = _in_new_process(f"stream({n})")
        note = f"the peak grew by {memory:.1f} MB; samples are made as it goes"
        found.append(Line(SECTION, f"a stream, {n:,} samples", seconds, int(samples), note=note))
    return found


def lines(tiny: bool = False) -> list[Line]:
    """Measure learning the 20-rule, 100-cell set of Addition, cascades, and streams."""
    few, stack, sizes = (10, 2, (10, 20)) if tiny else (5_000, 100, (10_000, 100_000, 1_000_000))
    found = []
    for kind in ("labels", "distributions"):
        found += [distances(kind, few), stacked(kind, stack), growth(kind, sizes)]
    return found if tiny else [*found, *against_epoch(), *streaming((100_000, 1_000_000))]
