"""What is made small when perception is learned from answers."""

from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor

from pinesy._common.validation import suggestion
from pinesy.exceptions import DataError, UnknownAttributeError
from pinesy.nets.gradients.transforms import antipignistic_inverse

#: So that the logarithm of an impossible answer is finite; below it there is no gradient.
LEAST = 1e-30


def answer_loss(outputs: Mapping[str, Tensor], answers: Mapping[str, Tensor]) -> Tensor:
    """Return the mean over samples of ``- sum_b log q_b(u_b)``.

    ``q_b`` is the probability distribution that the antipignistic inverse makes of the inferred
    possibilities of attribute `b`, and ``u_b`` the right value.

    Parameters
    ----------
    outputs : by name, possibilities (n, values), as `PossibilisticLayer` gives them
    answers : by name, the position (n,) of the right value in the domain

    Examples
    --------
    >>> sure = {"b": torch.tensor([[1.0, 0.0]])}
    >>> answer_loss(sure, {"b": torch.tensor([0])})
    tensor(0.)
    """
    if not isinstance(answers, Mapping) or not isinstance(outputs, Mapping):
        raise DataError("outputs and answers are mappings, from the names of attributes to tensors")
    if not answers:
        raise DataError("there are no answers to learn from; name at least one attribute")
    for name, positions in answers.items():
        if name not in outputs:
            raise UnknownAttributeError(
                f"there is an answer for {name!r}, which is no output{suggestion(name, outputs)}"
            )
        _check_positions(name, positions, len(outputs[name]))
    total = torch.zeros((), device=next(iter(outputs.values())).device)
    for names in _by_size(outputs, list(answers)):
        q = antipignistic_inverse(torch.stack([outputs[name] for name in names]))
        wanted = torch.stack([answers[name] for name in names]).to(q.device)
        if not torch.compiler.is_compiling():
            _check_range(names, wanted, q.shape[2])
        chosen = q.gather(2, wanted[..., None]).squeeze(2)
        total = total - chosen.clamp(min=LEAST).log().sum(dim=0).mean()
    return total


def _check_positions(name: str, positions: object, n: int) -> None:
    """Raise `DataError` unless the answers for an attribute are whole numbers, one a sample."""
    if not isinstance(positions, Tensor) or positions.dtype != torch.int64:
        kind = positions.dtype if isinstance(positions, Tensor) else type(positions).__name__
        raise DataError(
            f"the answers for {name!r} are of type {kind}; give a tensor of int64, the position of "
            "each answer in the domain"
        )
    if positions.shape != (n,):
        raise DataError(
            f"the answers for {name!r} have shape {tuple(positions.shape)}, and there are {n} "
            f"samples; give ({n},), a position for each"
        )


def _check_range(names: Sequence[str], wanted: Tensor, size: int) -> None:
    """Raise `DataError` if a position is none of a domain."""
    wrong = ((wanted < 0) | (wanted >= size)).nonzero()
    if len(wrong):
        which, row = wrong[0].tolist()
        raise DataError(
            f"the answer for {names[which]!r}, row {row}, is {int(wanted[which, row])}; the domain "
            f"has the positions 0 to {size - 1}"
        )


def soft_label_loss(scores: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
    """Return the mean over images of ``- w sum_v t(v) log p(v)``, `p` the softmax of the scores.

    Parameters
    ----------
    scores : tensor (n, classes), as a network gives them
    labels : tensor (n, classes) of probabilities, such as `Beliefs.probabilities` gives
    weights : tensor (n,), how much each image counts; by default 1
    """
    losses = torch.nn.functional.cross_entropy(scores, labels.to(scores.dtype), reduction="none")
    return losses.mean() if weights is None else (losses * weights.to(scores.dtype)).mean()


def _by_size(outputs: Mapping[str, Tensor], names: Sequence[str]) -> Iterator[list[str]]:
    """Yield names of outputs with domains of one size: they are worked on together."""
    sizes: dict[int, list[str]] = {}
    for name in names:
        sizes.setdefault(outputs[name].shape[1], []).append(name)
    yield from sizes.values()
