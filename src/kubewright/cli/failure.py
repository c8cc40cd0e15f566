"""`Failure`: what a command says when it can't do what it was asked, and `Telling`: how it is said."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise

import click

TYPE_CHECKING = False  # checkers go by the name

if TYPE_CHECKING:
    from kubewright.telemetry import LogFormat

__all__ = ["Failure", "Telling", "asked_format", "first_failure"]


class Failure(Exception):
    """A message for the user that names the flag, file or field and how to mend it. ``exit_code``: 2 for wrong use."""

    def __init__(self, message: str, *, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def first_failure(error: BaseException) -> BaseException:
    """What went wrong first, out of the groups that task groups make."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


class Telling:
    """How a command's end is told on standard error: in a line for people, or in one as those of its log."""

    def __init__(self) -> None:
        self.format: LogFormat = "console"
        """Commands that have a log set it, as soon as they know."""

    def failed(self, message: str, *, exit_code: int, traceback: bool = False) -> None:
        """``traceback``: with that of the exception being handled."""
        if self.format == "json":
            from kubewright.telemetry import new_log  # noqa: PLC0415 - help must not load it

            log = new_log("json")
            (log.exception if traceback else log.error)("failed", error=message, exit_code=exit_code)
        elif traceback:
            sys.excepthook(*sys.exc_info())
        else:
            from kubewright.telemetry.redaction import without_credentials  # noqa: PLC0415 - as above

            click.echo(f"kubewright: {without_credentials(message)}", err=True)

    def used_wrongly(self, error: click.ClickException) -> None:
        if self.format == "json":
            self.failed(" ".join(error.format_message().split()), exit_code=error.exit_code)
        else:
            error.show()


def asked_format(arguments: Sequence[str], environment: Mapping[str, str] = os.environ) -> LogFormat:
    """The format in which the command line or the environment wants logs, however wrong the rest of them is."""
    asked = environment.get("KUBEWRIGHT_LOG_FORMAT")
    for argument, following in pairwise([*arguments, ""]):
        flag, equals, value = argument.partition("=")
        if flag == "--log-format":
            asked = value if equals else following
    return "json" if asked == "json" else "console"
