"""The cache against the embedded cluster, which is held to real servers by the conformance suite. In virtual time."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from msgspec.structs import replace

from kubewright.api import (
    LoopClock,
    Model,
    NotFound,
    ObjectMeta,
    Resource,
    field,
    resource,
    resource_info,
    unstructured,
)
from kubewright.cache import METADATA, Cache, Event, Informer, Phase, Projection
from kubewright.client import Client, MergePatch
from kubewright.devcluster.cluster import DevCluster
from kubewright.kinds import apiextensions_v1, batch_v1, core_v1
from kubewright.testing import RecordingTransport, install, run_in_virtual_time


class WidgetSpec(Model):
    size: int = 0
    colour: str | None = None


@resource("example.com/v1")
class Widget(Resource):
    """Something of some size."""

    spec: WidgetSpec = field(default_factory=WidgetSpec)


class World:
    def __init__(self, cluster: DevCluster) -> None:
        self.transport = RecordingTransport(cluster.transport())
        self.client = Client(self.transport, clock=cluster.clock, rng=cluster.rng)
        self.others = Client(cluster.transport(), clock=cluster.clock, rng=cluster.rng)
        self.cache = Cache(self.client, clock=cluster.clock, rng=cluster.rng)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(self.cache.run())
            await self.cache.synced()
            await asyncio.sleep(0.1)
            yield
            task.cancel()

    def reads(self) -> list[dict[str, str]]:
        return [dict(request.query) for request in self.transport.requests if request.method == "GET"]


def in_world(test: Callable[[World], Awaitable[None]]) -> None:
    async def main() -> None:
        async with DevCluster(clock=LoopClock(), rng=random.Random(1)) as cluster:
            await test(World(cluster))

    run_in_virtual_time(main)


def config_map(name: str, namespace: str = "default", **data: str) -> core_v1.ConfigMap:
    return core_v1.ConfigMap(metadata=ObjectMeta(name=name, namespace=namespace, labels={"ours": "yes"}), data=data)


def widget(name: str, size: int = 1) -> Widget:
    made = Widget(metadata=ObjectMeta(name=name, namespace="default"))
    made.spec.size, made.spec.colour = size, "red"
    return made


def test_one_streaming_list_brings_everything_for_hours() -> None:
    async def test(world: World) -> None:
        for number in range(1200):
            await world.others.create(config_map(f"c{number:04}"))
        informer = world.cache.informer(core_v1.ConfigMap, labels={"ours": "yes"})
        async with world.running():
            assert len(informer) == 1200
            assert informer.live
            await world.others.delete(core_v1.ConfigMap, "c0007", namespace="default")
            for _ in range(10):
                await asyncio.sleep(600)
                assert informer.live
            assert len(informer) == 1199
            (first, *later) = world.reads()
            assert first["sendInitialEvents"] == "true"
            assert all("resourceVersion" in query for query in later)
            health = informer.health
            assert (health.relists, health.unreadable) == (0, 0)
            assert health.reconnects > 20
            assert health.last_event_age is not None
            assert health.last_event_age < 61  # bookmarks

    in_world(test)


def test_metadata_is_all_that_comes_of_a_metadata_only_kind() -> None:
    async def test(world: World) -> None:
        secret = core_v1.Secret(metadata=ObjectMeta(name="s", namespace="default"), data={"password": "c2VjcmV0"})
        await world.others.create(secret)
        informer = world.cache.informer(core_v1.Secret, projection=METADATA)
        async with world.running():
            assert b"c2VjcmV0" not in (informer.raw("default", "s") or b"c2VjcmV0")
            metadata = informer.metadata("default", "s")
            assert metadata is not None
            assert metadata.name == "s"
            await world.client.edit(core_v1.Secret, "s", _relabel, namespace="default")
            entry = informer.entry("default", "s")
            assert entry is not None
            assert dict(entry.labels) == {"a": "b"}
            assert b"c2VjcmV0" not in entry.raw
            await world.others.delete(core_v1.Secret, "s", namespace="default")
            await asyncio.sleep(0.1)
            assert informer.entry("default", "s") is None

    in_world(test)


def _relabel(secret: core_v1.Secret) -> None:
    secret.metadata.labels = {"a": "b"}


def test_an_optional_kind_comes_and_goes_with_its_definition() -> None:
    async def test(world: World) -> None:
        informer = world.cache.informer(Widget, optional=True, indexes={"size": lambda obj: [str(obj.spec.size)]})
        seen: list[tuple[str, str]] = []
        informer.subscribe(lambda event: seen.append((event.type.value, event.entry.name)))
        async with world.running():
            assert (informer.state.phase, informer.in_step) == (Phase.MISSING, True)
            for _ in range(2):
                await install(world.others, Widget)
                await asyncio.wait_for(informer.synced(), 5)
                await world.others.create(widget("a", size=3))
                await asyncio.sleep(0.1)
                assert [obj.name for obj in informer.list(index=("size", "3"))] == ["a"]
                assert informer.live
                name = resource_info(Widget).qualified_plural
                await world.others.delete(apiextensions_v1.CustomResourceDefinition, name)
                await asyncio.sleep(30)
                assert (informer.state.phase, len(informer)) == (Phase.MISSING, 0)
            assert seen == [("Added", "a"), ("Deleted", "a")] * 2

    in_world(test)


def test_what_is_written_in_another_version_is_read_at_once() -> None:
    """And of metadata-only kinds the bodies are told apart by version."""

    async def test(world: World) -> None:
        await install(world.others, Widget)
        definition = resource_info(Widget).qualified_plural

        def serve_another(crd: apiextensions_v1.CustomResourceDefinition) -> None:
            (version,) = crd.spec.versions
            crd.spec.versions = [version, replace(version, name="v2", storage=False)]

        await world.others.edit(apiextensions_v1.CustomResourceDefinition, definition, serve_another)
        newer = unstructured("example.com/v2", "Widget", plural="widgets", has_status=False)
        await asyncio.sleep(1)
        informer, elsewhere = world.cache.informer(Widget), world.cache.informer(Widget, namespaces="kube-system")
        bare, newer_bare = (world.cache.informer(kind, projection=METADATA) for kind in (Widget, newer))
        async with world.running():
            before = len(world.reads())
            made = newer(metadata=ObjectMeta(name="a", namespace="default"), content={"spec": {"size": 7}})
            await world.client.create(made)
            found = informer.get("default", "a")
            assert found is not None
            assert (found.spec.size, len(elsewhere), len(bare), len(newer_bare)) == (7, 0, 1, 1)
            assert len(world.reads()) == before + 1
            await world.client.patch(newer, "a", MergePatch({"spec": {"size": 8}}), namespace="default")
            found = informer.get("default", "a")
            assert found is not None
            assert found.spec.size == 8
            for each, version in ((bare, "v1"), (newer_bare, "v2")):
                entry = each.entry("default", "a")
                assert entry is not None
                whole = await each.bodies.of(entry)
                assert whole is not None
                assert msgspec.json.decode(whole.raw)["apiVersion"] == f"example.com/{version}"
            await world.client.delete(newer, "a", namespace="default")
            assert [len(each) for each in (informer, bare, newer_bare)] == [0, 0, 0]

    in_world(test)


def test_fields_that_an_object_lacks_select_as_the_server_has_it() -> None:
    async def test(world: World) -> None:
        nodes = world.cache.informer(core_v1.Node, fields="spec.unschedulable=false")
        pods = world.cache.informer(core_v1.Pod, fields="spec.hostNetwork=false,spec.host!=n")
        jobs = world.cache.informer(batch_v1.Job, fields="status.successful=0")
        events = world.cache.informer(core_v1.Event, fields="source=me")
        informers: list[Informer[Any]] = [nodes, pods, jobs, events]
        containers = [core_v1.Container(name="c", image="i")]
        template = core_v1.PodTemplateSpec(spec=core_v1.PodSpec(containers=containers, restart_policy="Never"))
        here = ObjectMeta(name="a", namespace="default")
        async with world.running():
            before = [len(informer) for informer in informers]
            await world.client.create(core_v1.Node(metadata=ObjectMeta(name="a")))
            await world.client.create(core_v1.Pod(metadata=here, spec=core_v1.PodSpec(containers=containers)))
            await world.client.create(batch_v1.Job(metadata=here, spec=batch_v1.JobSpec(template=template)))
            about = core_v1.ObjectReference(namespace="default")
            source = core_v1.EventSource(component="me")
            await world.client.create(core_v1.Event(metadata=here, involved_object=about, source=source))
            assert [len(informer) for informer in informers] == [number + 1 for number in before]

            def cordon(node: core_v1.Node) -> None:
                node.spec.unschedulable = True

            await world.client.edit(core_v1.Node, "a", cordon)
            assert nodes.entry(None, "a") is None

    in_world(test)


def test_namespaces_and_kinds_come_and_go_while_it_runs() -> None:
    async def test(world: World) -> None:
        for name in ("n1", "n2"):
            await world.others.create(core_v1.Namespace(metadata=ObjectMeta(name=name)))
            await world.others.create(config_map("a", name))
        cache = world.cache = Cache(world.client, namespaces=["n1"], rng=random.Random(1))
        informer = cache.informer(core_v1.ConfigMap, labels={"ours": "yes"})
        async with world.running():
            assert [entry.key for entry in informer.entries()] == [("n1", "a")]
            cache.add_namespace("n2")
            await informer.synced()
            assert [entry.key for entry in informer.entries()] == [("n1", "a"), ("n2", "a")]
            await cache.remove_namespace("n1")
            assert [entry.key for entry in informer.entries()] == [("n2", "a")]
            namespaces = cache.add(core_v1.Namespace)
            await namespaces.synced()
            assert namespaces.get(None, "n1") is not None
            await cache.remove(namespaces)
            assert namespaces.state.phase is Phase.STOPPED

    in_world(test)


def test_chosen_fields_are_what_is_held_of_own_writes_and_of_others() -> None:
    async def test(world: World) -> None:
        await install(world.others, Widget)
        informer = world.cache.informer(Widget, projection=Projection.of("spec.size"))
        async with world.running():
            await world.others.create(widget("a", size=3))
            await world.client.create(widget("b", size=4))
            await asyncio.sleep(0.1)
            assert [(obj.name, obj.spec.size, obj.spec.colour) for obj in informer.list()] == [
                ("a", 3, None),
                ("b", 4, None),
            ]

    in_world(test)


def test_nobody_is_told_anything_twice_or_too_late_by_random_writers() -> None:
    """Own writes and those of others, with watches that end in between; every read after an own write sees it."""

    async def test(world: World) -> None:
        await install(world.others, Widget)
        informer = world.cache.informer(Widget)
        known: dict[str, int] = {}

        def follow(event: Event[Widget]) -> None:
            version = event.entry.resource_version
            if event.new is None:
                del known[event.entry.name]
            else:
                assert version > known.get(event.entry.name, 0)
                known[event.entry.name] = version

        informer.subscribe(follow)
        rng = random.Random(7)
        async with world.running():
            for _ in range(400):
                name = rng.choice("abcd")
                client = rng.choice([world.client, world.others])
                try:
                    if rng.random() < 0.25:
                        await client.delete(Widget, name, namespace="default")
                        assert client is world.others or informer.get("default", name) is None
                    else:
                        made = await client.apply(widget(name, rng.randrange(1000)), force=True)
                        read = informer.get("default", name)
                        assert client is world.others or (
                            read is not None and read.metadata.resource_version == made.metadata.resource_version
                        )
                except NotFound:
                    continue
                await asyncio.sleep(rng.choice([0.0, 0.0, 20.0]))
            await asyncio.sleep(1)
            live = {obj.name: obj.spec.size for obj in await world.others.list(Widget, namespace="default")}
            assert {obj.name: obj.spec.size for obj in informer.list()} == live
            assert known.keys() == live.keys()

    in_world(test)
