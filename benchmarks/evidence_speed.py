"""The cost of evidence: one sample in different forms, against the bare loops of its inference."""

from functools import partial

import numpy as np
from measure import Line, best_times

from pinesy._common.caching import load_kernels
from pinesy.engine.number_types import KERNELS
from pinesy.problems import addition

SEED = 0


def lines(tiny: bool = False) -> list[Line]:
    """Time one sample of Addition-100: the loops alone, one array, a dict of 200 arrays."""
    k = 2 if tiny else 100
    program = addition(k).compile()
    code, x = program.code, np.random.default_rng(SEED).random((2 * k, 10))
    x /= x.max(axis=-1, keepdims=True)
    row, parts = x.ravel(), {a.name: d.copy() for a, d in zip(program.inputs, x, strict=True)}
    out, work = np.empty((code.n_outputs, 1)), np.empty((code.n_slots, 1))
    kernels = load_kernels(KERNELS).kernels_of(code.constants.dtype)
    program(row)  # compiled here
    times = best_times(
        {
            "the loops alone": partial(kernels.run_sample, row[None, :], out, *code.program, work),
            "one array": partial(program, row),
            "a dict of 200 arrays": partial(program, parts),
        }
    )
    overhead = (times["one array"] - times["the loops alone"]) * 1e6
    return [
        Line(
            "evidence",
            f"Addition-{k}, one sample as one array",
            times["one array"],
            against={"the loops alone": times["the loops alone"]},
            note=f"{overhead:.1f} us more than the loops",
        ),
        Line(
            "evidence",
            f"Addition-{k}, one sample as a dict of {2 * k} arrays",
            times["a dict of 200 arrays"],
            against={"one array": times["one array"]},
        ),
    ]


if __name__ == "__main__":
    for line in lines():
        print(line)
