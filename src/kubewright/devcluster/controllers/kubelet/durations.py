"""Durations as people write them in annotations: Go's notation, ``1m30s``."""

from __future__ import annotations

import re

__all__ = ["format_duration", "parse_duration"]

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")
_WHOLE = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|s|m|h))+")


def parse_duration(text: str) -> float:
    """Seconds. Raises ValueError for what is no duration; a bare ``0`` is one."""
    text = text.strip()
    if text == "0":
        return 0.0
    if not _WHOLE.fullmatch(text):
        raise ValueError(f"{text!r} is no duration: write it like 500ms, 5s or 1m30s")
    return sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))


def format_duration(seconds: float) -> str:
    """As Go prints durations of a second or more: ``20s``, ``2m40s``, ``5m0s``."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(int(minutes), 60)
    text = f"{rest:g}s"
    if minutes or hours:
        text = f"{minutes}m{text}"
    return f"{hours}h{text}" if hours else text
