"""`pinesy learn`: models are the library's results to the last byte, whatever the files are."""

import csv
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pinesy as library
from cli import weather
from pinesy.cli import learn_command, training_files
from pinesy.learning import learn, learn_batches

Run = Callable[..., Any]

WEATHER = library.load(weather.RULES)
N = 40


@pytest.fixture
def samples() -> list[weather.Sample]:
    return weather.random_samples(WEATHER, N)


@pytest.fixture
def data(tmp_path: Path, samples: list[weather.Sample]) -> Path:
    return weather.write(tmp_path / "train.jsonl", samples)


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "model.json"


def expected(samples: list[weather.Sample], tolerance: Any = None) -> Any:
    inputs, targets = weather.inputs(WEATHER, samples), weather.targets(WEATHER, samples)
    return learn(WEATHER, inputs, targets, tolerance=tolerance)


def test_a_model_is_what_the_library_learns(
    pinesy: Run, data: Path, samples: list[weather.Sample], output: Path, tmp_path: Path
) -> None:
    done = pinesy("learn", weather.RULES, data, "-o", output)
    assert (done.exit_code, done.stderr) == (0, "")
    result = expected(samples)
    library.save(result, tmp_path / "expected.json", weather.notes(data, N))
    assert output.read_bytes() == (tmp_path / "expected.json").read_bytes()
    assert library.load(output).cascade == result.cascade != WEATHER


def test_it_says_what_was_learned(pinesy: Run, output: Path) -> None:
    done = pinesy("learn", weather.RULES, weather.TRAIN, "-o", output, "--tolerance", 0.4)
    table = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert table[0] == "2 rule sets learned from 10 samples"
    assert table[2] == "rain 2 0.4 10 of 10 0 0.5"
    assert table[3] == "street 1 0.4 9 of 10 0 0.25"
    assert table[4:] == [f"written to {output}"]


def test_the_example_is_learned_with_and_without_its_wrong_sample(
    pinesy: Run, output: Path
) -> None:
    rules = {}
    for tolerance in ("none", "0.4"):
        pinesy("learn", weather.RULES, weather.TRAIN, "-o", output, "--tolerance", tolerance)
        learned = library.load(output).cascade
        rules[tolerance] = [(r.s, r.r) for s in learned.order for r in s.rules]
    assert rules == {
        "none": [(0.5, 0.0), (0.25, 0.0), (0.0, 0.25)],
        "0.4": [(0.5, 0.0), (0.25, 0.0), (0.25, 0.0)],
    }


@pytest.mark.parametrize("suffix", ["csv", "parquet", "ndjson", "json"])
def test_all_formats_give_the_same_model(
    pinesy: Run,
    data: Path,
    samples: list[weather.Sample],
    output: Path,
    suffix: str,
    tmp_path: Path,
) -> None:
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    other = weather.write(tmp_path / f"other.{suffix}", samples)
    pinesy("learn", weather.RULES, data, "-o", output)
    done = pinesy("learn", weather.RULES, other, "-o", tmp_path / "other_model.json")
    assert done.exit_code == 0
    one, two = weather.model(output), weather.model(tmp_path / "other_model.json")
    assert two["rule_sets"] == one["rule_sets"]
    assert two["learning"]["sets"] == one["learning"]["sets"]  # the fronts are in them
    assert two["learning"]["provenance"]["data"] == [{**weather.fingerprint(other), "samples": N}]


@pytest.mark.parametrize("held", [0, 1 << 28])
@pytest.mark.parametrize("batch", [1, 3, N])
def test_batches_and_memory_change_no_byte(
    pinesy: Run,
    data: Path,
    samples: list[weather.Sample],
    output: Path,
    held: int,
    batch: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    samples[::3] = [{**one, "street": {"dry": 1.0, "wet": 0.25}} for one in samples[::3]]
    weather.write(data, samples)  # so that some batches have values as targets, some degrees
    pinesy("learn", weather.RULES, data, "-o", output, "--tolerance", 0.6)
    whole = output.read_bytes()
    output.unlink()
    monkeypatch.setattr(training_files, "HELD_BYTES", held)
    seen = []

    def spy(cascade: Any, batches: Any, **options: Any) -> Any:
        seen.append(isinstance(batches, list))
        return learn_batches(cascade, batches, **options)

    monkeypatch.setattr(learn_command, "learn_batches", spy)
    pinesy("learn", weather.RULES, data, "-o", output, "--tolerance", 0.6, "--batch", batch)
    assert seen == [held > 0]
    assert output.read_bytes() == whole


def test_one_target_only(pinesy: Run, output: Path, tmp_path: Path) -> None:
    rules = tmp_path / "doubtful.json"
    doubtful = WEATHER.with_parameters({"rain": ([0.1, 0.2], [0.3, 0.4])})
    library.save(doubtful, rules)
    done = pinesy("learn", rules, weather.TRAIN, "-o", output, "--target", "street")
    assert "not learned, so as before: rain" in done.stdout
    samples = weather.read(weather.TRAIN)
    targets = {"street": weather.targets(WEATHER, samples)["street"]}
    wanted = learn(doubtful, weather.inputs(WEATHER, samples), targets)
    found = library.load(output).result
    assert list(found.sets) == ["street"]
    assert found.cascade == wanted.cascade
    np.testing.assert_array_equal(found.cascade["rain"].r, [0.3, 0.4])


def test_targets_that_are_not_there(pinesy: Run, output: Path, tmp_path: Path) -> None:
    def error(*options: str, data: Path = weather.TRAIN) -> str:
        done = pinesy("learn", weather.RULES, data, "-o", output, *options)
        assert (done.exit_code, done.stdout, output.exists()) == (3, "", False)
        return str(done.stderr)

    assert error("--target", "stret") == (
        "error: no rule set concludes on 'stret'; did you mean 'street'?\n"
    )
    assert error("--target", "sky").startswith("error: no rule set concludes on 'sky'; known: rain")
    rain = [{k: v for k, v in s.items() if k != "street"} for s in weather.read(weather.TRAIN)]
    path = weather.write(tmp_path / "rain.jsonl", rain)
    assert error("--target", "rain", "--target", "street", data=path) == (
        f"error: {path}: no targets for street in it, as --target asks\n"
    )
    bare = [{name: one[name] for name in ("sky", "pressure")} for one in rain]
    path = weather.write(tmp_path / "bare.jsonl", bare)
    assert error(data=path) == f"error: {path}: no targets in it; it needs some, for rain, street\n"


@pytest.mark.parametrize("name", ["antipignistic", "minimum-specificity"])
def test_probabilities(pinesy: Run, output: Path, name: str, tmp_path: Path) -> None:
    samples = weather.random_samples(WEATHER, 10)
    for one in samples:
        one["sky"] = {v: p / sum(one["sky"].values()) for v, p in one["sky"].items()}
        one["pressure"] = "falling"  # certain, so nothing to transform
    data = weather.write(tmp_path / "softmax.csv", samples)
    done = pinesy("learn", weather.RULES, data, "-o", output, "--transform", name)
    assert done.exit_code == 0
    inputs = weather.inputs(WEATHER, samples)
    inputs["sky"] = getattr(library, name.replace("-", "_"))(inputs["sky"])
    wanted = learn(WEATHER, inputs, weather.targets(WEATHER, samples))
    assert library.load(output).cascade == wanted.cascade
    assert library.load(output).provenance["transform"] == name
    plain = pinesy("learn", weather.RULES, data, "-o", output)
    assert plain.exit_code == 3
    assert "line 2: attribute 'sky': the distribution is not normalised" in plain.stderr


def test_provenance_and_nothing_that_changes_from_day_to_day(
    pinesy: Run, output: Path, tmp_path: Path
) -> None:
    pinesy("learn", weather.RULES, weather.TRAIN, "-o", output, "--tolerance", "street=0.4")
    learning = weather.model(output)["learning"]
    assert learning["provenance"] == {
        "pinesy": library.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        **weather.notes(weather.TRAIN, 10),
    }
    assert sorted(learning) == ["provenance", "samples", "sets", "version"]
    assert [learning["sets"][name]["tolerance"] for name in ("rain", "street")] == [None, 0.4]
    again = tmp_path / "again.json"
    copy = tmp_path / "elsewhere" / weather.TRAIN.name
    copy.parent.mkdir()
    copy.write_bytes(weather.TRAIN.read_bytes())
    pinesy("learn", weather.RULES, copy, "-o", again, "--tolerance", "street=0.4")
    assert again.read_bytes() == output.read_bytes()


def test_other_commands_take_a_model(pinesy: Run, output: Path, tmp_path: Path) -> None:
    pinesy("learn", weather.RULES, weather.TRAIN, "-o", output, "--tolerance", 0.4)
    model = library.load(output)
    library.save(model.cascade, tmp_path / "plain.rules")
    for command in (["show"], ["check"], ["infer", weather.VALID, "--format", "csv"]):
        name, *rest = command
        found, plain = (pinesy(name, path, *rest) for path in (output, tmp_path / "plain.rules"))
        assert (found.exit_code, found.stderr) == (0, "")
        assert found.stdout == plain.stdout
    assert "then street in {wet} [s=0.25, r=0]" in pinesy("show", output).stdout
    certainty = model.cascade.infer(weather.inputs(WEATHER, weather.read(weather.VALID)))["street"]
    lines = pinesy("infer", output, weather.VALID, "--format", "csv").stdout.splitlines()
    rows = csv.DictReader(lines)
    assert [float(row["street certainty"]) for row in rows] == certainty.certainty.tolist()
