"""Perception: networks that read digits on images (needs the extra ``nn``: PyTorch)."""

try:
    import safetensors
    import torch
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"pinesy.nets needs {error.name}, which is not installed; pip install 'pinesy[nn]'",
        name=error.name,
    ) from None

from pinesy.nets.checkpoints import load_weights
from pinesy.nets.fingerprints import data_fingerprint, network_fingerprint
from pinesy.nets.network_perception import NetworkPerception
from pinesy.nets.networks import DeepSoftLogCNN, PaperCNN, preprocess
from pinesy.nets.predict import PredictionCache, predict_proba
from pinesy.nets.recipes import BETTER_EYE, DEEPSOFTLOG, PAPER, PAPER_CODE, PAPER_SUDOKU4, Recipe
from pinesy.nets.training import History, train

__all__ = [
    "BETTER_EYE",
    "DEEPSOFTLOG",
    "PAPER",
    "PAPER_CODE",
    "PAPER_SUDOKU4",
    "DeepSoftLogCNN",
    "History",
    "NetworkPerception",
    "PaperCNN",
    "PredictionCache",
    "Recipe",
    "data_fingerprint",
    "load_weights",
    "network_fingerprint",
    "predict_proba",
    "preprocess",
    "train",
]

del safetensors, torch
