"""What code says by Python's own `logging`, as lines of a `Log`: libraries, and whoever does not know ``ctx.log``."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from kubewright.telemetry.logs import Log, LogLevel
from kubewright.telemetry.redaction import loggable

__all__ = ["RUN_LOG", "heard_by"]

RUN_LOG: ContextVar[Log | None] = ContextVar("RUN_LOG", default=None)
"""The log of the run that code works for, which names its object; tasks and threads that a run starts have it too."""

_OURS = frozenset(vars(logging.LogRecord("", 0, "", 0, "", (), None))) | {"message", "asctime", "taskName"}


@contextmanager
def heard_by(log: Log, level: LogLevel, *, root: logging.Logger | None = None) -> Iterator[None]:
    """While in the block, ``log`` has what is logged and warned of anywhere in the process, as far as ``level`` wants it.

    Who gave ``root``, the standard library's root logger, handlers before, has them as they are. For those to whom the
    process belongs: this is global to it.
    """
    root = root or logging.getLogger()
    if root.handlers:
        yield
        return
    handler = _Handler(log)
    before = root.level
    root.addHandler(handler)
    logging.captureWarnings(True)
    try:
        with level.told_to(root.setLevel):
            yield
    finally:
        logging.captureWarnings(False)
        root.removeHandler(handler)
        root.setLevel(before)


class _Handler(logging.Handler):
    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._write(RUN_LOG.get() or self._log, record)
        except Exception:  # as any handler: what is wrong with a line must not end who wrote it
            self.handleError(record)

    @staticmethod
    def _write(log: Log, record: logging.LogRecord) -> None:
        values: dict[str, object] = {"logger": record.name}
        if record.exc_info:
            values["exc_info"] = record.exc_info
        if extra := {name: value for name, value in vars(record).items() if name not in _OURS}:
            values["extra"] = extra
        if record.levelno >= logging.ERROR:
            write = log.error
        elif record.levelno >= logging.WARNING:
            write = log.warning
        elif record.levelno >= logging.INFO:
            write = log.info
        else:
            write = log.debug
        write(_message(record).strip(), **values)


def _message(record: logging.LogRecord) -> str:
    """As `logging` makes it, but objects are named rather than spelt out."""
    if not record.args:
        return str(loggable(record.msg))
    args = record.args
    shown = loggable(args) if isinstance(args, Mapping) else tuple(loggable(each) for each in args)
    return str(record.msg) % shown
