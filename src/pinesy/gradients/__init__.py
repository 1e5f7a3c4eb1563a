"""Cascades as PyTorch layers, and learning perception from answers alone (extra ``nn``)."""

try:
    import torch
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "pinesy.gradients needs torch, which is not installed; pip install 'pinesy[nn]'",
        name=error.name,
    ) from None

from pinesy.gradients.answers import Answered, train_from_answers
from pinesy.gradients.layer import PossibilisticLayer
from pinesy.gradients.losses import answer_loss, soft_label_loss
from pinesy.gradients.transforms import antipignistic, antipignistic_inverse, minimum_specificity

__all__ = [
    "Answered",
    "PossibilisticLayer",
    "answer_loss",
    "antipignistic",
    "antipignistic_inverse",
    "minimum_specificity",
    "soft_label_loss",
    "train_from_answers",
]

del torch
