"""Durations as tables print them: ``45s``, ``5m10s``, ``3h``, ``2d4h``, ``6y335d``."""

from __future__ import annotations

from datetime import datetime, timedelta

__all__ = ["UNKNOWN", "age", "duration", "moment"]

UNKNOWN = "<unknown>"


def moment(text: str) -> datetime | None:
    """A timestamp of an object; None where it is none."""
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        return None
    return parsed if parsed.tzinfo is not None and "T" in text else None


def age(text: str | None, now: datetime) -> str:
    """How long ago a timestamp was."""
    then = moment(text) if text else None
    return UNKNOWN if then is None else duration(now - then)


def duration(span: timedelta) -> str:
    """Two units at most, the second only while it matters."""
    seconds = int(span.total_seconds())
    if span < timedelta(seconds=-1):
        return "<invalid>"
    if seconds < 0:
        return "0s"
    minutes, hours = seconds // 60, seconds // 3600
    days = hours // 24
    if seconds < 120:
        return f"{seconds}s"
    if minutes < 10:
        return _two(minutes, "m", seconds % 60, "s")
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return _two(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return _two(days, "d", hours % 24, "h")
    if days < 2 * 365:
        return f"{days}d"
    if days < 8 * 365:
        return _two(days // 365, "y", days % 365, "d")
    return f"{days // 365}y"


def _two(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large}{large_unit}{small}{small_unit}" if small else f"{large}{large_unit}"
