"""Discovery: both forms of what a server tells, and how kinds are looked up in it."""

from __future__ import annotations

from typing import Any

import pytest

from kubewright.api import DecodeError, resource_info
from kubewright.client import Client, HttpResponse, TransportError, UnknownKind
from tests.clocks import SetClock
from tests.unit.client.conftest import Script, answer, refusal

LEGACY: dict[str, Any] = {
    "kind": "APIResourceList",
    "groupVersion": "example.com/v1",
    "resources": [
        {"name": "widgets", "singularName": "widget", "namespaced": True, "kind": "Widget", "verbs": ["get", "list"],
         "shortNames": ["wd"], "categories": ["all"]},
        {"name": "widgets/status", "singularName": "", "namespaced": True, "kind": "Widget", "verbs": ["get", "patch"]},
        {"name": "widgets/scale", "singularName": "", "namespaced": True, "kind": "Scale", "group": "autoscaling",
         "version": "v1", "verbs": ["get"]},
        {"name": "zones", "singularName": "", "namespaced": False, "kind": "Zone", "verbs": None},
    ],
}  # fmt: skip
AGGREGATED: dict[str, Any] = {
    "kind": "APIGroupDiscoveryList",
    "apiVersion": "apidiscovery.k8s.io/v2",
    "items": [
        {
            "metadata": {"name": "example.com"},
            "versions": [
                {
                    "version": "v1",
                    "freshness": "Current",
                    "resources": [
                        {
                            "resource": "widgets",
                            "responseKind": {"group": "", "version": "", "kind": "Widget"},
                            "scope": "Namespaced",
                            "singularResource": "widget",
                            "verbs": ["get", "list"],
                            "shortNames": ["wd"],
                            "categories": ["all"],
                            "subresources": [
                                {
                                    "subresource": "status",
                                    "responseKind": {"group": "example.com", "version": "v1", "kind": "Widget"},
                                    "verbs": ["get", "patch"],
                                },
                                {
                                    "subresource": "scale",
                                    "responseKind": {"group": "autoscaling", "version": "v1", "kind": "Scale"},
                                    "verbs": ["get"],
                                },
                                {"subresource": "proxy", "responseKind": None},
                            ],
                        },
                        {"resource": "zones", "responseKind": {"kind": "Zone"}, "scope": "Cluster"},
                        {"resource": "odd", "responseKind": None, "scope": "Cluster"},
                    ],
                },
                {
                    "version": "v1beta1",
                    "freshness": "Current",
                    "resources": [{"resource": "widgets", "responseKind": {"kind": "Widget"}, "scope": "Namespaced"}],
                },
            ],
        },
        {"metadata": {"name": "down.example.com"}, "versions": [{"version": "v2", "freshness": "Stale"}]},
    ],
}


NO_CORE = {"kind": "APIGroupDiscoveryList", "items": []}
GROUPS = {
    "kind": "APIGroupList",
    "groups": [
        {
            "name": "example.com",
            "versions": [{"groupVersion": "example.com/v1beta1"}, {"groupVersion": "example.com/v1"}],
            "preferredVersion": {"groupVersion": "example.com/v1"},
        },
        {
            "name": "down.example.com",
            "versions": [{"groupVersion": "down.example.com/v2"}],
            "preferredVersion": {"groupVersion": "down.example.com/v2"},
        },
    ],
}
BETA = {"groupVersion": "example.com/v1beta1", "resources": [{"name": "widgets", "kind": "Widget", "namespaced": True}]}
PODS = {"groupVersion": "v1", "resources": [{"name": "pods", "kind": "Pod", "namespaced": True}]}


async def test_a_kind_takes_one_small_request_and_is_remembered(client: Client, script: Script) -> None:
    script.will_answer(answer(LEGACY))
    widget = await client.discovery.kind("example.com/v1", "Widget")
    assert script.last.path == "/apis/example.com/v1"
    assert (widget.info.plural, widget.info.singular, widget.info.scope) == ("widgets", "widget", "Namespaced")
    assert (widget.info.short_names, widget.info.categories, widget.verbs) == (("wd",), ("all",), ("get", "list"))
    assert widget.info.has_status
    assert [(each.name, each.gvk.api_version, each.verbs) for each in widget.subresources] == [
        ("status", "example.com/v1", ("get", "patch")),
        ("scale", "autoscaling/v1", ("get",)),
    ]
    zone = await client.discovery.kind("example.com/v1", "Zone")
    assert (zone.info.scope, zone.info.singular, zone.info.has_status, zone.verbs) == ("Cluster", "zone", False, ())
    assert zone.subresource("status") is None
    assert len(script.requests) == 1
    script.will_answer(answer(PODS))
    await client.discovery.kind("v1", "Pod")
    assert script.last.path == "/api/v1"


async def test_a_kind_that_is_not_known_is_asked_for_once_more(client: Client, script: Script) -> None:
    script.will_answer(answer(PODS | {"resources": []}), answer(PODS))
    with pytest.raises(UnknownKind, match="the server has no kind 'Pod' in v1; it has: none"):
        await client.discovery.kind("v1", "Pod")
    assert (await client.discovery.kind("v1", "Pod")).info.plural == "pods"
    script.will_answer(refusal(404, "NotFound"))
    with pytest.raises(
        UnknownKind, match=r"no example.org/v1, so no Gizmo of it: is its CustomResourceDefinition installed"
    ):
        await client.discovery.kind("example.org/v1", "Gizmo")


async def test_everything_is_read_in_two_requests_where_the_server_can(client: Client, script: Script) -> None:
    script.will_answer(answer(NO_CORE), answer(AGGREGATED))
    found = await client.discovery.resources()
    assert [request.path for request in script.requests] == ["/api", "/apis"]
    assert script.last.headers["accept"].startswith(
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    )
    assert [(each.info.plural, each.info.api_version) for each in found] == [
        ("widgets", "example.com/v1"),
        ("zones", "example.com/v1"),
        ("widgets", "example.com/v1beta1"),
    ]
    script.will_answer(answer(LEGACY))
    by_old_form = Client(script)
    assert await by_old_form.discovery.kind("example.com/v1", "Widget") == found[0], "both forms say the same"
    assert client.discovery.unavailable == {"down.example.com/v2": "the API server that has it does not answer"}


async def test_an_older_server_is_asked_version_by_version(client: Client, script: Script) -> None:
    script.will_answer(
        answer({"kind": "APIVersions", "versions": ["v1"]}),
        answer(GROUPS),
        answer(PODS),
        answer(LEGACY),
        answer(BETA),
        refusal(503, "ServiceUnavailable", "service unavailable"),
    )
    found = await client.discovery.resources()
    assert [f"{each.info.plural}.{each.info.api_version}" for each in found] == [
        "pods.v1",
        "widgets.example.com/v1",
        "zones.example.com/v1",
        "widgets.example.com/v1beta1",
    ]
    assert client.discovery.unavailable == {"down.example.com/v2": "service unavailable"}
    assert await client.discovery.resources() == found
    assert len(script.requests) == 6


@pytest.mark.parametrize(
    ("each", "error"),
    [(TransportError("connection refused", may_be_applied=False), TransportError), (answer(b"<html>"), DecodeError)],
)
async def test_an_older_server_that_goes_or_talks_nonsense_meanwhile_is_told_of_as_any(
    client: Client, script: Script, each: TransportError | HttpResponse, error: type[Exception]
) -> None:
    script.will_answer(answer({"kind": "APIVersions", "versions": ["v1"]}), answer(GROUPS), *[each] * 20)
    with pytest.raises(error):
        await client.discovery.resources()


@pytest.mark.parametrize(
    ("name", "api_version"),
    [
        ("widgets", "example.com/v1"),
        ("widget", "example.com/v1"),
        ("Widget", "example.com/v1"),
        ("wd", "example.com/v1"),
        ("widgets.example.com", "example.com/v1"),
        ("widgets.v1beta1.example.com", "example.com/v1beta1"),
    ],
)
async def test_a_resource_has_many_names(client: Client, script: Script, name: str, api_version: str) -> None:
    script.will_answer(answer(NO_CORE), answer(AGGREGATED))
    found = await client.discovery.resource(name)
    assert (found.info.plural, found.info.api_version) == ("widgets", api_version)


async def test_a_plural_goes_before_another_groups_short_name(client: Client, script: Script) -> None:
    def group(name: str, plural: str, *short: str) -> dict[str, Any]:
        resource = {"resource": plural, "responseKind": {"kind": plural.title()}, "shortNames": [*short]}
        return {"metadata": {"name": name}, "versions": [{"version": "v1", "resources": [resource]}]}

    script.will_answer(
        answer(NO_CORE),
        answer({"kind": "APIGroupDiscoveryList", "items": [group("a", "long", "wd"), group("b", "wd")]}),
    )
    assert (await client.discovery.resource("wd")).info.group == "b"


async def test_a_resource_that_is_not_there_is_asked_for_again_and_then_told(client: Client, script: Script) -> None:
    everything = [answer(NO_CORE), answer(AGGREGATED)]
    script.will_answer(*everything, *everything)
    with pytest.raises(
        UnknownKind, match=r"no resource 'widgits.example.com': did you mean widgets.example.com\?"
    ) as told:
        await client.discovery.resource("widgits.example.com")
    assert "could not tell what is in down.example.com/v2 (the API server that has it does not answer)" in str(
        told.value
    )
    script.will_answer(*everything)
    with pytest.raises(UnknownKind, match=r"no resource 'qqq': is its CustomResourceDefinition installed\?"):
        await client.discovery.resource("qqq")
    assert not script.answers


async def test_what_was_forgotten_is_asked_for_again(client: Client, script: Script) -> None:
    script.will_answer(answer(PODS), answer(PODS))
    await client.discovery.kind("v1", "Pod")
    client.discovery.forget()
    await client.discovery.kind("v1", "Pod")
    assert not script.answers


async def test_a_kind_that_came_back_another_is_found_so_after_ten_minutes(script: Script) -> None:
    clock = SetClock()
    client = Client(script, clock=clock)
    (widgets, *others) = LEGACY["resources"]
    changed = {**LEGACY, "resources": [{**widgets, "namespaced": False}, *others]}
    script.will_answer(answer(LEGACY), answer(changed))
    for seconds, namespaced in ((0, True), (599, True), (1, False)):
        clock.move(seconds)
        assert (await client.discovery.kind("example.com/v1", "Widget")).info.namespaced is namespaced
    assert not script.answers


async def test_a_kind_by_discovery_is_the_one_that_is_declared_by_hand(client: Client, script: Script) -> None:
    from kubewright.api import unstructured

    script.will_answer(answer(LEGACY))
    kind = await client.unstructured("example.com/v1", "Widget")
    assert kind is unstructured("example.com/v1", "Widget", plural="widgets")
    assert resource_info(kind).has_status


async def test_nonsense_is_named(client: Client, script: Script) -> None:
    script.will_answer(answer(b"<html>"))
    with pytest.raises(DecodeError, match="the server's description of its API does not fit"):
        await client.discovery.kind("v1", "Pod")
