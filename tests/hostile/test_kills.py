"""Writers that are killed at random moments leave the old file or the new one, whole."""

import os
import subprocess
import sys
from pathlib import Path

from hostile import killing
from pinesy import parse, save
from pinesy._common import files

ROOT = Path(__file__).parents[2]
RULES = "attribute a in {0, 1}\nattribute b in {0, 1}\niff a in {0} then b in {0}\n"


def test_files_are_whole_after_kills() -> None:
    """A few writers; `make fuzz` ends all of them, often."""
    places = os.pathsep.join(str(ROOT / name) for name in ("src", "tests", "."))
    command = [sys.executable, killing.__file__, "6", "0", ".rules", ".zip", "export cnf"]
    given = {**os.environ, "PYTHONPATH": places}
    done = subprocess.run(command, env=given, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    assert all("SIGKILL" in line and "SIGINT" in line for line in lines)


def test_what_a_living_writer_has_begun_is_left_alone(tmp_path: Path) -> None:
    path, rules = tmp_path / "r.rules", parse(RULES)
    left = tmp_path / ".r.rules.dead.tmp"
    left.write_text("half")
    save(rules, path)
    assert left.exists()  # it is too young to be told from one that is being written
    with files.atomic_text(path) as stream:
        (begun,) = (p for p in tmp_path.glob(".*.tmp") if p != left)
        for one in (left, begun):
            os.utime(one, (0, 0))
        save(rules, path)
        assert begun.exists()
        assert not left.exists()
        stream.write("# whole")
    assert path.read_text() == "# whole"
