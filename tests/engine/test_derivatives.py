"""Going back through programs in segments: against the same program in PyTorch, ties and all."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinesy import Cascade
from pinesy.engine.circuit import MAXMIN, STORE
from pinesy.engine.code import Code
from pinesy.engine.derivatives import Derivatives, segments_of
from pinesy.problems import addition
from strategies import cascades, random_batch

torch = pytest.importorskip("torch")


def derivatives(code: Code, size: int) -> Derivatives:
    """Return the derivatives of a program cut into segments of so many operands."""
    found = Derivatives(code)
    found.__dict__["_segments"] = segments_of(code, size)
    return found


def in_torch(code: Code, x: Any, constants: Any) -> Any:
    """Run a program instruction by instruction; minima and maxima share gradients evenly."""
    rows = [*constants[:, None].expand(-1, len(x)), *x.T, *[None] * code.n_slots]
    out: list[Any] = [None] * code.n_outputs
    for op, target, begin, end in zip(
        *(a.tolist() for a in (code.ops, code.targets, code.starts, code.starts[1:])), strict=False
    ):
        operands = torch.stack([rows[k] for k in code.args[begin:end]])
        if op == STORE:
            out[target] = operands[0]
        elif op < MAXMIN:
            rows[target] = (torch.amin if op else torch.amax)(operands, dim=0)
        else:
            inner, outer = (torch.amin, torch.amax) if op == MAXMIN else (torch.amax, torch.amin)
            rows[target] = outer(inner(operands.unflatten(0, (-1, 2)), dim=1), dim=0)
    return torch.stack(out)


@settings(max_examples=20)
@given(cascade=cascades(), seed=st.integers(0, 99), size=st.sampled_from([1, 7, 1024]))
def test_gradients_are_those_of_the_program_with_ties(
    cascade: Cascade, seed: int, size: int
) -> None:
    code, rng = cascade.compile().code, np.random.default_rng(seed)
    sizes = [len(a.domain) for a in code.inputs]
    x = np.concatenate([random_batch(rng, 5, m, 4) for m in sizes], axis=1)  # ties are frequent
    weights = rng.normal(size=(code.n_outputs, 5))
    of_x, of_constants = derivatives(code, size).gradient(x, weights, code.constants)
    inputs = torch.tensor(x, requires_grad=True)
    constants = torch.tensor(code.constants, requires_grad=True)
    out = in_torch(code, inputs, constants)
    found = torch.autograd.grad(out, (inputs, constants), torch.tensor(weights), allow_unused=True)
    for mine, other in zip((of_x, of_constants), found, strict=True):
        assert np.allclose(mine, 0.0 if other is None else other, atol=1e-12)


@pytest.mark.parametrize("size", [50, 1024])
@pytest.mark.parametrize("n", [0, 1, 17, 300])
def test_tangents_are_the_transpose_of_gradients(n: int, size: int) -> None:
    code, rng = addition(3).compile().code, np.random.default_rng(n)
    way = derivatives(code, size)
    x = np.concatenate([random_batch(rng, n, len(a.domain), 10) for a in code.inputs], axis=1)
    dx, dc = rng.normal(size=x.shape), rng.normal(size=code.constants.shape)
    weights = rng.normal(size=(code.n_outputs, n))
    of_x, of_constants = way.gradient(x, weights, code.constants)
    change = way.tangent(x, dx, code.constants, dc)
    expected = (of_x * dx).sum() + (of_constants * dc).sum()
    assert (change * weights).sum() == pytest.approx(expected, abs=1e-9)


def test_segments_keep_little() -> None:
    code = addition(50).compile().code
    parts = segments_of(code)
    assert len(parts.cuts) > 10
    assert parts.n_rows < 1500 < len(code.ops)
    assert parts.n_kept < 100 * len(parts.cuts)
