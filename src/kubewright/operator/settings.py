"""`Settings`: what can be chosen of a manager when it is started, and where each value is from.

`Operator(settings=…)` gives defaults, which the environment (``KUBEWRIGHT_…``) overrides, which flags override.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, Literal

from msgspec import Struct

from kubewright.api.names import check_dns_subdomain
from kubewright.operator.election_times import check_times
from kubewright.operator.http_server import Address

__all__ = ["SETTINGS", "Resolved", "Setting", "Settings", "SettingsError", "resolve"]


class SettingsError(ValueError):
    """A setting that can't be used; the message names the argument, variable or flag, and the remedy."""


class Settings(Struct, frozen=True, kw_only=True):
    """See `SETTINGS` for what each one does. Raises `SettingsError` for values that make no sense."""

    stop_within: float = 25.0
    health_probe_bind_address: str = "0"
    metrics_bind_address: str = "0"
    leader_elect: bool = False
    leader_elect_lease_duration: int = 15
    leader_elect_renew_deadline: float = 10.0
    leader_elect_retry_period: float = 2.0
    leader_elect_resource_name: str = ""
    leader_elect_resource_namespace: str = ""
    log_format: Literal["console", "json"] = "console"
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_level_file: str = ""

    def __post_init__(self) -> None:
        for setting in SETTINGS:
            try:
                setting.check(getattr(self, setting.name))
            except ValueError as error:
                raise SettingsError(f"{setting.name}: {error}") from error
        try:
            check_times(
                self.leader_elect_lease_duration,
                self.leader_elect_renew_deadline,
                self.leader_elect_retry_period,
                prefix="leader_elect_",
            )
        except ValueError as error:
            raise SettingsError(str(error)) from error


def _seconds(value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not (math.isfinite(value) and value > 0):
        raise ValueError(f"{value!r} is no positive number of seconds")


def _address(value: object) -> None:
    if value != "0":
        Address.parse(str(value))


def _one_of(*choices: str) -> Callable[[object], None]:
    def check(value: object) -> None:
        if value not in choices:
            close = get_close_matches(str(value), choices, n=1)
            hint = f"did you mean {close[0]}?" if close else f"use one of {', '.join(choices)}"
            raise ValueError(f"{value!r} is none of its values: {hint}")

    return check


def _flag(value: object) -> None:
    if value not in {True, False}:
        raise ValueError(f"{value!r} is neither true nor false")


def _yes(text: str) -> bool:
    meant = {"true": True, "1": True, "false": False, "0": False}.get(text.strip().lower())
    if meant is None:
        raise ValueError(f"{text!r} is neither true nor false")
    return meant


def _name(value: object) -> None:
    if value:
        check_dns_subdomain(str(value), what="it")


def _text(_value: object) -> None:
    """Any will do."""


def _whole_seconds(value: object) -> None:
    _seconds(value)
    _whole(str(value))


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{text!r} is no whole number of seconds, as a Lease has") from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{text!r} is no positive number of seconds") from None


class Setting(Struct, frozen=True, kw_only=True):
    """One field of `Settings`, for those who show and read it."""

    name: str
    description: str
    metavar: str = ""
    check: Callable[[object], None] = _text
    """Raises ValueError, which does not name the setting."""
    read: Callable[[str], object] = str
    """From text; raises ValueError."""
    is_switch: bool = False
    choices: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        return PREFIX + self.name.upper()


PREFIX = "KUBEWRIGHT_"
_LEVELS = ("debug", "info", "warning", "error")
SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="stop_within",
        description="Seconds that runs in flight are given to end when the operator stops.",
        metavar="SECONDS",
        check=_seconds,
        read=_number,
    ),
    Setting(
        name="health_probe_bind_address",
        description="Where /healthz and /readyz are served, such as :8081; 0: nowhere.",
        metavar="ADDRESS",
        check=_address,
    ),
    Setting(
        name="metrics_bind_address",
        description="Where /metrics is served, such as :8080, to whoever asks; 0: nowhere.",
        metavar="ADDRESS",
        check=_address,
    ),
    Setting(
        name="leader_elect",
        description="Whether to work only while holding a Lease, so that of several processes one does.",
        check=_flag,
        read=_yes,
        is_switch=True,
    ),
    Setting(
        name="leader_elect_lease_duration",
        description="Seconds after which others may take over from a leader that is not heard of.",
        metavar="SECONDS",
        check=_whole_seconds,
        read=_whole,
    ),
    Setting(
        name="leader_elect_renew_deadline",
        description="Seconds after which a leader that can't renew its Lease gives up.",
        metavar="SECONDS",
        check=_seconds,
        read=_number,
    ),
    Setting(
        name="leader_elect_retry_period",
        description="Seconds between looks at the Lease.",
        metavar="SECONDS",
        check=_seconds,
        read=_number,
    ),
    Setting(
        name="leader_elect_resource_name",
        description="The Lease's name; empty: the operator's.",
        metavar="NAME",
        check=_name,
    ),
    Setting(
        name="leader_elect_resource_namespace",
        description="The Lease's namespace; empty: that of this pod, or of the kubeconfig's context.",
        metavar="NAMESPACE",
        check=_name,
    ),
    Setting(
        name="log_format",
        description="How log lines are written.",
        check=_one_of("console", "json"),
        choices=("console", "json"),
    ),
    Setting(
        name="log_level",
        description="What is logged: this and what is graver.",
        check=_one_of(*_LEVELS),
        choices=_LEVELS,
    ),
    Setting(
        name="log_level_file",
        description="A file that has the level in place of it, read again when it changes, and at SIGHUP.",
        metavar="FILE",
    ),
)

_OTHERS = frozenset({"HOME", "TRACEBACK", "SERVERS", "GO_PEER"})
"""What else is read from variables with our prefix: the embedded cluster's, for debugging, and for the project's tests."""
_SERVICE_LINK = re.compile(
    r".*_(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)|PORT(_.*)?|SERVICE_.*"
)
"""kubelet tells every pod of a namespace's Services by variables named after them, which may be named like us."""


class Resolved(Struct, frozen=True):
    settings: Settings
    origins: Mapping[str, str]
    """Where each value is from that is no default of ours: the operator, a variable or a flag."""


def resolve(defaults: Settings, environment: Mapping[str, str], flags: Mapping[str, object]) -> Resolved:
    """``flags`` holds what was given on the command line, by field. Raises `SettingsError`."""
    _refuse_unknown(environment)
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    plain = Settings()
    for setting in SETTINGS:
        values[setting.name] = getattr(defaults, setting.name)
        if values[setting.name] != getattr(plain, setting.name):
            origins[setting.name] = "the operator's own"
        if (text := environment.get(setting.variable)) is not None:
            values[setting.name] = _checked(setting, text, setting.variable)
            origins[setting.name] = setting.variable
        if (given := flags.get(setting.name)) is not None:
            values[setting.name] = _checked(setting, given, setting.flag)
            origins[setting.name] = setting.flag
    return Resolved(Settings(**values), origins)


def _checked(setting: Setting, value: object, origin: str) -> object:
    try:
        read = setting.read(value) if isinstance(value, str) else value
        setting.check(read)
    except ValueError as error:
        raise SettingsError(f"{origin}: {error}") from error
    return read


def _refuse_unknown(environment: Mapping[str, str]) -> None:
    known = [setting.variable for setting in SETTINGS] + [PREFIX + name for name in sorted(_OTHERS)]
    for variable in sorted(environment):
        name = variable.removeprefix(PREFIX)
        if name == variable or variable in known or _SERVICE_LINK.fullmatch(name):
            continue
        close = get_close_matches(variable, known, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
        raise SettingsError(f"{variable}: there is no such setting; {hint}")
