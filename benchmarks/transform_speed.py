"""Transformations: against the inference of the samples that they make up, and on the way in."""

from functools import partial

import plain_dp
import tuned_dp
from measure import Line, best_times

from pinesy import antipignistic, antipignistic_inverse, minimum_specificity
from pinesy.problems import addition

SECTION = "transformations"


def alone(k: int, n: int) -> list[Line]:
    """Time the distributions of samples of Addition-k, and their inference."""
    program, p = addition(k).compile(), tuned_dp.random_digits(n, k)
    pi = antipignistic(p)
    times = best_times(
        {
            "inference": partial(program.infer, pi.reshape(n, -1)),
            "antipignistic": partial(antipignistic, p),
            "antipignistic_inverse": partial(antipignistic_inverse, pi),
            "minimum_specificity": partial(minimum_specificity, p),
            "minimum_specificity, equal ties": partial(minimum_specificity, p, ties="equal"),
        },
        seconds=5.0,
    )
    inference = {"inference of these samples": times.pop("inference")}
    case = f"{2 * k * n:,} distributions of 10 values"
    return [
        Line(SECTION, f"{name}, {case}", t, n, inference, bytes=2 * p.nbytes)
        for name, t in times.items()
    ]


def end_to_end(k: int, n: int) -> Line:
    """Time Addition-k from probabilities to results, against dynamic programming in PyTorch."""
    import torch

    program, p = addition(k).compile(), tuned_dp.random_digits(n, k)
    x = p.reshape(n, -1)
    times = best_times(
        {
            "pinesy": partial(program.infer, x, transform="antipignistic"),
            "pinesy in two steps": lambda: program.infer(antipignistic(p).reshape(n, -1)),
            "probabilities, PyTorch": partial(plain_dp.torch_dp, torch.from_numpy(p)),
        },
        seconds=5.0,
    )
    ours = times.pop("pinesy")
    return Line(SECTION, f"Addition-{k} from probabilities, batch {n:,}", ours, n, times)


def lines(tiny: bool = False) -> list[Line]:
    """Measure transformations."""
    k, n = (1, 10) if tiny else (100, 1000)
    return [*alone(k, n), end_to_end(k, 1), end_to_end(k, n)]


if __name__ == "__main__":
    for line in lines():
        print(line)
