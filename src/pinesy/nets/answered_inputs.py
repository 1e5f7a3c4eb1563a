"""Samples with answers: data sets and loaders of PyTorch, and answers as users give them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, IterableDataset

from pinesy._common.names import by_name
from pinesy._common.validation import FloatArray, check_known, suggestion
from pinesy.exceptions import DataError, UnknownAttributeError, placed
from pinesy.nets.checkpoints import data_fingerprint
from pinesy.nets.input_reader import Batch
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.targets import Target
from pinesy.rules.attributes import Attribute

#: Stands for the position of a value that nobody knows.
UNKNOWN = -1

Positions = npt.NDArray[np.int64]


def named_answers(answers: object) -> dict[str, Any]:
    """Return answers by the names of attributes, or raise `DataError` if there are none."""
    if not isinstance(answers, Mapping) or not answers:
        raise DataError(
            "there are no answers to learn from; give a mapping from at least one attribute to the "
            "right values"
        )
    return by_name(answers, "answer")


def answer_positions(
    answers: object, attributes: Mapping[str, Attribute], known: Iterable[str], n: int
) -> dict[str, Positions]:
    """Return the positions (n,) of answers in their domains, `UNKNOWN` where they are None.

    Parameters
    ----------
    known : the names that answers may have
    n : the number of samples
    """
    found, names = {}, list(known)
    for name, values in named_answers(answers).items():
        if name not in names or name not in attributes:
            raise UnknownAttributeError(
                f"there is an answer for {name!r}, which is no output{suggestion(name, names)}"
            )
        with placed("answers"):
            found[name] = _positions(values, attributes[name], n)
    return found


def _positions(values: Any, attribute: Attribute, n: int) -> Positions:
    given = values.detach().cpu().numpy() if isinstance(values, Tensor) else values
    is_open = isinstance(given, Sequence) or getattr(given, "dtype", None) == np.dtype(object)
    if not is_open or None in attribute or not any(value is None for value in given):
        return Target.of_values(given, attribute, n).labels.astype(np.int64)
    missing = np.array([value is None for value in given])
    filled = [attribute.domain[0] if value is None else value for value in given]
    positions = Target.of_values(filled, attribute, n).labels.astype(np.int64)
    return np.where(missing, UNKNOWN, positions)


def one_hot(positions: Positions, size: int) -> FloatArray:
    """Return weights (n, size): 1 for the value that is known, and for all where none is."""
    weights = np.eye(size)[positions]
    weights[positions == UNKNOWN] = 1.0
    return weights


def known_labels(p: Tensor, positions: Positions) -> tuple[Tensor, Tensor, Tensor]:
    """Return probabilities that are 1 where a value is known, where that is, and its position."""
    at = torch.from_numpy(positions).to(p.device)
    is_known, at = at != UNKNOWN, at.clamp(min=0)
    sure = torch.nn.functional.one_hot(at, p.shape[1]).to(p)
    return torch.where(is_known[:, None], sure, p), is_known, at


def shown_answers(
    row: int, positions: Mapping[str, Positions], attributes: Mapping[str, Attribute]
) -> str:
    """Return what is known of a sample, for a message."""
    return ", ".join(
        f"{name} = {attributes[name].domain[at[row]]!r}"
        for name, at in positions.items()
        if at[row] != UNKNOWN
    )


class AnsweredInputs(Dataset[Any]):
    """Samples of inputs of any shape and type, with answers: a data set of PyTorch.

    A sample is a pair of dicts: what is seen of each input, and the answers. Any data set that
    gives such pairs will do in its place, or a `DataLoader` that gives batches of them.

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
        named = by_name(inputs, "input")
        self.inputs = {name: torch.as_tensor(x) for name, x in named.items()}
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
        """Return what is seen of one sample, and its answers."""
        seen = {name: x[row] for name, x in self.inputs.items()}
        return seen, {name: values[row] for name, values in self.answers.items()}

    def __getitems__(self, rows: list[int]) -> Any:
        """Return a batch."""
        seen = {name: x[rows] for name, x in self.inputs.items()}
        return seen, {name: [v[row] for row in rows] for name, v in self.answers.items()}

    @property
    def fingerprint(self) -> str:
        """What differs where inputs or answers do."""
        text = repr((list(self.inputs), self.answers))
        said = np.frombuffer(text.encode(), np.uint8)
        return data_fingerprint(said, *(x.cpu().numpy() for x in self.inputs.values()))


def check_samples(rules: Cascade, data: Any) -> None:
    """Raise an error for samples in memory that lack an input, or whose answers are no values."""
    if not isinstance(data, AnsweredInputs):
        return
    names = [a.name for a in rules.inputs]
    for name in data.inputs:
        check_known(name, names, f"inputs: the rules have no input {name!r}")
    for name in names:
        if name not in data.inputs:
            raise DataError(f"the samples have no tensor for the input {name!r}")
    answer_positions(data.answers, rules.attributes, rules.attributes, len(data))


def _values(values: Any) -> list[Any]:
    """Return one value for each sample; those of a product are tuples."""
    listed = values.tolist() if hasattr(values, "tolist") else list(values)
    return [tuple(v) if isinstance(v, list) else v for v in listed]


def collate(samples: Any) -> Batch:
    """Return samples as a batch: tensors of what is seen, and lists of answers."""
    if isinstance(samples, tuple):  # a batch already
        return samples[0], samples[1]
    seen, answers = zip(*samples, strict=True)
    inputs = {name: torch.stack([torch.as_tensor(s[name]) for s in seen]) for name in seen[0]}
    return inputs, {name: [a[name] for a in answers] for name in answers[0]}


def loader(data: Any, batch: int, shuffle: bool) -> DataLoader[Any]:
    """Return batches of a data set; a loader of one's own as it is."""
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


def n_batches(batches: DataLoader[Any]) -> int | None:
    """Return how many batches there are, or None where nobody knows."""
    try:
        return len(batches)
    except TypeError:  # of an IterableDataset without a length
        return None


def checked_batches(batches: Iterable[Any], what: str) -> Iterator[Batch]:
    """Yield batches, or raise `DataError` where there are none, or they are something else."""
    is_empty = True
    for batch in batches:
        is_pair = isinstance(batch, tuple | list) and len(batch) == 2
        if not is_pair or not all(isinstance(part, Mapping) and part for part in batch):
            raise DataError(
                f"{what} gives {batch!r:.60}; a batch is a pair of dicts, what is seen of each "
                "input and the answers"
            )
        is_empty = False
        yield batch[0], batch[1]
    if is_empty:
        raise DataError(f"{what} yields nothing; give at least one batch")


def collected(data: Any) -> AnsweredInputs:
    """Return all samples of a data set, in memory."""
    if isinstance(data, AnsweredInputs):
        return data
    seen: dict[str, list[Tensor]] = {}
    answers: dict[str, list[Any]] = {}
    for inputs, values in checked_batches(loader(data, 1000, shuffle=False), "data"):
        for name, x in inputs.items():
            seen.setdefault(name, []).append(x)
        for name, some in values.items():
            answers.setdefault(name, []).extend(_values(some))
    return AnsweredInputs({name: torch.cat(parts) for name, parts in seen.items()}, answers)


def fingerprint_of(data: Any) -> str:
    """Return what differs where data do.

    A data set may say it, by an attribute `fingerprint`; else all samples are looked at, as they
    come after PyTorch's generator was set to 0.
    """
    given = getattr(data.dataset if isinstance(data, DataLoader) else data, "fingerprint", None)
    if isinstance(given, str):
        return f"{given} {data.batch_size}" if isinstance(data, DataLoader) else given
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return collected(data).fingerprint


def by_names(samples: AnsweredInputs, names: Sequence[str]) -> Tensor:
    """Return what is seen of some inputs, one after the other."""
    return torch.cat([samples.inputs[name] for name in names])
