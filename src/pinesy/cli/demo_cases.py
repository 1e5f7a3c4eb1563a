"""Single sums of the demo, explained: what came out, why, and what would change it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy.changes import margin, why_not
from pinesy.explanations import Explanation, Label, explain
from pinesy.neurosymbolic import NeuroSymbolic

__all__ = ["Case", "find_cases"]

Images = npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Case:
    """One sum.

    Attributes
    ----------
    title : what it is
    images : the images of its digits, by the name of the input
    found, true : the digits of the sum, as inferred and as they are
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
            f"The rules say {int(self.found)}; the sum is {int(self.true)}. As long as no degree "
            f"of an input moves by {self.margin:.3g} or more, {digit} stays what it is."
        )


def find_cases(model: NeuroSymbolic, images: Images, labels: Mapping[str, Any]) -> list[Case]:
    """Return the least certain right sum, and a wrong one if there is any.

    Parameters
    ----------
    model : adds numbers
    images : array (n, 2k, 28, 28)
    labels : the true digits ``y_0, ..., y_k`` of the sums
    """
    names = sorted((name for name in labels if name.startswith("y_")), key=_number)
    results = model.predict_possibility(images)
    certain = np.stack([results[name].certainty for name in names])
    right = np.stack([np.asarray(results[name].best) == labels[name] for name in names])
    whole = right.all(axis=0)
    chosen = []
    if whole.any():
        sample = int(np.argmin(np.where(whole, certain.min(axis=0), np.inf)))
        chosen.append(("The right sum that is the least certain", sample))
    if not whole.all():
        worst = np.where(right, -1.0, certain).max(axis=0)
        chosen.append(("The wrong sum that is the most certain", int(worst.argmax())))
    return [
        _case(title, model, images[i], names, {n: labels[n][i] for n in names}, certain[:, i])
        for title, i in chosen
    ]


def _number(name: str) -> int:
    return int(name.partition("_")[2])


def _case(
    title: str,
    model: NeuroSymbolic,
    images: Images,
    names: Sequence[str],
    true: Mapping[str, Any],
    certain: npt.NDArray[np.float64],
) -> Case:
    sides = np.cumsum([len(a.domain) for a in model.cascade.inputs])[:-1]
    parts = np.split(model.evidence(images[None])[0], sides)
    evidence = dict(zip((a.name for a in model.cascade.inputs), parts, strict=True))
    found = model.cascade.infer(evidence)
    best = {name: found[name].best for name in names}
    wrong = [name for name in names if best[name] != true[name]]
    digit = wrong[0] if wrong else names[int(certain.argmin())]
    reasons = ""
    if wrong:
        reasons = str(why_not(model.cascade, evidence, int(true[digit]), digit))
    return Case(
        title,
        dict(zip([a.name for a in model.inputs], images, strict=True)),
        "".join(str(best[name]) for name in names),
        "".join(str(true[name]) for name in names),
        explain(model.cascade, evidence, digit, labels=_labels(names)),
        float(margin(model.cascade, evidence, digit)),
        reasons,
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
