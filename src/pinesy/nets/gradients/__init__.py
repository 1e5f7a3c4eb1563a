"""Cascades as PyTorch layers, and learning perception from answers alone (extra ``nn``)."""

try:
    import torch
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "pinesy.nets.gradients needs torch, which is not installed; pip install 'pinesy[nn]'",
        name=error.name,
    ) from None

from pinesy.nets.gradients.answers import Answered
from pinesy.nets.gradients.layer import PossibilisticLayer
from pinesy.nets.gradients.learning import LearnedFromAnswers, learn_from_answers
from pinesy.nets.gradients.losses import answer_loss, soft_label_loss
from pinesy.nets.gradients.readings import Reading, reading
from pinesy.nets.gradients.soft_labels import soft_labels
from pinesy.nets.gradients.starts import Start, best_start
from pinesy.nets.gradients.training import train_from_answers
from pinesy.nets.gradients.transforms import (
    antipignistic,
    antipignistic_inverse,
    minimum_specificity,
)

__all__ = [
    "Answered",
    "LearnedFromAnswers",
    "PossibilisticLayer",
    "Reading",
    "Start",
    "answer_loss",
    "antipignistic",
    "antipignistic_inverse",
    "best_start",
    "learn_from_answers",
    "minimum_specificity",
    "reading",
    "soft_label_loss",
    "soft_labels",
    "train_from_answers",
]

del torch
