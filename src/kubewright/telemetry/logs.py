"""Structured logs: a constant message and named values. A `Log` is an object that is passed in, never a global."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, MutableMapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, TextIO, cast

if TYPE_CHECKING:
    from structlog.typing import Processor

__all__ = ["Log", "LogFormat", "new_log", "null_log"]

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


def new_log(format: LogFormat, *, level: str = "info", stream: TextIO | None = None) -> Log:  # noqa: A002 - as in --log-format
    """A log to ``stream`` (standard error unless given). Raises ValueError for an unknown level."""
    import structlog  # noqa: PLC0415 - 150 ms that `--help` should not pay

    number = logging.getLevelNamesMapping().get(level.upper())
    if number is None:
        raise ValueError(f"unknown log level {level!r}: use debug, info, warning or error")
    target = stream or sys.stderr
    processors: list[Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    if format == "json":
        processors += [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(serializer=_json)]
    else:
        colors = target.isatty()
        processors.append(
            structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=structlog.dev.plain_traceback)
        )
    logger = structlog.wrap_logger(
        structlog.PrintLogger(target),
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(number),
        context_class=dict,
        cache_logger_on_first_use=True,
    )
    return cast("Log", logger.bind())


def _json(value: MutableMapping[str, Any], default: Callable[[Any], Any] = str, **_: object) -> str:
    import msgspec  # noqa: PLC0415 - kept beside its only use

    event = value.pop("event", "")
    return msgspec.json.encode({"msg": event, **value}, enc_hook=default).decode()


class _NullLog:
    def bind(self, **_values: object) -> Log:
        return self

    def debug(self, event: str, **values: object) -> None: ...

    info = warning = error = exception = debug


def null_log() -> Log:
    """A log that writes nothing, for library use without a log of one's own."""
    return _NullLog()
