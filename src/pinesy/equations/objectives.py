"""A linear objective over the solutions of a system, by branch and bound over its covers."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pinesy.equations.covers import NEVER, Covers, Levels


@dataclass(frozen=True)
class Optimum:
    """The best solution of a system for a linear objective.

    Attributes
    ----------
    x : array (M,)
    value : the objective ``c'x``
    is_optimal : whether no solution is better; if not, the search was given up
    bound : no solution is better than this
    """

    x: Any
    value: Any
    is_optimal: bool
    bound: Any


@dataclass
class CoverSearch:
    """Branch and bound for a cover of least cost.

    Parameters
    ----------
    covers : the covers
    costs : for each column the cost of each level, increasing from 0
    max_nodes : nodes of the search, at most
    """

    covers: Covers
    costs: list[Any]
    max_nodes: int

    def run(self) -> tuple[Levels | None, Any, Any]:
        """Return the best cover, its cost, and a lower bound; they are equal if it is optimal."""
        columns = range(len(self.costs))
        # What each row costs in each column; the last cost stands for rows that are not reached.
        prices = [
            self.costs[j][np.minimum(self.covers.ranks[:, j], len(self.costs[j]) - 1)]
            for j in columns
        ]
        self._prices = np.stack(prices, axis=1)
        best, best_cost = None, np.inf
        stack = [(self.covers.root, 0)]
        for _ in range(self.max_nodes):
            if not stack:
                return best, best_cost, best_cost
            (levels, caps), bound = stack.pop()
            if bound >= best_cost:
                continue
            is_uncovered = self.covers.uncovered(levels)
            if not is_uncovered.any():
                best, best_cost = levels, self._cost(levels)
                continue
            children = [
                (child, self._bound(*child))
                for child in self.covers.branches(levels, caps, is_uncovered)
            ]
            stack.extend(sorted(children, key=lambda node: node[1], reverse=True))
        bounds = [bound for _, bound in stack if bound < best_cost]
        return best, best_cost, min([best_cost, *bounds])

    def _cost(self, levels: Levels) -> Any:
        return sum(self.costs[j][level] for j, level in enumerate(levels))

    def _bound(self, levels: Levels, caps: Levels) -> Any:
        """Return a lower bound: rows that no column can reach together cost their least each."""
        ranks = self.covers.ranks
        is_uncovered = self.covers.uncovered(levels)
        is_choice = (ranks < np.array(caps)) & (ranks != NEVER)
        now = np.array([self.costs[j][level] for j, level in enumerate(levels)])
        rises = np.where(is_choice, self._prices - now, np.inf)[is_uncovered]
        cost = self._cost(levels)
        if not len(rises):
            return cost
        least, is_choice = rises.min(axis=1), is_choice[is_uncovered]
        is_free = np.ones(is_choice.shape[1], dtype=bool)
        for row in np.argsort(-least, kind="stable"):
            if not (is_choice[row] & ~is_free).any():
                cost += least[row]
                is_free &= ~is_choice[row]
        return cost
