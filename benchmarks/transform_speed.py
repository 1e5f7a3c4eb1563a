"""Transformations: against the inference of the samples that they make up, and on the way in."""

from functools import partial

import plain_dp
import tuned_dp
from measure import Line, best_times

from pinesy import antipignistic, antipignistic_inverse, minimum_specificity
from pinesy.problems import addition

K = 100


def alone(n: int = 1000) -> list[Line]:
    """Time 200 distributions a sample of Addition-100, and its inference."""
    program, p = addition(K).compile(), tuned_dp.random_digits(n, K)
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
    case = f"{200 * n} distributions of 10 values"
    return [
        Line("transformation", f"{name}, {case}", t, n, inference, bytes=2 * p.nbytes)
        for name, t in times.items()
    ]


def end_to_end(n: int) -> Line:
    """Time Addition-100 from probabilities to results, against dynamic programming in PyTorch."""
    import torch

    program, p = addition(K).compile(), tuned_dp.random_digits(n, K)
    x = p.reshape(n, -1)
    times = best_times(
        {
            "pinesy": partial(program.infer, x, transform="antipignistic"),
            "pinesy in two steps": lambda: program.infer(antipignistic(p).reshape(n, -1)),
            "plain torch": partial(plain_dp.torch_dp, torch.from_numpy(p)),
        },
        seconds=5.0,
    )
    ours = times.pop("pinesy")
    return Line("transformation", f"Addition-100 from probabilities, batch {n}", ours, n, times)


def lines() -> list[Line]:
    """Return all lines."""
    return [*alone(), end_to_end(1), end_to_end(1000)]


if __name__ == "__main__":
    for line in lines():
        print(line)
