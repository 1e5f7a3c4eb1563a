"""The speed of explanations, against inference of one sample in the same form of evidence."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from measure import Line, best_times

from pinesy import Cascade
from pinesy.explanations import Explanation, conditions, explain
from pinesy.problems import addition, sudoku

SECTION = "explanations"
SEED = 0


def forms(cascade: Cascade) -> Iterator[tuple[str, Any]]:
    """Yield random evidence of one sample as one array, and as dicts."""
    rng = np.random.default_rng(SEED)
    rows = {}
    for attribute in cascade.inputs:
        x = rng.random(len(attribute.domain))
        rows[attribute.name] = x / x.max()
    yield "one array", np.concatenate([rows[a.name] for a in cascade.compile().inputs])
    yield (
        "dicts",
        {a.name: dict(zip(a.domain, rows[a.name].tolist(), strict=True)) for a in cascade.inputs},
    )


def justified(ask: Callable[[], Explanation]) -> list[Any]:
    """Ask for what justifies the result, and what holds its rivals down, all triplets."""
    found = ask()
    return [n.justification for n in (*found.values, *found.rivals)]


def reduced(ask: Callable[[], Explanation], limit: int = 5) -> list[Any]:
    """Ask for the reduced premises and the unexpected besides, the first of each."""
    triplets = [t for one in justified(ask) if one for t in one.triplets[:limit]]
    both = (False, True)
    return [[t.first_propositions(limit, unexpected) for unexpected in both] for t in triplets]


def walked(ask: Callable[[], Explanation]) -> list[Any]:
    """Go down to the inputs."""
    return list(ask().walk(limit=5))


def worded(ask: Callable[[], Explanation]) -> str:
    """Say it in words."""
    return ask().text()


WAYS: dict[str, Callable[[Any], object]] = {
    "explained": justified,
    "with premises reduced": reduced,
    "down to the inputs": walked,
    "text": worded,
}


def against_inference(name: str, cascade: Cascade, what: str) -> Iterator[Line]:
    """Time explanations of one sample against its inference."""
    for form, evidence in forms(cascade):
        ask = partial(explain, cascade, evidence, what)
        calls: dict[str, Callable[[], object]] = {w: partial(f, ask) for w, f in WAYS.items()}
        times = best_times({"infer": partial(cascade.infer, evidence), **calls})
        for way in WAYS:
            case = f"{name}, {form}: {way}"
            yield Line(SECTION, case, times[way], against={"its inference": times["infer"]})


def of_conditions(name: str, cascade: Cascade, what: str) -> Line:
    """Time the conditions under which a value is possible, and show their size."""
    call = partial(conditions, cascade, cascade[what].output.isin({1}), ">", 0.5)
    spent = best_times({"conditions": call}, 1.0, 0.0)["conditions"]
    return Line(SECTION, f"{name}: conditions", spent, note=repr(call()))


def lines(tiny: bool = False) -> list[Line]:
    """Measure explanations of a digit of the sum that many carries lead to, and of the verdict."""
    questions: list[tuple[str, Cascade, str]] = (
        [("Addition-2, y_1", addition(2), "y_1")]
        if tiny
        else [("Addition-100, y_50", addition(100), "y_50"), ("Sudoku 9x9", sudoku(9), "c")]
    )
    found = [line for question in questions for line in against_inference(*question)]
    return found + [of_conditions(*question) for question in questions]
