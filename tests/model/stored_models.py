"""What tests of stored models share: archives that are read and written by hand."""

from collections.abc import Mapping
from pathlib import Path
from zipfile import ZipFile

import numpy as np

from model.sums_and_weather import WEATHER, Means, speed, weather
from pinesy import NeuroSymbolic


def learned_weather() -> NeuroSymbolic:
    data, targets = weather()
    model = NeuroSymbolic({"sky": Means(), "wind": speed}, WEATHER, inputs=["wind", "sky"])
    skies = np.where(data["sky"] < 0.5, "dark", "clear")
    return model.fit(data, targets, {"sky": skies}, tolerance=0.9)


def content(path: Path) -> dict[str, bytes]:
    with ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path: Path, members: Mapping[str, bytes]) -> None:
    with ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
