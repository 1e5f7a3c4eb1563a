"""Marginals of attributes: the results of semantics other than the possibilistic one."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from pinesy._common.masks import positions
from pinesy._common.names import column_slices, name_of
from pinesy._common.validation import BoolArray, FloatArray, check_known, check_sample
from pinesy.engine.rule_set_kinds import RuleUnit
from pinesy.evidence.evidence_form import Evidence, EvidenceForm, Transform
from pinesy.evidence.rows import Rows
from pinesy.exceptions import DegreeError, DomainError
from pinesy.rules.attributes import Attribute
from pinesy.rules.outcomes import outcome_codes, outcome_indices, plain_text, verdict_text
from pinesy.rules.possibility import best_value, summary, values_of_mask
from pinesy.rules.propositions import Proposition
from pinesy.rules.syntax.writer import show_value
from pinesy.semantics.semantics import Semantics, as_semantics
from pinesy.semantics.worlds import check_certain
from pinesy.transforms import SUM_TOLERANCE

#: From the degrees (n, values) of inputs by name, and the outputs, to their weights by name.
Compute = Callable[[dict[str, FloatArray], Sequence[Attribute]], Mapping[str, Any]]


@dataclass(frozen=True, repr=False, eq=False)
class WorldWeights:
    """The marginal weights of the values of an attribute, of one sample or a batch.

    Attributes
    ----------
    attribute : Attribute
    weights : array ``(|D_a|,)``, or ``(n_samples, |D_a|)`` for a batch: probabilities; for the most
        probable explanation, the probability of the most probable world with the value, divided by
        that of the most probable world; for Goedel's semantics, the degree of truth
    semantics : the name of the semantics

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
        """Whether these are the weights of several samples."""
        return self.weights.ndim == 2

    def __getitem__(self, value: Hashable) -> Any:
        """Return the weight of a value."""
        weights = self.weights[..., self.attribute.position(value)]
        return weights if self.is_batch else float(weights)

    def weight(self, subset: Iterable[Hashable] | Proposition) -> Any:
        """Return the weight of a set of values: the sum of their weights, or the largest."""
        subset_weights = self.weights[..., positions(self.attribute.mask(subset))]
        adds = as_semantics(self.semantics).semiring.adds
        total = subset_weights.sum(axis=-1) if adds else subset_weights.max(axis=-1, initial=0.0)
        return total if self.is_batch else float(total)

    @property
    def total(self) -> Any:
        """The weight of the domain: in probabilities, 1 if no rules contradict each other."""
        return self.weight(self.attribute.domain)

    @cached_property
    def probabilities(self) -> FloatArray:
        """The weights as probabilities; see `Semantics.probabilities`."""
        return as_semantics(self.semantics).probabilities(self.weights)

    @cached_property
    def best(self) -> Any:
        """The value of largest weight; None if several have it, or all weights are 0."""
        return best_value(self.attribute, self.weights, self.decided)

    @cached_property
    def best_values(self) -> Any:
        """The values of most weight, a tuple; none if no value has any. An array for a batch."""
        return values_of_mask(self.attribute, self.is_best)

    @cached_property
    def decided(self) -> Any:
        """Whether exactly one value has the largest weight."""
        decided = self.is_best.sum(axis=-1) == 1
        return decided if self.is_batch else bool(decided)

    @cached_property
    def outcome(self) -> Any:
        """Whether one value has the largest weight, or why not; for a batch, an array of codes.

        ``"several"``: more than one has it, but not all; ``"no_rule"``: all have it;
        ``"contradiction"``: all weights are 0.
        """
        is_best = self.is_best
        weightless = ~is_best.any(axis=-1)
        return outcome_codes(outcome_indices(is_best, is_best.all(axis=-1), weightless))

    @property
    def verdict(self) -> str:
        """The outcome of one sample as text."""
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
    semantics : the name of the semantics
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
        sample_weights = weights if self.is_batch else weights[0]
        return WorldWeights(self._attributes[name], sample_weights, self.semantics)

    def __iter__(self) -> Iterator[str]:
        return iter(self._weights)

    def __len__(self) -> int:
        return len(self._weights)

    def __repr__(self) -> str:
        if self.is_batch:
            n = len(next(iter(self._weights.values())))
            return f"WorldInference({n} samples of {', '.join(self)}; {self.semantics})"
        texts = [
            f"{name}={show_value(weights.best)}"
            if weights.decided
            else f"{name}: {weights.verdict}"
            for name, weights in self.items()
        ]
        return f"WorldInference({', '.join(texts)}; {self.semantics})"


def rule_function(semantics: Semantics, units: Sequence[RuleUnit]) -> Compute:
    """Return the `weights` function of a semantics with its rule sets bound."""
    assert semantics.weights is not None
    if not semantics.takes_uncertain:
        for unit in units:
            check_certain(unit)
    return partial(semantics.weights, units)


def infer_worlds(
    semantics: Semantics,
    compute: Compute,
    outputs: Sequence[Attribute],
    form: EvidenceForm,
    evidence: Evidence,
    transform: Transform = None,
) -> WorldInference:
    """Return the weights of the values of the outputs.

    Parameters
    ----------
    compute : the function of the rules, see `Compute`
    form, evidence : the inputs. As probabilities, a plain value is certain, and a missing value has
        a uniform distribution
    transform : from probabilities, for a semantics that reads possibilities
    """
    if semantics.reads == "probabilities":
        rows = form.rows(evidence, probabilities=True)
        inputs = probabilities_of(rows)
    else:
        rows = form.rows(evidence, transform)
        inputs = _possibilities_of(rows)
    weights = compute(inputs, outputs)
    if semantics.weights is not None:
        weights = {a.name: _check_weights(semantics, weights, a, rows.n) for a in outputs}
    return WorldInference({a.name: a for a in outputs}, weights, semantics.name, rows.is_batch)


def _check_weights(
    semantics: Semantics, weights: Mapping[str, Any], attribute: Attribute, n: int
) -> FloatArray:
    """Return the weights of an attribute; `DegreeError` for a wrong shape or negative weights."""
    name, shape = attribute.name, (n, len(attribute.domain))
    array = np.asarray(weights.get(name, ()), dtype=np.float64)
    if array.shape != shape or not (array >= 0.0).all():
        got = f"shape {array.shape}" if array.shape != shape else f"{array.min():g}"
        raise DegreeError(
            f"the semantics {semantics.name!r} returned {got} for {name!r}; its weights have "
            f"shape {shape} and are at least 0"
        )
    return array


def _possibilities_of(rows: Rows) -> dict[str, FloatArray]:
    """Return the possibilities (n, values) of each input; raise `DegreeError` for invalid ones."""
    block, columns = rows.block(0, rows.n), column_slices(rows.attributes)
    for span in columns.values():
        degrees = block[:, span]
        normal = ((degrees >= 0.0) & (degrees <= 1.0)).all(axis=1) & (degrees.max(axis=1) == 1.0)
        if not normal.all():
            rows.refuse(int(np.argmin(normal)))
    return {name: block[:, span] for name, span in columns.items()}


def probabilities_of(rows: Rows) -> dict[str, FloatArray]:
    """Return the probabilities (n, values) of each input; raise `DegreeError` for invalid ones."""
    numbers, columns = rows.raw_block(0, rows.n), column_slices(rows.attributes)
    probabilities = {}
    for index, (name, span) in enumerate(columns.items()):
        p = numbers[:, span]
        total = p.sum(axis=1)
        if index in rows.probabilities:
            is_valid = (p >= 0.0).all(axis=1) & (np.abs(total - 1.0) <= SUM_TOLERANCE)
        else:  # a plain value, or a uniform distribution on a set of values
            is_valid = (((p == 0.0) | (p == 1.0)).all(axis=1)) & (total > 0.0)
        if not is_valid.all():
            row = int(np.argmin(is_valid))
            if index in rows.probabilities:
                rows.refuse(row)
            where = f", row {row}" * rows.is_batch
            raise DegreeError(
                f"attribute {name!r}{where} is a possibility distribution, and this semantics "
                "reads probabilities: convert it with antipignistic_inverse"
            )
        probabilities[name] = p / total[:, None]
    return probabilities
