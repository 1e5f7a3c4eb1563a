"""A bounded run of the fuzzer; `make fuzz` is the long one."""

import pytest

from hostile.fuzzing import KINDS, fuzz


@pytest.mark.parametrize("kind", KINDS)
def test_changed_files_give_results_or_our_errors(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINESY_MAX_VALUES", "20000")  # so that what is read is read soon
    ends, longest = fuzz(kind, 150, seed=0)
    assert ends["refused"] > 10
    assert ends["read"] + ends["refused"] == 150
    assert longest < 20
