"""IP families and traffic policies of Services, as servers since 1.26 fill them in where the cluster has IPv4 alone."""

from __future__ import annotations

from typing import Any

import pytest

SERVICES = "/api/v1/namespaces/default/services"
PORTS = {"ports": [{"port": 80}]}
SELECTOR = {"selector": {"a": "b"}}


@pytest.mark.parametrize(
    ("spec", "policy", "families", "traffic"),
    [
        (PORTS, "SingleStack", ["IPv4"], "Cluster"),
        ({**PORTS, "type": "NodePort"}, "SingleStack", ["IPv4"], "Cluster"),
        ({**PORTS, "type": "LoadBalancer", "internalTrafficPolicy": "Local"}, "SingleStack", ["IPv4"], "Local"),
        ({**PORTS, "ipFamilyPolicy": "PreferDualStack"}, "PreferDualStack", ["IPv4"], "Cluster"),
        ({"clusterIP": "None", **SELECTOR}, "SingleStack", ["IPv4"], "Cluster"),
        ({"clusterIP": "None"}, "RequireDualStack", ["IPv4", "IPv6"], "Cluster"),
        ({"clusterIP": "None", "ipFamilies": ["IPv6"]}, "RequireDualStack", ["IPv6", "IPv4"], "Cluster"),
        ({"clusterIP": "None", "ipFamilyPolicy": "SingleStack"}, "SingleStack", ["IPv4"], "Cluster"),
        ({"type": "ExternalName", "externalName": "example.dev"}, None, None, None),
    ],
)
def test_families_and_policies_are_filled_in(
    api: Any, spec: dict[str, Any], policy: str | None, families: list[str] | None, traffic: str | None
) -> None:
    reply = api.post(SERVICES, {"metadata": {"name": "a"}, "spec": spec})
    assert reply.status == 201
    found = reply.body["spec"]
    assert (found.get("ipFamilyPolicy"), found.get("ipFamilies")) == (policy, families)
    assert found.get("internalTrafficPolicy") == traffic


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({**PORTS, "ipFamilyPolicy": "RequireDualStack"}, "this cluster is not configured for dual-stack services"),
        (
            {**PORTS, "ipFamilies": ["IPv6"]},
            'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
        ),
        ({**PORTS, "internalTrafficPolicy": "Zone"}, 'spec.internalTrafficPolicy: Unsupported value: "Zone"'),
        ({**PORTS, "ipFamilyPolicy": "Zone"}, 'spec.ipFamilyPolicy: Unsupported value: "Zone"'),
    ],
)
def test_what_this_cluster_can_not_do_is_refused(api: Any, spec: dict[str, Any], message: str) -> None:
    reply = api.post(SERVICES, {"metadata": {"name": "a"}, "spec": spec})
    assert (reply.status, message in reply.message) == (422, True)


def test_an_update_keeps_the_families_unless_the_service_becomes_an_external_name(api: Any) -> None:
    made = api.post(SERVICES, {"metadata": {"name": "a"}, "spec": {"clusterIP": "None"}}).body
    left = {key: value for key, value in made["spec"].items() if not key.startswith("ipFamil")}
    kept = api.put(f"{SERVICES}/a", {**made, "spec": left}).body["spec"]
    assert (kept["ipFamilyPolicy"], kept["ipFamilies"]) == ("RequireDualStack", ["IPv4", "IPv6"])
    change = {"spec": {"type": "ExternalName", "externalName": "example.dev", "clusterIP": None, "clusterIPs": None}}
    external = api.patch(f"{SERVICES}/a", change).body["spec"]
    assert "ipFamilyPolicy" not in external
    assert "ipFamilies" not in external


def test_a_load_balancer_may_do_without_node_ports(api: Any) -> None:
    spec = {"type": "LoadBalancer", "ports": [{"port": 80}]}
    with_ports = api.post(SERVICES, {"metadata": {"name": "a"}, "spec": spec}).body["spec"]
    assert with_ports["allocateLoadBalancerNodePorts"] is True
    assert with_ports["ports"][0]["nodePort"] >= 30000
    without = {**spec, "allocateLoadBalancerNodePorts": False}
    made = api.post(SERVICES, {"metadata": {"name": "b"}, "spec": without}).body["spec"]
    assert "nodePort" not in made["ports"][0]
    internal = api.patch(f"{SERVICES}/a", {"spec": {"type": "ClusterIP"}}).body["spec"]
    assert "allocateLoadBalancerNodePorts" not in internal


@pytest.mark.parametrize(
    ("kind", "ranges", "why"),
    [
        ("ClusterIP", ["10.0.0.0/8"], "Forbidden: may only be used when `type` is 'LoadBalancer'"),
        (
            "LoadBalancer",
            ["10.0.0.0/8", "1.2.3.4"],
            'Invalid value: "[10.0.0.0/8 1.2.3.4]": must be a list of IP ranges',
        ),
        ("LoadBalancer", ["x"], 'Invalid value: "[x]": must be a list of IP ranges'),
        ("LoadBalancer", ["10.0.0.0/8", " 1.2.3.4/32 "], ""),
    ],
)
def test_source_ranges_are_those_of_load_balancers(api: Any, kind: str, ranges: list[str], why: str) -> None:
    spec = {"type": kind, "ports": [{"port": 80}], "loadBalancerSourceRanges": ranges}
    reply = api.post(SERVICES, {"metadata": {"name": "a"}, "spec": spec})
    assert reply.status == (422 if why else 201)
    assert not why or f"spec.LoadBalancerSourceRanges: {why}" in reply.message
