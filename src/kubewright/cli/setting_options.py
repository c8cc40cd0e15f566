"""A manager's settings as options of a command, each with its default, its variable and where its value is from."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Mapping
from typing import Any, TypeVar

import click

from kubewright.api.selectors import format_labels
from kubewright.cli.failure import Failure, Telling, asked_format
from kubewright.cli.loading import load_operator
from kubewright.operator.settings import SETTINGS, Resolved, Setting, Settings, SettingsError, resolve

__all__ = ["OperatorCommand", "resolved", "setting_options"]

F = TypeVar("F", bound=Callable[..., Any])


def setting_options(*, without: Container[str] = ()) -> Callable[[F], F]:
    """Adds an option for each of `SETTINGS`, but for those that mean nothing to the command; not given, it is None."""

    def add(function: F) -> F:
        for setting in reversed(SETTINGS):
            if setting.name in without:
                continue
            names = [f"{setting.flag}/--no-{setting.flag[2:]}"] if setting.is_switch else [setting.flag]
            function = click.option(
                *names,
                setting.name,
                type=bool if setting.is_switch else str,
                default=None,
                metavar=None if setting.is_switch else "|".join(setting.choices) or setting.metavar,
                help=setting.description,
            )(function)
        return function

    return add


def resolved(defaults: Settings, flags: Mapping[str, object], *, base: Settings) -> Resolved:
    """Raises `Failure`, of wrong use, for a setting that can't be used."""
    try:
        return resolve(defaults, os.environ, flags, base=base)
    except SettingsError as error:
        raise Failure(str(error), exit_code=2) from error


class OperatorCommand(click.Command):
    """A command with a TARGET and settings, whose help tells the defaults of that target's operator."""

    base = Settings()
    """What counts where nobody says otherwise."""
    _target: str | None = None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if (telling := ctx.find_object(Telling)) is not None:
            telling.format = asked_format(args)
        given, _, _ = self.make_parser(ctx).parse_args(args=list(args))
        self._target = target if isinstance(target := given.get("target"), str) else None
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        by_name = {setting.name: setting for setting in SETTINGS}
        rows, settings = [], []
        known, wrong = self._resolved()
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is None:
                continue
            setting = by_name.get(parameter.name or "")
            if setting is None:
                rows.append(record)
            else:
                settings.append((record[0], f"{record[1]}  {_told(setting, known, self.base)}"))
        with formatter.section("Options"):
            formatter.write_dl(rows)
        with formatter.section("Settings (a flag goes before its variable, that before the operator's own)"):
            formatter.write_dl(settings)
        if wrong:
            formatter.write_paragraph()
            formatter.write_text(f"What the environment says is left out here, as it can't be used: {wrong}")

    def _resolved(self) -> tuple[Resolved, str]:
        """Of the operator that is named, if it can be loaded, and what can't be used: help must always come."""
        try:
            operator = None if self._target is None else load_operator(self._target).operator
        except Failure:
            operator = None
        defaults = Settings() if operator is None else operator.settings
        try:
            return resolve(defaults, os.environ, {}, base=self.base), ""
        except SettingsError as error:
            return resolve(defaults, {}, {}, base=self.base), str(error)


def _told(setting: Setting, known: Resolved, base: Settings) -> str:
    value = _shown(getattr(known.settings, setting.name))
    origin = known.origins.get(setting.name)
    if origin is None:
        return f"[{setting.variable}; default: {value}]"
    where = "set there" if origin == setting.variable else origin
    return f"[{setting.variable}; now: {value}, {where}; default: {_shown(getattr(base, setting.name))}]"


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return format_labels(value) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value) or "none"
