"""A cascade as a PyTorch layer: gradients of what is inferred, down to the network."""

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
    same_sizes,
    with_value,
)
from pinesy.nets.engine_functions import Engine, infer_columns
from pinesy.nets.rule_set_groups import GroupLayer, grouped_rule_sets, rule_set_structure
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.transforms import as_transform


class PossibilisticLayer(nn.Module):
    """Infers as `Cascade.infer` does, to the same bits in float64, and has gradients.

    ``pi*(u) = min_j (max(s_j, lambda_j) if u in Q_j else max(r_j, rho_j))`` [eq:redFP], rule set
    after rule set. The gradient of a degree is spread over inputs and parameters that are equal to
    it; how it is shared among several depends on how the rules are compiled (docs/gradients.md). On
    the processor the engine infers and goes back; on other devices, and in graphs that are compiled
    or exported, rule sets of one shape and depth are inferred at one go.

    Parameters
    ----------
    rules : a `Cascade` or a `RuleSet`
    outputs : what is inferred; by default the attributes that no premise uses
    transform : ``"antipignistic"`` or ``"minimum_specificity"`` if the inputs are probabilities
        (such as a softmax gives); by default they are possibilities
    trainable : whether `s` and `r` are parameters of the layer, clamped to [0, 1], or fixed

    Attributes
    ----------
    inputs, outputs : the attributes that it takes and gives
    s, r : if it is trainable, the parameters of all rules, in the order of `trained`
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
        unknown = _unknowns(cascade) if trainable else {}
        program = (cascade.with_parameters(unknown) if trainable else cascade).compile(outputs)
        self.inputs, self.outputs = program.inputs, program.outputs
        needed = cascade.needed([a.name for a in self.outputs])
        self.trained = [rule_set for rule_set in needed if rule_set.output.name in unknown]
        numbers = [np.stack(unknown[rule_set.output.name]) for rule_set in self.trained]
        self._engine = Engine.of(program, np.hstack([np.empty((2, 0)), *numbers]).ravel())
        self._add_parameters(
            [rule_set for rule_set in needed if rule_set.output.name not in unknown]
        )
        self.groups = nn.ModuleList(GroupLayer(g, self._first) for g in grouped_rule_sets(needed))
        self.register_load_state_dict_pre_hook(_check_state)  # type: ignore[no-untyped-call]

    def _add_parameters(self, fixed: Sequence[RuleSet]) -> None:
        """Keep the parameters of all rules, of the trained ones first."""
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
            layer has a transformation; the numbers in them are checked only on the processor, and
            degrees only where the engine infers
        """
        values = checked_inputs(inputs, self.inputs, self.rules.inputs)
        on_processor = self._is_plain(values)
        if self.transform is not None:
            values = self._transformed(values, on_processor)
        if on_processor:
            return self._by_engine(values)
        s, r = self._all_parameters()
        for group in self.groups:
            values.update(group(values, s, r))
        return {a.name: values[a.name] for a in self.outputs}

    def _by_engine(self, values: Mapping[str, Tensor]) -> dict[str, Tensor]:
        parameters = torch.cat([_unit(self.s), _unit(self.r)]) if self.trained else None
        joined = torch.cat([values[a.name] for a in self.inputs], dim=1)
        out = infer_columns(joined, parameters, self._engine)
        # Split at one go: the gradient of a slice is as large as what it was taken from.
        parts = torch.split(out, [len(a.domain) for a in self.outputs], dim=1)
        return {a.name: part for a, part in zip(self.outputs, parts, strict=True)}

    def _all_parameters(self) -> tuple[Tensor, Tensor]:
        """Return `s` and `r` of all rules, as groups count them."""
        s, r = self._fixed
        if not self.trained:
            return s, r
        return torch.cat([_unit(self.s), s]), torch.cat([_unit(self.r), r])

    def _transformed(self, values: Mapping[str, Tensor], check: bool) -> dict[str, Tensor]:
        """Return possibilities for probabilities, domains of one size together."""
        degrees: dict[str, Tensor] = {}
        for names in same_sizes(values):
            rows = torch.stack([values[name] for name in names], dim=1)
            rows = checked_probabilities(rows, names) if check else rows
            possible = self._transform(rows)
            degrees.update(zip(names, possible.unbind(dim=1), strict=True))
        return degrees

    def _is_plain(self, values: Mapping[str, Tensor]) -> bool:
        """Return whether all tensors are on the processor, and no graph is compiled."""
        on_processor = all(tensor.device.type == "cpu" for tensor in values.values())
        return on_processor and not torch.compiler.is_compiling()

    @torch.no_grad()
    def project(self) -> None:
        """Bring the trainable parameters back into [0, 1]; call it after each step of an optimiser.

        Outside they count as 0 or 1, but their gradient goes on: where most samples push the same
        way they would drift off, and not find back for the others.
        """
        for parameter in self.parameters():
            parameter.clamp_(0.0, 1.0)

    def learned(self) -> Cascade:
        """Return the cascade with the parameters that the layer has now."""
        if not self.trained:
            return self.rules
        s, r = (_unit(z.detach()).double().cpu().numpy() for z in (self.s, self.r))
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

    All inputs of the rules, which are `known`, may be there too.
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


def _unknowns(cascade: Cascade) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Return numbers in the place of all parameters, by which a program's constants are known.

    They all differ, and none is 0 or 1, so that the program is right for any parameters. The rules
    of formulas have no parameters to set.
    """
    rule_sets = [rule_set for rule_set in cascade.order if rule_set.output.formula is None]
    lengths = np.repeat([len(rule_set) for rule_set in rule_sets], 2)
    n = int(lengths.sum())
    numbers = iter(np.split(np.arange(1, n + 1) / (n + 1), np.cumsum(lengths)))
    return {rule_set.output.name: (next(numbers), next(numbers)) for rule_set in rule_sets}


def _parameters(rule_sets: Sequence[RuleSet]) -> Tensor:
    """Return `s` and `r` (2, rules) of rule sets, one after the other."""
    pairs = [np.stack([rule_set.s, rule_set.r]) for rule_set in rule_sets]
    return torch.from_numpy(np.concatenate([np.empty((2, 0)), *pairs], axis=1))


def _unit(z: Tensor) -> Tensor:
    """Return parameters brought into [0, 1]; the gradient is as if they were there already."""
    return with_value(z, z.clamp(0.0, 1.0))


def _rules_id(rule_sets: Sequence[RuleSet]) -> Tensor:
    """Return a number that other rules than these do not have, whatever their parameters."""
    structure = [
        (s.output.name, [a.name for a in s.inputs], rule_set_structure(s)) for s in rule_sets
    ]
    return torch.tensor(int.from_bytes(sha256(repr(structure).encode()).digest()[:7]))


def _check_state(layer: PossibilisticLayer, state: Mapping[str, Any], prefix: str, *_: Any) -> None:
    """Refuse the state of a layer of other rules, before anything of it is taken."""
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
