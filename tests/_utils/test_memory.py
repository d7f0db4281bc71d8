"""The search for garbage is put off, and goes on afterwards."""

import gc

import pytest

from skfairtest._utils.memory import without_collecting


@without_collecting()
def fail():
    raise ValueError(f"collecting: {gc.isenabled()}")


def test_it_goes_on_after_an_error():
    with pytest.raises(ValueError, match="collecting: False"):
        fail()
    assert gc.isenabled()


def test_who_has_switched_it_off_keeps_it_off():
    gc.disable()
    try:
        with without_collecting():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
