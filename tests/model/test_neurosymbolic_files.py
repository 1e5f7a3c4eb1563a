"""A model in a directory: whole or not there, and the same to the last bit when it is read."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from messages import raises_saying
from model.test_neurosymbolic import (
    SAMPLES,
    SKY,
    STREET,
    SUMS,
    WEATHER,
    WEATHER_PERCEPTION,
    Means,
    by_hand,
    light,
    speed,
    sums,
    table,
    weather,
)
from pinesy import DataError, If, PinesyError, RuleSet, UnknownAttributeError, minimum_specificity
from pinesy.model.neurosymbolic import NeuroSymbolic


def learned_weather() -> NeuroSymbolic:
    data, targets = weather()
    model = NeuroSymbolic({"sky": Means(), "wind": speed}, WEATHER, inputs=["wind", "sky"])
    skies = np.where(data["sky"] < 0.5, "dark", "clear")
    return model.fit(data, {"sky": skies}, targets, tolerance=0.9)


def test_a_model_is_saved_and_loaded_to_the_same_bits(tmp_path: Path) -> None:
    model, (data, _) = learned_weather(), weather(30, seed=9)
    model.save(tmp_path / "new" / "model")
    assert sorted(os.listdir(tmp_path / "new")) == ["model"]
    again = NeuroSymbolic.load(tmp_path / "new" / "model", {"sky": Means(), "wind": speed})
    assert again.cascade == model.cascade
    assert np.array_equal(again.evidence(data), model.evidence(data))
    for name, pi in model.predict_possibility(data).items():
        assert np.array_equal(again.predict_possibility(data)[name].degrees, pi.degrees)
    assert (again.transform, again.inputs) == (model.transform, model.inputs)
    assert again.seconds == model.seconds
    assert again.result is not None
    assert model.result is not None
    assert again.result["street"].tolerance == 0.9
    assert np.array_equal(again.result["street"].lowest, model.result["street"].lowest)
    again.save(tmp_path / "copy")
    assert content(tmp_path / "copy") == content(tmp_path / "new" / "model")


def content(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_rules_that_were_not_learned_are_saved_too(tmp_path: Path) -> None:
    sums(transform="minimum_specificity").save(tmp_path / "m")
    again = NeuroSymbolic.load(tmp_path / "m", table)
    assert again.result is None
    assert again.cascade == SUMS
    assert np.array_equal(again.evidence(SAMPLES), by_hand(minimum_specificity))
    assert sorted(content(tmp_path / "m")) == ["model.json", "neurosymbolic.json"]


def test_perceptions_that_are_given_to_load(tmp_path: Path) -> None:
    means = Means(np.array([0.1, 0.8]))
    NeuroSymbolic({"sky": means, "wind": speed}, WEATHER).save(tmp_path / "m")
    with raises_saying(DataError, "cannot make the perception of sky", "Means", "perception=..."):
        NeuroSymbolic.load(tmp_path / "m")
    with raises_saying(DataError, "perception of wind", "function", "was not saved", "perception="):
        NeuroSymbolic.load(tmp_path / "m", {"sky": Means()})
    with raises_saying(DataError, "2 perceptions", "give a dict"):
        NeuroSymbolic.load(tmp_path / "m", speed)
    with raises_saying(UnknownAttributeError, "no input 'wnd'", "did you mean 'wind'?"):
        NeuroSymbolic.load(tmp_path / "m", {"wnd": speed})
    fresh = Means()
    model = NeuroSymbolic.load(tmp_path / "m", {SKY: fresh, "wind": speed})
    assert model.perception == {"sky": fresh, "wind": speed}
    assert fresh.means is not None
    assert fresh.means.tolist() == [0.1, 0.8]  # it took what was saved
    other = NeuroSymbolic.load(tmp_path / "m", {"sky": light, "wind": speed})
    assert other.perception["sky"] is light


@pytest.mark.parametrize("suffix", ["", ".tar.gz", ".v-1"])
def test_files_of_perceptions_may_end_in_many_ways(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    monkeypatch.setattr(Means, "suffix", suffix)
    model = learned_weather()
    for _ in range(2):
        model.save(tmp_path / "m")
    assert (tmp_path / "m" / f"perception-1{suffix}").exists()
    assert NeuroSymbolic.load(tmp_path / "m", {"sky": Means(), "wind": speed}).result is not None


def test_but_not_in_other_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Means, "suffix", "/../x")
    with raises_saying(DataError, "the perception of sky", "suffix '/../x'", "'.safetensors'"):
        learned_weather().save(tmp_path / "m")
    assert os.listdir(tmp_path) == []


def test_one_perception_is_one_again(tmp_path: Path) -> None:
    rules = RuleSet([If(SKY.isin({"dark"})).then(STREET.isin({"wet"}))])
    NeuroSymbolic(Means(np.array([0.2, 0.7])), rules).save(tmp_path / "m")
    fresh = Means()
    model = NeuroSymbolic.load(tmp_path / "m", fresh)
    assert model.perception is fresh
    assert fresh.means is not None
    with raises_saying(DataError, "cannot make the perception of sky"):
        NeuroSymbolic.load(tmp_path / "m")


def test_saving_again_replaces_the_whole_directory(tmp_path: Path) -> None:
    learned_weather().save(tmp_path / "m")
    os.chmod(tmp_path / "m", 0o750)
    (tmp_path / "link").symlink_to("m")
    sums().save(tmp_path / "link")
    assert sorted(content(tmp_path / "m")) == ["model.json", "neurosymbolic.json"]
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "m").stat().st_mode & 0o777 == 0o750
    assert sorted(os.listdir(tmp_path)) == ["link", "m"]


def test_other_files_are_not_deleted(tmp_path: Path) -> None:
    place = tmp_path / "thesis"
    place.mkdir()
    (place / "chapter.tex").write_text("years of work")
    with raises_saying(DataError, "thesis", "would be lost: chapter.tex", "another directory"):
        sums().save(place)
    with raises_saying(DataError, "chapter.tex: a file, not a directory"):
        sums().save(place / "chapter.tex")
    assert content(place) == {"chapter.tex": b"years of work"}
    aside = tmp_path / ".thesis.old"
    place.rename(aside)
    with raises_saying(DataError, ".thesis.old", "would be lost: chapter.tex"):
        sums().save(place)
    assert content(aside) == {"chapter.tex": b"years of work"}
    assert os.listdir(tmp_path) == [".thesis.old"]
    aside.rename(place)
    (place / "chapter.tex").unlink()
    sums().save(place)
    assert NeuroSymbolic.load(place, table).cascade == SUMS


class Killed(BaseException):
    """Stands for whatever ends a program."""


@pytest.mark.parametrize("step", ["json", "manifest", "fsync", "first rename", "second rename"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), Killed()])
def test_an_interrupted_save_leaves_the_old_model_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
) -> None:
    learned_weather().save(tmp_path / "m")
    before = content(tmp_path / "m")
    fails, where = {
        "json": (0, "pinesy.model.saved.save"),
        "manifest": (0, "pinesy.model.saved.write_manifest"),
        "fsync": (1, "os.fsync"),
        "first rename": (0, "os.rename"),
        "second rename": (1, "os.rename"),
    }[step]
    module, _, name = where.rpartition(".")
    whole = getattr(sys.modules[module], name)
    calls = []

    def failing(*arguments: Any) -> Any:
        calls.append(arguments)
        if len(calls) == fails + 1:
            raise error
        return whole(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(where, failing)
        with pytest.raises((DataError, Killed)) as caught:
            sums().save(tmp_path / "m")
    assert "No space left" in str(caught.value) or isinstance(caught.value, Killed)
    assert content(tmp_path / "m") == before
    assert os.listdir(tmp_path) == ["m"]


def test_a_first_save_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def half(path: Path) -> None:
        path.write_text("half")
        raise Killed

    unsaved = Means()
    unsaved.save = half  # type: ignore[method-assign]
    with pytest.raises(Killed):
        NeuroSymbolic({"sky": unsaved, "wind": speed}, WEATHER).save(tmp_path / "m")
    assert os.listdir(tmp_path) == []


def test_a_kill_between_the_two_renames(tmp_path: Path) -> None:
    """The old model is aside and the new one not yet there: the old one is read, then replaced."""
    sums().save(tmp_path / "m")
    os.rename(tmp_path / "m", tmp_path / ".m.old")
    with pytest.warns(UserWarning, match="m: saving was interrupted; the model before it is read"):
        assert NeuroSymbolic.load(tmp_path / "m", table).cascade == SUMS
    learned = learned_weather()
    learned.save(tmp_path / "m")
    assert os.listdir(tmp_path) == ["m"]
    assert NeuroSymbolic.load(tmp_path / "m", WEATHER_PERCEPTION).cascade == learned.cascade


def test_a_kill_before_the_old_one_is_deleted(tmp_path: Path) -> None:
    sums().save(tmp_path / ".m.old")
    learned = learned_weather()
    learned.save(tmp_path / "m")
    assert NeuroSymbolic.load(tmp_path / "m", WEATHER_PERCEPTION).cascade == learned.cascade
    assert os.listdir(tmp_path) == ["m"]


def edited(**changes: Any) -> Callable[[Path], None]:
    def edit(place: Path) -> None:
        path = place / "neurosymbolic.json"
        manifest = {**json.loads(path.read_text()), **changes}
        path.write_text(json.dumps({k: v for k, v in manifest.items() if v is not ...}))

    return edit


def cut(name: str) -> Callable[[Path], object]:
    return lambda place: (place / name).write_bytes((place / name).read_bytes()[:-20])


DAMAGE: list[tuple[Callable[[Path], object], list[str]]] = [
    (lambda place: shutil.rmtree(place), ["not a saved model", "no neurosymbolic.json"]),
    (lambda place: (place / "neurosymbolic.json").unlink(), ["not a saved model"]),
    (lambda place: (place / "model.json").unlink(), ["model.json is missing", "not copied whole"]),
    (lambda place: (place / "perception-1.json").unlink(), ["perception-1.json is missing"]),
    (cut("neurosymbolic.json"), ["neurosymbolic.json: not whole JSON"]),
    (cut("model.json"), ["model.json: not the file that was saved"]),
    (cut("perception-1.json"), ["perception-1.json: not the file that was saved", "SHA-256"]),
    (lambda place: (place / "neurosymbolic.json").write_text("[]"), ["not a file of"]),
    (edited(format="other"), ['"format" must be']),
    (edited(version=2), ["version 2; this pinesy reads version 1"]),
    (edited(files=...), ['"files" is missing']),
    (edited(files={"../x": ""}), ['"files" is missing or not of the form']),
    (edited(perceptions=...), ["not of the form it must have", "perceptions"]),
    (edited(perceptions=[]), ["not of the form it must have"]),
    (edited(perceptions=[{"attributes": 3}]), ["not of the form it must have"]),
    (edited(inputs=[1, 2]), ["not of the form it must have", "names must be text"]),
    (edited(inputs=["sky"]), ["must name each of sky, wind once"]),
    (edited(transform="magic"), ["no transformation 'magic'"]),
    (edited(seconds=4), ["not of the form it must have"]),
    (
        edited(perceptions=[{"attributes": ["sky", "wind"], "kind": "?", "file": "../x"}]),
        ["not of the form it must have", "none of those that were saved"],
    ),
]


@pytest.mark.parametrize(("damage", "said"), DAMAGE, ids=[" ".join(p) for _, p in DAMAGE])
def test_damaged_and_foreign_directories(
    tmp_path: Path, damage: Callable[[Path], object], said: list[str]
) -> None:
    learned_weather().save(tmp_path / "m")
    perceptions = {"sky": Means(), "wind": speed}
    assert NeuroSymbolic.load(tmp_path / "m", perceptions).result is not None
    damage(tmp_path / "m")
    with raises_saying(PinesyError, *said):
        NeuroSymbolic.load(tmp_path / "m", perceptions)


def test_nothing_is_pickled(tmp_path: Path) -> None:
    learned_weather().save(tmp_path / "m")
    for name, text in content(tmp_path / "m").items():
        assert name.endswith(".json")
        json.loads(text)
