"""What a record says about how it was made."""

import subprocess
from pathlib import Path

import pytest

import pinesy
from reproduction.environment import Stopwatch, _commit, environment


def git(place: Path, *words: str) -> str:
    author = ["-c", "user.name=someone", "-c", "user.email=someone@example.org"]
    command = ["git", "-C", str(place), *author, *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package that lies in a work tree as ours does, committed."""
    found = tmp_path.resolve() / "src" / "pinesy"
    found.mkdir(parents=True)
    (found / "module.py").write_text("x = 1\n")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "first")
    return found


def test_the_commit_of_a_clean_tree(package: Path) -> None:
    commit = git(package, "rev-parse", "--short", "HEAD")
    assert len(commit) >= 7
    assert _commit(package) == commit


def test_a_tree_that_was_changed_is_marked(package: Path) -> None:
    commit = git(package, "rev-parse", "--short", "HEAD")
    (package / "module.py").write_text("x = 2\n")
    assert _commit(package) == f"{commit}+"


def test_changed_experiments_are_marked_too(package: Path) -> None:
    module = package.parents[1] / "reproduction" / "module.py"
    module.parent.mkdir()
    module.write_text("y = 1\n")
    git(package, "add", str(module))
    assert str(_commit(package)).endswith("+")


def test_other_files_do_not_count_as_changes(package: Path) -> None:
    (package.parents[1] / "results.json").write_text("{}\n")
    assert _commit(package) == git(package, "rev-parse", "--short", "HEAD")


def test_a_package_that_is_installed_elsewhere_has_no_commit(package: Path) -> None:
    inner = package / "site-packages" / "pinesy"
    inner.mkdir(parents=True)
    assert _commit(inner) is None


def test_the_commit_is_that_of_this_package(monkeypatch: pytest.MonkeyPatch) -> None:
    from reproduction import environment as module

    asked: list[Path] = []
    monkeypatch.setattr(module, "_commit", asked.append)
    module._environment.cache_clear()
    environment(1)
    module._environment.cache_clear()
    assert [place / "__init__.py" for place in asked] == [Path(pinesy.__file__).resolve()]


def test_seconds_add_up() -> None:
    watch = Stopwatch()
    watch.add("learning", 1.5)
    watch.add("learning", 2.0)
    assert watch.seconds == {"learning": 3.5}
