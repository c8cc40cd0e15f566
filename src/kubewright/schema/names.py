"""What is wrong with a name, a label or a qualified key, in the API server's words; an empty list is a good name."""

from __future__ import annotations

import re

from kubewright.api.label_rules import (
    dns_subdomain_problems,
    label_value_problems,
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

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DNS1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"


def dns_label_problems(text: str) -> list[str]:
    """RFC 1123 label: namespaces."""
    problems = [] if len(text) <= 63 else ["must be no more than 63 bytes"]
    if not re.fullmatch(_LABEL, text):
        rule = (
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
            "and must start and end with an alphanumeric character"
        )
        problems.append(stated(rule, _LABEL, "my-name", "123-abc"))
    return problems


def dns1035_label_problems(text: str) -> list[str]:
    """RFC 1035 label: kinds, plurals, versions, services."""
    problems = [] if len(text) <= 63 else ["must be no more than 63 characters"]
    if not re.fullmatch(_DNS1035, text):
        rule = (
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
            "start with an alphabetic character, and end with an alphanumeric character"
        )
        problems.append(stated(rule, _DNS1035, "my-name", "abc-123"))
    return problems


def path_segment_problems(text: str) -> list[str]:
    """The least that any object's name must be: one segment of a URL's path."""
    if text in {".", ".."}:
        return [f"may not be '{text}'"]
    return [f"may not contain '{char}'" for char in "/%" if char in text]
