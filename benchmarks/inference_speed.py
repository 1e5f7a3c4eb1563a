"""The speed of inference: against copying, probabilities, and the definition; and its memory."""

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import plain_dp
import tuned_dp
from measure import Line, best_times, exponent

from pinesy import Cascade, RuleSet
from pinesy._common.validation import FloatArray
from pinesy.engine.program import Program
from pinesy.problems import addition, sudoku

SECTION = "inference"


def degrees(n: int, size: int, seed: int) -> FloatArray:
    """Return normalised random distributions (n, size)."""
    x = np.random.default_rng(seed).random((n, size))
    normalised: FloatArray = x / x.max(axis=-1, keepdims=True)
    return normalised


def evidence_of(cascade: Cascade, n: int) -> FloatArray:
    """Return random evidence for a cascade in the form of one array."""
    parts = [degrees(n, len(a.domain), seed) for seed, a in enumerate(cascade.inputs)]
    return np.concatenate(parts, axis=1)


def needed(program: Program, n: int) -> dict[str, Any]:
    """Return the operations of the circuit of a program, and the bytes of inputs and outputs."""
    code = program.code
    operands = np.diff(code.starts.astype(np.int64))
    size = code.constants.dtype.itemsize
    return {
        "operations": float(np.maximum(operands - 1, 0).sum() * n),
        "bytes": float(size * (code.n_inputs + code.n_outputs) * n),
    }


def one_set(n: int) -> Line:
    """Time the 21-rule, 200-cell set of Addition against copying its output."""
    rules = addition(2)["c_1"]
    program, evidence = Cascade(rules).compile(), evidence_of(Cascade(rules), n)
    output = rules.infer(evidence).degrees
    times = best_times(
        {"infer": partial(rules.infer, evidence), "copy": lambda: output.copy(order="K")}
    )
    return Line(
        SECTION,
        f"{len(rules)} rules on {len(rules.partition)} cells, batch {n:,}",
        times["infer"],
        n,
        {"copying the output": times["copy"]},
        **needed(program, n),
    )


def against_probability(k: int, n: int) -> Line:
    """Time Addition-k against exact probabilistic dynamic programming."""
    import torch

    program, p = addition(k).compile(), tuned_dp.random_digits(n, k)
    tensor = torch.from_numpy(p)
    times = best_times(
        {
            "pinesy": partial(program.infer, evidence_of(addition(k), n)),
            "probabilities, NumPy": partial(plain_dp.numpy_dp, p),
            "probabilities, PyTorch": partial(plain_dp.torch_dp, tensor),
            "probabilities, NumPy tuned": partial(tuned_dp.numpy_dp, p),
            "probabilities, PyTorch tuned": partial(tuned_dp.torch_dp, tensor),
        },
        seconds=6.0,
    )
    ours = times.pop("pinesy")
    return Line(SECTION, f"Addition-{k}, batch {n:,}", ours, n, times, **needed(program, n))


def difference_of_baselines() -> float:
    """Return by how much the baselines differ from brute force, for small k."""
    import torch

    worst = 0.0
    for k in (1, 2):
        p = tuned_dp.random_digits(20, k)
        expected, tensor = tuned_dp.brute_force(p), torch.from_numpy(p)
        found: list[Any] = [f(p) for f in (plain_dp.numpy_dp, tuned_dp.numpy_dp)]
        found += [f(tensor) for f in (plain_dp.torch_dp, tuned_dp.torch_dp)]
        pairs = [pair for result in found for pair in zip(result, expected, strict=True)]
        worst = max(worst, *(float(np.abs(np.asarray(x) - y).max()) for x, y in pairs))
    return worst


def growth(ks: tuple[int, ...], n: int) -> Line:
    """Time the largest Addition-k, and say how time grows with k."""
    calls: dict[str, Callable[[], object]] = {}
    for k in ks:
        program = addition(k).compile()
        calls[str(k)] = partial(program.infer, evidence_of(addition(k), n))
    times = best_times(calls, seconds=4.0)
    power = exponent(ks, [times[str(k)] for k in ks])
    return Line(
        SECTION,
        f"Addition-{ks[-1]}, batch {n:,}",
        times[str(ks[-1])],
        n,
        note=f"from k = {ks[0]} on time grows as k^{power:.2f}",
        **needed(program, n),
    )


def definition(rule_set: RuleSet, known: dict[str, FloatArray], chunk: int = 50) -> FloatArray:
    """Return the output by the definition ``M box I`` in NumPy: dense M, chunked samples."""
    lambdas, rhos = [], []
    for rule in rule_set.rules:
        inside, outside = [], []
        for p in rule.premise.propositions:
            member = np.array([v in set(p.values) for v in p.attribute.domain])
            x = known[p.attribute.name]
            inside.append(x[:, member].max(axis=1, initial=0.0))
            outside.append(x[:, ~member].max(axis=1, initial=0.0))
        lambdas.append(np.min(inside, axis=0))
        rhos.append(np.max(outside, axis=0))
    both = np.stack([d for pair in zip(lambdas, rhos, strict=True) for d in pair], axis=1)
    matrix = rule_set.relation.matrix
    cells = [
        np.maximum(matrix[None], both[i : i + chunk, None, :]).min(axis=2)
        for i in range(0, len(both), chunk)
    ]
    return np.concatenate(cells)[:, rule_set.partition.cell_of]


def by_definition(cascade: Cascade, evidence: FloatArray) -> FloatArray:
    """Return the first output of a cascade, every rule set by the definition."""
    sizes = np.cumsum([len(a.domain) for a in cascade.inputs])[:-1]
    parts = np.split(evidence, sizes, axis=1)
    known = {a.name: d for a, d in zip(cascade.inputs, parts, strict=True)}
    for rule_set in cascade.order:
        known[rule_set.output.name] = definition(rule_set, known)
    return known[cascade.outputs[0].name]


def against_definition(name: str, cascade: Cascade, n: int) -> Line:
    """Time a whole cascade against the definition in vectorised NumPy."""
    program, evidence = cascade.compile(), evidence_of(cascade, n)
    ours, dense = partial(program.infer, evidence), partial(by_definition, cascade, evidence)
    same = np.array_equal(dense(), ours()[cascade.outputs[0].name].degrees)
    spent = best_times({"dense": dense}, seconds=0.0, turn=0.0)["dense"]
    return Line(
        SECTION,
        f"{name}, batch {n:,}",
        best_times({"ours": ours}, seconds=1.0)["ours"],
        n,
        {"the definition in NumPy": spent},
        note="the same bits" if same else "OTHER BITS than the definition",
        **needed(program, n),
    )


MEMORY = """
import resource, sys, time, numpy as np
from pinesy.problems import addition
program, n = addition(100).compile(), 100_000
x = np.zeros((n, 2000)); x[:, ::10] = 1.0
program.infer(x[:1000])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.perf_counter()
result = program.infer(x)
spent = time.perf_counter() - start
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
output = sum(result[name].degrees.nbytes for name in result)
print(spent, x.nbytes >> 20, output >> 20, (after - before) >> 10)
"""


def memory() -> Line:
    """Measure the memory that inference of a large batch takes beside inputs and outputs."""
    done = subprocess.run([sys.executable, "-c", MEMORY], check=True, capture_output=True)
    spent, inputs, outputs, grown = map(float, done.stdout.split())
    note = f"inputs {inputs:.0f} MB, outputs {outputs:.0f} MB; the peak grew by {grown:.0f} MB"
    return Line(SECTION, "Addition-100, batch 100,000", spent, 100_000, note=note)


def lines(tiny: bool = False) -> list[Line]:
    """Measure inference."""
    if tiny:
        return [
            one_set(10),
            against_probability(1, 20),
            growth((1, 2), 10),
            against_definition("Sudoku 4x4", sudoku(4), 10),
            Line(SECTION, "baselines", note=f"differ by {difference_of_baselines():.0e}"),
        ]
    worst = difference_of_baselines()
    return [
        one_set(50_000),
        against_probability(100, 1000),
        against_probability(100, 1),
        Line(
            SECTION, "the four baselines, k = 1, 2", note=f"differ from brute force by {worst:.0e}"
        ),
        growth((20, 100, 400), 1000),
        against_definition("Addition-100", addition(100), 1000),
        against_definition("Sudoku 9x9", sudoku(9), 1000),
        memory(),
    ]
