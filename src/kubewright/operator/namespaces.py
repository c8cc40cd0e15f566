"""Which namespaces an operator works in: its own declaration, or what its environment says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kubewright.api.names import check_dns_label

__all__ = ["WATCH_NAMESPACE", "checked_namespaces", "watched_namespaces"]

WATCH_NAMESPACE = "WATCH_NAMESPACE"
"""The environment variable that names them, separated by commas; empty: all of them."""


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


def watched_namespaces(declared: Iterable[str] | None, environment: Mapping[str, str]) -> tuple[str, ...] | None:
    """The operator's own, unless ``WATCH_NAMESPACE`` is set: that says where it works in this cluster; None for all."""
    text = environment.get(WATCH_NAMESPACE)
    if text is None:
        return checked_namespaces(declared, what="namespaces")
    names = [name.strip() for name in text.split(",") if name.strip()]
    return checked_namespaces(names, what=WATCH_NAMESPACE) if names else None
