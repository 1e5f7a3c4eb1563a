"""Ten tasks in a few lines each: what they print and infer, against plain enumeration."""

import datetime
import itertools
import runpy
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pinesy import Attribute, Cascade, parse
from pinesy._common.names import name_of

EXAMPLES = Path(__file__).parents[2] / "examples"
TASKS = [
    "all_different",
    "date_is_valid",
    "decision_table",
    "formula",
    "last_digit",
    "parity",
    "pattern",
    "reachability",
    "sum_is_right",
    "triage",
]
Degrees = dict[Hashable, float]
Function = Callable[..., Hashable]


@pytest.mark.parametrize("task", TASKS)
def test_tasks_are_short(task: str) -> None:
    files = [path for path in EXAMPLES.glob(f"{task}.*") if path.suffix in (".py", ".rules")]
    assert files
    assert sum(len(path.read_text().splitlines()) for path in files) < 30


@pytest.mark.parametrize("task", TASKS)
def test_rules_of_tasks_are_read_as_they_print(
    task: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = Example(task, capsys).rules
    assert parse(str(rules)) == rules


def test_all_examples_are_listed() -> None:
    assert len(TASKS) == 10
    page = (EXAMPLES.parent / "docs" / "examples.md").read_text()
    files = [path.name for path in EXAMPLES.iterdir() if path.suffix in (".py", ".rules")]
    assert [name for name in files if f"(../examples/{name})" not in page] == []


class Example:
    """What an example printed, and what it defined."""

    def __init__(self, task: str, capsys: pytest.CaptureFixture[str]) -> None:
        self.names = runpy.run_path(str(EXAMPLES / f"{task}.py"))
        self.lines = capsys.readouterr().out.splitlines()
        self.rules: Cascade = self.names["rules"]

    @property
    def seen(self) -> dict[str, Degrees]:
        """The degrees of the inputs of the example."""
        inputs = {a.name: a for a in self.rules.inputs}
        seen = {name_of(key): given for key, given in self.names["seen"].items()}
        return {name: distribution(inputs[name], given) for name, given in seen.items()}


def distribution(attribute: Attribute, given: Any) -> Degrees:
    """Return the degrees of the values that are possible: a plain value alone, or all for None."""
    if given is None:
        return dict.fromkeys(attribute.domain, 1.0)
    pairs = given.items() if isinstance(given, Mapping) else [(given, 1)]
    return {value: float(degree) for value, degree in pairs}


def project(fn: Function, inputs: Iterable[Degrees]) -> Degrees:
    """Return the degrees of the results: the max over all inputs that give it of their min."""
    results: Degrees = {}
    for items in itertools.product(*(degrees.items() for degrees in inputs)):
        result, degree = fn(*(value for value, _ in items)), min(degree for _, degree in items)
        results[result] = max(results.get(result, 0.0), degree)
    return {result: degree for result, degree in results.items() if degree > 0}


def best(degrees: Degrees) -> Any:
    (value,) = (value for value, degree in degrees.items() if degree == 1.0)
    return value


def certainty(degrees: Degrees) -> float:
    return 1.0 - max((d for d in degrees.values() if d < 1.0), default=0.0)


def check_rules(
    rules: Cascade, output: str, names: Sequence[str], fn: Function, known: Sequence[str] = ()
) -> None:
    """Compare the rules with the function on random inputs, six of them of up to three values.

    Those that must be known have one value always.
    """
    rng = np.random.default_rng(0)
    domains = {a.name: a.domain for a in rules.inputs}
    assert sorted(domains) == sorted(names)
    for _ in range(30):
        seen = {}
        doubtful = rng.permutation(names)[:6]
        for name in names:
            most = 4 if name in doubtful and name not in known else 2
            places = rng.permutation(len(domains[name]))[: rng.integers(1, most)]
            degrees = [1.0, *(rng.integers(0, 11, 2) / 10)]
            values = [domains[name][place] for place in places]
            seen[name] = dict(zip(values, degrees, strict=False))
        inferred = rules.infer(seen)[output].to_dict()
        assert {v: d for v, d in inferred.items() if d > 0} == project(fn, seen.values())


def test_all_different(capsys: pytest.CaptureFixture[str]) -> None:
    example = Example("all_different", capsys)

    def different(*row: int) -> bool:
        return len(set(row)) == len(row)

    valid = project(different, example.seen.values())
    first, second = example.lines
    assert first == (
        f"That no digit occurs twice is possible at {valid[True]}, that one does at {valid[False]}."
    )
    rows = project(lambda *row: row if different(*row) else None, example.seen.values())
    del rows[None]
    likely = max(rows, key=lambda row: rows[row])
    assert isinstance(likely, tuple)
    assert second == " ".join(map(str, ("If none does, the row is", *likely)))
    check_rules(example.rules, "valid", [f"cell{i}" for i in range(1, 7)], different)


def test_date_is_valid(capsys: pytest.CaptureFixture[str]) -> None:
    example = Example("date_is_valid", capsys)
    assert len(example.lines) > 3
    for line in example.lines:
        date, answer = line.split(": ")
        day, month, year = (None if part == "?" else int(part) for part in date.split("."))
        domains = {a.name: a for a in example.rules.inputs}
        given = {"day": day, "month": month, "year": year}
        valid = project(exists, (distribution(domains[name], v) for name, v in given.items()))
        expected = {(True,): "yes", (False,): "no", (False, True): "it depends"}
        assert answer == expected[tuple(sorted(map(bool, valid)))]
    check_rules(example.rules, "valid", ["day", "month", "year"], exists)


def exists(day: int, month: int, year: int) -> bool:
    try:
        datetime.date(year, month, day)
    except ValueError:
        return False
    return True


def test_decision_table(capsys: pytest.CaptureFixture[str]) -> None:
    def price(age: str, day: str, card: str) -> int:
        if age == "child":
            return 0
        if card == "yes":
            return 10
        if age == "senior":
            return 8 if day == "weekday" else 12
        return 15

    example = Example("decision_table", capsys)
    attributes = [example.names[name] for name in ("age", "day", "card")]
    assert len(example.lines) == 3
    for line in example.lines:
        case, prices = line.split(" -> ")
        given = (None if value == "?" else value for value in case.split())
        expected = project(price, map(distribution, attributes, given))
        assert prices.split(" or ") == [str(p) for p in sorted(expected)]  # type: ignore[type-var]
    check_rules(example.rules, "price", ["age", "day", "card"], price)


def test_formula(capsys: pytest.CaptureFixture[str]) -> None:
    def value(*symbols: int | str) -> int:
        return int(eval("".join(map(str, symbols))))

    example = Example("formula", capsys)
    expected = project(value, example.seen.values())
    assert example.lines == [
        f"The value is {best(expected)}, certain at {certainty(expected)}.",
        *(
            f"It may be {v}, possible at {expected[v]}."
            for v in sorted(expected)  # type: ignore[type-var]
            if expected[v] < 1
        ),
    ]
    check_rules(example.rules, "value", ["a", "left", "b", "right", "c"], value)


def test_last_digit(capsys: pytest.CaptureFixture[str]) -> None:
    def last(a: int, b: int, c: int) -> int:
        return int(str(a * b * c)[-1])

    example = Example("last_digit", capsys)
    expected = project(last, example.seen.values())
    assert example.lines == [
        f"The product ends in {best(expected)}, certain at {certainty(expected):.2f}.",
        *(
            f"{v} is possible at {expected[v]:.2f}."
            for v in sorted(expected)  # type: ignore[type-var]
            if expected[v] < 1
        ),
    ]
    check_rules(example.rules, "last", ["a", "b", "c"], last)


def test_parity(capsys: pytest.CaptureFixture[str]) -> None:
    example = Example("parity", capsys)
    assert len(example.rules.inputs) == 100

    def odd(*bits: int) -> int:
        return sum(bits) & 1

    expected = project(odd, example.seen.values())
    first, second = example.lines
    word = "odd" if best(expected) else "even"
    assert first == f"The number of ones is {word}, certain at {certainty(expected)}."
    # The cheapest way to the other answer changes the bit that is most in doubt, alone.
    doubts = {bit: degrees for bit, degrees in example.names["seen"].items() if len(degrees) > 1}
    bit = max(doubts, key=lambda bit: min(doubts[bit].values()))
    (new, degree), (old, _) = sorted(doubts[bit].items(), key=lambda item: item[1])
    assert second == (
        f"But if {bit.name} were read as {new} rather than {old} (possibility {degree} -> 1), "
        f"odd would be {1 - best(expected)}."
    )
    check_rules(example.rules, "odd", [bit.name for bit in example.names["bits"]], odd)


def test_pattern(capsys: pytest.CaptureFixture[str]) -> None:
    def pattern(*values: str) -> str:
        shapes, colours = values[:4], values[4:]
        red_circle = ("circle", "red") in zip(shapes, colours, strict=True)
        return "yes" if red_circle and shapes.count("square") == 2 else "no"

    example = Example("pattern", capsys)
    expected = project(pattern, example.seen.values())
    assert example.lines == [
        f"Is it the pattern? {best(expected)}, certain at {certainty(expected)}."
    ]
    check_rules(example.rules, "pattern", list(example.seen), pattern)


def test_reachability(capsys: pytest.CaptureFixture[str]) -> None:
    example = Example("reachability", capsys)
    names = list(example.seen)

    def reached(*values: str | int) -> frozenset[int]:
        """Return the towns within three steps."""
        given = dict(zip(names, values, strict=True))
        towns = {given["start"]}
        for _ in range(3):
            towns |= {t for u in towns for t in range(1, 6) if given[f"road_{u}_{t}"] == "open"}
        return frozenset(towns)  # type: ignore[arg-type]

    def reaches(town: int) -> Function:
        return lambda *values: "yes" if town in reached(*values) else "no"

    lines = []
    for town in range(1, 6):
        expected = project(reaches(town), example.seen.values())
        possible, certain = expected.get("yes", 0.0), 1.0 - expected.get("no", 0.0)
        lines.append(f"reached_{town}_3: possible at {possible}, certain at {certain}")
    assert example.lines == lines
    # From an unknown start it would be an upper bound: all steps begin with it.
    for town in (1, 5):
        check_rules(example.rules, f"reached_{town}_3", names, reaches(town), known=["start"])


def test_sum_is_right(capsys: pytest.CaptureFixture[str]) -> None:
    def right(a: int, b: int, tens: int, units: int) -> bool:
        return a + b == int(f"{tens}{units}")

    example = Example("sum_is_right", capsys)
    expected = project(right, example.seen.values())
    readings = project(lambda *digits: digits if right(*digits) else None, example.seen.values())
    del readings[None]
    likely = max(readings, key=lambda digits: readings[digits])
    assert isinstance(likely, tuple)
    a, b, tens, units = likely
    assert example.lines == [
        f"That 7 + 5 = 13 is right is possible at {expected[True]}, "
        f"that it is wrong at {expected[False]}.",
        f"If it is right, it says {a} + {b} = {tens}{units}.",
    ]
    check_rules(example.rules, "right", ["a", "b", "tens", "units"], right)


# Of the numbers a rule tells apart: their intervals, by which thresholds they lie between.
CUTS = {"age": (2, 75), "temperature": (38, 39), "oxygen": (90, 95)}
BLUR = {"age": 0.0, "temperature": 0.5, "oxygen": 2.0}


def interval_degrees(name: str, given: float | None) -> Degrees:
    """Return how possible it is that a number lies in each interval, named by its lower end."""
    ends = (-inf, *CUTS[name], inf)
    degrees: Degrees = {}
    for low, high in itertools.pairwise(ends):
        distance = 0.0 if given is None else max(low - given, given - high, 0.0)
        outside = given is not None and not low <= given < high
        if not outside:
            degrees[low] = 1.0
        elif distance < BLUR[name]:
            degrees[low] = 1.0 - distance / BLUR[name]
    return degrees


def premises(age: float, temperature: float, oxygen: float, awake: str) -> tuple[bool, ...]:
    return (
        awake == "no" or oxygen < 90,
        temperature >= 39 and (age < 2 or age >= 75),
        temperature >= 38 or oxygen < 95,
        awake == "yes" and temperature < 38 and oxygen >= 95,
    )


#: What follows from each premise, and how possible it is that it does not.
CONCLUSIONS = [({"high"}, 0.0), ({"high"}, 0.2), ({"medium", "high"}, 0.1), ({"low"}, 0.3)]


def test_triage(capsys: pytest.CaptureFixture[str]) -> None:
    example = Example("triage", capsys)
    lines = []
    for name, patient in example.names["patients"].items():
        awake = distribution(Attribute("awake", ["yes", "no"]), patient["awake"])
        seen = [*(interval_degrees(cut, patient[cut]) for cut in CUTS), awake]
        urgency = dict.fromkeys(("low", "medium", "high"), 1.0)
        for i, (conclusion, r) in enumerate(CONCLUSIONS):
            fails = project(lambda *values, i=i: premises(*values)[i], seen).get(False, 0.0)
            for value in urgency.keys() - conclusion:
                urgency[value] = min(urgency[value], max(r, fails))
        likely = [value for value, degree in urgency.items() if degree == 1.0]
        certain = 1.0 - max(degree for degree in urgency.values() if degree < 1.0)
        lines.append(f"{name}: {' or '.join(likely)}, certain at {certain:.2f}")
    assert example.lines == lines
