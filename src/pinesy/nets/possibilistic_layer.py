"""A cascade as a PyTorch layer: gradients of what is inferred, down to the network."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from pinesy._common.masks import mask_table
from pinesy._common.validation import suggestion
from pinesy.engine.program import Program
from pinesy.exceptions import DegreeError, ShapeError, UnknownAttributeError
from pinesy.nets.differentiable_transforms import antipignistic, minimum_specificity
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.transforms import SUM_TOLERANCE, transform_name

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
    ...     if sky in {dark} then rain in {yes} [s=0.5]
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
            if self._is_plain(values):
                _check_probabilities(values)
            change = TRANSFORMS[self.transform]
            values = {name: change(tensor) for name, tensor in values.items()}
        if self._engine is not None and self._is_plain(values):
            return _engine_inference(self._engine, values)
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


def _engine_inference(program: Program, values: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the outputs by name; on processors the engine is by far the quickest."""
    inputs = torch.cat([values[a.name] for a in program.inputs], dim=1)
    out: Tensor = _EngineFunction.apply(inputs, program)  # type: ignore[no-untyped-call]
    return {a.name: out[:, program.code.columns[a.name]] for a in program.outputs}


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


@torch.no_grad()
def _check_probabilities(values: Mapping[str, Tensor]) -> None:
    """Raise `DegreeError` unless all rows are probabilities."""
    for name, tensor in values.items():
        far = (tensor.sum(dim=1) - 1.0).abs()
        if not (tensor.amin() >= 0.0 and far.amax() <= SUM_TOLERANCE):  # NaN is neither
            wrong = (tensor < 0.0).any(dim=1) | ~(far <= SUM_TOLERANCE)
            row = int(wrong.int().argmax())
            raise DegreeError(
                f"the input {name!r}, row {row}, is {tensor[row].tolist()!r:.80}; probabilities "
                f"are at least 0 and sum to 1 (within {SUM_TOLERANCE}): apply a softmax to raw "
                "scores first"
            )


class _GroupLayer(nn.Module):
    """Infers with rule sets of one shape; G is their number, in the last dimension but one."""

    table: Tensor
    s: Tensor
    r: Tensor
    signs: Tensor
    cell_of: Tensor

    def __init__(self, group: Sequence[RuleSet], trainable: bool) -> None:
        super().__init__()
        self._names = [rule_set.output.name for rule_set in group]
        sizes = dict.fromkeys(len(a.domain) for a in group[0].inputs)
        by_size = [_Places(group, size) for size in sizes]
        self.places = nn.ModuleList(by_size)
        order = [p for places in by_size for p in places.propositions]
        self.register_buffer("table", _premise_table(_premises(group[0]), order))
        for name in ("s", "r"):
            tensor = torch.from_numpy(np.stack([getattr(one, name) for one in group], axis=1))
            if trainable:
                self.register_parameter(name, nn.Parameter(tensor))
            else:
                self.register_buffer(name, tensor)
        partition = group[0].partition  # of the output domain, the same for all sets
        self.register_buffer("signs", torch.from_numpy(partition.signs.copy())[..., None])
        self.register_buffer("cell_of", torch.from_numpy(partition.cell_of.copy()))

    def forward(self, values: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return what the sets of the group infer."""
        degrees = [places(values) for places in self.places]
        holds, fails = (torch.cat(part, dim=1) for part in zip(*degrees, strict=True))
        one = holds.new_ones(1).expand(len(holds), 1, holds.shape[2])
        # lambda = min_j pi(p_j), rho = max_j pi(not p_j)  [eq:pinegpiformulae]
        lambdas = _taken(torch.cat([holds, one], dim=1), self.table).amin(dim=2)
        rhos = _taken(torch.cat([fails, 0.0 * one], dim=1), self.table).amax(dim=2)
        s, r = (_unit(z.to(lambdas.dtype)) for z in (self.s, self.r))
        # alpha = max(s, lambda), beta = max(r, rho)  [eq:alphabeta]
        sides = torch.maximum(s, lambdas)[:, None], torch.maximum(r, rhos)[:, None]
        # The min over rules, for each cell of the partition  [eq:redFP]
        cells = torch.where(self.signs, *sides).amin(dim=2)
        each = _taken(cells, self.cell_of).unbind(dim=2)
        return dict(zip(self._names, each, strict=True))

    def parameters_by_name(self) -> dict[str, tuple[Any, Any]]:
        """Return ``(s, r)`` of each set, by its output."""
        s, r = (_unit(z.detach()).double().cpu().numpy() for z in (self.s, self.r))
        return {name: (s[:, i], r[:, i]) for i, name in enumerate(self._names)}


def _premise_table(premises: Iterable[Sequence[Place]], order: list[Place]) -> Tensor:
    """Return where in `order` the propositions of rules are; its length stands for no further."""
    position = {p: i for i, p in enumerate(order)}
    places = [torch.tensor([position[p] for p in premise]) for premise in premises]
    return nn.utils.rnn.pad_sequence(places, batch_first=True, padding_value=len(order))


class _Places(nn.Module):
    """The propositions of a group on inputs with domains of one size."""

    which: Tensor
    subsets: Tensor
    least: Tensor

    def __init__(self, group: Sequence[RuleSet], size: int) -> None:
        super().__init__()
        slots = [i for i, a in enumerate(group[0].inputs) if len(a.domain) == size]
        #: Input by input, its name in each set.
        self._names = [s.inputs[i].name for i in slots for s in group]
        self._form = len(slots), len(group)
        every = dict.fromkeys(chain.from_iterable(_premises(group[0])))
        self.propositions = [p for p in every if p[0] in slots]
        self.register_buffer("which", torch.tensor([slots.index(i) for i, _ in self.propositions]))
        subsets = torch.from_numpy(mask_table(size, [mask for _, mask in self.propositions])).T
        # Values outside a subset do not count: they are below all degrees, unless nothing is in it.
        self.register_buffer("subsets", torch.stack([subsets, ~subsets])[:, :, None])
        empty = ~self.subsets.any(dim=-1, keepdim=True)
        self.register_buffer("least", empty.double() - 1.0)

    def forward(self, values: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Return ``Pi(p)`` and ``Pi(not p)`` of each proposition, of shape (n, propositions, G)."""
        stacked = torch.stack([values[name] for name in self._names], dim=1)
        pi = _taken(stacked.reshape(len(stacked), *self._form, -1), self.which)
        least = self.least.to(pi.dtype)
        holds, fails = (torch.where(self.subsets[i], pi, least[i]).amax(dim=-1) for i in range(2))
        return holds, fails


def _taken(tensor: Tensor, places: Tensor) -> Tensor:
    """Return ``tensor[:, places]``; the gradient of `index_select` is the quicker one."""
    chosen = tensor.index_select(1, places.flatten())
    return chosen.reshape(len(tensor), *places.shape, *tensor.shape[2:])


def _unit(z: Tensor) -> Tensor:
    """Return parameters brought into [0, 1]; the gradient is as if they were there already."""
    return z + (z.clamp(0.0, 1.0) - z).detach()
