"""The garbage collector of a process that runs operators, or a cluster."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from kubewright.api.collector import collect_seldom


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


@pytest.mark.parametrize(("before", "after"), [(700, 10_000), (50_000, 50_000), (0, 0)])
def test_it_looks_for_garbage_seldom_unless_it_was_told_how_often(before: int, after: int) -> None:
    gc.set_threshold(before, 11)
    collect_seldom()
    assert gc.get_threshold()[:2] == (after, 11)
    assert gc.get_freeze_count() > 0
