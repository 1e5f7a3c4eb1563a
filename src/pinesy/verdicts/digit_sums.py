"""The verdict on a sum of numbers whose digits are outputs, digit by digit with carries.

Addition-k has an output for each digit of the sum; readers want one sum, ``1234 + 9876 = 11110``.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pinesy.exceptions import DataError
from pinesy.explanations.labels import Labels
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.readable_rules import Equation, equation_of
from pinesy.rules.attributes import Attribute
from pinesy.rules.outcomes import short_degree
from pinesy.transforms.transformation import Transformation
from pinesy.verdicts.verdict import Verdict, verdict

#: What the text of a digit's equation ends with.
REMAINDER = re.compile(r"\) % (\d+)")


@dataclass(frozen=True)
class DigitSum:
    """The verdict on a sum as a whole.

    Attributes
    ----------
    first, second, total : numbers as texts, with ``?`` for digits that are not decided
    certainty : of the least certain digit of the sum; 0 if one is not decided
    weakest : the verdict on that digit
    answer, what_would_change_it : in words
    """

    first: str
    second: str
    total: str
    certainty: float
    weakest: Verdict
    answer: str
    what_would_change_it: str

    def __str__(self) -> str:
        lines = self.weakest.questions() | {"What would change it": self.what_would_change_it}
        return "\n".join([self.answer, *(f"{q}: {line}" for q, line in lines.items() if line)])

    def to_dict(self) -> dict[str, Any]:
        """Return the sum, and the verdict on its weakest digit, as plain data."""
        texts = ("first", "second", "total", "certainty", "answer", "what_would_change_it")
        return {name: getattr(self, name) for name in texts} | {"weakest": self.weakest.to_dict()}


def digit_sum(
    rules: Cascade,
    evidence: Mapping[Any, Any] | None = None,
    *,
    probabilities: Mapping[str, Any] | None = None,
    transform: str | Transformation = "antipignistic",
    labels: Labels | None = None,
) -> DigitSum:
    """Return the verdict on the sum of two numbers; raise `DataError` if rules do not add digits.

    Parameters
    ----------
    rules : such as `pinesy.problems.addition` returns
    evidence, probabilities, transform, labels : as `verdict` takes them

    Examples
    --------
    >>> from pinesy.problems import addition
    >>> print(digit_sum(addition(2), {"a_1": 3, "a_2": 8, "a_3": 4, "a_4": 7}).answer)
    38 + 47 = 85, certain 1
    """
    columns = _columns(rules)
    if not columns:
        raise DataError("these rules do not add two numbers digit by digit; use `verdict`")
    verdicts = [
        verdict(
            rules,
            evidence,
            output,
            probabilities=probabilities,
            transform=transform,
            labels=labels,
        )
        for output, _, _ in columns
    ]
    readings: dict[str, str] = {}
    for digit in verdicts:
        for name, pi in digit.decision.distributions().items():
            readings[name] = "?" if pi.best is None else str(pi.best)
    numbers = [[a.name for a in addends if a is not None] for addends in zip(*columns, strict=True)]
    first, second = ("".join(readings[name] for name in names) for names in numbers[1:])
    digits = [str(v.values[0]) if v.outcome == "decided" else "?" for v in verdicts]
    weakest = min(verdicts, key=lambda v: v.certainty if v.outcome == "decided" else -1.0)
    is_decided = "?" not in digits
    certainty = weakest.certainty if is_decided else 0.0
    total = _number("".join(digits))
    note = f"certain {short_degree(certainty)}" if is_decided else "undecided"
    answer = f"{_number(first)} + {_number(second)} = {total}, {note}"
    changed = _changed(weakest, readings, numbers[1:])
    return DigitSum(_number(first), _number(second), total, certainty, weakest, answer, changed)


def _number(digits: str) -> str:
    return digits.lstrip("0") or "0"


def _changed(weakest: Verdict, readings: Mapping[str, str], numbers: list[list[str]]) -> str:
    """Return the change of the weakest digit, with the sum that it gives."""
    if weakest.change is None:
        return weakest.what_would_change_it
    digits = {**readings, **{n: str(v) for n, v in weakest.change.readings.items()}}
    texts = ["".join(digits[name] for name in names) for names in numbers]
    condition = weakest.what_would_change_it.partition(", it would be ")[0]
    if any("?" in text for text in texts):
        return weakest.what_would_change_it
    first, second = map(int, texts)
    return f"{condition}, it would be {first} + {second} = {first + second}."


def _columns(rules: Cascade) -> list[tuple[Attribute, Attribute | None, Attribute | None]]:
    """Return each digit of the sum with the two that are added, the first digit first.

    The first digit is the carry of the next, and has none. Empty if rules do not add so.
    """
    equations = {output: equation_of(rules[output.name]) for output in rules.outputs}
    leading = [output for output, equation in equations.items() if equation is None]
    if len(leading) != 1 or len(rules.outputs) < 2:
        return []
    by_carry: dict[str | None, tuple[Attribute, Attribute, Attribute]] = {}
    for output, equation in equations.items():
        if equation is not None:
            if not _is_decimal_digit(equation):
                return []
            first, second, *carry = equation.factors
            by_carry[carry[0].name if carry else None] = output, first, second
    columns: list[tuple[Attribute, Attribute | None, Attribute | None]] = []
    carry_name: str | None = None
    while carry_name in by_carry:
        output, first, second = by_carry.pop(carry_name)
        columns.insert(0, (output, first, second))
        carries = [
            s.output.name
            for s in rules.rule_sets
            if s.inputs[0].factors[:2] == (first, second) and s.output != output
        ]
        carry_name = carries[0] if carries else None
    is_complete = not by_carry and [a.name for a in rules[leading[0].name].inputs] == [carry_name]
    return [(leading[0], None, None), *columns] if is_complete else []


def _is_decimal_digit(equation: Equation) -> bool:
    """Return whether an equation is the last digit of a sum of digits and perhaps a carry."""
    start, *signs, end = equation.parts
    remainder = REMAINDER.fullmatch(end)
    is_sum = start == "(" and signs in ([" + "], [" + ", " + "])
    return is_sum and remainder is not None and remainder[1] == "10"
