"""What `NeuroSymbolic.fit` is given beside samples: tolerances, or data to choose them by."""

from collections.abc import Mapping, Sequence
from typing import Any

from pinesy.exceptions import DataError, placed
from pinesy.learning import accuracy
from pinesy.learning.evaluations import answers
from pinesy.learning.learning_arguments import Tolerance, members, resolve
from pinesy.model.perceptions import RawSamples
from pinesy.rulebase.cascade import Cascade
from pinesy.rules.attributes import Attribute


def check_choice(
    validation: object, tolerance: Tolerance, search: Mapping[str, Any], targeted: Sequence[str]
) -> None:
    """Raise an error unless tolerances are given or there are validation data to choose them by.

    Parameters
    ----------
    search : how to choose, those arguments of `search_tolerances` that were given
    targeted : the rule sets that have targets; only they may be named
    """
    if validation is None and search:
        raise DataError(
            f"{', '.join(search)}: for a search for tolerances, which needs validation data"
        )
    if validation is not None and tolerance is not None:
        raise DataError(
            "tolerance and validation are both given; tolerances are either given or chosen by "
            "validation data"
        )
    resolve(tolerance, targeted)
    groups = search.get("groups")
    for group in groups if isinstance(groups, list | tuple) else ():
        members(group, targeted)


def validation_of(
    rules: Cascade, inputs: tuple[Attribute, ...], given: object, search: Mapping[str, Any]
) -> tuple[RawSamples, Any]:
    """Check validation data: their targets too, if it is known what the metric takes."""
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise DataError(f"the validation data are {given!r:.60}; give a pair (samples, targets)")
    data, targets = given
    samples = RawSamples.of(data, inputs, "samples of the validation data")
    if search.get("metric", accuracy) is accuracy:
        with placed("the validation data"):
            answers(rules, samples.ignorance, targets)
    return samples, targets
