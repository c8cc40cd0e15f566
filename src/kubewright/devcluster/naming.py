"""What names, labels and annotations may look like, in the API server's words.

https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
"""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = [
    "dns_label_1035_errors",
    "dns_label_errors",
    "dns_subdomain_errors",
    "label_value_errors",
    "path_segment_errors",
    "qualified_name_errors",
]

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_QUALIFIED})?"


_compiled = lru_cache(re.compile)


def _too_long(limit: int, unit: str = "bytes") -> str:
    return f"must be no more than {limit} {unit}"


def _shape_error(what: str, pattern: str, *examples: str) -> str:
    given = " or ".join(f"'{example}', " for example in examples)[:-2]
    return f"{what} (e.g. {given}, regex used for validation is '{pattern}')"


def _errors(value: str, limit: int, pattern: str, message: str, unit: str = "bytes") -> list[str]:
    errors = [_too_long(limit, unit)] if len(value.encode()) > limit else []
    if _compiled(pattern).fullmatch(value) is None:
        errors.append(message)
    return errors


_LABEL_MESSAGE = _shape_error(
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character",
    _LABEL,
    "my-name",
    "123-abc",
)
_LABEL_1035_MESSAGE = _shape_error(
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
    "start with an alphabetic character, and end with an alphanumeric character",
    _LABEL_1035,
    "my-name",
    "abc-123",
)
_SUBDOMAIN_MESSAGE = _shape_error(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character",
    _SUBDOMAIN,
    "example.com",
)
_QUALIFIED_MESSAGE = _shape_error(
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    _QUALIFIED,
    "MyName",
    "my.name",
    "123-abc",
)
_VALUE_MESSAGE = _shape_error(
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character",
    _VALUE,
    "MyValue",
    "my_value",
    "12345",
)


_QUALIFIED_NAME = "a valid label key"


def _masked(name: str, *, prefix: bool) -> str:
    """A ``generateName`` may end in a dash: something will follow."""
    return name[:-1] + "a" if prefix and name.endswith("-") and len(name) > 1 else name


def dns_subdomain_errors(name: str, *, prefix: bool = False) -> list[str]:
    """RFC 1123 subdomain: most objects' names. ``prefix`` for a generateName."""
    return _errors(_masked(name, prefix=prefix), 253, _SUBDOMAIN, _SUBDOMAIN_MESSAGE, "characters")


def dns_label_errors(name: str, *, prefix: bool = False) -> list[str]:
    """RFC 1123 label: Namespaces."""
    return _errors(_masked(name, prefix=prefix), 63, _LABEL, _LABEL_MESSAGE)


def dns_label_1035_errors(name: str, *, prefix: bool = False) -> list[str]:
    """RFC 1035 label: Services before 1.34, CSR-like kinds."""
    return _errors(_masked(name, prefix=prefix), 63, _LABEL_1035, _LABEL_1035_MESSAGE, "characters")


def path_segment_errors(name: str, *, prefix: bool = False) -> list[str]:
    """What fits into a URL: names of RBAC objects."""
    if not prefix and name in {".", ".."}:
        return [f"may not be '{name}'"]
    return [f"may not contain '{bad}'" for bad in "/%" if bad in name]


def qualified_name_errors(key: str) -> list[str]:
    """A label's or annotation's key: ``name`` or ``example.com/name``."""
    prefix, slash, name = key.rpartition("/")
    if prefix.count("/"):
        return [
            f"{_QUALIFIED_NAME} {_QUALIFIED_MESSAGE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        ]
    errors = []
    if slash and not prefix:
        errors.append("prefix part must be non-empty")
    elif prefix:
        errors += [f"prefix part {error}" for error in _errors(prefix, 253, _SUBDOMAIN, _SUBDOMAIN_MESSAGE)]
    if not name:
        errors.append("name part must be non-empty")
    elif len(name.encode()) > 63:
        errors.append(f"name part {_too_long(63)}")
    return errors + ([f"name part {_QUALIFIED_MESSAGE}"] if _compiled(_QUALIFIED).fullmatch(name) is None else [])


def label_value_errors(value: str) -> list[str]:
    return _errors(value, 63, _VALUE, _VALUE_MESSAGE)
