"""`flush_or_forget`: what is left in the buffers of standard output and error when the process ends."""

from __future__ import annotations

import os
import sys

__all__ = ["flush_or_forget"]


def flush_or_forget() -> None:
    """What can't be written, as on a full disk, must not be tried again when Python ends: the exit code would be 120."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
