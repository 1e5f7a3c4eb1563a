"""One save and one load: files are whole or not there, and read to the last bit."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from messages import raises_saying
from model.stored_models import content, learned_weather, write
from model.sums_and_weather import (
    NAMES,
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
from pinesy import (
    DataError,
    Iff,
    NeuroSymbolic,
    PinesyError,
    RuleSet,
    UnknownAttributeError,
    load,
    minimum_specificity,
    save,
)
from pinesy.learning import LearnedRules
from pinesy.model.storage import load_rules
from pinesy.rulebase.cascade import as_cascade


def test_a_model_is_saved_and_loaded_to_the_same_bits(tmp_path: Path) -> None:
    model, (data, _) = learned_weather(), weather(30, seed=9)
    save(model, tmp_path / "m.zip")
    assert os.listdir(tmp_path) == ["m.zip"]
    again = load(tmp_path / "m.zip", {"sky": Means(), "wind": speed})
    assert isinstance(again, NeuroSymbolic)
    assert again.rules_ == model.rules_
    assert np.array_equal(again.evidence(data), model.evidence(data))
    for name, pi in model.predict_possibility(data).items():
        assert np.array_equal(again.predict_possibility(data)[name].degrees, pi.degrees)
    assert (again.transform, again.inputs) == (model.transform, model.inputs)
    assert again.seconds_ == model.seconds_
    assert again.search_ is None
    assert again.result_["street"].tolerance == 0.9
    assert np.array_equal(again.result_["street"].lowest, model.result_["street"].lowest)
    save(again, tmp_path / "copy.zip")
    assert (tmp_path / "copy.zip").read_bytes() == (tmp_path / "m.zip").read_bytes()


def test_rules_that_were_not_learned_are_saved_too(tmp_path: Path) -> None:
    save(sums(transform=minimum_specificity), tmp_path / "m.zip")
    again = load(tmp_path / "m.zip", table)
    assert not hasattr(again, "result_")
    assert again.rules == SUMS
    assert (again.transform, again.inputs) == ("minimum_specificity", NAMES)
    assert np.array_equal(again.evidence(SAMPLES), by_hand(minimum_specificity))
    assert sorted(content(tmp_path / "m.zip")) == ["model.json", "neurosymbolic.json"]
    save(NeuroSymbolic(table, SUMS), tmp_path / "m.zip")
    assert load(tmp_path / "m.zip", table).inputs is None


def test_what_is_loaded_is_what_was_saved(tmp_path: Path) -> None:
    for name in ("r.json", "r.rules"):
        for rules in (SUMS, SUMS.rule_sets[0]):
            save(rules, tmp_path / name)
            assert load(tmp_path / name) == load_rules(tmp_path / name) == as_cascade(rules)
    model = learned_weather()
    save(model.result_, tmp_path / "l.json", {"data": "of the weather"})
    learned = load(tmp_path / "l.json")
    assert isinstance(learned, LearnedRules)
    assert learned.cascade == load_rules(tmp_path / "l.json") == model.rules_
    assert learned.provenance["data"] == "of the weather"
    save(learned, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "l.json").read_bytes()
    save(model, tmp_path / "m.zip")
    assert load_rules(tmp_path / "m.zip") == model.rules_  # perceptions are not needed


def test_what_cannot_be_saved_or_loaded(tmp_path: Path) -> None:
    with raises_saying(DataError, "3 cannot be saved", "RuleSet", "NeuroSymbolic"):
        save(3, tmp_path / "m.json")  # type: ignore[arg-type]
    with raises_saying(DataError, "provenance is noted for what learn returns", "a Cascade"):
        save(SUMS, tmp_path / "m.json", {"data": "none"})
    for name in ("m", "m.json", "m.rules"):
        with raises_saying(DataError, name, "neuro-symbolic models as .zip"):
            save(sums(), tmp_path / name)
    assert os.listdir(tmp_path) == []
    with raises_saying(DataError, "m.pt: rules are saved as .rules or .json", ".zip, not '.pt'"):
        load(tmp_path / "m.pt")
    save(SUMS, tmp_path / "m.json")
    with raises_saying(DataError, "m.json: a perception belongs to a neuro-symbolic model"):
        load(tmp_path / "m.json", perception=table)
    (tmp_path / "m.json").rename(tmp_path / "m.zip")
    with raises_saying(DataError, "m.zip: not a whole .zip file"):
        load(tmp_path / "m.zip")
    with raises_saying(DataError, "none.zip: cannot be read: No such file"):
        load(tmp_path / "none.zip")
    with raises_saying(DataError, "m.zip: cannot be written: No such file"):
        save(sums(), tmp_path / "nowhere" / "m.zip")


def test_perceptions_that_are_given_to_load(tmp_path: Path) -> None:
    means = Means(np.array([0.1, 0.8]))
    save(NeuroSymbolic({"sky": means, "wind": speed}, WEATHER), tmp_path / "m.zip")
    with raises_saying(DataError, "cannot make the perception of sky", "Means", "perception=..."):
        load(tmp_path / "m.zip")
    with raises_saying(DataError, "perception of wind", "function", "was not saved", "perception="):
        load(tmp_path / "m.zip", {"sky": Means()})
    with raises_saying(DataError, "2 perceptions", "give a dict"):
        load(tmp_path / "m.zip", speed)
    with raises_saying(UnknownAttributeError, "no input 'wnd'", "did you mean 'wind'?"):
        load(tmp_path / "m.zip", {"wnd": speed})
    fresh = Means()
    model = load(tmp_path / "m.zip", {SKY: fresh, "wind": speed})
    assert model.perception == {"sky": fresh, "wind": speed}
    assert fresh.means is not None
    assert fresh.means.tolist() == [0.1, 0.8]  # it took what was saved
    other = load(tmp_path / "m.zip", {"sky": light, "wind": speed})
    assert other.perception["sky"] is light


@pytest.mark.parametrize("suffix", ["", ".tar.gz", ".v-1"])
def test_files_of_perceptions_may_end_in_many_ways(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    monkeypatch.setattr(Means, "suffix", suffix)
    model = learned_weather()
    for _ in range(2):
        save(model, tmp_path / "m.zip")
    assert f"perception-1{suffix}" in content(tmp_path / "m.zip")
    assert load(tmp_path / "m.zip", {"sky": Means(), "wind": speed}).result_.samples == 60


def test_but_they_name_no_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Means, "suffix", "/../x")
    with raises_saying(DataError, "the perception of sky", "suffix '/../x'", "'.safetensors'"):
        save(learned_weather(), tmp_path / "m.zip")
    assert os.listdir(tmp_path) == []


def test_one_perception_is_one_again(tmp_path: Path) -> None:
    rules = RuleSet([Iff(SKY.isin({"dark"})).then(STREET.isin({"wet"}))])
    save(NeuroSymbolic(Means(np.array([0.2, 0.7])), rules), tmp_path / "m.zip")
    fresh = Means()
    model = load(tmp_path / "m.zip", fresh)
    assert model.perception is fresh
    assert fresh.means is not None
    with raises_saying(DataError, "cannot make the perception of sky"):
        load(tmp_path / "m.zip")


def test_saving_again_replaces_the_file(tmp_path: Path) -> None:
    save(learned_weather(), tmp_path / "m.zip")
    os.chmod(tmp_path / "m.zip", 0o640)
    (tmp_path / "link.zip").symlink_to("m.zip")
    save(sums(), tmp_path / "link.zip")
    assert sorted(content(tmp_path / "m.zip")) == ["model.json", "neurosymbolic.json"]
    assert (tmp_path / "link.zip").is_symlink()
    assert (tmp_path / "m.zip").stat().st_mode & 0o777 == 0o640
    assert sorted(os.listdir(tmp_path)) == ["link.zip", "m.zip"]


def test_other_files_are_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "thesis.zip"
    write(path, {"chapter.tex": b"years of work"})
    before = path.read_bytes()
    for other in (before, b"years of work", b"x" * 100):
        path.write_bytes(other)
        with raises_saying(DataError, "thesis.zip: holds something else", "lost", "another name"):
            save(sums(), path)
        assert path.read_bytes() == other
    path.unlink()
    path.mkdir()
    with raises_saying(DataError, "thesis.zip: cannot be written: Is a directory"):
        save(sums(), path)
    path.rmdir()
    save(learned_weather(), path)
    for half in (path.read_bytes()[:200], b""):  # a model that was cut off, or not begun
        path.write_bytes(half)
        save(sums(), path)
        assert load(path, table).rules == SUMS


class Killed(BaseException):
    """Stands for whatever ends a program."""


@pytest.mark.parametrize("step", ["json", "fsync of a part", "fsync", "rename"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), Killed()])
def test_an_interrupted_save_leaves_the_old_model_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
) -> None:
    save(learned_weather(), tmp_path / "m.zip")
    before = (tmp_path / "m.zip").read_bytes()
    fails, where = {
        "json": (0, "pinesy.model.storage.write_json"),
        "fsync of a part": (0, "os.fsync"),
        "fsync": (1, "os.fsync"),
        "rename": (1, "os.replace"),
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
            save(sums(), tmp_path / "m.zip")
    assert "No space left" in str(caught.value) or isinstance(caught.value, Killed)
    assert (tmp_path / "m.zip").read_bytes() == before
    assert os.listdir(tmp_path) == ["m.zip"]


def test_a_first_save_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def half(path: Path) -> None:
        path.write_text("half")
        raise Killed

    unsaved = Means()
    unsaved.save = half  # type: ignore[method-assign]
    with pytest.raises(Killed):
        save(NeuroSymbolic({"sky": unsaved, "wind": speed}, WEATHER), tmp_path / "m.zip")
    assert os.listdir(tmp_path) == []


def edited(**changes: Any) -> Callable[[Path], None]:
    def edit(path: Path) -> None:
        members = content(path)
        manifest = {**json.loads(members["neurosymbolic.json"]), **changes}
        text = json.dumps({k: v for k, v in manifest.items() if v is not ...})
        write(path, {**members, "neurosymbolic.json": text.encode()})

    return edit


def without(name: str) -> Callable[[Path], None]:
    return lambda path: write(path, {k: v for k, v in content(path).items() if k != name})


def cut(name: str) -> Callable[[Path], None]:
    return lambda path: write(path, {**content(path), name: content(path)[name][:-20]})


def changed_bytes(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"attributes"', b'"attributed"'))


DAMAGE: list[tuple[Callable[[Path], object], list[str]]] = [
    (lambda path: path.unlink(), ["m.zip: cannot be read", "No such file"]),
    (lambda path: path.write_bytes(path.read_bytes()[:-30]), ["not a whole .zip file", "cut off"]),
    (lambda path: path.write_bytes(path.read_bytes()[:300]), ["not a whole .zip file"]),
    (lambda path: path.write_bytes(b""), ["not a whole .zip file"]),
    (lambda path: path.write_text("[]"), ["something else than a neuro-symbolic model"]),
    (changed_bytes, ["not a whole .zip file", "CRC", "changed"]),
    (without("neurosymbolic.json"), ["not a neuro-symbolic model: there is no neurosymbolic.json"]),
    (without("model.json"), ["m.zip: model.json is missing"]),
    (without("perception-1.json"), ["m.zip: perception-1.json is missing"]),
    (cut("neurosymbolic.json"), ["m.zip, neurosymbolic.json: not whole JSON"]),
    (cut("model.json"), ["m.zip, model.json: not what was saved"]),
    (cut("perception-1.json"), ["m.zip, perception-1.json: not what was saved", "SHA-256"]),
    (lambda path: write(path, {**content(path), "neurosymbolic.json": b"[]"}), ["not of pinesy"]),
    (edited(format="other"), ['"format" must be']),
    (edited(version=2), ["version 2; this pinesy reads version 1", "update pinesy"]),
    (edited(files=...), ["not of the form that it must have", "KeyError('files')"]),
    (edited(files={"../x": ""}), ["not of the form that it must have", "files has names"]),
    (edited(perceptions=...), ["not of the form that it must have", "perceptions"]),
    (edited(perceptions=[]), ["not of the form that it must have"]),
    (edited(perceptions=[{"attributes": 3}]), ["not of the form that it must have"]),
    (edited(inputs=[1, 2]), ["not of the form that it must have", "names must be text"]),
    (edited(inputs=["sky"]), ["must name each of sky, wind once"]),
    (edited(transform="magic"), ["unknown transformation 'magic'"]),
    (edited(seconds=4), ["not of the form that it must have"]),
    (
        edited(perceptions=[{"attributes": ["sky", "wind"], "kind": "?", "file": "../x"}]),
        ["not of the form that it must have", "none of those that were saved"],
    ),
]


@pytest.mark.parametrize(("damage", "said"), DAMAGE, ids=[" ".join(p) for _, p in DAMAGE])
def test_damaged_and_foreign_files(
    tmp_path: Path, damage: Callable[[Path], object], said: list[str]
) -> None:
    save(learned_weather(), tmp_path / "m.zip")
    perceptions = {"sky": Means(), "wind": speed}
    assert load(tmp_path / "m.zip", perceptions).result_.samples == 60
    damage(tmp_path / "m.zip")
    with raises_saying(PinesyError, *said):
        load(tmp_path / "m.zip", perceptions)


def test_parts_of_two_models_are_told_apart(tmp_path: Path) -> None:
    one, other = tmp_path / "m.zip", tmp_path / "other.zip"
    save(learned_weather(), one)
    save(NeuroSymbolic(WEATHER_PERCEPTION, WEATHER), other)
    write(one, {**content(one), "model.json": content(other)["model.json"]})
    with raises_saying(DataError, "m.zip, model.json", "mixed up with that of another model"):
        load(one, WEATHER_PERCEPTION)


def test_nothing_is_pickled(tmp_path: Path) -> None:
    save(learned_weather(), tmp_path / "m.zip")
    for name, text in content(tmp_path / "m.zip").items():
        assert name.endswith(".json")
        json.loads(text)
