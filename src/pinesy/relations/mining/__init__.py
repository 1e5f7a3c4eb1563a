"""Rules mined from the facts of a graph: counts, strengths, link prediction."""

from pinesy.relations.mining.link_prediction import LinkPrediction
from pinesy.relations.mining.mined_rules import MinedRules, RankedEntity
from pinesy.relations.mining.rule_miner import mine
from pinesy.relations.mining.rule_strengths import MiningSettings
from pinesy.relations.mining.rule_texts import MinedRule

__all__ = [
    "LinkPrediction",
    "MinedRule",
    "MinedRules",
    "MiningSettings",
    "RankedEntity",
    "mine",
]
