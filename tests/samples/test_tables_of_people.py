"""Data files as people have them: ids, blank cells, semicolons and decimal commas."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from messages import raises_saying
from pinesy import Attribute, DataError
from pinesy.samples import SampleFile, read_samples

LEFT, DRINK = Attribute("left", range(4)), Attribute("drink", ["tea", "iced coffee"])
BLANK = Attribute("blank", ["", "x", None])


def read(content: str, tmp_path: Path, *inputs: Attribute, **options: Any) -> Any:
    path = tmp_path / f"data{options.pop('suffix', '.csv')}"
    path.write_text(content)
    batches = list(read_samples(path, inputs or (LEFT, DRINK), **options))
    ids = {title: [i for b in batches for i in b.ids[title]] for title in batches[0].ids}
    return np.concatenate([b.evidence for b in batches]).tolist(), ids


ROWS = [[0, 1, 0, 0, 1, 0], [1, 1, 1, 1, 0, 1], [0, 0, 1, 0, 1, 1]]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("batch", [1, 2, 100])
def test_separators_blanks_and_ids(separator: str, batch: int, tmp_path: Path) -> None:
    text = "id,left,drink\np1,1,tea\np2,,iced coffee\np3,2,\n".replace(",", separator)
    assert read(text, tmp_path, batch=batch) == (ROWS, {"id": ["p1", "p2", "p3"]})
    assert read(text, tmp_path, separator=separator)[0] == ROWS


def test_titles_in_quotes(tmp_path: Path) -> None:
    assert read('"left";"drink"\n"1";"tea"\n', tmp_path)[0] == ROWS[:1]


def test_ids_with_other_names(tmp_path: Path) -> None:
    text = "patient,left,drink,Id\n7,1,tea,a\n"
    assert read(text, tmp_path, ids=["patient"])[1] == {"patient": ["7"], "Id": ["a"]}
    assert read(text, tmp_path, ids=["patient", "drink"])[1]["drink"] == ["tea"]
    with raises_saying(DataError, "column 'patient' is neither", "ids= (--id NAME)"):
        read(text, tmp_path, strict=True)
    with raises_saying(DataError, "line 1: there is no column 'pateint'", "'patient'?"):
        read(text, tmp_path, ids=["patient", "pateint"])
    with raises_saying(DataError, "ids is 'patient'; give a list"):
        read(text, tmp_path, ids="patient")


def test_an_attribute_may_be_called_id(tmp_path: Path) -> None:
    assert read("id\n1\n", tmp_path, Attribute("id", range(2))) == ([[0, 1]], {})


def test_json_lines(tmp_path: Path) -> None:
    text = """
    {"id": 1, "left": 1, "drink": "tea"}
    {"left": null, "drink": "iced coffee", "id": [2]}
    {"left": 2, "drink": null}
    """
    assert read(text, tmp_path, suffix=".jsonl") == (ROWS, {"id": [1, [2], None]})
    with raises_saying(DataError, "there is no input 'patient'", "--id"):
        read('{"left": 1, "drink": "tea", "patient": 1}', tmp_path, suffix=".jsonl", strict=True)


def test_blank_may_be_a_value(tmp_path: Path) -> None:
    assert read("left,blank\n1,\n", tmp_path, LEFT, BLANK)[0] == [[0, 1, 0, 0, 1, 0, 0]]
    assert read('{"blank": null}', tmp_path, BLANK, suffix=".jsonl")[0] == [[0, 0, 1]]


def test_decimal_commas_of_degrees(tmp_path: Path) -> None:
    text = "left=0;left=1\n1,0;0,25\n"
    assert read(text, tmp_path, LEFT, decimal=",")[0] == [[1.0, 0.25, 0, 0]]
    with raises_saying(DataError, "'1,0' is not a number; if commas are", "--decimal ','"):
        read(text, tmp_path, LEFT)
    with raises_saying(DataError, "'0.25' is not a number"):
        read("left=0;left=1\n1,0;0.25\n", tmp_path, LEFT, decimal=",")


def test_settings_that_make_no_sense(tmp_path: Path) -> None:
    text = "left;drink\n1;tea\n"
    with raises_saying(DataError, "the columns 'left;drink' are separated by ';'", "--separator"):
        read(text, tmp_path, separator=",")
    with raises_saying(DataError, "the separator is ';;'; it must be one character"):
        read(text, tmp_path, separator=";;")
    with raises_saying(DataError, "the decimal point is 'x'"):
        read(text, tmp_path, decimal="x")


def test_several_passes(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("who;left;drink\n1;1;tea\n2;;\n")
    file = SampleFile(path, [LEFT, DRINK], ids=["who"], separator=";")
    for _ in range(2):
        (batch,) = file.batches()
        assert batch.ids == {"who": ("1", "2")}
        assert batch.evidence.tolist() == [[0, 1, 0, 0, 1, 0], [1] * 6]
