"""Findings of `Cascade.check` as sentences."""

from collections.abc import Mapping, Sequence
from typing import Any

from pinesy._common.reports import count_text
from pinesy.explanations.labels import Wording, list_text
from pinesy.rules.attributes import Attribute
from pinesy.rules.propositions import Proposition

#: Values of an attribute, inputs of a case, and attributes of an overview that a sentence names.
MAX_VALUES, MAX_INPUTS, MAX_NAMES = 4, 12, 4
#: Attributes between inputs and outputs that an overview names.
MAX_BETWEEN = 2


def finding_text(message: str, propositions: Sequence[Proposition]) -> str:
    """Return a finding as a sentence, which ends with propositions."""
    sentence = Wording().premise_sentence(propositions, MAX_VALUES) if propositions else ""
    text = f"{message} {sentence}".rstrip()
    return f"{text[0].upper()}{text[1:]}."


def case_text(case: Mapping[str, Any], inputs: Sequence[Attribute]) -> str:
    """Return the value of each input in a case; of many inputs the first, and a count."""
    wording = Wording()
    texts = []
    for attribute in inputs:
        if attribute.name in case:
            value = wording.plain_value(attribute, case[attribute.name])
            texts.append(f"{wording.name(attribute)} {value}")
    left = len(texts) - MAX_INPUTS
    return ", ".join([*texts[:MAX_INPUTS], *([f"and {left} more inputs"] if left > 0 else [])])


def overview_text(
    n_rules: int,
    inputs: Sequence[Attribute],
    between: Sequence[Attribute],
    outputs: Sequence[Attribute],
) -> str:
    """Return what rules take to what, as a sentence.

    Examples
    --------
    >>> income, risk, decision = (Attribute(n, [0, 1]) for n in ("income", "risk", "decision"))
    >>> overview_text(9, [income], [risk], [decision])
    '9 rules take 1 input to risk, and risk to decision.'
    """
    verb = "takes" if n_rules == 1 else "take"
    start = f"{count_text(n_rules, 'rule')} {verb} {count_text(len(inputs), 'input')}"
    answers = _names(outputs)
    if not between:
        return f"{start} to {answers}."
    if len(between) > MAX_BETWEEN:
        return f"{start} over {len(between)} attributes in between to {answers}."
    names = _names(between)
    return f"{start} to {names}, and {names} to {answers}."


def _names(attributes: Sequence[Attribute]) -> str:
    """Return the titles of attributes: the first of them, and a count."""
    names = [Wording().name(attribute) for attribute in attributes]
    left = len(names) - MAX_NAMES
    return list_text([*names[:MAX_NAMES], *([f"{left} more"] if left > 0 else [])])
