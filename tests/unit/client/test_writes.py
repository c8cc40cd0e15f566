"""What the verbs that write send, beyond the everyday: options, ensure, collections, subresources, evictions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from kubewright.api import AlreadyExists, DecodeError, ObjectMeta, TooManyRequests
from kubewright.client import Client, JsonPatch, MergePatch
from kubewright.kinds import core_v1
from tests.unit.client.conftest import Script, Widget, answer, refusal, widget

Write = Callable[[Client, Widget, dict[str, Any]], Awaitable[object]]


def grow(obj: Widget) -> None:
    obj.spec.size = (obj.spec.size or 0) + 1


WRITES: list[tuple[str, Write]] = [
    ("create", lambda client, obj, options: client.create(obj, **options)),
    ("apply", lambda client, obj, options: client.apply(obj, **options)),
    ("patch", lambda client, _, options: client.patch(Widget, "a", MergePatch(), namespace="ns", **options)),
    ("edit", lambda client, _, options: client.edit(Widget, "a", grow, namespace="ns", **options)),
    ("scale", lambda client, _, options: client.scale(Widget, "a", 1, namespace="ns", **options)),
    (
        "update",
        lambda client, obj, options: client.subresource(Widget, "a", "x", namespace="ns").update(obj, **options),
    ),
]


@pytest.mark.parametrize(("name", "write"), WRITES, ids=[name for name, _ in WRITES])
async def test_every_write_takes_the_options(
    client: Client, script: Script, make: Callable[..., Widget], name: str, write: Write
) -> None:
    script.will_answer(*[answer(widget())] * (2 if name == "edit" else 1))
    heard: list[bytes] = []
    client.observe(lambda _, raw: heard.append(raw))
    await write(client, make(), {"dry_run": True, "field_manager": "other", "field_validation": "Strict"})
    query = dict(script.last.query)
    assert query == {"fieldManager": "other", "dryRun": "All", "fieldValidation": "Strict"} | (
        {"force": "false"} if name == "apply" else {}
    )
    assert heard == [], "what was only tried is not in the cache"


@pytest.mark.parametrize(("name", "write"), WRITES, ids=[name for name, _ in WRITES])
async def test_an_option_that_does_not_exist_is_refused(
    client: Client, script: Script, make: Callable[..., Widget], name: str, write: Write
) -> None:
    script.will_answer(*[answer(widget())] * (name == "edit"))
    with pytest.raises(TypeError, match="dry_runn"):
        await write(client, make(), {"dry_runn": True})


async def test_a_dry_delete_is_one_wherever_the_server_looks(client: Client, script: Script) -> None:
    script.will_answer(answer(widget()), answer({"kind": "WidgetList", "items": []}))
    heard: list[bytes] = []
    client.observe(lambda _, raw: heard.append(raw), lambda *_: heard.append(b""))
    await client.delete(Widget, "a", namespace="ns", dry_run=True)
    assert (script.last.query, script.sent()["dryRun"]) == ((("dryRun", "All"),), ["All"])
    await client.delete_all_of(Widget, namespace="ns", everything=True, dry_run=True)
    assert (script.last.query, script.sent()["dryRun"]) == ((("dryRun", "All"),), ["All"])
    assert heard == []


async def test_ensure_leaves_alone_what_is_there(client: Client, script: Script, make: Callable[..., Widget]) -> None:
    script.will_answer(answer(widget(spec={"size": 5})))
    assert (await client.ensure(make(size=1))).spec.size == 5
    assert [request.method for request in script.requests] == ["GET"]


async def test_ensure_creates_what_is_missing(client: Client, script: Script, make: Callable[..., Widget]) -> None:
    script.will_answer(refusal(404, "NotFound"), answer(widget(), 201))
    assert (await client.ensure(make())).uid == "u1"
    assert [request.method for request in script.requests] == ["GET", "POST"]


async def test_ensure_takes_what_somebody_else_created_meanwhile(
    client: Client, script: Script, make: Callable[..., Widget]
) -> None:
    script.will_answer(refusal(404, "NotFound"), refusal(409, "AlreadyExists"), answer(widget(spec={"size": 5})))
    assert (await client.ensure(make(size=1))).spec.size == 5


async def test_ensure_gives_up_on_what_it_can_neither_read_nor_create(
    client: Client, script: Script, make: Callable[..., Widget]
) -> None:
    script.will_answer(*[refusal(404, "NotFound"), refusal(409, "AlreadyExists")] * 5)
    with pytest.raises(AlreadyExists):
        await client.ensure(make())


async def test_delete_all_of_is_one_request_that_tells_no_cache_what_is_not_known(
    client: Client, script: Script
) -> None:
    heard: list[bytes] = []
    client.observe(lambda _, raw: heard.append(raw), lambda *_: heard.append(b""))
    script.will_answer(answer({"kind": "WidgetList", "items": [widget()]}), answer({"kind": "Status"}))
    await client.delete_all_of(Widget, namespace="ns", labels="app in (x, y)", propagation="Orphan", grace_period=0)
    assert (script.last.method, script.last.path) == ("DELETE", "/apis/example.com/v1/namespaces/ns/widgets")
    assert script.last.query == (("labelSelector", "app in (x,y)"),)
    assert script.sent() == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "propagationPolicy": "Orphan",
        "gracePeriodSeconds": 0,
    }
    await client.delete_all_of(Widget, namespace="ns", everything=True)
    assert not script.last.query
    assert not script.last.body
    assert not heard


async def test_a_scale_has_numbers_also_where_servers_leave_zeros_out(client: Client, script: Script) -> None:
    script.will_answer(*[answer({"kind": "Scale", "metadata": {"name": "a"}, "spec": {}, "status": {}})] * 2)
    scale = await client.get_scale(Widget, "a", namespace="ns")
    assert (script.last.method, script.last.path.rsplit("/", 1)[1]) == ("GET", "scale")
    assert (scale.spec.replicas, scale.status.replicas) == (0, 0)
    assert (await client.scale(Widget, "a", 0, namespace="ns", resource_version="7")).spec.replicas == 0
    assert script.sent() == {"spec": {"replicas": 0}, "metadata": {"resourceVersion": "7"}}


async def test_any_subresource_has_the_verbs_of_its_path(client: Client, script: Script) -> None:
    handle = client.subresource(Widget, "a", "approval", namespace="ns", of=Widget)
    script.will_answer(*[answer(widget())] * 5)
    got = await handle.get()
    await handle.create(got)
    await handle.update(got)
    await handle.patch(JsonPatch().replace("/spec/size", 0))
    await handle.apply({"kind": "Widget"}, force=True, field_manager="m")
    assert [request.method for request in script.requests] == ["GET", "POST", "PUT", "PATCH", "PATCH"]
    assert {request.path for request in script.requests} == {"/apis/example.com/v1/namespaces/ns/widgets/a/approval"}
    assert script.requests[2].body.startswith(b'{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"')
    assert [request.headers.get("content-type") for request in script.requests[3:]] == [
        "application/json-patch+json",
        "application/apply-patch+yaml",
    ]
    assert dict(script.last.query) == {"fieldManager": "m", "force": "true"}


async def test_a_subresource_without_a_class_answers_json(client: Client, script: Script) -> None:
    script.will_answer(answer({"status": {"token": "t"}}))
    answered = await client.subresource(core_v1.ServiceAccount, "a", "token", namespace="ns").create({"spec": {}})
    assert answered == {"status": {"token": "t"}}


async def test_a_subresource_that_answers_something_else_says_so(client: Client, script: Script) -> None:
    script.will_answer(answer(b"hello"))
    with pytest.raises(DecodeError, match="what proxy of web answers is no JSON object"):
        await client.subresource(core_v1.Pod, "web", "proxy", namespace="ns").get()


def pods(version: str) -> dict[str, Any]:
    eviction = {"name": "pods/eviction", "kind": "Eviction", "group": "policy", "version": version}
    return {"groupVersion": "v1", "resources": [{"name": "pods", "kind": "Pod", "namespaced": True}, eviction]}


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
async def test_an_eviction_is_of_the_version_that_the_server_takes(
    client: Client, script: Script, version: str
) -> None:
    script.will_answer(answer(pods(version)), answer({"kind": "Status"}, 201), answer({"kind": "Status"}, 201))
    await client.evict("p", namespace="ns", grace_period=0)
    assert script.last.path == "/api/v1/namespaces/ns/pods/p/eviction"
    assert script.sent() == {
        "apiVersion": f"policy/{version}",
        "kind": "Eviction",
        "metadata": {"name": "p", "namespace": "ns"},
        "deleteOptions": {"gracePeriodSeconds": 0},
    }
    await client.evict("p", namespace="ns", dry_run=True)
    assert "deleteOptions" not in script.sent()
    assert dict(script.last.query)["dryRun"] == "All"


async def test_a_pod_that_was_read_is_evicted_only_if_it_is_still_that_one(client: Client, script: Script) -> None:
    pod = core_v1.Pod(metadata=ObjectMeta(name="p", namespace="ns", uid="u"), spec=core_v1.PodSpec(containers=[]))
    budget = "Cannot evict pod as it would violate the pod's disruption budget."
    script.will_answer(answer(pods("v1")), refusal(429, "TooManyRequests", budget))
    with pytest.raises(TooManyRequests, match="disruption budget"):
        await client.evict(pod)
    assert script.sent()["deleteOptions"] == {"preconditions": {"uid": "u"}}
