"""Calibration, and sets with a guarantee: against the inference of the same samples."""

from collections.abc import Callable
from functools import partial

import numpy as np
import tuned_dp
from measure import Line, best_times, exponent

from pinesy import ConformalTransform, antipignistic, calibrate
from pinesy.problems import addition

SECTION = "calibration"
SCORES = ("complement", "antipignistic", "cumulated")


def batch(k: int, n: int) -> list[Line]:
    """Time calibration on samples of Addition-k, and the p-values of as many others."""
    program, p = addition(k).compile(), tuned_dp.random_digits(n, k).reshape(n, 2 * k, 10)
    possibilities = antipignistic(p).reshape(n, -1)
    places = p.argmax(axis=2)
    places[::100, 0] = 0  # errors of the network
    fitted = {score: ConformalTransform(score).fit(p, places) for score in SCORES}
    contenders: dict[str, Callable[[], object]] = {
        "inference": partial(program.infer, possibilities)
    }
    contenders |= {f"fit, {s}": partial(ConformalTransform(s).fit, p, places) for s in SCORES}
    contenders |= {f"p-values, {s}": partial(fitted[s], p) for s in SCORES}
    times = best_times(contenders, seconds=8.0)
    inference = {"inference of these samples": times.pop("inference")}
    case = f"Addition-{k}, {n:,} samples"
    return [Line(SECTION, f"{name}, {case}", t, n, inference) for name, t in times.items()]


def one(k: int, n: int) -> Line:
    """Time the set of one sample of Addition-k."""
    rules, p = addition(k), tuned_dp.random_digits(n, k).reshape(n, 2 * k, 10)
    truth = {a.name: p[:, i].argmax(axis=1) for i, a in enumerate(rules.inputs)}
    sure = calibrate(rules, p.reshape(n, -1), truth)
    sample, possibilities = p[0].ravel(), antipignistic(p[:1]).reshape(-1)
    times = best_times(
        {
            "set": partial(sure.predict_set, sample, 0.9),
            "inference": partial(rules.infer, possibilities),
        }
    )
    inference = {"its inference alone": times["inference"]}
    return Line(SECTION, f"Addition-{k}, set of one sample", times["set"], 1, inference)


def growth(sizes: tuple[int, ...]) -> Line:
    """Time the look-up of scores among more and more of calibration."""
    rng = np.random.default_rng(0)
    new = rng.random((1000, 200, 10)) ** 4
    times = []
    for n in sizes:
        p = rng.random((n, 1, 10))
        fitted = ConformalTransform().fit(p, np.zeros((n, 1), dtype=np.int64))
        times.append(best_times({"p": partial(fitted.p_values, new)}, seconds=1.0)["p"])
    note = f"{sizes[0]:,} to {sizes[-1]:,} calibration samples: n^{exponent(sizes, times):.2f}"
    return Line(SECTION, f"p-values of {new.size:,} scores", times[-1], note=note)


def lines(tiny: bool = False) -> list[Line]:
    """Measure calibration."""
    if tiny:
        return [*batch(1, 20), one(1, 20), growth((10, 20))]
    sizes = 1_000, 10_000, 100_000, 1_000_000
    return [*batch(4, 10_000), *batch(100, 10_000), one(4, 1000), one(100, 1000), growth(sizes)]


if __name__ == "__main__":
    for line in lines():
        print(line)
