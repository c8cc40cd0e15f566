"""How big a quantity is."""

from __future__ import annotations

import re
from decimal import Decimal

__all__ = ["amount"]

_SUFFIXES = {
    "": Decimal(1),
    "m": Decimal("0.001"),
    **{letter: Decimal(1000) ** power for power, letter in enumerate("kMGTPE", start=1)},
    **{f"{letter}i": Decimal(1024) ** power for power, letter in enumerate("KMGTPE", start=1)},
}
_QUANTITY = re.compile(r"([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([numkMGTPE]?i?|Ki)")


def amount(quantity: str | float) -> Decimal:
    """The number behind ``10Gi``; 0 for what is no quantity."""
    match = _QUANTITY.fullmatch(str(quantity))
    if match is None or match[2] not in _SUFFIXES:
        return Decimal(0)
    return Decimal(match[1]) * _SUFFIXES[match[2]]
