"""A cascade as a PyTorch layer, with gradients of inputs and parameters."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import accumulate
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from pinesy._common.validation import FloatArray, check_known
from pinesy.exceptions import DataError, ShapeError, UnknownAttributeError
from pinesy.nets.differentiable_transforms import (
    checked_probabilities,
    names_by_size,
    replace_value,
)
from pinesy.nets.engine_functions import Engine, infer_columns
from pinesy.nets.rule_set_groups import GroupLayer, group_rule_sets, rule_set_structure
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.transforms import as_transform


class PossibilisticLayer(nn.Module):
    """Infers as `Cascade.infer` does, to the same bits in float64, and has gradients.

    ``pi*(u) = min_j (max(s_j, lambda_j) if u in Q_j else max(r_j, rho_j))`` [eq:redFP], rule set
    after rule set. The gradient of a degree is shared among the inputs and parameters that attain
    it; the shares depend on how the rules are compiled (docs/gradients.md). On the CPU the engine
    does the forward and the backward pass; on other devices, and in compiled or exported graphs,
    rule sets of the same structure and depth are inferred together.

    Parameters
    ----------
    rules : a `Cascade` or a `RuleSet`
    outputs : the attributes to infer; by default those that no premise uses
    transform : ``"antipignistic"`` or ``"minimum_specificity"`` if the inputs are probabilities
        (such as a softmax gives); by default they are possibilities
    trainable : whether `s` and `r` are parameters of the layer, clamped to [0, 1], or fixed

    Attributes
    ----------
    inputs, outputs : the input and output attributes
    s, r : if trainable, the parameters of all rules, in the order of `trained`
    trained : the rule sets whose parameters are trained

    Examples
    --------
    >>> from pinesy import parse
    >>> rules = parse('''
    ...     attribute sky in {clear, dark}
    ...     attribute rain in {no, yes}
    ...     iff sky in {dark} then rain in {yes} [s=0.5]
    ... ''')
    >>> layer = PossibilisticLayer(rules, transform="antipignistic")
    >>> layer({"sky": torch.tensor([[0.9, 0.1]])})["rain"]
    tensor([[1.0000, 0.5000]])
    """

    _fixed: Tensor
    rules_id: Tensor

    def __init__(
        self,
        rules: Cascade | RuleSet,
        outputs: Iterable[str | Attribute] | None = None,
        *,
        transform: str | Callable[..., Any] | None = None,
        trainable: bool = False,
    ) -> None:
        super().__init__()
        self.rules = cascade = as_cascade(rules)
        self.transform: str | None = None
        if transform is not None:
            transformation = as_transform(transform)
            self.transform, self._transform = transformation.name, transformation.part("torch")
        unknown = _placeholders(cascade) if trainable else {}
        program = (cascade.with_parameters(unknown) if trainable else cascade).compile(outputs)
        self.inputs, self.outputs = program.inputs, program.outputs
        needed = cascade.needed([a.name for a in self.outputs])
        self.trained = [rule_set for rule_set in needed if rule_set.output.name in unknown]
        numbers = [np.stack(unknown[rule_set.output.name]) for rule_set in self.trained]
        self._engine = Engine.of(program, np.hstack([np.empty((2, 0)), *numbers]).ravel())
        self._add_parameters(
            [rule_set for rule_set in needed if rule_set.output.name not in unknown]
        )
        self.groups = nn.ModuleList(GroupLayer(g, self._first) for g in group_rule_sets(needed))
        self.register_load_state_dict_pre_hook(_check_state)  # type: ignore[no-untyped-call]

    def _add_parameters(self, fixed: Sequence[RuleSet]) -> None:
        """Register the parameters of all rules, those of trained rule sets first."""
        names = [rule_set.output.name for rule_set in (*self.trained, *fixed)]
        sizes = [len(rule_set) for rule_set in (*self.trained, *fixed)]
        self._first = dict(zip(names, accumulate(sizes, initial=0), strict=False))
        self.register_buffer("_fixed", _parameters(fixed), persistent=False)
        if self.trained:
            self.s, self.r = map(nn.Parameter, _parameters(self.trained))
            self.register_buffer("rules_id", _rules_id(self.trained))

    def forward(self, inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the possibilities (n, values) of the outputs, by name.

        Parameters
        ----------
        inputs : by name, tensors (n, values) of possibilities, or of probabilities if the
            layer has a transformation; probabilities are checked only on the CPU, and degrees only
            where the engine infers
        """
        values = checked_inputs(inputs, self.inputs, self.rules.inputs)
        use_engine = self._can_use_engine(values)
        if self.transform is not None:
            values = self._transform_inputs(values, check=use_engine)
        if use_engine:
            return self._infer_by_engine(values)
        s, r = self._fixed
        if self.trained:
            s, r = torch.cat([_clamp(self.s), s]), torch.cat([_clamp(self.r), r])
        for group in self.groups:
            values.update(group(values, s, r))
        return {a.name: values[a.name] for a in self.outputs}

    def _can_use_engine(self, values: Mapping[str, Tensor]) -> bool:
        """Return whether all tensors are on the CPU, and no graph is compiled."""
        on_cpu = all(tensor.device.type == "cpu" for tensor in values.values())
        return on_cpu and not torch.compiler.is_compiling()

    def _infer_by_engine(self, values: Mapping[str, Tensor]) -> dict[str, Tensor]:
        parameters = torch.cat([_clamp(self.s), _clamp(self.r)]) if self.trained else None
        joined = torch.cat([values[a.name] for a in self.inputs], dim=1)
        out = infer_columns(joined, parameters, self._engine)
        # One split: the gradient of a slice would be as large as the whole tensor.
        parts = torch.split(out, [len(a.domain) for a in self.outputs], dim=1)
        return {a.name: part for a, part in zip(self.outputs, parts, strict=True)}

    def _transform_inputs(self, values: Mapping[str, Tensor], check: bool) -> dict[str, Tensor]:
        """Return the possibilities of probabilities; domains of the same size are stacked."""
        degrees: dict[str, Tensor] = {}
        for names in names_by_size(values):
            rows = torch.stack([values[name] for name in names], dim=1)
            rows = checked_probabilities(rows, names) if check else rows
            possible = self._transform(rows)
            degrees.update(zip(names, possible.unbind(dim=1), strict=True))
        return degrees

    @torch.no_grad()
    def project(self) -> None:
        """Clamp the trainable parameters to [0, 1]; call it after each step of an optimiser.

        Outside [0, 1] they count as 0 or 1, but keep their gradient: without clamping they could
        drift far outside, and take many steps to return.
        """
        for parameter in self.parameters():
            parameter.clamp_(0.0, 1.0)

    def learned(self) -> Cascade:
        """Return the cascade with the current parameters of the layer."""
        if not self.trained:
            return self.rules
        s, r = (_clamp(z.detach()).double().cpu().numpy() for z in (self.s, self.r))
        return self.rules.with_parameters(
            {
                name: (s[first : first + len(rule_set)], r[first : first + len(rule_set)])
                for rule_set in self.trained
                for name, first in [(rule_set.output.name, self._first[rule_set.output.name])]
            }
        )


def checked_inputs(
    inputs: Mapping[str, Tensor], needed: Sequence[Attribute], known: Sequence[Attribute]
) -> dict[str, Tensor]:
    """Return the tensors (n, values) of the inputs that a layer needs, or raise an error.

    Inputs of the rules that the layer does not need, but which are `known`, are ignored.
    """
    names = dict.fromkeys(a.name for a in known)
    for name in inputs:
        check_known(name, names, f"there is no input {name!r}")
    for a in needed:
        if a.name not in inputs:
            raise UnknownAttributeError(f"the input {a.name!r} is missing; the layer needs it")
        if not isinstance(inputs[a.name], Tensor):
            kind = type(inputs[a.name]).__name__
            raise ShapeError(f"the input {a.name!r} is of type {kind}; give a tensor")
        shape, size = tuple(inputs[a.name].shape), len(a.domain)
        if len(shape) != 2 or shape[1] != size:
            raise ShapeError(
                f"the input {a.name!r} has shape {shape}; it must be (n, {size}), a column for "
                "each value"
            )
    rows = {a.name: inputs[a.name].shape[0] for a in needed}  # len() would fix a graph's
    first = needed[0].name
    for name, n in rows.items():
        if n != rows[first]:
            raise ShapeError(
                f"the inputs have several numbers of rows: {rows[first]} of {first!r}, {n} of "
                f"{name!r}; give a row for each sample"
            )
    return {a.name: inputs[a.name] for a in needed}


def _placeholders(cascade: Cascade) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Return placeholders `s` and `r` for the parameters of each rule set, by output.

    They identify the constants of a program: all differ, and none is 0 or 1, so that the program is
    correct for any parameters. The rules of formulas have no parameters.
    """
    rule_sets = [rule_set for rule_set in cascade.order if rule_set.output.formula is None]
    lengths = np.repeat([len(rule_set) for rule_set in rule_sets], 2)
    n = int(lengths.sum())
    numbers = iter(np.split(np.arange(1, n + 1) / (n + 1), np.cumsum(lengths)))
    return {rule_set.output.name: (next(numbers), next(numbers)) for rule_set in rule_sets}


def _parameters(rule_sets: Sequence[RuleSet]) -> Tensor:
    """Return the concatenated `s` and `r` of rule sets as a tensor (2, rules)."""
    pairs = [np.stack([rule_set.s, rule_set.r]) for rule_set in rule_sets]
    return torch.from_numpy(np.concatenate([np.empty((2, 0)), *pairs], axis=1))


def _clamp(z: Tensor) -> Tensor:
    """Return parameters clamped to [0, 1], with the gradient of the identity."""
    return replace_value(z, z.clamp(0.0, 1.0))


def _rules_id(rule_sets: Sequence[RuleSet]) -> Tensor:
    """Return a hash of the structure and names of rule sets, without their parameters."""
    structure = [
        (s.output.name, [a.name for a in s.inputs], rule_set_structure(s)) for s in rule_sets
    ]
    return torch.tensor(int.from_bytes(sha256(repr(structure).encode()).digest()[:7]))


def _check_state(layer: PossibilisticLayer, state: Mapping[str, Any], prefix: str, *_: Any) -> None:
    """Raise `DataError` for the state dict of a layer of other rules, before it is loaded."""
    if any(key.startswith(f"{prefix}groups.") for key in state):
        raise DataError(
            "the state is that of a PossibilisticLayer of an earlier version, which held the "
            "structure of its rules; make a new layer, and train or set its parameters again"
        )
    saved_id = state.get(f"{prefix}rules_id")
    if saved_id is not None and not layer.trained:
        raise DataError(
            "the state holds trained parameters of rules, but those of this PossibilisticLayer are "
            "fixed; make it with trainable=True"
        )
    if saved_id is not None and not torch.equal(saved_id.cpu(), layer.rules_id.cpu()):
        saved, expected = len(state.get(f"{prefix}s", ())), len(layer.s)
        raise DataError(
            f"the state is that of a PossibilisticLayer of other rules ({saved} in number, here "
            f"{expected}); load it into a layer of the rules that it was saved with"
        )
