"""What commands that run an operator do first: load it, settle its settings, and open the log that all code writes to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import click
from msgspec import Struct

from kubewright.cli.failure import Telling
from kubewright.cli.loading import Loaded, load_operator
from kubewright.cli.setting_options import OperatorCommand, resolved
from kubewright.operator import Settings
from kubewright.telemetry import Log, LogLevel, new_log
from kubewright.telemetry.standard_logging import Early, heard_by

__all__ = ["Prepared", "prepared"]


class Prepared(Struct, frozen=True, kw_only=True):
    loaded: Loaded
    settings: Settings
    level: LogLevel
    log: Log


@contextmanager
def prepared(target: str, flags: Mapping[str, object]) -> Iterator[Prepared]:
    """For the block, which is all that the command does. Raises `Failure`."""
    context = click.get_current_context()
    base = context.command.base if isinstance(context.command, OperatorCommand) else Settings()
    telling = context.find_object(Telling) or Telling()
    early = Early()
    try:
        with early.kept():
            loaded = load_operator(target)
            known = resolved(loaded.operator.settings, flags, base=base)
        telling.format = known.settings.log_format
    finally:
        early.tell(new_log(telling.format))
    level = LogLevel(known.settings.log_level)
    log = new_log(known.settings.log_format, level=level)
    if known.origins:
        chosen = {name: getattr(known.settings, name) for name in known.origins}
        log.debug("settings that are no defaults", values=chosen, origins=known.origins)
    with heard_by(log, level):
        yield Prepared(loaded=loaded, settings=known.settings, level=level, log=log)
