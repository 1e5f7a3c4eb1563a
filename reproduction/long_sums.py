"""Sums of up to 1024 digits (MNIST-sum-n): the sum of n images is the only label of a network.

Two protocols. *once*: each image is in one sum, so that 60,000 images make 58 sums of 1024.
*reused*: the images are put together again and again, for the number of sums that CTSketch (Choi
et al. 2025) trains with. That is more supervision: an image is then in many sums, whose differences
tell the digits of single images.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from time import process_time
from typing import Any, Final

import numpy as np
import torch

from pinesy._common.validation import FloatArray
from pinesy.exceptions import DataError
from pinesy.nets import predict_proba, sum_loss, sum_probabilities, using_threads
from reproduction.environment import environment, peak_memory
from reproduction.run_files import do_missing_files, read_file
from reproduction.scales import Images
from reproduction.standard_errors import TEST_IMAGES, share_and_error
from reproduction.sum_learning import Indices, Settings, Sums, learn_digits

FORMAT: Final = "pinesy.long-sums/1"
LENGTHS: Final = (4, 16, 64, 256, 1024)
#: The training sums of CTSketch, whatever their length; and its test sums.
REPAIRED, TEST_SUMS = 5000, 1000
#: CTSketch's figures, in %, by its authors (github.com/DebugML/debugml.github.io, post of
#: 2025-11-04): sums of read digits right and, where it gives them, digits right.
PUBLISHED: Final[Mapping[int, tuple[float, float | None]]] = {
    4: (92.17, None),
    16: (83.84, None),
    64: (47.14, None),
    256: (7.76, None),
    1024: (2.73, 93.69),
}
#: Shares, and what the table calls them.
MEASURES: Final = {
    "digits": "digits right",
    "sums": "sums right",
    "sums_of_digits": "sums of read digits right",
}


def repaired_sums(labels: Indices, n: int, count: int, rng: np.random.Generator) -> Sums:
    """Return sums of images, all of which are used about equally often, in a new order each time.

    Examples
    --------
    >>> sums = repaired_sums(np.arange(6), 4, 3, np.random.default_rng(0))
    >>> np.bincount(sums.images.ravel())
    array([2, 2, 2, 2, 2, 2])
    """
    copies = -(-count * n // len(labels))
    pool = np.concatenate([rng.permutation(len(labels)) for _ in range(copies)])
    images = pool[: count * n].reshape(count, n)
    return Sums(images, labels[images].sum(axis=1))


def training_sums(images: Images, n: int, repaired: int | None, run: int) -> Sums:
    """Return the sums that a run trains with; without a number, each image is in one."""
    rng = np.random.default_rng([run, n, repaired or 0])
    count = repaired or images.n_train // n
    if n > min(images.n_train, len(images.test)):
        raise DataError(
            f"a sum of {n} needs {n} images; of {images.n_train} for training and "
            f"{len(images.test)} for test there are too few"
        )
    return repaired_sums(images.labels[: images.n_train].astype(np.int64), n, count, rng)


def sum_record(
    n: int,
    repaired: int | None,
    run: int,
    images: Images,
    settings: Settings,
    *,
    n_test: int = TEST_SUMS,
    say: Callable[[str], Any] = lambda _: None,
) -> dict[str, Any]:
    """Train from sums, judge the network on sums of test images, and return the record."""
    sums = training_sums(images, n, repaired, run)
    used, indices = np.unique(sums.images, return_inverse=True)
    known = Sums(indices.reshape(sums.images.shape), sums.totals)
    began = process_time()
    with using_threads(1):
        network = learn_digits(images.pixels[used], known, run, settings, say)
        trained = process_time()
        probabilities = predict_proba(network, images.pixels[images.test])
        rng = np.random.default_rng([run, n, 1])
        labels = images.labels[images.test].astype(np.int64)
        test = repaired_sums(labels, n, n_test, rng)
        measures = sum_measures(probabilities, labels, test)
    return {
        "format": FORMAT,
        "n": n,
        "repaired": repaired,
        "run": run,
        "training_sums": len(sums),
        "training_images": len(used),
        "test_sums": n_test,
        "settings": vars(settings),
        **measures,
        "seconds": {"training": trained - began, "test": process_time() - trained},
        "peak_memory": peak_memory(),
        **environment(1),
    }


def sum_measures(probabilities: FloatArray, labels: Indices, sums: Sums) -> dict[str, float]:
    """Return the shares of right digits and sums.

    A sum is the most probable one, of independent digits; or that of the most probable digits.
    """
    digits = probabilities.argmax(axis=1)
    p = torch.from_numpy(probabilities)
    best = [int(sum_probabilities(p[row][None]).argmax()) for row in torch.from_numpy(sums.images)]
    return {
        "digits": float((digits == labels).mean()),
        "sums": float((np.array(best) == sums.totals).mean()),
        "sums_of_digits": float((sums.added(digits) == sums.totals).mean()),
    }


def do_sums(
    lengths: Iterable[int],
    runs: Iterable[int],
    images: Images,
    results: Path,
    say: Callable[[str], Any],
    *,
    repaired: int | None = None,
    settings: Settings = Settings(),  # noqa: B008  (it is frozen)
    n_test: int = TEST_SUMS,
) -> list[dict[str, Any]]:
    """Do the runs that have no record yet, and return the records of all."""
    directory = results / "long-sums"
    protocol = f"repaired-{repaired}" if repaired else "once"
    paths = {(n, run): directory / f"{n}-{protocol}-{run}.json" for run in runs for n in lengths}

    def make(key: tuple[int, int]) -> dict[str, Any]:
        n, run = key
        say(f"sums of {n}, {protocol}, run {run}")
        return sum_record(n, repaired, run, images, settings, n_test=n_test, say=say)

    do_missing_files(paths, make)
    return [read_sum_record(path) for path in paths.values()]


def read_sum_record(path: Path) -> dict[str, Any]:
    """Return a record, or raise `DataError`."""
    names = [*MEASURES, "n", "run", "training_sums", "test_sums"]
    return read_file(
        path,
        FORMAT,
        lambda record: [*(record[name] for name in names), record["seconds"]["training"]],
        "delete it",
    )


def sum_table(records: Sequence[Mapping[str, Any]]) -> str:
    """Return the means over runs, in %, with standard errors, as a table in Markdown."""
    lines = [
        f"| n | protocol | training sums | runs | {' | '.join(MEASURES.values())} | training "
        "| CTSketch, sums | digits |",
        "|---" * (7 + len(MEASURES)) + "|",
    ]
    groups: dict[tuple[int, int], list[Mapping[str, Any]]] = {}
    for record in records:
        groups.setdefault((record["n"], record["repaired"] or 0), []).append(record)
    for (n, repaired), group in sorted(groups.items()):
        n_sums = sum(r["test_sums"] for r in group)
        cells = [
            share_and_error([r[m] for r in group], TEST_IMAGES if m == "digits" else n_sums, 2)
            for m in MEASURES
        ]
        seconds = fmean(r["seconds"]["training"] for r in group)
        published = PUBLISHED.get(n, (None, None)) if repaired == REPAIRED else (None, None)
        lines.append(
            f"| {n} | {'reused' if repaired else 'once'} | {group[0]['training_sums']:,} "
            f"| {len(group)} | {' | '.join(cells)} | {seconds:.0f} s "
            f"| {' | '.join('' if p is None else f'{p:g}' for p in published)} |"
        )
    return "\n".join(lines) + "\n"


def cost_table(lengths: Sequence[int]) -> str:
    """Return time and memory of the loss of one sum with its gradient, a new process for each."""
    lines = ["| n | time | memory |", "|---|---|---|"]
    for n in lengths:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            seconds, megabytes = pool.submit(loss_cost, n).result()
        lines.append(f"| {n} | {1000 * seconds:.1f} ms | {megabytes:.0f} MB |")
    return "\n".join(lines)


def loss_cost(n: int) -> tuple[float, float]:
    """Return seconds of the processor and, if known, MB that the loss of one sum takes."""
    generator = torch.Generator().manual_seed(n)
    scores = torch.randn(1, n, 10, generator=generator, dtype=torch.float64, requires_grad=True)
    totals = torch.tensor([4 * n])
    seconds = []
    with using_threads(1):
        sum_loss(scores[:, :2].softmax(dim=2), 0 * totals).backward()  # type: ignore[no-untyped-call]
        before = peak_memory() or 0.0
        for _ in range(5):
            began = process_time()
            sum_loss(scores.softmax(dim=2), totals).backward()  # type: ignore[no-untyped-call]
            seconds.append(process_time() - began)
    return min(seconds), (peak_memory() or 0.0) - before
