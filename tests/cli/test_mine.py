"""The command ``pinesy mine``."""

from pathlib import Path

from typer.testing import CliRunner

from pinesy import RelationalRules, load
from pinesy.cli.app import app


def test_rules_are_mined_and_written(tmp_path: Path) -> None:
    facts = [f"p{i}\tparent\tp{i + 1}" for i in range(20)]
    facts += [f"p{i}\tgrandparent\tp{i + 2}" for i in range(17)]
    (tmp_path / "train.tsv").write_text("\n".join(facts) + "\n")
    (tmp_path / "valid.tsv").write_text("p17\tgrandparent\tp19\n")
    (tmp_path / "test.tsv").write_text("p18\tgrandparent\tp20\n")
    output = tmp_path / "mined.rules"
    arguments = [str(tmp_path / "train.tsv"), "-o", str(output)]
    held_out = ["--valid", str(tmp_path / "valid.tsv"), "--test", str(tmp_path / "test.tsv")]
    outcome = CliRunner().invoke(app, ["mine", *arguments, *held_out])
    assert outcome.exit_code == 0, outcome.output
    assert "test: MRR 1.000" in outcome.output
    rules = load(output)
    assert isinstance(rules, RelationalRules)
    assert "predicted_grandparent" in rules.derived


def test_a_triple_without_a_tail_is_refused(tmp_path: Path) -> None:
    (tmp_path / "train.tsv").write_text("ann\tparent\n")
    arguments = ["mine", str(tmp_path / "train.tsv"), "-o", str(tmp_path / "mined.rules")]
    outcome = CliRunner().invoke(app, arguments)
    assert outcome.exit_code == 3
    assert "2 fields" in outcome.output
