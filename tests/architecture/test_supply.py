"""What others get: bounds on packages, the files of a wheel; at length in ``make supply``."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hatchling.builders.wheel import WheelBuilder
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PYPROJECT["project"]["optional-dependencies"]
TRIED = dict(
    line.lower().split("==")
    for line in (ROOT / "constraints.txt").read_text().splitlines()
    if "==" in line
)


def requirements() -> list[str]:
    """Return all that any group asks for, but for pinesy itself."""
    groups = [PYPROJECT["build-system"]["requires"], PYPROJECT["project"]["dependencies"]]
    found = {one for group in [*groups, *EXTRAS.values()] for one in group}
    return sorted(one for one in found if not one.startswith("pinesy["))


def next_series(version: Version) -> Version:
    """Return where the release series of a version ends."""
    major, minor = version.major, version.minor
    return Version(f"0.{minor + 1}" if major == 0 else f"{major + 1}")


@pytest.mark.parametrize("line", requirements())
def test_bounds_are_those_that_were_tried(line: str) -> None:
    requirement = Requirement(line)
    tried = Version(TRIED[requirement.name.lower()])
    bounds = {one.operator: Version(one.version) for one in requirement.specifier}
    assert bounds.keys() == {">=", "<"}, f"{line}: give a lower and an upper bound"
    assert bounds["<"] == next_series(tried), f"{line}: {tried} was tried"
    assert bounds[">="] <= tried


def test_all_extras_resolve_together() -> None:
    """Packages of all extras can be installed beside each other; nothing is installed."""
    options = ["--dry-run", "--quiet", "--no-build-isolation", "--disable-pip-version-check"]
    pinesy = f"{ROOT}[{','.join(EXTRAS)}]"
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "install",
            *options,
            "--constraint",
            "constraints.txt",
            pinesy,
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_a_wheel_has_all_files_of_the_package_and_no_others() -> None:
    builder: Any = WheelBuilder(str(ROOT))
    found = {Path(file.distribution_path).as_posix() for file in builder.recurse_included_files()}
    package = ROOT / "src/pinesy"
    kept = [p for p in package.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    assert found == {p.relative_to(ROOT / "src").as_posix() for p in kept}
    for place in ("exchange/web/engine.js", "exchange/web/page.html", "studio/static/index.html"):
        assert f"pinesy/{place}" in found
    assert not [name for name in found if re.search(r"test|reproduction|benchmark", name)]


def test_the_first_example_needs_no_extra() -> None:
    """It runs though none of what the extras bring can be imported."""
    text = (ROOT / "README.md").read_text().split("```python\n")[1].split("```")[0]
    names = [Requirement(one).name for group in EXTRAS.values() for one in group]
    modules = {"scikit-learn": "sklearn", "python-sat": "pysat"}
    missing = [modules.get(n, n) for n in names if n != "pinesy"] + ["dask", "scipy"]
    hide = f"import sys; sys.modules.update(dict.fromkeys({missing!r}))\n"
    done = subprocess.run(
        [sys.executable, "-c", hide + text], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
