"""`pinesy backprop`: target inputs equal the library's, sample by sample."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pinesy as library
from cli import weather
from cli.weather import RULES, TRAIN, told
from pinesy.cli import backprop_command, output
from pinesy.inverse import backpropagate, posterior
from pinesy.rules.possibility import Possibility

Run = Callable[..., Any]


def lines(result: Any) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def above_zero(pi: Possibility) -> dict[str, float]:
    return {str(v): d for v, d in pi.to_dict().items() if d > 0.0}


@pytest.fixture
def cascade() -> library.Cascade:
    cascade: library.Cascade = library.load(RULES)
    return cascade


@pytest.fixture
def inputs(cascade: library.Cascade) -> dict[str, Any]:
    return weather.inputs(cascade, weather.read(TRAIN))


def check(rows: list[dict[str, Any]], expected: Any) -> None:
    """Compare lines with what the library found for the whole batch."""
    assert len(rows) > 0
    for number, row in enumerate(rows):
        one = expected.sample(number)
        assert row["line"] == number + 1
        assert row["inputs"] == {n: above_zero(pi) for n, pi in one.inputs.items()}
        for name in ["reproduced", "distance", "normalised", "solved", "exhausted", "matches"] + [
            "output_distance",
            "input_distance",
            "input_excess",
        ]:
            assert row[name] == getattr(one, name), name
        assert [c["message"] for c in row["conflicts"]] == [c.message for c in one.conflicts]
        assert [[r["rule"] for r in c["rules"]] for c in row["conflicts"]] == [
            [number for _, number, _ in c.rules] for c in one.conflicts
        ]


def test_the_file_s_targets(pinesy: Run, cascade: library.Cascade, inputs: Any) -> None:
    rows = lines(pinesy("backprop", RULES, TRAIN))
    targets = weather.targets(cascade, weather.read(TRAIN))
    check(rows, backpropagate(cascade, inputs, targets))
    assert {row["reproduced"] for row in rows} == {True, False}
    assert rows[8]["conflicts"][0]["rules"] == [
        {
            "attribute": "street",
            "rule": cascade.rule_number("street", 0),
            "text": "iff rain in {light, heavy} then street in {wet}",
        }
    ]


def test_one_of_the_file_s_targets(pinesy: Run, cascade: library.Cascade, inputs: Any) -> None:
    rows = lines(pinesy("backprop", RULES, TRAIN, "--target", "street"))
    targets = weather.targets(cascade, weather.read(TRAIN))
    check(rows, backpropagate(cascade, inputs, {"street": targets["street"]}))


def test_a_target_for_all_samples(pinesy: Run, cascade: library.Cascade, inputs: Any) -> None:
    rows = lines(pinesy("backprop", RULES, TRAIN, "--target", "street=wet"))
    check(rows, backpropagate(cascade, inputs, {"street": ["wet"] * 10}))
    assert all(row["reproduced"] for row in rows)
    mixed = lines(pinesy("backprop", RULES, TRAIN, "--target", "street=wet", "--target", "rain"))
    rain = weather.targets(cascade, weather.read(TRAIN))["rain"]
    check(mixed, backpropagate(cascade, inputs, {"street": ["wet"] * 10, "rain": rain}))


def test_belief(pinesy: Run, cascade: library.Cascade, inputs: Any) -> None:
    rows = lines(pinesy("backprop", RULES, TRAIN, "--posterior", "--target", "street=wet"))
    expected = posterior(cascade, inputs, {"street": ["wet"] * 10})
    assert len(rows) == 10
    for number, row in enumerate(rows):
        assert row == {
            "line": number + 1,
            "inputs": {n: above_zero(pi.sample(number)) for n, pi in expected.items()},
            "compatibility": expected.compatibility[number],
            "exact": True,
        }


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("form", ["jsonl", "table"])
def test_small_batches_give_what_one_gives(pinesy: Run, batch: int, form: str) -> None:
    whole = pinesy("backprop", RULES, TRAIN, "--format", form).stdout
    assert len(whole) > 500
    options = ["--format", form, "--batch", batch]
    assert pinesy("backprop", RULES, TRAIN, *options).stdout == whole


def test_json_and_jsonl_are_one(pinesy: Run, tmp_path: Path) -> None:
    shown = pinesy("backprop", RULES, TRAIN, "--format", "jsonl").stdout
    assert pinesy("backprop", RULES, TRAIN, "--format", "jsonl").stdout == shown
    output = tmp_path / "fit.jsonl"
    result = pinesy("backprop", RULES, TRAIN, "-o", output)
    assert (result.exit_code, result.stdout, output.read_text()) == (0, "", shown)


def test_standard_input_and_transform(pinesy: Run, cascade: library.Cascade) -> None:
    line = '{"sky": {"clear": 0.75, "dark": 0.25}, "pressure": "steady", "street": "wet"}'
    options = ["--transform", "antipignistic"]
    [row] = lines(pinesy("backprop", RULES, "-", *options, input=line))
    sees = {"sky": library.antipignistic({"clear": 0.75, "dark": 0.25}), "pressure": {"steady": 1}}
    expected = backpropagate(cascade, sees, {"street": "wet"})
    assert row["input_distance"] == expected.input_distance


def test_numbers_and_tuples_as_targets(pinesy: Run, rules: Path) -> None:
    line = '{"left": 1, "right": 2}'
    [row] = lines(pinesy("backprop", rules, "-", "--target", "total=6", input=line))
    assert row["inputs"] == {"left": {"3": 1.0}, "right": {"3": 1.0}}
    assert row["reproduced"]
    [row] = lines(pinesy("backprop", rules, "-", "--target", "pair=(3, 0)", input=line))
    assert row["inputs"] == {"left": {"3": 1.0}, "right": {"0": 1.0}}
    assert row["input_distance"] == {"left": 1.0, "right": 1.0}


# --- for reading -------------------------------------------------------------------------------


def test_the_table(pinesy: Run) -> None:
    shown = pinesy("backprop", RULES, TRAIN, "--format", "table").stdout
    words = " ".join(shown.split())
    assert "line outcome input should be distance excess" in words
    assert "not reproduced, distance 0.25" in words
    assert "reproduced; the actual inputs" in words
    assert "any value" in words
    assert "line 9: rule 3 needs the negation of its premise possible at 1" in shown
    assert "  rule 3: iff rain in {light, heavy} then street in {wet}" in shown


def test_actual_inputs_that_give_the_target_outside_the_bounds(pinesy: Run) -> None:
    examples = Path(__file__).parents[2] / "examples"
    files = examples / "blood_glucose.rules", examples / "blood_glucose.jsonl"
    options = ["--target", "future-blood-glucose=low"]
    row = lines(pinesy("backprop", *files, *options))[1]
    assert (row["reproduced"], row["exhausted"], row["output_distance"]) == (True, False, 0.0)
    shown = pinesy("backprop", *files, *options, "--format", "table", env={"COLUMNS": "200"}).stdout
    assert "2 reproduced; the actual inputs give the target" in " ".join(shown.split())


def test_inputs_of_which_no_value_is_left(pinesy: Run, tmp_path: Path) -> None:
    rules, data = tmp_path / "always.rules", tmp_path / "days.jsonl"
    rules.write_text(
        "attribute rain in {no, yes}\nattribute grass in {dry, wet}\n"
        "iff rain in {no} then grass in {wet}\niff rain in {yes} then grass in {wet}\n"
    )
    data.write_text('{"rain": "no"}\n')
    options = ["--target", "grass=dry", "--format", "table"]
    words = " ".join(
        pinesy("backprop", rules, data, *options, env={"COLUMNS": "200"}).stdout.split()
    )
    assert "none within the bounds" in words
    assert "and no inputs give the target" in words


def test_the_table_of_beliefs(pinesy: Run) -> None:
    options = ["--posterior", "--target", "street=wet", "--format", "table"]
    words = " ".join(pinesy("backprop", RULES, TRAIN, *options).stdout.split())
    assert "contradiction: compatibility 0" in words
    assert "compatibility 0.5" in words
    assert "distance" not in words


def test_long_tables_are_shortened_unless_all_is_wanted(
    pinesy: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "MAX_SHOWN", 4)
    monkeypatch.setattr(backprop_command, "PAGE", 3)
    monkeypatch.setattr(backprop_command, "INPUTS", 1)
    shown = pinesy("backprop", RULES, TRAIN, "--format", "table").stdout
    assert "... and 6 more samples; --all shows them" in shown
    assert "... 1 more (--all)" in shown
    assert "\n5 " not in shown
    whole = pinesy("backprop", RULES, TRAIN, "--format", "table", "--all").stdout
    assert "more" not in whole
    assert whole.count("outcome") == 4  # a table for each page
    assert all(f"\n{number} " in whole for number in range(1, 11))


def test_long_rules_and_many_degrees_are_shortened(pinesy: Run, tmp_path: Path) -> None:
    path = tmp_path / "long.rules"
    values = ", ".join(f"value_{i}" for i in range(40))
    path.write_text(
        f"attribute a in {{{values}}}\nattribute b in {{0, 1}}\n"
        f"iff a in {{{', '.join(f'value_{i}' for i in range(30))}}} then b in {{1}} [s=0.5, r=0]\n"
    )
    line = '{"a": "value_1"}'
    [row] = lines(pinesy("backprop", path, "-", "--target", "b=0", input=line))
    text = row["conflicts"][0]["rules"][0]["text"]
    assert "more characters (--all)" in text
    assert len(text) < 200
    [row] = lines(pinesy("backprop", path, "-", "--target", "b=0", "--all", input=line))
    assert row["conflicts"][0]["rules"][0]["text"].endswith("then b in {1} [s=0.5, r=0]")
    options = ["--target", "b=0", "--format", "table"]
    shown = pinesy("backprop", path, "-", *options, input=line).stdout
    assert "value_33 1, ... 36 more" in " ".join(shown.split())


# --- bad input ---------------------------------------------------------------------------------

NO_TARGET = '{"sky": "clear", "pressure": "steady"}'


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "no targets in it; give some: --target street=VALUE"),
        (["--target", "street"], "no targets for street in it, as --target asks; give one for all"),
        (["--target", "stret=wet"], "no rule set concludes on 'stret'; did you mean 'street'?"),
        (["--target", "sky=clear"], "--target: no rule set concludes on 'sky'"),
        (["--target", "street=wett"], "attribute 'street' has no value 'wett'; did you mean 'wet'"),
        (["--target", "street="], "attribute 'street' has no value ''"),
    ],
)
def test_bad_targets(pinesy: Run, options: list[str], message: str) -> None:
    result = pinesy("backprop", RULES, "-", *options, input=NO_TARGET)
    assert result.exit_code == 3
    assert message in result.stderr


def test_a_target_that_is_not_normalised(pinesy: Run) -> None:
    line = '{"sky": "clear", "pressure": "steady", "street": {"wet": 0.5}}'
    result = pinesy("backprop", RULES, "-", input=line)
    assert result.exit_code == 3
    assert "line 1: attribute 'street': the distribution is not normalised" in result.stderr


def test_wrong_usage(pinesy: Run) -> None:
    twice = ["--target", "street=wet", "--target", "street"]
    result = pinesy("backprop", RULES, TRAIN, *twice)
    assert result.exit_code == 2
    assert "street has one already" in told(result.stderr)
    result = pinesy("backprop", RULES, TRAIN, "-o", TRAIN)
    assert result.exit_code == 2
    assert "is an input too, and would be overwritten" in told(result.stderr)


def test_names_and_values_may_hold_equals_signs(pinesy: Run, tmp_path: Path) -> None:
    path = tmp_path / "signs.rules"
    path.write_text(
        'attribute a in {0, 1}\nattribute b in {0, 1}\nattribute `b=c` in {0, "x=y"}\n'
        'iff a in {0} then b in {1}\niff a in {1} then `b=c` in {"x=y"}\n'
    )
    [row] = lines(pinesy("backprop", path, "-", "--target", "b=c=x=y", input='{"a": 0}'))
    assert row["inputs"] == {"a": {"1": 1.0}}
    [row] = lines(pinesy("backprop", path, "-", "--target", "b=1", input='{"a": 0}'))
    assert row["inputs"] == {"a": {"0": 1.0}}


def test_help(pinesy: Run) -> None:
    assert "pinesy backprop examples/weather.rules" in pinesy("backprop", "--help").stdout
