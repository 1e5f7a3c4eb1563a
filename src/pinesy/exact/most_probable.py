"""The most probable world of certain rules: a maximum satisfiability problem.

The probability of a world is the product of those of its input values, so that its cost, the sum of
``log(p_max / p)``, is to be least among the worlds that satisfy all clauses. Costs are integers,
multiples of ``2^-32``: with `m` inputs, no world is more probable than the result by a factor above
``exp(m 2^-32)``.
"""

import weakref
from collections.abc import Mapping, Sequence
from threading import Lock, Timer
from typing import Any

import numpy as np

from pinesy._common.console import check_stop
from pinesy._common.validation import BoolArray, FloatArray
from pinesy.engine.rule_set_kinds import RuleUnit
from pinesy.exact.world_clauses import WorldClauses
from pinesy.exceptions import needing
from pinesy.semantics.worlds import check_certain

#: The solver of satisfiability, also within RC2.
SOLVER = "glucose4"
#: Integer costs of a unit of the natural logarithm.
COST_UNIT = 1 << 32


class MostProbableWorlds:
    """The most probable worlds of rule sets without uncertainty.

    RC2 (Ignatiev, Morgado and Marques-Silva, RC2: an efficient MaxSAT solver, 2019) searches if
    rules exclude that each input has its most probable value, which one call of an incremental
    solver decides.

    Parameters
    ----------
    units : the rule sets in topological order; all of them restrict the worlds
    inputs : the names of the inputs
    outputs : the names of the attributes whose values are returned, and of those with targets
    """

    def __init__(
        self, units: Sequence[RuleUnit], inputs: Sequence[str], outputs: Sequence[str]
    ) -> None:
        with needing("exact", "the most probable world with loops needs a solver, that of"):
            from pysat.examples.rc2 import RC2Stratified
            from pysat.formula import WCNF
            from pysat.solvers import Solver
        for unit in units:
            check_certain(unit)
        worlds = WorldClauses(units, outputs=outputs)
        self._names = tuple(dict.fromkeys([*inputs, *outputs]))
        self._literals = {name: worlds.literals[name] for name in self._names}
        self._clauses = [clause for clause, _ in worlds.clauses]
        self._solver: Any = Solver(name=SOLVER, bootstrap_with=self._clauses)
        weakref.finalize(self, self._solver.delete)
        self._rc2, self._formula = RC2Stratified, WCNF
        self._lock = Lock()

    def find(
        self,
        probabilities: Mapping[str, FloatArray],
        allowed: Mapping[str, BoolArray],
        max_seconds: float,
    ) -> dict[str, int] | None:
        """Return the index of the value of each attribute in the most probable world, or None.

        Parameters
        ----------
        probabilities : of the values of each input
        allowed : the values (a mask) of attributes with targets
        max_seconds : the time of the search, at most

        Raises
        ------
        TimeoutError
            The time is spent.
        """
        check_stop()
        costs: dict[int, int] = {}
        excluded: list[int] = []
        best_values = {}
        for name in self._names:
            attribute = self._literals[name]
            weights = np.asarray(probabilities.get(name, np.ones(len(attribute.of))))
            weights = np.where(allowed[name], weights, 0.0) if name in allowed else weights
            best = [max(m, key=weights.__getitem__) for m in attribute.members]  # of each class
            best_values[name] = best
            highest = float(weights.max())
            if highest == 0.0:
                return None
            for literal, value in zip(attribute.literals, best, strict=False):
                if weights[value] == 0.0:
                    excluded.append(-literal)
                elif weights[value] < highest:
                    logarithm = float(np.log(highest) - np.log(weights[value]))
                    costs[-literal] = round(COST_UNIT * logarithm)
        with self._lock:
            if not self._solver.solve(excluded):
                return None
            is_best = self._solver.solve([*excluded, *(x for x, cost in costs.items() if cost > 0)])
            model = self._solver.get_model() if is_best else None
        true = set(self._search(excluded, costs, max_seconds) if model is None else model)
        return {
            name: best[
                next((i for i, x in enumerate(self._literals[name].literals) if x in true), 0)
            ]
            for name, best in best_values.items()
        }

    def _search(
        self, excluded: Sequence[int], costs: Mapping[int, int], max_seconds: float
    ) -> list[int]:
        """Return the model of least cost."""
        formula = self._formula()
        formula.extend([*self._clauses, *([literal] for literal in excluded)])
        for literal, cost in costs.items():
            if cost > 0:
                formula.append([literal], weight=cost)
        # Without these options all costs differ, and RC2 takes a core at a time.
        options = {"adapt": True, "exhaust": True, "minz": True}
        with self._rc2(formula, solver=SOLVER, **options) as solver:
            timer = Timer(max_seconds, solver.interrupt)
            timer.start()
            try:
                model: list[int] | None = solver.compute(expect_interrupt=True)
            finally:
                timer.cancel()
                timer.join()
        if model is None:
            raise TimeoutError
        return model
