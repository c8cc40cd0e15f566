"""The command line: commands load when they are run, so that ``--help`` is quick."""

from __future__ import annotations

import errno
import importlib
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

import click

from kubewright.cli.failure import Failure, Telling, first_failure
from kubewright.cli.standard_output import flush_or_forget

__all__ = ["cli", "run_command"]

_COMMANDS = {
    "cluster": "Start, stop and show the embedded cluster.",
    "dev": "Run an operator on an embedded cluster of its own.",
    "manifests": "Print the CRDs, RBAC and Deployment of an operator.",
    "run": "Run an operator against a cluster.",
}


class _Lazy(click.Group):
    """A group that imports ``kubewright.cli.<command>`` when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"kubewright.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in _COMMANDS:
            from difflib import get_close_matches  # noqa: PLC0415 - only for who mistypes

            if close := get_close_matches(args[0], _COMMANDS, n=1):
                ctx.fail(f"No such command {args[0]!r}. Did you mean {close[0]!r}?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.command(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="kubewright", message="kubewright %(version)s")
def cli() -> None:
    """Kubernetes operators in Python: run them, develop them on an embedded cluster, generate their manifests."""


def run_command(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and exits: 0 well, 1 failed, 2 used wrongly. Failures are one line, never a traceback."""
    telling = Telling()
    try:
        code = cli.main(arguments, prog_name="kubewright", standalone_mode=False, obj=telling)
        sys.stdout.flush()
    except click.ClickException as error:
        with suppress(OSError):  # the exit code says it, too
            telling.used_wrongly(error)
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    except BaseException as error:
        failure = first_failure(error)
        if isinstance(failure, SystemExit):
            raise
        exit_code = failure.exit_code if isinstance(failure, Failure) else 1
        with suppress(OSError):
            telling.failed(_told(failure), exit_code=exit_code, traceback=bool(os.environ.get("KUBEWRIGHT_TRACEBACK")))
        sys.exit(exit_code)
    finally:
        flush_or_forget()
    sys.exit(code if isinstance(code, int) else 0)


def _told(error: BaseException) -> str:
    if isinstance(error, Failure):
        return str(error)
    if isinstance(error, OSError) and error.errno in {errno.EPIPE, errno.ENOSPC, errno.EIO}:
        return f"can't write: {(error.strerror or str(error)).lower()}"
    message = " ".join(str(error).split())
    return f"a bug of ours: {type(error).__name__}: {message}; set KUBEWRIGHT_TRACEBACK=1 to see where"
