"""The log level as a file, such as one of a mounted ConfigMap: changed there, it changes in the running process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from kubewright.telemetry import Log
from kubewright.telemetry.logs import LogLevel

__all__ = ["LogLevelFile", "following"]


@asynccontextmanager
async def following(path: str, level: LogLevel, log: Log) -> AsyncIterator[Callable[[], None]]:
    """In the block, ``level`` is what the file says, if a ``path`` is given. Yields what reads it at once, for SIGHUP."""
    if not path:
        yield _nothing
        return
    file = LogLevelFile(Path(path), level, log)
    file.reload()
    task = asyncio.create_task(file.follow(), name="log level")
    try:
        yield file.reload
    finally:
        task.cancel()
        await asyncio.wait([task])


def _nothing() -> None:
    """Credentials and certificates are read again by themselves; SIGHUP must not end the process."""


class LogLevelFile:
    """Sets ``level`` to what the file says; while it says nothing of use, the level stays, and that is said."""

    PAUSE = 5.0
    """Seconds between looks."""

    def __init__(self, path: Path, level: LogLevel, log: Log) -> None:
        self._path = path
        self._level = level
        self._log = log
        self._read: str | None = None

    async def follow(self) -> None:
        """Looks again and again, for ever."""
        while True:
            self.reload()
            await asyncio.sleep(self.PAUSE)

    def reload(self) -> None:
        try:
            text = self._path.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            text = f"({error})"
        if text == self._read:
            return
        self._read = text
        try:
            self._level.set(text)
        except ValueError:
            self._log.warning("the log level's file names no level", file=str(self._path), content=text[:80])
        else:
            self._log.info("log level set", level=text, file=str(self._path))
