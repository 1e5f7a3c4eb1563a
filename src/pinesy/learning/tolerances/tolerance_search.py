"""Thresholds from validation data: how reliable a sample must be to be learned from."""

from collections.abc import Sequence
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.console import progress as progress_bar
from pinesy._common.validation import FloatArray, suggestion
from pinesy.engine.evidence import Evidence
from pinesy.exceptions import DataError
from pinesy.learning.exact.in_memory import Rules, batch_of, with_initial
from pinesy.learning.metrics import Metric, accuracy
from pinesy.learning.tolerances.evaluations import ThresholdSearch
from pinesy.learning.tolerances.exhaustive_search import exhaust
from pinesy.learning.tolerances.judge import Judge
from pinesy.learning.tolerances.paper_search import Problem, climb
from pinesy.learning.tolerances.tolerance_groups import Group, members, resolve

METHODS = ("paper", "exhaustive")


def candidates(count: int = 30, power: float = 5, epsilon: float = 0.001) -> FloatArray:
    """Return candidates for a threshold: ``t_i = (i / l)^h (1 + epsilon)``, ``i = 1 .. l``.

    The last is above 1 and keeps every sample. The defaults are those of the paper's experiments;
    it takes ``h = 2`` where training data are few.

    Parameters
    ----------
    count : their number `l`
    power : ``h >= 1``; the higher, the more of them are close to 0
    epsilon : ``epsilon > 0``

    Examples
    --------
    >>> candidates(4, 2)
    array([0.0625625, 0.25025  , 0.5630625, 1.001    ])
    """
    _check_count(count, "count")
    _check_number(power, "power", 1.0)
    if not _is_number(epsilon) or not 1.0 < 1.0 + epsilon < np.inf:
        raise DataError(
            f"epsilon is {epsilon!r:.60}; it must be a number > 0, and large enough that "
            "1 + epsilon is not 1, so that the last candidate keeps every sample"
        )
    found = (np.arange(1, count + 1) / count) ** power * (1.0 + epsilon)
    if not found[0] > 0.0 or (np.diff(found) <= 0.0).any():
        raise DataError(
            f"power is {power!r}: the lowest of {count} candidates are the same number, too close "
            "to 0; give a lower power"
        )
    return found


def search_thresholds(
    rules: Rules,
    inputs: Evidence,
    targets: Any,
    validation: tuple[Any, Any],
    *,
    groups: Sequence[Any] | None = None,
    metric: Metric = accuracy,
    candidates: npt.ArrayLike | None = None,
    min_improvement: float = 0.01,
    stagnation: int = 1,
    method: str = "paper",
    initial: Any = None,
    progress: bool = True,
) -> ThresholdSearch:
    """Find the tolerances to learn with, by how well what is learned predicts other data.

    The search of the paper starts with the lowest candidate for every group. Where learning is
    impossible, because some set has no reliable sample, the group of that set goes to the next
    candidate. Otherwise the metric is evaluated and all groups go to the next candidate, until the
    metric has not improved by `min_improvement` over `stagnation` evaluations; the thresholds
    returned are the lowest tested ones that reach the metric at which it stopped improving.

    The exhaustive search evaluates every combination of candidates over the groups, and returns
    the best: of those that tie the one with the fewest steps up the candidates, of all groups
    together, then the one with the lowest threshold of the first group, and so on. A model that
    several combinations give is learned and evaluated once.

    Parameters
    ----------
    rules, inputs, targets, initial : as in `learn`
    validation : a pair of inputs and targets; what the metric takes
    groups : the groups of sets that share a threshold: each a name, a pattern such as ``"c_*"``, or
        a tuple of these; by default one group of all sets with targets, ``"*"``. Sets in no group
        keep every sample.
    metric : a function of a cascade and of the `validation` inputs and targets; the larger its
        value the better
    candidates : thresholds to choose from, rising; by default those of `candidates`
    min_improvement, stagnation : when the search of the paper stops
    method : ``"paper"`` or ``"exhaustive"``
    progress : show on a terminal how far the search is, if it takes long

    Examples
    --------
    >>> from pinesy import Attribute, If, RuleSet
    >>> rain, grass = Attribute("rain", ["yes", "no"]), Attribute("grass", ["wet", "dry"])
    >>> rules = RuleSet([If(rain.isin({"yes"})).then(grass.isin({"wet"}))])
    >>> inputs = {"rain": [[1.0, 0.1], [0.2, 1.0], [0.0, 1.0]]}
    >>> targets = ["wet", "dry", "wet"]  # the last one is wrong
    >>> search_thresholds(rules, inputs, targets, (inputs, targets), candidates=[0.15, 0.5, 1.1])
    ThresholdSearch(*=0.15: metric 0.666667, 2 evaluations)
    """
    if method not in METHODS:
        raise DataError(f"there is no method {method!r:.60}{suggestion(method, METHODS)}")
    _check_number(min_improvement, "min_improvement", 0.0)
    _check_count(stagnation, "stagnation")
    cascade = with_initial(rules, initial)
    batch = batch_of(cascade, inputs, targets)
    judge = Judge(metric, validation)
    judge.check(cascade)
    shared = _groups(groups, list(batch.targets))
    problem = Problem(cascade, batch, shared, _candidates(candidates), judge)
    if method == "paper":
        with progress_bar("searching thresholds" if progress else "") as bar:
            return climb(problem, float(min_improvement), stagnation, bar)
    with progress_bar("searching thresholds" if progress else "", problem.n_grid) as bar:
        return exhaust(problem, bar)


def _groups(groups: Sequence[Any] | None, names: Sequence[str]) -> dict[Group, list[str]]:
    """Return the sets of each group; an error where groups overlap or are empty."""
    if groups is None:
        return {"*": list(names)}
    if not isinstance(groups, list | tuple) or not groups:
        raise DataError(
            f"groups is {groups!r:.60}; give a list of groups, such as ['c_*', ('x', 'y')]"
        )
    keys = [_group(group) for group in groups]
    if len(set(keys)) < len(keys):
        raise DataError(f"a group is given twice: {keys}; give each once")
    resolve(dict.fromkeys(keys, 1.0), names)  # raises where they overlap
    return {key: members(key, names) for key in keys}


def _group(group: object) -> Group:
    """Return a group by names: attributes have one."""
    parts = group if isinstance(group, tuple) else (group,)
    names = [getattr(part, "name", part) for part in parts]
    found = tuple(name for name in names if isinstance(name, str))
    if not found or len(found) < len(names):
        raise DataError(
            f"a group is {group!r:.60}; it must be a name, a pattern such as 'c_*', or a tuple of "
            "these"
        )
    return found if isinstance(group, tuple) else found[0]


def _candidates(given: npt.ArrayLike | None) -> FloatArray:
    if given is None:
        return candidates()
    array = np.asarray(given)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "fiu":
        raise DataError(
            f"the candidates are {given!r:.60}; give a sequence of numbers, such as candidates(30)"
        )
    found = array.astype(np.float64)
    if not (np.isfinite(found).all() and found[0] > 0.0 and (np.diff(found) > 0.0).all()):
        raise DataError(
            f"the candidates are {given!r:.60}; they must be finite, above 0 and rising"
        )
    return found


def _check_count(number: object, what: str) -> None:
    if not isinstance(number, int | np.integer) or isinstance(number, bool) or number < 1:
        raise DataError(f"{what} is {number!r:.60}; it must be a whole number >= 1")


def _check_number(number: object, what: str, least: float) -> None:
    if not _is_number(number) or not number >= least or not isfinite(number):  # type: ignore
        raise DataError(f"{what} is {number!r:.60}; it must be a number >= {least:g}")


def _is_number(number: object) -> bool:
    return isinstance(number, Real) and not isinstance(number, bool)
