"""What the tests of ``pinesy learn`` and ``pinesy audit`` share: the weather, in every format."""

import csv
import hashlib
import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from pinesy import Attribute, Cascade

EXAMPLES = Path(__file__).parents[2] / "examples"
RULES = EXAMPLES / "weather.rules"
TRAIN = EXAMPLES / "weather_train.jsonl"
VALID = EXAMPLES / "weather_valid.jsonl"

Sample = dict[str, Any]


def read(path: Path) -> list[Sample]:
    """Return the samples of a file of JSON Lines."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def random_samples(cascade: Cascade, n: int, seed: int = 0) -> list[Sample]:
    """Return samples that contradict the rules more or less: street a value, all else degrees."""
    rng = np.random.default_rng(seed)

    def degrees(attribute: Attribute) -> dict[str, float]:
        drawn = rng.random(len(attribute.domain)) ** 3
        return dict(zip(map(str, attribute.domain), (drawn / drawn.max()).tolist(), strict=True))

    names = ["sky", "pressure", "rain"]
    return [
        {name: degrees(cascade.attributes[name]) for name in names}
        | {"street": str(rng.choice(["dry", "wet"]))}
        for _ in range(n)
    ]


def write(path: Path, samples: Sequence[Sample]) -> Path:
    """Write samples in the format that the file's name says; in columns all must have one form."""
    if path.suffix == ".csv":
        columns = _columns(samples)
        with open(path, "w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(columns)
            rows.writerows(zip(*columns.values(), strict=True))
    elif path.suffix == ".parquet":
        table = import_module("pyarrow").table(_columns(samples))
        import_module("pyarrow.parquet").write_table(table, path)
    else:
        path.write_text("\n".join(map(json.dumps, samples)) + "\n")
    return path


def _columns(samples: Sequence[Sample]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for name, first in samples[0].items():
        if isinstance(first, dict):
            found |= {f"{name}={v}": [one[name][v] for one in samples] for v in first}
        else:
            found[name] = [one[name] for one in samples]
    return found


def arrays(cascade: Cascade, samples: Sequence[Sample], names: Sequence[str]) -> dict[str, Any]:
    """Return some attributes of samples as the library takes them."""
    return {
        name: _array(cascade.attributes[name], [one[name] for one in samples]) for name in names
    }


def _array(attribute: Attribute, given: Sequence[Any]) -> Any:
    rows = [one if isinstance(one, dict) else {one: 1.0} for one in given]
    return np.array([[row.get(str(v), 0.0) for v in attribute.domain] for row in rows])


def inputs(cascade: Cascade, samples: Sequence[Sample]) -> dict[str, Any]:
    return arrays(cascade, samples, ["sky", "pressure"])


def targets(cascade: Cascade, samples: Sequence[Sample]) -> dict[str, Any]:
    return arrays(cascade, samples, [name for name in ("rain", "street") if name in samples[0]])


def model(path: Path) -> Any:
    """Return the content of a model file."""
    return json.loads(path.read_text())


def told(text: str) -> str:
    """Return what a message says, out of the box that it may be printed in."""
    return " ".join(text.replace("│", " ").split())


def fingerprint(path: Path) -> dict[str, Any]:
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    return {"file": path.name, "bytes": len(content), "sha256": digest}


def notes(data: Path, n: int, transform: str = "none") -> dict[str, Any]:
    """Return what a model's provenance holds, besides versions."""
    sample_files = [{**fingerprint(data), "samples": n}]
    return {"rules": fingerprint(RULES), "transform": transform, "data": sample_files}
