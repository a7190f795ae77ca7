"""Conversions there and back."""

from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from sizing.units import GB, GIB, bytes_from_gib, ceil_div, gb, gib, gib_from_gb, pad_to

sizes = st.floats(min_value=0, max_value=1e18)


@given(sizes)
def test_units_round_trip(size_bytes: float) -> None:
    assert bytes_from_gib(gib(size_bytes)) == approx(size_bytes)
    assert gb(size_bytes) * GB == approx(size_bytes)
    assert gib_from_gb(gb(size_bytes)) == approx(gib(size_bytes))


@given(st.floats(min_value=1e-6, max_value=1e9))
def test_a_gib_is_more_than_a_gb(amount: float) -> None:
    assert gib_from_gb(amount) < amount
    assert gib_from_gb(amount) * GIB == approx(amount * GB)


@given(st.integers(0, 10**12), st.integers(1, 10**6))
def test_padding_is_the_next_whole_multiple(amount: int, step: int) -> None:
    padded = pad_to(amount, step)
    assert padded % step == 0 and amount <= padded < amount + step
    assert padded == ceil_div(amount, step) * step
