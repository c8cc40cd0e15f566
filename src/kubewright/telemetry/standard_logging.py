"""What code says by Python's own `logging`, as lines of a `Log`: libraries, and whoever does not know ``ctx.log``."""

from __future__ import annotations

import logging
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from types import TracebackType
from typing import TextIO

from kubewright.telemetry.logs import Log, LogLevel
from kubewright.telemetry.redaction import loggable

__all__ = ["RUN_LOG", "Early", "heard_by"]

RUN_LOG: ContextVar[Log | None] = ContextVar("RUN_LOG", default=None)
"""The log of the run that code works for, which names its object; tasks and threads that a run starts have it too. What an
operator does beside its runs (sources, mappers, its lifespan) has one that names the controller, or the operator."""

_OURS = frozenset(vars(logging.LogRecord("", 0, "", 0, "", (), None))) | {"message", "asctime", "taskName"}


@contextmanager
def heard_by(log: Log, level: LogLevel, *, root: logging.Logger | None = None) -> Iterator[None]:
    """While in the block, ``log`` has what is logged and warned of anywhere in the process, as far as ``level`` wants it,
    and exceptions that nobody could catch, of threads and of finalizers.

    Who gave ``root``, the standard library's root logger, handlers before, has them as they are. For those to whom the
    process belongs: this is global to it.
    """
    root = root or logging.getLogger()
    with _uncaught(log):
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


@contextmanager
def _uncaught(log: Log) -> Iterator[None]:
    """What Python would print as a bare traceback goes to ``log``."""

    def of_thread(found: threading.ExceptHookArgs) -> None:
        if found.exc_type is not SystemExit:
            name = None if found.thread is None else found.thread.name
            log.error("a thread died", thread=name, exc_info=_exc_info(found.exc_value, found.exc_traceback))

    def unraisable(found: sys.UnraisableHookArgs) -> None:
        where = found.err_msg or "Exception ignored in"
        info = _exc_info(found.exc_value, found.exc_traceback)
        log.error("an exception that can't be raised", where=f"{where}: {found.object!r}", exc_info=info)

    before = threading.excepthook, sys.unraisablehook
    threading.excepthook, sys.unraisablehook = of_thread, unraisable
    try:
        yield
    finally:
        threading.excepthook, sys.unraisablehook = before


def _exc_info(error: BaseException | None, traceback: TracebackType | None) -> object:
    return None if error is None else (type(error), error, traceback)


class Early:
    """What is warned of, and logged by whoever set up no handler, before there is a log to have it."""

    def __init__(self) -> None:
        self._records: list[logging.LogRecord] = []

    @contextmanager
    def kept(self) -> Iterator[None]:
        """While in the block it is kept, rather than printed; global to the process, as `heard_by` is."""
        before = logging.lastResort, warnings.showwarning
        logging.lastResort = keeper = _Keeper(self._records)
        warnings.showwarning = show = keeper.warned
        try:
            yield
        finally:
            if logging.lastResort is keeper:
                logging.lastResort = before[0]
            if warnings.showwarning is show:
                warnings.showwarning = before[1]

    def tell(self, log: Log) -> None:
        """Once; to be called when the log is there."""
        handler = _Handler(log)
        while self._records:
            handler.handle(self._records.pop(0))


class _Keeper(logging.Handler):
    def __init__(self, records: list[logging.LogRecord]) -> None:
        super().__init__(logging.WARNING)
        self._records = records

    def emit(self, record: logging.LogRecord) -> None:
        self._records.append(record)

    def warned(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if file is not None:
            file.write(warnings.formatwarning(message, category, filename, lineno, line))
            return
        text = warnings.formatwarning(message, category, filename, lineno, line)
        self.emit(logging.LogRecord("py.warnings", logging.WARNING, filename, lineno, text, None, None))


class _Handler(logging.Handler):
    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - as the standard library has it
        """Says that in the log, too, where it is only the record that is at fault."""
        with suppress(Exception):
            self._log.exception(
                "a line could not be logged", logger=record.name, file=record.pathname, line=record.lineno
            )

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
        return str(loggable(record.msg, opaque=_as_it_is))
    args = record.args
    shown = (
        loggable(args, opaque=_as_it_is)
        if isinstance(args, Mapping)
        else tuple(loggable(each, opaque=_as_it_is) for each in args)
    )
    return str(record.msg) % shown


def _as_it_is(value: object) -> object:
    """Its place in the text says how it is written."""
    return value
