"""Writers that are killed at random moments leave the old file or the new one, whole."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pinesy import load, parse, save
from pinesy._common import files

#: `PINESY_KILLS` sets another number: `make fuzz` tries many.
KILLS = int(os.environ.get("PINESY_KILLS", "6"))
SOURCE = Path(__file__).parents[2] / "src"
ENDINGS = (".rules", ".json")
TEXTS = [
    f"attribute a in {{0..{n}}}\nattribute b in {{0, 1}}\niff a in {{{n}}} then b in {{0}}\n"
    for n in (7, 3000)
]
WRITER = """
import sys
from pinesy import parse, save
rules = [parse(text) for text in sys.argv[2:]]
print("ready", flush=True)
while True:
    for one in rules:
        save(one, sys.argv[1])
"""


def killed(path: Path, rng: random.Random, number: int) -> None:
    """Start a writer and end it by a signal after a random time."""
    command = [sys.executable, "-c", WRITER, str(path), *TEXTS]
    given = {**os.environ, "PYTHONPATH": str(SOURCE)}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=given, stdout=pipe, stderr=pipe) as writer:
        assert writer.stdout
        writer.stdout.readline()
        time.sleep(rng.random() / 50)
        writer.send_signal(signal.SIGINT if number % 3 == 0 else signal.SIGKILL)
        writer.communicate(timeout=60)


@pytest.mark.parametrize("suffix", ENDINGS)
def test_a_file_is_whole_after_kills(tmp_path: Path, suffix: str) -> None:
    path, rng = tmp_path / f"r{suffix}", random.Random(suffix)
    rules = [parse(text) for text in TEXTS]
    save(rules[0], path)
    for number in range(KILLS // len(ENDINGS)):
        killed(path, rng, number)
        assert load(path) in rules
    for left in tmp_path.glob(".*.tmp"):
        os.utime(left, (0, 0))
    save(rules[1], path)  # sweeps what the killed ones left
    assert os.listdir(tmp_path) == [path.name]


def test_what_a_living_writer_has_begun_is_left_alone(tmp_path: Path) -> None:
    path, rules = tmp_path / "r.rules", parse(TEXTS[0])
    left = tmp_path / ".r.rules.dead.tmp"
    left.write_text("half")
    save(rules, path)
    assert left.exists()  # it is too young to be told from one that is being written
    with files.writing(path) as stream:
        (begun,) = (p for p in tmp_path.glob(".*.tmp") if p != left)
        for one in (left, begun):
            os.utime(one, (0, 0))
        save(rules, path)
        assert begun.exists()
        assert not left.exists()
        stream.write("# whole")
    assert path.read_text() == "# whole"
