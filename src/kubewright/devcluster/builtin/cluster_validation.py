"""What can be wrong with the kinds that are neither workloads nor network nor storage."""

from __future__ import annotations

import base64
import ipaddress
import json

from kubewright.devcluster.builtin.checks import (
    Errors,
    Json,
    config_key,
    immutable,
    one_of,
    qualified,
)
from kubewright.devcluster.builtin.go_values import invalid_go, strings
from kubewright.schema.errors import FieldError, forbidden, invalid, required

__all__ = [
    "autoscaler",
    "config_map",
    "core_event",
    "lease",
    "namespace",
    "new_event",
    "node",
    "priority_class",
    "secret",
]

_LIMIT = 1024 * 1024
_IMMUTABLE = "field is immutable when `immutable` is set"


def _too_big(field: str) -> FieldError:
    return FieldError("FieldValueTooLong", field, f"Too long: may not be more than {_LIMIT} bytes")


def _decoded(text: str) -> bytes:
    return base64.b64decode(text)


def config_map(obj: Json, old: Json | None) -> Errors:
    data, binary = obj.get("data") or {}, obj.get("binaryData") or {}
    for key in sorted(data):
        yield from config_key(key, f"data[{key}]")
        if key in binary:
            yield invalid(f"data[{key}]", key, "duplicate of key present in binaryData")
    for key in sorted(binary):
        yield from config_key(key, f"binaryData[{key}]")
    size = sum(len(value.encode()) for value in data.values()) + sum(len(_decoded(value)) for value in binary.values())
    if size > _LIMIT:
        yield _too_big("[]")
    yield from _frozen(obj, old, "data", "binaryData")


def _frozen(obj: Json, old: Json | None, *fields: str) -> Errors:
    if old is None or not old.get("immutable"):
        return
    if not obj.get("immutable"):
        yield forbidden("immutable", _IMMUTABLE)
    for field in fields:
        if (obj.get(field) or {}) != (old.get(field) or {}):
            yield forbidden(field, _IMMUTABLE)


_NEEDED: dict[str, tuple[str, ...]] = {
    "kubernetes.io/basic-auth": (),
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}
_ODD_PATHS = frozenset({"kubernetes.io/ssh-auth", "kubernetes.io/basic-auth"})


def secret(obj: Json, old: Json | None) -> Errors:
    data, kind = obj.get("data") or {}, obj.get("type", "")
    for key in sorted(data):
        yield from config_key(key, f"data[{key}]")
    if sum(len(_decoded(value)) for value in data.values()) > _LIMIT:
        yield _too_big("data")
    for key in _NEEDED.get(kind, ()):
        if key not in data:
            # the server's path for some of them has a formatting mistake that clients have come to know
            yield required(f"data[%s][{key}]" if kind in _ODD_PATHS else f"data[{key}]")
        elif "docker" in kind:
            yield from _docker_config(_decoded(data[key]), f"data[{key}]")
    if kind == "kubernetes.io/basic-auth" and not data.keys() & {"username", "password"}:
        yield required("data[%s][username]")
        yield required("data[%s][password]")
    account = "kubernetes.io/service-account.name"
    annotations = (obj.get("metadata") or {}).get("annotations") or {}
    if kind == "kubernetes.io/service-account-token" and not annotations.get(account):
        yield required(f"metadata.annotations[{account}]")
    if old is not None:
        yield from immutable(kind, old.get("type"), "type")
    yield from _frozen(obj, old, "data")


def _docker_config(content: bytes, field: str) -> Errors:
    try:
        json.loads(content)
    except ValueError:
        first = content[:1].decode(errors="replace")
        message = (
            f"invalid character '{first}' looking for beginning of value" if first else "unexpected end of JSON input"
        )
        yield invalid(field, "<secret contents redacted>", message)


def namespace(obj: Json, old: Json | None) -> Errors:
    if old is not None:
        return
    for finalizer in (obj.get("spec") or {}).get("finalizers") or ():
        yield from _namespace_finalizer(finalizer, "spec.finalizers")


def namespace_finalizers(obj: Json) -> Errors:
    """What may be written by the finalize subresource."""
    for index, finalizer in enumerate((obj.get("spec") or {}).get("finalizers") or ()):
        yield from _namespace_finalizer(finalizer, f"spec.finalizers[{index}]")


def _namespace_finalizer(finalizer: str, where: str) -> Errors:
    yield from qualified(finalizer, where)
    if "/" not in finalizer and finalizer != "kubernetes":
        yield invalid(where, finalizer, "name is neither a standard finalizer name nor is it fully qualified")


def node(obj: Json, old: Json | None) -> Errors:
    spec = obj.get("spec") or {}
    for index, taint in enumerate(spec.get("taints") or ()):
        where = f"metadata.taints[{index}]"
        yield from qualified(taint.get("key", ""), f"{where}.key")
        if not taint.get("effect"):
            yield required(f"{where}.effect")
        else:
            yield from one_of(taint, "effect", where, ("NoSchedule", "PreferNoSchedule", "NoExecute"))
    cidrs = spec.get("podCIDRs") or []
    for index, cidr in enumerate(cidrs):
        try:
            ipaddress.ip_network(cidr, strict=False)
        except ValueError:
            yield invalid_go(f"spec.podCIDRs[{index}]", strings(cidrs), "must be valid CIDR")
    if old is not None:
        before = (old.get("spec") or {}).get("podCIDRs") or []
        if before and before != cidrs:
            yield forbidden("spec.podCIDRs", 'node updates may not change podCIDR except from "" to valid')


def core_event(obj: Json, _old: Json | None) -> Errors:
    home = (obj.get("metadata") or {}).get("namespace", "")
    regarded = (obj.get("involvedObject") or {}).get("namespace", "")
    if (regarded and regarded != home) or (
        not regarded and home not in {"", "default"} and obj.get("eventTime") is None
    ):
        yield invalid("involvedObject.namespace", regarded, "does not match event.namespace")
    if obj.get("eventTime") is not None:
        yield from _reported(obj, "reportingComponent")


def new_event(obj: Json, old: Json | None) -> Errors:
    if old is not None:
        return
    home = (obj.get("metadata") or {}).get("namespace", "")
    regarded = (obj.get("regarding") or {}).get("namespace", "")
    if regarded and regarded != home:
        yield invalid("regarding.namespace", regarded, "does not match event.namespace")
    if obj.get("eventTime") is None:
        yield required("eventTime")
    else:
        yield from _reported(obj, "reportingController")
    kind = obj.get("type", "")
    if kind not in {"Normal", "Warning"}:
        yield invalid("type", kind, f"has invalid value: {kind}")


def _reported(obj: Json, component: str) -> Errors:
    name = obj.get(component, "")
    if not name:
        yield required("reportingController")
    yield from qualified(name, "reportingController")
    for field in ("reportingInstance", "action", "reason"):
        if not obj.get(field):
            yield required(field)
        elif field != "reason" and len(obj[field]) > 128:
            yield invalid(field, obj[field], "can have at most 128 characters")
    note = obj.get("note") or obj.get("message") or ""
    if len(note) > 1024:
        yield invalid("note", note, "can have at most 1024 characters")


def lease(obj: Json, _old: Json | None) -> Errors:
    spec = obj.get("spec") or {}
    seconds, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
    if seconds is not None and seconds <= 0:
        yield invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0")
    if transitions is not None and transitions < 0:
        yield invalid("spec.leaseTransitions", transitions, "must to greater or equal than 0")


def priority_class(obj: Json, old: Json | None) -> Errors:
    value, name = obj.get("value", 0), (obj.get("metadata") or {}).get("name", "")
    highest = 1000000000
    if value > highest and not name.startswith("system-"):
        yield forbidden("value", f"maximum allowed value of a user defined priority is {highest}")
    if old is not None and value != old.get("value", 0):
        yield forbidden("Value", "may not be changed in an update.")


def autoscaler(obj: Json, _old: Json | None) -> Errors:
    spec = obj.get("spec") or {}
    fewest, most = spec.get("minReplicas"), spec.get("maxReplicas", 0)
    if fewest is not None and fewest < 1:
        yield invalid("spec.minReplicas", fewest, "must be greater than or equal to 1")
    if most < 1:
        yield invalid("spec.maxReplicas", most, "must be greater than 0")
    if fewest is not None and most < fewest:
        yield invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`")
    target = spec.get("scaleTargetRef") or {}
    for field in ("kind", "name"):
        if not target.get(field):
            yield required(f"spec.scaleTargetRef.{field}")
