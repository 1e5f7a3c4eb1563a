"""Rules that are certain, for forms that know true and false alone."""

from collections.abc import Iterable

from pinesy.exceptions import RuleSetError
from pinesy.rulebase.rule_set import RuleSet
from pinesy.semantics.choice_tables import check_certain


def require_certain(rule_sets: Iterable[RuleSet], form: str) -> None:
    """Raise `RuleSetError`, with the cure, for a rule whose `s` or `r` is neither 0 nor 1.

    Parameters
    ----------
    form : what cannot express such rules
    """
    for rule_set in rule_sets:
        try:
            check_certain(rule_set.unit)
        except RuleSetError as error:
            raise RuleSetError(
                f"{form} has no uncertain rules: {error}. Set them (with_parameters), or write the "
                "rules as ONNX (to_onnx), which keeps them"
            ) from None
