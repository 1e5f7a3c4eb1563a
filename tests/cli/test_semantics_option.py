"""`pinesy infer --semantics` and `pinesy evaluate --semantics`."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pinesy import compare_semantics, parse

RULES = """
    attribute sky in {clear, cloudy, dark}
    attribute wind in {no, yes}
    attribute rain in {no, yes}
    iff sky in {dark} then rain in {yes}
    attribute storm in {no, yes}
    iff rain in {yes} and wind in {yes} then storm in {yes}
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    rules, data = tmp_path / "sky.rules", tmp_path / "days.jsonl"
    rules.write_text(RULES)
    days = [
        {"sky": [0.3, 0.3, 0.4], "wind": "yes", "storm": "no"},
        {"sky": {"dark": 0.8, "clear": 0.2}, "wind": [0.1, 0.9], "storm": "yes"},
        {"sky": "dark", "wind": None, "storm": "yes"},
    ]
    data.write_text("".join(json.dumps(day) + "\n" for day in days))
    return rules, data


P: dict[str, Any] = {
    "sky": np.array([[0.3, 0.3, 0.4], [0.2, 0.0, 0.8], [0.0, 0.0, 1.0]]),
    "wind": np.array([[0.0, 1.0], [0.1, 0.9], [0.5, 0.5]]),
}


@pytest.mark.parametrize("semantics", ["probabilistic", "mpe", "goedel"])
def test_infer(pinesy: Any, files: tuple[Path, Path], semantics: Any) -> None:
    expected: Any = parse(RULES).infer(P, semantics=semantics)["storm"]
    done = pinesy("infer", *files, "--semantics", semantics)
    assert (done.exit_code, done.stderr) == (0, "")
    rows = [json.loads(line)["storm"] for line in done.stdout.splitlines()]
    assert [row["best"] for row in rows] == expected.best.tolist()
    weights = [[row["weights"].get(text, 0.0) for text in ("no", "yes")] for row in rows]
    assert np.allclose(weights, expected.weights, rtol=0, atol=1e-12)


def test_other_forms(pinesy: Any, files: tuple[Path, Path]) -> None:
    done = pinesy("infer", *files, "--semantics", "probabilistic", "--format", "csv")
    head, first, *_ = done.stdout.splitlines()
    assert head == "storm,storm outcome,storm verdict,storm best_values,storm=no,storm=yes"
    assert first.startswith("no,decided,no,no,0.6")
    done = pinesy("infer", *files, "--semantics", "probabilistic", "--format", "table")
    assert "weight" in done.stdout
    assert "0.6" in done.stdout


def test_evaluate(pinesy: Any, files: tuple[Path, Path]) -> None:
    expected = compare_semantics(parse(RULES), P, {"storm": ["no", "yes", "yes"]})
    done = pinesy("evaluate", *files, "--semantics", "all")
    assert (done.exit_code, done.stderr) == (0, "")
    lines = [line.rsplit(maxsplit=1)[0] for line in done.stdout.splitlines()]  # without times
    assert lines == [line.rsplit(maxsplit=1)[0] for line in str(expected).splitlines()]
    one = pinesy("evaluate", *files, "--semantics", "mpe", "--semantics", "goedel")
    assert len(one.stdout.splitlines()) == len(lines) - 2


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["infer", "--semantics", "fuzzy"], "semantics 'fuzzy'"),
        (["evaluate", "--semantics", "fuzzy"], "semantics 'fuzzy'"),
        (["infer", "--semantics", "mpe", "--level", "0.9"], "levels are of possibilities"),
        (["evaluate", "--semantics", "mpe", "--level", "0.9"], "is printed"),
        (
            ["infer", "--semantics", "mpe", "--transform", "minimum-specificity"],
            "leave --transform",
        ),
    ],
)
def test_what_does_not_go_together(
    pinesy: Any, files: tuple[Path, Path], args: list[str], says: str
) -> None:
    done = pinesy(args[0], *files, *args[1:])
    assert done.exit_code != 0
    assert says in " ".join(done.stderr.replace("│", " ").split())


def test_uncertain_rules_are_refused(pinesy: Any, files: tuple[Path, Path]) -> None:
    files[0].write_text(RULES.replace("then rain in {yes}", "then rain in {yes} [s=0.5]"))
    done = pinesy("infer", *files, "--semantics", "probabilistic")
    assert done.exit_code == 3
    assert "rain" in done.stderr


def test_numbers_stay_numbers(pinesy: Any, tmp_path: Path) -> None:
    rules, data = tmp_path / "one.rules", tmp_path / "one.jsonl"
    rules.write_text("attribute a in {0, 1} attribute b in {2, 3} iff a in {1} then b in {3}")
    data.write_text('{"a": [0.25, 0.75]}\n')
    done = pinesy("infer", rules, data, "--semantics", "probabilistic")
    assert json.loads(done.stdout)["b"] == {
        "best": 3,
        "outcome": "decided",
        "verdict": "3",
        "best_values": [3],
        "weights": {"2": 0.25, "3": 0.75},
    }
