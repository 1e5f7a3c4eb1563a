"""How many threads PyTorch works with."""

import pytest

torch = pytest.importorskip("torch")

from messages import raises_saying  # noqa: E402
from pinesy.exceptions import DomainError  # noqa: E402
from pinesy.nets.networks import using_threads  # noqa: E402


def test_the_number_holds_in_the_block() -> None:
    with using_threads(3) as outer:
        with using_threads(2) as inner:
            assert (inner, torch.get_num_threads()) == (2, 2)
        assert (outer, torch.get_num_threads()) == (3, 3)


def test_it_is_what_it_was_after_an_error() -> None:
    before = torch.get_num_threads()
    with pytest.raises(KeyError), using_threads(before + 1):
        raise KeyError
    assert torch.get_num_threads() == before


def test_by_default_nothing_changes() -> None:
    before = torch.get_num_threads()
    with using_threads() as number:
        assert number == before == torch.get_num_threads()


@pytest.mark.parametrize("number", [0, -1, True, 1.5])
def test_other_numbers_are_refused(number: int) -> None:
    with raises_saying(DomainError, f"threads is {number!r}"), using_threads(number):
        pass
