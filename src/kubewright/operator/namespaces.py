"""Which namespaces an operator works in: its own declaration, or what its environment says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kubewright.api.names import check_dns_label

__all__ = ["WATCH_NAMESPACE", "checked_namespaces", "watched_namespaces"]

WATCH_NAMESPACE = "WATCH_NAMESPACE"
"""The environment variable that names them, separated by commas, in place of those the operator declares."""


def checked_namespaces(namespaces: Iterable[str] | None, *, what: str) -> tuple[str, ...] | None:
    """Sorted and each once; None for all. Raises TypeError and ValueError, which begin with ``what``."""
    if namespaces is None:
        return None
    if isinstance(namespaces, str):
        raise TypeError(f'{what} is {namespaces!r}: give a list, such as ["{namespaces}"]')
    names = tuple(sorted(set(namespaces)))
    if not names:
        raise ValueError(f"{what} names no namespace: leave it out for all of them")
    for name in names:
        check_dns_label(name, what=f"a namespace of {what}")
    return names


def watched_namespaces(environment: Mapping[str, str]) -> tuple[str, ...] | None:
    """What ``WATCH_NAMESPACE`` says; None where it is not set, or empty: then the operator's declaration counts."""
    names = [name.strip() for name in environment.get(WATCH_NAMESPACE, "").split(",") if name.strip()]
    return checked_namespaces(names, what=WATCH_NAMESPACE) if names else None
