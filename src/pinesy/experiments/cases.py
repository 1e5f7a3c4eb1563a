"""Single sums, explained: what came out, why, and what would change it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.png import data_uri
from pinesy._common.validation import FloatArray
from pinesy.explanations import Explanation, Label, explain, picture
from pinesy.explanations.counterfactuals import margin, why_not
from pinesy.rulebase.cascade import Cascade

__all__ = ["Case", "find_cases"]

Images = npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Case:
    """One sum.

    Attributes
    ----------
    title : what it is
    images : the images of its digits, by the name of the input
    found, true : the digits of the sum, as inferred and as they are; ``"?"`` for a digit that the
        rules leave open
    explanation : of the digit that is the least certain, or wrong
    margin : how much any degree may move before that digit can change
    why_not : for a wrong digit, why it is not the true one
    """

    title: str
    images: Mapping[str, Images]
    found: str
    true: str
    explanation: Explanation
    margin: float
    why_not: str = ""

    @property
    def summary(self) -> str:
        """What came out, and how firmly."""
        digit = self.explanation.wording.name(self.explanation.attribute)
        return (
            f"The rules say {_shown(self.found)}; the sum is {_shown(self.true)}. As long as no "
            f"degree of an input moves by {self.margin:.3g} or more, {digit} stays what it is."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all that is shown of it, as texts."""
        return {
            "title": self.title,
            "summary": self.summary,
            "explanation": str(self.explanation),
            "why_not": self.why_not,
            "picture": picture(self.explanation, self.images),
            "images": {name: data_uri(image) for name, image in self.images.items()},
        }


def find_cases(
    cascade: Cascade,
    evidence: Mapping[str, FloatArray],
    images: Mapping[str, Images],
    labels: Mapping[str, Any],
) -> list[Case]:
    """Return the right sum that is the least certain, and the wrong one that is the most certain.

    A sum is right if every digit is, and wrong if some digit is; a digit that the rules leave
    open (several are equally possible) is neither.

    Parameters
    ----------
    cascade : the rules of Addition-k
    evidence : by input, its possibilities (n, 10)
    images : by input, in the order to show them, its images (n, 28, 28)
    labels : the true digits ``y_0, ..., y_k`` of the sums, among others
    """
    names = sorted((name for name in labels if name.startswith("y_")), key=_number)
    results = cascade.infer(evidence, names)
    certain = np.stack([results[name].certainty for name in names])
    equal = np.stack([np.asarray(results[name].best) == labels[name] for name in names])
    is_open = np.stack([results[name].ambiguous for name in names])
    right, wrong = (equal & ~is_open).all(axis=0), ~equal & ~is_open
    chosen = []
    if right.any():
        sample = int(np.argmin(np.where(right, certain.min(axis=0), np.inf)))
        chosen.append(("The right sum that is the least certain", sample))
    if wrong.any():
        worst = np.where(wrong, certain, -1.0).max(axis=0)
        chosen.append(("The wrong sum that is the most certain", int(worst.argmax())))
    return [
        _case(
            title,
            cascade,
            {name: rows[i] for name, rows in evidence.items()},
            {name: rows[i] for name, rows in images.items()},
            {name: int(labels[name][i]) for name in names},
        )
        for title, i in chosen
    ]


def _shown(digits: str) -> str:
    """Return a number without zeros before it."""
    return digits.lstrip("0") or "0"


def _number(name: str) -> int:
    return int(name.partition("_")[2])


def _case(
    title: str,
    cascade: Cascade,
    evidence: Mapping[str, FloatArray],
    images: Mapping[str, Images],
    true: Mapping[str, int],
) -> Case:
    found = cascade.infer(evidence, list(true))
    best = {name: "?" if found[name].ambiguous else found[name].best for name in true}
    wrong = [name for name in true if best[name] not in ("?", true[name])]
    digit = wrong[0] if wrong else min(true, key=lambda name: float(found[name].certainty))
    return Case(
        title,
        images,
        "".join(str(best[name]) for name in true),
        "".join(str(true[name]) for name in true),
        explain(cascade, evidence, digit, labels=_labels(list(true))),
        float(margin(cascade, evidence, digit)),
        str(why_not(cascade, evidence, true[digit], digit)) if wrong else "",
    )


def _labels(names: Sequence[str]) -> dict[str, Label | str]:
    """Return words for the attributes of a sum of numbers of `k` digits."""
    k = len(names) - 1
    found: dict[str, Label | str] = {
        name: f"digit {i + 1} of the sum" for i, name in enumerate(names)
    }
    for i in range(1, k + 1):
        found[f"a_{i}"] = f"digit {i} of the first number"
        found[f"a_{k + i}"] = f"digit {i} of the second number"
        found[f"w_{i}"] = f"the carry from digit {i}"
    return found
