"""Rules as a PyTorch layer, in any semantics, from probabilities of inputs to outputs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from pinesy._common.validation import FloatArray
from pinesy.exceptions import DegreeError, DomainError
from pinesy.nets.differentiable_transforms import antipignistic_inverse, check_probability_rows
from pinesy.nets.possibilistic_layer import PossibilisticLayer, checked_inputs
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.cascade_worlds import joint_part, world_parts
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.semantics.elimination import LARGEST
from pinesy.semantics.semantics import Semantics, as_semantics
from pinesy.semantics.semirings import Grouping, Indices, Semiring
from pinesy.semantics.worlds import marginals
from pinesy.transforms import as_transform


class RuleLayer(nn.Module):
    """Infers from probabilities, as `Cascade.infer` does in the same semantics, with gradients.

    Parameters
    ----------
    rules : a `Cascade` or a `RuleSet`; without uncertainty, unless the semantics takes it
    outputs : the attributes to infer; by default those that no premise uses
    semantics : ``"possibilistic"``, ``"probabilistic"``, ``"most probable explanation"``,
        ``"goedel"``, or one that is registered and has a layer
    transform : of probabilities into possibilities, for semantics of possibilities
    largest : the largest size of a joint table of attributes, where dependencies have cycles

    Attributes
    ----------
    inputs, outputs : the input and output attributes
    semantics : the name of the semantics
    module : the layer of the semantics; None if it works by variable elimination

    Examples
    --------
    >>> from pinesy import parse
    >>> rules = parse('''
    ...     attribute sky in {clear, cloudy, dark}
    ...     attribute rain in {no, yes}
    ...     iff sky in {dark} then rain in {yes}
    ... ''')
    >>> sky = torch.tensor([[0.25, 0.25, 0.5]])
    >>> for semantics in "probabilistic", "mpe", "possibilistic":
    ...     print(RuleLayer(rules, semantics=semantics)({"sky": sky})["rain"])
    tensor([[0.5000, 0.5000]])
    tensor([[0.5000, 1.0000]])
    tensor([[0.7500, 1.0000]])
    """

    def __init__(
        self,
        rules: Cascade | RuleSet,
        outputs: Iterable[str | Attribute] | None = None,
        *,
        semantics: str | Semantics = "possibilistic",
        transform: str | Callable[..., Any] = "antipignistic",
        largest: int = LARGEST,
    ) -> None:
        super().__init__()
        self._semantics = as_semantics(semantics)
        self.rules, self.semantics = as_cascade(rules), self._semantics.name
        self.largest, self.module = largest, None
        if not self._semantics.sums_out:
            self.module = self._semantics.layer_function()(rules, outputs, transform=transform)
            self.inputs, self.outputs = self.module.inputs, self.module.outputs
            return
        self._transform = None
        if self._semantics.reads == "possibilities":
            self._transform = as_transform(transform).part("torch")
        self.outputs = self.rules.requested_attributes(outputs)
        names = tuple(a.name for a in self.outputs)
        self._parts, self.inputs = world_parts(self.rules, names, self._semantics, largest)
        self._ops: dict[Any, TorchWeights] = {}

    @property
    def possibilistic(self) -> PossibilisticLayer | None:
        """The layer of the possibilistic semantics, None in others."""
        return self.module if isinstance(self.module, PossibilisticLayer) else None

    def forward(self, probabilities: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the possibilities or weights (n, values) of the outputs, by name.

        Parameters
        ----------
        probabilities : by name, tensors (n, values), such as a softmax gives
        """
        if self.module is not None:
            inferred: dict[str, Tensor] = self.module(probabilities)
            return inferred
        degrees = self._degrees(probabilities)
        weights = marginals(self._parts, self._operations(degrees), degrees)
        return {a.name: weights[a.name] for a in self.outputs}

    def as_probabilities(self, outputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the outputs of the layer as probabilities (n, values), by name.

        They are the antipignistic inverse of possibilities, or weights divided by their sum.
        """
        return {name: self.probabilities_of(rows) for name, rows in outputs.items()}

    def probabilities_of(self, rows: Tensor) -> Tensor:
        """Return possibilities or weights (..., values) as probabilities."""
        if self._semantics.reads == "possibilities":
            return antipignistic_inverse(rows)
        return rows / rows.sum(dim=-1, keepdim=True).clamp(min=torch.finfo(rows.dtype).tiny)

    def log_weight(
        self, probabilities: Mapping[str, Tensor], answers: Mapping[str, Tensor]
    ) -> Tensor:
        """Return the logarithm (n,) of the weight of all worlds that agree with all answers.

        In the probabilistic semantics that is the log likelihood. Products are rescaled, in
        float64, so that hundreds of factors do not underflow. It is -inf if no world agrees.

        Parameters
        ----------
        probabilities : as in `forward`
        answers : by name, weights (n, values) of the answers' values: 1 for a right one, else 0
        """
        if self.module is not None:
            raise DomainError(
                f"the {self.semantics} semantics has no weights of worlds: take answer_loss, or "
                "another semantics"
            )
        names = tuple(answers)
        part = joint_part(self.rules, names, self._semantics, self.largest)
        degrees = {name: x.double() for name, x in self._degrees(probabilities).items()}
        ops = self._operations(degrees)
        tensors = [degrees[name] for name in part.given[: len(part.given) - len(names)]]
        scale = ops.semiring.multiplies
        weight, logs = part.run(
            ops, [*tensors, *(answers[name].double() for name in names)], scale=scale
        )
        log: Tensor = weight.log() + logs
        return log.to(next(iter(probabilities.values())).dtype)

    def _degrees(self, probabilities: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the possibilities or probabilities of the inputs, as the semantics needs them."""
        known = checked_inputs(probabilities, self.inputs, self.rules.inputs)
        for name, p in known.items():
            cure = ": apply a softmax to raw scores first"
            check_probability_rows(p, f"the input {name!r}", DegreeError, cure)
        if self._transform is not None:
            return {name: self._transform(p) for name, p in known.items()}
        return {name: p / p.sum(dim=1, keepdim=True) for name, p in known.items()}

    def _operations(self, degrees: Mapping[str, Tensor]) -> "TorchWeights":
        """Return the cached semiring operations for this dtype and device."""
        like = next(iter(degrees.values()))
        key = (like.dtype, like.device)
        if key not in self._ops:
            self._ops[key] = TorchWeights(self._semantics.semiring, *key)
        return self._ops[key]


class TorchWeights:
    """The operations of a semiring on tensors, as `NumpyWeights` has them on arrays."""

    def __init__(self, semiring: Semiring, dtype: torch.dtype, device: torch.device) -> None:
        self.semiring, self._dtype, self._device = semiring, dtype, device
        self._known: dict[
            int, tuple[Any, Tensor]
        ] = {}  # an array is stored so that its id stays unique

    def constant(self, array: FloatArray) -> Tensor:
        """Return a table that does not depend on samples."""
        return self._tensor(array, self._dtype)

    def _tensor(self, array: npt.NDArray[Any], dtype: torch.dtype) -> Tensor:
        if id(array) not in self._known:
            tensor = torch.from_numpy(np.ascontiguousarray(array)).to(self._device, dtype)
            self._known[id(array)] = array, tensor
        return self._known[id(array)][1]

    def times(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the products of the semiring."""
        return x * y if self.semiring.multiplies else torch.minimum(x, y)

    def total(self, x: Tensor) -> Tensor:
        """Return the sum of the semiring along axis 1; tied maxima share the gradient."""
        return x.sum(dim=1) if self.semiring.adds else x.amax(dim=1)

    def take(self, x: Tensor, index: Indices, axis: int) -> Tensor:
        """Return the entries at indices along an axis."""
        return x.index_select(axis, self._tensor(index, torch.int64))

    def group(self, x: Tensor, grouping: Grouping) -> Tensor:
        """Return the sums (n, groups) of the semiring over groups of values (n, values)."""
        of = self._tensor(grouping.of, torch.int64)
        empty = x.new_zeros(len(x), len(grouping.starts))
        if self.semiring.adds:
            return empty.index_add(1, of, x)
        return empty.scatter_reduce(1, of.expand_as(x), x, "amax", include_self=False)

    def permute(self, x: Tensor, axes: Sequence[int]) -> Tensor:
        """Return a tensor with its axes in another order."""
        return x.permute(*axes)

    def rescale(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return weights divided by the maximum of each sample, and the logarithm of that."""
        top = x.detach().reshape(len(x), -1).amax(dim=1)
        top = torch.where(top > 0.0, top, 1.0)
        return x / top.reshape(-1, *[1] * (x.ndim - 1)), top.log()

    def rescale_to_one(self, x: Tensor) -> Tensor:
        """Return weights (n, values) divided by the maximum of each sample, unless it is 0."""
        top = x.amax(dim=1, keepdim=True)
        return x / torch.where(top > 0.0, top, 1.0)
