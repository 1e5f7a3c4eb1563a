"""The speed of explanations, in inferences of one sample in the same form of evidence."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from measure import best_times

from pinesy import Cascade
from pinesy.explanations import Explanation, conditions, explain
from pinesy.problems import addition, sudoku

SEED = 0
#: Problems, and what is explained: a digit of the sum that 50 carries lead to, the verdict.
QUESTIONS: list[tuple[str, Callable[[], Cascade], str]] = [
    ("Addition-100, y_50", partial(addition, 100), "y_50"),
    ("Sudoku 9x9", partial(sudoku, 9), "c"),
]


def forms(cascade: Cascade) -> Iterator[tuple[str, Any]]:
    """Yield random evidence of one sample as one array, as dicts of arrays, and as dicts."""
    rng = np.random.default_rng(SEED)
    rows = {}
    for attribute in cascade.inputs:
        x = rng.random(len(attribute.domain))
        rows[attribute.name] = x / x.max()
    yield "one array", np.concatenate([rows[a.name] for a in cascade.compile().inputs])
    yield "dict of arrays", rows
    yield (
        "dicts",
        {a.name: dict(zip(a.domain, rows[a.name].tolist(), strict=True)) for a in cascade.inputs},
    )


def justified(found: Explanation) -> list[Any]:
    """Ask for what justifies the result, and what holds its rivals down, all triplets."""
    return [n.justification for n in (*found.values, *found.rivals)]


def reduced(found: Explanation, limit: int = 5) -> list[Any]:
    """Ask for the reduced premises and the unexpected besides, the first of each."""
    nodes = [n.justification for n in (*found.values, *found.rivals) if n.justification]
    triplets = [t for one in nodes for t in one.triplets[:limit]]
    return [(t.first(limit), t.first(limit, unexpected=True)) for t in triplets]


def against_inference() -> None:
    """Print the cost of explanations as multiples of one inference."""
    for name, make, what in QUESTIONS:
        cascade = make()
        for form, evidence in forms(cascade):
            ask = partial(explain, cascade, evidence, what)
            times = best_times(
                {
                    "infer": partial(cascade.infer, evidence),
                    "explained": lambda ask=ask: justified(ask()),  # type: ignore[misc]
                    "with premises reduced": lambda ask=ask: reduced(ask()),  # type: ignore[misc]
                    "down to the inputs": lambda ask=ask: list(ask().walk(limit=5)),  # type: ignore[misc]
                    "text": lambda ask=ask: ask().text(),  # type: ignore[misc]
                },
                seconds=4.0,
            )
            base = times.pop("infer")
            shown = ", ".join(f"{kind} {t / base:.1f}" for kind, t in times.items())
            print(f"  {name}, {form} ({base * 1e6:.0f} us an inference): {shown}")


def condition_sizes() -> None:
    """Print the time and size of the conditions for the same questions."""
    for name, make, what in QUESTIONS:
        cascade = make()
        asked = cascade[what].output.isin({1})
        times = best_times({"conditions": partial(conditions, cascade, asked, ">", 0.5)}, 1.0, 0.0)
        print(f"  {conditions(cascade, asked, '>', 0.5)!r} ({name}): {times['conditions']:.2f} s")


SECTIONS: dict[str, Callable[[], None]] = {
    "explanations: against inference of one sample": against_inference,
    "explanations: conditions": condition_sizes,
}
