"""The official Python client: watches, its informer, its leader election."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from kubernetes import client, config, informer, watch

from tests.conformance.clients.bodies import config_map
from tests.conformance.clients.servers import Server
from tests.conformance.resources import GROUP, widget
from tests.e2e.processes import eventually


@pytest.fixture
def core(server: Server) -> Iterator[Any]:
    """With the configuration as the client's default one, which its watches and locks take."""
    config.load_kube_config(config_file=str(server.kubeconfig))
    yield client.CoreV1Api()
    client.Configuration.set_default(None)


def test_a_watch_brings_typed_objects_in_order(core: Any, namespace: str) -> None:
    since = core.list_namespaced_config_map(namespace).metadata.resource_version
    core.create_namespaced_config_map(namespace, config_map("a", x="1"))
    core.patch_namespaced_config_map("a", namespace, {"data": {"x": "2"}})
    core.delete_namespaced_config_map("a", namespace)
    events = watch.Watch().stream(core.list_namespaced_config_map, namespace, resource_version=since, timeout_seconds=1)
    seen = [(event["type"], event["object"].data) for event in events if event["object"].metadata.name == "a"]
    assert seen == [("ADDED", {"x": "1"}), ("MODIFIED", {"x": "2"}), ("DELETED", {"x": "2"})]


def test_a_watch_of_custom_objects_ends_in_time(core: Any, namespace: str) -> None:
    custom = client.CustomObjectsApi()
    custom.create_namespaced_custom_object(GROUP, "v1", namespace, "widgets", widget("w"))
    events = watch.Watch().stream(
        custom.list_namespaced_custom_object, GROUP, "v1", namespace, "widgets", timeout_seconds=1
    )
    assert [event["object"]["metadata"]["name"] for event in events] == ["w"]


def test_a_watch_from_what_is_no_version_is_refused_in_words(core: Any, namespace: str) -> None:
    with pytest.raises(client.ApiException) as refused:
        next(watch.Watch().stream(core.list_namespaced_config_map, namespace, resource_version="no-number"))
    assert 'resourceVersion: Invalid value: \\"no-number\\"' in str(refused.value)


def test_an_informer_keeps_a_copy_and_calls_its_handlers(core: Any, namespace: str) -> None:
    core.create_namespaced_config_map(namespace, config_map("first", labels={"kept": "yes"}))
    seen: list[tuple[str, str]] = []
    shared = informer.SharedInformer(core.list_namespaced_config_map, namespace=namespace, label_selector="kept")
    for kind in (informer.ADDED, informer.MODIFIED, informer.DELETED):
        shared.add_event_handler(kind, lambda found, kind=kind: seen.append((kind, found.metadata.name)))
    shared.start()
    try:
        eventually(lambda: _is(seen[:1], [("ADDED", "first")]))
        core.create_namespaced_config_map(namespace, config_map("second", labels={"kept": "yes"}))
        core.patch_namespaced_config_map("second", namespace, {"data": {"x": "1"}})
        core.delete_namespaced_config_map("first", namespace)
        eventually(lambda: _is(seen[-1], ("DELETED", "first")))
        assert seen[1:3] == [("ADDED", "second"), ("MODIFIED", "second")]
        assert [each.metadata.name for each in shared.cache.list()] == ["second"]
        assert shared.cache.get_by_key(f"{namespace}/second").data == {"x": "1"}
    finally:
        shared.stop()


def test_one_of_two_candidates_leads_and_the_other_takes_over(core: Any, namespace: str) -> None:
    from kubernetes.leaderelection import electionconfig
    from kubernetes.leaderelection import leaderelection as elections
    from kubernetes.leaderelection.resourcelock import leaselock

    led: list[str] = []
    over = threading.Event()

    def candidate(name: str) -> threading.Thread:
        def leading() -> None:
            led.append(name)
            over.wait(60)

        lock = leaselock.LeaseLock("leader", namespace, name)
        settings = electionconfig.Config(
            lock, lease_duration=3, renew_deadline=2, retry_period=1, onstarted_leading=leading, onstopped_leading=None
        )
        thread = threading.Thread(target=elections.LeaderElection(settings).run, daemon=True)
        thread.start()
        return thread

    first = candidate("one")
    eventually(lambda: _is(led, ["one"]))
    lease = client.CoordinationV1Api().read_namespaced_lease("leader", namespace)
    assert lease.spec.holder_identity == "one"
    second = candidate("two")
    taken = {"spec": {"holderIdentity": "nobody", "leaseDurationSeconds": 1}}
    client.CoordinationV1Api().patch_namespaced_lease("leader", namespace, taken)
    first.join(20)
    assert not first.is_alive()
    eventually(lambda: _is(led, ["one", "two"]))
    client.CoordinationV1Api().patch_namespaced_lease("leader", namespace, taken)
    second.join(20)
    over.set()
    assert not second.is_alive()


def _is(value: object, expected: object) -> None:
    assert value == expected
