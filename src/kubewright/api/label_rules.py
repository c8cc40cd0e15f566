"""What a key or a value of a label, and a DNS subdomain, may look like, in the API server's words.

An empty list of problems is a good one.
"""

from __future__ import annotations

import re

__all__ = ["dns_subdomain_problems", "label_value_problems", "qualified_name_problems", "stated"]

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_NAME})?"

_NAME_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME}')"
)


def stated(text: str, regex: str, *examples: str) -> str:
    """A rule with examples, as the server states it."""
    shown = ",  or ".join(f"'{example}'" for example in examples)
    return f"{text} (e.g. {shown}, regex used for validation is '{regex}')"


def dns_subdomain_problems(text: str) -> list[str]:
    """RFC 1123 subdomain: groups, prefixes of keys."""
    problems = [] if len(text) <= 253 else ["must be no more than 253 bytes"]
    if not re.fullmatch(_SUBDOMAIN, text):
        rule = (
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
            "and must start and end with an alphanumeric character"
        )
        problems.append(stated(rule, _SUBDOMAIN, "example.com"))
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
        problems.append(stated(rule, _VALUE, "MyValue", "my_value", "12345"))
    return problems
