"""The paper's experiments: run piece by piece, resumed at any moment, reported."""

from reproduction.pieces import Piece, pieces_of
from reproduction.store import Store

__all__ = ["Piece", "Store", "pieces_of"]
