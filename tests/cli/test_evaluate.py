"""`pinesy evaluate`: the report on the screen, as a page and as JSON."""

import json
from pathlib import Path
from typing import Any


def test_the_command(pinesy: Any, tmp_path: Path) -> None:
    rules, data = tmp_path / "rain.rules", tmp_path / "days.csv"
    rules.write_text(
        "attribute sky in {dark, clear}\nattribute rain in {yes, no}\n"
        "if sky in {dark} then rain in {yes}\nif sky in {clear} then rain in {no}\n"
    )
    data.write_text("sky,rain\ndark,yes\nclear,no\ndark,no\n,no\n")
    for suffix in ("html", "json"):
        output = tmp_path / f"report.{suffix}"
        done = pinesy("evaluate", rules, data, "-o", output)
        assert (done.exit_code, done.stderr) == (0, "")
        assert "50.0% of 4 samples right" in done.stdout
        assert output.exists()
    assert json.loads(output.read_text())["accuracy"] == 0.5
    done = pinesy("evaluate", rules, data, "-o", tmp_path / "report.txt")
    assert done.exit_code == 2
