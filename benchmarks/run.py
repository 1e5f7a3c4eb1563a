"""The speed figures, as ratios measured in one run: ``make bench``."""

import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial

import backpropagation_speed
import explanation_speed
import learning_speed
import numpy as np
import plain_dp
import tuned_dp
from measure import best_times, process_time

from pinesy import Cascade, RuleSet
from pinesy._common.validation import FloatArray
from pinesy.problems import addition, sudoku

SEED = 0


def degrees(n: int, shape: tuple[int, ...], seed: int = SEED) -> FloatArray:
    """Return normalised random distributions (n, *shape), side by side in columns (n, -1)."""
    x = np.random.default_rng(seed).random((n, *shape))
    normalised: FloatArray = x / x.max(axis=-1, keepdims=True)
    return normalised.reshape(n, -1)


def stacked(cascade: Cascade, n: int) -> FloatArray:
    """Return random evidence for a cascade in the form of one array."""
    return np.concatenate(
        [degrees(n, (len(a.domain),), seed) for seed, a in enumerate(cascade.inputs)], axis=1
    )


def one_set() -> None:
    """Time the 21-rule, 200-cell set of Addition against copying its output."""
    rules = addition(2)["c_1"]
    evidence = stacked(Cascade(rules), 50_000)
    output = rules.infer(evidence).degrees
    times = best_times(
        {"infer": lambda: rules.infer(evidence), "copy": lambda: output.copy(order="K")}
    )
    print(
        f"  {len(rules)} rules, {len(rules.partition)} cells, {len(evidence)} samples: "
        f"{times['infer'] * 1e3:.1f} ms, {times['infer'] / times['copy']:.2f} x copying the output"
    )


def against_probability() -> None:
    """Time Addition-100 against exact probabilistic dynamic programming."""
    import torch

    program = addition(100).compile()
    for n in (1000, 1):
        p = tuned_dp.random_digits(n, 100)
        evidence = stacked(addition(100), n)
        times = best_times(
            {
                "pinesy": partial(program.infer, evidence),
                "numpy": partial(plain_dp.numpy_dp, p),
                "torch": partial(plain_dp.torch_dp, torch.from_numpy(p)),
                "tuned numpy": partial(tuned_dp.numpy_dp, p),
                "tuned torch": partial(tuned_dp.torch_dp, torch.from_numpy(p)),
            },
            seconds=8.0,
        )
        ours = times.pop("pinesy")
        others = ", ".join(f"{name} {t / ours:.1f} x" for name, t in times.items())
        print(f"  batch {n}: {ours / n * 1e6:.1f} us a sample; slower by: {others}")


def check_baselines() -> None:
    """Compare the baselines with brute force for small k."""
    import torch

    worst = 0.0
    for k in (1, 2):
        p = tuned_dp.random_digits(20, k)
        expected = tuned_dp.brute_force(p)
        found = [plain_dp.numpy_dp(p), plain_dp.torch_dp(torch.from_numpy(p)), tuned_dp.numpy_dp(p)]
        found.append(tuned_dp.torch_dp(torch.from_numpy(p)))
        for result in found:
            for one, other in zip(result, expected, strict=True):
                worst = max(worst, float(np.abs(np.asarray(one) - other).max()))
    print(f"  baselines against brute force (k = 1, 2): largest difference {worst:.0e}")


def growth() -> None:
    """Print the time a sample of Addition-k, for k from 1 to 400."""
    ks = (1, 4, 20, 100, 400)
    contenders: dict[str, Callable[[], object]] = {}
    for k in ks:
        program, evidence = addition(k).compile(), stacked(addition(k), 1000)
        contenders[str(k)] = partial(program.infer, evidence)
    times = best_times(contenders, seconds=6.0)
    line = ", ".join(f"k={k}: {times[str(k)] / 1000 / k * 1e9:.0f} ns" for k in ks)
    slope = np.polyfit(np.log(ks[2:]), np.log([times[str(k)] for k in ks[2:]]), 1)[0]
    print(f"  a sample and digit, batch 1000: {line}; from k=20 on time grows as k^{slope:.2f}")


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
    degrees = np.stack([d for pair in zip(lambdas, rhos, strict=True) for d in pair], axis=1)
    matrix = rule_set.relation.matrix
    cells = [
        np.maximum(matrix[None], degrees[i : i + chunk, None, :]).min(axis=2)
        for i in range(0, len(degrees), chunk)
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


def against_definition() -> None:
    """Time whole cascades against the definition in vectorised NumPy."""
    for name, cascade in (("Addition-100", addition(100)), ("Sudoku 9x9", sudoku(9))):
        evidence = stacked(cascade, 1000)
        ours = partial(cascade.compile().infer, evidence)
        dense = partial(by_definition, cascade, evidence)
        same = np.array_equal(dense(), ours()[cascade.outputs[0].name].degrees)
        times = best_times({"pinesy": ours, "numpy": dense}, seconds=1.0)
        print(
            f"  {name}, batch 1000: {times['pinesy'] * 1e3:.1f} ms, "
            f"{times['numpy'] / times['pinesy']:.0f} x faster; same bits: {same}"
        )


def building() -> None:
    """Time building and compiling against importing torch, in fresh processes."""
    empty = process_time("pass")
    torch_time = process_time("import torch") - empty
    ready = process_time("import pinesy.problems")
    for name, make in (("Sudoku 9x9", "sudoku(9)"), ("Addition-100", "addition(100)")):
        code = f"import pinesy.problems as p; p.{make}.compile()"
        spent = process_time(code) - ready
        print(
            f"  {name}: built and compiled in {spent * 1e3:.0f} ms, "
            f"{spent / torch_time:.3f} x importing torch ({torch_time:.2f} s)"
        )


def starting() -> None:
    """Time the import and the first result, with an empty and with a warm cache."""
    empty = process_time("pass")
    numpy_time = process_time("import numpy", 10) - empty
    pinesy_time = process_time("import pinesy", 10) - empty
    print(f"  import pinesy: {pinesy_time * 1e3:.0f} ms, {pinesy_time / numpy_time:.2f} x numpy")
    code = (
        "from pinesy.problems import addition; a = addition(1); "
        "a.infer({'a_1': {3: 1.0}, 'a_2': {4: 1.0}})"
    )
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        cold = process_time(code, 1, environment)
        warm = process_time(code, 5, environment)
    print(f"  first result from a new process: {cold:.1f} s with an empty cache, {warm:.2f} s warm")


def memory() -> None:
    """Print the memory that inference of a large batch takes beside inputs and outputs."""
    code = """
import resource, numpy as np
from pinesy.problems import addition
program = addition(100).compile()
n = 100_000
x = np.zeros((n, 2000)); x[:, ::10] = 1.0
program.infer(x[:1000])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
result = program.infer(x)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
output = sum(result[name].degrees.nbytes for name in result)
print(f"  {n} samples of Addition-100: inputs {x.nbytes >> 20} MB, outputs {output >> 20} MB, "
      f"peak grew by {(after - before) >> 10} MB")
"""
    subprocess.run([sys.executable, "-c", code], check=True)


SECTIONS: dict[str, Callable[[], None]] = {
    "one rule set": one_set,
    "baselines": check_baselines,
    "Addition-100 against probabilistic dynamic programming": against_probability,
    "growth with the number of digits": growth,
    "whole cascades against the definition": against_definition,
    "building": building,
    "starting": starting,
    "memory": memory,
    **learning_speed.SECTIONS,
    **backpropagation_speed.SECTIONS,
    **explanation_speed.SECTIONS,
}


def main() -> None:
    """Run the sections named on the command line, or all."""
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, seed {SEED}")
    for title, section in SECTIONS.items():
        if not sys.argv[1:] or any(word in title for word in sys.argv[1:]):
            print(title)
            section()


if __name__ == "__main__":
    main()
