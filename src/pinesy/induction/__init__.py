"""Rules from tables: short rules that give points to classes, as an ordinary cascade."""

from pinesy.induction.induce import InducedRules, induce, induce_card, induce_points
from pinesy.induction.point_model import PointModel
from pinesy.induction.points_cascade import CardLine, ScoreCard
from pinesy.induction.training_table import TableColumn, TrainingTable, read_training_table

__all__ = [
    "CardLine",
    "InducedRules",
    "PointModel",
    "ScoreCard",
    "TableColumn",
    "TrainingTable",
    "induce",
    "induce_card",
    "induce_points",
    "read_training_table",
]
