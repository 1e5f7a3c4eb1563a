"""`pinesy learn`: tolerances, given or found on validation data."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pinesy as library
from cli import weather
from pinesy.learning import learn, search_tolerances

Run = Callable[..., Any]

WEATHER = library.load(weather.RULES)
N = 40


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "model.json"


TOLERANCES = {
    "": None,
    "0.3": 0.3,
    "none": None,
    "inf": None,
    "street=0.3": {"street": 0.3},
    "r*=0.2 street=0.3": {"rain": 0.2, "street": 0.3},
    "*=0.3": 0.3,
    "rain=none street=3e-1": {"street": 0.3},
}


@pytest.mark.parametrize("texts", TOLERANCES)
def test_tolerances(pinesy: Run, output: Path, texts: str) -> None:
    samples = weather.read(weather.TRAIN)
    options = [part for text in texts.split() for part in ("--tolerance", text)]
    done = pinesy("learn", weather.RULES, weather.TRAIN, "-o", output, *options)
    assert done.exit_code == 0
    found = library.load(output).result
    inputs, targets = weather.inputs(WEATHER, samples), weather.targets(WEATHER, samples)
    wanted = learn(WEATHER, inputs, targets, tolerance=TOLERANCES[texts])
    assert found.cascade == wanted.cascade
    for name, one in wanted.sets.items():
        assert found[name].tolerance == one.tolerance
        assert found[name].n_reliable == one.n_reliable


WRONG_TOLERANCES = {
    "0": "'0': it must be a number > 0, or none to keep every sample",
    "-0.5": "'-0.5': it must be a number > 0",
    "nan": "'nan': it must be a number > 0",
    "much": "'much': it must be a number > 0",
    "rain=": "'rain=': it must be a number > 0",
    "=0.5": "'=0.5': with several, write each as GROUP=NUMBER, such as c_*=0.05",
    "0.1 0.2": "'0.1': with several, write each as GROUP=NUMBER",
    "rain=0.1 rain=0.2": "'rain=0.2': rain has one already; give each once",
}


@pytest.mark.parametrize("texts", WRONG_TOLERANCES)
def test_tolerances_that_cannot_be(pinesy: Run, output: Path, texts: str) -> None:
    options = [part for text in texts.split() for part in ("--tolerance", text)]
    done = pinesy("learn", weather.RULES, weather.TRAIN, "-o", output, *options)
    assert (done.exit_code, done.stdout, output.exists()) == (2, "", False)
    assert f"Invalid value for --tolerance: {WRONG_TOLERANCES[texts]}" in weather.told(done.stderr)


def test_tolerances_of_sets_that_are_not_learned(pinesy: Run, output: Path) -> None:
    done = pinesy("learn", weather.RULES, weather.TRAIN, "-o", output, "--tolerance", "rian=1")
    assert done.exit_code == 3
    assert done.stderr == "error: no rule set with a target is named 'rian'; did you mean 'rain'?\n"
    options = ["--tolerance", "*=0.1", "--tolerance", "rain=0.2"]
    done = pinesy("learn", weather.RULES, weather.TRAIN, "-o", output, *options)
    assert done.exit_code == 3
    assert done.stderr.startswith("error: the tolerance of 'rain' is given twice")
    assert not output.exists()


@pytest.mark.parametrize("groups", [[], ["rain", "str*"]])
def test_tolerances_found_on_validation_data(
    pinesy: Run,
    output: Path,
    groups: list[str],
    tmp_path: Path,
) -> None:
    samples = weather.random_samples(WEATHER, N)
    for one in samples[: N // 2]:
        one["rain"] = {"no": 0.5, "light": 1.0, "heavy": 0.5}
    data = weather.write(tmp_path / "train.jsonl", samples)
    other = weather.random_samples(WEATHER, 17, seed=1)  # k / 17 is no k / 40
    valid = weather.write(tmp_path / "valid.csv", other)
    options = [part for group in groups for part in ("--group", group)]
    done = pinesy("learn", weather.RULES, data, "-o", output, "--validation", valid, *options)
    assert (done.exit_code, done.stderr) == (0, "")
    train, held_out = (
        (weather.inputs(WEATHER, s), weather.targets(WEATHER, s)) for s in (samples, other)
    )
    found = search_tolerances(WEATHER, *train, held_out, groups=groups or None)
    judged = {**weather.fingerprint(valid), "metric": found.metric}
    provenance = weather.notes(data, N) | {"validation": judged}
    library.save(found.result, tmp_path / "expected.json", provenance)
    assert weather.model(output) == weather.model(tmp_path / "expected.json")
    assert done.stdout.startswith("2 rule sets learned from ")
    assert "\n\n" + str(found).partition("(")[2].partition(")")[0] in done.stdout
    assert len(found.evaluations) > 1


def test_validation_on_the_example(pinesy: Run, output: Path) -> None:
    pinesy("learn", weather.RULES, weather.TRAIN, "-o", output, "--validation", weather.VALID)
    model = library.load(output)
    assert model.result["street"].n_reliable == 9
    assert model.provenance["validation"]["metric"] == 1.0
    assert model.provenance["validation"]["file"] == "weather_valid.jsonl"


def test_options_that_do_not_go_together(pinesy: Run, output: Path) -> None:
    def refused(*options: object) -> str:
        done = pinesy("learn", weather.RULES, weather.TRAIN, "-o", output, *options)
        assert (done.exit_code, done.stdout, output.exists()) == (2, "", False)
        return weather.told(done.stderr)

    valid = ["--validation", weather.VALID]
    assert "--tolerance: --validation finds the tolerances itself" in refused(
        *valid, "--tolerance", "0.1"
    )
    kept = "with --more a model keeps the tolerances it has"
    assert f"--validation: {kept}" in refused(*valid, "--more")
    assert f"--tolerance: {kept}" in refused("--tolerance", "0.1", "--more")
    message = refused("--group", "rain")
    assert "--group:" in message
    assert "--validation" in message


def test_validation_data_that_cannot_judge(pinesy: Run, output: Path, tmp_path: Path) -> None:
    def error(samples: list[weather.Sample], *options: str) -> str:
        path = weather.write(tmp_path / "valid.jsonl", samples)
        more = ["--validation", path, *options]
        done = pinesy("learn", weather.RULES, weather.TRAIN, "-o", output, *more)
        assert (done.exit_code, done.stdout, output.exists()) == (3, "", False)
        return str(done.stderr)

    samples = weather.read(weather.VALID)
    bare = [{name: one[name] for name in ("sky", "pressure")} for one in samples]
    assert "valid.jsonl: no targets in it; it needs some, for rain, street" in error(bare)
    tied = [{**samples[0], "street": {"dry": 1.0, "wet": 1.0}}]
    assert "validation data: the target of 'street', row 0, has several most" in error(tied)
    assert "is named 'rian'; did you mean 'rain'?" in error(samples, "--group", "rian")
    wrong = [samples[0], {**samples[1], "street": "wett"}]
    assert "valid.jsonl, line 2: attribute 'street' has no value 'wett'" in error(wrong)
