"""A cascade as a PyTorch layer: gradients of what is inferred, down to the network."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from pinesy._common.masks import positions
from pinesy._common.names import column_slices
from pinesy._common.validation import suggestion
from pinesy.engine.program import Program
from pinesy.exceptions import DegreeError, ShapeError, UnknownAttributeError
from pinesy.nets.differentiable_transforms import (
    antipignistic,
    check_probabilities,
    minimum_specificity,
    with_value,
)
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.transforms import transform_name

TRANSFORMS: dict[str, Callable[[Tensor], Tensor]] = {
    "antipignistic": antipignistic,
    "minimum_specificity": minimum_specificity,
}
#: A proposition: the place of its attribute among the inputs of the set, and its subset.
Place = tuple[int, int]


def _premises(rule_set: RuleSet) -> tuple[tuple[Place, ...], ...]:
    """Return the propositions of each rule."""
    places = {a.name: i for i, a in enumerate(rule_set.inputs)}
    return tuple(
        tuple((places[p.attribute.name], p.mask) for p in rule.premise.propositions)
        for rule in rule_set.rules
    )


def _shape(rule_set: RuleSet) -> Hashable:
    """Return all of a rule set but names and parameters."""
    sizes = tuple(len(a.domain) for a in (*rule_set.inputs, rule_set.output))
    return sizes, _premises(rule_set), tuple(rule.conclusion.mask for rule in rule_set.rules)


def groups_of(order: Sequence[RuleSet]) -> list[list[RuleSet]]:
    """Return rule sets, given in an order of inference, in groups that come after what they use.

    Those of a group have one shape, and do not depend on each other.

    Examples
    --------
    >>> from pinesy.problems import addition, sudoku
    >>> len(groups_of(addition(2).order))
    7
    >>> [len(group) for group in groups_of(sudoku(4).order)]
    [56, 1]
    """
    levels: dict[str, int] = {}
    groups: dict[tuple[int, Hashable], list[RuleSet]] = {}
    for rule_set in order:
        level = 1 + max(levels.get(a.name, 0) for a in rule_set.inputs)
        levels[rule_set.output.name] = level
        groups.setdefault((level, _shape(rule_set)), []).append(rule_set)
    return [groups[key] for key in sorted(groups, key=itemgetter(0))]


class PossibilisticLayer(nn.Module):
    """Infers as `Cascade.infer` does, to the same bits in float64, and has gradients.

    ``pi*(u) = min_j (max(s_j, lambda_j) if u in Q_j else max(r_j, rho_j))``, rule set after rule
    set; those of one shape and depth at one go. Where several degrees attain a minimum or a
    maximum, they share its gradient.

    Parameters
    ----------
    rules : a `Cascade` or a `RuleSet`
    outputs : what is inferred; by default the attributes that no premise uses
    transform : ``"antipignistic"`` or ``"minimum_specificity"`` if the inputs are probabilities
        (such as a softmax gives); by default they are possibilities
    trainable : whether `s` and `r` are parameters of the layer, clamped to [0, 1], or fixed

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
        self.transform = None if transform is None else transform_name(transform)
        program = cascade.compile(outputs)  # checks the names of the outputs
        self.inputs, self.outputs = program.inputs, program.outputs
        groups = groups_of(cascade.needed([a.name for a in self.outputs]))
        self.groups = nn.ModuleList(_GroupLayer(group, trainable) for group in groups)
        self._engine = None if trainable else program

    def forward(self, inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the possibilities (n, values) of the outputs, by name.

        Parameters
        ----------
        inputs : by name, tensors (n, values) of possibilities, or of probabilities if the
            layer has a transformation; the numbers in them are checked only on the processor, and
            degrees only where the engine infers
        """
        values = self._checked(inputs)
        if self.transform is not None:
            for name, tensor in values.items() if self._is_plain(values) else ():
                cure = ": apply a softmax to raw scores first"
                check_probabilities(tensor, f"the input {name!r}", DegreeError, cure)
            change = TRANSFORMS[self.transform]
            values = {name: change(tensor) for name, tensor in values.items()}
        if self._engine is not None and self._is_plain(values):  # the engine is by far the quickest
            joined = torch.cat([values[a.name] for a in self.inputs], dim=1)
            out: Tensor = _EngineFunction.apply(joined, self._engine)  # type: ignore[no-untyped-call]
            return {a.name: out[:, self._engine.code.columns[a.name]] for a in self.outputs}
        for group in self.groups:
            values.update(group(values))
        return {a.name: values[a.name] for a in self.outputs}

    def _is_plain(self, values: Mapping[str, Tensor]) -> bool:
        """Tell whether all is on the processor, and nobody wants to see the single operations."""
        on_processor = all(tensor.device.type == "cpu" for tensor in values.values())
        return on_processor and not torch.compiler.is_compiling()

    def _checked(self, inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
        known = {a.name: a for a in self.rules.inputs}
        for name in inputs:
            if name not in known:
                raise UnknownAttributeError(f"there is no input {name!r}{suggestion(name, known)}")
        for a in self.inputs:
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
        rows = {a.name: len(inputs[a.name]) for a in self.inputs}
        if len(set(rows.values())) > 1:
            least, most = min(rows, key=rows.__getitem__), max(rows, key=rows.__getitem__)
            raise ShapeError(
                f"the inputs have several numbers of rows: {rows[least]} of {least!r}, "
                f"{rows[most]} of {most!r}; give a row for each sample"
            )
        return {a.name: inputs[a.name] for a in self.inputs}

    def learned(self) -> Cascade:
        """Return the cascade with the parameters that the layer has now."""
        parameters: dict[str, Any] = {}
        for group in self.groups:
            parameters.update(group.parameters_by_name())  # type: ignore[operator]
        return self.rules.with_parameters(parameters)


class _EngineFunction(torch.autograd.Function):
    """Hands tensors to the engine, and gradients back."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, program: Program) -> Tensor:
        x = np.ascontiguousarray(inputs.detach().double().numpy())
        ctx.program, ctx.x = program, x
        # Results are copies: those of inputs come back as they were, and parameters are rounded.
        return torch.from_numpy(program.run(x).T.copy()).to(inputs.dtype)

    @staticmethod
    def backward(ctx: Any, given: Tensor) -> tuple[Tensor, None]:
        columns = np.ascontiguousarray(given.double().numpy().T)
        return torch.from_numpy(ctx.program.gradient(ctx.x, columns)).to(given.dtype), None


class _GroupLayer(nn.Module):
    """Infers with rule sets of one shape; G is their number, the last dimension of tensors."""

    columns: Tensor
    table: Tensor
    s: Tensor
    r: Tensor
    signs: Tensor
    cell_of: Tensor

    def __init__(self, group: Sequence[RuleSet], trainable: bool) -> None:
        super().__init__()
        self._names = [rule_set.output.name for rule_set in group]
        self._inputs = [[a.name for a in rule_set.inputs] for rule_set in group]
        self._add_premises(group[0])
        for name in ("s", "r"):
            tensor = torch.from_numpy(np.stack([getattr(one, name) for one in group], axis=1))
            if trainable:
                self.register_parameter(name, nn.Parameter(tensor))
            else:
                self.register_buffer(name, tensor)
        partition = group[0].partition  # of the output domain, the same for all sets
        self.register_buffer("signs", torch.from_numpy(partition.signs.copy())[..., None])
        self.register_buffer("cell_of", torch.from_numpy(partition.cell_of.copy()))

    def _add_premises(self, rule_set: RuleSet) -> None:
        """Keep the columns of each proposition and of its negation, and each rule's propositions.

        Shorter rows are padded: with a column below all degrees, and with a place after the last
        proposition. A proposition without values has only a column of zeros.
        """
        premises = _premises(rule_set)
        place = {p: i for i, p in enumerate(dict.fromkeys(chain.from_iterable(premises)))}
        slices, full = [*column_slices(rule_set.inputs).values()], [a.full for a in rule_set.inputs]
        subsets = [*place, *((i, full[i] & ~mask) for i, mask in place)]
        below = slices[-1].stop
        columns = [[slices[i].start + v for v in positions(mask)] for i, mask in subsets]
        self.register_buffer("columns", _padded((c or [below + 1] for c in columns), below))
        self.register_buffer(
            "table", _padded(([place[p] for p in q] for q in premises), len(place))
        )

    def forward(self, values: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return what the sets of the group infer."""
        each = [torch.cat([values[name] for name in names], dim=1) for names in self._inputs]
        pi = torch.nn.functional.pad(torch.stack(each, dim=2), (0, 0, 0, 1), value=-1.0)
        pi = torch.nn.functional.pad(pi, (0, 0, 0, 1))
        holds, fails = _taken(pi, self.columns).amax(dim=2).chunk(2, dim=1)
        one = holds.new_ones(1).expand(len(holds), 1, holds.shape[2])
        # lambda = min_j pi(p_j), rho = max_j pi(not p_j)  [eq:pinegpiformulae]
        lambdas = _taken(torch.cat([holds, one], dim=1), self.table).amin(dim=2)
        rhos = _taken(torch.cat([fails, 0.0 * one], dim=1), self.table).amax(dim=2)
        s, r = (_unit(z.to(lambdas.dtype)) for z in (self.s, self.r))
        # alpha = max(s, lambda), beta = max(r, rho)  [eq:alphabeta]
        sides = torch.maximum(s, lambdas)[:, None], torch.maximum(r, rhos)[:, None]
        # The min over rules, for each cell of the partition  [eq:redFP]
        cells = torch.where(self.signs, *sides).amin(dim=2)
        return dict(zip(self._names, _taken(cells, self.cell_of).unbind(dim=2), strict=True))

    def parameters_by_name(self) -> dict[str, tuple[Any, Any]]:
        """Return ``(s, r)`` of each set, by its output."""
        s, r = (_unit(z.detach()).double().cpu().numpy() for z in (self.s, self.r))
        return {name: (s[:, i], r[:, i]) for i, name in enumerate(self._names)}


def _padded(rows: Iterable[Sequence[int]], padding: int) -> Tensor:
    """Return rows of places as a table."""
    places = [torch.tensor(row) for row in rows]
    return nn.utils.rnn.pad_sequence(places, batch_first=True, padding_value=padding)


def _taken(tensor: Tensor, places: Tensor) -> Tensor:
    """Return ``tensor[:, places]``; the gradient of `index_select` is the quicker one."""
    chosen = tensor.index_select(1, places.flatten())
    return chosen.reshape(len(tensor), *places.shape, *tensor.shape[2:])


def _unit(z: Tensor) -> Tensor:
    """Return parameters brought into [0, 1]; the gradient is as if they were there already."""
    return with_value(z, z.clamp(0.0, 1.0))
