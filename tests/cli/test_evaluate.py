"""`pinesy evaluate`: the report on the screen, as a page and as JSON."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from estimators.patients import patients
from pinesy import calibrate, parse, save
from pinesy.estimators import RuleClassifier
from pinesy.model.storage import load_rules
from pinesy.samples import Batch, read_samples


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
        assert "50.0% of 4 samples are right" in done.stdout
        assert output.exists()
    assert json.loads(output.read_text())["accuracy"] == 0.5
    done = pinesy("evaluate", rules, data, "-o", tmp_path / "report.txt")
    assert done.exit_code == 2


def weather(path: Path, n: int, seed: int) -> None:
    """Write days whose sky is known up to a degree, with their rain and their town."""
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(n):
        dark, wet = rng.random() < 0.5, rng.random()
        sky = {"dark": 1.0, "clear": wet} if dark else {"dark": wet, "clear": 1.0}
        rain = "yes" if dark == (rng.random() > wet / 2) else "no"
        lines.append(json.dumps({"sky": sky, "rain": rain, "town": rng.choice(["A", "B"])}))
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def calibrated(tmp_path: Path) -> Path:
    rules = parse(
        "attribute sky in {dark, clear}\nattribute rain in {yes, no}\n"
        "if sky in {dark} then rain in {yes}\nif sky in {clear} then rain in {no}\n"
    )
    file = tmp_path / "known.jsonl"
    weather(file, 200, seed=0)
    batch = Batch.joined(
        list(read_samples(file, rules.inputs, targets=rules.outputs, ids=["town"]))
    )
    path = tmp_path / "calibrated.json"
    save(calibrate(rules, batch.evidence, batch.targets), path)
    return path


def test_coverage_of_calibrated_rules(pinesy: Any, tmp_path: Path, calibrated: Path) -> None:
    data, page, content = (tmp_path / name for name in ("new.jsonl", "r.html", "r.json"))
    weather(data, 100, seed=1)
    levels = ("--level", 0.8, "--level", 0.95, "--group", "town")
    for output in (page, content):
        done = pinesy("evaluate", calibrated, data, *levels, "-o", output)
        assert (done.exit_code, done.stderr) == (0, "")
        assert "Coverage by group" in done.stdout
        assert "No level covers fewer" in done.stdout
    assert "Coverage by class" in page.read_text()
    rows = json.loads(content.read_text())["coverage"]["rows"]
    assert {row["level"] for row in rows} == {0.8, 0.95}
    assert {row["name"] for row in rows if row["scope"] == "group"} == {"A", "B"}


def test_levels_need_a_calibration_with_enough_samples(
    pinesy: Any, tmp_path: Path, calibrated: Path
) -> None:
    data, plain = tmp_path / "new.jsonl", tmp_path / "plain.json"
    weather(data, 10, seed=1)
    save(load_rules(calibrated), plain)
    town = ("--id", "town")
    for path, options, said in (
        (plain, ("--level", 0.95), "pinesy calibrate"),
        (calibrated, ("--level", 0.999), "at least 999 are needed"),
        (calibrated, ("--level", 95), "from 0 to 1"),
        (calibrated, ("--group", "town"), "--level"),
    ):
        done = pinesy("evaluate", path, data, *options, *town)
        assert (done.exit_code != 0, done.stdout) == (True, "")
        assert said in " ".join(done.stderr.split())


def test_induced_rules_of_a_file_have_the_scores_of_their_classifier(
    pinesy: Any, tmp_path: Path
) -> None:
    table, labels = patients(240)
    model = RuleClassifier(max_rules=6).fit(table[:120], labels[:120])
    expected = model.evaluate(table[120:], labels[120:]).to_dict()
    rules, data, output = tmp_path / "m.rules", tmp_path / "new.csv", tmp_path / "report.json"
    save(model, rules)
    table[120:].assign(target=labels[120:]).to_csv(data, index=False)
    done = pinesy("evaluate", rules, data, "-o", output)
    assert done.exit_code == 0
    content = json.loads(output.read_text())
    for key in ("verdict", "classes", "methods", "card", "calibration"):
        assert content[key] == expected[key]
    assert done.stdout.startswith(expected["verdict"][:30])
    assert "logistic regression (out of fold)" in done.stdout
