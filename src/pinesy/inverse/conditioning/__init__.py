"""Distributions conditioned on targets: the most possible inputs, given the current ones."""

from pinesy.inverse.conditioning.conditioning import condition
from pinesy.inverse.conditioning.result import Beliefs

__all__ = ["Beliefs", "condition"]
