"""Cascades as PyTorch layers, and learning perception from answers alone (extra ``nn``)."""

try:
    import torch
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "pinesy.gradients needs torch, which is not installed; pip install 'pinesy[nn]'",
        name=error.name,
    ) from None

from pinesy.gradients.layer import PossibilisticLayer
from pinesy.gradients.transforms import antipignistic, antipignistic_inverse, minimum_specificity

__all__ = [
    "PossibilisticLayer",
    "antipignistic",
    "antipignistic_inverse",
    "minimum_specificity",
]

del torch
