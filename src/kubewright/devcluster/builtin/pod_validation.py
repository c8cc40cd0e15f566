"""What can be wrong with a pod, and with the template of one."""

from __future__ import annotations

import ipaddress
from typing import Any

from kubewright.api.label_rules import qualified_name_problems
from kubewright.devcluster.builtin.checks import (
    NON_NEGATIVE,
    Errors,
    Json,
    labels,
    named,
    one_of,
    qualified,
    selector,
)
from kubewright.devcluster.builtin.container_validation import container
from kubewright.devcluster.builtin.go_values import invalid_go
from kubewright.devcluster.builtin.volume_validation import volumes as check_volumes
from kubewright.devcluster.naming import dns_label_errors, dns_subdomain_errors
from kubewright.schema.errors import duplicate, forbidden, invalid, not_supported, required
from kubewright.schema.go_text import quoted

__all__ = ["pod", "pod_spec", "pod_template", "pod_update"]

_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def pod(obj: Json) -> Errors:
    yield from pod_spec(obj.get("spec") or {}, "spec")


def pod_template(template: Json, at: str) -> Errors:
    metadata = template.get("metadata") or {}
    yield from labels(metadata.get("labels"), f"{at}.labels")
    for key in sorted(metadata.get("annotations") or {}):
        for each in qualified_name_problems(key.lower()):
            yield invalid(f"{at}.annotations", key, each)
    yield from pod_spec(template.get("spec") or {}, f"{at}.spec")


def pod_spec(spec: Json, at: str) -> Errors:
    names: set[str] = set()
    yield from check_volumes(spec.get("volumes") or [], f"{at}.volumes", names)
    yield from _containers(spec, at, names)
    yield from one_of(spec, "restartPolicy", at, _RESTART_POLICIES)
    yield from one_of(spec, "dnsPolicy", at, _DNS_POLICIES)
    yield from labels(spec.get("nodeSelector"), f"{at}.nodeSelector")
    yield from _pod_security(spec, at)
    if spec.get("dnsPolicy") == "None" and not (spec.get("dnsConfig") or {}).get("nameservers"):
        if "dnsConfig" not in spec:
            yield required(f"{at}.dnsConfig", "must provide `dnsConfig` when `dnsPolicy` is None")
        else:
            message = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            yield required(f"{at}.dnsConfig.nameservers", message)
    yield from _affinity(spec.get("affinity") or {}, f"{at}.affinity")
    for name in ("serviceAccountName", "nodeName"):
        if value := spec.get(name):
            yield from named(value, f"{at}.{name}", dns_subdomain_errors)
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= 2147483647:
        message = "must be between 1 and 2147483647, inclusive"
        yield invalid(f"{at}.activeDeadlineSeconds", deadline, message)
    for name in ("hostname", "subdomain"):
        if value := spec.get(name):
            yield from named(value, f"{at}.{name}", dns_label_errors)
    for index, toleration in enumerate(spec.get("tolerations") or ()):
        yield from _toleration(toleration, f"{at}.tolerations[{index}]")
    for index, gate in enumerate(spec.get("readinessGates") or ()):
        yield from qualified(gate.get("conditionType", ""), f"{at}.readinessGates[{index}].conditionType")
    for alias in spec.get("hostAliases") or ():
        yield from _host_alias(alias, f"{at}.hostAliases")
    if value := spec.get("priorityClassName"):
        yield from named(value, f"{at}.priorityClassName", dns_subdomain_errors)
    for index, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        yield from _spread(constraint, f"{at}.topologySpreadConstraints[{index}]")


def _containers(spec: Json, at: str, volumes: set[str]) -> Errors:
    names: set[str] = set()
    host_ports: set[str] = set()
    if not spec.get("containers"):
        yield required(f"{at}.containers")
    for index, value in enumerate(spec.get("containers") or ()):
        where = f"{at}.containers[{index}]"
        yield from container(value, where, volumes=volumes, spec=spec)
        yield from _unique_name(value, where, names)
        yield from _unique_host_ports(value, where, host_ports)
    for index, value in enumerate(spec.get("initContainers") or ()):
        where = f"{at}.initContainers[{index}]"
        yield from container(value, where, volumes=volumes, spec=spec, init=True)
        yield from _unique_name(value, where, names)
    if spec.get("ephemeralContainers"):
        for index, value in enumerate(spec["ephemeralContainers"]):
            yield from _unique_name(value, f"{at}.ephemeralContainers[{index}]", names)


def _unique_name(value: Json, at: str, names: set[str]) -> Errors:
    name = value.get("name", "")
    if name and name in names:
        yield duplicate(f"{at}.name", name)
    names.add(name)


def _unique_host_ports(value: Json, at: str, seen: set[str]) -> Errors:
    for index, port in enumerate(value.get("ports") or ()):
        if host_port := port.get("hostPort"):
            key = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{host_port}"
            if key in seen:
                yield duplicate(f"{at}.ports[{index}].hostPort", key)
            seen.add(key)


def _pod_security(spec: Json, at: str) -> Errors:
    context = spec.get("securityContext") or {}
    where = f"{at}.securityContext"
    for name in ("fsGroup", "runAsUser", "runAsGroup"):
        number = context.get(name)
        if number is not None and not 0 <= number <= 2147483647:
            yield invalid(f"{where}.{name}", number, "must be between 0 and 2147483647, inclusive")
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        message = "ShareProcessNamespace and HostPID cannot both be enabled"
        yield invalid(f"{where}.shareProcessNamespace", True, message)


def _toleration(toleration: Json, at: str) -> Errors:
    key, operator = toleration.get("key", ""), toleration.get("operator", "")
    value, effect = toleration.get("value", ""), toleration.get("effect", "")
    if key:
        yield from qualified(key, f"{at}.key")
    elif operator != "Exists":
        message = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        yield invalid(f"{at}.operator", operator, message)
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        message = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        yield invalid(f"{at}.effect", effect, message)
    if operator == "Exists" and value:
        shown = (
            f"core.Toleration{{Key:{quoted(key)}, Operator:{quoted(operator)}, Value:{quoted(value)}, "
            f"Effect:{quoted(effect)}, TolerationSeconds:(*int64)(nil)}}"
        )
        yield invalid_go(f"{at}.operator", shown, "value must be empty when `operator` is 'Exists'")
    elif operator not in {"", "Equal", "Exists"}:
        yield not_supported(f"{at}.operator", operator, ("Equal", "Exists"))
    if effect:
        yield from one_of(toleration, "effect", at, _EFFECTS)


def _affinity(affinity: Json, at: str) -> Errors:
    required_terms = "requiredDuringSchedulingIgnoredDuringExecution"
    preferred_terms = "preferredDuringSchedulingIgnoredDuringExecution"
    if (needed := (affinity.get("nodeAffinity") or {}).get(required_terms)) is not None:
        where = f"{at}.nodeAffinity.{required_terms}.nodeSelectorTerms"
        if not needed.get("nodeSelectorTerms"):
            yield required(where, "must have at least one node selector term")
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(kind) or {}
        for index, term in enumerate(terms.get(required_terms) or ()):
            yield from _affinity_term(term, f"{at}.{kind}.{required_terms}[{index}]")
        for index, weighted in enumerate(terms.get(preferred_terms) or ()):
            where = f"{at}.{kind}.{preferred_terms}[{index}]"
            weight = weighted.get("weight", 0)
            if not 1 <= weight <= 100:
                yield invalid(f"{where}.weight", weight, "must be in the range 1-100")
            yield from _affinity_term(weighted.get("podAffinityTerm") or {}, f"{where}.podAffinityTerm")


def _affinity_term(term: Json, at: str) -> Errors:
    yield from selector(term.get("labelSelector"), f"{at}.labelSelector")
    key = term.get("topologyKey", "")
    if not key:
        yield required(f"{at}.topologyKey", "can not be empty")
    yield from qualified(key, f"{at}.topologyKey")


def _host_alias(alias: Json, at: str) -> Errors:
    address = alias.get("ip", "")
    try:
        ipaddress.ip_address(address)
    except ValueError:
        yield invalid(f"{at}.ip", address, "must be valid IP address")
    for name in alias.get("hostnames") or ():
        yield from named(name, f"{at}.hostnames", dns_subdomain_errors)


def _spread(constraint: Json, at: str) -> Errors:
    skew = constraint.get("maxSkew", 0)
    if skew <= 0:
        yield invalid(f"{at}.maxSkew", skew, "must be greater than zero")
    if not constraint.get("topologyKey"):
        yield required(f"{at}.topologyKey", "can not be empty")
    yield from one_of(constraint, "whenUnsatisfiable", at, ("DoNotSchedule", "ScheduleAnyway"))


_ONLY = (
    "pod updates may not change fields other than `spec.containers[*].image`, `spec.initContainers[*].image`, "
    "`spec.activeDeadlineSeconds` or `spec.tolerations` (only additions to existing tolerations)"
)


def pod_update(new: Json, old: Json) -> Errors:
    """What an update of a pod's spec may not do; most of it is fixed once the pod exists."""
    after, before = new.get("spec") or {}, old.get("spec") or {}
    for key in ("containers", "initContainers"):
        if len(after.get(key) or ()) != len(before.get(key) or ()):
            yield forbidden(f"spec.{key}", f"pod updates may not add or remove {_SPOKEN[key]}")
            return
    deadline, earlier = after.get("activeDeadlineSeconds"), before.get("activeDeadlineSeconds")
    if earlier is not None and deadline != earlier:
        if deadline is None:
            yield invalid("spec.activeDeadlineSeconds", None, "must not update from a positive integer to nil value")
        elif deadline < 0:
            yield invalid("spec.activeDeadlineSeconds", deadline, NON_NEGATIVE)
        elif deadline > earlier:
            message = f"must be less than or equal to previous value {earlier}"
            yield invalid("spec.activeDeadlineSeconds", deadline, message)
    kept = after.get("tolerations") or []
    if any(each not in kept for each in before.get("tolerations") or ()):
        yield forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds")
    if _fixed(after) != _fixed(before):
        yield forbidden("spec", _ONLY)


_SPOKEN = {"containers": "containers", "initContainers": "init containers"}


def _fixed(spec: Json) -> dict[str, Any]:
    """The part of a spec that no update may change."""
    fixed = {key: value for key, value in spec.items() if key not in {"activeDeadlineSeconds", "tolerations"}}
    for key in ("containers", "initContainers"):
        if key in fixed:
            fixed[key] = [{name: item for name, item in each.items() if name != "image"} for each in fixed[key]]
    return fixed
