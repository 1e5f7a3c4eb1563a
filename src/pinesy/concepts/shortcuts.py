"""Reasoning shortcuts: remappings of concepts that keep all observed answers right."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, product
from math import prod
from typing import Any

import numpy as np

from pinesy._common.reports import count_text
from pinesy._common.validation import BoolArray, FloatArray, check_integer
from pinesy.concepts.concept_check import ConceptCheck
from pinesy.concepts.observed_answers import (
    ConceptKind,
    Indices,
    Labelled,
    Observed,
    ObservedAnswers,
    by_kind,
    concept_kinds,
    labelled_values,
    observed_rows,
)
from pinesy.concepts.remapping_search import GroupRemappings, group_remappings, variable_groups
from pinesy.exceptions import DegreeError, UnknownAttributeError
from pinesy.rulebase.cascade import Cascade, Outputs, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.syntax.writer import show_value

#: For each kind the prediction for each true value.
Readings = dict[str, dict[Hashable, Hashable]]


@dataclass(frozen=True)
class Remapping:
    """A map from the true values of each kind to the values that a network predicts."""

    readings: Readings

    @cached_property
    def wrong(self) -> Readings:
        """The readings of values that are mapped to another value."""
        by_kind = {
            kind: {value: other for value, other in pairs.items() if value != other}
            for kind, pairs in self.readings.items()
        }
        return {kind: pairs for kind, pairs in by_kind.items() if pairs}

    @property
    def is_true(self) -> bool:
        """Whether every value is mapped to itself."""
        return not self.wrong

    def __str__(self) -> str:
        """Return the wrong readings, such as ``"2 as 3, 3 as 2, 4 as 3"``."""
        if self.is_true:
            return "all right"
        parts = {
            kind: ", ".join(f"{show_value(v)} as {show_value(r)}" for v, r in pairs.items())
            for kind, pairs in self.wrong.items()
        }
        if len(self.readings) == 1:
            return next(iter(parts.values()))
        return "; ".join(f"{kind}: {part}" for kind, part in parts.items())


@dataclass(frozen=True, eq=False)
class Shortcuts:
    """The remappings of concepts that keep all observed answers right.

    Attributes
    ----------
    kinds : the kinds of inputs; inputs of a kind share a network
    combinations : the number of distinct combinations of values observed
    groups : independent groups of values, with their remappings
    limit : the most remappings that are listed
    """

    kinds: tuple[ConceptKind, ...]
    combinations: int
    groups: tuple[GroupRemappings, ...]
    limit: int
    _answers: ObservedAnswers = field(repr=False)

    @property
    def count(self) -> int:
        """The number of remappings with the true one; a lower bound if not `exact`."""
        return prod(len(group.maps) for group in self.groups)

    @property
    def exact(self) -> bool:
        """Whether `count` is the exact number."""
        return all(group.exact for group in self.groups)

    @property
    def remappings(self) -> list[Remapping]:
        """The first `limit` remappings; the very first is the true one."""
        remappings = []
        for choice in islice(product(*(group.maps for group in self.groups)), self.limit):
            readings = self._answers.truth.copy()
            for group, group_readings in zip(self.groups, choice, strict=True):
                readings[group.variables] = group_readings
            remappings.append(self._remapping(readings))
        return remappings

    def _remapping(self, indices: Indices) -> Remapping:
        """Return the remapping with the positions that all variables are read as."""
        readings: Readings = {}
        for (k, value), other in zip(self._answers.variables, indices.tolist(), strict=True):
            kind = self.kinds[k]
            readings.setdefault(kind.name, {})[kind.domain[value]] = kind.domain[other]
        return Remapping(readings)

    def _values_by_kind(
        self, variables: Iterable[tuple[int, int]]
    ) -> dict[str, tuple[Hashable, ...]]:
        """Return the values of variables (kind, position) by the name of the kind."""
        values: dict[str, tuple[Hashable, ...]] = {}
        for k, value in variables:
            kind = self.kinds[k]
            values[kind.name] = (*values.get(kind.name, ()), kind.domain[value])
        return values

    @property
    def labels(self) -> dict[str, tuple[Hashable, ...]]:
        """A smallest set of values, by kind, whose labels would leave only the true remapping."""
        indices = sorted(index for group in self.groups for index in group.labels)
        return self._values_by_kind(self._answers.variables[index] for index in indices)

    @property
    def unobserved(self) -> dict[str, tuple[Hashable, ...]]:
        """The values of each kind that were never observed; they may be read as any value."""
        variables = ((k, i) for k, kind in enumerate(self.kinds) for i in range(len(kind.domain)))
        known = set(self._answers.variables)
        return self._values_by_kind(variable for variable in variables if variable not in known)

    # --- networks ------------------------------------------------------------------------------

    def looks_like(
        self, checks: ConceptCheck | Mapping[Any, ConceptCheck]
    ) -> tuple[Remapping, float]:
        """Return the remapping nearest to a network, and the share of inputs that agree with it.

        Parameters
        ----------
        checks : the result of `check_concepts` for each kind, by the name of the kind or of an
            input; for one kind, the result itself
        """
        by_name = checks if isinstance(checks, Mapping) else {self.kinds[0].name: checks}
        confusions = {k: check.confusion for _, k, check in by_kind(self.kinds, by_name)}
        for k, kind in enumerate(self.kinds):
            if k not in confusions:
                raise UnknownAttributeError(
                    f"nothing is given for the kind {kind.name!r}; give a dict with all kinds"
                )
        indices, variables = self._answers.truth.copy(), np.array(self._answers.variables)
        for group in self.groups:
            agreeing = np.zeros(len(group.maps))
            for column, index in enumerate(group.variables):
                k, value = variables[index]
                agreeing += confusions[k][value, group.maps[:, column]]
            indices[group.variables] = group.maps[int(agreeing.argmax())]
        rows = [confusions[k][value] for k, value in variables]
        total = sum(int(row.sum()) for row in rows)
        fits = sum(int(row[r]) for row, r in zip(rows, indices, strict=True))
        return self._remapping(indices), fits / max(1, total)

    @cached_property
    def _possible_readings(self) -> list[BoolArray]:
        """For each kind, whether some remapping reads a value (rows) as another (columns).

        Values that were not observed may be read as any value, and so may those of groups that are
        not `exact`.
        """
        relation = [np.ones((len(kind.domain),) * 2, dtype=bool) for kind in self.kinds]
        for k, value in self._answers.variables:
            relation[k][value] = np.arange(len(relation[k])) == value
        for group in self.groups:
            for column, index in enumerate(group.variables):
                k, value = self._answers.variables[index]
                relation[k][value, group.maps[:, column] if group.exact else slice(None)] = True
        return relation

    def cautious(self, evidence: Mapping[Any, Any]) -> dict[str, FloatArray]:
        """Return evidence that is valid whichever remapping a network has learned.

        A value is as possible as any value that some remapping reads it as: ``max_alpha
        pi(alpha(v))``. So the true value is at least as possible as the value that is read.

        Parameters
        ----------
        evidence : for inputs the possibilities (n, |domain|), or of one sample (|domain|,)

        Returns
        -------
        degrees : by the names of the inputs, as `infer` takes them
        """
        cautious: dict[str, FloatArray] = {}
        for name, k, content in by_kind(self.kinds, evidence):
            relation = self._possible_readings[k]
            degrees = np.asarray(content, dtype=np.float64)
            if degrees.ndim not in (1, 2) or degrees.shape[-1] != len(relation):
                raise DegreeError(
                    f"the input {name!r} has {len(relation)} values, so it takes degrees of shape "
                    f"({len(relation)},) or (n, {len(relation)}); got shape {degrees.shape}"
                )
            cautious[name] = np.where(relation, degrees[..., None, :], 0.0).max(axis=-1)
        return cautious

    # --- text --------------------------------------------------------------------------------

    def __str__(self) -> str:
        """Return the count, the remappings and the labels as text."""
        few = "" if self.exact else "at least "
        maps, combos = (
            count_text(self.count, "remapping"),
            count_text(self.combinations, "combination"),
        )
        keep = "keeps" if self.count == 1 else "keep"
        counts = [f"{'' if g.exact else 'at least '}{len(g.maps):,}" for g in self.groups]
        product_text = (
            f" ({' x '.join(counts)})"
            if len([g for g in self.groups if len(g.maps) > 1]) > 1
            else ""
        )
        lines = [f"{few}{maps} of concepts{product_text} {keep} the answers to {combos} right"]
        notes = []
        if self.unobserved:
            notes = [f"never observed, so read as anything: {_values_text(self.unobserved)}"]
        if self.count == 1:
            return "\n".join([*lines, "no shortcut: the answers tell the concepts", *notes])
        lines += [f"{i + 1:>5}. {remapping}" for i, remapping in enumerate(self.remappings)]
        if self.count > self.limit:
            lines.append(f"       ... and {self.count - self.limit:,} more (limit={self.limit})")
        labels = sum(map(len, self.labels.values()))
        lines.append(
            f"{count_text(labels, 'label')} would leave only the true one: "
            f"{_values_text(self.labels)}"
        )
        return "\n".join([*lines, *notes])

    def to_dict(self) -> dict[str, Any]:
        """Return the count, remappings and labels as plain data."""
        return {
            "count": self.count,
            "exact": self.exact,
            "combinations": self.combinations,
            "kinds": {kind.name: [a.name for a in kind.inputs] for kind in self.kinds},
            "groups": [len(group.maps) for group in self.groups],
            "remappings": [
                {
                    kind: list(map(list, readings.items()))
                    for kind, readings in remapping.readings.items()
                }
                for remapping in self.remappings
            ],
            "labels": {kind: list(values) for kind, values in self.labels.items()},
            "unobserved": {kind: list(values) for kind, values in self.unobserved.items()},
        }


def _values_text(values: Mapping[str, Iterable[Hashable]]) -> str:
    """Return values with the names of their kinds."""
    texts = (f"{', '.join(map(show_value, group))} ({kind})" for kind, group in values.items())
    return "; ".join(texts)


def shortcuts(
    rules: Cascade | RuleSet,
    observed: Observed = None,
    *,
    kinds: Mapping[str, Iterable[Any]] | None = None,
    labelled: Labelled | None = None,
    outputs: Outputs = None,
    limit: int = 100,
) -> Shortcuts:
    """Return the remappings of concepts that keep every observed answer right.

    A remapping ``alpha`` maps, for each kind of inputs, each value to the value that a network
    reads. It keeps the answers right if ``f(alpha(x)) = f(x)`` for all observed ``x``, where
    ``f(x)`` is the set of fully possible values of each output. The identity, the true remapping,
    always does; all others are shortcuts (docs/shortcuts.md).

    Remappings are enumerated value by value; if there are too many partial ones, a SAT solver finds
    them, which needs the extra ``shortcuts``.

    Parameters
    ----------
    rules : a `Cascade` or a `RuleSet`
    observed : the combinations of true values in the data. Rows of values, in the order of the
        inputs; a dict or a table of columns; a condition such as ``"left + right < 5"``, or a
        function of the values; None for all combinations
    kinds : inputs that share a network, by the name of the kind; other inputs have one each. By
        default inputs with equal domains share one.
    labelled : by kinds or inputs, values that are known to be read correctly
    outputs : the attributes of the answers; by default those that no premise uses
    limit : the most remappings that are listed. It limits the count only if the solver counts, and
        then `exact` is False.

    Examples
    --------
    >>> from pinesy import Attribute, function, joint, shortcuts
    >>> left, right = Attribute("left", range(5)), Attribute("right", range(5))
    >>> addition = function("total", joint("pair", left, right), "left + right")
    >>> print(shortcuts(addition, [(0, 0), (0, 1), (2, 3), (2, 4)]))
    3 remappings of concepts keep the answers to 4 combinations right
        1. all right
        2. 2 as 3, 3 as 2, 4 as 3
        3. 2 as 4, 3 as 1, 4 as 2
    1 label would leave only the true one: 2 (left, right)
    """
    limit = check_integer(limit, "limit", least=1)
    program = as_cascade(rules).compile(outputs)
    shared = concept_kinds(program.inputs, kinds)
    rows = observed_rows(observed, program.inputs)
    answers = ObservedAnswers(program, shared, rows, labelled_values(shared, labelled))
    groups = tuple(group_remappings(answers, group, limit) for group in variable_groups(answers))
    return Shortcuts(shared, len(rows), groups, limit, answers)
