"""`Settings`: what can be chosen of a manager when it is started, and where each value is from.

`Operator(settings=…)` gives defaults, which the environment (``KUBEWRIGHT_…``) overrides, which flags override.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct, field

from kubewright.api.arguments import Declared, nearest
from kubewright.api.label_rules import label_value_problems, qualified_name_problems
from kubewright.api.names import check_dns_label, check_dns_subdomain
from kubewright.operator.election_rules import check_identity, check_times
from kubewright.operator.http_server import Address
from kubewright.operator.namespaces import WATCH_NAMESPACE

__all__ = ["SETTINGS", "Resolved", "Setting", "Settings", "SettingsError", "refuse_unknown_variables", "resolve"]


class SettingsError(ValueError):
    """A setting that can't be used; the message names the argument, variable or flag, and the remedy."""


class _Remembering(Declared):
    """Keeps which arguments were given: who says what the default is has chosen, too."""

    if not TYPE_CHECKING:  # as in `Declared`

        def __call__(cls, *args, **arguments):  # noqa: N805 - of a metaclass
            made = super().__call__(*args, **arguments)
            made.__dict__["given"] = frozenset(arguments)
            return made


class Settings(Struct, frozen=True, kw_only=True, dict=True, metaclass=_Remembering):
    """See `SETTINGS` for what each one does. Raises `SettingsError` for values that make no sense."""

    stop_within: float = 25.0
    wait_for_server: float = 120.0
    health_probe_bind_address: str = "0"
    metrics_bind_address: str = "0"
    leader_elect: bool = False
    leader_elect_lease_duration: int = 15
    leader_elect_renew_deadline: float = 10.0
    leader_elect_retry_period: float = 2.0
    leader_elect_resource_name: str = ""
    leader_elect_resource_namespace: str = ""
    leader_elect_resource_labels: Mapping[str, str] = field(default_factory=dict)
    leader_elect_identity: str = ""
    log_format: Literal["console", "json"] = "console"
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_level_file: str = ""

    @property
    def chosen(self) -> frozenset[str]:
        """The names of those that somebody set, to whatever value."""
        given: frozenset[str] = self.__dict__.get("given", frozenset())  # a copy with changes does not know
        plain = Settings()
        return given.union(name for name in self.__struct_fields__ if getattr(self, name) != getattr(plain, name))

    def __post_init__(self) -> None:
        for setting in SETTINGS:
            try:
                setting.check(getattr(self, setting.name))
            except (TypeError, ValueError) as error:
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


_MOST_SECONDS = 2**31 - 1
"""As many as a Lease takes, and as timers do."""


def _seconds(value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not (math.isfinite(value) and value > 0):
        raise ValueError(f"{value!r} is no positive number of seconds")
    if value > _MOST_SECONDS:
        raise ValueError(f"{value!r} seconds are too many: {_MOST_SECONDS} is the most")


def _seconds_or_none(value: object) -> None:
    if value != 0 or isinstance(value, bool):
        _seconds(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _address(value: object) -> None:
    if _text(value) != "0":
        Address.parse(str(value))


def _one_of(*choices: str) -> Callable[[object], None]:
    def check(value: object) -> None:
        if value not in choices:
            raise ValueError(f"{value!r} is none of its values: {nearest(str(value), choices)}")

    return check


def _flag(value: object) -> None:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} is neither true nor false")


def _yes(text: str) -> bool:
    meant = {"true": True, "1": True, "false": False, "0": False}.get(text.strip().lower())
    if meant is None:
        raise ValueError(f"{text!r} is neither true nor false")
    return meant


def _name(value: object) -> None:
    if name := _text(value):
        check_dns_subdomain(name, what="it")


def _namespace(value: object) -> None:
    if name := _text(value):
        check_dns_label(name, what="it")


def _identity(value: object) -> None:
    if name := _text(value):
        check_identity(name, what="it")


def _labels(value: object) -> None:
    if not isinstance(value, Mapping):
        raise TypeError(f"{value!r} is no mapping of labels to their values")
    for key, label in value.items():
        if problems := qualified_name_problems(_text(key)):
            raise ValueError(f"{key!r} is no label: {problems[0]}")
        if problems := label_value_problems(_text(label)):
            raise ValueError(f"{label!r} is no value of label {key}: {problems[0]}")


def _pairs(text: str) -> dict[str, str]:
    """As ``kubectl -l`` takes them."""
    pairs = {}
    for pair in filter(None, (each.strip() for each in text.split(","))):
        key, equals, value = pair.partition("=")
        if not equals:
            raise ValueError(f"{pair!r} is no label with a value: write KEY=VALUE,KEY=VALUE")
        pairs[key.strip()] = value.strip()
    return pairs


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
    check: Callable[[object], object] = _text
    """Raises TypeError or ValueError, which do not name the setting."""
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
        name="wait_for_server",
        description="Seconds to wait for an API server that is away at the start, not ready meanwhile; 0: not at all.",
        metavar="SECONDS",
        check=_seconds_or_none,
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
        check=_namespace,
    ),
    Setting(
        name="leader_elect_resource_labels",
        description="Labels that the Lease gets, such as team=db,tier=infra.",
        metavar="KEY=VALUE,…",
        check=_labels,
        read=_pairs,
    ),
    Setting(
        name="leader_elect_identity",
        description="Who this process is in the Lease, unlike every other; empty: the pod's or host's name and something unique.",
        metavar="TEXT",
        check=_identity,
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


def resolve(
    defaults: Settings,
    environment: Mapping[str, str],
    flags: Mapping[str, object],
    *,
    base: Settings = Settings(),  # noqa: B008 - it can't be changed
) -> Resolved:
    """``defaults`` are the operator's own, ``base`` what counts where it has none. ``flags`` holds what was given on the
    command line, by field. Raises `SettingsError`.
    """
    refuse_unknown_variables(environment)
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for setting in SETTINGS:
        values[setting.name] = getattr(base, setting.name)
        if setting.name in defaults.chosen:
            values[setting.name] = getattr(defaults, setting.name)
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
    except (TypeError, ValueError) as error:
        raise SettingsError(f"{origin}: {error}") from error
    return read


def refuse_unknown_variables(environment: Mapping[str, str]) -> None:
    """Raises `SettingsError` for one that begins like ours and that no command reads, with the nearest name."""
    known = [setting.variable for setting in SETTINGS] + [PREFIX + name for name in sorted(_OTHERS)]
    for variable in sorted(environment):
        name = variable.removeprefix(PREFIX)
        if name == variable or variable in known or _SERVICE_LINK.fullmatch(name):
            continue
        raise SettingsError(
            f"{variable}: there is no such setting; {nearest(variable, [*known, WATCH_NAMESPACE], cutoff=0.5)}"
        )
