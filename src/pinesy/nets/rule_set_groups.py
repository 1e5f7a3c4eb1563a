"""Rule sets as PyTorch operations, for GPUs and for compiled graphs.

Rule sets of the same structure are inferred together, without any tensor of the size of samples
times cells times rules.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function

from pinesy._common.masks import positions
from pinesy._common.names import column_slices
from pinesy.rulebase.rule_set import RuleSet

#: The number of operands of a sample that are gathered at a time.
OPERANDS = 4096
#: Outside [0, 1]: the padding of short rows never attains a maximum or minimum.
BELOW, ABOVE = -1.0, 2.0


def rule_set_structure(rule_set: RuleSet) -> Hashable:
    """Return the structure of a rule set: sizes, premises and conclusions, without names."""
    kind = rule_set.unit.structure(set())
    return (*kind.sizes, kind.output_size), kind.premises, kind.conclusions


def group_rule_sets(order: Sequence[RuleSet]) -> list[list[RuleSet]]:
    """Group rule sets that have the same structure and do not depend on each other.

    Rule sets are in an order of inference, and so are the groups that are returned.

    Examples
    --------
    >>> from pinesy.problems import addition, sudoku
    >>> len(group_rule_sets(addition(2).order))
    7
    >>> [len(group) for group in group_rule_sets(sudoku(4).order)]
    [56, 1]
    """
    depths: dict[str, int] = {}
    groups: dict[tuple[int, Hashable], list[RuleSet]] = {}
    for rule_set in order:
        depth = 1 + max(depths.get(a.name, 0) for a in rule_set.inputs)
        depths[rule_set.output.name] = depth
        groups.setdefault((depth, rule_set_structure(rule_set)), []).append(rule_set)
    return [groups[key] for key in sorted(groups, key=itemgetter(0))]


class GroupLayer(nn.Module):
    """Infers with a group of G rule sets of the same structure; G is the last dimension of tensors.

    Parameters
    ----------
    group : the rule sets
    first : by the name of a set's output, the index of its first rule among all parameters
    """

    columns: Tensor
    premises: Tensor
    sides: Tensor
    cell_of: Tensor
    parameters_at: Tensor

    def __init__(self, group: Sequence[RuleSet], first: Mapping[str, int]) -> None:
        super().__init__()
        self._names = [rule_set.output.name for rule_set in group]
        self._inputs = [[a.name for a in rule_set.inputs] for rule_set in group]
        self._add_premises(group[0])
        partition, n = group[0].partition, len(group[0].rules)  # the same for all sets
        signs, rules = torch.from_numpy(partition.signs.copy()), torch.arange(n)
        self._add_buffer("sides", torch.where(signs, rules, rules + n))
        self._add_buffer("cell_of", torch.from_numpy(partition.cell_of.copy()))
        starts = torch.tensor([first[name] for name in self._names])
        self._add_buffer("parameters_at", rules[:, None] + starts)

    def _add_buffer(self, name: str, tensor: Tensor) -> None:
        """Register a buffer that moves to other devices but is not in the state dict."""
        self.register_buffer(name, tensor, persistent=False)

    def _add_premises(self, rule_set: RuleSet) -> None:
        """Register the columns of each proposition and its negation, and each rule's propositions.

        Short rows are padded with the index after the last one. A proposition without values has
        only a column of zeros, one with all values only a column of ones.
        """
        premises = rule_set.unit.structure(set()).premises
        index_of = {p: i for i, p in enumerate(dict.fromkeys(chain.from_iterable(premises)))}
        slices, full = [*column_slices(rule_set.inputs).values()], [a.full for a in rule_set.inputs]
        subsets = [*index_of, *((i, full[i] & ~mask) for i, mask in index_of)]
        zero = slices[-1].stop
        columns = [
            [zero + (mask != 0)]
            if mask in (0, full[i])
            else [slices[i].start + v for v in positions(mask)]
            for i, mask in subsets
        ]
        self._add_buffer("columns", _pad_rows(columns, zero + 2))
        self._add_buffer(
            "premises", _pad_rows(([index_of[p] for p in q] for q in premises), len(index_of))
        )

    def forward(self, values: Mapping[str, Tensor], s: Tensor, r: Tensor) -> dict[str, Tensor]:
        """Return the degrees that the sets infer, by output, given `s` and `r` of all rules."""
        inputs = [torch.cat([values[name] for name in names], dim=1) for names in self._inputs]
        pi = _append_column(_append_column(torch.stack(inputs, dim=2), 0.0), 1.0)
        holds, fails = row_extremes(_append_column(pi, BELOW), self.columns, True).chunk(2, dim=1)
        # lambda = min_j pi(p_j), rho = max_j pi(not p_j)  [eq:pinegpiformulae]
        lambdas = row_extremes(_append_column(holds, ABOVE), self.premises, False)
        rhos = row_extremes(_append_column(fails, BELOW), self.premises, True)
        # alpha = max(s, lambda), beta = max(r, rho)  [eq:alphabeta]
        alphas = torch.maximum(s[self.parameters_at].to(lambdas.dtype), lambdas)
        betas = torch.maximum(r[self.parameters_at].to(lambdas.dtype), rhos)
        # The min over rules, for each cell of the partition  [eq:redFP]
        cells = row_extremes(torch.cat([alphas, betas], dim=1), self.sides, False)
        degrees = cells.index_select(1, self.cell_of)
        return dict(zip(self._names, degrees.unbind(dim=2), strict=True))


def _append_column(tensor: Tensor, value: float) -> Tensor:
    """Return a tensor (n, k, G) with one more column, filled with a value."""
    return nn.functional.pad(tensor, (0, 0, 0, 1), value=value)


def _pad_rows(index_rows: Iterable[Sequence[int]], padding: int) -> Tensor:
    """Return rows of indices of different lengths as a padded tensor."""
    rows = [torch.tensor(row) for row in index_rows]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=padding)


def row_extremes(x: Tensor, indices: Tensor, largest: bool) -> Tensor:
    """Return ``y[:, i] = max_j x[:, indices[i, j]]`` (n, rows, G), or the min if not `largest`.

    Operands that attain it share its gradient evenly. Memory: operands of some rows are gathered at
    a time, and gathered again in the backward pass.
    """
    y: Tensor = _RowExtremes.apply(x, indices, largest)  # type: ignore[no-untyped-call]
    return y


class _RowExtremes(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, indices: Tensor, largest: bool) -> Tensor:
        best = torch.amax if largest else torch.amin
        y = x.new_empty((x.shape[0], indices.shape[0], x.shape[2]))
        for part in _row_slices(x, indices):  # a list of results would fragment memory
            y[:, part] = best(_gather(x, indices[part]), dim=2)
        return y

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        x, indices, _ = inputs
        ctx.save_for_backward(x, indices, output)
        ctx.save_for_forward(x, indices, output)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        x, indices, y = ctx.saved_tensors
        grad = torch.zeros_like(x)
        for part in _row_slices(x, indices):
            attains = _gather(x, indices[part]) == y[:, part, None]
            share = gradient[:, part] / attains.sum(dim=2)
            shares = torch.where(attains, share[:, :, None], 0.0).flatten(1, 2)
            grad = grad.index_add(1, indices[part].flatten(), shares)
        return grad, None, None

    @staticmethod
    def jvp(ctx: Any, dx: Tensor, _indices: None, _largest: None) -> Tensor:
        x, indices, y = ctx.saved_tensors
        changes = []
        for part in _row_slices(x, indices):
            attains = _gather(x, indices[part]) == y[:, part, None]
            change = torch.where(attains, _gather(dx, indices[part]), 0.0).sum(dim=2)
            changes.append(change / attains.sum(dim=2))
        return torch.cat(changes, dim=1)


def _row_slices(x: Tensor, indices: Tensor) -> Iterator[slice]:
    """Yield slices of the rows of `indices` whose operands are gathered together."""
    rows = max(1, OPERANDS // (indices.shape[1] * x.shape[2]))
    for start in range(0, len(indices), rows):
        yield slice(start, start + rows)


def _gather(tensor: Tensor, indices: Tensor) -> Tensor:
    """Return ``tensor[:, indices]``; the gradient of `index_select` is faster."""
    selected = tensor.index_select(1, indices.flatten())
    return selected.reshape(tensor.shape[0], *indices.shape, *tensor.shape[2:])
