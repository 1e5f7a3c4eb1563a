"""Parquet files, weights and records of experiments, changed at random: for the fuzzer."""

import io
import json
import random
import struct
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console

from pinesy import Attribute
from pinesy.problems import sum_html
from pinesy.samples import read_samples
from reproduction import Experiment, Store
from reproduction.guarantees import FIGURES, LEVELS
from reproduction.guarantees import FORMAT as SPLITS
from reproduction.rendering import markdown, print_report
from reproduction.report import read_report
from reproduction.store import EMBEDDED
from reproduction.tests.synthetic import a_record

Attempt = Callable[[], object]
EXPERIMENT = Experiment("addition", 1, "normal", "antipignistic", 0)
INPUTS = [Attribute("left", range(4)), Attribute("right", range(4)), Attribute("size", ["s", "l"])]
#: What is put in the place of values in JSON.
ODD: list[Any] = [
    None, True, "", "x", "**b** | `c` <i>", "\x1b[2J", "\ud800", [], {}, [[]], -1, 0, 1e308,
    10**400, float("nan"), float("inf"), {"a": [1]}, ["x"], 2**63, "9" * 400,
]  # fmt: skip


def changed_bytes(content: bytes, rng: random.Random, start: int = 0) -> bytes:
    """Return bytes of which some, from `start` on, are changed, put in or left out."""
    data = bytearray(content or b" ")
    for _ in range(rng.randint(1, 5)):
        i = rng.randrange(min(start, len(data)), len(data) + 1)
        put = rng.choice([b"", bytes([rng.randrange(256)]), data[i : i + 8], rng.randbytes(4)])
        data[i : i + rng.choice([1, 1, 1, len(put)])] = put
    return bytes(data[: rng.choice([len(data)] * 4 + [rng.randrange(len(data) + 1)])])


def _written(content: bytes, name: str, read: Callable[[Path], object]) -> Attempt:
    """Return what writes bytes to a file and reads it."""

    def attempt() -> None:
        with TemporaryDirectory() as place:
            (path := Path(place) / name).write_bytes(content)
            read(path)

    return attempt


# --- Parquet -------------------------------------------------------------------------------------


@cache
def _tables() -> list[bytes]:
    """Return Parquet files: degrees by columns and in lists, values, ids, several groups."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    left = {f"left={i}": pa.array([1.0, float(i == 3), 1.0] * 4) for i in range(4)}
    lists = pa.array([[1.0, 0.2, 0.0, 0.5]] * 12, pa.list_(pa.float64()))
    rest = {"right": lists, "size": pa.array(["s", "l", None] * 4), "id": pa.array(range(12))}
    found = []
    for how in ({}, {"row_group_size": 5, "compression": "gzip"}, {"use_dictionary": False}):
        pq.write_table(pa.table({**left, **rest}), stream := io.BytesIO(), **how)
        found.append(stream.getvalue())
    return found


def _odd_table(rng: random.Random) -> bytes:
    """Return a Parquet file with a column of a type that is none of ours."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    made = [
        lambda: pa.array([[[1.0]], None, []]),
        lambda: pa.array([{"a": 1}, None, {"a": 2}]),
        lambda: pa.array([b"\xff", b"", None]),
        lambda: pa.array([1, 2, None], pa.timestamp("ns")),
        lambda: pa.array([1, None, 3], pa.duration("s")),
        lambda: pa.array(["1.5", "2", None]).cast(pa.decimal128(38, 2)),
        lambda: pa.array([None] * 3),
        lambda: pa.array([float("nan"), -0.0, float("inf")]),
        lambda: pa.array([2**63, 2**64 - 1, None], pa.uint64()),
        lambda: pa.array([[1.0, None], None, [1.0, 0.0]]),
        lambda: pa.array([[], [], []], pa.list_(pa.float64())),
        lambda: pa.array([[0, 1]] * 3, pa.list_(pa.int8(), 2)),
        lambda: pa.array(["\x00", "\x1b[2J", "x" * 70_000]).dictionary_encode(),
        lambda: pa.array([True, None, False]),
        lambda: pa.array([[("a", 1.0)], None, []], pa.map_(pa.string(), pa.float64())),
    ]
    names = ["left", "right", "size", "id", "left=0", "size=s", "\x1b[2J", "", "left.0"]
    columns = {rng.choice(names): rng.choice(made)() for _ in range(rng.randint(1, 3))}
    pq.write_table(pa.table(columns), stream := io.BytesIO())
    return stream.getvalue()


def parquet_attempt(rng: random.Random) -> Attempt:
    """Return what reads a changed Parquet file, mostly changed near its end: what is where."""
    if rng.random() < 0.3:
        content = _odd_table(rng)
    else:
        whole = rng.choice(_tables())
        start = rng.choice([0, len(whole) - int.from_bytes(whole[-8:-4], "little") - 8])
        content = changed_bytes(whole, rng, start)
    return _written(content, "d.parquet", lambda path: list(read_samples(path, INPUTS)))


# --- weights -------------------------------------------------------------------------------------


@cache
def _weights() -> tuple[bytes, bytes]:
    """Return files of the weights of a network, and of a training that may go on."""
    from torch import nn, optim

    from pinesy.nets import DeepSoftLogCNN, NetworkPerception, Recipe
    from pinesy.nets.checkpoints import Identity, write_checkpoint

    recipe = Recipe("adamw", 3e-3, "cosine", batch=32, epochs=2, t_max=2)
    network = nn.Linear(2, 2)
    network(next(network.parameters())).sum().backward()
    (optimizer := optim.AdamW(network.parameters())).step()
    history = {"losses": [0.5], "accuracies": [0.5], "seconds": [1.0]}
    with TemporaryDirectory() as place:
        first, second = Path(place) / "w.safetensors", Path(place) / "c.safetensors"
        NetworkPerception(DeepSoftLogCNN(2, seed=0), recipe).save(first)
        write_checkpoint(second, Identity("x", recipe, 0, "d"), network, optimizer, history)
        return first.read_bytes(), second.read_bytes()


def _changed_weights(content: bytes, rng: random.Random) -> bytes:
    """Return a safetensors file of which the header is changed, as JSON or as bytes."""
    size = struct.unpack("<Q", content[:8])[0]
    header = content[8 : 8 + size]
    if rng.random() < 0.5:
        header = json.dumps(odd_json(json.loads(header), rng)).encode("utf-8", "replace")
    elif rng.random() < 0.8:
        header = changed_bytes(header, rng)
    else:
        return changed_bytes(content[: 16 + size], rng) + content[16 + size :]
    length = rng.choice([len(header)] * 9 + [rng.choice([0, size, 2**40, 2**63, len(header) + 1])])
    return struct.pack("<Q", length) + header + content[8 + size :]


def weights_attempt(rng: random.Random) -> Attempt:
    """Return what reads a changed file of weights, or a changed checkpoint."""
    from pinesy.nets import NetworkPerception
    from pinesy.nets.checkpoints import read_checkpoint

    which = rng.randrange(2)

    def read(path: Path) -> None:
        with warnings.catch_warnings(action="ignore"):  # layers that are printed in another way
            (NetworkPerception.load if which == 0 else read_checkpoint)(path)

    return _written(_changed_weights(_weights()[which], rng), "w.safetensors", read)


# --- records of experiments ----------------------------------------------------------------------


def odd_json(content: Any, rng: random.Random) -> Any:
    """Return JSON data in which one value, somewhere, is another one, gone or renamed."""
    if not content or not isinstance(content, dict | list) or rng.random() < 0.1:
        return rng.choice(ODD)
    if isinstance(content, list):
        i = rng.randrange(len(content))
        return [*content[:i], odd_json(content[i], rng), *content[i + 1 :]]
    name = rng.choice(sorted(content))
    if (how := rng.random()) < 0.1:
        return {k: v for k, v in content.items() if k != name}
    if how < 0.2:
        return {(rng.choice(["", "\x1b[2J", "*_|", "9" * 50]) if k == name else k): v
                for k, v in content.items()}  # fmt: skip
    return {**content, name: odd_json(content[name], rng)}


RECORD = {"format": "pinesy.record/1", **EXPERIMENT.fields, **a_record()}
CASE = dict.fromkeys(("title", "summary", "explanation", "why_not", "picture"), "a <b> text")
CASES = {"format": "pinesy.cases/1", "cases": [{**CASE, "images": {"a_1": f"{EMBEDDED}AA=="}}]}
LEVEL = dict.fromkeys(FIGURES, 0.5)
SPLIT = {
    "format": SPLITS, "problem": "addition", "size": 1, "split": 0, "calibration": 9, "test": 9,
    "ways": {"answers": [None, *[LEVEL] * (len(LEVELS) - 1)]}, "digit_accuracy": 0.9,
    "network": {"architecture": "PaperCNN", "epochs": 20},
}  # fmt: skip
#: The files of experiments, and where they are.
STORED: dict[str, Any] = {
    "addition-1/normal/antipignistic/run-00.json": RECORD,
    "addition-1/normal/antipignistic/cases-00.json": CASES,
    "guarantees/addition-1.jsonl": SPLIT,
}


def record_attempt(rng: random.Random) -> Attempt:
    """Return what makes a report of records, explained samples and splits, one of them changed."""
    texts = {name: json.dumps(content).encode() for name, content in STORED.items()}
    name = rng.choice(sorted(texts))
    texts[name] = json.dumps(odd_json(STORED[name], rng)).encode()
    if rng.random() < 0.2:
        texts[name] = changed_bytes(texts[name], rng)

    def attempt() -> None:
        with TemporaryDirectory() as place:
            for path, text in ((Path(place) / name, text) for name, text in texts.items()):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text)
            report = read_report(Path(place))
            markdown(report).encode()
            print_report(report, Console(file=io.StringIO(), width=200))
            "".join(map(sum_html, Store(place).cases())).encode()

    return attempt
