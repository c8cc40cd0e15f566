"""Resource quantities: how the server reads ``"0.5"`` and ``"1024Mi"``, and how it writes them back.

See https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
"""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, Decimal

__all__ = ["PATTERN_MESSAGE", "QuantityError", "canonical", "quantity"]

PATTERN_MESSAGE = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"

_FORM = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?\d+)?")
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_MILLI = Decimal("0.001")


class QuantityError(ValueError):
    """Text that is no quantity."""


def _split(text: str) -> tuple[Decimal, str]:
    match = _FORM.fullmatch(text)
    if match is None:
        raise QuantityError(PATTERN_MESSAGE)
    return Decimal(match[1]), match[2] or ""


def quantity(text: str | float) -> Decimal:
    """The number that a quantity stands for. Raises `QuantityError`."""
    number, suffix = _split(str(text))
    if suffix in _BINARY:
        return number * Decimal(1024) ** _BINARY[suffix]
    if suffix in _DECIMAL:
        return number.scaleb(_DECIMAL[suffix])
    return number.scaleb(int(suffix[1:]))


def canonical(text: str | float) -> str:
    """The quantity as the server writes it: no finer than thousandths, the largest suffix that leaves an integer.

    One with a decimal exponent (``1e3``) stays as it was written.
    """
    written = str(text)
    _, suffix = _split(written)
    if suffix[:1] in {"e", "E"} and suffix not in _DECIMAL and suffix not in _BINARY:
        return written
    value = quantity(written).quantize(_MILLI, rounding=ROUND_CEILING)
    if suffix in _BINARY and abs(value) >= 1024 and value == value.to_integral_value():
        return _largest(int(value), 1024, ["", *_BINARY])
    return _largest(int(value.scaleb(3)), 1000, list(_DECIMAL)[2:])


def _largest(number: int, base: int, suffixes: list[str]) -> str:
    """``number`` of the first suffix's unit, in the largest unit that leaves an integer."""
    if number == 0:
        return "0"
    for suffix in suffixes:
        if number % base or suffix == suffixes[-1]:
            return f"{number}{suffix}"
        number //= base
    raise AssertionError("the last suffix always ends the loop")
