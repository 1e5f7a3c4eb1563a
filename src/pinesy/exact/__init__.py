"""Exact degrees where rules interact along several paths, and most probable worlds, by solvers."""

from pinesy.exact.exact_inference import ExactInference

__all__ = ["ExactInference"]
