"""The results that the README shows are those of the records, with their standard errors."""

from math import sqrt
from pathlib import Path

import pytest

from reproduction.groups import RunGroup, grouped
from reproduction.published import published_beside
from reproduction.records import read_records

ROOT = Path(__file__).parents[2]
README = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
RECORDS = ROOT / "docs" / "results" / "records"


@pytest.fixture(scope="module")
def sums_of_100() -> dict[str, RunGroup]:
    """Return the runs of Addition-100 by setting."""
    groups = grouped(read_records(RECORDS))
    return {g.setting: g for g in groups if (g.problem, g.size) == ("addition", 100)}


@pytest.mark.parametrize("setting", ["normal", "answers", "answers-deepsoftlog-cnn"])
def test_sums_have_their_standard_errors(sums_of_100: dict[str, RunGroup], setting: str) -> None:
    group = sums_of_100[setting]
    assert f"{group.accuracy.mean:.1f} ± {group.standard_error:.1f}" in README
    assert f"{len(group.runs)} runs of {group.test_samples // len(group.runs)} sums" in README


def test_what_sums_rest_on(sums_of_100: dict[str, RunGroup]) -> None:
    digits = sums_of_100["normal"].figure("digit_accuracy")
    assert digits is not None
    assert f"{digits.mean:.2f} %" in README


@pytest.mark.parametrize("method", ["Pi-NeSy-2", "DeepSoftLog"])
def test_published_sums_have_their_standard_errors(method: str) -> None:
    (result,) = [
        r for r in published_beside("addition", "normal") if (r.size, r.method) == (100, method)
    ]
    assert result.accuracy is not None
    assert result.accuracy.deviation is not None
    assert result.runs is not None
    error = result.accuracy.deviation / sqrt(result.runs)
    assert f"{result.accuracy.mean:.1f} ± {error:.1f}" in README


def test_what_is_called_exact_is() -> None:
    """The README says where degrees are upper bounds, as `check` does."""
    assert "upper bounds" in README
    assert "(docs/exactness.md)" in README
    assert "**Exact.**" not in README
