from __future__ import annotations

import random
from typing import Any

import pytest

from kubewright.controller import Backoff


def test_delays_double_up_to_a_ceiling_that_jitter_does_not_exceed() -> None:
    rng, backoff = random.Random(1), Backoff(first=1, longest=60)
    for failures in range(1, 6):
        exponential = 2 ** (failures - 1)
        assert all(0.8 * exponential <= backoff.delay(failures, rng) <= 1.2 * exponential for _ in range(50))
    assert all(48 <= backoff.delay(failures, rng) <= 60 for failures in range(10, 2000, 77))
    assert len({backoff.delay(3, rng) for _ in range(20)}) > 10


def test_the_longest_delay_is_a_thousand_seconds_unless_told_otherwise() -> None:
    assert Backoff(jitter=0).delay(1, random.Random()) == 0.005
    assert Backoff(jitter=0).delay(100, random.Random()) == 1000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"first": 0}, "first=0"),
        ({"first": True}, "first=True"),
        ({"longest": float("inf")}, "longest=inf"),
        ({"first": 5, "longest": 1}, "longest is the ceiling"),
        ({"jitter": 1}, "a share from 0 to below 1"),
    ],
)
def test_what_is_no_back_off_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        Backoff(**options)
