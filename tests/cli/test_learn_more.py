"""`pinesy learn --more`: samples added to a model are as if learned from the start."""

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


@pytest.fixture
def parts(tmp_path: Path) -> list[Path]:
    """Return three files of samples that grow the fronts, and one of all samples."""
    samples = weather.random_samples(WEATHER, 60, seed=3)
    names = ["first.jsonl", "second.csv", "third.ndjson"]
    files = [
        weather.write(tmp_path / n, samples[20 * i : 20 * i + 20]) for i, n in enumerate(names)
    ]
    return [*files, weather.write(tmp_path / "all.jsonl", samples)]


@pytest.fixture
def learned(pinesy: Run, tmp_path: Path, parts: list[Path]) -> Path:
    """Return a model of the first part."""
    path = tmp_path / "model.json"
    done = pinesy("learn", weather.RULES, parts[0], "-o", path, "--tolerance", "0.7")
    assert done.exit_code == 0
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
    first, second, third, everything = parts
    whole = tmp_path / "whole.json"
    pinesy("learn", weather.RULES, everything, "-o", whole, "--tolerance", "0.7")
    assert not same(learned, whole)
    # In its own place, and with the earlier files in another order the second time.
    done = pinesy("learn", learned, second, "-o", learned, "--more", "--earlier", first)
    assert done.stdout.startswith("2 rule sets learned from 40 samples\n")
    earlier = ["--earlier", second, "--earlier", first]
    done = pinesy("learn", learned, third, "-o", learned, "--more", *earlier, "--batch", 7)
    assert (done.exit_code, done.stderr) == (0, "")
    assert same(learned, whole)
    assert library.load(learned).provenance["data"] == [
        {**weather.fingerprint(path), "samples": 20} for path in parts[:3]
    ]


def test_earlier_samples_are_asked_for_only_if_needed(
    pinesy: Run, learned: Path, parts: list[Path], tmp_path: Path
) -> None:
    before = learned.read_bytes()
    done = pinesy("learn", learned, parts[1], "-o", learned, "--more")
    assert done.exit_code == 3
    assert done.stderr.startswith(
        "error: the earlier samples must be read again for rain, because "
    )
    assert done.stderr.endswith("; give them as --earlier DATA\n")
    assert learned.read_bytes() == before
    # Samples that say nothing new.
    old = weather.write(tmp_path / "old.jsonl", weather.read(parts[0])[:5])
    done = pinesy("learn", learned, old, "-o", tmp_path / "more.json", "--more")
    assert done.exit_code == 0
    model, more = library.load(learned), library.load(tmp_path / "more.json")
    assert more.cascade == model.cascade
    assert (model.result.samples, more.result.samples) == (20, 25)


@pytest.mark.parametrize("given", [[1], [0, 0], [0, 1], [3]])
def test_earlier_files_must_be_those_that_the_model_knows(
    pinesy: Run, learned: Path, parts: list[Path], given: list[int]
) -> None:
    before = learned.read_bytes()
    options = [part for i in given for part in ("--earlier", parts[i])]
    done = pinesy("learn", learned, parts[2], "-o", learned, "--more", *options)
    assert done.exit_code == 3
    told = weather.fingerprint(parts[0])["sha256"][:8]
    assert done.stderr == (
        "error: --earlier takes what the model was learned from, unchanged and all of it: "
        f"first.jsonl ({told})\n"
    )
    assert learned.read_bytes() == before


def test_an_earlier_file_that_was_renamed_is_still_the_same(
    pinesy: Run, learned: Path, parts: list[Path]
) -> None:
    renamed = parts[0].rename(parts[0].with_name("monday.jsonl"))
    done = pinesy("learn", learned, parts[1], "-o", learned, "--more", "--earlier", renamed)
    assert done.exit_code == 0


def test_another_transformation_is_refused(pinesy: Run, learned: Path, parts: list[Path]) -> None:
    options = ["--more", "--transform", "antipignistic"]
    done = pinesy("learn", learned, parts[1], "-o", learned, *options)
    assert done.exit_code == 3
    assert done.stderr == (
        "error: the model was learned with --transform none, so samples to add need the same; "
        "got antipignistic\n"
    )


def test_other_targets_are_refused(
    pinesy: Run, learned: Path, parts: list[Path], tmp_path: Path
) -> None:
    rain = [{k: v for k, v in one.items() if k != "street"} for one in weather.read(parts[0])]
    path = weather.write(tmp_path / "rain.jsonl", rain)
    done = pinesy("learn", learned, path, "-o", learned, "--more")
    assert done.exit_code == 3
    assert re.match("error: the new samples have targets for rain, .* need the same", done.stderr)
    fewer = tmp_path / "fewer.json"
    pinesy("learn", weather.RULES, path, "-o", fewer)
    done = pinesy("learn", fewer, parts[1], "-o", fewer, "--more")
    assert done.exit_code == 3
    assert re.match("error: the new .* targets for rain, street, .* need the same", done.stderr)
    options = ["--more", "--target", "rain", "--earlier", path]
    done = pinesy("learn", fewer, parts[1], "-o", fewer, *options)
    assert (done.exit_code, list(library.load(fewer).result.sets)) == (0, ["rain"])


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
    batches = [(weather.inputs(WEATHER, samples), weather.targets(WEATHER, samples))]
    path = tmp_path / "python.json"
    notes = {"data": "the first day", "who": "Ann"}
    library.save(learn_batches(WEATHER, batches), path, notes)
    aged = path.read_text().replace(f'"pinesy":"{library.__version__}"', '"pinesy":"0.0.1"')
    assert '"pinesy":"0.0.1"' in aged
    path.write_text(aged)
    done = pinesy("learn", path, parts[1], "-o", path, "--more", "--earlier", parts[0])
    assert done.exit_code == 0
    provenance = library.load(path).provenance
    assert provenance["data"] == [
        "the first day",
        {**weather.fingerprint(parts[1]), "samples": 20},
    ]
    assert provenance["who"] == "Ann"
    assert provenance["pinesy"] == library.__version__  # what wrote the new one
    # There is nothing to compare the earlier files with, but their targets and number are wrong.
    bare = [{k: v for k, v in one.items() if k != "street"} for one in samples]
    earlier = weather.write(tmp_path / "bare.jsonl", bare)
    done = pinesy("learn", path, parts[2], "-o", path, "--more", "--earlier", earlier)
    assert re.match("error: the earlier .* targets for rain, .* need the same", done.stderr)
    done = pinesy("learn", path, parts[2], "-o", path, "--more", "--earlier", parts[0])
    assert "the earlier batches hold 20 samples, but 40 were learned from before" in done.stderr


def test_a_model_with_searched_tolerances_can_be_extended(
    pinesy: Run, parts: list[Path], tmp_path: Path
) -> None:
    path = tmp_path / "model.json"
    pinesy("learn", weather.RULES, parts[0], "-o", path, "--validation", parts[1])
    before = library.load(path)
    done = pinesy("learn", path, parts[2], "-o", path, "--more", "--earlier", parts[0])
    assert done.exit_code == 0
    after = library.load(path)
    assert after.provenance["validation"] == before.provenance["validation"]
    assert after.result["street"].tolerance == before.result["street"].tolerance
    assert after.result.samples == 40
