"""How compilation grows with the size of rule sets: ``python benchmarks/compile_growth.py [NAME]``.

For each shape of rules the processor seconds of compiling it at several sizes, operands of the
program, memory in a fresh process, and the exponent of growth from the first to the last size. A
table of 100,000 cases is also compared with importing torch.
"""

import resource
import subprocess
import sys
from collections.abc import Callable
from math import log
from time import process_time

import numpy as np
from measure import Line, exponent

from pinesy import Attribute, Cascade, RuleSet, backpropagate, count_of, function, joint, sum_of
from pinesy.rules.propositions import Premise, Proposition
from pinesy.rules.rule import Rule


def one_to_one(n: int, s: float, r: float) -> Cascade:
    """Rules from each of `n` values to one of `n` values."""
    a, b = Attribute("a", range(n)), Attribute("b", range(n))
    image = np.random.default_rng(0).permutation(n).tolist()
    return Cascade(
        RuleSet(
            Rule(Premise((Proposition(a, 1 << i),)), Proposition(b, 1 << image[i]), s, r)
            for i in range(n)
        )
    )


def case_table(n: int) -> Cascade:
    """One rule for each pair of `n` and `n` values: the cases of a function."""
    x, y, z = Attribute("x", range(n)), Attribute("y", range(n)), Attribute("z", range(2 * n - 1))
    return Cascade(
        RuleSet(
            Rule(
                Premise((Proposition(x, 1 << i), Proposition(y, 1 << j))),
                Proposition(z, 1 << (i + j)),
            )
            for i in range(n)
            for j in range(n)
        )
    )


def function_of_two(n: int) -> Cascade:
    """The same function as `function` and `joint` build it."""
    return function("z", joint("pair", Attribute("x", range(n)), Attribute("y", range(n))), "x + y")


def random_halves(n: int) -> Cascade:
    """Rules with random conclusions on `n` values, then premises that are random halves."""
    a, b, c = (Attribute(name, range(n)) for name in "abc")
    rows = np.packbits(np.random.default_rng(0).random((2, n, n)) < 0.5, axis=2, bitorder="little")
    halves = [[int.from_bytes(row.tobytes(), "little") or 1 for row in part] for part in rows]
    return Cascade(
        RuleSet(
            Rule(Premise((Proposition(a, 1 << i),)), Proposition(b, q), 0.0, 0.0)
            for i, q in enumerate(halves[0])
        ),
        RuleSet(
            Rule(Premise((Proposition(b, p),)), Proposition(c, 1 << i), 0.0, 0.0)
            for i, p in enumerate(halves[1])
        ),
    )


def digits(n: int) -> list[Attribute]:
    """Attributes of ten values."""
    return [Attribute(f"a_{i}", range(10)) for i in range(n)]


def counting_chain(n: int) -> Cascade:
    """A count of `n` objects one after the other: each set has another size."""
    parts, so_far = [], Attribute("x_0", range(2))
    for i in range(1, n):
        one = Attribute(f"x_{i}", range(2))
        step = function(f"c_{i}", joint(f"p_{i}", so_far, one), f"{so_far.name} + x_{i}")
        so_far = step[f"c_{i}"].output
        parts.append(step)
    return Cascade(*parts)


def squares(n: int) -> Cascade:
    """The sum of the squares of digits."""
    return function("t", digits(n), " + ".join(f"a_{i} * a_{i}" for i in range(n)))


SECTION = "compile growth"
Shape = tuple[Callable[[int], Cascade], tuple[int, ...]]
WIDTHS, HALVES = (300, 1000, 3000, 10_000), (50, 100, 200, 400)
SHAPES: dict[str, Shape] = {
    "equivalences": (lambda n: one_to_one(n, 0.0, 0.0), WIDTHS),
    "implications": (lambda n: one_to_one(n, 1.0, 0.0), WIDTHS),
    "parameters": (lambda n: one_to_one(n, 0.1, 0.2), WIDTHS),
    "case table": (case_table, (100, 178, 316)),
    "function of two": (function_of_two, (100, 178, 316)),
    "halves": (random_halves, HALVES),
    "halves backwards": (random_halves, HALVES),
    "count": (lambda n: count_of("t", [d.isin({7}) for d in digits(n)]), (38, 75, 150, 300)),
    "counting chain": (counting_chain, (38, 75, 150, 300)),
    "sum": (lambda n: sum_of("t", digits(n)), (10, 20, 40)),
    "squares": (squares, (5, 10)),
}


def seconds(name: str, n: int) -> tuple[float, int, int]:
    """Return the time of compiling (or going back through) a shape, its size, and operands.

    The size is the number of rules times the values that they conclude on, as written: what the
    conclusions take as a table.
    """
    rules, other = SHAPES[name][0](n), random_halves(70)
    backpropagate(other, None, {"c": 3})  # what is done once, such as loading, does not count
    start = process_time()
    if name == "halves backwards":
        backpropagate(rules, None, {"c": 3})
        took = process_time() - start
        return took, n, 0
    program = rules.compile()
    took = process_time() - start
    return took, sum(len(s) for s in rules.rule_sets), len(program.code.args)


def in_fresh_process(name: str, n: int, turns: int = 3) -> tuple[float, int, int, float]:
    """Return the best of some times, rules, operands, and the megabytes of a process."""
    runs = []
    for _ in range(turns):
        call = [sys.executable, __file__, "--one", name, str(n)]
        text = subprocess.run(call, check=True, capture_output=True, text=True).stdout
        took, rules, operands, megabytes = text.split()
        runs.append((float(took), int(rules), int(operands), float(megabytes)))
    return min(runs)


def report(name: str) -> None:
    """Print the figures of one shape at all sizes, and how they grow."""
    found = []
    for n in SHAPES[name][1]:
        took, rules, operands, megabytes = in_fresh_process(name, n)
        found.append((n, took, operands))
        print(f"{name:16} {n:6}  {rules:7} rules  {operands:8} operands  {took:7.3f} s", end="")
        print(f"  {megabytes:5.0f} MB", flush=True)
    (n, first, few), (m, last, many) = found[0], found[-1]
    print(f"{name:16} time grows as n^{log(last / first) / log(m / n):.2f}", end="")
    if few:
        print(f", as operands^{log(last / first) / log(many / few):.2f}", end="")
    print(flush=True)


def torch_seconds() -> float:
    """Return the processor time of importing torch."""
    call = [sys.executable, "-c", "import time; import torch; print(time.process_time())"]
    texts = [subprocess.run(call, check=True, capture_output=True).stdout for _ in range(3)]
    return min(map(float, texts))


def against_torch() -> None:
    """Print how long a table of 100,000 cases takes in a fresh process, in imports of torch."""
    torch = torch_seconds()
    for name in ("case table", "function of two"):
        took = in_fresh_process(name, 316)[0]
        print(f"{name:16} 100,000 cases: {took / torch:.2f} times importing torch", flush=True)


def grown(name: str, torch: float) -> Line:
    """Return what compiling the largest size of a shape takes, and how it grows to there."""
    sizes = SHAPES[name][1][-2:]
    runs = [in_fresh_process(name, n, turns=1) for n in sizes]
    took, rules, operands, _ = runs[-1]
    power = exponent(sizes, [run[0] for run in runs])
    note = f"grows as n^{power:.2f}; {rules:,} rules, {operands:,} operands"
    case = f"{name}, n = {sizes[-1]:,}, processor time"
    return Line(SECTION, case, took, against={"import torch": torch}, note=note)


def lines(tiny: bool = False) -> list[Line]:
    """Measure all shapes, each at its two largest sizes."""
    if tiny:
        return [Line(SECTION, "sum, n = 10, processor time", max(seconds("sum", 10)[0], 1e-9))]
    torch = torch_seconds()
    return [grown(name, torch) for name in SHAPES]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        measured = seconds(sys.argv[2], int(sys.argv[3]))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
        print(*measured, peak)
    else:
        for chosen in sys.argv[1:] or SHAPES:
            report(chosen)
        against_torch()
