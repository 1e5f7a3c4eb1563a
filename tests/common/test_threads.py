"""How many threads work."""

import pytest

from messages import raises_saying
from pinesy import DomainError
from pinesy._common.threads import n_threads


def test_the_environment_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINESY_NUM_THREADS", "3")
    assert n_threads() == 3


@pytest.mark.parametrize("wish", ["0", "abc", "-1", "1.5"])
def test_what_is_no_number_is_refused(monkeypatch: pytest.MonkeyPatch, wish: str) -> None:
    monkeypatch.setenv("PINESY_NUM_THREADS", wish)
    with raises_saying(DomainError, f"PINESY_NUM_THREADS is '{wish}'", "at least 1"):
        n_threads()
