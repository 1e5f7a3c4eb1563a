"""The page of the comparison with others: tables in Markdown, from the record.

``python -m reproduction.conformal_tables docs/results/conformal.json docs/results/conformal.md``
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pinesy._common.files import atomic_text, read_text

#: The columns: titles, keys of figures, and how they are written.
COLUMNS: Final = (
    ("all covered, %", "all covered", "{:.1f}", 100.0),
    ("answer covered, %", "answer covered", "{:.1f}", 100.0),
    ("consistent, %", "consistent", "{:.1f}", 100.0),
    ("no answer, %", "empty", "{:.1f}", 100.0),
    ("size, an input", "input size", "{:.2f}", 1.0),
    ("size, answer", "answer size", "{:.2f}", 1.0),
    ("single answers, %", "single answers", "{:.1f}", 100.0),
    ("ms a sample", "ms a sample", "{:.3f}", 1.0),
)
HEADING: Final = """\
# Consistent sets against others

All on the same probabilities, at {level} %. A small network reads digits of MNIST ({accuracy} % of
{images} that it was not trained on). Each split draws {calibration} samples that calibrate and
{test} that test; figures are means over {splits} splits.

* *All covered*: all true inputs and the true answer are in their sets together.
* *Consistent*: every value in a set belongs to a tuple of values of sets that follows the rules.
* *No answer*: the set of the answer is empty.
* A dash: the method has no sets of inputs.

A quantile for each input, and the products of their sets filtered by the rules, is what is
published as COCOCO (arXiv:2605.18202), written from its description: without a correction for the
number of inputs it covers too few samples, and with one it lists products. Where the answer alone
counts, split conformal prediction by the probabilities of sums (MAPIE's LAC, crepes) has the
smallest sets of many inputs: sets that also hold all inputs are larger. Times are of one core, with
calibration; rules were compiled before.

`python -m reproduction.conformal_comparison` computes, `reproduction.conformal_tables` writes it.
[The proof](../guarantees.md#proof) says why, [this page](../guarantees.md) shows how.
"""
LONG: Final = """\
## Many inputs

The sum of two numbers of 15 and of 100 digits, {splits} splits. With about three values for each of
30 images, and six for each of 200, the products of sets have more than 10^13 and 10^150 tuples:
methods that list them have no answer. The size of the answer is that of a digit of the sum.

"""
DECISIONS: Final = """\
## Decisions

{calibrations:,} calibrations of {samples:,} samples, on sums of two; promised with {confidence:g} %
confidence, so that at most {allowed} calibrations may break the promise. The best threshold is one
that nobody knows. *By the observed error*: the largest share whose observed error is at most the
promise. At 1 % so many samples are few: a sure promise decides about a quarter of what is possible.

"""


def page(record: Mapping[str, Any]) -> str:
    """Return the page."""
    heading = HEADING.format(
        level=f"{100 * record['level']:g}",
        accuracy=f"{100 * record['digit accuracy']:.1f}",
        images=f"{record['images']:,}",
        **{key: record[key] for key in ("calibration", "test", "splits")},
    )
    parts = [heading]
    for name, methods in record["problems"].items():
        parts.append(f"## {name[0].upper()}{name[1:]}\n\n{_table(methods)}")
    parts.append(LONG.format(splits=record["long splits"]) + _table(record["long"]))
    parts.append(_selective(record["selective"]))
    return "\n".join(parts)


def _table(rows: Mapping[str, Mapping[str, float | None]]) -> str:
    head = ["method", *(title for title, *_ in COLUMNS)]
    lines = [head, ["---"] + ["---:"] * len(COLUMNS)]
    for name, figures in rows.items():
        cells = [_cell(figures[key], form, factor) for _, key, form, factor in COLUMNS]
        lines.append([name, *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _cell(number: float | None, form: str, factor: float) -> str:
    return "-" if number is None else form.format(factor * number)


def _selective(records: Sequence[Mapping[str, Any]]) -> str:
    first = records[0]
    text = DECISIONS.format(
        calibrations=first["calibrations"],
        samples=first["samples"],
        confidence=100 * first["confidence"],
        allowed=round((1 - first["confidence"]) * first["calibrations"]),
    )
    lines = [
        "| promised, % | threshold | promise broken | decided, mean, % | the best decides, % |",
        "| ---: | --- | ---: | ---: | ---: |",
    ]
    for record in records:
        for name in ("pinesy", "by the observed error"):
            figures, best = record[name], f"{100 * record['best share']:.1f}"
            share = f"{100 * figures['mean share decided']:.1f}"
            cells = [f"{100 * record['error']:g}", name, str(figures["violations"]), share, best]
            lines.append(f"| {' | '.join(cells)} |")
    return text + "\n".join(lines) + "\n"


if __name__ == "__main__":
    content = json.loads(read_text(Path(sys.argv[1])))
    with atomic_text(Path(sys.argv[2])) as stream:
        stream.write(page(content))
