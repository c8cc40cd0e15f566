"""Checks that many kinds share. Each yields what is wrong, in the server's words; nothing if all is well."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from kubewright.api import LabelSelector, Selector, convert
from kubewright.api.label_rules import label_value_problems, qualified_name_problems
from kubewright.devcluster.builtin.go_values import int_or_string, invalid_go, label_selector, string_map
from kubewright.schema.errors import FieldError, forbidden, invalid, not_supported, required

__all__ = [
    "NON_NEGATIVE",
    "Errors",
    "Json",
    "config_key",
    "env_name",
    "immutable",
    "ip_address",
    "labels",
    "matches_template",
    "mismatch",
    "named",
    "non_negative",
    "one_of",
    "parsed_selector",
    "percent_or_count",
    "port",
    "port_name",
    "port_reference",
    "qualified",
    "selector",
]

Json = dict[str, Any]
Errors = Iterator[FieldError]

NON_NEGATIVE = "must be greater than or equal to 0"
_PORT_RANGE = "must be between 1 and 65535, inclusive"
_KEY = re.compile(r"[-._a-zA-Z0-9]+")
_ENV_NAME = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")


def non_negative(holder: Mapping[str, Any], at: str, *fields: str) -> Errors:
    for field in fields:
        value = holder.get(field)
        if value is not None and value < 0:
            yield invalid(f"{at}.{field}", value, NON_NEGATIVE)


def one_of(holder: Mapping[str, Any], field: str, at: str, supported: Sequence[str]) -> Errors:
    value = holder.get(field, "")
    if value not in supported:
        yield not_supported(f"{at}.{field}" if at else field, value, supported)


def named(value: str, field: str, rule: Callable[[str], list[str]], *, missing: bool = True) -> Errors:
    """A name by one of the rules of `kubewright.devcluster.naming`; ``missing``: an empty one is its own error."""
    if not value and missing:
        yield required(field)
    else:
        for each in rule(value):
            yield invalid(field, value, each)


def qualified(value: str, field: str) -> Errors:
    for each in qualified_name_problems(value):
        yield invalid(field, value, each)


def labels(value: Mapping[str, str] | None, field: str) -> Errors:
    for key, text in sorted((value or {}).items()):
        yield from qualified(key, field)
        for each in label_value_problems(text):
            yield invalid(field, text, each)


def selector(value: Mapping[str, Any] | None, at: str) -> Errors:
    """A label selector in an object's spec."""
    if value is None:
        return
    yield from labels(value.get("matchLabels"), f"{at}.matchLabels")
    for index, each in enumerate(value.get("matchExpressions") or ()):
        where = f"{at}.matchExpressions[{index}]"
        match each.get("operator", ""):
            case "In" | "NotIn":
                if not each.get("values"):
                    yield required(f"{where}.values", "must be specified when `operator` is 'In' or 'NotIn'")
            case "Exists" | "DoesNotExist":
                if each.get("values"):
                    yield forbidden(
                        f"{where}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
                    )
            case operator:
                yield invalid(f"{where}.operator", operator, "not a valid selector operator")
        yield from qualified(each.get("key", ""), f"{where}.key")


def parsed_selector(value: Mapping[str, Any]) -> Selector | None:
    """The selector, None where one of its requirements is none."""
    for each in value.get("matchExpressions") or ():
        wanted = {"In": True, "NotIn": True, "Exists": False, "DoesNotExist": False}.get(each.get("operator", ""))
        if wanted is None or bool(each.get("values")) is not wanted or qualified_name_problems(each.get("key", "")):
            return None
    return Selector.from_object(convert(value, LabelSelector))


def matches_template(spec: Mapping[str, Any], at: str) -> Errors:
    """Whether a workload's selector is one, and selects its own pods."""
    chosen = spec.get("selector") or {}
    parsed = parsed_selector(chosen)
    if parsed is None:
        yield invalid_go(f"{at}.selector", label_selector(chosen), "invalid label selector")
        return
    found = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    if not parsed.requirements or not parsed.matches(found):
        yield mismatch(spec, at)


def mismatch(spec: Mapping[str, Any], at: str) -> FieldError:
    found = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    where = f"{at}.template.metadata.labels"
    return invalid_go(where, string_map(found), "`selector` does not match template `labels`")


def port(value: Any, field: str) -> Errors:
    if not 1 <= value <= 65535:
        yield invalid(field, value, _PORT_RANGE)


def port_name(value: str, field: str) -> Errors:
    """IANA service name: what ports may be called."""
    if len(value) > 15:
        yield invalid(field, value, "must be no more than 15 characters")
    if re.fullmatch(r"[-a-z0-9]*", value) is None:
        yield invalid(field, value, "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if re.search(r"[a-z0-9]", value) is None:
        yield invalid(field, value, "must contain at least one letter or number (a-z, 0-9)")
    if "--" in value:
        yield invalid(field, value, "must not contain consecutive hyphens")
    if value.startswith("-") or value.endswith("-"):
        yield invalid(field, value, "must not begin or end with a hyphen")


def port_reference(value: Any, field: str) -> Errors:
    """A port by number or by name."""
    yield from port_name(value, field) if isinstance(value, str) else port(value, field)


def config_key(value: str, field: str) -> Errors:
    """A key of a ConfigMap or Secret."""
    if len(value) > 253:
        yield invalid(field, value, "must be no more than 253 characters")
    if _KEY.fullmatch(value) is None:
        yield invalid(
            field,
            value,
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' "
            "(e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
        )
    yield from _no_dots(value, field)


def env_name(value: str, field: str) -> Errors:
    if _ENV_NAME.fullmatch(value) is None:
        yield invalid(
            field,
            value,
            "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', "
            "and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', "
            "regex used for validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')",
        )
    yield from _no_dots(value, field)


def _no_dots(value: str, field: str) -> Errors:
    if value == ".":
        yield invalid(field, value, "must not be '.'")
    elif value == "..":
        yield invalid(field, value, "must not be '..'")
    elif value.startswith(".."):
        yield invalid(field, value, "must not start with '..'")


def ip_address(value: str, field: str) -> Errors:
    try:
        ipaddress.ip_address(value)
    except ValueError:
        yield invalid(field, value, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")


def percent_or_count(value: Any, field: str) -> Errors:
    """``25%`` or a number of pods."""
    if isinstance(value, int):
        if value < 0:
            yield invalid(field, value, NON_NEGATIVE)
    elif re.fullmatch(r"[0-9]+%", value) is None:
        yield invalid_go(
            field,
            int_or_string(value),
            "a valid percent string must be a numeric string followed by an ending '%' "
            "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
        )


def immutable(new: Any, old: Any, field: str, *, shown: str | None = None) -> Errors:
    """``shown``: the new value as the message quotes it, where it is no scalar."""
    if new != old:
        message = "field is immutable"
        yield invalid(field, new, message) if shown is None else invalid_go(field, shown, message)
