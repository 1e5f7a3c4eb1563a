"""Outcomes: whether a result decides, and if not, why not; as codes, and in words.

Every result has one of five codes, and `verdict_text` is the only place that puts it into words
(the page in one file has the same in JavaScript, `exchange/web/words.js`).
"""

from collections.abc import Hashable, Sequence
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import BoolArray
from pinesy.rules.syntax.writer import show_value

#: * ``decided``: one value alone is fully possible;
#: * ``several``: some values are, and others are excluded or less possible;
#: * ``no_rule``: all values are, so that no rule restricts anything;
#: * ``novel``: of calibrated rules, no value of some input conforms at the level;
#: * ``contradiction``: no value is fully possible, here or behind.
#:
#: From the best to the worst: of several outputs together, the worst counts.
Outcome = Literal["decided", "several", "no_rule", "novel", "contradiction"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
#: Outcomes as a reader of a table sees them.
OUTCOME_WORDS: dict[Outcome, str] = {
    "decided": "decided",
    "several": "several values",
    "no_rule": "no rule decides",
    "novel": "novel",
    "contradiction": "contradiction",
}
#: Values that a verdict names; more are counted.
NAMED = 5


def outcome_indices(
    remaining: BoolArray, unrestricted: Any, contradictory: Any, novel: Any = False
) -> npt.NDArray[np.intp]:
    """Return the indices of outcomes in `OUTCOMES`, one for each sample.

    Parameters
    ----------
    remaining : shape ``(..., values)``, the values that remain
    unrestricted : whether no value is less possible than another
    contradictory, novel : whether it is that, which comes first

    Examples
    --------
    >>> outcome_indices(np.array([[True, False], [True, True]]), [False, True], [False, False])
    array([0, 2])
    """
    undecided = np.where(unrestricted, OUTCOMES.index("no_rule"), OUTCOMES.index("several"))
    index = np.where(np.asarray(remaining).sum(axis=-1) == 1, 0, undecided)
    index = np.where(novel, OUTCOMES.index("novel"), index)
    return np.where(contradictory, OUTCOMES.index("contradiction"), index)


def outcome_codes(indices: npt.NDArray[np.intp]) -> Any:
    """Return outcomes by their indices in `OUTCOMES`: one code, or an array of them."""
    if indices.ndim == 0:
        return OUTCOMES[int(indices)]
    return np.array(OUTCOMES)[indices]


def verdict_text(
    outcome: Outcome,
    values: Sequence[str] = (),
    certainty: float | None = None,
    contradiction: float | None = None,
    rules: str = "",
) -> str:
    """Return an outcome in words.

    Parameters
    ----------
    outcome : its code
    values : the names of the values that remain
    certainty : of the value that is decided on, where it is known
    contradiction : how far the rules contradict each other, in place of the rules that do
    rules : the rules that contradict each other, see `clash_text`

    Examples
    --------
    >>> verdict_text("decided", ["approve"], certainty=0.8)
    'approve, certain at 0.8'
    >>> verdict_text("several", ["approve", "review"])
    'undecided: approve or review remain'
    >>> verdict_text("no_rule")
    'undecided: no rule decides'
    >>> verdict_text("contradiction", rules="rules 2 and 7")
    'contradiction: rules 2 and 7'
    """
    if outcome == "decided":
        return ", ".join([*values[:1], *([] if certainty is None else [certain_text(certainty)])])
    if outcome == "several":
        unnamed = len(values) - NAMED
        names = [*values[:NAMED], *([f"{unnamed} more"] if unnamed > 0 else [])]
        return f"undecided: {list_text(names, 'or')} remain"
    if outcome == "no_rule":
        return "undecided: no rule decides"
    if outcome == "novel":
        return "novel: unlike the samples of calibration"
    if rules:
        return f"contradiction: {rules}"
    return "contradiction" if contradiction is None else f"contradiction {contradiction:.4g}"


def clash_text(output: str, attribute: str, numbers: Sequence[int]) -> str:
    """Return rules that contradict each other; where they are behind the output, on what.

    Parameters
    ----------
    output : the name of the attribute that has the outcome
    attribute : the name of the one that the rules conclude on
    numbers : of the rules in their set, from 1

    Examples
    --------
    >>> clash_text("risk", "risk", [2, 7]), clash_text("risk", "age", [3])
    ('rules 2 and 7', 'rule 3 on age')
    """
    rules = numbered_rules([number - 1 for number in numbers])
    return rules if output == attribute else f"{rules} on {attribute}"


def plain_text(value: Hashable) -> str:
    """Return a value as people read it: a text as it is, others as rules have them."""
    return value if isinstance(value, str) and value else show_value(value)


def numbered_rules(indices: Sequence[int]) -> str:
    """Return rules by their numbers, which count from 1.

    Examples
    --------
    >>> numbered_rules([0]), numbered_rules([0, 4]), numbered_rules([0, 1, 2])
    ('rule 1', 'rules 1 and 5', 'rules 1, 2 and 3')
    """
    numbers = [str(index + 1) for index in indices]
    return f"rule{'s' * (len(numbers) > 1)} {list_text(numbers)}"


def list_text(texts: Sequence[str], last: str = "and") -> str:
    """Join texts with commas, and a word before the last one."""
    return f" {last} ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def certain_text(degree: float) -> str:
    """Return how certain something is.

    Examples
    --------
    >>> certain_text(1.0), certain_text(0.25), certain_text(0.99999)
    ('certain', 'certain at 0.25', 'certain at more than 0.999')
    """
    return "certain" if degree == 1.0 else f"certain at {number_text(degree)}"


def number_text(
    degree: float, digits: int = 3, below: str = "less than ", above: str = "more than "
) -> str:
    """Write a degree with some digits; what is not 0 or 1 is not written as if it were.

    Examples
    --------
    >>> number_text(0.30000000000000004), number_text(0.99999), number_text(1e-9)
    ('0.3', 'more than 0.999', 'less than 0.001')
    >>> number_text(0.456, 2, "<", ">"), number_text(0.999, 2, "<", ">")
    ('0.46', '>0.99')
    """
    least = 10.0**-digits
    if 0.0 < degree < least:
        return f"{below}{least:g}"
    if 1.0 - least < degree < 1.0:
        return f"{above}{1.0 - least:g}"
    return f"{degree:.{digits}g}"
