"""Gradients at scale: backward against forward, growth with the rule sets, and memory.

``python benchmarks/gradient_speed.py`` prints the figures.
"""

import subprocess
import sys
from functools import partial

import numpy as np
import torch
from measure import Line, best_times, exponent

from pinesy import Attribute, Cascade, Iff, RuleSet
from pinesy.nets import PossibilisticLayer

#: Prints the MB that one step of training takes at its height, beside what was there before it.
MEMORY = """
import ctypes, sys, torch
sys.path.insert(0, "benchmarks")
from gradient_speed import random_cells
from pinesy.nets import PossibilisticLayer
layer = PossibilisticLayer(random_cells(10_000, 40), trainable=sys.argv[1] == "trainable")
if sys.argv[1] == "other devices":
    layer._is_plain = lambda values: False
def step(n):
    x = torch.rand(n, 80, dtype=torch.float64)
    x[:, 0] = 1.0
    x.requires_grad_()
    layer({"a": x})["b"].square().sum().backward()
def kilobytes(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name))
step(2)  # what is made once
ctypes.CDLL(None).malloc_trim(0)
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # from here on the height is counted anew
before = kilobytes("VmRSS")
step(64)
print((kilobytes("VmHWM") - before) / 1024)
"""


def many_sets(n: int, m: int = 10) -> Cascade:
    """Return `n` rule sets of `m` rules, each with an input of its own."""
    rng = np.random.default_rng(0)
    sets = []
    for i in range(n):
        a, b = Attribute(f"a{i}", range(m)), Attribute(f"b{i}", range(m))
        numbers = rng.uniform(0.01, 0.3, (m, 2)).round(3).tolist()
        rules = (Iff(a.isin({v})).then(b.isin({v}), s=s, r=r) for v, (s, r) in enumerate(numbers))
        sets.append(RuleSet(rules))
    return Cascade(*sets)


def random_cells(n_cells: int, n_rules: int) -> Cascade:
    """Return one set of rules with random conclusions: nearly every value is a cell."""
    rng = np.random.default_rng(0)
    a, b = Attribute("a", range(2 * n_rules)), Attribute("b", range(n_cells))
    halves = [np.flatnonzero(rng.random(n_cells) < 0.5).tolist() for _ in range(n_rules)]
    return Cascade(
        RuleSet(
            Iff(a.isin({2 * i, 2 * i + 1})).then(b.isin(set(half)), s=0.1, r=0.2)
            for i, half in enumerate(halves)
        )
    )


def times_of(n: int, batch: int, seconds: float = 4.0) -> tuple[float, float]:
    """Return the seconds of a forward and of a backward pass through `n` rule sets."""
    layer = PossibilisticLayer(many_sets(n))
    x = {a.name: torch.rand(batch, 10, dtype=torch.float64) for a in layer.inputs}
    for tensor in x.values():
        tensor[:, 3] = 1.0
        tensor.requires_grad_()
    with torch.no_grad():
        forward = best_times({"forward": partial(layer, x)}, seconds / 2)["forward"]
    out = torch.cat(list(layer(x).values()), dim=1)
    back = partial(out.backward, torch.ones_like(out), retain_graph=True)
    return forward, best_times({"backward": back}, seconds / 2)["backward"]


def speed(sizes: tuple[int, ...] = (1_000, 3_000, 10_000), batch: int = 64) -> None:
    """Print backward over forward for rule sets of 10 rules, and how both grow."""
    times = [times_of(n, batch) for n in sizes]
    for n, (forward, backward) in zip(sizes, times, strict=True):
        print(
            f"  {n} sets of 10 rules, batch {batch}: forward {forward * 1e3:.0f} ms, backward "
            f"{backward * 1e3:.0f} ms, {backward / forward:.2f} x forward"
        )
    slopes = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    print(f"  growth: forward n^{slopes[0]:.2f}, backward n^{slopes[1]:.2f}")


def memory() -> None:
    """Print the memory of a step with 10,000 cells, 40 rules, batch 64, in fresh processes."""
    for way in ("engine", "trainable", "other devices"):
        done = subprocess.run(
            [sys.executable, "-c", MEMORY, way], check=True, capture_output=True, text=True
        )
        print(f"  10,000 cells, 40 rules, batch 64, {way}: {float(done.stdout):.0f} MB")


def lines(tiny: bool = False) -> list[Line]:
    """Return backward against forward, and how both grow."""
    sizes, batch = ((2, 4), 2) if tiny else ((1_000, 3_000, 10_000), 64)
    forward, backward = zip(*(times_of(n, batch) for n in sizes), strict=True)
    growth = f"forward grows as n^{exponent(sizes, forward):.2f}"
    return [
        Line(
            "gradients",
            f"{sizes[-1]:,} sets of 10 rules, backward, batch {batch}",
            backward[-1],
            batch,
            {"forward": forward[-1]},
            note=f"{growth}, backward as n^{exponent(sizes, backward):.2f}",
        )
    ]


if __name__ == "__main__":
    print("gradients")
    speed()
    memory()
