"""Targets for learning in data files, and files that are read several times."""

import hashlib
import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from messages import raises_saying
from pinesy import Attribute, DataError, DegreeError, PinesyError, antipignistic
from pinesy.exceptions import UnusedColumnsWarning
from pinesy.samples import Batch, SampleFile, read_samples
from pinesy.samples import sample_file as module

LEFT = Attribute("left", range(3))
SIZE = Attribute("size", ["small", "large"])
BIT = Attribute("bit", [0, 1])
PAIR = Attribute.product("pair", BIT, Attribute("other", [False, True]))


def write(tmp_path: Path, content: str, suffix: str = ".jsonl") -> Path:
    path = tmp_path / f"data{suffix}"
    path.write_text(content, encoding="utf-8")
    return path


def read(tmp_path: Path, content: str, suffix: str = ".jsonl", **options: Any) -> list[Batch]:
    options.setdefault("targets", [SIZE])
    return list(read_samples(write(tmp_path, content, suffix), [LEFT], **options))


def targets(tmp_path: Path, content: str, suffix: str = ".jsonl", **options: Any) -> Any:
    """Return the targets of a file of one batch, as lists."""
    (batch,) = read(tmp_path, content, suffix, **options)
    return {name: target.array.tolist() for name, target in batch.targets.items()}


# --- forms -------------------------------------------------------------------------------------


def test_json_values_become_positions(tmp_path: Path) -> None:
    (batch,) = read(tmp_path, '{"left": 1, "size": "large"}\n{"size": "small", "left": [1, 0, 0]}')
    assert batch.evidence.tolist() == [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    assert batch.targets["size"].array.tolist() == [1, 0]
    assert batch.targets["size"].array.dtype == np.uint32


@pytest.mark.parametrize("form", ['{"large": 1, "small": 0.5}', "[0.5, 1]"])
def test_json_degrees(form: str, tmp_path: Path) -> None:
    assert targets(tmp_path, f'{{"left": 1, "size": {form}}}') == {"size": [[0.5, 1.0]]}


def test_values_among_degrees_become_degrees_in_that_batch_alone(tmp_path: Path) -> None:
    lines = '{"left": 0, "size": "large"}\n' * 3 + '{"left": 0, "size": {"small": 1}}\n'
    first, second = read(tmp_path, lines, batch=2)
    assert first.targets["size"].array.tolist() == [1, 1]
    assert second.targets["size"].array.tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_csv_values_and_degrees(tmp_path: Path) -> None:
    rows = 'left,size,"pair=(1, true)","pair=(0, false)"\n2,large,1,0.25\n0,small,0.5,1\n'
    found = targets(tmp_path, rows, ".csv", targets=[PAIR, SIZE])
    assert found == {"size": [1, 0], "pair": [[0.25, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.5]]}


def test_tuples_are_values_by_their_text(tmp_path: Path) -> None:
    line = '{"left": 0, "pair": "(1, false)"}'
    assert targets(tmp_path, line, targets=[PAIR]) == {"pair": [2]}
    assert targets(tmp_path, 'left,pair\n0,"(1, false)"\n', ".csv", targets=[PAIR]) == {"pair": [2]}


@pytest.mark.parametrize(
    ("content", "suffix"), [('{"left": 1}\n{"left": 2}', ".jsonl"), ("left\n1\n2\n", ".csv")]
)
def test_a_target_that_the_whole_file_lacks_is_absent(
    content: str, suffix: str, tmp_path: Path
) -> None:
    assert targets(tmp_path, content, suffix) == {}


def test_other_attributes_must_be_known(tmp_path: Path) -> None:
    line = '{"left": 1, "size": "small", "bit": 0}'
    assert targets(tmp_path, line, known=[BIT, SIZE, LEFT]) == {"size": [0]}
    with pytest.warns(UnusedColumnsWarning, match="1 column that no rule uses is ignored: 'bit'"):
        read(tmp_path, line)
    with pytest.warns(UnusedColumnsWarning, match="2 columns .* are ignored: 'size', 'bit'"):
        read(tmp_path, line, targets=[])
    with raises_saying(DataError, "line 1: there is no attribute 'bit'; known: left, size"):
        read(tmp_path, line, strict=True)
    with raises_saying(DataError, "line 1: there is no input 'size'; known: left"):
        read(tmp_path, line, targets=[], strict=True)


def test_streams_may_hold_targets() -> None:
    (batch,) = read_samples(io.BytesIO(b'{"left": 1, "size": "large"}'), [LEFT], targets=[SIZE])
    assert batch.targets["size"].array.tolist() == [1]


def test_large_target_domains_make_batches_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_CELLS", 10)
    batches = read(tmp_path, '{"left": 0, "size": "large"}\n' * 5)
    assert [len(b) for b in batches] == [2, 2, 1]


# --- what is transformed -----------------------------------------------------------------------


def halved(degrees: Any) -> Any:
    """A transformation that changes certain values too: the first degree becomes 1."""
    degrees = np.asarray(degrees) / 2
    degrees[:, 0] = 1.0
    return degrees


def test_neither_targets_nor_certain_values_are_transformed(tmp_path: Path) -> None:
    lines = '{"left": 1, "size": {"large": 1}}\n{"left": [0, 1, 0.5], "size": {"large": 1}}\n'
    (batch,) = read(tmp_path, lines, transform=halved)
    assert batch.evidence.tolist() == [[0.0, 1.0, 0.0], [1.0, 0.5, 0.25]]
    assert batch.targets["size"].array.tolist() == [[0.0, 1.0], [0.0, 1.0]]


def test_csv_columns_of_values_are_not_transformed(tmp_path: Path) -> None:
    path = write(tmp_path, "left,bit=1\n1,1\n2,1\n", ".csv")
    (batch,) = read_samples(path, [LEFT, BIT], transform=halved)
    assert batch.evidence.tolist() == [[0.0, 1.0, 0.0, 1.0, 0.5], [0.0, 0.0, 1.0, 1.0, 0.5]]


def test_where_all_is_certain_nothing_is_transformed(tmp_path: Path) -> None:
    def refuse(degrees: Any) -> Any:
        raise AssertionError(degrees)

    (batch,) = read(tmp_path, '{"left": 1}', transform=refuse)
    assert batch.evidence.tolist() == [[0.0, 1.0, 0.0]]


def test_bad_probabilities_name_their_line_among_certain_values(tmp_path: Path) -> None:
    lines = '{"left": 1}\n{"left": [0, 1, 0]}\n{"left": 2}\n{"left": [0, 0.5, 0]}\n'
    with raises_saying(DegreeError, "line 4: attribute 'left': the probabilities sum to 0.5"):
        read(tmp_path, lines, transform=antipignistic)


# --- errors ------------------------------------------------------------------------------------

FIRST = '{"left": 1, "size": "large"}\n'
JSON_ERRORS = {
    '{"left": 1}': (
        "line 2: no target is given for 'size', where the samples before have a target for it; "
        "give it in every sample of the file, or in none"
    ),
    '{"left": 1, "size": "lage"}': "line 2: attribute 'size' has no value 'lage'; did you mean",
    '{"left": 1, "size": 7}': "line 2: attribute 'size' has no value 7; known: small, large",
    '{"left": 1, "size": [1]}': "line 2: attribute 'size' has 2 values; got a list of 1 degrees",
    '{"left": 1, "size": {"smal": 1}}': "line 2: attribute 'size' has no value 'smal'; did you",
    '{"left": 1, "size": {"small": 0.5}}': (
        "line 2: attribute 'size': the distribution is not normalised (its largest degree is 0.5)"
    ),
    '{"left": 1, "size": [1, 2]}': "line 2: attribute 'size': the possibility of 'large' is 2.0",
    '{"left": 1, "size": [1, -1]}': "line 2: attribute 'size': the possibility of 'large' is -1.0",
    '{"left": 1, "size": null}': "line 2: attribute 'size': no target is given",
    '{"left": 1, "siez": "small"}': "line 2: there is no attribute 'siez'; did you mean 'size'?",
    '{"size": "small"}': "line 2: nothing is given for left",
}


@pytest.mark.parametrize("line", JSON_ERRORS)
def test_bad_targets_in_json(line: str, tmp_path: Path) -> None:
    with raises_saying(PinesyError, f"data.jsonl, {JSON_ERRORS[line]}"):
        read(tmp_path, FIRST + line)


def test_a_target_that_comes_late_is_refused(tmp_path: Path) -> None:
    with raises_saying(
        DataError,
        "data.jsonl, line 3: a target is given for 'size', where the samples before have no target",
    ):
        read(tmp_path, '{"left": 1}\n\n' + FIRST, batch=1)


CSV_ERRORS = {
    "left,size\n1,large\n1,lage\n": "line 3: attribute 'size' has no value 'lage'; did you mean",
    "left,size\n1,large\n1,\n": "line 3: attribute 'size': no target is given",
    "left,size=large\n1,1\n1,0.5\n": "line 3: attribute 'size': the distribution is not norm",
    "left,size=lage\n1,1\n": "line 1: attribute 'size' has no value 'lage'; did you mean 'large'?",
    "left,siez\n1,1\n": (
        "line 1: column 'siez' is neither an attribute nor attribute=value; did you mean 'size'?"
    ),
    "left,size,size=large\n1,large,1\n": "line 1: column 'size=large': an earlier column gives",
}


@pytest.mark.parametrize("text", CSV_ERRORS)
def test_bad_targets_in_csv(text: str, tmp_path: Path) -> None:
    with raises_saying(PinesyError, f"data.csv, {CSV_ERRORS[text]}"):
        read(tmp_path, text, ".csv")


def test_the_first_bad_line_is_named_be_it_an_input_or_a_target(tmp_path: Path) -> None:
    bad_input, bad_target = '{"left": [0.5, 0, 0], "size": [1, 1]}', '{"left": 1, "size": [0.5, 0]}'
    with raises_saying(DegreeError, "line 2: attribute 'size'"):
        read(tmp_path, f"{FIRST}{bad_target}\n{bad_input}")
    with raises_saying(DegreeError, "line 2: attribute 'left'"):
        read(tmp_path, f"{FIRST}{bad_input}\n{bad_target}")


@pytest.mark.parametrize("wanted", [[LEFT], [SIZE, SIZE]])
def test_an_attribute_has_one_part(wanted: list[Attribute], tmp_path: Path) -> None:
    name = wanted[0].name
    with raises_saying(DataError, f"attribute '{name}' is asked for 2 times; each is an input or"):
        read(tmp_path, FIRST, targets=wanted)


# --- files that are read several times ---------------------------------------------------------


def test_a_sample_file_is_read_anew_each_time(tmp_path: Path) -> None:
    path = write(tmp_path, '{"left": 1, "size": "large", "bit": 0}\n' * 3)
    file = SampleFile(path, iter([LEFT]), targets=iter([SIZE]), known=iter([BIT]), batch=2)  # type: ignore[arg-type]
    for _ in range(2):
        pairs = [(evidence.tolist(), t["size"].array.tolist()) for evidence, t in file]
        assert pairs == [([[0.0, 1.0, 0.0]] * 2, [1, 1]), ([[0.0, 1.0, 0.0]], [1])]
    assert [tuple(b.lines) for b in file.batches()] == [(1, 2), (3,)]


def test_two_readings_of_a_sample_file_do_not_disturb_each_other(tmp_path: Path) -> None:
    file = SampleFile(write(tmp_path, "left\n0\n1\n2\n", ".csv"), [LEFT], batch=1)
    pairs = zip(file, file, strict=True)
    rows = [first.tolist() + second.tolist() for (first, _), (second, _) in pairs]
    unit = np.eye(3).tolist()
    assert rows == [[row, row] for row in unit]


def test_a_sample_file_transforms(tmp_path: Path) -> None:
    file = SampleFile(write(tmp_path, '{"left": [0, 1, 0.5]}'), [LEFT], transform=halved)
    assert [evidence.tolist() for evidence, _ in file] == [[[1.0, 0.5, 0.25]]]


def test_size_and_fingerprint(tmp_path: Path) -> None:
    content = '{"left": 1}\n' * 200_000
    file = SampleFile(write(tmp_path, content), [LEFT])
    assert file.n_bytes == len(content) == 2_400_000
    assert file.fingerprint() == hashlib.sha256(content.encode()).hexdigest()
    assert repr(file) == f"SampleFile({str(tmp_path / 'data.jsonl')!r}, 2,400,000 bytes)"


CHANGED = r"data\.jsonl: the file was changed after it was first looked at; leave it as it is"


def test_a_file_that_changes_between_readings_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, '{"left": 1}\n')
    file = SampleFile(path, [LEFT])
    assert len(list(file)) == 1
    path.write_text('{"left": 1}\n{"left": 2}\n')
    with pytest.raises(DataError, match=CHANGED):
        next(iter(file))
    with pytest.raises(DataError, match=CHANGED):
        file.fingerprint()


def test_a_file_of_the_same_size_that_was_written_again_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, '{"left": 1}\n')
    file = SampleFile(path, [LEFT])
    path.write_text('{"left": 2}\n')
    os.utime(path, ns=(0, 12345))
    with pytest.raises(DataError, match=CHANGED):
        list(file)


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, '{"left": 1}\n' * 4)
    batches = iter(SampleFile(path, [LEFT], batch=2))
    evidence, _ = next(batches)
    assert len(evidence) == 2
    os.utime(path, ns=(0, 12345))
    with pytest.raises(DataError, match=CHANGED):
        list(batches)


def test_a_file_that_is_taken_away_is_missed(tmp_path: Path) -> None:
    path = write(tmp_path, '{"left": 1}\n')
    file = SampleFile(path, [LEFT])
    path.unlink()
    with pytest.raises(DataError, match=r"data\.jsonl: cannot be read: No such file"):
        list(file)


def test_what_cannot_be_a_sample_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.csv: cannot be read: No such file"):
        SampleFile(tmp_path / "none.csv", [LEFT])
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match=r"folder\.csv: not a file, so it cannot be read several"):
        SampleFile(tmp_path / "folder.csv", [LEFT])
    with pytest.raises(DataError, match=r"data are read from .*, not '\.txt'"):
        SampleFile(write(tmp_path, "", ".txt"), [LEFT])
