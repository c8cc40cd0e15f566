"""Cluster addresses and node ports of Services. Every function edits the Service it is given."""

from __future__ import annotations

import ipaddress
import random
from collections.abc import Callable, Collection, Iterable
from typing import Any

from kubewright.devcluster.builtin.ip_families import allocate_families, inherit_families

__all__ = ["allocate", "inherit"]

Json = dict[str, Any]

_ADDRESSES = ipaddress.ip_network("10.96.0.0/16")
_NODE_PORTS = range(30000, 32768)
_WITH_NODE_PORTS = frozenset({"NodePort", "LoadBalancer"})


def allocate(service: Json, others: Callable[[], Iterable[Json]], rng: random.Random, *, address: bool = True) -> None:
    """Gives a Service what it needs and does not have: a cluster address (unless told not to), node ports.

    ``others`` finds all other Services, which takes longer the more there are; so it is asked for only where it counts.
    """
    spec = service["spec"]
    if spec.get("clusterIP") and not spec.get("clusterIPs"):
        spec["clusterIPs"] = [spec["clusterIP"]]
    elif spec.get("clusterIPs") and not spec.get("clusterIP"):
        spec["clusterIP"] = spec["clusterIPs"][0]
    allocate_families(spec)
    if address and spec.get("type") != "ExternalName" and not spec.get("clusterIP"):
        taken = {address for other in others() for address in (other.get("spec") or {}).get("clusterIPs") or ()}
        spec["clusterIP"] = _address(taken, rng)
        spec["clusterIPs"] = [spec["clusterIP"]]
    if spec.get("type") in _WITH_NODE_PORTS:
        used = {port.get("nodePort") for other in others() for port in (other.get("spec") or {}).get("ports") or ()}
        wanted = spec["type"] == "NodePort" or spec.get("allocateLoadBalancerNodePorts", True)
        for port in spec.get("ports") or ():
            if wanted and not port.get("nodePort"):
                port["nodePort"] = _node_port(used, rng)
            used.add(port.get("nodePort"))
        if spec["type"] == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local":
            spec.setdefault("healthCheckNodePort", _node_port(used, rng))


def _address(taken: Collection[str], rng: random.Random) -> str:
    while True:
        address = str(_ADDRESSES[rng.randrange(2, _ADDRESSES.num_addresses - 1)])
        if address not in taken:
            return address


def _node_port(used: Collection[int | None], rng: random.Random) -> int:
    free = [port for port in _NODE_PORTS if port not in used]
    return rng.choice(free)


def inherit(service: Json, old: Json) -> None:
    """Keeps what was allocated before where an update leaves it out, and drops what the new type can't have."""
    spec, before = service["spec"], old.get("spec") or {}
    kind, previous = spec.get("type"), before.get("type")
    inherit_families(spec, before)
    external = "ExternalName"
    if kind == external and previous != external:
        if spec.get("clusterIP") == before.get("clusterIP"):
            spec.pop("clusterIP", None)
            spec.pop("clusterIPs", None)
    elif kind != external and previous != external:
        _address_of(spec, before)
    if kind in _WITH_NODE_PORTS and previous in _WITH_NODE_PORTS:
        known = {(port.get("protocol"), port.get("port")): port.get("nodePort") for port in before.get("ports") or ()}
        for port in spec.get("ports") or ():
            if not port.get("nodePort") and known.get((port.get("protocol"), port.get("port"))):
                port["nodePort"] = known[port.get("protocol"), port.get("port")]
    elif kind not in _WITH_NODE_PORTS and previous in _WITH_NODE_PORTS:
        _drop_node_ports(spec, before)
    allocates = "allocateLoadBalancerNodePorts"
    if kind != "LoadBalancer" and previous == "LoadBalancer" and spec.get(allocates) == before.get(allocates):
        spec.pop(allocates, None)
    if kind == "LoadBalancer" and previous == "LoadBalancer" and "healthCheckNodePort" in before:
        spec.setdefault("healthCheckNodePort", before["healthCheckNodePort"])


def _address_of(spec: Json, before: Json) -> None:
    """ClusterIP and clusterIPs say the same; whichever of them the caller changed counts.

    Leaving out both does not keep the address: `kubewright.devcluster.builtin.network_validation` refuses it.
    """
    one, several = spec.get("clusterIP"), spec.get("clusterIPs")
    if one != before.get("clusterIP") and several in (None, before.get("clusterIPs")):
        if one:
            spec["clusterIPs"] = [one]
        else:
            spec.pop("clusterIPs", None)
    elif one is None and several:
        spec["clusterIP"] = several[0]


def _drop_node_ports(spec: Json, before: Json) -> None:
    old_ports = {port.get("nodePort") for port in before.get("ports") or ()}
    for port in spec.get("ports") or ():
        if port.get("nodePort") in old_ports:
            port.pop("nodePort", None)
    if spec.get("externalTrafficPolicy") == before.get("externalTrafficPolicy"):
        spec.pop("externalTrafficPolicy", None)
    if spec.get("healthCheckNodePort") == before.get("healthCheckNodePort"):
        spec.pop("healthCheckNodePort", None)
