"""Outcomes: whether a result is decided, and if not, why not; as codes and as text.

Every result has one of five codes, and only `verdict_text` writes it as text (the page in one file
has the same in JavaScript, `exchange/web/words.js`).
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
#: The outcome of a case below the threshold of certainty from which cases are decided
#: (`pinesy.decide`); there the outcome of the others is ``decided``.
HANDED_OVER = "handed_over"
#: Outcomes as a reader of a table sees them.
OUTCOME_WORDS: dict[Outcome, str] = {
    "decided": "decided",
    "several": "several values",
    "no_rule": "no rule decides",
    "novel": "novel",
    "contradiction": "contradiction",
}
#: Values that a verdict lists, at most; more are counted.
MAX_LISTED = 5


def outcome_indices(
    remaining: BoolArray, unrestricted: Any, contradictory: Any, novel: Any = False
) -> npt.NDArray[np.intp]:
    """Return the indices of outcomes in `OUTCOMES`, one for each sample.

    Parameters
    ----------
    remaining : shape ``(..., values)``, the values that remain
    unrestricted : whether no value is less possible than another
    contradictory, novel : whether the outcome is this one, the former before the latter

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
    """Return the codes of outcomes, given by their indices in `OUTCOMES`: one, or an array."""
    if indices.ndim == 0:
        return OUTCOMES[int(indices)]
    return np.array(OUTCOMES)[indices]


def verdict_text(
    outcome: Outcome | Literal["handed_over"],
    values: Sequence[str] = (),
    certainty: float | None = None,
    contradiction: float | None = None,
    rules: str = "",
) -> str:
    """Return an outcome as text.

    Parameters
    ----------
    outcome : the code
    values : the names of the values that remain
    certainty : the certainty of the decided value, if known
    contradiction : the degree of contradiction, shown if `rules` is empty
    rules : the rules that contradict each other, as `rule_numbers_text` returns them

    Examples
    --------
    >>> verdict_text("decided", ["approve"], certainty=0.8)
    'approve, certain at 0.8'
    >>> verdict_text("handed_over", ["approve"], certainty=0.3)
    'handed over: may be approve, certain at 0.3'
    >>> verdict_text("several", ["approve", "review"])
    'undecided: approve or review remain'
    >>> verdict_text("no_rule")
    'undecided: no rule decides'
    >>> verdict_text("contradiction", rules="rules 2 and 7")
    'contradiction: rules 2 and 7'
    """
    if outcome == "decided":
        return ", ".join([*values[:1], *([] if certainty is None else [certainty_text(certainty)])])
    if outcome == HANDED_OVER:
        guess = f"handed over: may be {list_text(values[:1])}"
        return guess if certainty is None else f"{guess}, {certainty_text(certainty)}"
    if outcome == "several":
        unnamed = len(values) - MAX_LISTED
        names = [*values[:MAX_LISTED], *([f"{unnamed} more"] if unnamed > 0 else [])]
        return f"undecided: {list_text(names, 'or')} remain"
    if outcome == "no_rule":
        return "undecided: no rule decides"
    if outcome == "novel":
        return "novel: unlike the samples of calibration"
    if rules:
        return f"contradiction: {rules}"
    return "contradiction" if contradiction is None else f"contradiction {contradiction:.4g}"


def plain_text(value: Hashable) -> str:
    """Return a value as text: a str without quotes, other values in their written form."""
    return value if isinstance(value, str) and value else show_value(value)


def rule_numbers_text(numbers: Sequence[int]) -> str:
    """Return the numbers of rules as text.

    Examples
    --------
    >>> rule_numbers_text([1]), rule_numbers_text([1, 5]), rule_numbers_text([1, 2, 3])
    ('rule 1', 'rules 1 and 5', 'rules 1, 2 and 3')
    """
    return f"rule{'s' * (len(numbers) > 1)} {list_text([str(number) for number in numbers])}"


def list_text(texts: Sequence[str], last: str = "and") -> str:
    """Join texts by commas, and by a word before the last one."""
    return f" {last} ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def certainty_text(degree: float) -> str:
    """Return a certainty as text.

    Examples
    --------
    >>> certainty_text(1.0), certainty_text(0.25), certainty_text(0.99999)
    ('certain', 'certain at 0.25', 'certain at more than 0.999')
    """
    return "certain" if degree == 1.0 else f"certain at {number_text(degree)}"


def number_text(
    degree: float, digits: int = 3, below: str = "less than ", above: str = "more than "
) -> str:
    """Return a degree rounded to some digits, but never to 0 or 1 if it is neither.

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


def short_degree(degree: float) -> str:
    """Return a degree as people read it.

    Examples
    --------
    >>> [short_degree(d) for d in (1.0, 0.8, 0.999, 0.003, 0.0)]
    ['1', '0.80', '>0.99', '<0.01', '0']
    """
    if degree in (0.0, 1.0):
        return f"{degree:g}"
    return "<0.01" if degree < 0.01 else ">0.99" if degree > 0.99 else f"{degree:.2f}"
