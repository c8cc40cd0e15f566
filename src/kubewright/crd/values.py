"""Values that a definition carries: JSON that the API server can read."""

from __future__ import annotations

import math
from typing import Any

import msgspec

__all__ = ["check_finite", "json_value"]

_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


def json_value(value: Any) -> Any:
    """A default, an example or a member of an enumeration as JSON. Raises ValueError for what is none."""
    try:
        plain = msgspec.to_builtins(value)
    except TypeError as error:
        raise ValueError(f"{value!r} can't be written as JSON") from error
    _check(plain)
    return plain


def _check(value: Any) -> None:
    if isinstance(value, dict):
        for inner in value.values():
            _check(inner)
    elif isinstance(value, list):
        for inner in value:
            _check(inner)
    elif isinstance(value, float):
        check_finite(value)
    elif isinstance(value, int) and not _SMALLEST <= value <= _LARGEST:
        raise ValueError(f"{value} has more than the 64 bits of an integer of the API: take a smaller one, or a string")


def check_finite(value: float) -> None:
    """Raises ValueError for what is no number in JSON, which has no infinity."""
    try:
        finite = math.isfinite(value)
    except OverflowError:  # an integer beyond every floating-point number
        finite = False
    if not finite:
        raise ValueError(f"{value} is no number in JSON: take a finite one")
