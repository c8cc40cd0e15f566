"""What is wrong with a name, a label or a qualified key, in the API server's words; an empty list is a good name."""

from __future__ import annotations

import re

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
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_NAME})?"

_NAME_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME}')"
)


def _example(rule: str, regex: str, *examples: str) -> str:
    shown = ",  or ".join(f"'{example}'" for example in examples)
    return f"{rule} (e.g. {shown}, regex used for validation is '{regex}')"


def dns_label_problems(text: str) -> list[str]:
    """RFC 1123 label: namespaces."""
    problems = [] if len(text) <= 63 else ["must be no more than 63 bytes"]
    if not re.fullmatch(_LABEL, text):
        rule = (
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
            "and must start and end with an alphanumeric character"
        )
        problems.append(_example(rule, _LABEL, "my-name", "123-abc"))
    return problems


def dns1035_label_problems(text: str) -> list[str]:
    """RFC 1035 label: kinds, plurals, versions, services."""
    problems = [] if len(text) <= 63 else ["must be no more than 63 bytes"]
    if not re.fullmatch(_DNS1035, text):
        rule = (
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
            "start with an alphabetic character, and end with an alphanumeric character"
        )
        problems.append(_example(rule, _DNS1035, "my-name", "abc-123"))
    return problems


def dns_subdomain_problems(text: str) -> list[str]:
    """RFC 1123 subdomain: groups, prefixes of keys."""
    problems = [] if len(text) <= 253 else ["must be no more than 253 bytes"]
    if not re.fullmatch(_SUBDOMAIN, text):
        rule = (
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
            "and must start and end with an alphanumeric character"
        )
        problems.append(_example(rule, _SUBDOMAIN, "example.com"))
    return problems


def qualified_name_problems(text: str) -> list[str]:
    """``example.com/name`` or ``name``: keys of labels and annotations, finalizers."""
    prefix, slash, name = text.rpartition("/")
    if "/" in prefix:
        return [
            f"a valid label key {_NAME_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        ]
    problems = []
    if slash and not prefix:
        problems.append("prefix part must be non-empty")
    elif slash:
        problems += [f"prefix part {problem}" for problem in dns_subdomain_problems(prefix)]
    if not name:
        problems.append("name part must be non-empty")
    elif len(name) > 63:
        problems.append("name part must be no more than 63 bytes")
    if not re.fullmatch(_NAME, name):
        problems.append(f"name part {_NAME_RULE}")
    return problems


def label_value_problems(text: str) -> list[str]:
    """What a label may hold; the empty string is fine."""
    problems = [] if len(text) <= 63 else ["must be no more than 63 bytes"]
    if not re.fullmatch(_VALUE, text):
        rule = (
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
            "and must start and end with an alphanumeric character"
        )
        problems.append(_example(rule, _VALUE, "MyValue", "my_value", "12345"))
    return problems


def path_segment_problems(text: str) -> list[str]:
    """The least that any object's name must be: one segment of a URL's path."""
    if text in {".", ".."}:
        return [f"may not be '{text}'"]
    return [f"may not contain '{char}'" for char in "/%" if char in text]
