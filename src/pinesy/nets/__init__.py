"""Networks of PyTorch beside rules: perception, rules as a layer, learning from answers alone.

It needs the extra ``nn``: ``pip install 'pinesy[nn]'``.
"""

from pinesy.exceptions import needing

with needing("nn", "pinesy.nets needs"):
    import safetensors
    import torch

from pinesy.nets import differentiable_transforms
from pinesy.nets.answer_losses import (
    EntropyLoss,
    answer_loss,
    belief_loss,
    projection_loss,
    soft_label_loss,
    soft_labels,
)
from pinesy.nets.answered_inputs import AnsweredInputs, InputReader
from pinesy.nets.checkpoints import data_fingerprint, load_weights, network_fingerprint
from pinesy.nets.learning_from_answers import (
    FINISH,
    START,
    AnswerFit,
    AnswerPhase,
    ChosenStart,
    LearnedFromAnswers,
    answer_score,
    fit_answers,
    fit_from_starts,
    learn_from_answers,
)
from pinesy.nets.network_perception import NetworkPerception, PredictionCache
from pinesy.nets.network_training import History, train
from pinesy.nets.networks import DeepSoftLogCNN, PaperCNN, predict_proba, preprocess, using_threads
from pinesy.nets.possibilistic_labels import possibilistic_label_loss, project_on_possibility
from pinesy.nets.possibilistic_layer import PossibilisticLayer
from pinesy.nets.recipes import (
    BETTER_EYE,
    DEEPSOFTLOG,
    PAPER,
    PAPER_SUDOKU4,
    Recipe,
    augment,
)
from pinesy.nets.rule_layer import RuleLayer
from pinesy.nets.sum_losses import sum_log_probability, sum_loss, sum_probabilities

__all__ = [
    "BETTER_EYE",
    "DEEPSOFTLOG",
    "FINISH",
    "PAPER",
    "PAPER_SUDOKU4",
    "START",
    "AnswerFit",
    "AnswerPhase",
    "AnsweredInputs",
    "ChosenStart",
    "DeepSoftLogCNN",
    "EntropyLoss",
    "History",
    "InputReader",
    "LearnedFromAnswers",
    "NetworkPerception",
    "PaperCNN",
    "PossibilisticLayer",
    "PredictionCache",
    "Recipe",
    "RuleLayer",
    "answer_loss",
    "answer_score",
    "augment",
    "belief_loss",
    "data_fingerprint",
    "differentiable_transforms",
    "fit_answers",
    "fit_from_starts",
    "learn_from_answers",
    "load_weights",
    "network_fingerprint",
    "possibilistic_label_loss",
    "predict_proba",
    "preprocess",
    "project_on_possibility",
    "projection_loss",
    "soft_label_loss",
    "soft_labels",
    "sum_log_probability",
    "sum_loss",
    "sum_probabilities",
    "train",
    "using_threads",
]

del needing, safetensors, torch
