"""What can be wrong with a container."""

from __future__ import annotations

import re
from collections.abc import Collection

from kubewright.api.quantities import quantity
from kubewright.devcluster.builtin.checks import (
    NON_NEGATIVE,
    Errors,
    Json,
    config_key,
    env_name,
    named,
    one_of,
    port,
    port_name,
    port_reference,
    qualified,
)
from kubewright.devcluster.builtin.go_values import invalid_go, not_found
from kubewright.devcluster.naming import dns_label_errors, dns_subdomain_errors
from kubewright.schema.errors import duplicate, forbidden, invalid, not_supported, required

__all__ = ["container", "relative_path"]

_PROTOCOLS = ("SCTP", "TCP", "UDP")
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_RESOURCES = re.compile(r"cpu|memory|ephemeral-storage|hugepages-.+")
_RESOURCE_FIELDS = tuple(
    f"{kind}.{name}" for kind in ("limits", "requests") for name in ("cpu", "ephemeral-storage", "memory")
)
_FIELDS = frozenset(
    {
        "metadata.annotations",
        "metadata.labels",
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
        "spec.nodeName",
        "spec.serviceAccountName",
        "status.hostIP",
        "status.hostIPs",
        "status.podIP",
        "status.podIPs",
    }
)


def container(value: Json, at: str, *, volumes: Collection[str], spec: Json, init: bool = False) -> Errors:
    """``volumes``: the names that a mount may use."""
    yield from named(value.get("name", ""), f"{at}.name", dns_label_errors)
    image = value.get("image", "")
    if not image:
        yield required(f"{at}.image")
    elif image != image.strip():
        yield invalid(f"{at}.image", image, "must not have leading or trailing whitespace")
    if not init:
        yield from _lifecycle(value.get("lifecycle") or {}, f"{at}.lifecycle")
        for name in ("livenessProbe", "readinessProbe", "startupProbe"):
            if (probe := value.get(name)) is not None:
                yield from _probe(probe, f"{at}.{name}", single_success=name != "readinessProbe")
    policy = value.get("terminationMessagePolicy", "")
    if policy not in {"File", "FallbackToLogsOnError"}:
        yield invalid(f"{at}.terminationMessagePolicy", policy, "must be 'File' or 'FallbackToLogsOnError'")
    yield from _ports(value.get("ports") or [], f"{at}.ports", host_network=bool(spec.get("hostNetwork")))
    for index, variable in enumerate(value.get("env") or ()):
        yield from _variable(variable, f"{at}.env[{index}]")
    yield from _env_from(value.get("envFrom") or [], f"{at}.envFrom")
    yield from _mounts(value.get("volumeMounts") or [], f"{at}.volumeMounts", volumes)
    yield from one_of(value, "imagePullPolicy", at, _PULL_POLICIES)
    yield from _resources(value.get("resources") or {}, f"{at}.resources")
    yield from _security(value.get("securityContext") or {}, f"{at}.securityContext")
    if init and value.get("restartPolicy") != "Always":
        for name in ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe"):
            if value.get(name) is not None:
                type_name = "core.Lifecycle" if name == "lifecycle" else "core.Probe"
                yield invalid_go(f"{at}.{name}", f"{type_name}{{}}", "must not be set for init containers")


def _ports(ports: list[Json], at: str, *, host_network: bool) -> Errors:
    names: set[str] = set()
    for index, each in enumerate(ports):
        where = f"{at}[{index}]"
        if name := each.get("name"):
            wrong = list(port_name(name, f"{where}.name"))
            if wrong:
                yield from wrong
            elif name in names:
                yield duplicate(f"{where}.name", name)
            names.add(name)
        number = each.get("containerPort", 0)
        if number == 0:
            yield required(f"{where}.containerPort")
        else:
            yield from port(number, f"{where}.containerPort")
        if host_port := each.get("hostPort", 0):
            yield from port(host_port, f"{where}.hostPort")
            if host_network and host_port != number:
                yield invalid(f"{where}.containerPort", number, "must match `hostPort` when `hostNetwork` is true")
        yield from one_of(each, "protocol", where, _PROTOCOLS)


def _variable(variable: Json, at: str) -> Errors:
    name = variable.get("name", "")
    if not name:
        yield required(f"{at}.name")
    else:
        yield from env_name(name, f"{at}.name")
    if (source := variable.get("valueFrom")) is None:
        return
    where = f"{at}.valueFrom"
    chosen = [key for key in ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef") if key in source]
    if field := source.get("fieldRef"):
        yield from _field_reference(field, f"{where}.fieldRef")
    if resource := source.get("resourceFieldRef"):
        if not resource.get("resource"):
            yield required(f"{where}.resourceFieldRef.resource")
        elif not resource["resource"].startswith(("limits.hugepages-", "requests.hugepages-")):
            yield from one_of(resource, "resource", f"{where}.resourceFieldRef", _RESOURCE_FIELDS)
    for kind in ("configMapKeyRef", "secretKeyRef"):
        if kind in source:
            yield from named(source[kind].get("name", ""), f"{where}.{kind}.name", dns_subdomain_errors, missing=False)
            key = source[kind].get("key", "")
            if not key:
                yield required(f"{where}.{kind}.key")
            else:
                yield from config_key(key, f"{where}.{kind}.key")
    if not chosen:
        one = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"
        if not source.keys():
            yield invalid(where, "", one)
    elif variable.get("value"):
        yield invalid(where, "", "may not be specified when `value` is not empty")
    elif len(chosen) > 1:
        yield invalid(where, "", "may not have more than one field specified at a time")


def _field_reference(field: Json, at: str) -> Errors:
    path = field.get("fieldPath", "")
    if not path:
        yield required(f"{at}.fieldPath")
        return
    base = re.sub(r"\['.*'\]$", "", path)
    if base not in _FIELDS:
        yield invalid(f"{at}.fieldPath", path, f"error converting fieldPath: field label not supported: {path}")
    elif base in {"metadata.labels", "metadata.annotations"} and base == path:
        yield not_supported(
            f"{at}.fieldPath",
            path,
            sorted(_FIELDS - {"metadata.annotations", "metadata.labels", "status.hostIPs"}),
        )


def _env_from(sources: list[Json], at: str) -> Errors:
    for index, source in enumerate(sources):
        where = f"{at}[{index}]"
        if prefix := source.get("prefix"):
            yield from env_name(prefix, f"{where}.prefix")
        chosen = [kind for kind in ("configMapRef", "secretRef") if kind in source]
        for kind in chosen:
            yield from named(source[kind].get("name", ""), f"{where}.{kind}.name", dns_subdomain_errors)
        if not chosen:
            yield invalid(at, "", "must specify one of: `configMapRef` or `secretRef`")
        elif len(chosen) > 1:
            yield invalid(at, "", "may not have more than one field specified at a time")


def relative_path(value: str, field: str) -> Errors:
    if value.startswith("/"):
        yield invalid(field, value, "must be a relative path")
    if ".." in value.split("/"):
        yield invalid(field, value, "must not contain '..'")


def _mounts(mounts: list[Json], at: str, volumes: Collection[str]) -> Errors:
    paths: set[str] = set()
    for index, mount in enumerate(mounts):
        where = f"{at}[{index}]"
        name, path = mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            yield required(f"{where}.name")
        if name not in volumes:
            yield not_found(f"{where}.name", name)
        if not path:
            yield required(f"{where}.mountPath")
        if path in paths:
            yield invalid(f"{where}.mountPath", path, "must be unique")
        paths.add(path)
        if sub_path := mount.get("subPath"):
            yield from relative_path(sub_path, f"{at}.subPath")


def _probe(probe: Json, at: str, *, single_success: bool) -> Errors:
    yield from _handler(probe, at, ("exec", "httpGet", "tcpSocket", "grpc"))
    for name in ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"):
        if (seconds := probe.get(name, 0)) < 0:
            yield invalid(f"{at}.{name}", seconds, NON_NEGATIVE)
    threshold = probe.get("successThreshold", 1)
    if single_success and threshold != 1:
        yield invalid(f"{at}.successThreshold", threshold, "must be 1")


def _handler(handler: Json, at: str, kinds: tuple[str, ...]) -> Errors:
    found = [kind for kind in kinds if kind in handler]
    if not found:
        yield required(at, "must specify a handler type")
    for extra in found[1:]:
        yield forbidden(f"{at}.{extra}", "may not specify more than 1 handler type")
    if not found:
        return
    kind, value = found[0], handler[found[0]]
    where = f"{at}.{kind}"
    if kind == "exec" and not value.get("command"):
        yield required(f"{where}.command")
    if kind == "httpGet":
        if not value.get("path"):
            yield required(f"{where}.path")
        yield from port_reference(value.get("port", 0), f"{where}.port")
        yield from one_of(value, "scheme", where, ("HTTP", "HTTPS"))
    if kind == "tcpSocket":
        yield from port_reference(value.get("port", 0), f"{where}.port")


def _lifecycle(lifecycle: Json, at: str) -> Errors:
    for name in ("postStart", "preStop"):
        if (handler := lifecycle.get(name)) is not None:
            yield from _handler(handler, f"{at}.{name}", ("exec", "httpGet", "tcpSocket", "sleep"))


def _resources(resources: Json, at: str) -> Errors:
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    huge = False
    for kind, amounts in (("limits", limits), ("requests", requests)):
        for name in sorted(amounts):
            where = f"{at}.{kind}[{name}]"
            yield from _resource_name(name, where)
            amount = quantity(amounts[name])
            if amount < 0:
                yield invalid(where, str(amounts[name]), NON_NEGATIVE)
            if "/" in name and amount != amount.to_integral_value():
                yield invalid(where, amounts[name], "must be an integer")
            huge = huge or name.startswith("hugepages-")
            if kind == "requests" and name in limits:
                limit = quantity(limits[name])
                if amount > limit:
                    message = f"must be less than or equal to {name} limit"
                    yield invalid(f"{at}.requests", str(amounts[name]), message)
                elif amount != limit and _not_overcommittable(name):
                    yield invalid(f"{at}.requests", str(amounts[name]), f"must be equal to {name} limit")
            elif kind == "requests" and _not_overcommittable(name):
                yield required(f"{at}.limits", "Limit must be set for non overcommitable resources")
    if huge and not ({"cpu", "memory"} & (limits.keys() | requests.keys())):
        yield forbidden(at, "HugePages require cpu or memory")


def _not_overcommittable(name: str) -> bool:
    return name.startswith("hugepages-") or ("/" in name and not name.startswith("kubernetes.io/"))


def _resource_name(name: str, field: str) -> Errors:
    yield from qualified(name, field)
    if "/" not in name and _RESOURCES.fullmatch(name) is None:
        yield invalid(field, name, "must be a standard resource type or fully qualified")
        yield invalid(field, name, "must be a standard resource for containers")


def _security(context: Json, at: str) -> Errors:
    for name in ("runAsUser", "runAsGroup"):
        number = context.get(name)
        if number is not None and not 0 <= number <= 2147483647:
            yield invalid(f"{at}.{name}", number, "must be between 0 and 2147483647, inclusive")
    if context.get("privileged") and context.get("allowPrivilegeEscalation") is False:
        message = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
        yield invalid_go(at, "core.SecurityContext{}", message)
