"""Rules in forms that other programs read."""

from pinesy.exchange.decision_tables import read_decision_table, write_decision_table
from pinesy.exchange.dimacs_cnf import DimacsCnf, to_dimacs
from pinesy.exchange.onnx_export import to_onnx
from pinesy.exchange.page import to_page
from pinesy.exchange.problog_text import to_problog

__all__ = [
    "DimacsCnf",
    "read_decision_table",
    "to_dimacs",
    "to_onnx",
    "to_page",
    "to_problog",
    "write_decision_table",
]
