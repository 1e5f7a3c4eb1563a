"""All changes of the kind that smallest_change speaks of, tried one after the other."""

from collections.abc import Hashable, Iterator, Mapping
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt

import oracles
from pinesy import Attribute, Cascade, Possibility

IntArray = npt.NDArray[np.intp]
Inputs = Mapping[str, list[float]]


def ways(pi: list[float], clearance: float) -> Iterator[list[float]]:
    """An input stays as it is, or is read as one of its values."""
    yield pi
    for i in range(len(pi)):
        yield [1.0 if k == i else min(d, 1.0 - clearance) for k, d in enumerate(pi)]


def leaders(pi: Possibility) -> list[Hashable]:
    """The values of the highest degree, whether it is 1 or not."""
    highest = pi.degrees.max()
    return [v for v, d in zip(pi.attribute.domain, pi.degrees, strict=True) if d == highest]


def winning(pi: Possibility, place: int) -> IntArray:
    """The rows of a batch that decide on a value; if none does, those where it is the only leader.

    A row decides if the value alone has degree 1, and no distribution behind is below 1.
    """
    others = np.delete(pi.degrees, place, axis=1).max(axis=1, initial=-1.0)
    leads = pi.degrees[:, place] > others
    decides = leads & (pi.degrees[:, place] == 1.0) & pi.normalised
    return np.flatnonzero(decides if decides.any() else leads)


def count(evidence: Inputs) -> int:
    return prod(len(pi) + 1 for pi in evidence.values())


def changes(evidence: Inputs, clearance: float) -> Iterator[tuple[float, dict[str, list[float]]]]:
    """Every combination, with the largest change of a degree."""
    for chosen in product(*(ways(pi, clearance) for pi in evidence.values())):
        new = dict(zip(evidence, chosen, strict=True))
        yield distance(evidence, new), new


def distance(old: Inputs, new: Inputs) -> float:
    return max(abs(a - b) for n in old for a, b in zip(old[n], new[n], strict=True))


def infer(
    cascade: Cascade, evidence: Mapping[str, list[Fraction]] | Inputs, output: Attribute
) -> dict[Hashable, Fraction]:
    """By the definition, in fractions."""
    domains = {a.name: a.domain for a in cascade.inputs}
    known = {n: dict(zip(domains[n], map(Fraction, pi), strict=True)) for n, pi in evidence.items()}
    return dict(oracles.infer(cascade.rule_sets, known).distributions[output.name])


def reaches(
    cascade: Cascade, evidence: Inputs, output: Attribute, value: Hashable, decides: bool
) -> bool:
    """Whether a value wins by the definition and, if it must decide, nothing contradicts."""
    domains = {a.name: a.domain for a in cascade.inputs}
    known = {n: dict(zip(domains[n], map(Fraction, pi), strict=True)) for n, pi in evidence.items()}
    outcome = oracles.infer(cascade.rule_sets, known)
    is_coherent = outcome.coherent[output.name]
    return wins(outcome.distributions[output.name], value) and (is_coherent or not decides)


def wins(pi: Mapping[Hashable, Fraction], value: Hashable) -> bool:
    return all(pi[value] > d for u, d in pi.items() if u != value)
