"""Files that hold credentials or state: readable by their owner only, and whole or not there."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["private_directory", "write_private"]


def private_directory(path: Path) -> Path:
    """Makes a directory, and its parents, that only its owner may enter."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def write_private(path: Path, content: bytes) -> None:
    """Replaces a file in one step; a reader sees the old content or the new, never half."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
