"""The results of a batch of samples, in columns: what differs is computed and written once."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from pinesy._common.distinct import distinct_rows
from pinesy._common.validation import BoolArray, FloatArray
from pinesy.exact.exact_inference import ExactInference
from pinesy.rules.attributes import Attribute
from pinesy.rules.outcomes import Outcome, short_degree, verdict_text
from pinesy.rules.possibility import Possibility
from pinesy.rules.syntax.writer import show_value
from pinesy.samples import Batch, value_texts
from pinesy.samples.file_layout import json_value
from pinesy.semantics.world_weights import WorldWeights

if TYPE_CHECKING:  # imported where an option needs them
    from pinesy.calibration import PredictionSets
    from pinesy.guarantees import SelectiveDecisions


class OutputResult(NamedTuple):
    """The result for one output of one sample, in plain Python values.

    Attributes
    ----------
    texts : the names of the values
    outcome, verdict : whether there is a best value, or why not, as a code and in words
    title, members : the name of the values that remain, ``"best_values"`` or ``"set"``, and a mask
    degrees_title : ``"possibility"`` or ``"weights"``
    facts : further numbers, by name
    lower : with exact inference, the lower bounds of degrees that are not known, by text; else None
    """

    attribute: Attribute
    texts: list[str]
    outcome: Outcome | Literal["unknown", "handed_over"]
    verdict: str
    title: str
    members: list[bool]
    degrees_title: str
    degrees: list[float]
    facts: dict[str, float | None]
    lower: dict[str, float] | None = None

    @property
    def best(self) -> int | None:
        """The index of the best value; None if there is none."""
        return self.members.index(True) if self.outcome == "decided" else None

    @property
    def remaining(self) -> str:
        """The names of the values that remain, in one cell."""
        return "|".join(compress(self.texts, self.members))

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data; degrees of 0 are left out."""
        values = [*map(json_value, compress(self.attribute.domain, self.members))]
        degrees = {t: d for t, d in zip(self.texts, self.degrees, strict=True) if d > 0.0}
        content = {
            "best": values[0] if self.outcome == "decided" else None,
            "outcome": self.outcome,
            "verdict": self.verdict,
            self.title: values,
            self.degrees_title: degrees,
        }
        bounds = {"lower": self.lower} if self.lower else {}
        return content | self.facts | bounds

    def titles(self) -> list[str]:
        """Return the titles of the columns: best value, facts, and values."""
        name = self.attribute.name
        fact_titles = [f"{name} {fact}" for fact in ("outcome", "verdict", self.title, *self.facts)]
        titles = [name, *fact_titles, *(f"{name}={text}" for text in self.texts)]
        if self.lower is not None:
            titles += [f"{name} lower={text}" for text in self.texts]
        return titles

    def cells(self) -> list[Any]:
        """Return the cells of the columns of `titles`."""
        best = "" if self.best is None else self.texts[self.best]
        facts = ["" if fact is None else fact for fact in self.facts.values()]
        cells = [best, self.outcome, self.verdict, self.remaining, *facts, *self.degrees]
        return cells if self.lower is None else cells + self.lower_bounds

    @property
    def lower_bounds(self) -> list[float]:
        """The lower bounds of all degrees; of those that are known, the degrees."""
        lower = self.lower or {}
        return [lower.get(t, d) for t, d in zip(self.texts, self.degrees, strict=True)]

    def line(self) -> tuple[str, ...]:
        """Return the cells of a row of the printed table: answer, certainty or weight, and set."""
        answer, number = self.verdict, "-"
        if self.best is not None:
            certainty = self.facts.get("certainty")
            answer = show_value(self.attribute.domain[self.best])
            number = short_degree(max(self.degrees) if certainty is None else certainty)
        if self.title == "set":
            return answer, number, f"{{{', '.join(compress(self.texts, self.members))}}}"
        return answer, number


class Clashes(NamedTuple):
    """The rules that contradict each other in samples.

    Attributes
    ----------
    texts : groups of rules as text; the first is empty, for samples without contradiction
    indices : of the group of each sample, in `texts`; None if no sample has one
    """

    texts: Sequence[str] = ("",)
    indices: npt.NDArray[np.intp] | None = None


NO_CLASHES = Clashes()


@dataclass(frozen=True, eq=False)
class OutputColumns:
    """The results for one output of a batch of samples.

    Attributes
    ----------
    outcomes : the codes of all samples
    title, members : the name of the values that remain, and a mask of them
    degrees_title, degrees : their name, and an array ``(n_samples, values)``
    facts : further numbers of each sample, by name; NaN for none
    clashes : the rules that contradict each other, where they are known
    lower, is_known : with exact inference, lower bounds, and where degrees are exact
    key : arrays that determine all others, if they are fewer than all
    """

    attribute: Attribute
    outcomes: npt.NDArray[np.str_]
    title: str
    members: BoolArray
    degrees_title: str
    degrees: FloatArray
    facts: dict[str, FloatArray]
    clashes: Clashes = NO_CLASHES
    lower: FloatArray | None = None
    is_known: BoolArray | None = None
    key: tuple[npt.NDArray[Any], ...] = ()

    def results(self, rows: Iterable[int] | None = None) -> Iterator[OutputResult]:
        """Yield the results of some samples, by default of all."""
        rows = range(len(self.outcomes)) if rows is None else rows
        return map(self.result, rows)

    def result(self, row: int) -> OutputResult:
        """Return the result of one sample."""
        texts, outcome = self._texts, self.outcomes[row].item()
        members, degrees = self.members[row].tolist(), self.degrees[row].tolist()
        facts = {n: None if math.isnan(f[row]) else f[row].item() for n, f in self.facts.items()}
        lower = None if self.is_known is None else dict[str, float]()
        if self.is_known is not None and not self.is_known[row]:
            assert self.lower is not None
            outcome, verdict = "unknown", "not known: the solver spent its conflicts"
            members, facts = [False] * len(texts), dict.fromkeys(facts)
            lower = dict(zip(texts, self.lower[row].tolist(), strict=True))
        else:
            rules = self.clashes.texts
            indices = self.clashes.indices
            rule_text = "" if indices is None else rules[indices[row]]
            verdict = verdict_text(outcome, [*compress(texts, members)], **facts, rules=rule_text)
        return OutputResult(
            self.attribute,
            texts,
            outcome,
            verdict,
            self.title,
            members,
            self.degrees_title,
            degrees,
            facts,
            lower,
        )

    @cached_property
    def _texts(self) -> list[str]:
        return value_texts(self.attribute)

    @cached_property
    def distinct(self) -> tuple[list[OutputResult], npt.NDArray[np.intp]]:
        """The distinct results, and for each sample the index of its result."""
        key = self.key or (self.outcomes, self.members, self.degrees, *self.facts.values())
        bounds = (self.lower, self.is_known, self.clashes.indices)
        rows, indices = distinct_rows(*key, *(array for array in bounds if array is not None))
        return list(self.results(rows.tolist())), indices


@dataclass(frozen=True)
class BatchResults:
    """The results of a batch of samples, for each output."""

    samples: Batch
    outputs: list[OutputColumns]


def possibility_columns(
    pi: Possibility, clashes: Clashes = NO_CLASHES, sets: "PredictionSets | None" = None
) -> OutputColumns:
    """Return the possibilities of samples, and their sets of values if there is a level."""
    title, members, outcomes = "best_values", pi.is_best, pi.outcome
    key: tuple[npt.NDArray[Any], ...] = (pi.degrees, pi.contradiction)
    if sets is not None:
        name = pi.attribute.name
        title, members, outcomes, key = "set", sets.members(name), sets.outcomes[name], ()
    facts = {"certainty": pi.certainty, "contradiction": pi.contradiction}
    return OutputColumns(
        pi.attribute,
        outcomes,
        title,
        members,
        "possibility",
        pi.degrees,
        facts,
        clashes,
        key=key,
    )


def exact_columns(results: ExactInference, attribute: Attribute, clashes: Clashes) -> OutputColumns:
    """Return the exact possibilities of samples; bounds where these are not known."""
    upper = possibility_columns(results.upper[attribute.name], clashes)
    lower = results.lower[attribute.name].degrees
    return replace(upper, lower=lower, is_known=results.known[attribute.name])


def decided_columns(decisions: "SelectiveDecisions", output: Attribute) -> OutputColumns:
    """Return what is decided of an output, and the best guess where a sample is handed over."""
    is_best = np.arange(len(output.domain)) == decisions.answers.best[output.name][:, None]
    certainty = decisions.certainty
    certainties = np.where(is_best, certainty[:, None], 0.0)
    return OutputColumns(
        output,
        decisions.outcomes,
        "best_values",
        is_best,
        "certainties",
        certainties,
        {"certainty": certainty},
    )


def weight_columns(worlds: WorldWeights) -> OutputColumns:
    """Return the weights of values in another semantics."""
    return OutputColumns(
        worlds.attribute,
        worlds.outcome,
        "best_values",
        worlds.is_best,
        "weights",
        worlds.weights,
        {},
    )
