"""The paper's experiments: run piece by piece, resumed at any moment, reported."""

from pinesy.experiments.pieces import Piece, pieces_of
from pinesy.experiments.store import Store

__all__ = ["Piece", "Store", "pieces_of"]
