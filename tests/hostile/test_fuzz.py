"""A bounded run of the fuzzer; `make fuzz` is the long one."""

import pytest

from hostile.fuzzing import KINDS, SLOW, fuzz


@pytest.mark.parametrize("kind", KINDS)
def test_changed_files_give_results_or_our_errors(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINESY_MAX_VALUES", "20000")  # so that what is read is read soon
    number = 20 if kind in SLOW else 150
    ends, longest = fuzz(kind, number, seed=0)
    assert ends["refused"] > 10
    assert ends["read"] + ends["refused"] == number
    assert longest < 20
