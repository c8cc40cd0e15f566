"""Structured logs: a constant message and named values. A `Log` is an object that is passed in, never a global."""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from functools import cached_property
from traceback import walk_stack
from types import FrameType
from typing import TYPE_CHECKING, Any, Literal, Protocol, TextIO, cast

import msgspec

from kubewright.telemetry.redaction import loggable

if TYPE_CHECKING:
    from structlog.typing import Processor

__all__ = ["LateValues", "Log", "LogFormat", "LogLevel", "loads_what_logs", "new_log", "null_log"]

LogFormat = Literal["json", "console"]


class Log(Protocol):
    """Writes one line per call; ``bind`` gives a log that adds the same values to each line."""

    def bind(self, **values: object) -> Log: ...

    def debug(self, event: str, **values: object) -> object: ...

    def info(self, event: str, **values: object) -> object: ...

    def warning(self, event: str, **values: object) -> object: ...

    def error(self, event: str, **values: object) -> object: ...

    def exception(self, event: str, **values: object) -> object:
        """As `error`, with the traceback of the exception being handled."""
        ...


class LogLevel:
    """What is written: lines of this level and graver ones. Logs that were made with it follow its changes."""

    def __init__(self, name: str = "info") -> None:
        self._followers: list[Callable[[int], object]] = []
        self.set(name)

    def set(self, name: str) -> None:
        """Raises ValueError for an unknown level."""
        number = logging.getLevelNamesMapping().get(name.upper())
        if number is None:
            raise ValueError(f"unknown log level {name!r}: use debug, info, warning or error")
        self.name, self.number = name, number
        for told in self._followers:
            told(number)

    @contextmanager
    def told_to(self, follower: Callable[[int], object]) -> Iterator[None]:
        """While in the block, ``follower`` is told the number, and each new one."""
        follower(self.number)
        self._followers.append(follower)
        try:
            yield
        finally:
            self._followers.remove(follower)


def new_log(format: LogFormat, *, level: str | LogLevel = "info", stream: TextIO | None = None) -> Log:  # noqa: A002 - as in --log-format
    """A log to ``stream`` (standard error unless given). Raises ValueError for an unknown level."""
    target = stream or sys.stderr
    return _LateLog(LogLevel(level) if isinstance(level, str) else level, lambda: _made(format, target))


class _LateLog:
    """Makes the log behind it when the first line is written: loading structlog takes as long as starting a cluster."""

    def __init__(self, level: LogLevel, make: Callable[[], Log]) -> None:
        self._level = level
        self._make = make

    @cached_property
    def _log(self) -> Log:
        return self._make()

    def bind(self, **values: object) -> Log:
        return _LateLog(self._level, lambda: self._log.bind(**values))

    def debug(self, event: str, **values: object) -> None:
        if self._level.number <= logging.DEBUG:
            self._log.debug(event, **values)

    def info(self, event: str, **values: object) -> None:
        if self._level.number <= logging.INFO:
            self._log.info(event, **values)

    def warning(self, event: str, **values: object) -> None:
        if self._level.number <= logging.WARNING:
            self._log.warning(event, **values)

    def error(self, event: str, **values: object) -> None:
        if self._level.number <= logging.ERROR:
            self._log.error(event, **values)

    def exception(self, event: str, **values: object) -> None:
        if self._level.number <= logging.ERROR:
            self._log.exception(event, **values)


def _made(format: LogFormat, target: TextIO) -> Log:  # noqa: A002
    import structlog  # noqa: PLC0415 - see `_LateLog`

    lines = _Lines(target)
    processors: list[Processor] = [
        lines.tell,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        _without_secrets,
    ]
    if format == "json":
        processors.append(structlog.processors.JSONRenderer(serializer=_json))
    else:
        colors = target.isatty()
        processors.append(
            structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=structlog.dev.plain_traceback)
        )
    logger = structlog.wrap_logger(
        structlog.WriteLogger(cast("TextIO", lines)),
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG),
        context_class=dict,
        cache_logger_on_first_use=True,
    )
    return cast("Log", logger.bind())


def loads_what_logs(frame: FrameType) -> bool:
    """Whether a stack is at what the first line of a log takes once, whoever writes it."""
    return any(each.f_code is _made.__code__ for each, _ in walk_stack(frame))


class _Lines:
    """Where lines go. One that can't be written, as on a full disk, is left out, and the next that can says how many were.

    A pipe that nobody reads any more is another matter: it never comes back.
    """

    def __init__(self, target: TextIO) -> None:
        self._target = target
        self._file = _file_of(target)
        self._cut = False
        """The last line is there in part."""
        self._left_out = 0

    def write(self, line: str) -> None:
        try:
            if self._file is None:
                self._target.write(line)
                self._target.flush()
            else:
                self._put(self._file, line)
        except BrokenPipeError:
            raise
        except OSError:
            self._left_out += 1
        else:
            self._left_out = 0

    def _put(self, file: io.FileIO, line: str) -> None:
        """Past the buffer, which would hold what can't be written, to write it when it was counted as left out."""
        self._target.flush()  # what others have put there
        text = f"\n{line}" if self._cut else line
        data = memoryview(text.encode(self._target.encoding or "utf-8", self._target.errors or "strict"))
        while data:
            written = file.write(data)
            if written is None:
                raise BlockingIOError
            data = data[written:]
            self._cut = bool(data)

    def flush(self) -> None:
        """After each line; `write` has done it."""

    def tell(self, _logger: object, _method: str, values: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        if self._left_out:
            values["lines_left_out"] = self._left_out
        return values


def _file_of(target: TextIO) -> io.FileIO | None:
    buffer = getattr(target, "buffer", None)
    file = buffer.raw if isinstance(buffer, io.BufferedWriter) else buffer
    return file if isinstance(file, io.FileIO) else None


def _without_secrets(_logger: object, _method: str, values: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for name, value in values.items():
        values[name] = loggable(value)
    return values


def _json(value: MutableMapping[str, Any], default: Callable[[Any], Any] = str, **_: object) -> str:
    event = value.pop("event", "")
    return msgspec.json.encode({"msg": event, **value}, enc_hook=default).decode()


class LateValues:
    """Adds the same values to each line, as ``log.bind`` does, but finds them out with the first line.

    For logs of which most are never written to.
    """

    __slots__ = ("_bound", "_log", "_values")

    def __init__(self, log: Log, values: Callable[[], Mapping[str, object]]) -> None:
        self._log = log
        self._values = values
        self._bound: Log | None = None

    def bind(self, **values: object) -> Log:
        return self._found().bind(**values)

    def debug(self, event: str, **values: object) -> object:
        return self._found().debug(event, **values)

    def info(self, event: str, **values: object) -> object:
        return self._found().info(event, **values)

    def warning(self, event: str, **values: object) -> object:
        return self._found().warning(event, **values)

    def error(self, event: str, **values: object) -> object:
        return self._found().error(event, **values)

    def exception(self, event: str, **values: object) -> object:
        return self._found().exception(event, **values)

    def _found(self) -> Log:
        if self._bound is None:
            self._bound = self._log.bind(**self._values())
        return self._bound


class _NullLog:
    def bind(self, **_values: object) -> Log:
        return self

    def debug(self, event: str, **values: object) -> None: ...

    info = warning = error = exception = debug


def null_log() -> Log:
    """A log that writes nothing, for library use without a log of one's own."""
    return _NullLog()
