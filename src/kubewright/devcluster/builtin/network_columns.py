"""The columns of Services and the kinds around them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from kubewright.devcluster.builtin.printing import NONE, age_of, at, few, labels, listed, selected

__all__ = ["DISRUPTION_BUDGET", "ENDPOINTS", "ENDPOINT_SLICE", "INGRESS", "INGRESS_CLASS", "NETWORK_POLICY", "SERVICE"]

Json = dict[str, Any]


def _balancers(obj: Json) -> list[str]:
    ingress = at(obj, "status", "loadBalancer", "ingress") or ()
    return [each.get("ip") or each.get("hostname") or "" for each in ingress]


def _external(obj: Json) -> str:
    spec = obj.get("spec") or {}
    addresses = list(spec.get("externalIPs") or ())
    match spec.get("type"):
        case "ExternalName":
            return str(spec.get("externalName", ""))
        case "LoadBalancer":
            return ",".join([*_balancers(obj), *addresses]) or "<pending>"
    return ",".join(addresses) or NONE


def _port(port: Json) -> str:
    outside = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port.get('port', 0)}{outside}/{port.get('protocol', '')}"


def _service(obj: Json, now: datetime) -> list[Any]:
    return [
        at(obj, "spec", "type") or "",
        (at(obj, "spec", "clusterIPs") or [NONE])[0],
        _external(obj),
        ",".join(map(_port, at(obj, "spec", "ports") or ())) or NONE,
        age_of(obj, now),
        labels(at(obj, "spec", "selector")),
    ]


def _reached(obj: Json) -> Iterator[str]:
    for subset in obj.get("subsets") or ():
        ports: list[Json] = subset.get("ports") or [{}]
        for port in ports:
            for address in subset.get("addresses") or ():
                yield f"{address['ip']}:{port['port']}" if port else address["ip"]


def _slice_ports(obj: Json) -> str:
    ports = obj.get("ports") or ()
    shown = (str(port["port"]) if port.get("port") is not None else port.get("name") or "*" for port in ports)
    return few(shown) or "<unset>"


def _endpoint_slice(obj: Json, now: datetime) -> list[Any]:
    addresses = (address for each in obj.get("endpoints") or () for address in each.get("addresses") or ())
    return [obj.get("addressType", ""), _slice_ports(obj), few(addresses) or "<unset>", age_of(obj, now)]


def _ingress(obj: Json, now: datetime) -> list[Any]:
    hosts = [rule["host"] for rule in at(obj, "spec", "rules") or () if rule.get("host")]
    return [
        at(obj, "spec", "ingressClassName") or NONE,
        few(hosts) or "*",
        ",".join(_balancers(obj)),
        "80, 443" if at(obj, "spec", "tls") else "80",
        age_of(obj, now),
    ]


def _ingress_class(obj: Json, now: datetime) -> list[Any]:
    parameters = at(obj, "spec", "parameters")
    shown = NONE
    if parameters:
        group = f".{parameters['apiGroup']}" if parameters.get("apiGroup") else ""
        shown = f"{parameters.get('kind', '')}{group}/{parameters.get('name', '')}"
    return [at(obj, "spec", "controller") or "", shown, age_of(obj, now)]


def _budget(obj: Json, now: datetime) -> list[Any]:
    bounds = (at(obj, "spec", name) for name in ("minAvailable", "maxUnavailable"))
    shown = ("N/A" if bound is None else str(bound) for bound in bounds)
    return [*shown, at(obj, "status", "disruptionsAllowed") or 0, age_of(obj, now)]


SERVICE = listed("Type", "Cluster-IP", "External-IP", "Port(s)", "Age", wide=("Selector",), cells=_service)
ENDPOINTS = listed("Endpoints", "Age", cells=lambda obj, now: [few(_reached(obj)) or NONE, age_of(obj, now)])
ENDPOINT_SLICE = listed("AddressType", "Ports", "Endpoints", "Age", cells=_endpoint_slice)
INGRESS = listed("Class", "Hosts", "Address", "Ports", "Age", cells=_ingress)
INGRESS_CLASS = listed("Controller", "Parameters", "Age", cells=_ingress_class)
NETWORK_POLICY = listed(
    "Pod-Selector", "Age", cells=lambda obj, now: [selected(at(obj, "spec", "podSelector")), age_of(obj, now)]
)
DISRUPTION_BUDGET = listed("Min Available", "Max Unavailable", "Allowed Disruptions:integer", "Age", cells=_budget)
