"""Inference on the engine with gradients: for processors, where it is by far the quickest."""

import threading
from collections.abc import Iterator, Mapping
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pinesy._common.console import KERNELS, notice
from pinesy._common.threads import n_threads, share
from pinesy._common.validation import FloatArray
from pinesy.engine.code import Code
from pinesy.engine.evidence import Rows
from pinesy.engine.program import link
from pinesy.engine.run import run
from pinesy.rulebase.cascade import Cascade

#: Samples a block, and a task.
WIDTH, CHUNK = 16, 64
#: Instructions times samples below which a second thread costs more than it gives.
THREAD_STEPS = 100_000


class EngineInference:
    """A cascade compiled twice: to run forward, and to run forward and back again.

    Parameters
    ----------
    cascade : the rules
    outputs : the names of what is inferred
    """

    def __init__(self, cascade: Cascade, outputs: list[str]) -> None:
        program = cascade.compile(outputs)
        self.outputs, self.code = outputs, program.code
        units = [s.unit for s in cascade.needed(outputs)]
        self.back = link(units, program.outputs, cascade.inputs, reuse=False)

    def __call__(self, values: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the distributions of the outputs by name, for those of the inputs."""
        inputs = torch.cat([values[a.name] for a in self.code.inputs], dim=1)
        found: Tensor = _Run.apply(inputs, self)  # type: ignore[no-untyped-call]
        return {name: found[:, self.code.columns[name]] for name in self.outputs}

    def forward(self, x: FloatArray) -> FloatArray:
        """Return the outputs (columns, n) for inputs (n, columns)."""
        return run(self.code, _rows(self.code, x))

    def backward(self, x: FloatArray, given: FloatArray) -> FloatArray:
        """Return the gradient (n, input columns) for that of the outputs (columns, n)."""
        code, out = self.back, np.empty_like(x)
        local = threading.local()

        def work(queue: Iterator[int]) -> None:
            for start in queue:
                if not hasattr(local, "work"):
                    local.work, local.grads = np.empty((2, code.n_slots, WIDTH))
                rows = slice(start, start + CHUNK)
                kernels().back_blocks(
                    x[rows], given, start, *code.program, local.work, local.grads, out[rows]
                )

        starts = range(0, len(x), CHUNK)
        enough = len(code.ops) * len(x) > THREAD_STEPS
        share(work, starts, min(n_threads(), len(starts)) if enough else 1)
        return out


class _Run(torch.autograd.Function):
    """Hands tensors to the engine, and gradients back."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, engine: EngineInference) -> Tensor:
        x = np.ascontiguousarray(inputs.detach().double().numpy())
        ctx.engine, ctx.x = engine, x
        # Results are copies: those of inputs come back as they were, and parameters are rounded.
        return torch.from_numpy(engine.forward(x).T.copy()).to(inputs.dtype)

    @staticmethod
    def backward(ctx: Any, given: Tensor) -> tuple[Tensor, None]:
        columns = np.ascontiguousarray(given.double().numpy().T)
        found = ctx.engine.backward(ctx.x, columns)
        return torch.from_numpy(found).to(given.dtype), None


def _rows(code: Code, x: FloatArray) -> Rows:
    return Rows(code.inputs, [x], len(x), True)


@cache
def kernels() -> ModuleType:
    """Load the compiled loops; the first time ever on a machine they are compiled."""
    with notice(KERNELS):
        from pinesy.nets.gradients import _kernels
    return _kernels
