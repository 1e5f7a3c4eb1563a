"""Networks that read the inputs of rules: one for each kind of input, of any shape and type."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import Dataset

from pinesy._common.names import by_name
from pinesy._common.validation import listed, suggestion
from pinesy.exceptions import DataError, UnknownAttributeError
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet

#: For a batch, by the names of inputs, what networks read; and by those of outputs the answers.
Batch = tuple[Mapping[str, Tensor], Mapping[str, Any]]


class InputReader(nn.Module):
    """Networks in front of rules: from what is seen of the inputs to their probabilities.

    Parameters
    ----------
    rules : a `Cascade` or a `RuleSet`
    networks : by the names of kinds, networks from tensors ``(n, ...)`` of any shape and type to
        scores ``(n, values)``; one network alone reads all inputs
    kinds : for each input, or its name, the kind that it is; an input that is not there is a kind
        of its own name

    Examples
    --------
    >>> from pinesy import parse
    >>> rules = parse('''
    ...     attribute sky in {clear, dark}
    ...     attribute rain in {no, yes}
    ...     iff sky in {dark} then rain in {yes}
    ... ''')
    >>> reader = InputReader(rules, {"sky": nn.Linear(3, 2)})
    >>> reader({"sky": torch.zeros(5, 3)})["sky"].shape
    torch.Size([5, 2])
    """

    def __init__(
        self,
        rules: Cascade | RuleSet,
        networks: Mapping[str, nn.Module] | nn.Module,
        kinds: Mapping[Any, str] | None = None,
    ) -> None:
        super().__init__()
        self.inputs = as_cascade(rules).inputs
        alone = isinstance(networks, nn.Module) and not isinstance(networks, nn.ModuleDict)
        named: Any = {"": networks} if alone else networks
        given = by_name(kinds or {}, "input")
        self.kinds = {a.name: "" if alone else given.get(a.name, a.name) for a in self.inputs}
        self._check_kinds(given, named)
        self._names = list(named)
        self.networks = nn.ModuleList(named.values())  # a name may be no name of a module

    def _check_kinds(self, given: Mapping[str, str], named: Mapping[str, nn.Module]) -> None:
        for name in given:
            if name not in self.kinds:
                hint = suggestion(name, self.kinds)
                raise UnknownAttributeError(f"kinds: the rules have no input {name!r}{hint}")
        for name, kind in self.kinds.items():
            if kind not in named:
                raise DataError(
                    f"no network reads the input {name!r}, of kind {kind!r}; there are those of "
                    f"{listed(list(named))}"
                )

    def forward(self, seen: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the probabilities (n, values) of each input, by name.

        Parameters
        ----------
        seen : by the names of inputs, tensors ``(n, ...)``; those of one kind have one shape, and
            are read at one go
        """
        found: dict[str, Tensor] = {}
        for kind, network in zip(self._names, self.networks, strict=True):
            names = [a.name for a in self.inputs if self.kinds[a.name] == kind]
            for name in names:
                if not isinstance(seen.get(name), Tensor):
                    raise DataError(f"the samples have no tensor for the input {name!r}")
            if names:
                scores = self._scores(kind, network, [seen[name] for name in names])
                parts = scores.chunk(len(names)) if len(scores) else [scores] * len(names)
                found |= {
                    n: torch.softmax(part, dim=1) for n, part in zip(names, parts, strict=True)
                }
        self._check_fit(found)
        return found

    def _scores(self, kind: str, network: nn.Module, tensors: Sequence[Tensor]) -> Tensor:
        shapes = {tuple(t.shape) for t in tensors}
        called = f"the network of kind {kind!r}" if kind else "the network"
        if len(shapes) > 1:
            several = listed(sorted(map(str, shapes)))
            raise DataError(f"{called} reads inputs of shapes {several}; give one shape")
        joined = torch.cat(list(tensors))
        scores: object = network(joined)
        is_float = isinstance(scores, Tensor) and scores.is_floating_point()
        if isinstance(scores, Tensor) and is_float and scores.shape[:-1] == joined.shape[:1]:
            return scores
        given = tuple(scores.shape) if isinstance(scores, Tensor) else type(scores).__name__
        raise DataError(
            f"{called} gives {given} for inputs of shape {tuple(joined.shape)}; it must give "
            f"scores, float numbers of shape ({len(joined)}, values)"
        )

    def _check_fit(self, found: Mapping[str, Tensor]) -> None:
        for a in self.inputs:
            if (given := found[a.name].shape[1]) != len(a.domain):
                raise DataError(
                    f"the network gives {given} scores for the input {a.name!r}, which has "
                    f"{len(a.domain)} values"
                )


class AnsweredInputs(Dataset[Any]):
    """Samples of inputs of any shape and type, with answers: a data set of PyTorch.

    A sample is a pair of dicts: what is seen of each input, and the answers. Any data set that
    gives such pairs will do in its place, or a `DataLoader` that gives batches of them.

    Parameters
    ----------
    inputs : by the names of inputs, tensors or arrays ``(n, ...)``
    answers : by the names of attributes, the right value of each sample
    """

    def __init__(self, inputs: Mapping[Any, Any], answers: Mapping[Any, Any]) -> None:
        named = by_name(inputs, "input")
        self.inputs = {name: torch.as_tensor(x) for name, x in named.items()}
        self.answers = {
            name: values.tolist() if hasattr(values, "tolist") else list(values)
            for name, values in by_name(answers, "answer").items()
        }
        sizes = {name: len(x) for name, x in [*self.inputs.items(), *self.answers.items()]}
        if not self.inputs or not self.answers or len(set(sizes.values())) != 1:
            raise DataError(
                f"inputs and answers must be of as many samples, and there must be some: {sizes}"
            )

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(next(iter(self.inputs.values())))

    def __getitem__(self, row: int) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return what is seen of one sample, and its answers."""
        seen = {name: x[row] for name, x in self.inputs.items()}
        return seen, {name: values[row] for name, values in self.answers.items()}


def collate(samples: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> Batch:
    """Return samples as a batch: tensors of what is seen, and lists of answers."""
    seen, answers = zip(*samples, strict=True)
    inputs = {name: torch.stack([torch.as_tensor(s[name]) for s in seen]) for name in seen[0]}
    return inputs, {name: [a[name] for a in answers] for name in answers[0]}
