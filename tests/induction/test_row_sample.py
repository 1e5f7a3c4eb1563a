"""Rules from tables that come in batches: one pass, a uniform sample, whatever the batches are."""

from collections.abc import Iterator

import numpy as np
import pandas
import pytest

from messages import raises_saying
from pinesy import DataError, induce
from pinesy.induction.training_table import row_sample

N = 600
RNG = np.random.default_rng(5)
TABLE = pandas.DataFrame({"age": RNG.integers(20, 80, N), "city": RNG.choice(["Rome", "Oslo"], N)})
TABLE["ill"] = np.where(TABLE.age > 50, "yes", "no")


def batches(size: int) -> Iterator[pandas.DataFrame]:
    for start in range(0, N, size):
        yield TABLE[start : start + size]


def drawn(size: int, batch: int, seed: int = 0) -> list[int]:
    parts = ({"row": np.arange(i, min(N, i + batch))} for i in range(0, N, batch))
    rows: list[int] = row_sample(parts, size, seed)["row"].tolist()
    return rows


@pytest.mark.parametrize("batch", [1, 7, 250, N])
def test_the_sample_does_not_depend_on_the_batches(batch: int) -> None:
    found = drawn(50, batch)
    assert found == drawn(50, 100)
    assert len(set(found)) == 50
    assert found == sorted(found)


def test_every_row_is_as_likely() -> None:
    counts = np.bincount([row for seed in range(200) for row in drawn(60, 100, seed)], minlength=N)
    assert counts.sum() == 200 * 60
    by_hundred = counts.reshape(6, 100).sum(axis=1)
    assert (abs(by_hundred - 2000) < 200).all()


def test_rules_of_batches() -> None:
    whole = induce(TABLE, "ill", max_rules=3)
    assert induce(batches(100), "ill", max_rules=3) == whole  # no more rows than the sample
    few = induce(batches(100), "ill", max_rules=3, sample=200)
    assert few == induce(batches(33), "ill", max_rules=3, sample=200)
    assert (few.infer(TABLE)["ill"].best == TABLE["ill"]).mean() > 0.95
    records = induce(iter(TABLE.to_dict("records")), "ill", max_rules=3)
    assert records == whole


def test_rules_of_a_frame_of_dask() -> None:
    frame = pytest.importorskip("dask.dataframe").from_pandas(TABLE, npartitions=3)
    assert induce(frame, "ill", max_rules=3) == induce(TABLE, "ill", max_rules=3)


def test_batches_that_cannot_be() -> None:
    with raises_saying(DataError, "no batches"):
        induce(iter(()), "ill")
    with raises_saying(DataError, "the target is the name of a column"):
        induce(batches(100), TABLE["ill"])
    with raises_saying(DataError, "leave the weights out"):
        induce(batches(100), "ill", weights=np.ones(N))
    with raises_saying(DataError, "columns of 1, 2 rows"):
        induce(iter([{"a": [1, 2], "ill": ["no"]}]), "ill")
    with raises_saying(DataError, "a batch has the columns b, ill; the first has a, ill"):
        induce(iter([{"a": [1], "ill": ["no"]}, {"b": [1], "ill": ["no"]}]), "ill")
