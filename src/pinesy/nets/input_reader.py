"""Networks that read the inputs of rules: one for each kind of input, of any shape and type."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from pinesy._common.names import by_name
from pinesy._common.validation import FloatArray, check_known, listed
from pinesy.exceptions import DataError, DomainError
from pinesy.nets.networks import device_of, predicting
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
            check_known(name, self.kinds, f"kinds: the rules have no input {name!r}")
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
                p = torch.softmax(scores, dim=1)
                parts = p.chunk(len(names)) if len(p) else [p] * len(names)
                found |= dict(zip(names, parts, strict=True))
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

    @property
    def network(self) -> nn.Module:
        """The network, if there is only one."""
        if len(self.networks) > 1:
            several = listed(self._names)
            raise DomainError(f"there are networks of several kinds, {several}; see by_kind()")
        return self.networks[0]

    def by_kind(self) -> dict[str, tuple[nn.Module, list[str]]]:
        """Return by kind the network and the names of the inputs that it reads."""
        return {
            kind: (network, [name for name, of in self.kinds.items() if of == kind])
            for kind, network in zip(self._names, self.networks, strict=True)
        }

    def over(self, other: Cascade | RuleSet) -> "InputReader":
        """Return a reader for other rules, with the same networks: what one learns, both have.

        An input of the other rules is of the kind that it has here, or else of its own name; one
        network alone reads all.
        """
        inputs = as_cascade(other).inputs
        if inputs == self.inputs:
            return self
        if self._names == [""]:
            return InputReader(other, self.networks[0])
        kinds = {a.name: self.kinds.get(a.name, a.name) for a in inputs}
        return InputReader(other, dict(zip(self._names, self.networks, strict=True)), kinds)

    def predict_proba(self, seen: Mapping[str, Tensor], batch: int = 1000) -> dict[str, FloatArray]:
        """Return the probabilities of each input, by name, as arrays (n, values) of float64.

        Networks are used without dropout, `batch` samples at a time; their mode is not changed.
        """
        device, n = device_of(self), len(next(iter(seen.values())))
        with predicting(self):
            parts = [
                self({name: x[i : i + batch].to(device) for name, x in seen.items()})
                for i in range(0, n, batch)
            ]
        return {
            a.name: np.concatenate([part[a.name].double().cpu().numpy() for part in parts])
            for a in self.inputs
        }
