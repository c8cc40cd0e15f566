"""Events are kept for an hour after they were last written."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from kubewright.api import ObjectMeta
from kubewright.client import MergePatch
from kubewright.devcluster.controllers.event_expiry import EVENT_SECONDS
from kubewright.devcluster.store import GroupResource
from kubewright.kinds import core_v1


def event(name: str, namespace: str = "default") -> core_v1.Event:
    about = core_v1.ObjectReference(kind="Pod", name="a", namespace=namespace)
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return core_v1.Event(
        metadata=ObjectMeta(name=name, namespace=namespace), involved_object=about, reason="x", first_timestamp=now
    )


def test_an_event_goes_an_hour_after_it_was_last_written(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(event("first"))
        await world.after(600)
        await world.client.create(event("second"))
        await world.after(600)
        await world.client.patch(core_v1.Event, "first", MergePatch({"count": 2}), namespace="default")
        await world.after(EVENT_SECONDS - 601)
        assert {"first", "second"} <= set(await world.names(core_v1.Event))
        await world.after(2)
        assert "second" not in await world.names(core_v1.Event)
        await world.after(597)
        assert "first" in await world.names(core_v1.Event)
        await world.after(3)
        assert await world.names(core_v1.Event) == []

    in_cluster(scenario)


def test_who_watches_is_told_and_the_expiry_is_no_request(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(event("a"))
        await world.after(1)
        revision = world.store.revision
        world.forget_requests()
        await world.after(EVENT_SECONDS)
        changes = world.store.changes(revision, resource=GroupResource("", "events"))
        assert ("DELETED", "a") in [(change.type, change.name) for change in changes]
        assert world.writes == []

    in_cluster(scenario)


def test_an_event_deleted_and_written_again_has_its_hour(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(event("a"))
        await world.after(1800)
        await world.client.delete(core_v1.Event, "a", namespace="default")
        await world.client.create(event("a"))
        await world.after(EVENT_SECONDS - 1)
        assert "a" in await world.names(core_v1.Event)
        await world.after(2)
        assert "a" not in await world.names(core_v1.Event)

    in_cluster(scenario)


def test_what_was_written_while_the_log_was_forgotten_goes_too(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        for number in range(5):
            await world.client.create(event(f"e{number}"))
        world.store.compact(world.store.revision)
        await world.client.create(event("later"))
        await world.after(EVENT_SECONDS + 1)
        assert await world.names(core_v1.Event) == []

    in_cluster(scenario, quiet=False)  # others say that they read everything anew
