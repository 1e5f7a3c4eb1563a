"""`pinesy explain`: what the library says of one sample, as text, data or a picture."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import pinesy as library
from cli.weather import EXAMPLES, told
from json_schema import problems
from pinesy.explanations import explain, input_margins, is_coherent, margin, schema, why_not

Run = Callable[..., Any]

GLUCOSE = EXAMPLES / "blood_glucose.rules"
SAMPLES = EXAMPLES / "blood_glucose.jsonl"
LINE = '{"left": {"1": 1, "2": 0.4}, "right": {"2": 1, "3": 0.25}}'
EVIDENCE = {"left": {1: 1.0, 2: 0.4}, "right": {2: 1.0, 3: 0.25}}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.jsonl"
    path.write_text(f'{LINE}\n\n{{"left": 0, "right": 0}}\n')
    return path


def test_text_is_the_library_s(pinesy: Run, rules: Path, data: Path) -> None:
    cascade = library.load(rules)
    result = pinesy("explain", rules, data, "--attribute", "total", "--full")
    assert result.exit_code == 0
    _, why, far = result.stdout.split("\n\n")
    assert told(why) == told(explain(cascade, EVIDENCE, "total").justification())
    assert margin(cascade, EVIDENCE, "total") == 0.6
    assert told(far) == (
        "Margin: 0.6. While all input degrees move by less, total keeps its most possible value; "
        "moves of just as much can change it. Inputs that can change it alone: left (0.6) and "
        "right (0.75)."
    )


def test_the_verdict_comes_first_and_alone(pinesy: Run, rules: Path, data: Path) -> None:
    result = pinesy("explain", rules, data, "--attribute", "total").stdout
    decided = library.verdict(library.load(rules), EVIDENCE, "total")
    first, *others = result.splitlines()
    assert first == "3  certain 0.60"
    assert decided.answer == "3, certain 0.60"
    for question, sentence in decided.questions().items():
        assert f"{question} {sentence}" in told(result)
    assert [line[:22].strip() for line in others if line[:1] != " "] == [*decided.questions()]
    assert max(map(len, result.splitlines())) <= 80
    full = pinesy("explain", rules, data, "--attribute", "total", "--full").stdout
    assert full.startswith(result)


def test_the_examples_of_the_help(pinesy: Run) -> None:
    result = pinesy("explain", GLUCOSE, SAMPLES, "--full")
    assert result.exit_code == 0
    assert result.stdout.startswith("high  certain 0.70\n")
    assert "It is certain at 0.7 that future-blood-glucose is high" in result.stdout
    assert "Margin: 0.7." in result.stdout
    other = pinesy("explain", GLUCOSE, SAMPLES, "--sample", 2, "--full")
    assert "It is certain that future-blood-glucose is low" in other.stdout


def test_a_value_and_why_not_another(pinesy: Run, rules: Path, data: Path) -> None:
    options = ["--attribute", "total", "--value", "4", "--why-not", "5"]
    result = pinesy("explain", rules, data, *options)
    cascade = library.load(rules)
    total = cascade["total"].output
    why = explain(cascade, EVIDENCE, total.isin({4})).justification()
    assert told(why) in told(result.stdout)
    expected = why_not(cascade, EVIDENCE, 5, "total")
    assert told(result.stdout).endswith(told(f"Why not 5?\n{expected}\n"))
    assert "would be 5" in result.stdout


def test_json_holds_all_answers(pinesy: Run, rules: Path, data: Path) -> None:
    options = ["--attribute", "total", "--why-not", "5", "--format", "json"]
    found = json.loads(pinesy("explain", rules, data, *options).stdout)
    cascade = library.load(rules)
    explanation = explain(cascade, EVIDENCE, "total")
    assert list(found) == ["sample", "verdict", "explanation", "margin", "why_not"]
    assert found["verdict"] == library.verdict(cascade, EVIDENCE, "total").to_dict()
    assert found["sample"] == 1
    assert found["explanation"] == explanation.to_dict()
    assert problems(found["explanation"], schema(), schema()) == []
    assert found["margin"] == {
        "all": 0.6,
        "exact": is_coherent(cascade, "total"),
        "inputs": input_margins(cascade, EVIDENCE, "total"),
    }
    expected = why_not(cascade, EVIDENCE, 5, "total")
    why = found["why_not"]
    assert (why["value"], why["possibility"], why["winners"]) == (5, 0.25, [3])
    assert [h["rule"] for h in why["restraints"]] == [h.number for h in expected.restraints]
    assert {h["by"] for h in why["restraints"]} == {"premise"}
    assert why["bottlenecks"] == [{"attribute": "right", "value": 3, "possibility": 0.25}]
    assert (why["restraints_omitted"], why["bottlenecks_omitted"], why["obstacle"]) == (0, 0, None)
    assert why["cut"] is False
    assert expected.change is not None
    assert why["change"]["readings"] == expected.change.readings == {"left": 2, "right": 3}
    assert (why["change"]["size"], why["change"]["exact"]) == (0.75, True)
    assert why["change"]["old"] == {"left": {"1": 1.0, "2": 0.4}, "right": {"2": 1.0, "3": 0.25}}
    assert why["change"]["new"]["right"] == {"2": 0.9, "3": 1.0}


TABLE = """
    number glucose
    number age [blur=2]
    attribute smoker in {yes, no}
    attribute risk in {low, high}
    iff glucose >= 126 and smoker in {yes} then risk in {high}
    if age < 30 then risk in {low} [certainty=0.1]
"""
PATIENTS = "id;glucose;age;smoker\nA7;140,5;29,5;yes\nB2;;40;yes\n"


def test_changes_in_the_units_of_a_table(pinesy: Run, tmp_path: Path) -> None:
    rules, data = tmp_path / "risk.rules", tmp_path / "patients.csv"
    rules.write_text(TABLE)
    data.write_text(PATIENTS)
    ask = ["explain", rules, data, "--decimal", ",", "--why-not", "low"]
    assert pinesy(*ask).stdout.endswith(
        "\nif glucose were below 126 (now 140.5), risk would be low\n"
    )
    kept = pinesy(*ask, "--keep", "glucose", "--keep", "age").stdout
    assert kept.endswith("\nif smoker were no (now yes), risk would be low\n")
    unknown = pinesy(*ask, "--sample", "B2", "--change", "glucose").stdout
    assert unknown.endswith("\nif glucose were below 126 (now unknown), risk would be low\n")
    assert "if glucose were read as" in pinesy(*ask, "--mode", "fewest").stdout
    change = json.loads(pinesy(*ask, "--format", "json").stdout)["why_not"]["change"]
    assert (change["mode"], change["exact"]) == ("values", True)
    assert change["inputs"]["glucose"] == {
        "now": 140.5,
        "values": ["<126"],
        "below": 126.0,
        "distance": 1.0,
        "text": "glucose were below 126 (now 140.5)",
    }
    assert change["text"] == "if glucose were below 126 (now 140.5), risk would be low"


def test_limits_are_kept_and_what_is_left_out_is_counted(
    pinesy: Run, rules: Path, data: Path
) -> None:
    options = ["--attribute", "total", "--why-not", "5", "--format", "json"]
    short = json.loads(pinesy("explain", rules, data, *options, "--limit", 1).stdout)
    whole = json.loads(pinesy("explain", rules, data, *options, "--all").stdout)
    assert short["explanation"]["limit"] == 1
    assert whole["explanation"]["limit"] is None
    assert len(short["why_not"]["restraints"]) == 1
    assert short["why_not"]["restraints_omitted"] == len(whole["why_not"]["restraints"]) - 1 > 0
    assert whole["why_not"]["restraints_omitted"] == 0


def test_all_the_text_goes_down_to_the_inputs(pinesy: Run, tmp_path: Path) -> None:
    sets = "\n".join(f"iff v_{i} in {{1}} then v_{i + 1} in {{1}}" for i in range(9))
    names = "\n".join(f"attribute v_{i} in {{0, 1}}" for i in range(10))
    path = tmp_path / "chain.rules"
    path.write_text(f"{names}\n{sets}")
    shown = pinesy("explain", path, "-", "--full", input='{"v_0": 1}').stdout
    assert "is not shown (depth 4)" in shown
    assert "v_0" not in shown.split("\n\n")[1]
    assert "v_0 is 1" in pinesy("explain", path, "-", "--all", input='{"v_0": 1}').stdout
    less = pinesy("explain", path, "-", "--depth", 2, input='{"v_0": 1}').stdout
    assert "is not shown (depth 2)" in less


def test_a_picture(pinesy: Run, rules: Path, data: Path, tmp_path: Path) -> None:
    output = tmp_path / "why.svg"
    result = pinesy("explain", rules, data, "--attribute", "total", "-o", output)
    assert (result.exit_code, result.stdout) == (0, "")
    assert ElementTree.fromstring(output.read_text()).tag.endswith("svg")
    printed = pinesy("explain", rules, data, "--attribute", "total", "--format", "svg").stdout
    assert printed == output.read_text()
    assert printed == explain(library.load(rules), EVIDENCE, "total").to_svg() + "\n"


@pytest.mark.parametrize("suffix", ["txt", "json"])
def test_the_output_s_name_says_the_format(
    pinesy: Run, rules: Path, data: Path, tmp_path: Path, suffix: str
) -> None:
    output = tmp_path / f"why.{suffix}"
    options = ["--attribute", "total"]
    assert pinesy("explain", rules, data, *options, "-o", output).exit_code == 0
    form = {"txt": "text", "json": "json"}[suffix]
    assert output.read_text() == pinesy("explain", rules, data, *options, "--format", form).stdout


def test_samples_are_found_by_row(pinesy: Run, rules: Path, data: Path, tmp_path: Path) -> None:
    options = ["--attribute", "total", "--format", "json"]
    second = json.loads(pinesy("explain", rules, data, *options, "--sample", 2).stdout)
    assert (second["sample"], second["explanation"]["proposition"]["values"]) == (2, [0])
    table = tmp_path / "data.csv"
    table.write_text("left,right\n1,2\n0,3\n")
    second = json.loads(pinesy("explain", rules, table, *options, "--sample", 2).stdout)
    first = json.loads(pinesy("explain", rules, table, *options).stdout)
    assert (first["sample"], second["sample"]) == (1, 2)  # the header is no row
    assert second["explanation"]["values"] == first["explanation"]["values"]


@pytest.mark.parametrize("option", [("--id", "name"), ()])
def test_samples_are_found_by_id(
    pinesy: Run, rules: Path, tmp_path: Path, option: tuple[str, ...]
) -> None:
    """An id that looks like a row is an id."""
    table = tmp_path / "data.csv"
    title = "name" if option else "id"
    options = ["--attribute", "total", "--format", "json", *option]

    def row_of(ids: str, sample: str) -> Any:
        lines = [f"{name},{i},{i}" for i, name in enumerate(ids.split())]
        table.write_text("\n".join([f"{title},left,right", *lines]) + "\n")
        done = pinesy("explain", rules, table, *options, "--sample", sample)
        return json.loads(done.stdout)["sample"] if done.exit_code == 0 else done.stderr

    assert row_of("A100 A200 B300", "A200") == 2
    assert row_of("A100 A200 B300", "3") == 3
    assert row_of("3 2 1", "3") == 1
    assert "3 rows have 3 ids, the nearest 'A200', 'A100'" in row_of("A100 A200 B300", "A20")
    assert "there is no sample '2'; 3 rows have 3 ids" in row_of("11 12 13", "2")
    assert "there is no sample '9'; 3 rows have 3 ids" in row_of("A100 A200 B300", "9")


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        (0, "no sample '0'; the rows are 1 to 2\n"),
        (9, "no sample '9'; the rows are 1 to 2\n"),
        ("A200", "no sample 'A200'; the rows are 1 to 2; to name it by an id, name the column"),
        ("²", "no sample '²'; the rows are 1 to 2; to name it by an id"),
        ("-1", "no sample '-1'; the rows are 1 to 2; to name it by an id"),
    ],
)
def test_no_such_sample(
    pinesy: Run, rules: Path, data: Path, sample: int | str, message: str
) -> None:
    result = pinesy("explain", rules, data, "--attribute", "total", f"--sample={sample}")
    assert result.exit_code == 3
    assert message in result.stderr


def test_standard_input_and_transform(pinesy: Run, rules: Path) -> None:
    p = [0.5, 0.3, 0.2, 0.0]
    line = json.dumps({"left": p, "right": 1, "size": "small"})
    options = ["--attribute", "total", "--transform", "antipignistic"]
    found = pinesy("explain", rules, "-", *options, "--full", input=line).stdout
    evidence = {"left": library.antipignistic(np.array(p)), "right": {1: 1.0}}
    why = explain(library.load(rules), evidence, "total").justification()
    assert told(why) in told(found)


def test_a_model_is_explained(pinesy: Run, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    train = EXAMPLES / "weather_train.jsonl"
    assert pinesy("learn", EXAMPLES / "weather.rules", train, "-o", model).exit_code == 0
    result = pinesy("explain", model, train, "--sample", 3)
    assert result.exit_code == 0
    assert result.stdout.startswith("dry  certain ")


# --- margins -----------------------------------------------------------------------------------


def test_margins_in_words_and_in_json(pinesy: Run, rules: Path, tmp_path: Path) -> None:
    tie = '{"left": {"1": 1, "2": 1}, "right": 0}'
    shown = pinesy("explain", rules, "-", "--attribute", "total", "--full", input=tie).stdout
    assert "Margin: 0. Several values of total are most possible" in shown
    path = tmp_path / "fixed.rules"
    path.write_text("attribute a in {0, 1}\nattribute b in {0}\niff a in {0} then b in {0} [s=1]")
    shown = pinesy("explain", path, "-", "--full", input='{"a": 0}').stdout
    assert "Margin: unlimited. No inputs make another value of b most possible." in shown
    found = json.loads(pinesy("explain", path, "-", "--format", "json", input='{"a": 0}').stdout)
    assert (found["margin"]["all"], found["why_not"]) == (None, None)


def test_inputs_that_change_nothing_alone(pinesy: Run, tmp_path: Path) -> None:
    names = "\n".join(f"attribute a_{i} in {{0, 1}}" for i in range(5))
    some = " and ".join(f"a_{i} in {{1}}" for i in range(5))
    path = tmp_path / "five.rules"
    path.write_text(f"{names}\nattribute all in {{0, 1}}\niff {some} then all in {{1}}")
    line = json.dumps({f"a_{i}": 0 for i in range(5)})
    shown = pinesy("explain", path, "-", "--full", input=line).stdout
    assert shown.endswith("No input alone can change it.\n")
    line = json.dumps({f"a_{i}": 1 for i in range(5)})
    shown = pinesy("explain", path, "-", "--full", input=line).stdout
    assert told(shown).endswith("alone: a_0 (1), a_1 (1), a_2 (1) and 2 more.")


def test_a_margin_that_is_a_bound_says_so(pinesy: Run, tmp_path: Path) -> None:
    path = tmp_path / "clash.rules"
    path.write_text(
        "attribute a in {0, 1}\nattribute b in {0, 1}\nattribute c in {0, 1}\n"
        "iff a in {1} then c in {1}\niff b in {1} then c in {0}"
    )
    line = '{"a": {"1": 1, "0": 0.25}, "b": {"0": 1, "1": 0.5}}'
    shown = pinesy("explain", path, "-", "--full", input=line).stdout
    assert "Margin: at least 0.5." in shown
    assert "it may keep it beyond that." in shown


def test_a_tuple_on_the_command_line(pinesy: Run, rules: Path, data: Path) -> None:
    options = ["--attribute", "pair", "--value", "(2,3)"]
    assert "left is 2 and right is 3" in pinesy("explain", rules, data, *options).stdout


# --- bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "the rules have 2 outputs (total, size); say which: --attribute NAME"),
        (["--attribute", "totl"], "no rule set concludes on 'totl'; did you mean 'total'?"),
        (["--attribute", "left"], "no rule set concludes on 'left'"),
        (["--attribute", "total", "--value", "7"], "attribute 'total' has no value '7'; known: 0"),
        (["--attribute", "size", "--value", "smal"], "no value 'smal'; did you mean 'small'?"),
        (["--attribute", "size", "--why-not", "tiny"], "attribute 'size' has no value 'tiny'"),
        (["--attribute", "total", "--why-not", "3"], "total = 3 wins already; name another"),
        (["--attribute", "total", "--eta", "0"], "the threshold eta is 0; it must be above 0"),
        (["--attribute", "total", "--eta", "2"], "the threshold eta is 2.0; it must be a number"),
    ],
)
def test_bad_questions(
    pinesy: Run, rules: Path, data: Path, options: list[str], message: str
) -> None:
    result = pinesy("explain", rules, data, *options)
    assert result.exit_code == 3
    assert message in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "why.pdf"], "why.pdf ends in none of .txt, .json, .svg; say which with --format"),
        (["--keep", "left"], "it is of a change; ask for one: --why-not V"),
        (["--why-not", "5", "--format", "svg"], "a picture does not show it; use --format text"),
        (["--limit", "3", "--all"], "--all shows all; leave one of them out"),
        (["--limit", "0"], "'--limit'"),
    ],
)
def test_wrong_usage(
    pinesy: Run, rules: Path, data: Path, options: list[str], message: str
) -> None:
    result = pinesy("explain", rules, data, "--attribute", "total", *options)
    assert result.exit_code == 2
    assert message in told(result.stderr)


def test_the_data_are_not_written_over(pinesy: Run, rules: Path, tmp_path: Path) -> None:
    data = tmp_path / "data.json"
    data.write_text(LINE)
    result = pinesy("explain", rules, data, "--attribute", "total", "-o", data)
    assert result.exit_code == 2
    assert "is an input too, and would be overwritten" in told(result.stderr)
    assert data.read_text() == LINE


def test_a_bad_sample_is_named(pinesy: Run, rules: Path) -> None:
    line = '{"left": {"1": 0.5}, "right": 0}'
    result = pinesy("explain", rules, "-", "--attribute", "total", input=line)
    assert result.exit_code == 3
    assert "line 1: attribute 'left': the distribution is not normalised" in result.stderr


def test_help_shows_the_formats(pinesy: Run, rules: Path, data: Path) -> None:
    shown = " ".join(pinesy("explain", "--help").stdout.split())
    assert "pinesy explain examples/blood_glucose.rules examples/blood_glucose.jsonl" in shown
    options = ["--attribute", "total", "--format", "json"]
    found = json.loads(pinesy("explain", rules, data, *options).stdout)
    told_of_margin = shown.partition('"margin" has ')[2].partition(" svg ")[0]
    assert set(re.findall(r'"(\w+)"', told_of_margin)) == set(found["margin"])
    assert "explain" in pinesy("--help").stdout


def test_help_of_the_demo_names_what_to_install(pinesy: Run) -> None:
    assert "'pinesy[nn,data]'" in pinesy("demo", "--help").stdout
