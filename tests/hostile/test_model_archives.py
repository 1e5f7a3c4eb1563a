"""Models that are changed while they are read, and archives that nobody's `save` wrote."""

import json
import multiprocessing
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from messages import raises_saying
from model.stored_models import content, learned_weather, write
from model.sums_and_weather import SUMS, Means, speed, sums, table
from pinesy import Cascade, DataError, NeuroSymbolic, PinesyError, load, parse, save
from pinesy.model import archives
from pinesy.model.storage import load_rules

#: `PINESY_LOADS` sets another number.
LOADS = int(os.environ.get("PINESY_LOADS", "60"))


def test_a_load_reads_one_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, model = tmp_path / "m.zip", learned_weather()
    save(model, path)
    digest = archives._digest

    def replaced(data: bytes) -> str:
        monkeypatch.setattr(archives, "_digest", digest)
        save(sums(), path)  # as another process does, between two members
        return digest(data)

    monkeypatch.setattr(archives, "_digest", replaced)
    means = Means()
    assert load(path, {"sky": means, "wind": speed}).rules_ == model.rules_
    assert means.means is not None
    assert load_rules(path) == SUMS


class Lens:
    """A perception with a number, which its file holds."""

    suffix = ".txt"

    def __init__(self, number: int = 0) -> None:
        self.number = number

    def predict_proba(self, data: Any) -> Any:
        return data

    def save(self, path: Path) -> None:
        path.write_text(str(self.number))

    def restore(self, path: Path) -> None:
        self.number = int(path.read_text())


def save_again(path: Path, stopped: Any) -> None:
    """Save two models in turn, the number of each being in its rules and in its perception."""
    models = [NeuroSymbolic(Lens(n), numbered(n)) for n in (2, 3)]
    while not stopped.is_set():
        for model in models:
            save(model, path)


def numbered(n: int) -> Cascade:
    return parse(
        f"attribute a in {{0..{n}}}\nattribute b in {{0, 1}}\nif a in {{0}} then b in {{0}}"
    )


def test_models_that_are_loaded_while_another_process_saves_them(tmp_path: Path) -> None:
    path, context = tmp_path / "m.zip", multiprocessing.get_context("fork")
    save(NeuroSymbolic(Lens(2), numbered(2)), path)
    stopped, found = context.Event(), set()
    saver = context.Process(target=save_again, args=(path, stopped))
    saver.start()
    try:
        for _ in range(LOADS):
            model = load(path, lens := Lens())
            assert len(model.rules.inputs[0].domain) == lens.number + 1
            found.add(lens.number)
    finally:
        stopped.set()
        saver.join()
    assert found == {2, 3} or LOADS < 1000


def rewritten(path: Path, how: int, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", how) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


@pytest.mark.parametrize("how", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_nothing_is_decompressed(tmp_path: Path, how: int) -> None:
    path = tmp_path / "m.zip"
    save(sums(), path)
    rewritten(path, how, content(path))
    with raises_saying(DataError, "m.zip: neurosymbolic.json is compressed", "pinesy.save"):
        load(path, table)
    data = bytearray(path.read_bytes())
    data[60:90] = b"\xff" * 30  # zlib.error, lzma.LZMAError and others if it were tried
    path.write_bytes(data)
    with raises_saying(DataError, "m.zip: "):
        load(path, table)


def test_a_member_that_claims_more_than_the_file_holds(tmp_path: Path) -> None:
    path = tmp_path / "m.zip"
    save(sums(), path)
    size = len(content(path)["model.json"]).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(size, b"\xff\xff\xff\x7f"))
    with raises_saying(DataError, "m.zip: ", "cut off or changed"):
        load(path, table)


@pytest.mark.parametrize("inputs", [[], ["a", "a"], "a", 3, {"a": 1}, [[]], ...])
def test_manifests_with_other_inputs(tmp_path: Path, inputs: Any) -> None:
    path = tmp_path / "m.zip"
    save(sums(), path)
    members = content(path)
    manifest = {**json.loads(members["neurosymbolic.json"]), "inputs": inputs}
    if inputs is ...:
        del manifest["inputs"]
    write(path, {**members, "neurosymbolic.json": json.dumps(manifest).encode()})
    with raises_saying(PinesyError, "m.zip"):
        load(path, table)
