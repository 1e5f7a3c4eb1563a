"""The most probable world: a value of each attribute that probabilities, rules and targets fit."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pinesy._common.caching import cached_on_owner
from pinesy._common.names import name_of
from pinesy._common.validation import BoolArray, check_known, check_number, object_array
from pinesy.evidence.evidence_form import Evidence, evidence_form
from pinesy.evidence.targets import Target, named_targets, read_targets
from pinesy.exact.most_probable import MostProbableWorlds
from pinesy.exceptions import DataError
from pinesy.inverse.posterior import check_names
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.syntax.writer import show_value
from pinesy.semantics.world_weights import probabilities_of

#: The time of the search for a sample, at most, by default.
MAX_SECONDS = 60.0


@dataclass(frozen=True, eq=False, repr=False)
class BestWorld(Mapping[str, Any]):
    """The values of attributes in the most probable world, by attribute name or attribute.

    For a batch each is an array; the value is None where no world is left, or the time was spent.

    Attributes
    ----------
    log_probability : the logarithm of the product of the probabilities of its input values;
        ``-inf`` where no world is left, NaN where it is not known, as the time was spent
    """

    _values: Mapping[str, Any]
    log_probability: Any

    def __getitem__(self, key: str | Attribute) -> Any:
        name = name_of(key)
        check_known(name, self._values, f"{name!r} is not among the attributes")
        return self._values[name]

    @property
    def probability(self) -> Any:
        """The product of the probabilities of its input values; 0 where no world is left."""
        return (
            np.exp(self.log_probability) if self.is_batch else float(np.exp(self.log_probability))
        )

    @property
    def is_batch(self) -> bool:
        """Whether there are several samples."""
        return np.ndim(self.log_probability) > 0

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    @property
    def known(self) -> Any:
        """Whether the search came to its end; for a batch, an array."""
        known = ~np.isnan(self.log_probability)
        return known if self.is_batch else bool(known)

    def __repr__(self) -> str:
        names = list(self)[:4] + ["..."] * (len(self) > 4)
        if self.is_batch:
            lost = int(np.count_nonzero(np.isneginf(self.log_probability)))
            unknown = int(np.count_nonzero(~self.known))
            note = f"; {lost} without a world" * (lost > 0)
            note += f"; {unknown} not known" * (unknown > 0)
            return f"BestWorld({len(self.log_probability)} samples of {', '.join(names)}{note})"
        if np.isneginf(self.log_probability):
            return "BestWorld(no world is left)"
        if not self.known:
            return "BestWorld(not known: the time was spent)"
        values = [n if n == "..." else f"{n}={show_value(self[n])}" for n in names]
        return f"BestWorld({', '.join(values)}; probability {self.probability:.4g})"


def best_world(
    rules: RuleSet | Cascade,
    probabilities: Evidence,
    targets: Any = None,
    attributes: Iterable[str | Attribute] | None = None,
    *,
    max_seconds: float = MAX_SECONDS,
) -> BestWorld:
    """Return the most probable world that satisfies all rules, and targets.

    It is the world that the semantics ``"most probable explanation"`` weighs most, with loops too:
    where its tables are too large, as for Sudoku, a solver finds the world (docs/semantics.md).

    Parameters
    ----------
    rules : without uncertainty: `s` and `r` are 0 or 1
    probabilities : of the inputs, for one sample or a batch, as ``infer(..., semantics=...)`` takes
        them
    targets : known values of attributes, as `posterior` takes them; a distribution must have the
        degrees 0 and 1 only, for values that are excluded and those that are not
    attributes : the attributes of the result, by default the inputs of the rules
    max_seconds : the time of the search for a sample, at most; when it is spent, the world of that
        sample is not known

    Examples
    --------
    >>> from pinesy.problems import addition
    >>> sees = {"a_1": {3: 0.8, 8: 0.2}, "a_2": {4: 0.9, 9: 0.1}}
    >>> best_world(addition(1), sees, {"y_0": 1, "y_1": 2})  # their sum is 12
    BestWorld(a_1=8, a_2=4; probability 0.18)
    """
    cascade = as_cascade(rules)
    max_seconds = check_number(max_seconds, "max_seconds")
    rows = evidence_form(cascade, cascade.inputs).rows(probabilities, probabilities=True)
    inputs = probabilities_of(rows)
    known = {a.name: a for s in cascade.order for a in (*s.inputs, s.output)}
    names = check_names(known, cascade.inputs if attributes is None else attributes)
    only = cascade.outputs[0] if len(cascade.outputs) == 1 else None
    by_name = {} if targets is None else named_targets(targets, known, only, optional=True)
    allowed = {
        name: _allowed_values(target)
        for name, target in read_targets(by_name, known, rows.n, is_batch=rows.is_batch).items()
    }
    worlds = _most_probable_worlds(cascade, tuple(dict.fromkeys([*names, *allowed])))
    indices = np.full((len(names), rows.n), -1)
    logs = np.full(rows.n, -np.inf)
    for row in range(rows.n):
        row_inputs = {name: p[row] for name, p in inputs.items()}
        row_allowed = {name: mask[row] for name, mask in allowed.items()}
        try:
            world = worlds.find(row_inputs, row_allowed, max_seconds)
        except TimeoutError:
            logs[row] = np.nan
            continue
        if world is not None:
            indices[:, row] = [world[name] for name in names]
            logs[row] = sum(np.log(p[world[name]]) for name, p in row_inputs.items())
    domains = {name: object_array([*known[name].domain, None]) for name in names}
    values = {name: domains[name][row] for name, row in zip(names, indices, strict=True)}
    if rows.is_batch:
        return BestWorld(values, logs)
    return BestWorld({name: array[0] for name, array in values.items()}, float(logs[0]))


def _allowed_values(target: Target) -> BoolArray:
    """Return which values targets allow (n, values)."""
    degrees = target.distributions
    if not np.isin(degrees, (0.0, 1.0)).all():
        raise DataError(
            f"the target of {target.attribute.name!r} has degrees between 0 and 1, and a world has "
            "none; give a value, or the degree 1 of all values that are not excluded"
        )
    return np.asarray(degrees == 1.0)


@cached_on_owner
def _most_probable_worlds(cascade: Cascade, outputs: tuple[str, ...]) -> MostProbableWorlds:
    units = [rule_set.unit for rule_set in cascade.order]
    return MostProbableWorlds(units, [a.name for a in cascade.inputs], outputs)
