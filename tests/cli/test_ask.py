"""``pinesy ask``."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pinesy.cli.app import app

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["ask", str(EXAMPLES / "family.rules"), *arguments])
    return result.exit_code, result.output


def test_answers_come_with_their_degrees() -> None:
    code, output = run(str(EXAMPLES / "family"), "grandparent(ann, Z)")
    assert code == 0
    assert output.split()[4:] == ["cleo", "1", "1", "eve", "0.7", "1"]
    code, output = run(str(EXAMPLES / "family"), "ancestor(ann, fay)")
    assert output == "ancestor(ann, fay): certain 0.7, possible 1\n"
    code, output = run(str(EXAMPLES / "family" / "parent.csv"), "spouse(X)")
    assert output == "no answer\n"


def test_answers_as_json() -> None:
    _, output = run(str(EXAMPLES / "family"), "ancestor(X, eve)", "--format", "json")
    assert json.loads(output)["X"] == ["ann", "dan"]
    _, output = run(str(EXAMPLES / "family"), "spouse(ann)", "--format", "json")
    assert json.loads(output) == {"certain": 1.0, "possible": 1.0}
    _, output = run(str(EXAMPLES / "family"), "spouse(ann)", "--why", "--format", "json")
    assert json.loads(output)["facts"] == ["married(ann, al)"]


def test_why_and_why_not() -> None:
    _, output = run(str(EXAMPLES / "family"), "ancestor(ann, fay)", "--why")
    assert "parent(dan, eve)  0.7  fact  <- weakest link" in output
    _, output = run(str(EXAMPLES / "family"), "sibling(bob, eve)", "--why-not")
    assert "It would follow at 0.9 if parent(" in output


@pytest.mark.parametrize(
    ("arguments", "cure"),
    [
        (["nowhere", "p(X)"], "cannot be read"),
        ([str(EXAMPLES / "family"), "uncle(X, Y)"], "known: parent"),
        ([str(EXAMPLES / "family"), "parent(X"], "line 1, column"),
    ],
)
def test_mistakes_are_one_line(arguments: list[str], cure: str) -> None:
    code, output = run(*arguments)
    assert code == 3
    assert cure in output


def test_rules_without_relations_are_refused() -> None:
    arguments = ["ask", str(EXAMPLES / "weather.rules"), str(EXAMPLES / "family"), "p(X)"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 3
    assert "pinesy infer" in result.output
