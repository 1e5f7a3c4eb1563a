"""`pinesy learn --more`: counts added to a model are those of all samples."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pinesy as library
from cli import weather
from pinesy.cli import training_files
from pinesy.learning import learn_batches

Run = Callable[..., Any]

WEATHER = library.load(weather.RULES)
TARGET = ["--target", "rain"]
COUNTS = ["--method", "counts", "--no-compare", *TARGET]


@pytest.fixture
def parts(tmp_path: Path) -> list[Path]:
    """Return three files of samples, and one of all of them."""
    samples = weather.random_samples(WEATHER, 60, seed=3)
    names = ["first.jsonl", "second.csv", "third.ndjson"]
    files = [
        weather.write(tmp_path / n, samples[20 * i : 20 * i + 20]) for i, n in enumerate(names)
    ]
    return [*files, weather.write(tmp_path / "all.jsonl", samples)]


@pytest.fixture
def learned(pinesy: Run, tmp_path: Path, parts: list[Path]) -> Path:
    """Return a model of the first part, by counts."""
    path = tmp_path / "model.json"
    assert pinesy("learn", weather.RULES, parts[0], "-o", path, *COUNTS).exit_code == 0
    return path


def same(one: Path, two: Path) -> bool:
    """Tell whether two models are the same but for the files they were learned from."""
    contents = [weather.model(path) for path in (one, two)]
    for content in contents:
        del content["learning"]["provenance"]["data"]
    return bool(contents[0] == contents[1])


@pytest.mark.parametrize("held", [0, 1 << 28])
def test_step_by_step_is_as_good_as_at_once(
    pinesy: Run,
    learned: Path,
    parts: list[Path],
    held: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(training_files, "HELD_BYTES", held)
    _, second, third, everything = parts
    whole = tmp_path / "whole.json"
    pinesy("learn", weather.RULES, everything, "-o", whole, *COUNTS)
    assert not same(learned, whole)
    done = pinesy("learn", learned, second, "-o", learned, "--more", *TARGET)  # in its own place
    assert done.stdout.startswith("1 rule set learned from 40 samples")
    done = pinesy("learn", learned, third, "-o", learned, "--more", *TARGET, "--batch", 7)
    assert (done.exit_code, done.stderr) == (0, "")
    assert same(learned, whole)
    assert library.load(learned).provenance["data"] == [
        {**weather.fingerprint(path), "samples": 20} for path in parts[:3]
    ]


@pytest.mark.parametrize("method", ["exact", "gradient"])
def test_only_counts_are_added(pinesy: Run, parts: list[Path], tmp_path: Path, method: str) -> None:
    path = tmp_path / "model.json"
    pinesy("learn", weather.RULES, parts[0], "-o", path, "--method", method, "--no-compare")
    before = path.read_bytes()
    done = pinesy("learn", path, parts[1], "-o", path, "--more")
    assert done.exit_code == 3
    assert "only counts can be extended" in done.stderr
    assert "learn again from all samples" in done.stderr
    assert path.read_bytes() == before


def test_counts_that_rest_on_other_sets_are_not_added(
    pinesy: Run, parts: list[Path], tmp_path: Path
) -> None:
    path = tmp_path / "model.json"
    pinesy("learn", weather.RULES, parts[0], "-o", path, "--method", "counts", "--no-compare")
    done = pinesy("learn", path, parts[1], "-o", path, "--more")
    assert done.exit_code == 3
    assert "'street'" in done.stderr
    assert "learn again from all samples" in done.stderr


def test_another_transformation_is_refused(pinesy: Run, learned: Path, parts: list[Path]) -> None:
    options = ["--more", "--transform", "antipignistic"]
    done = pinesy("learn", learned, parts[1], "-o", learned, *options)
    assert done.exit_code == 3
    assert done.stderr == (
        "error: the model was learned with --transform none, so samples to add need the same; "
        "got antipignistic\n"
    )


def test_other_targets_are_refused(pinesy: Run, learned: Path, parts: list[Path]) -> None:
    done = pinesy("learn", learned, parts[1], "-o", learned, "--more", "--target", "street")
    assert done.exit_code == 3
    assert re.match("error: the new samples have targets for street, .* need the same", done.stderr)


def test_rules_alone_are_no_model(pinesy: Run, parts: list[Path], tmp_path: Path) -> None:
    output = tmp_path / "out.json"
    done = pinesy("learn", weather.RULES, parts[1], "-o", output, "--more")
    assert done.exit_code == 3
    assert "weather.rules: the file holds rules, but not how they were learned" in done.stderr
    library.save(WEATHER, tmp_path / "plain.json")
    done = pinesy("learn", tmp_path / "plain.json", parts[1], "-o", output, "--more")
    assert done.exit_code == 3
    assert "the file holds rules, but not how they were learned" in done.stderr
    assert not output.exists()


def test_a_model_made_in_python_keeps_its_notes(
    pinesy: Run, parts: list[Path], tmp_path: Path
) -> None:
    samples = weather.read(parts[0])
    rain = {"rain": weather.targets(WEATHER, samples)["rain"]}
    batches = [(weather.inputs(WEATHER, samples), rain)]
    path = tmp_path / "python.json"
    notes = {"data": "the first day", "who": "Ann"}
    library.save(learn_batches(WEATHER, batches, method="counts"), path, notes)
    aged = path.read_text().replace(f'"pinesy":"{library.__version__}"', '"pinesy":"0.0.1"')
    assert '"pinesy":"0.0.1"' in aged
    path.write_text(aged)
    done = pinesy("learn", path, parts[1], "-o", path, "--more", *TARGET)
    assert done.exit_code == 0
    provenance = library.load(path).provenance
    assert provenance["data"] == [
        "the first day",
        {**weather.fingerprint(parts[1]), "samples": 20},
    ]
    assert provenance["who"] == "Ann"
    assert provenance["pinesy"] == library.__version__  # what wrote the new one
