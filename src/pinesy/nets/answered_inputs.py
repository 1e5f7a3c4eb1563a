"""Samples with answers as PyTorch data sets, and the networks that read their inputs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, IterableDataset

from pinesy._common.names import by_name
from pinesy._common.validation import FloatArray, check_known, listed
from pinesy.exceptions import DataError, DomainError
from pinesy.nets.answer_losses import answer_indices
from pinesy.nets.checkpoints import data_fingerprint
from pinesy.nets.networks import evaluation_mode, scores_of
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet

#: A batch: by the names of inputs the tensors that networks read, and by attribute the answers.
Batch = tuple[Mapping[str, Tensor], Mapping[str, Any]]


class AnsweredInputs(Dataset[Any]):
    """Samples of inputs of any shape and type, with answers: a data set of PyTorch.

    A sample is a pair of dicts: the tensor of each input, and the answers. Any data set of such
    pairs can take its place, or a `DataLoader` of batches of them.

    Parameters
    ----------
    inputs : by the names of inputs, tensors or arrays ``(n, ...)``
    answers : by the names of attributes, the right value of each sample, None where nobody knows
        it. An answer for an input is its label.

    Examples
    --------
    >>> samples = AnsweredInputs({"sky": torch.zeros(3, 2)}, {"rain": ["no", "yes", None]})
    >>> len(samples)
    3
    """

    def __init__(self, inputs: Mapping[Any, Any], answers: Mapping[Any, Any]) -> None:
        arrays = by_name(inputs, "input")
        self.inputs = {name: torch.as_tensor(x) for name, x in arrays.items()}
        self.answers = {name: _values(v) for name, v in by_name(answers, "answer").items()}
        sizes = {f"input {name}": len(x) for name, x in self.inputs.items()}
        sizes |= {f"answer {name}": len(values) for name, values in self.answers.items()}
        if not self.inputs or not self.answers or len(set(sizes.values())) != 1:
            raise DataError(
                f"inputs and answers must be of as many samples, and there must be some: {sizes}"
            )

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(next(iter(self.inputs.values())))

    def __getitem__(self, row: int) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return the inputs of one sample, and its answers."""
        inputs = {name: x[row] for name, x in self.inputs.items()}
        return inputs, {name: values[row] for name, values in self.answers.items()}

    def __getitems__(self, rows: list[int]) -> Any:
        """Return a batch."""
        inputs = {name: x[rows] for name, x in self.inputs.items()}
        return inputs, {name: [v[row] for row in rows] for name, v in self.answers.items()}

    @property
    def fingerprint(self) -> str:
        """A hash of the inputs and answers."""
        text = repr((list(self.inputs), self.answers))
        return data_fingerprint(text, *(x.cpu().numpy() for x in self.inputs.values()))


def check_samples(rules: Cascade, data: Any) -> None:
    """Raise an error for samples in memory with unknown inputs or answers outside the domains."""
    if not isinstance(data, AnsweredInputs):
        return
    names = dict.fromkeys(a.name for a in rules.inputs)
    for name in data.inputs:
        check_known(name, names, f"inputs: the rules have no input {name!r}")
    answer_indices(data.answers, rules.attributes, rules.attributes, len(data))


def _values(values: Any) -> list[Any]:
    """Return a list with the value of each sample; values of products become tuples."""
    listed = values.tolist() if hasattr(values, "tolist") else list(values)
    return [tuple(v) if isinstance(v, list) else v for v in listed]


def collate(samples: Any) -> Batch:
    """Return samples as a batch: tensors of the inputs, and lists of answers."""
    if isinstance(samples, tuple):  # a batch already
        return samples[0], samples[1]
    inputs_of_samples, answers = zip(*samples, strict=True)
    inputs = {
        name: torch.stack([torch.as_tensor(s[name]) for s in inputs_of_samples])
        for name in inputs_of_samples[0]
    }
    return inputs, {name: [a[name] for a in answers] for name in answers[0]}


def loader(data: Any, batch: int, shuffle: bool) -> DataLoader[Any]:
    """Return a `DataLoader` of a data set; a `DataLoader` is returned unchanged."""
    if isinstance(data, DataLoader):
        return data
    if isinstance(data, IterableDataset):  # it has its own order
        return DataLoader(data, batch, collate_fn=collate)
    if not hasattr(data, "__getitem__") or not hasattr(data, "__len__"):
        raise DataError(
            f"the data are a {type(data).__name__}; give a Dataset or a DataLoader of PyTorch"
        )
    if not len(data):
        raise DataError("the data set is empty; give at least one sample")
    return DataLoader(data, batch, shuffle=shuffle, collate_fn=collate)


def checked_batches(batches: Iterable[Any], source: str) -> Iterator[Batch]:
    """Yield batches, or raise `DataError` if there are none, or one is no pair of dicts."""
    is_empty = True
    for batch in batches:
        is_pair = isinstance(batch, tuple | list) and len(batch) == 2
        if not is_pair or not all(isinstance(part, Mapping) and part for part in batch):
            raise DataError(
                f"{source} gives {batch!r:.60}; a batch is a pair of dicts, what is seen of each "
                "input and the answers"
            )
        is_empty = False
        yield batch[0], batch[1]
    if is_empty:
        raise DataError(f"{source} yields nothing; give at least one batch")


def read_into_memory(data: Any) -> AnsweredInputs:
    """Return all samples of a data set, in memory."""
    if isinstance(data, AnsweredInputs):
        return data
    tensors: dict[str, list[Tensor]] = {}
    answers: dict[str, list[Any]] = {}
    for inputs, values in checked_batches(loader(data, 1000, shuffle=False), "data"):
        for name, x in inputs.items():
            tensors.setdefault(name, []).append(x)
        for name, column in values.items():
            answers.setdefault(name, []).extend(_values(column))
    return AnsweredInputs({name: torch.cat(parts) for name, parts in tensors.items()}, answers)


def fingerprint_of(data: Any) -> str:
    """Return a hash of a data set or `DataLoader`.

    It is the attribute `fingerprint` of the data set, if there is one; else all samples are read,
    with PyTorch's generator seeded by 0.
    """
    fingerprint = getattr(
        data.dataset if isinstance(data, DataLoader) else data, "fingerprint", None
    )
    if isinstance(fingerprint, str):
        return f"{fingerprint} {data.batch_size}" if isinstance(data, DataLoader) else fingerprint
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return read_into_memory(data).fingerprint


class InputReader(nn.Module):
    """Networks in front of rules: they predict the probabilities of the inputs.

    Parameters
    ----------
    rules : a `Cascade` or a `RuleSet`
    networks : by the names of kinds, networks from tensors ``(n, ...)`` of any shape and type to
        scores ``(n, values)``; one network alone reads all inputs
    kinds : by input, or its name, the kind of the input; by default its name

    Examples
    --------
    >>> from pinesy.problems import addition
    >>> reader = InputReader(addition(1), nn.Linear(3, 10))
    >>> reader({"a_1": torch.zeros(5, 3), "a_2": torch.zeros(5, 3)})["a_1"].shape
    torch.Size([5, 10])
    """

    def __init__(
        self,
        rules: Cascade | RuleSet,
        networks: Mapping[str, nn.Module] | nn.Module,
        kinds: Mapping[Any, str] | None = None,
    ) -> None:
        super().__init__()
        self.inputs = as_cascade(rules).inputs
        is_single = isinstance(networks, nn.Module) and not isinstance(networks, nn.ModuleDict)
        by_kind: Any = {"": networks} if is_single else networks
        kind_of = by_name(kinds or {}, "input")
        self.kinds = {a.name: "" if is_single else kind_of.get(a.name, a.name) for a in self.inputs}
        for name in kind_of:
            check_known(name, self.kinds, f"kinds: the rules have no input {name!r}")
        self._names = list(by_kind)
        self.networks = nn.ModuleList(by_kind.values())  # a name may be no name of a module
        for name, kind in self.kinds.items():
            if kind not in self._names:
                raise DataError(
                    f"no network reads the input {name!r}, of kind {kind!r}; there are those of "
                    f"{listed(self._names)}"
                )

    def forward(self, inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the probabilities (n, values) of each input, by name.

        Parameters
        ----------
        inputs : by the names of inputs, tensors ``(n, ...)``; those of one kind have the same
            shape, and are read in one batch
        """
        probabilities: dict[str, Tensor] = {}
        for name in self.kinds:
            if not isinstance(inputs.get(name), Tensor):
                raise DataError(f"the samples have no tensor for the input {name!r}")
        for kind, (network, names) in self.by_kind().items():
            if names:
                scores = self._scores(kind, network, [inputs[name] for name in names])
                p = torch.softmax(scores, dim=1)
                parts = p.chunk(len(names)) if len(p) else [p] * len(names)
                probabilities |= dict(zip(names, parts, strict=True))
        for a in self.inputs:
            if (n_scores := probabilities[a.name].shape[1]) != len(a.domain):
                raise DataError(
                    f"the network gives {n_scores} scores for the input {a.name!r}, which has "
                    f"{len(a.domain)} values"
                )
        return probabilities

    def _scores(self, kind: str, network: nn.Module, tensors: Sequence[Tensor]) -> Tensor:
        shapes = {tuple(t.shape) for t in tensors}
        called = f"the network of kind {kind!r}" if kind else "the network"
        if len(shapes) > 1:
            shape_texts = listed(sorted(map(str, shapes)))
            raise DataError(f"{called} reads inputs of shapes {shape_texts}; give one shape")
        return scores_of(network, torch.cat(list(tensors)), called, "inputs")

    @property
    def network(self) -> nn.Module:
        """The network, if there is only one."""
        if len(self.networks) > 1:
            kinds = listed(self._names)
            raise DomainError(f"there are networks of several kinds, {kinds}; see by_kind()")
        return self.networks[0]

    def by_kind(self) -> dict[str, tuple[nn.Module, list[str]]]:
        """Return by kind the network and the names of the inputs that it reads."""
        return {
            kind: (network, [name for name, of in self.kinds.items() if of == kind])
            for kind, network in zip(self._names, self.networks, strict=True)
        }

    def over(self, other: Cascade | RuleSet) -> "InputReader":
        """Return a reader for other rules that shares the networks of this one.

        Inputs keep the kinds that they have here; others have the kind of their name. A single
        network reads all inputs.
        """
        inputs = as_cascade(other).inputs
        if inputs == self.inputs:
            return self
        if self._names == [""]:
            return InputReader(other, self.networks[0])
        kinds = {a.name: self.kinds.get(a.name, a.name) for a in inputs}
        return InputReader(other, dict(zip(self._names, self.networks, strict=True)), kinds)

    def predict_proba(
        self, inputs: Mapping[str, Tensor], batch: int = 1000
    ) -> dict[str, FloatArray]:
        """Return the probabilities of each input, by name, as arrays (n, values) of float64.

        Networks are used without dropout, `batch` samples at a time; their mode is not changed.
        """
        n = len(next(iter(inputs.values())))
        with evaluation_mode(self):
            parts = [
                self({name: x[i : i + batch] for name, x in inputs.items()})
                for i in range(0, n, batch)
            ]
        return {
            a.name: np.concatenate([part[a.name].double().cpu().numpy() for part in parts])
            for a in self.inputs
        }
