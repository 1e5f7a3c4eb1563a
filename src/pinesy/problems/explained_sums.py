"""Explanations of sums of Addition-k: the inference, its justification, and its margin."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray
from pinesy.explanations import Explanation, Label, explain, margin, picture, why_not
from pinesy.rulebase.cascade import Cascade

Images = npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class ExplainedSum:
    """One sum and its explanation.

    Attributes
    ----------
    title : the reason to show this sum
    images : the images of its digits, by the name of the input
    inferred, true : the inferred and true digits of the sum; ``"?"`` for a digit that is not
        decided
    explanation : the explanation of a wrong digit, else of the least certain one
    margin : the largest change of degrees that cannot change that digit
    why_not : for a wrong digit, why it is not the true one
    """

    title: str
    images: Mapping[str, Images]
    inferred: str
    true: str
    explanation: Explanation
    margin: float
    why_not: str = ""

    @property
    def summary(self) -> str:
        """The inferred and the true sum, and the margin, as text."""
        digit = self.explanation.wording.name(self.explanation.attribute)
        inferred, true = (digits.lstrip("0") or "0" for digits in (self.inferred, self.true))
        return (
            f"The rules say {inferred}; the sum is {true}. As long as "
            f"no degree of an input moves by {self.margin:.3g} or more, {digit} stays what it is."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return title, texts, picture and images as strings."""
        from pinesy.display.images import data_uri

        return {
            "title": self.title,
            "summary": self.summary,
            "explanation": str(self.explanation),
            "why_not": self.why_not,
            "picture": picture(self.explanation, self.images),
            "images": {name: data_uri(image) for name, image in self.images.items()},
        }

    def to_html(self) -> str:
        """Return the explained sum as a section of an HTML page."""
        return sum_html(self.to_dict())


def sum_html(content: Mapping[str, Any]) -> str:
    """Return the result of `ExplainedSum.to_dict` as a section of an HTML page."""
    from pinesy.display.pages import explained_sum_html

    return explained_sum_html(content)


def explained_sums(
    rules: Cascade,
    evidence: Mapping[str, FloatArray],
    targets: Mapping[str, Any],
    images: Mapping[str, Images],
) -> list[ExplainedSum]:
    """Return the right sum that is the least certain, and the wrong one that is the most certain.

    Explanations are the paper's justifications [subsub:explainability].

    A sum is right if every digit is, and wrong if some digit is; a digit that is not decided
    (several are equally possible) is neither.

    Parameters
    ----------
    rules : the rules of Addition-k
    evidence : the possibilities (n, 10) of each input
    targets : the true digits ``y_0, ..., y_k`` of the sums; other names are ignored
    images : the images (n, 28, 28) of each input, in the order to show them
    """
    names = sorted((n for n in targets if n.startswith("y_")), key=lambda n: int(n[2:]))
    results = rules.infer(evidence, names)
    certain = np.stack([results[name].certainty for name in names])
    equal = np.stack([np.asarray(results[name].best) == targets[name] for name in names])
    decided = np.stack([results[name].decided for name in names])
    right, wrong = (equal & decided).all(axis=0), ~equal & decided
    cases = []
    if right.any():
        sample = int(np.argmin(np.where(right, certain.min(axis=0), np.inf)))
        cases.append(("The right sum that is the least certain", sample))
    if wrong.any():
        worst = np.where(wrong, certain, -1.0).max(axis=0)
        cases.append(("The wrong sum that is the most certain", int(worst.argmax())))
    return [
        _explain_sum(
            title,
            rules,
            {name: rows[i] for name, rows in evidence.items()},
            {name: int(targets[name][i]) for name in names},
            {name: rows[i] for name, rows in images.items()},
        )
        for title, i in cases
    ]


def _explain_sum(
    title: str,
    rules: Cascade,
    evidence: Mapping[str, FloatArray],
    true: Mapping[str, int],
    images: Mapping[str, Images],
) -> ExplainedSum:
    """Return the explanation of one sum."""
    inferred = rules.infer(evidence, list(true))
    best = {name: inferred[name].best if inferred[name].decided else "?" for name in true}
    wrong = [name for name in true if best[name] not in ("?", true[name])]
    digit = wrong[0] if wrong else min(true, key=lambda name: float(inferred[name].certainty))
    return ExplainedSum(
        title,
        images,
        "".join(str(best[name]) for name in true),
        "".join(str(true[name]) for name in true),
        explain(rules, evidence, digit, labels=_attribute_labels(list(true))),
        float(margin(rules, evidence, digit)),
        str(why_not(rules, evidence, true[digit], digit)) if wrong else "",
    )


def _attribute_labels(names: Sequence[str]) -> dict[str, Label | str]:
    """Return readable names of the attributes of Addition-k, given its outputs."""
    k = len(names) - 1
    labels: dict[str, Label | str] = {
        name: f"digit {i + 1} of the sum" for i, name in enumerate(names)
    }
    for i in range(1, k + 1):
        labels[f"a_{i}"] = f"digit {i} of the first number"
        labels[f"a_{k + i}"] = f"digit {i} of the second number"
        labels[f"w_{i}"] = f"the carry from digit {i}"
    return labels
