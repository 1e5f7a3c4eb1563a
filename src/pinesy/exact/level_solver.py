"""Exact possibilities, by satisfiability of the worlds of a level.

The possibility of a value is the largest level `t` at which some world has the value: its input
values have degrees of at least `t`, and it satisfies all clauses of a level below `t`. One
incremental solver decides all levels of all samples: an input value of degree `d` is assumed false
above `d`, and one selector for each distinct parameter is assumed false above it.

A model raises the lower bounds of its values. The assumptions of a core are in force at all levels
above the largest of their degrees, so that it is an upper bound: of the value, or of all values if
the core does not contain it. Where bounds do not meet, the level in the middle is tried.
"""

import weakref
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from pinesy._common.console import check_stop
from pinesy._common.validation import FloatArray
from pinesy.engine.rule_set_kinds import RuleUnit
from pinesy.exact.world_clauses import WorldClauses
from pinesy.exceptions import needing

#: The solver: incremental, with cores and a limit of conflicts.
SOLVER = "glucose4"
#: Conflicts after which the next sample begins with a new solver: learned clauses slow it down.
FRESH_AFTER = 2000


class Bounds(NamedTuple):
    """Lower and upper bounds of the degrees (n, values) of an attribute."""

    lower: FloatArray
    upper: FloatArray


class LevelSolver:
    """The exact possibilities of attributes of some rule sets.

    Parameters
    ----------
    units : the rule sets in topological order; all of them restrict the worlds
    inputs : the names of attributes with degrees: inputs, and attributes with targets
    outputs : the names of attributes whose exact degrees are computed
    """

    def __init__(
        self, units: Sequence[RuleUnit], inputs: Sequence[str], outputs: Sequence[str]
    ) -> None:
        with needing("exact", "exact degrees with loops need a solver, that of"):
            from pysat.solvers import Solver
        single = set(inputs).intersection(outputs)
        worlds = WorldClauses(units, single, outputs)
        self.inputs, self.outputs = tuple(inputs), tuple(outputs)
        self._literals = worlds.literals
        levels = sorted({level for _, level in worlds.clauses if level > 0.0})
        self._selectors = {level: worlds.n_variables + 1 + i for i, level in enumerate(levels)}
        self._clauses = [
            [*clause, self._selectors[level]] if level > 0.0 else clause
            for clause, level in worlds.clauses
        ]
        self._new_solver, self._lock = Solver, Lock()
        self._start()

    def _start(self) -> None:
        """Begin with a new solver."""
        self.solver: Any = self._new_solver(name=SOLVER, bootstrap_with=self._clauses)
        self._free = weakref.finalize(self, self.solver.delete)

    def bounds(
        self, degrees: Mapping[str, FloatArray], upper: Mapping[str, FloatArray], max_conflicts: int
    ) -> dict[str, Bounds]:
        """Return bounds of the degrees (n, values) of all outputs; most often they meet.

        Parameters
        ----------
        degrees : the degrees (n, values) of the inputs
        upper : known upper bounds of the degrees of the outputs
        max_conflicts : the most conflicts of the solver in a sample; when they are spent, bounds
            are what is known then
        """
        results = {name: Bounds(np.zeros_like(u), u.copy()) for name, u in upper.items()}
        with self._lock:
            for row in range(len(next(iter(upper.values())))):
                check_stop()
                if self.solver.accum_stats()["conflicts"] > FRESH_AFTER:
                    self._free()
                    self._start()
                search = _LevelSearch(
                    self, {n: degrees[n][row] for n in self.inputs}, max_conflicts
                )
                search.run({n: upper[n][row] for n in self.outputs})
                for name in self.outputs:
                    of = self._literals[name].of
                    results[name].lower[row] = search.lower[name][of]
                    results[name].upper[row] = search.upper[name][of]
        return results


class _LevelSearch:
    """The search for the degrees of one sample."""

    def __init__(
        self, owner: LevelSolver, degrees: Mapping[str, FloatArray], max_conflicts: int
    ) -> None:
        self._solver, self._literals = owner.solver, owner._literals
        self._remaining = max_conflicts
        self._class_degrees: dict[str, list[float]] = {}
        assumed = {-selector: level for level, selector in owner._selectors.items()}
        always = 1.0  # no world has more, where an attribute has one class
        for name, distribution in degrees.items():
            literals = self._literals[name]
            best = np.zeros(len(literals.classes))
            np.maximum.at(best, literals.of, distribution)
            self._class_degrees[name] = best.tolist()
            if literals.literals:
                pairs = zip(literals.literals, best.tolist(), strict=True)
                assumed |= {-literal: degree for literal, degree in pairs if degree < 1.0}
            else:
                always = min(always, float(best[0]))
        self._always = always
        order = sorted(assumed.items(), key=lambda item: item[1])
        self._degree_of = assumed
        self._assumed = [literal for literal, _ in order]
        self._assumed_degrees = np.array([degree for _, degree in order])
        self._parameters = sorted(owner._selectors)
        levels = {*self._assumed_degrees.tolist(), 1.0, always} - {0.0}
        self._levels = np.array(sorted(levels))
        self.lower: dict[str, FloatArray] = {}
        self.upper: dict[str, FloatArray] = {}

    def run(self, upper: Mapping[str, FloatArray]) -> None:
        """Find the degrees of all classes of the outputs, as far as conflicts last."""
        for name, known in upper.items():
            literals = self._literals[name]
            best = np.zeros(len(literals.classes))
            np.maximum.at(best, literals.of, known)
            self.upper[name] = np.minimum(best, self._always)
            self.lower[name] = np.zeros(len(best))
        values = [(float(u), name, i) for name, us in self.upper.items() for i, u in enumerate(us)]
        for _, name, index in sorted(values, key=lambda value: -value[0]):
            first = True
            while self.lower[name][index] < self.upper[name][index]:
                if not self._step(name, index, first):
                    return
                first = False

    def _step(self, name: str, index: int, first: bool) -> bool:
        """Decide a level of a value: at first the upper bound, then the middle; False if unable."""
        lower, upper = self.lower[name][index], self.upper[name][index]
        start, stop = np.searchsorted(self._levels, [lower, upper], side="right").tolist()
        if stop <= start:  # no level is left between the bounds
            self.upper[name][index] = lower
            return True
        level = float(self._levels[stop - 1 if first else (start + stop) // 2])
        literals = self._literals[name].literals
        value = [literals[index]] if literals else []
        n_assumed = int(np.searchsorted(self._assumed_degrees, level))
        if self._remaining <= 0:
            return False
        self._solver.conf_budget(self._remaining)
        before = self._solver.accum_stats()["conflicts"]
        satisfiable = self._solver.solve_limited([*value, *self._assumed[:n_assumed]])
        self._remaining -= self._solver.accum_stats()["conflicts"] - before
        if satisfiable is None:
            self._remaining = 0
            return False
        if satisfiable:
            self._read_model(level)
        else:
            self._read_core(name, index, value)
        return True

    def _read_model(self, level: float) -> None:
        """Raise the lower bounds of the values of a world, whose degree is at least `level`."""
        true = set(self._solver.get_model())  # variables in no clause are in neither form
        class_of = {
            name: next((i for i, literal in enumerate(parts.literals) if literal in true), 0)
            for name, parts in self._literals.items()
            if name in self._class_degrees or name in self.lower
        }
        degree = min(degrees[class_of[name]] for name, degrees in self._class_degrees.items())
        parameter = next((p for p in self._parameters if p >= level), 1.0)
        degree = min(degree, parameter)
        for name, lower in self.lower.items():
            lower[class_of[name]] = max(lower[class_of[name]], degree)

    def _read_core(self, name: str, index: int, value: Sequence[int]) -> None:
        """Lower the upper bounds by the assumptions that contradict each other."""
        core = self._solver.get_core() or []
        others = [literal for literal in core if literal not in value]
        highest = max((self._degree_of[literal] for literal in others), default=0.0)
        if len(others) < len(core):
            self.upper[name][index] = min(self.upper[name][index], highest)
        else:
            for upper in self.upper.values():
                np.minimum(upper, highest, out=upper)
