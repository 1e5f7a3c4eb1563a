"""The loan example: its rules, numbered as they stand, and its table."""

import csv
from pathlib import Path

from pinesy import load, verdict

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_verdict_names_the_rules_of_the_text() -> None:
    rules = load(EXAMPLES / "loan.rules")
    sample = {"income": 24000, "debt_ratio": 0.64, "history": "bad", "job": "permanent", "age": 74}
    because = verdict(rules, sample).because
    assert "The debt ratio is 0.64 and the credit history is bad" in because
    assert [reason.rules for reason in verdict(rules, sample).reasons] == [(2,), (7,)]
    written = [line for line in str(rules).splitlines() if line.startswith("if")]
    assert len(written) == 9
    assert written[6] == "if risk in {high} then decision in {reject}"


def test_every_row_of_the_table_is_decided_or_says_why() -> None:
    rules = load(EXAMPLES / "loan.rules")
    with (EXAMPLES / "loan.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len({row["id"] for row in rows}) == 20
    for row in rows:
        numbers = {key: float(row[key]) for key in ("income", "debt_ratio", "age")}
        sample = numbers | {key: row[key] for key in ("history", "job")}
        assert verdict(rules, sample).answer
        assert row["decision"] in rules["decision"].output.domain
