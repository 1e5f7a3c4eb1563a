"""Rule sets in operations of PyTorch, for other devices and for graphs that are compiled.

Rule sets of one shape are inferred together, and nothing of the size of samples times cells times
rules is ever formed.
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

#: The operands a sample that are brought together at a time.
OPERANDS = 4096
#: Beyond all degrees: what fills up short rows never attains a maximum or minimum.
BELOW, ABOVE = -1.0, 2.0


def rule_set_structure(rule_set: RuleSet) -> Hashable:
    """Return all of a rule set but names and parameters."""
    kind = rule_set.unit.structure(set())
    return (*kind.sizes, kind.output_size), kind.premises, kind.conclusions


def grouped_rule_sets(order: Sequence[RuleSet]) -> list[list[RuleSet]]:
    """Return rule sets, given in an order of inference, in groups that come after what they use.

    Those of a group have one shape, and do not depend on each other.

    Examples
    --------
    >>> from pinesy.problems import addition, sudoku
    >>> len(grouped_rule_sets(addition(2).order))
    7
    >>> [len(group) for group in grouped_rule_sets(sudoku(4).order)]
    [56, 1]
    """
    levels: dict[str, int] = {}
    groups: dict[tuple[int, Hashable], list[RuleSet]] = {}
    for rule_set in order:
        level = 1 + max(levels.get(a.name, 0) for a in rule_set.inputs)
        levels[rule_set.output.name] = level
        groups.setdefault((level, rule_set_structure(rule_set)), []).append(rule_set)
    return [groups[key] for key in sorted(groups, key=itemgetter(0))]


class GroupLayer(nn.Module):
    """Infers with a group of rule sets of one shape; G is their number, the last dimension.

    The parameters of a set begin, among all, at the `first` of its output's name.
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
        self._keep("sides", torch.where(signs, rules, rules + n))
        self._keep("cell_of", torch.from_numpy(partition.cell_of.copy()))
        starts = torch.tensor([first[name] for name in self._names])
        self._keep("parameters_at", rules[:, None] + starts)

    def _keep(self, name: str, tensor: Tensor) -> None:
        """Hold what follows from the rules: it goes to other devices, but is no state."""
        self.register_buffer(name, tensor, persistent=False)

    def _add_premises(self, rule_set: RuleSet) -> None:
        """Keep the columns of each proposition and of its negation, and each rule's propositions.

        Shorter rows are filled up with the index after the last one. A proposition without values
        has only a column of zeros, one with all values only a column of ones.
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
        self._keep("columns", _padded(columns, zero + 2))
        self._keep("premises", _padded(([index_of[p] for p in q] for q in premises), len(index_of)))

    def forward(self, values: Mapping[str, Tensor], s: Tensor, r: Tensor) -> dict[str, Tensor]:
        """Return what the sets of the group infer, with the parameters of all rules."""
        inputs = [torch.cat([values[name] for name in names], dim=1) for names in self._inputs]
        pi = _filled(_filled(torch.stack(inputs, dim=2), 0.0), 1.0)
        holds, fails = row_extremes(_filled(pi, BELOW), self.columns, True).chunk(2, dim=1)
        # lambda = min_j pi(p_j), rho = max_j pi(not p_j)  [eq:pinegpiformulae]
        lambdas = row_extremes(_filled(holds, ABOVE), self.premises, False)
        rhos = row_extremes(_filled(fails, BELOW), self.premises, True)
        # alpha = max(s, lambda), beta = max(r, rho)  [eq:alphabeta]
        alphas = torch.maximum(s[self.parameters_at].to(lambdas.dtype), lambdas)
        betas = torch.maximum(r[self.parameters_at].to(lambdas.dtype), rhos)
        # The min over rules, for each cell of the partition  [eq:redFP]
        cells = row_extremes(torch.cat([alphas, betas], dim=1), self.sides, False)
        degrees = cells.index_select(1, self.cell_of)
        return dict(zip(self._names, degrees.unbind(dim=2), strict=True))


def _filled(tensor: Tensor, value: float) -> Tensor:
    """Return a tensor (n, k, G) with one more column, of one value."""
    return nn.functional.pad(tensor, (0, 0, 0, 1), value=value)


def _padded(index_rows: Iterable[Sequence[int]], padding: int) -> Tensor:
    """Return rows of indices as a table."""
    rows = [torch.tensor(row) for row in index_rows]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=padding)


def row_extremes(x: Tensor, indices: Tensor, largest: bool) -> Tensor:
    """Return ``y[:, i] = max_j x[:, indices[i, j]]`` (n, rows, G), or the min if not `largest`.

    Operands that attain it share its gradient evenly. Memory: some of the rows' operands at a time,
    forwards and backwards, where they are brought together again.
    """
    y: Tensor = _RowExtremes.apply(x, indices, largest)  # type: ignore[no-untyped-call]
    return y


class _RowExtremes(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, indices: Tensor, largest: bool) -> Tensor:
        best = torch.amax if largest else torch.amin
        y = x.new_empty((x.shape[0], indices.shape[0], x.shape[2]))
        for part in _parts(x, indices):  # a list of results would lie between freed operands
            y[:, part] = best(_taken(x, indices[part]), dim=2)
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
        for part in _parts(x, indices):
            attains = _taken(x, indices[part]) == y[:, part, None]
            share = gradient[:, part] / attains.sum(dim=2)
            shares = torch.where(attains, share[:, :, None], 0.0).flatten(1, 2)
            grad = grad.index_add(1, indices[part].flatten(), shares)
        return grad, None, None

    @staticmethod
    def jvp(ctx: Any, dx: Tensor, _indices: None, _largest: None) -> Tensor:
        x, indices, y = ctx.saved_tensors
        changes = []
        for part in _parts(x, indices):
            attains = _taken(x, indices[part]) == y[:, part, None]
            change = torch.where(attains, _taken(dx, indices[part]), 0.0).sum(dim=2)
            changes.append(change / attains.sum(dim=2))
        return torch.cat(changes, dim=1)


def _parts(x: Tensor, indices: Tensor) -> Iterator[slice]:
    """Yield the rows of `indices` that are looked at together, whatever the number of samples."""
    rows = max(1, OPERANDS // (indices.shape[1] * x.shape[2]))
    for start in range(0, len(indices), rows):
        yield slice(start, start + rows)


def _taken(tensor: Tensor, indices: Tensor) -> Tensor:
    """Return ``tensor[:, indices]``; the gradient of `index_select` is the quicker one."""
    selected = tensor.index_select(1, indices.flatten())
    return selected.reshape(tensor.shape[0], *indices.shape, *tensor.shape[2:])
