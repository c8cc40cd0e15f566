"""Names: which ones the API server accepts, and English plurals."""

from __future__ import annotations

import re

from kubewright.api.label_rules import DNS_LABEL, DNS_SUBDOMAIN

__all__ = ["check_dns_label", "check_dns_subdomain", "is_dns_label", "is_dns_subdomain", "pluralize"]

_LABEL = re.compile(DNS_LABEL)
_SUBDOMAIN = re.compile(DNS_SUBDOMAIN)

_IRREGULAR = {
    "person": "people",
    "child": "children",
    "mouse": "mice",
    "foot": "feet",
    "tooth": "teeth",
    "goose": "geese",
}
_UNCHANGED = frozenset({"endpoints", "series", "species", "equipment", "information", "sheep", "fish", "news"})


def is_dns_label(name: str) -> bool:
    """RFC 1123 label: what namespaces and services may be called."""
    return len(name) <= 63 and _LABEL.fullmatch(name) is not None


def is_dns_subdomain(name: str) -> bool:
    """RFC 1123 subdomain: what most objects may be called."""
    return len(name) <= 253 and _SUBDOMAIN.fullmatch(name) is not None


def check_dns_label(name: str, *, what: str) -> None:
    if not isinstance(name, str) or not is_dns_label(name):
        raise ValueError(f"{what} is {name!r}: use lower-case letters, digits and '-', 63 characters at most")


def check_dns_subdomain(name: str, *, what: str) -> None:
    if not isinstance(name, str) or not is_dns_subdomain(name):
        raise ValueError(f"{what} is {name!r}: use lower-case letters, digits, '-' and '.', 253 characters at most")


def pluralize(word: str) -> str:
    """The plural that Kubernetes tools would derive for a lower-case kind: ``database`` → ``databases``."""
    if word in _UNCHANGED:
        return word
    for singular, plural in _IRREGULAR.items():
        if word.endswith(singular):
            return word[: -len(singular)] + plural
    if re.search(r"[^aeiou]y$", word):
        return word[:-1] + "ies"
    if re.search(r"(s|x|z|ch|sh)$", word):
        return word + "es"
    return word + "s"
