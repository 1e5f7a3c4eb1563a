"""Perception: networks that read digits on images (needs the extra ``nn``: PyTorch)."""

try:
    import safetensors
    import torch
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"pinesy.nn needs {error.name}, which is not installed; pip install 'pinesy[nn]'",
        name=error.name,
    ) from None

from pinesy.nn.checkpoints import load_weights
from pinesy.nn.fingerprints import data_fingerprint, network_fingerprint
from pinesy.nn.networks import DeepSoftLogCNN, PaperCNN, preprocess
from pinesy.nn.perception import NetworkPerception
from pinesy.nn.predict import PredictionCache, predict_proba
from pinesy.nn.recipes import BETTER_EYE, DEEPSOFTLOG, PAPER, PAPER_CODE, PAPER_SUDOKU4, Recipe
from pinesy.nn.training import History, train

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
