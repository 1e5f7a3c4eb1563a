"""Justifications: the premises, or else the rule parameters, that set the degree of a value."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pinesy.explanations.sample import Sample
from pinesy.explanations.tables import BoolArray
from pinesy.explanations.triplets import Triplet
from pinesy.rules.attributes import Attribute
from pinesy.rules.rule import Rule


@dataclass(frozen=True)
class Parameter:
    """A rule parameter that sets a degree: `name` is ``"s"`` or ``"r"``."""

    rule: Rule
    number: int
    name: Literal["s", "r"]
    degree: float


@dataclass(frozen=True, eq=False)
class Justification:
    """Why ``pi*(value) = degree``: triplets, or rule parameters where no premise attains it.

    With the degree of any one triplet's premise held, no change of other inputs can raise the
    possibility of the value above `degree`.
    """

    attribute: Attribute
    value: Hashable
    degree: float
    triplets: tuple[Triplet, ...]
    parameters: tuple[Parameter, ...]

    @property
    def by_parameters(self) -> bool:
        """Whether rule parameters alone set the degree."""
        return not self.triplets


def justify(sample: Sample, attribute: Attribute, position: int, eta: float) -> Justification:
    """Return the justification of the degree of ``domain[position]``.

    Triplets are ``(p_i, P, lambda_i)`` where the value is in ``Q_i``, ``s_i <= lambda_i`` and
    ``lambda_i = pi*(u)``; ``(p_i, C, 1 - rho_i)`` where it is not, ``r_i <= rho_i`` and
    ``rho_i = pi*(u)``. Those that hold come first.
    """
    table = sample.table(attribute.name)
    tau = float(sample.degrees(attribute.name)[position])
    inside, parameters = table.inside[position], table.parameters[position]
    lambdas, rhos = sample.premises(attribute.name)
    degrees = np.where(inside, lambdas, rhos)
    attained = np.flatnonzero((degrees == tau) & (parameters <= degrees))
    order = [*attained[inside[attained]].tolist(), *attained[~inside[attained]].tolist()]
    return Justification(
        attribute,
        attribute.domain[position],
        tau,
        tuple(
            Triplet(table.rules[i], i + 1, "P" if inside[i] else "C", tau, eta, sample, table)
            for i in order
        ),
        () if order else _parameters(table.rules, inside, (parameters == tau) & (degrees < tau)),
    )


def _parameters(rules: Sequence[Rule], inside: BoolArray, sets: BoolArray) -> tuple[Parameter, ...]:
    return tuple(
        Parameter(rules[i], i + 1, "s", rules[i].s)
        if inside[i]
        else Parameter(rules[i], i + 1, "r", rules[i].r)
        for i in np.flatnonzero(sets).tolist()
    )
