"""How aggregates grow with the number of digits: ``python benchmarks/function_growth.py [NAME]``.

For 125, 250, 500 and 1000 digits: rules, and the processor seconds of building them, of compiling
them, and of inferring 100 samples.
"""

import sys
from collections.abc import Callable, Sequence
from time import process_time

import numpy as np
from measure import Line, exponent

from pinesy import Attribute, Cascade, count_of, max_of, parity_of, sum_of

SIZES = (125, 250, 500, 1000)
AGGREGATES: dict[str, Callable[[Sequence[Attribute]], Cascade]] = {
    "sum modulo 10": lambda digits: sum_of("t", digits, modulo=10),
    "sum up to 5": lambda digits: sum_of("t", digits, most=5),
    "count up to 5": lambda digits: count_of("t", [d.isin({7}) for d in digits], most=5),
    "parity": lambda digits: parity_of("t", digits),
    "max": lambda digits: max_of("t", digits),
    "count": lambda digits: count_of("t", [d.isin({7}) for d in digits]),
}


def measured(name: str, n: int, samples: int = 100) -> tuple[int, list[float]]:
    """Return how many rules an aggregate has, and the seconds to build, compile and infer it."""
    digits = [Attribute(f"a_{i}", range(10)) for i in range(n)]
    times = [process_time()]
    rules = AGGREGATES[name](digits)
    times.append(process_time())
    program = rules.compile()
    times.append(process_time())
    degrees = np.random.default_rng(0).random((samples, n, 10))
    evidence = (degrees / degrees.max(axis=2, keepdims=True)).reshape(samples, -1)
    program.infer(evidence)
    times.append(process_time())
    program.infer(evidence)
    times.append(process_time())
    build, compilation, _, inference = np.diff(times).tolist()
    return sum(map(len, rules.rule_sets)), [build, compilation, inference]


def grown(name: str, sizes: Sequence[int]) -> Line:
    """Say what building and compiling the largest takes, and how it grows."""
    found = [measured(name, n) for n in sizes]
    spent = [build + compilation for _, (build, compilation, _) in found]
    infer = found[-1][1][2]
    note = f"grows as n^{exponent(sizes, spent):.2f}; {found[-1][0]:,} rules; 100 samples "
    return Line(
        "compile growth",
        f"{name} of {sizes[-1]} digits, built and compiled",
        spent[-1],
        note=f"{note}{1000 * infer:.0f} ms",
    )


def lines(tiny: bool = False) -> list[Line]:
    """Measure aggregates of 125 to 500 digits."""
    names, sizes = (["parity"], (3, 5)) if tiny else (list(AGGREGATES), SIZES[:3])
    return [grown(name, sizes) for name in names]


if __name__ == "__main__":
    for chosen in sys.argv[1:] or AGGREGATES:
        for size in SIZES:
            count, (built, compiled, inferred) = measured(chosen, size)
            print(f"{chosen:14} n = {size:4}  {count:6} rules  build {built:.2f} s  ", end="")
            print(f"compile {compiled:.2f} s  infer {1000 * inferred:.0f} ms", flush=True)
