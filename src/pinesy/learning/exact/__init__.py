"""Exact learning: equation systems of samples, solved stage by stage along a cascade."""
