"""Build pinesy, install it as others do, and test what they get: ``make supply``.

It installs packages into fresh environments and takes long, so it is no part of ``make test``:

* ``lowest``: the lowest versions that pyproject.toml allows, and the core tests;
* ``wheel``, ``sdist``: each into an empty environment, without extras: the first example of the
  README, the command, and the tests that need neither extras nor a clone;
* ``python3.12``, ``python3.13``, ``python3.14``: as ``wheel``, if there is such an interpreter; if
  not, whether pip finds wheels for it, of pinesy alone (else it fails) and with each extra.

``python tests/supply.py wheel lowest`` does some of them only.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[1]
CONSTRAINTS = ROOT / "constraints.txt"
#: Directories and files of tests that need nothing of the clone but themselves.
CORE = (
    "equations",
    "rules",
    "samples",
    "engine/test_engine.py",
    "rulebase/test_check.py",
    "rulebase/test_relation.py",
    "rulebase/test_text.py",
    "learning/test_learn.py",
    "learning/test_distributed.py",
    "learning/test_killed_workers.py",
    "learning/test_audit.py",
    "inverse/test_target_inputs.py",
    "explanations/test_explain.py",
    "estimators/test_rule_classifier.py",
    "test_transforms.py",
)
#: What these need besides pinesy and its extras.
TOOLS = ("pytest", "hypothesis")
MORE_TOOLS = ("polars",)
#: Examples that Hypothesis tries of each test: versions are what is tried here.
EXAMPLES = 5
#: Words that tell that a file of tests needs an extra, a tool, or a file of the clone.
NEEDS = re.compile(
    r"\b(dask|distributed|matplotlib|mlxtend|networkx|onnx\w*|openpyxl|pandas|parquet"
    r"|plot|polars|problog|pyarrow|pysat|scipy|sklearn|starlette|tab|to_frame|torch)\b|parents\["
    r"|RuleClassifier|cluster_help"
)
#: Old versions warn about new ones of others: that is not what is tried here.
SETTINGS = "[pytest]\naddopts = --import-mode=importlib -q\npythonpath = tests\n"
PYTHONS = ("python3.12", "python3.13", "python3.14")


def done(*command: object, cwd: Path, check: bool = True) -> bool:
    """Run a command without the paths of this clone."""
    print("$", *(str(word) for word in command), flush=True)  # noqa: T201
    outside = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return subprocess.run([*map(str, command)], cwd=cwd, env=outside, check=check).returncode == 0


class Environment:
    """A fresh environment in a directory of its own."""

    def __init__(self, place: Path, python: str = sys.executable) -> None:
        self.place = place
        place.mkdir(parents=True)
        done(python, "-m", "venv", place / "venv", cwd=place)

    def python(self, *arguments: object) -> None:
        done(self.place / "venv/bin/python", *arguments, cwd=self.place)

    def install(self, *what: object, constraints: Path = CONSTRAINTS) -> None:
        self.python(
            "-m", "pip", "install", "-qq", "--no-compile", "--constraint", constraints, *what
        )

    def test(self, files: list[str]) -> None:
        """Run some tests, copied to where nothing else of the clone is."""
        shutil.copytree(ROOT / "tests", self.place / "tests")
        (self.place / "pytest.ini").write_text(SETTINGS)
        shared = self.place / "tests/conftest.py"
        text = re.sub(r"from browser.*", "", shared.read_text())
        shared.write_text(re.sub(r"max_examples=\d+", f"max_examples={EXAMPLES}", text))
        self.python("-c", "import pinesy; assert 'site-packages' in pinesy.__file__")
        self.python("-m", "pytest", *(f"tests/{file}" for file in files))


def built(work: Path, kind: str) -> Path:
    """Build a wheel or an sdist, once."""
    found = list((work / "dist").glob("*.whl" if kind == "wheel" else "*.tar.gz"))
    if not found:
        builder = Environment(work / f"build-{kind}")
        builder.install("hatchling")
        hatchling = builder.place / "venv/bin/hatchling"
        done(hatchling, "build", "--target", kind, "--directory", work / "dist", cwd=ROOT)
        return built(work, kind)
    return found[0]


def try_lowest(work: Path) -> None:
    """Install the lowest versions and all extras, and run the core tests."""
    pins = work / "lowest.txt"
    pins.write_text("\n".join(lowest_versions()) + "\n")
    environment = Environment(work / "lowest")
    environment.install(f"{built(work, 'wheel')}[all]", *TOOLS, *MORE_TOOLS, constraints=pins)
    environment.test([*CORE])


def lowest_versions() -> Iterator[str]:
    """Yield pins of the lowest versions for users, and of the tools' versions that are tried."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    users = [name for names in users_extras().values() for name in names]
    for requirement in [*project["dependencies"], *users]:
        name, lowest = re.match(r"([\w-]+)>=([\w.]+)", requirement).groups()  # type: ignore[union-attr]
        pin = tried(name) if name == "torch" else f"{name}=={lowest}"  # others weigh gigabytes
        yield pin
        if name == "distributed":
            yield pin.replace(name, "dask")
    yield from map(tried, (*TOOLS, *MORE_TOOLS))


def users_extras() -> dict[str, list[str]]:
    """Return the requirements of each extra for users, those in ``all``."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    return {name: extras[name] for name in re.findall(r"\w+", extras["all"][0])[1:]}


def tried(name: str) -> str:
    """Return the pin of a package in constraints.txt."""
    [found] = re.findall(rf"^{name}==\S+$", CONSTRAINTS.read_text(), re.MULTILINE)
    return str(found)


def try_alone(work: Path, kind: str, python: str = sys.executable) -> None:
    """Install a wheel or an sdist without extras: the README's first example, and tests."""
    environment = Environment(work / f"{kind}-{Path(python).name}", python)
    environment.install(built(work, kind))
    readme = (ROOT / "README.md").read_text()
    environment.python("-c", readme.split("```python\n")[1].split("```")[0])
    environment.python("-m", "pinesy", "--help")
    environment.install(*TOOLS)
    environment.test(list(plain_tests()))


def plain_tests() -> Iterator[str]:
    """Yield the files of the core's tests that need no extra and no clone."""
    for name in CORE:
        place = ROOT / "tests" / name
        for path in sorted(place.rglob("test_*.py")) if place.is_dir() else [place]:
            if not NEEDS.search(path.read_text()):
                yield path.relative_to(ROOT / "tests").as_posix()


def try_python(work: Path, python: str) -> None:
    """Try another Python; if there is none, whether pip would find packages for it."""
    found = shutil.which(python)
    if found is not None and done(found, "--version", cwd=work, check=False):
        try_alone(work, "wheel", found)
        return
    print(f"{python}: not found; are there wheels for it?", flush=True)  # noqa: T201
    wheel, version = built(work, "wheel"), python.removeprefix("python")
    if not resolves(work, version, wheel):
        raise SystemExit(f"{python}: there are no wheels of what pinesy needs")
    extras = {extra: resolves(work, version, f"{wheel}[{extra}]") for extra in users_extras()}
    for has_wheels in (True, False):
        names = [extra for extra in extras if extras[extra] is has_wheels]
        if names:
            verb = "has" if has_wheels else "lacks"
            print(f"{python}: {verb} wheels of the extras", *names, flush=True)  # noqa: T201


def resolves(work: Path, version: str, package: object) -> bool:
    """Return whether pip finds wheels of a package, and of all it needs, for a version of Python.

    Nothing is installed, and no interpreter of that version is needed.
    """
    options = ["--dry-run", "-qq", "--ignore-installed", "--only-binary=:all:"]
    target = ["--python-version", version, "--target", work / "unused"]
    pip = [sys.executable, "-m", "pip", "install", *options, *target]
    return done(*pip, "--constraint", CONSTRAINTS, package, cwd=work, check=False)


STEPS: dict[str, Callable[[Path], None]] = {
    "wheel": partial(try_alone, kind="wheel"),
    "sdist": partial(try_alone, kind="sdist"),
    "lowest": try_lowest,
    **{python: partial(try_python, python=python) for python in PYTHONS},
}


def main(names: list[str]) -> None:
    """Do the steps that are named, or all."""
    with tempfile.TemporaryDirectory(prefix="pinesy-supply-") as work:
        for name in names or STEPS:
            print(f"== {name}", flush=True)  # noqa: T201
            STEPS[name](Path(work))
    print("all is well:", *(names or STEPS))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
