"""How aggregates grow with the number of digits: ``python benchmarks/function_growth.py [NAME]``.

For 125, 250, 500 and 1000 digits: rules, and the processor seconds of building them, of compiling
them, and of inferring 100 samples.
"""

import sys
from collections.abc import Callable, Sequence
from time import process_time

import numpy as np

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


def measure(name: str, n: int, samples: int = 100) -> None:
    """Print the figures of one aggregate of `n` digits."""
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
    build, compilation, _, inference = np.diff(times)
    count = sum(map(len, rules.rule_sets))
    print(f"{name:14} n = {n:4}  {count:6} rules  build {build:.2f} s  ", end="")
    print(f"compile {compilation:.2f} s  infer {1000 * inference:.0f} ms", flush=True)


if __name__ == "__main__":
    for chosen in sys.argv[1:] or AGGREGATES:
        for size in SIZES:
            measure(chosen, size)
