"""What can be wrong with Services and the kinds around them."""

from __future__ import annotations

import ipaddress

from kubewright.devcluster.builtin.checks import (
    Errors,
    Json,
    immutable,
    ip_address,
    labels,
    named,
    one_of,
    percent_or_count,
    port,
    port_reference,
    selector,
)
from kubewright.devcluster.builtin.go_values import invalid_go, strings
from kubewright.devcluster.builtin.ip_families import family_errors
from kubewright.devcluster.naming import dns_label_errors, dns_subdomain_errors
from kubewright.schema.errors import FieldError, duplicate, forbidden, invalid, not_supported, required
from kubewright.schema.go_text import quoted

__all__ = ["disruption_budget", "endpoint_slice", "endpoints", "ingress", "network_policy", "service"]

_PROTOCOLS = ("SCTP", "TCP", "UDP")
_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")


def service(obj: Json, old: Json | None) -> Errors:
    spec = obj.get("spec") or {}
    kind, addresses = spec.get("type", ""), spec.get("clusterIPs") or []
    headless = addresses[:1] == ["None"]
    ports = spec.get("ports") or []
    if not ports and not headless and kind != "ExternalName":
        yield required("spec.ports")
    if kind in {"LoadBalancer", "NodePort"} and headless:
        yield invalid("spec.clusterIPs[0]", "None", f"may not be set to 'None' for {kind} services")
    if kind == "ExternalName":
        if addresses:
            yield forbidden("spec.clusterIPs", "may not be set for ExternalName services")
        name = spec.get("externalName", "")
        yield from named(name.removesuffix("."), "spec.externalName", dns_subdomain_errors)
    yield from _ports(ports, headless=headless)
    yield from labels(spec.get("selector"), "spec.selector")
    yield from _affinity(spec)
    for index, address in enumerate(addresses):
        if address != "None":
            yield from ip_address(address, f"spec.clusterIPs[{index}]")
    for index, address in enumerate(spec.get("externalIPs") or ()):
        wrong = list(ip_address(address, f"spec.externalIPs[{index}]"))
        yield from wrong
        if not wrong and ipaddress.ip_address(address).is_loopback:
            yield invalid(f"spec.externalIPs[{index}]", address, "may not be in the loopback range (127.0.0.0/8)")
    yield from _type(spec, kind)
    yield from family_errors(spec)
    if old is not None:
        yield from _service_update(spec, old.get("spec") or {})


def _ports(ports: list[Json], *, headless: bool) -> Errors:
    names: set[str] = set()
    for index, each in enumerate(ports):
        where = f"spec.ports[{index}]"
        name = each.get("name", "")
        if not name and len(ports) > 1:
            yield required(f"{where}.name")
        elif name:
            yield from named(name, f"{where}.name", dns_label_errors)
            if name in names:
                yield duplicate(f"{where}.name", name)
            names.add(name)
        yield from port(each.get("port", 0), f"{where}.port")
        yield from one_of(each, "protocol", where, _PROTOCOLS)
        target = each.get("targetPort", 0)
        yield from port_reference(target, f"{where}.targetPort")
        if headless and each.get("appProtocol") == "":
            yield required(f"{where}.appProtocol")


def _affinity(spec: Json) -> Errors:
    affinity = spec.get("sessionAffinity", "")
    if not affinity:
        yield required("spec.sessionAffinity")
    else:
        yield from one_of(spec, "sessionAffinity", "spec", ("ClientIP", "None"))
    if affinity == "ClientIP":
        seconds = ((spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}).get("timeoutSeconds", 0)
        if not 0 < seconds <= 86400:
            where = "spec.sessionAffinityConfig.clientIP.timeoutSeconds"
            yield invalid(where, seconds, "must be greater than 0 and less than 86400")
    elif affinity == "None" and spec.get("sessionAffinityConfig") is not None:
        yield forbidden(
            "spec.sessionAffinityConfig",
            f"must not be set when session affinity is {quoted('None')}",
        )


def _type(spec: Json, kind: str) -> Errors:
    if not kind:
        yield required("spec.type")
    elif kind not in _TYPES:
        yield not_supported("spec.type", kind, _TYPES)
    ports = spec.get("ports") or []
    if kind == "ClusterIP":
        for index, each in enumerate(ports):
            if each.get("nodePort"):
                where = f"spec.ports[{index}].nodePort"
                yield forbidden(where, "may not be used when `type` is 'ClusterIP'")
    seen: set[tuple[str, int]] = set()
    for index, each in enumerate(ports):
        key = (each.get("protocol", ""), each.get("port", 0))
        if key in seen:
            shown = (
                f'core.ServicePort{{Name:"", Protocol:{quoted(key[0])}, AppProtocol:(*string)(nil), Port:{key[1]}, '
                'TargetPort:intstr.IntOrString{Type:0, IntVal:0, StrVal:""}, NodePort:0}'
            )
            yield FieldError("FieldValueDuplicate", f"spec.ports[{index}]", f"Duplicate value: {shown}")
        seen.add(key)
    yield from _source_ranges(spec.get("loadBalancerSourceRanges"), kind)
    if policy := spec.get("externalTrafficPolicy"):
        where = "spec.externalTrafficPolicy"
        if kind not in {"NodePort", "LoadBalancer"}:
            yield invalid(where, policy, "ExternalTrafficPolicy can only be set on NodePort and LoadBalancer service")
        elif policy not in {"Cluster", "Local"}:
            yield invalid(where, policy, "ExternalTrafficPolicy must be empty, Cluster or Local")
    if spec.get("internalTrafficPolicy") is not None:
        yield from one_of(spec, "internalTrafficPolicy", "spec", ("Cluster", "Local"))


def _source_ranges(ranges: list[str] | None, kind: str) -> Errors:
    if not ranges:
        return
    where = "spec.LoadBalancerSourceRanges"
    if kind != "LoadBalancer":
        yield forbidden(where, "may only be used when `type` is 'LoadBalancer'")
    for each in ranges:
        try:
            ipaddress.ip_interface(each.strip())
            masked = "/" in each
        except ValueError:
            masked = False
        if not masked:
            shown = f"[{' '.join(ranges)}]"
            yield invalid(where, shown, "must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24 ")
            return


def _service_update(spec: Json, before: Json) -> Errors:
    external = "ExternalName"
    if spec.get("type") == external or before.get("type") == external or not before.get("clusterIPs"):
        return
    new = spec.get("clusterIPs")
    where = "spec.clusterIPs[0]"
    if not new:
        yield invalid_go(where, strings(new), "primary clusterIP can not be unset")
    elif new[0] != before["clusterIPs"][0]:
        yield invalid_go(where, strings(new), "may not change once set")


def endpoints(obj: Json, _old: Json | None) -> Errors:
    for index, subset in enumerate(obj.get("subsets") or ()):
        where = f"subsets[{index}]"
        if not subset.get("addresses") and not subset.get("notReadyAddresses"):
            yield required(where, "must specify `addresses` or `notReadyAddresses`")
        for key in ("addresses", "notReadyAddresses"):
            for number, address in enumerate(subset.get(key) or ()):
                field = f"{where}.{key}[{number}].ip"
                wrong = list(ip_address(address.get("ip", ""), field))
                yield from wrong
                if wrong:
                    yield invalid(field, address.get("ip", ""), "must be a valid IP address")
        several = len(subset.get("ports") or ()) > 1
        for number, each in enumerate(subset.get("ports") or ()):
            field = f"{where}.ports[{number}]"
            if several and not each.get("name"):
                yield required(f"{field}.name")
            elif each.get("name"):
                yield from named(each["name"], f"{field}.name", dns_label_errors)
            yield from port(each.get("port", 0), f"{field}.port")
            yield from one_of(each, "protocol", field, _PROTOCOLS)


def endpoint_slice(obj: Json, old: Json | None) -> Errors:
    kind = obj.get("addressType", "")
    if not kind:
        yield required("addressType")
    else:
        yield from one_of(obj, "addressType", "", ("FQDN", "IPv4", "IPv6"))
    for index, endpoint in enumerate(obj.get("endpoints") or ()):
        where = f"endpoints[{index}].addresses"
        if not endpoint.get("addresses"):
            yield required(where, "must contain at least 1 address")
        for number, address in enumerate(endpoint.get("addresses") or ()):
            yield from _slice_address(address, f"{where}[{number}]", kind)
    names: set[str] = set()
    for index, each in enumerate(obj.get("ports") or ()):
        field = f"ports[{index}]"
        name = each.get("name", "")
        if name:
            yield from named(name, f"{field}.name", dns_label_errors)
        if name in names:
            yield duplicate(f"{field}.name", name)
        names.add(name)
        yield from one_of(each, "protocol", field, _PROTOCOLS)
    if old is not None:
        yield from immutable(kind, old.get("addressType"), "addressType")


def _slice_address(address: str, field: str, kind: str) -> Errors:
    if kind == "FQDN":
        yield from named(address, field, dns_subdomain_errors)
        return
    if kind not in {"IPv4", "IPv6"}:
        return
    try:
        fits = ipaddress.ip_address(address).version == int(kind[-1])
    except ValueError:
        fits = False
    if not fits:
        yield invalid(field, address, f"must be a valid {kind} address")


def ingress(obj: Json, _old: Json | None) -> Errors:
    spec = obj.get("spec") or {}
    rules = spec.get("rules") or []
    if not rules and spec.get("defaultBackend") is None:
        message = "either `defaultBackend` or `rules` must be specified"
        yield invalid_go("spec", "[]networking.IngressRule(nil)", message)
    for index, rule in enumerate(rules):
        where = f"spec.rules[{index}]"
        if host := rule.get("host", ""):
            yield from named(host.removeprefix("*."), f"{where}.host", dns_subdomain_errors)
        for number, path in enumerate((rule.get("http") or {}).get("paths") or ()):
            yield from _ingress_path(path, f"{where}.http.paths[{number}]")
    if (backend := spec.get("defaultBackend")) is not None:
        yield from _backend(backend, "spec.defaultBackend")


def _ingress_path(path: Json, at: str) -> Errors:
    kind = path.get("pathType")
    if not kind:
        yield required(f"{at}.pathType", "pathType must be specified")
        return
    yield from one_of(path, "pathType", at, ("Exact", "ImplementationSpecific", "Prefix"))
    text = path.get("path", "")
    if kind in {"Exact", "Prefix"} and not text.startswith("/"):
        yield invalid(f"{at}.path", text, "must be an absolute path")
    yield from _backend(path.get("backend") or {}, f"{at}.backend")


def _backend(backend: Json, at: str) -> Errors:
    target = backend.get("service")
    if target is None:
        if backend.get("resource") is None:
            yield required(at, "port name or number is required")
        return
    if not target.get("name"):
        yield required(f"{at}.service.name")
    number, name = (target.get("port") or {}).get("number", 0), (target.get("port") or {}).get("name", "")
    if number and name:
        yield invalid(at, "", "cannot set both port name & port number")
    elif number:
        yield from port(number, f"{at}.service.port.number")
    elif not name:
        yield required(at, "port name or number is required")


def network_policy(obj: Json, _old: Json | None) -> Errors:
    spec = obj.get("spec") or {}
    yield from selector(spec.get("podSelector"), "spec.podSelector")
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(direction) or ()):
            for number, peer in enumerate(rule.get(peers) or ()):
                where = f"spec.{direction}[{index}].{peers}[{number}]"
                for name in ("podSelector", "namespaceSelector"):
                    yield from selector(peer.get(name), f"{where}.{name}")
    for index, each in enumerate(spec.get("policyTypes") or ()):
        if each not in {"Ingress", "Egress"}:
            yield not_supported(f"spec.policyTypes[{index}]", each, ("Ingress", "Egress"))


def disruption_budget(obj: Json, _old: Json | None) -> Errors:
    spec = obj.get("spec") or {}
    fewest, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    if fewest is not None and most is not None:
        shown = "policy.PodDisruptionBudgetSpec{}"
        yield invalid_go("spec", shown, "minAvailable and maxUnavailable cannot be both set")
    for name, value in (("minAvailable", fewest), ("maxUnavailable", most)):
        if value is not None:
            yield from percent_or_count(value, f"spec.{name}")
    yield from selector(spec.get("selector"), "spec.selector")
