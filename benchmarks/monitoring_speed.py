"""Coverage reports, and the monitor of drift: against the sets of the same samples, and growth."""

from functools import partial

import numpy as np
import tuned_dp
from measure import Line, best_times, exponent

from pinesy import calibrate
from pinesy.calibration import ConformalMartingale, ScoreCounts, coverage
from pinesy.problems import addition

SECTION = "calibration"


def report(k: int, n: int) -> Line:
    """Time the coverage report of samples of Addition-k, at six levels, all outputs."""
    rules, p = addition(k), tuned_dp.random_digits(n, k).reshape(n, 2 * k, 10)
    truth = {a.name: p[:, i].argmax(axis=1) for i, a in enumerate(rules.inputs)}
    evidence = p.reshape(n, -1)
    sure = calibrate(rules, evidence, truth)
    answers = {a.name: np.full(n, a.domain[0], dtype=object) for a in rules.outputs}
    levels = [0.5, 0.6, 0.7, 0.8, 0.85, 0.9]
    times = best_times(
        {
            "report": partial(coverage, sure, evidence, answers, levels),
            "sets": partial(sure.predict_set, evidence, 0.9),
        }
    )
    case = f"coverage at 6 levels, Addition-{k}, {n:,} samples"
    return Line(SECTION, case, times["report"], n, {"the sets at one level": times["sets"]})


def stream(sizes: tuple[int, ...], batch: int) -> Line:
    """Time the monitor on longer and longer streams of scores, a batch at a time."""
    scores = np.random.default_rng(0).random(max(sizes))
    counts = ScoreCounts.of(scores[:1000])

    def watch(n: int) -> None:
        test = ConformalMartingale(counts)
        for first in range(0, n, batch):
            test.update(scores[first : min(n, first + batch)])

    times = [best_times({"watch": partial(watch, n)}, seconds=2.0)["watch"] for n in sizes]
    note = f"{sizes[0]:,} to {sizes[-1]:,} samples: n^{exponent(sizes, times):.2f}"
    case = f"monitor, batches of {batch:,}"
    return Line(SECTION, case, times[-1], sizes[-1], note=note)


def lines(tiny: bool = False) -> list[Line]:
    """Measure reports and monitoring."""
    if tiny:
        return [report(1, 20), stream((10, 20), 5)]
    sizes = 10_000, 100_000, 1_000_000
    return [report(2, 10_000), stream(sizes, 1_000), stream(sizes, 1_000_000)]


if __name__ == "__main__":
    for line in lines():
        print(line)
