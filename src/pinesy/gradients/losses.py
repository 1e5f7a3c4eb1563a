"""What is made small when perception is learned from answers."""

from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor

from pinesy._validation import suggestion
from pinesy.exceptions import DataError, UnknownAttributeError
from pinesy.gradients.transforms import antipignistic_inverse

__all__ = ["answer_loss", "soft_label_loss"]

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
    if not answers:
        raise DataError("there are no answers to learn from; name at least one attribute")
    for name in answers:
        if name not in outputs:
            raise UnknownAttributeError(
                f"there is an answer for {name!r}, which is no output{suggestion(name, outputs)}"
            )
    total = torch.zeros((), device=next(iter(outputs.values())).device)
    for names in _by_size(outputs, list(answers)):
        q = antipignistic_inverse(torch.stack([outputs[name] for name in names]))
        wanted = torch.stack([answers[name] for name in names]).to(q.device)
        chosen = q.gather(2, wanted[..., None]).squeeze(2)
        total = total - chosen.clamp(min=LEAST).log().sum(dim=0).mean()
    return total


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
