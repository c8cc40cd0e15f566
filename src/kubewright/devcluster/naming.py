"""What is wrong with an object's name, or with how it is to begin (``generateName``), in the API server's words.

https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
"""

from __future__ import annotations

from kubewright.schema.names import (
    dns1035_label_problems,
    dns_label_problems,
    dns_subdomain_problems,
    path_segment_problems,
)

__all__ = ["dns_label_1035_errors", "dns_label_errors", "dns_subdomain_errors", "path_segment_errors"]


def _masked(name: str, *, prefix: bool) -> str:
    """A ``generateName`` may end in a dash: something will follow."""
    return name[:-1] + "a" if prefix and name.endswith("-") and len(name) > 1 else name


def dns_subdomain_errors(name: str, *, prefix: bool = False) -> list[str]:
    """RFC 1123 subdomain: most objects' names. ``prefix`` for a generateName."""
    return dns_subdomain_problems(_masked(name, prefix=prefix), unit="characters")


def dns_label_errors(name: str, *, prefix: bool = False) -> list[str]:
    """RFC 1123 label: Namespaces."""
    return dns_label_problems(_masked(name, prefix=prefix))


def dns_label_1035_errors(name: str, *, prefix: bool = False) -> list[str]:
    """RFC 1035 label: Services."""
    return dns1035_label_problems(_masked(name, prefix=prefix))


def path_segment_errors(name: str, *, prefix: bool = False) -> list[str]:
    """What fits into a URL: names of RBAC objects. One that only begins with dots is fine."""
    return [] if prefix and name in {".", ".."} else path_segment_problems(name)
