"""`Seconds`: a length of time on the command line."""

from __future__ import annotations

import math

import click

__all__ = ["Seconds"]


class Seconds(click.ParamType[float]):
    """A finite number of seconds, 0 or more, or more than 0."""

    name = "seconds"

    def __init__(self, *, positive: bool = False) -> None:
        self._positive = positive

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            seconds = float(str(value))
        except ValueError:
            seconds = math.nan
        if not math.isfinite(seconds) or seconds < 0 or (self._positive and seconds == 0):
            self.fail(f"{value!r} is no {'positive ' if self._positive else ''}number of seconds.", param, ctx)
        return seconds
