"""Compiles what the tests call, once: each of their processes would do so at the same time.

``make test`` runs this beside the type checker, which leaves the other cores idle.
"""

from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from pathlib import Path

import numpy as np

import pinesy
from pinesy._common.jit import Kernel
from pinesy.engine.kernels import kernels_of

TYPES = ("float64", "float32", "uint16", "uint8")
SOURCE = Path(pinesy.__file__).parents[1]


def compile_kernels() -> None:
    """Compile all kernels of the library, those of inference for every type of numbers."""
    owners: list[object] = [kernels_of(np.dtype(name)) for name in TYPES]
    for path in sorted(SOURCE.rglob("*kernels.py")):
        owners.append(import_module(".".join(path.relative_to(SOURCE).with_suffix("").parts)))
    for kernel in {k for owner in owners for k in vars(owner).values() if isinstance(k, Kernel)}:
        kernel._compile()


def compile_baselines() -> None:
    """Compile the paper's formulas, which tests compare learning with, and what peaks run."""
    import paper_formulas
    import peaks

    table, signs = np.zeros((1, 1)), np.ones((1, 1), dtype=bool)
    paper_formulas.sample_distances(table, table, table, signs)
    paper_formulas.learn_stacked(table, table, table, signs)
    peaks.measured(0.0, 1 << 16)


if __name__ == "__main__":
    with ProcessPoolExecutor() as pool:
        for compilation in [pool.submit(compile_kernels), pool.submit(compile_baselines)]:
            compilation.result()
