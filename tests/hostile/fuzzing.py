"""Valid files, changed at random: each gives a result or one of our errors, soon.

``python tests/hostile/fuzzing.py 100000`` tries so many of each kind and prints the counts.
"""

import io
import json
import random
import resource
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

import numpy as np

import pinesy
from hostile.changed_files import parquet_attempt, record_attempt, weights_attempt
from pinesy import PinesyError, parse
from pinesy.exceptions import DataWarning
from pinesy.rulebase.rules_json import from_content, read_content, to_content
from pinesy.samples import read_samples

RULES = """version 2
attribute left in {0..3}
attribute right in {0..3}
attribute size in {small, "rather large", none, true, (1, 2)}
attribute total in {0, 1}
number age cuts {30, <= 65} [blur=2]
product pair = left * right
for i in 0..3: iff left in {i} then pair where left == i
if pair where (left + right) // 2 == 1 and not left in {1, 2} then size in {small} [s=0.1, r=0]
iff exactly 1 of (left == 1, right in {2}) or age < 30 then total == 1
"""
CASCADE = parse(RULES)
PERCEPTIONS = {a.name: partial(np.asarray, dtype=float) for a in CASCADE.inputs}
JSON = json.dumps(to_content(CASCADE))
LINES = (
    '{"left": {"3": 1.0, "1": 0.4}, "right": [1, 0.5, 0, 0], "age": 31.5, "id": "x", "total": 1}\n'
    '{"left": 2, "right": null, "age": "<30", "id": 3, "total": {"0": 1.0}}\n'
)
TABLE = "left=0,left=1,left=2,left=3,right,age,total\n1,0.5,0,0,3,31.5,1\n0,1,0,0,,29,0\n"
#: What is put in at random places.
PLAIN = """{ } ( ) [ ] , : = == .. // % * - -1 0 1 1.5 1e400 99999999999999999999 true false none
null NaN Infinity and or not in where iff then for if exists forall let macro include " ` # left
pair size attribute product function joint number cuts 0..9 0..999999 {} [] "a" \\ud800 \\n"""
LONG = ["[" * 60, "(" * 60, "{" * 60, "9" * 500, "x" * 500]
WORDS = [*PLAIN.split(), *LONG, "\\", "\ud800", "\x00", "\x1b[2J", "\n", " "]


def changed(text: str, rng: random.Random) -> str:
    """Return a text with one or two random changes."""
    for _ in range(rng.randint(1, 2)):
        i, n = rng.randrange(len(text) + 1), rng.choice([0, 1, 1, 5, 40])
        piece = text[(j := rng.randrange(len(text) + 1)) : j + rng.choice([1, 10, 80])]
        put = rng.choice([rng.choice(WORDS), rng.choice(WORDS), piece, "", chr(rng.randrange(256))])
        text = (text[:i] + put + text[i + n :]) or " "
    return text


def read_table(text: str, suffix: str) -> None:
    """Read a text as a data file."""
    content = text.encode("utf-8", "surrogatepass")
    targets = [CASCADE.attributes["total"]]
    inputs = CASCADE.inputs
    if suffix == ".jsonl":
        list(read_samples(io.BytesIO(content), inputs, targets=targets))
        return
    with TemporaryDirectory() as place:
        (path := Path(place) / f"d{suffix}").write_bytes(content)
        list(read_samples(path, inputs, targets=targets))


def read_archive(content: bytes) -> None:
    """Read bytes as a neuro-symbolic model."""
    with TemporaryDirectory() as place:
        (path := Path(place) / "m.zip").write_bytes(content)
        pinesy.load(path, PERCEPTIONS)


def archive() -> bytes:
    """Return the bytes of a neuro-symbolic model."""
    with TemporaryDirectory() as place:
        path = Path(place) / "m.zip"
        pinesy.save(pinesy.NeuroSymbolic(PERCEPTIONS, CASCADE), path)
        return path.read_bytes()


def changed_archive(content: bytes, rng: random.Random) -> bytes:
    """Return an archive with changed bytes, or with a changed member."""
    if rng.random() < 0.5:
        data = bytearray(content)
        for _ in range(rng.randint(1, 5)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        return bytes(data[: rng.choice([len(data), rng.randrange(len(data))])])
    with ZipFile(io.BytesIO(content)) as old, ZipFile(stream := io.BytesIO(), "w") as new:
        target = rng.choice(old.namelist())
        for name in old.namelist():
            text = old.read(name).decode()
            text = changed(text, rng) if name == target else text
            new.writestr(name, text.encode("utf-8", "surrogatepass"))
    return stream.getvalue()


def attempts(kind: str, rng: random.Random) -> Callable[[], object]:
    """Return one attempt of a kind."""
    if kind in OTHERS:
        return OTHERS[kind](rng)
    if kind == "model":
        content = changed_archive(ARCHIVE, rng)
        return lambda: read_archive(content)
    source = {"rules": RULES, "json": JSON, "jsonl": LINES, "csv": TABLE}.get(kind, CONDITION)
    text = changed(source, rng)
    return {
        "rules": lambda: parse(text),
        "json": lambda: from_content(read_content(text)),
        "jsonl": lambda: read_table(text, ".jsonl"),
        "csv": lambda: read_table(text, ".csv"),
        "condition": lambda: CASCADE.attributes["pair"].where(text),
    }[kind]


CONDITION = "(left + right == 3 or left in {1, 2} and not right % 2 < 1) and pair != (1, 2)"
ARCHIVE = archive()
OTHERS = {"parquet": parquet_attempt, "weights": weights_attempt, "record": record_attempt}
KINDS = ("rules", "condition", "json", "jsonl", "csv", "model", *OTHERS)
#: How many of a kind are tried where one takes as long as so many of the others.
SLOW = {"record": 20}
#: What a library in C++ reads that may abort the process, and how many one process tries.
ABORTING, PART = {"parquet"}, 100


def fuzz(kind: str, n: int, seed: int) -> tuple[Counter[str], float]:
    """Try `n` inputs; return how they ended, and the longest processor time of one."""
    ends: Counter[str] = Counter()
    longest = 0.0
    for i in range(n):
        attempt = attempts(kind, random.Random(f"{kind} {seed} {i}"))
        start = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)  # of columns that no rule uses
                attempt()
            ends["read"] += 1
        except PinesyError as error:
            ends["refused" if len(str(error)) < 5_000 else "refused at length"] += 1
        except Exception as error:
            raise AssertionError(f"{kind}, seed {seed}, number {i}: {error!r:.200}") from error
        longest = max(longest, time.process_time() - start)
    return ends, longest


def fuzz_apart(kind: str, n: int, seed: int) -> tuple[Counter[str], float]:
    """Do as `fuzz` in other processes, and count those that end: pyarrow may abort its own."""
    ended: Counter[str] = Counter()
    parts = [(kind, min(PART, n - i), seed * 1_000_000 + i) for i in range(0, n, PART)]
    longest = 0.0
    for part in parts:
        with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
            try:
                found, slowest = pool.submit(fuzz, *part).result()
            except BrokenProcessPool:
                ended[f"ended with its part of {PART}"] += 1
                continue
        ended += found
        longest = max(longest, slowest)
    return ended, longest


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    number, start = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    for name in sys.argv[3:] or KINDS:
        tried = fuzz_apart if name in ABORTING else fuzz
        found, slowest = tried(name, number // SLOW.get(name, 1), start)
        sys.stdout.write(f"{name}: {dict(found)}, the slowest took {slowest:.2f} s\n")
        sys.stdout.flush()
