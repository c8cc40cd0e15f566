"""How much of each object is kept. In virtual time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import pytest

from kubewright.api import ObjectMeta, resource_info
from kubewright.cache import METADATA, WHOLE, EntryParser, Event, NotHeld, Projection

if TYPE_CHECKING:
    from tests.unit.cache.conftest import RunVirtually, Widget, World

WIDGET: dict[str, Any] = {
    "apiVersion": "example.com/v1",
    "kind": "Widget",
    "metadata": {
        "name": "a",
        "namespace": "ns",
        "uid": "u",
        "resourceVersion": "7",
        "labels": {"app": "x"},
        "managedFields": [{"manager": "op", "operation": "Apply", "fieldsV1": {"f:spec": {}}}],
    },
    "spec": {"size": 3, "colour": "red", "ports": [{"port": 1, "name": "x"}], "nothing": None},
    "status": {"ready": True},
}


def kept(kind: type[Widget], projection: Projection) -> Any:
    return msgspec.json.decode(EntryParser(resource_info(kind), projection).parse(msgspec.json.encode(WIDGET)).raw)


@pytest.mark.parametrize("streaming", ["yes", "no"])
@pytest.mark.parametrize("plain", [False, True])
def test_of_a_metadata_only_kind_nothing_else_is_asked_for_and_held(
    run: RunVirtually, world: World, widget: type[Widget], streaming: Literal["yes", "no"], plain: bool
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget, projection=METADATA)
        world.server.streaming, world.server.plain = streaming, plain
        world.server.put("a", labels={"app": "x"})
        async with world.running():
            accepts = [request.headers["accept"] for request in world.server.requests]
            assert all("as=PartialObjectMetadata" in accept for accept in accepts)
            world.server.put("b", labels={"app": "y"})
            await asyncio.sleep(0.01)
            raw = msgspec.json.decode(informer.raw("ns", "a") or b"")
            assert raw.keys() == {"apiVersion", "kind", "metadata"}
            assert (raw["apiVersion"], raw["kind"]) == ("example.com/v1", "Widget")
            assert [entry.name for entry in informer.entries(labels={"app": "y"})] == ["b"]
            metadata = informer.metadata("ns", "a")
            assert metadata is not None
            assert (metadata.name, metadata.labels) == ("a", {"app": "x"})
            assert informer.metadata("ns", "none") is None

    run(main())


def test_reading_an_object_of_which_only_metadata_is_held_is_an_error(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget, projection=METADATA)
        seen: list[Event[Widget]] = []
        informer.subscribe(seen.append)
        world.server.put("a")
        async with world.running():
            with pytest.raises(NotHeld, match="only the metadata of Widget is cached"):
                informer.get("ns", "a")
            with pytest.raises(NotHeld):
                informer.list()
            with pytest.raises(NotHeld):
                seen[0].obj  # noqa: B018 - decoding is what fails
            world.server.put("a")
            await asyncio.sleep(0.01)
            with pytest.raises(NotHeld):
                seen[1].old_obj  # noqa: B018
            assert seen[1].entry.name == "a"
            assert informer.get("ns", "none") is None

    run(main())


def test_an_index_of_what_is_not_held_is_refused(world: World, widget: type[Widget]) -> None:
    with pytest.raises(ValueError, match="only the metadata of widgets.example.com is cached"):
        world.cache.informer(widget, projection=METADATA, indexes={"size": lambda obj: [str(obj.spec.size)]})


def test_own_writes_are_projected_too_and_still_selected_by_what_is_not_held(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget, projection=METADATA, fields="spec.size=1")
        async with world.running():
            world.server.deafen_watches()
            obj = widget(metadata=ObjectMeta(name="a", namespace="ns"))
            obj.spec.size = 1
            await world.client.apply(obj)
            assert b"spec" not in (informer.raw("ns", "a") or b"spec")
            obj.spec.size = 2
            await world.client.apply(obj)
            assert informer.raw("ns", "a") is None

    run(main())


def test_chosen_fields_are_kept_and_no_others(widget: type[Widget]) -> None:
    whole = {**WIDGET, "metadata": {key: value for key, value in WIDGET["metadata"].items() if key != "managedFields"}}
    assert kept(widget, WHOLE) == whole
    del whole["status"]
    assert kept(widget, Projection.of("spec")) == whole
    assert kept(widget, Projection.of("spec.size", "status.ready")) == {
        **whole,
        "spec": {"size": 3},
        "status": {"ready": True},
    }
    assert kept(widget, Projection.of("spec.ports.name", "spec.nothing.deeper", "spec.absent", "other.path")) == {
        **whole,
        "spec": {"ports": [{"port": 1, "name": "x"}], "nothing": None},
    }


def test_a_field_and_one_below_it_is_the_field(widget: type[Widget]) -> None:
    assert kept(widget, Projection.of("spec", "spec.size"))["spec"] == WIDGET["spec"]


@pytest.mark.parametrize("paths", [(), ("",), ("spec..size",), (".spec",)])
def test_what_is_no_path_is_refused(paths: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"path of fields|which fields"):
        Projection.of(*paths)


def test_each_projection_of_a_kind_has_an_informer_of_its_own(world: World, widget: type[Widget]) -> None:
    whole = world.cache.informer(widget)
    assert world.cache.informer(widget, projection=METADATA) is not whole
    some = world.cache.informer(widget, projection=Projection.of("spec.b", "spec.a"))
    assert world.cache.informer(widget, projection=Projection.of("spec.a", "spec.b", "spec.a")) is some
