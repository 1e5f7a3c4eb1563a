"""Distributions conditioned on targets: the most possible inputs, given the current ones."""

from pinesy.beliefs.conditioning import condition
from pinesy.beliefs.result import Beliefs

__all__ = ["Beliefs", "condition"]
