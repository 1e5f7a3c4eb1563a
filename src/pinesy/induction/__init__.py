"""Rules from tables: short rules that give points to classes, as an ordinary cascade."""

from pinesy.induction.induce import InducedRules, induce, induce_card, induce_points
from pinesy.induction.plain_rules import PlainRule, PlainRules
from pinesy.induction.point_model import PointModel
from pinesy.induction.points_cascade import CardCascade, card_of
from pinesy.induction.score_card import CardLine, CardScores, ScoreCard
from pinesy.induction.training_table import TableColumn, TrainingTable, read_training_table

__all__ = [
    "CardCascade",
    "CardLine",
    "CardScores",
    "InducedRules",
    "PlainRule",
    "PlainRules",
    "PointModel",
    "ScoreCard",
    "TableColumn",
    "TrainingTable",
    "card_of",
    "induce",
    "induce_card",
    "induce_points",
    "read_training_table",
]
