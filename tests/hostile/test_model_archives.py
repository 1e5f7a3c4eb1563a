"""Models that are changed while they are read, and archives that nobody's `save` wrote."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from messages import raises_saying
from model.test_neurosymbolic import SUMS, Means, speed, sums, table
from model.test_storage import content, learned_weather, write
from pinesy import DataError, PinesyError, load, save
from pinesy.model import archives
from pinesy.model.storage import load_rules


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
