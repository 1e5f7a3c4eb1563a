"""Audits, on the screen and in files."""

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO

from rich.text import Text

from pinesy._common.files import writing
from pinesy.cli.output import Screen
from pinesy.cli.show import counted, new_table
from pinesy.cli.training import plain
from pinesy.learning import Audit


def print_audit(found: Audit, lines: Sequence[int], worst: int, screen: Screen) -> None:
    """Print the worst samples, with what they contradict."""
    screen.print(Text(plain(repr(found))))
    rows = [row for row in found.rows(worst) if row["reason"]]
    if not rows:
        return
    table = new_table("line", "nabla", "set", "label", "repaired", "contradiction")
    for row in rows:
        numbers = str(lines[row["sample"]]), f"{row['nabla']:.4g}"
        values = row["set"], row["label"], row["repaired"] or "ambiguous", row["reason"]
        table.add_row(*map(Text, (*numbers, *values)))
    screen.print(table)
    count = int((found.worst > 0.0).sum())
    if count > len(rows):
        more = counted(count - len(rows), "sample", "more ")
        screen.print(Text(f"... and {more}; --worst {count} shows them", style="italic"))


def write_audit(found: Audit, lines: Sequence[int], output: Path) -> None:
    """Write all samples, worst first, to a file whose name says how."""
    with writing(output) as stream:
        WRITERS[output.suffix](stream, ({"line": lines[r["sample"]], **r} for r in found.rows()))


def _write_csv(stream: TextIO, rows: Iterable[dict[str, Any]]) -> None:
    writer = None
    for row in rows:
        if writer is None:
            writer = csv.DictWriter(stream, list(row), lineterminator="\n")
            writer.writeheader()
        writer.writerow(row)


def _write_jsonl(stream: TextIO, rows: Iterable[dict[str, Any]]) -> None:
    for row in rows:
        stream.write(json.dumps(row, ensure_ascii=False) + "\n")


def _write_json(stream: TextIO, rows: Iterable[dict[str, Any]]) -> None:
    json.dump(list(rows), stream, ensure_ascii=False, indent=1)
    stream.write("\n")


WRITERS = {".csv": _write_csv, ".json": _write_json, ".jsonl": _write_jsonl}
