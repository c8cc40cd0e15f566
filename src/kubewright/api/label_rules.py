"""What a key or a value of a label, and a DNS subdomain, may look like, in the API server's words.

An empty list of problems is a good one.
"""

from __future__ import annotations

import re

__all__ = [
    "DNS_LABEL",
    "DNS_SUBDOMAIN",
    "dns_subdomain_problems",
    "label_value_problems",
    "problems",
    "qualified_name_problems",
    "stated",
]

DNS_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
DNS_SUBDOMAIN = rf"{DNS_LABEL}(\.{DNS_LABEL})*"
_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_NAME})?"


def stated(text: str, regex: str, *examples: str) -> str:
    """A rule with examples, as the server states it."""
    shown = ",  or ".join(f"'{example}'" for example in examples)
    return f"{text} (e.g. {shown}, regex used for validation is '{regex}')"


_SUBDOMAIN_RULE = stated(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character",
    DNS_SUBDOMAIN,
    "example.com",
)
_NAME_RULE = stated(
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    _NAME,
    "MyName",
    "my.name",
    "123-abc",
)
_VALUE_RULE = stated(
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character",
    _VALUE,
    "MyValue",
    "my_value",
    "12345",
)


def problems(text: str, rule: str, *, regex: str, most: int, unit: str = "bytes") -> list[str]:
    """For a ``rule`` that ``regex`` tells whole, and a length in bytes that messages may call otherwise."""
    found = [f"must be no more than {most} {unit}"] if len(text.encode()) > most else []
    return found if re.fullmatch(regex, text) else [*found, rule]


def dns_subdomain_problems(text: str, *, unit: str = "bytes") -> list[str]:
    """RFC 1123 subdomain: groups, prefixes of keys, most objects' names."""
    return problems(text, _SUBDOMAIN_RULE, regex=DNS_SUBDOMAIN, most=253, unit=unit)


def qualified_name_problems(text: str) -> list[str]:
    """``example.com/name`` or ``name``: keys of labels and annotations, finalizers."""
    prefix, slash, name = text.rpartition("/")
    if "/" in prefix:
        return [
            f"a valid label key {_NAME_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        ]
    found = []
    if slash and not prefix:
        found.append("prefix part must be non-empty")
    elif slash:
        found += [f"prefix part {problem}" for problem in dns_subdomain_problems(prefix)]
    if not name:
        found.append("name part must be non-empty")
    return found + [f"name part {problem}" for problem in problems(name, _NAME_RULE, regex=_NAME, most=63)]


def label_value_problems(text: str) -> list[str]:
    """What a label may hold; the empty string is fine."""
    return problems(text, _VALUE_RULE, regex=_VALUE, most=63)
