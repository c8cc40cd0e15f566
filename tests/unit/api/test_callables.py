"""What a function that users give is asked before it is called."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from kubewright.api.callables import is_async, takes


def plain(one: object, other: object = None) -> object:
    return one, other


async def later(one: object) -> object:
    return one


class Plain:
    def __call__(self, one: object) -> object:
        return one


class Later:
    async def __call__(self, one: object) -> object:
        return one


@pytest.mark.parametrize(
    ("function", "fits"),
    [
        (plain, {1, 2}),
        (later, {1}),
        (Plain(), {1}),
        (partial(plain, 1), {0, 1}),
        (lambda *args: args, {0, 1, 2, 3}),
        (dict.fromkeys, {1, 2}),
    ],
)
def test_how_many_arguments_it_takes(function: Callable[..., Any], fits: set[int]) -> None:
    assert {count for count in range(4) if takes(function, count)} == fits


def test_what_does_not_tell_is_taken_to_be_right(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(function: object) -> inspect.Signature:
        raise ValueError(f"no signature found for builtin {function!r}")

    monkeypatch.setattr(inspect, "signature", unknown)
    assert takes(plain, 7)


@pytest.mark.parametrize(("function", "awaited"), [(plain, False), (later, True), (Plain(), False), (Later(), True)])
def test_whether_it_is_to_be_awaited(function: Callable[..., Any], awaited: bool) -> None:
    assert is_async(function) is awaited
