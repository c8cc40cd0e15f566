"""The typed client: what it sends and what it makes of answers."""

from __future__ import annotations

from typing import Annotated

import msgspec
import pytest

from kubewright.api import Conflict, DecodeError, Expired, Model, NotFound, Resource, field, resource
from kubewright.api.markers import ListMap, ListSet
from kubewright.client import Client, JsonPatch, MergePatch, StrategicMergePatch
from tests.unit.client.conftest import Item, Node, Script, Widget, WidgetSpec, answer, refusal, widget


class Port(Model):
    port: int
    protocol: str = "TCP"
    name: str | None = None


class ListenerSpec(Model):
    ports: Annotated[list[Port], ListMap("port", "protocol")] = field(default_factory=list)
    tags: Annotated[list[str], ListSet()] = field(default_factory=list)


@resource("example.com/v1", plural="widgets")
class Listener(Resource):
    spec: ListenerSpec


@resource("example.com/v1", plural="widgets")
class Peculiar(Resource):
    spec: dict[str, int | tuple[int]]


async def test_get_decodes_one_object(client: Client, script: Script) -> None:
    script.will_answer(answer(widget()))
    got = await client.get(Widget, "a", namespace="ns")
    assert (got.name, got.spec.size) == ("a", 1)
    script.will_answer(refusal(404, "NotFound", 'widgets.example.com "a" not found'))
    with pytest.raises(NotFound, match='widgets.example.com "a" not found'):
        await client.get(Widget, "a", namespace="ns")
    script.will_answer(answer(widget(spec={"size": "big"})))
    with pytest.raises(DecodeError, match="not a Widget"):
        await client.get(Widget, "a", namespace="ns")


def page(*names: str, token: str = "") -> dict[str, object]:
    return {"metadata": {"resourceVersion": "9", "continue": token}, "items": [widget(name) for name in names]}


async def test_list_reads_all_pages(client: Client, script: Script) -> None:
    script.will_answer(answer(page("a", "b", token="t1")), answer(page("c")))
    found = await client.list(Widget, namespace="ns", labels={"app": "x"}, limit=2)
    assert [obj.name for obj in found] == ["a", "b", "c"]
    assert dict(script.last.query) == {"labelSelector": "app=x", "limit": "2", "continue": "t1"}


async def test_list_begins_anew_without_pages_when_a_page_expired(client: Client, script: Script) -> None:
    script.will_answer(answer(page("a", token="t1")), refusal(410, "Expired"), answer(page("a", "b")))
    assert [obj.name for obj in await client.list(Widget)] == ["a", "b"]
    assert script.last.query == ()


async def test_pages_come_one_by_one_with_the_moment_they_show(client: Client, script: Script) -> None:
    first = page("a", "b", token="t1")
    first["metadata"] = {"resourceVersion": "9", "continue": "t1", "remainingItemCount": 1}
    script.will_answer(answer(first))
    pages = client.pages(Widget, fields="metadata.name!=z", limit=2)
    got = await anext(pages)
    assert ([obj.name for obj in got.items], got.resource_version, got.remaining) == (["a", "b"], "9", 1)
    assert len(script.requests) == 1, "the next page is asked for when it is wanted"
    script.will_answer(answer(page("c")))
    assert [obj.name async for got in pages for obj in got.items] == ["c"]


async def test_pages_of_a_moment_that_the_server_forgot_end_with_an_error(client: Client, script: Script) -> None:
    script.will_answer(answer(page("a", token="t1")), refusal(410, "Expired"))
    seen = []
    with pytest.raises(Expired):
        async for got in client.pages(Widget):
            seen += [obj.name for obj in got.items]
    assert seen == ["a"]


async def test_a_list_without_a_limit_is_asked_for_once(client: Client, script: Script) -> None:
    script.will_answer(answer(page("a")), refusal(410, "Expired"))
    assert len(await client.list(Widget, limit=0)) == 1
    assert script.last.query == ()
    with pytest.raises(Expired):
        await client.list(Widget, limit=0)


async def test_watch_yields_decoded_events_until_the_server_ends_it(client: Client, script: Script) -> None:
    line = msgspec.json.encode({"type": "ADDED", "object": widget()}) + b"\n"
    script.will_answer([line[:20], line[20:]])
    events = [event async for event in client.watch(Widget, namespace="ns", resource_version="5", timeout_seconds=9)]
    assert [(event.type, event.object.name) for event in events] == [("ADDED", "a")]
    assert dict(script.last.query) == {"watch": "true", "resourceVersion": "5", "timeoutSeconds": "9"}
    assert script.open_streams == 0


async def test_create_sends_the_object_without_status(client: Client, script: Script) -> None:
    script.will_answer(answer(widget(), 201))
    obj = Widget(spec=WidgetSpec(size=0))
    obj.metadata.name, obj.metadata.namespace = "a", "ns"
    assert (await client.create(obj)).metadata.uid == "u1"
    assert (script.last.method, script.last.path) == ("POST", "/apis/example.com/v1/namespaces/ns/widgets")
    assert script.sent() == {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "a", "namespace": "ns"},
        "spec": {"size": 0},
    }
    with pytest.raises(ValueError, match=r"Widget a needs a metadata\.namespace"):
        await client.create(Widget(metadata=type(obj.metadata)(name="a")))


async def test_create_of_a_cluster_scoped_kind_needs_no_namespace(client: Client, script: Script) -> None:
    script.will_answer(answer({"metadata": {"name": "n"}}, 201))
    node = Node()
    node.metadata.name = "n"
    await client.create(node)
    assert script.last.path == "/api/v1/nodes"


async def test_apply_says_who_applies(client: Client, script: Script) -> None:
    script.will_answer(answer(widget()), answer(widget()))
    obj = Widget(spec=WidgetSpec(size=1))
    obj.metadata.name, obj.metadata.namespace = "a", "ns"
    await client.apply(obj)
    assert script.last.headers["content-type"] == "application/apply-patch+yaml"
    assert dict(script.last.query) == {"fieldManager": "tests", "force": "false"}
    await client.apply(obj, field_manager="op/ctl", force=True, subresource="status")
    assert script.last.path.endswith("/widgets/a/status")
    assert dict(script.last.query) == {"fieldManager": "op/ctl", "force": "true"}
    assert set(script.sent()) == {"apiVersion", "kind", "metadata", "status"}


async def test_apply_needs_a_name(client: Client) -> None:
    with pytest.raises(ValueError, match=r"this Widget needs a metadata\.name"):
        await client.apply(Widget())


async def test_edit_sends_the_difference_bound_to_the_version_read(client: Client, script: Script) -> None:
    items = [{"name": "x", "size": 1, "unknown": True}, {"name": "y"}]
    script.will_answer(answer(widget(spec={"items": items, "other": 1})), answer(widget(version="8")))

    def change(obj: Widget) -> None:
        obj.spec.items = [Item(name="x", size=2), Item(name="y")]
        obj.status.ready = 3  # not through the main resource

    await client.edit(Widget, "a", change, namespace="ns")
    assert script.sent() == [
        {"op": "replace", "path": "/metadata/resourceVersion", "value": "7"},
        {"op": "replace", "path": "/spec/items/0/size", "value": 2},
    ]
    assert script.last.headers["content-type"] == "application/json-patch+json"


async def test_an_edit_by_a_coroutine_function_is_refused_rather_than_dropped(client: Client, script: Script) -> None:
    async def change(obj: Widget) -> None:
        obj.spec.items = []

    script.will_answer(answer(widget()))
    with pytest.raises(TypeError, match="edit: what changes the object must be a plain function"):
        await client.edit(Widget, "a", change, namespace="ns")  # type: ignore[arg-type]  # what is tested


async def test_an_edit_tells_items_apart_as_the_class_says(client: Client, script: Script) -> None:
    ports = [{"port": 80, "protocol": "TCP", "hidden": 1}, {"port": 80, "protocol": "UDP", "hidden": 2}]
    script.will_answer(*[answer(widget(spec={"ports": ports, "tags": ["a", "b", "c"]}))] * 2)

    def change(obj: Listener) -> None:
        obj.spec.ports = [Port(port=80, protocol="UDP", name="dns"), Port(port=81)]
        obj.spec.tags = ["a", "c"]

    await client.edit(Listener, "a", change, namespace="ns")
    assert script.sent()[1:] == [
        {"op": "add", "path": "/spec/ports/1/name", "value": "dns"},
        {"op": "remove", "path": "/spec/ports/0"},
        {"op": "add", "path": "/spec/ports/-", "value": {"port": 81, "protocol": "TCP"}},
        {"op": "remove", "path": "/spec/tags/1"},
    ]


async def test_a_class_that_no_schema_can_say_is_edited_all_the_same(client: Client, script: Script) -> None:
    script.will_answer(*[answer(widget(spec={"size": 1}))] * 2)

    def change(obj: Peculiar) -> None:
        obj.spec["size"] = (0,)

    await client.edit(Peculiar, "a", change, namespace="ns")
    assert script.sent()[1:] == [{"op": "replace", "path": "/spec/size", "value": [0]}]


async def test_an_edit_that_changes_nothing_adds_no_defaults_of_the_class(client: Client, script: Script) -> None:
    script.will_answer(answer(widget(spec={})))
    await client.edit(Listener, "a", lambda _: None, namespace="ns")
    assert len(script.requests) == 1


async def test_edit_of_the_status_writes_nothing_else(client: Client, script: Script) -> None:
    script.will_answer(answer(widget()), answer(widget(version="8")))

    def change(obj: Widget) -> None:
        obj.spec.size = 99
        obj.status.ready = 0

    await client.edit(Widget, "a", change, namespace="ns", subresource="status")
    assert script.last.path.endswith("/status")
    assert script.sent()[1:] == [{"op": "add", "path": "/status", "value": {"ready": 0}}]


async def test_edit_that_changes_nothing_sends_nothing(client: Client, script: Script) -> None:
    script.will_answer(answer(widget()))
    got = await client.edit(Widget, "a", lambda _: None, namespace="ns")
    assert got.spec.size == 1
    assert len(script.requests) == 1


async def test_edit_reads_and_changes_again_after_a_conflict(client: Client, script: Script) -> None:
    script.will_answer(
        answer(widget(spec={"size": 1})),
        refusal(409, "Conflict"),
        answer(widget(version="8", spec={"size": 5})),
        answer(widget(version="9", spec={"size": 6})),
    )

    def grow(obj: Widget) -> None:
        obj.spec.size = (obj.spec.size or 0) + 1

    assert (await client.edit(Widget, "a", grow, namespace="ns")).spec.size == 6
    assert [operation["value"] for operation in script.sent()] == ["8", 6]


async def test_edit_gives_up_when_it_is_never_first(client: Client, script: Script) -> None:
    script.will_answer(*[answer(widget()), refusal(409, "Conflict", "the object has been modified")] * 5)

    def grow(obj: Widget) -> None:
        obj.spec.size = 2

    with pytest.raises(Conflict, match="the object has been modified"):
        await client.edit(Widget, "a", grow, namespace="ns")


async def test_patches_are_sent_as_they_are(client: Client, script: Script) -> None:
    script.will_answer(*[answer(widget())] * 3)
    await client.patch(Widget, "a", MergePatch({"spec": None}), namespace="ns")
    assert (script.last.headers["content-type"], script.sent()) == ("application/merge-patch+json", {"spec": None})
    await client.patch(Widget, "a", JsonPatch([{"op": "remove", "path": "/spec"}]), namespace="ns")
    assert script.sent() == [{"op": "remove", "path": "/spec"}]
    await client.patch(Widget, "a", StrategicMergePatch({"spec": {}}), namespace="ns")
    assert script.last.headers["content-type"] == "application/strategic-merge-patch+json"


async def test_scale_patches_the_subresource(client: Client, script: Script) -> None:
    script.will_answer(answer({"apiVersion": "autoscaling/v1", "kind": "Scale"}))
    await client.scale(Widget, "a", 0, namespace="ns")
    assert (script.last.path.rsplit("/", 1)[1], script.sent()) == ("scale", {"spec": {"replicas": 0}})


async def test_deleting_an_object_that_was_read_deletes_only_that_one(client: Client, script: Script) -> None:
    script.will_answer(answer(widget()), answer(widget()))
    obj = await client.get(Widget, "a", namespace="ns")
    await client.delete(obj, propagation="Foreground", resource_version="7")
    assert script.sent() == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {"uid": "u1", "resourceVersion": "7"},
        "propagationPolicy": "Foreground",
    }


async def test_deleting_by_name_deletes_whatever_has_it(client: Client, script: Script) -> None:
    script.will_answer(answer(widget()))
    await client.delete(Widget, "a", namespace="ns")
    assert (script.last.method, script.last.body) == ("DELETE", b"")


async def test_closing_the_client_closes_the_transport(client: Client, script: Script) -> None:
    await client.close()
    assert script.closed
