"""What is wrong with a name, a label or a qualified key, in the API server's words; an empty list is a good name."""

from __future__ import annotations

from kubewright.api.label_rules import (
    DNS_LABEL,
    dns_subdomain_problems,
    label_value_problems,
    problems,
    qualified_name_problems,
    stated,
)

__all__ = [
    "dns1035_label_problems",
    "dns_label_problems",
    "dns_subdomain_problems",
    "label_value_problems",
    "path_segment_problems",
    "qualified_name_problems",
]

_DNS1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_LABEL_RULE = stated(
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character",
    DNS_LABEL,
    "my-name",
    "123-abc",
)
_DNS1035_RULE = stated(
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
    "start with an alphabetic character, and end with an alphanumeric character",
    _DNS1035,
    "my-name",
    "abc-123",
)


def dns_label_problems(text: str) -> list[str]:
    """RFC 1123 label: namespaces."""
    return problems(text, _LABEL_RULE, regex=DNS_LABEL, most=63)


def dns1035_label_problems(text: str) -> list[str]:
    """RFC 1035 label: kinds, plurals, versions, Services before 1.34."""
    return problems(text, _DNS1035_RULE, regex=_DNS1035, most=63, unit="characters")


def path_segment_problems(text: str) -> list[str]:
    """The least that any object's name must be: one segment of a URL's path."""
    if text in {".", ".."}:
        return [f"may not be '{text}'"]
    return [f"may not contain '{char}'" for char in "/%" if char in text]
