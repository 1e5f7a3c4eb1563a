"""Networks of PyTorch beside rules: perception, rules as a layer, learning from answers alone.

It needs the extra ``nn``: ``pip install 'pinesy[nn]'``.
"""

try:
    import safetensors
    import torch
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"pinesy.nets needs {error.name}, which is not installed; pip install 'pinesy[nn]'",
        name=error.name,
    ) from None

from pinesy.nets import differentiable_transforms
from pinesy.nets.answer_losses import answer_loss, belief_loss, soft_label_loss
from pinesy.nets.answer_starts import AnswerPhase, ChosenStart, fit_from_starts
from pinesy.nets.answer_training import AnswerFit, answer_score, fit_answers
from pinesy.nets.answered_samples import Answered, soft_labels
from pinesy.nets.augmentation import augment, perturb
from pinesy.nets.checkpoints import (
    PredictionCache,
    data_fingerprint,
    load_weights,
    network_fingerprint,
)
from pinesy.nets.input_reader import AnsweredInputs, InputReader
from pinesy.nets.learning_from_answers import (
    FINISH,
    START,
    LearnedFromAnswers,
    Start,
    best_start,
    learn_from_answers,
)
from pinesy.nets.network_perception import NetworkPerception
from pinesy.nets.network_training import History, train
from pinesy.nets.networks import (
    DeepSoftLogCNN,
    PaperCNN,
    Reading,
    predict_proba,
    preprocess,
    reading,
    using_threads,
)
from pinesy.nets.possibilistic_layer import PossibilisticLayer
from pinesy.nets.recipes import BETTER_EYE, DEEPSOFTLOG, PAPER, PAPER_CODE, PAPER_SUDOKU4, Recipe
from pinesy.nets.rule_layer import RuleLayer
from pinesy.nets.training_from_answers import train_from_answers

__all__ = [
    "BETTER_EYE",
    "DEEPSOFTLOG",
    "FINISH",
    "PAPER",
    "PAPER_CODE",
    "PAPER_SUDOKU4",
    "START",
    "AnswerFit",
    "AnswerPhase",
    "Answered",
    "AnsweredInputs",
    "ChosenStart",
    "DeepSoftLogCNN",
    "History",
    "InputReader",
    "LearnedFromAnswers",
    "NetworkPerception",
    "PaperCNN",
    "PossibilisticLayer",
    "PredictionCache",
    "Reading",
    "Recipe",
    "RuleLayer",
    "Start",
    "answer_loss",
    "answer_score",
    "augment",
    "belief_loss",
    "best_start",
    "data_fingerprint",
    "differentiable_transforms",
    "fit_answers",
    "fit_from_starts",
    "learn_from_answers",
    "load_weights",
    "network_fingerprint",
    "perturb",
    "predict_proba",
    "preprocess",
    "reading",
    "soft_label_loss",
    "soft_labels",
    "train",
    "train_from_answers",
    "using_threads",
]

del safetensors, torch
