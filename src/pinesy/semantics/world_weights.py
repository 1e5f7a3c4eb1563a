"""What the worlds weigh in which attributes have certain values: results of other semantics."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pinesy._common.masks import positions
from pinesy._common.names import column_slices, name_of
from pinesy._common.validation import BoolArray, FloatArray, check_known, check_sample
from pinesy.evidence.evidence_form import Evidence, EvidenceForm
from pinesy.evidence.rows import Rows
from pinesy.exceptions import DegreeError, DomainError
from pinesy.rules.attributes import Attribute
from pinesy.rules.outcomes import outcome_codes, outcome_indices, plain_text, verdict_text
from pinesy.rules.possibility import best_value, most_valued, summary
from pinesy.rules.propositions import Proposition
from pinesy.rules.syntax.writer import show_value
from pinesy.semantics.semirings import SEMIRINGS, NumpyWeights, Semiring
from pinesy.semantics.worlds import Part, weigh
from pinesy.transforms import SUM_TOLERANCE

#: Samples are taken together for so many numbers of the largest table.
BLOCK_NUMBERS = 1 << 21


@dataclass(frozen=True, repr=False, eq=False)
class WorldWeights:
    """For each value of an attribute the weight of all worlds with it, of one sample or a batch.

    Attributes
    ----------
    attribute : Attribute
    weights : array ``(|D_a|,)``, or ``(n_samples, |D_a|)`` for a batch: probabilities; or, of the
        most probable explanation, how probable the most probable world with this value is, beside
        the most probable one of all; or, of Goedel's semantics, the degree of truth
    semantics : by which they were computed

    Examples
    --------
    >>> a = Attribute("rain", ["no", "yes"])
    >>> rain = WorldWeights(a, np.array([0.25, 0.75]), "probabilistic")
    >>> rain
    WorldWeights(rain, {yes: 0.75, no: 0.25}; probabilistic)
    >>> rain.best, rain["no"], rain.weight({"no", "yes"})
    ('yes', 0.25, 1.0)
    """

    attribute: Attribute
    weights: FloatArray
    semantics: str

    @property
    def is_batch(self) -> bool:
        """Whether this holds weights for each of several samples."""
        return self.weights.ndim == 2

    def __getitem__(self, value: Hashable) -> Any:
        """Return the weight of a value."""
        weights = self.weights[..., self.attribute.position(value)]
        return weights if self.is_batch else float(weights)

    def weight(self, subset: Iterable[Hashable] | Proposition) -> Any:
        """Return the weight of some values together: their sum, or the largest."""
        chosen = self.weights[..., positions(self.attribute.mask(subset))]
        adds = SEMIRINGS[self.semantics].adds
        total = chosen.sum(axis=-1) if adds else chosen.max(axis=-1, initial=0.0)
        return total if self.is_batch else float(total)

    @property
    def total(self) -> Any:
        """The weight of all values together: in probabilities, 1 where no rules contradict."""
        return self.weight(self.attribute.domain)

    @cached_property
    def probabilities(self) -> FloatArray:
        """The weights divided by their sum; without any weight, the same for all values."""
        total = self.weights.sum(axis=-1, keepdims=True)
        shares = np.full_like(self.weights, 1.0 / self.weights.shape[-1])
        divided: FloatArray = np.divide(self.weights, total, out=shares, where=total > 0.0)
        return divided

    @cached_property
    def best(self) -> Any:
        """The value of most weight; None if several have it, or no value has any."""
        return best_value(self.attribute, self.weights, self.decided)

    @cached_property
    def best_values(self) -> Any:
        """The values of most weight, a tuple; none if no value has any. An array for a batch."""
        return most_valued(self.attribute, self.is_best)

    @cached_property
    def decided(self) -> Any:
        """Whether one value alone has the most weight."""
        decided = self.is_best.sum(axis=-1) == 1
        return decided if self.is_batch else bool(decided)

    @cached_property
    def outcome(self) -> Any:
        """Whether one value has the most weight, or why not; for a batch, an array of codes.

        ``"several"``: more than one has it, but not all; ``"no_rule"``: all have it;
        ``"contradiction"``: no value has any weight.
        """
        is_best = self.is_best
        weightless = ~is_best.any(axis=-1)
        return outcome_codes(outcome_indices(is_best, is_best.all(axis=-1), weightless))

    @property
    def verdict(self) -> str:
        """The outcome of one sample in words."""
        if self.is_batch:
            raise DomainError("a batch has no single verdict; take one sample(row) first")
        return verdict_text(self.outcome, [plain_text(value) for value in self.best_values])

    @cached_property
    def is_best(self) -> BoolArray:
        """Which values are `best_values`: bool array, of the shape of the weights."""
        top = self.weights.max(axis=-1, keepdims=True)
        return np.asarray((self.weights == top) & (top > 0.0))

    def sample(self, row: int) -> "WorldWeights":
        """Return the weights of one sample of a batch."""
        if not self.is_batch:
            raise DomainError(
                "these are the weights of one sample already; sample() is for batches"
            )
        row = check_sample(row, len(self))
        return WorldWeights(self.attribute, self.weights[row], self.semantics)

    def __len__(self) -> int:
        """Return the number of samples of a batch."""
        if not self.is_batch:
            raise DomainError("weights of one sample have no length; see .attribute.domain")
        return len(self.weights)

    def to_dict(self) -> dict[Hashable, float]:
        """Return the weights of one sample as ``{value: weight}``."""
        if self.is_batch:
            raise DomainError("a batch has no single dict; take one sample(row) first")
        return dict(zip(self.attribute.domain, self.weights.tolist(), strict=True))

    def __repr__(self) -> str:
        if self.is_batch:
            return f"WorldWeights({self.attribute.name}, {len(self)} samples; {self.semantics})"
        return f"WorldWeights({summary(self.attribute, self.weights)}; {self.semantics})"


@dataclass(frozen=True, eq=False, repr=False)
class WorldInference(Mapping[str, WorldWeights]):
    """The inferred weights, by attribute name or attribute.

    Attributes
    ----------
    semantics : by which they were computed
    is_batch : whether there are several samples
    """

    _attributes: Mapping[str, Attribute]
    _weights: Mapping[str, FloatArray]
    semantics: str
    is_batch: bool

    def __getitem__(self, key: str | Attribute) -> WorldWeights:
        name = name_of(key)
        check_known(name, self._weights, f"{name!r} was not inferred")
        weights = self._weights[name]
        one = weights if self.is_batch else weights[0]
        return WorldWeights(self._attributes[name], one, self.semantics)

    def __iter__(self) -> Iterator[str]:
        return iter(self._weights)

    def __len__(self) -> int:
        return len(self._weights)

    def __repr__(self) -> str:
        if self.is_batch:
            n = len(next(iter(self._weights.values())))
            return f"WorldInference({n} samples of {', '.join(self)}; {self.semantics})"
        shown = ", ".join(f"{name}{_said(self[name])}" for name in self)
        return f"WorldInference({shown}; {self.semantics})"


def _said(weights: WorldWeights) -> str:
    """Return the best value of a result, or why there is none."""
    return f"={show_value(weights.best)}" if weights.decided else f": {weights.verdict}"


def infer_worlds(
    parts: Sequence[Part],
    semiring: Semiring,
    outputs: Sequence[Attribute],
    form: EvidenceForm,
    evidence: Evidence,
) -> WorldInference:
    """Return what the worlds weigh for each value of the outputs.

    Parameters
    ----------
    parts : those of the outputs, `Worlds.parts`
    form, evidence : the inputs; distributions among them are of probabilities, a plain value is
        certain, and where nothing is known all values are equally probable
    """
    rows = form.rows(evidence, "antipignistic")  # which is not applied, but marks probabilities
    inputs = probabilities_of(rows)
    names = [a.name for a in outputs]
    entries = max([len(a.domain) for a in outputs] + [part.plan.entries for part in parts])
    width = max(1, BLOCK_NUMBERS // entries)
    inferred = {a.name: np.empty((rows.n, len(a.domain))) for a in outputs}
    ops = NumpyWeights(semiring)
    for start in range(0, rows.n, width):
        block = {name: x[start : start + width] for name, x in inputs.items()}
        weights = weigh(parts, ops, block)
        for name in names:
            inferred[name][start : start + width] = weights[name]
    return WorldInference({a.name: a for a in outputs}, inferred, semiring.name, rows.is_batch)


def probabilities_of(rows: Rows) -> dict[str, FloatArray]:
    """Return the probabilities (n, values) of each input; rows that are none are refused."""
    given, spans = rows.given(0, rows.n), column_slices(rows.attributes)
    settled = () if rows.transform is None else rows.transform.left_out
    probabilities = {}
    for number, (name, span) in enumerate(spans.items()):
        x = given[:, span]
        total = x.sum(axis=1)
        if number in settled:
            good = (((x == 0.0) | (x == 1.0)).all(axis=1)) & (total > 0.0)
        else:
            good = (x >= 0.0).all(axis=1) & (np.abs(total - 1.0) <= SUM_TOLERANCE)
        if not good.all():
            _refuse(rows, int(np.argmin(good)), name, number in settled)
        probabilities[name] = x / total[:, None]
    return probabilities


def _refuse(rows: Rows, row: int, name: str, is_settled: bool) -> None:
    if not is_settled:
        rows.refuse(row)
    where = f", row {row}" * rows.is_batch
    raise DegreeError(
        f"attribute {name!r}{where} is a possibility distribution, and only the possibilistic "
        "semantics reasons with these: give probabilities (antipignistic_inverse makes them)"
    )
