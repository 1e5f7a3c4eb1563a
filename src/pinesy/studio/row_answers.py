"""The answers of rules to all rows of the data, compared with their labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.names import column_slices
from pinesy._common.validation import BoolArray, FloatArray
from pinesy.calibration.coverage_report import share_band
from pinesy.display.report_rows import remaining_text
from pinesy.engine.program import Inference
from pinesy.evidence.targets import Target
from pinesy.exceptions import DataError
from pinesy.explanations.labels import Wording
from pinesy.rulebase.cascade import Cascade
from pinesy.rules.attributes import Attribute
from pinesy.rules.outcomes import OUTCOMES, verdict_text
from pinesy.rules.possibility import Possibility
from pinesy.verdicts import short_degree

Indices = npt.NDArray[np.intp]
#: What a row is counted as.
STATES = ("right", "wrong", "answered", "undecided", "contradiction")
RIGHT, WRONG, ANSWERED, UNDECIDED, CONTRADICTION = range(len(STATES))
#: Values of an output up to which labels and answers are counted in a table.
MAX_CONFUSED = 30


@dataclass(frozen=True, eq=False)
class RowAnswers:
    """The answers to all rows.

    Attributes
    ----------
    possibilities : of each output, for all rows
    labels : the indices of the true values, shape ``(n_rows, n_outputs)``; None without labels
    """

    possibilities: tuple[Possibility, ...]
    labels: Indices | None

    @classmethod
    def of(
        cls, rules: Cascade, evidence: Any, targets: Mapping[str, Target], names: Sequence[str]
    ) -> "RowAnswers":
        """Infer outputs for all rows.

        Parameters
        ----------
        evidence : the columns of all inputs side by side, or by name
        targets : of the rows; labels that are distributions are ignored
        names : the outputs, which are answered together
        """
        inferred = infer_rows(rules, evidence, names)
        labels = None
        if all(name in targets and not targets[name].is_graded for name in names):
            labels = np.stack([targets[name].labels.astype(np.intp) for name in names], axis=1)
        return cls(tuple(inferred[name] for name in names), labels)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.possibilities[0])

    @cached_property
    def outcomes(self) -> Indices:
        """The outcome of each row by its index in `OUTCOMES`; of several outputs the worst."""
        codes = np.array(OUTCOMES)
        order = np.argsort(codes)
        indices = [order[np.searchsorted(codes[order], pi.outcome)] for pi in self.possibilities]
        return np.asarray(np.max(indices, axis=0))

    @cached_property
    def certainties(self) -> FloatArray:
        """The certainty of each answer, the least of several outputs; 0 where there is none."""
        certain = np.min([pi.certainty for pi in self.possibilities], axis=0)
        return np.asarray(np.where(self.outcomes == 0, certain, 0.0))

    @cached_property
    def label_degrees(self) -> FloatArray | None:
        """The possibility of each label, the least of several outputs."""
        if self.labels is None:
            return None
        rows = np.arange(len(self))
        degrees = [
            pi.degrees[rows, labels]
            for pi, labels in zip(self.possibilities, self.labels.T, strict=True)
        ]
        return np.asarray(np.min(degrees, axis=0))

    @cached_property
    def right(self) -> BoolArray:
        """Whether the answer is the label."""
        if self.labels is None:
            return np.zeros(len(self), dtype=np.bool_)
        best = np.stack([pi.degrees.argmax(axis=1) for pi in self.possibilities], axis=1)
        return np.asarray((self.outcomes == 0) & (best == self.labels).all(axis=1))

    @cached_property
    def states(self) -> Indices:
        """What each row is counted as: its index in `STATES`."""
        decided = WRONG if self.labels is not None else ANSWERED
        states = np.where(self.outcomes == 0, decided, UNDECIDED)
        states[self.right] = RIGHT
        states[self.outcomes == OUTCOMES.index("contradiction")] = CONTRADICTION
        return np.asarray(states)

    def counts(self) -> dict[str, Any]:
        """Return the number of rows of each state, and what chance allows for their shares.

        ``rightRange`` is that of right answers among those decided, ``decidedRange`` that of
        decided rows among all: exact 95 % confidence intervals.
        """
        numbers = np.bincount(self.states, minlength=len(STATES)).tolist()
        decided = sum(numbers[:UNDECIDED])
        return {
            "samples": len(self),
            "labelled": self.labels is not None,
            "decided": decided,
            **dict(zip(STATES, numbers, strict=True)),
            "rightRange": share_band(numbers[RIGHT], decided) if decided else None,
            "decidedRange": share_band(decided, len(self)) if len(self) else None,
        }

    def confusion(self, wording: Wording) -> dict[str, Any] | None:
        """Return how often each label got each answer; None without labels of a single output.

        The last column of ``counts`` has the rows without an answer. Values that are neither a
        label nor an answer are not listed; more than `MAX_CONFUSED` are not shown.
        """
        if self.labels is None or len(self.possibilities) > 1:
            return None
        [pi], labels = self.possibilities, self.labels[:, 0]
        n, decided = len(pi.attribute.domain), self.outcomes == 0
        answers = np.where(decided, pi.degrees.argmax(axis=1), n)
        counts = np.zeros((n, n + 1), dtype=np.intp)
        np.add.at(counts, (labels, answers), 1)
        indices = np.flatnonzero(counts.sum(axis=1) + counts[:, :n].sum(axis=0))
        if not 1 < len(indices) <= MAX_CONFUSED:
            return None
        texts = [wording.domain(pi.attribute)[i] for i in indices.tolist()]
        columns = [*indices.tolist(), *([] if decided.all() else [n])]
        return {
            "title": wording.name(pi.attribute),
            "labels": texts,
            "answers": [*texts, *([] if decided.all() else ["undecided"])],
            "counts": counts[indices][:, columns].tolist(),
        }

    def selective_accuracy(self, points: int) -> list[list[float]]:
        """Return the accuracy on the most certain rows: their share of all, and how many are right.

        Rows without an answer come last, and are not right.
        """
        order = np.argsort(-self.certainties, kind="stable")
        right = np.cumsum(self.right[order])
        counts = np.unique(np.linspace(1, len(self), points).round().astype(int))
        decided = int((self.outcomes == 0).sum())
        counts = np.unique([*counts, *[decided] * (decided > 0)])
        return [[float(n / len(self)), float(right[n - 1] / n)] for n in counts.tolist()]

    # --- one row -------------------------------------------------------------------------------

    def answer(self, row: int, wording: Wording) -> str:
        """Return the answer to a row in words; of several outputs each with its name."""
        texts = []
        for pi in self.possibilities:
            sample = pi.sample(row)
            values = [wording.value(pi.attribute, value) for value in sample.best_values]
            text = values[0] if sample.decided else verdict_text(sample.outcome).split(":")[0]
            if not sample.decided and sample.outcome == "several":
                text = remaining_text(values)
            texts.append(_named(pi.attribute, text, wording, len(self.possibilities)))
        return ", ".join(texts)

    def label(self, row: int, wording: Wording) -> str | None:
        """Return the label of a row in words."""
        if self.labels is None:
            return None
        pairs = zip(self.possibilities, self.labels[row].tolist(), strict=True)
        texts = [(pi.attribute, wording.domain(pi.attribute)[index]) for pi, index in pairs]
        return ", ".join(_named(a, text, wording, len(texts)) for a, text in texts)

    def remark(self, row: int, wording: Wording) -> str:
        """Return why a row is worth a look; empty if its answer is right."""
        code = OUTCOMES[self.outcomes[row]]
        if self.states[row] == WRONG and self.label_degrees is not None:
            degree = float(self.label_degrees[row])
            if degree == 0.0:
                return "The label is impossible."
            only = degree < 0.5
            return f"The label is {'' if only else 'still '}possible at {short_degree(degree)}" + (
                " only." if only else "."
            )
        if code == "decided":
            return ""
        if code == "no_rule":
            return "No rule decides."
        if code == "contradiction":
            return "The rules contradict each other."
        samples = [pi.sample(row) for pi in self.possibilities]
        undecided = next(s for s in samples if s.outcome == "several")
        values = [wording.value(undecided.attribute, value) for value in undecided.best_values]
        return f"{remaining_text(values)} remain."


def _named(attribute: Attribute, text: str, wording: Wording, count: int) -> str:
    return text if count == 1 else f"{wording.name(attribute)} {text}"


def infer_rows(rules: Cascade, evidence: Any, names: Sequence[str]) -> Inference:
    """Infer outputs for all rows, by the inputs that they take."""
    program = rules.compile(names)
    if isinstance(evidence, np.ndarray):
        columns = column_slices(rules.inputs)
        evidence = {a.name: evidence[:, columns[a.name]] for a in program.inputs}
    return program.infer({a.name: evidence[a.name] for a in program.inputs})


def answered_outputs(rules: Cascade, targets: Mapping[str, Target], name: object) -> list[str]:
    """Return the outputs to answer: a named one, or the final ones, those with labels if any."""
    if name is not None:
        if not isinstance(name, str) or name not in rules.sets:
            raise DataError(f"the rules conclude on no attribute {name!r:.60}")
        return [name]
    final = [a.name for a in rules.outputs]
    labelled = [name for name in final if name in targets and not targets[name].is_graded]
    others = [name for name, t in targets.items() if name in rules.sets and not t.is_graded]
    return labelled or others[-1:] or final
