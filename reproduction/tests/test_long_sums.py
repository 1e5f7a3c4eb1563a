"""Long sums: who is in which, the start, message passing, the record."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

pytest.importorskip("torch")

from pinesy.exceptions import DataError
from reproduction.long_sums import (
    MEASURES,
    do_sums,
    loss_cost,
    read_sum_record,
    repaired_sums,
    sum_measures,
    sum_table,
    training_sums,
)
from reproduction.scales import Images
from reproduction.sum_learning import Settings, Sums, cluster_digits, clusters, posteriors

pytestmark = pytest.mark.torch

SHORT = Settings(start=1, rounds=2, epochs=(1, 1), likelihood=1)


def striped_images(n: int) -> Images:
    """Return images whose digit is the height of a bar."""
    labels = np.arange(n, dtype=np.uint8) % 10
    pixels = np.zeros((n, 28, 28), np.uint8)
    for index, digit in enumerate(labels):
        pixels[index, : 2 + 2 * digit, 4:24] = 255
    return Images(pixels, labels, n - 60)


def read_with_errors(labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return what a network might read: of each fifth image, a wrong digit first."""
    p = np.full((len(labels), 10), 0.01)
    p[np.arange(len(labels)), labels] = 0.6
    p[np.arange(len(labels)), (labels + 5) % 10] = 0.32
    p[::5] = p[::5][:, (np.arange(10) + 5) % 10]
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def test_once_is_once() -> None:
    images = striped_images(200)
    sums = training_sums(images, 16, None, 0)
    assert sums.images.shape == (140 // 16, 16)
    assert len(np.unique(sums.images)) == sums.images.size
    assert sums.totals.tolist() == images.labels[sums.images].sum(axis=1).tolist()
    assert not np.array_equal(sums.images, training_sums(images, 16, None, 1).images)


def test_repaired_sums_use_images_equally() -> None:
    sums = repaired_sums(np.arange(50) % 10, 16, 40, np.random.default_rng(0))
    uses = np.bincount(sums.images.ravel(), minlength=50)
    assert set(uses.tolist()) <= {12, 13}


def test_a_sum_of_more_images_than_there_are() -> None:
    with pytest.raises(DataError, match="61"):
        training_sums(striped_images(200), 61, 5, 0)


def test_clusters_of_images_that_differ() -> None:
    images = striped_images(200)
    groups = clusters(images.pixels, 40, np.random.default_rng(0))
    for group in np.unique(groups):
        assert len(np.unique(images.labels[groups == group])) == 1


def test_sums_tell_the_digits_of_clusters() -> None:
    rng = np.random.default_rng(0)
    digits = rng.permutation(10)
    groups = rng.integers(0, 10, 1000)
    means, variances = cluster_digits(groups, repaired_sums(digits[groups], 100, 60, rng))
    assert means.tolist() == pytest.approx(digits.tolist(), abs=0.05)
    assert variances.max() < 0.01


def test_many_sums_correct_what_is_misread() -> None:
    labels = np.random.default_rng(1).integers(0, 10, 1000)
    sums = repaired_sums(labels, 100, 800, np.random.default_rng(2))
    prior = read_with_errors(labels)
    assert (prior.argmax(axis=1) == labels).mean() == 0.8
    assert (posteriors(prior, sums).argmax(axis=1) == labels).all()


def test_measures() -> None:
    labels = np.array([1, 2, 3, 4])
    sums = Sums(np.array([[0, 1], [2, 3], [0, 3]]), np.array([3, 7, 5]))
    p = np.eye(10)[labels]
    assert sum_measures(p, labels, sums) == {"digits": 1.0, "sums": 1.0, "sums_of_digits": 1.0}
    p[3] = np.eye(10)[9]
    measures = sum_measures(p, labels, sums)
    assert list(measures.values()) == pytest.approx([3 / 4, 1 / 3, 1 / 3])


@pytest.mark.parametrize("repaired", [None, 60])
def test_a_run_is_done_once(tmp_path: Path, repaired: int | None) -> None:
    lines: list[str] = []
    images = striped_images(160)

    def done() -> list[dict[str, object]]:
        return do_sums(
            [10], [0], images, tmp_path, lines.append, repaired=repaired, settings=SHORT, n_test=8
        )

    records = done()
    assert lines[0].startswith("sums of 10")
    assert lines[-1].startswith("likelihood" if repaired is None else "round")
    assert all(0.0 <= records[0][measure] <= 1.0 for measure in MEASURES)  # type: ignore[operator]
    assert records[0]["training_sums"] == (repaired or 10)
    n_lines = len(lines)
    assert done() == records
    assert len(lines) == n_lines


def test_the_table_has_means_and_their_errors() -> None:
    record = {"n": 1024, "repaired": 5000, "training_sums": 5000, "test_sums": 1000}
    shares = {"digits": 0.98, "sums": 0.04, "sums_of_digits": 0.02}
    runs = [{**record, **shares, "sums": s, "seconds": {"training": 60.0}} for s in (0.03, 0.05)]
    (line,) = sum_table(runs).splitlines()[2:]
    assert line.startswith("| 1024 | reused | 5,000 | 2 | 98.00 ± 0.14 | 4.00 ± 1.00 | 2.00 ")
    assert line.endswith("| 60 s | 2.73 | 93.69 |")


def test_a_record_of_another_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "4-once-0.json").write_text('{"format": "other"}')
    with pytest.raises(DataError, match="delete it"):
        read_sum_record(tmp_path / "4-once-0.json")


def test_the_loss_has_a_cost() -> None:
    seconds, megabytes = loss_cost(4)
    assert seconds > 0.0
    assert megabytes >= 0.0
