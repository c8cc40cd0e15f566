"""IP families of Services, in a cluster of which every address is IPv4. The first two functions edit what they get.

https://kubernetes.io/docs/concepts/services-networking/dual-stack/
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubewright.schema.errors import FieldError, invalid, not_supported

__all__ = ["allocate_families", "family_errors", "inherit_families"]

Json = dict[str, Any]

_POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
_FAMILIES = ("IPv4", "IPv6")


def allocate_families(spec: Json) -> None:
    """Fills in policy and families. Who selects the endpoints of a headless Service by himself may have both families."""
    if spec.get("type") == "ExternalName":
        return
    by_hand = _is_headless(spec) and not spec.get("selector")
    policy = spec.setdefault("ipFamilyPolicy", "RequireDualStack" if by_hand else "SingleStack")
    families = spec.get("ipFamilies") or ["IPv4"]
    if by_hand and policy != "SingleStack" and len(families) == 1:
        families = [*families, "IPv6" if families[0] == "IPv4" else "IPv4"]
    spec["ipFamilies"] = families


def inherit_families(spec: Json, before: Json) -> None:
    """Keeps what was there before where an update leaves it out, and drops what an external name can't have."""
    for key in ("ipFamilyPolicy", "ipFamilies"):
        if spec.get("type") == "ExternalName":
            if spec.get(key) == before.get(key):
                spec.pop(key, None)
        elif not spec.get(key) and before.get(key):
            spec[key] = before[key]


def family_errors(spec: Json) -> Iterator[FieldError]:
    policy, families = spec.get("ipFamilyPolicy"), spec.get("ipFamilies") or []
    for index, family in enumerate(families):
        if family not in _FAMILIES:
            yield not_supported(f"spec.ipFamilies[{index}]", family, _FAMILIES)
    if policy is not None and policy not in _POLICIES:
        yield not_supported("spec.ipFamilyPolicy", policy, _POLICIES)
    if spec.get("type") == "ExternalName" or (_is_headless(spec) and not spec.get("selector")):
        return
    if policy == "RequireDualStack":
        yield invalid("spec.ipFamilyPolicy", policy, "this cluster is not configured for dual-stack services")
    for index, family in enumerate(families):
        if family == "IPv6":
            yield invalid(f"spec.ipFamilies[{index}]", family, "not configured on this cluster")


def _is_headless(spec: Json) -> bool:
    return spec.get("clusterIP") == "None" or (spec.get("clusterIPs") or [None])[0] == "None"
