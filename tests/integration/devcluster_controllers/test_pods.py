"""Pods on the simulated node: starting, failing as told, recovering, stopping."""

from __future__ import annotations

from typing import Any

import pytest

from kubewright.api import ObjectMeta
from kubewright.devcluster.controllers import FAULT_ANNOTATION, READY_AFTER_ANNOTATION, Simulation
from kubewright.kinds import coordination_v1, core_v1


def pod(name: str = "lone", annotations: dict[str, str] | None = None, **spec: Any) -> core_v1.Pod:
    spec.setdefault("containers", [core_v1.Container(name="main", image="nginx:1.29")])
    return core_v1.Pod(
        metadata=ObjectMeta(name=name, namespace="default", annotations=annotations), spec=core_v1.PodSpec(**spec)
    )


async def read(world: Any, name: str = "lone") -> core_v1.Pod:
    found: core_v1.Pod = await world.client.get(core_v1.Pod, name, namespace="default")
    return found


def conditions(found: core_v1.Pod) -> dict[str, tuple[str, str | None]]:
    return {each.type: (each.status, each.reason) for each in found.status.conditions or ()}


def state(found: core_v1.Pod) -> core_v1.ContainerState:
    status = (found.status.container_statuses or [])[0]
    assert status.state is not None
    return status.state


def waiting(found: core_v1.Pod) -> tuple[str | None, str | None]:
    why = state(found).waiting
    return (why.reason, why.message) if why else (None, None)


def test_a_pod_is_created_and_then_runs(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(pod())
        await world.after(0.5)
        found = await read(world)
        assert found.spec.node_name == "kubewright"
        assert found.status.phase == "Pending"
        assert waiting(found) == ("ContainerCreating", None)
        assert found.status.host_ip == "172.18.0.2"
        assert found.status.pod_ip is None
        assert conditions(found) == {
            "PodReadyToStartContainers": ("False", None),
            "Initialized": ("True", None),
            "Ready": ("False", "ContainersNotReady"),
            "ContainersReady": ("False", "ContainersNotReady"),
            "PodScheduled": ("True", None),
        }
        await world.after(1.0)
        found = await read(world)
        assert found.status.phase == "Running"
        assert {status for status, _ in conditions(found).values()} == {"True"}
        assert found.status.pod_ip == "10.244.0.2"
        assert state(found).running is not None
        container = (found.status.container_statuses or [])[0]
        assert (container.ready, container.started, container.restart_count) == (True, True, 0)
        assert container.image == "docker.io/library/nginx:1.29"
        assert (container.container_id or "").startswith("containerd://")

    in_cluster(scenario)


def test_describe_has_something_to_tell(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(pod())
        await world.after(2)
        assert await world.events("lone") == [
            ("Scheduled", "Successfully assigned default/lone to kubewright"),
            ("Pulling", 'Pulling image "nginx:1.29"'),
            ("Pulled", 'Successfully pulled image "nginx:1.29"'),
            ("Created", "Created container: main"),
            ("Started", "Started container main"),
        ]
        event = (await world.client.list(core_v1.Event, namespace="default"))[-1]
        assert event.involved_object.field_path == "spec.containers{main}"
        assert event.source is not None
        assert (event.source.component, event.source.host) == ("kubelet", "kubewright")

    in_cluster(scenario)


def test_an_image_that_is_there_is_not_pulled_again(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(pod("first"))
        await world.after(2)
        await world.client.create(pod("second"))
        await world.after(2)
        reasons = [reason for reason, _ in await world.events("second")]
        assert reasons == ["Scheduled", "Pulled", "Created", "Started"]

    in_cluster(scenario)


def test_pods_get_addresses_of_their_own(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        for name in ("a", "b"):
            await world.client.create(pod(name))
        await world.client.create(pod("c", host_network=True))
        await world.after(2)
        addresses = [(await read(world, name)).status.pod_ip for name in ("a", "b", "c")]
        assert addresses == ["10.244.0.2", "10.244.0.3", "172.18.0.2"]

    in_cluster(scenario)


def test_an_image_that_can_not_be_pulled(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(pod(annotations={FAULT_ANNOTATION: "image-pull-error"}))
        await world.after(1.2)
        found = await read(world)
        assert found.status.phase == "Pending"
        assert waiting(found)[0] == "ErrImagePull"
        await world.after(1)
        found = await read(world)
        assert waiting(found) == ("ImagePullBackOff", 'Back-off pulling image "nginx:1.29"')
        assert conditions(found)["Ready"] == ("False", "ContainersNotReady")
        await world.after(10)
        assert waiting(await read(world))[0] in {"ErrImagePull", "ImagePullBackOff"}
        told = await world.events("lone")
        assert ("Failed", "Error: ErrImagePull") in told
        assert ("BackOff", 'Back-off pulling image "nginx:1.29"') in told

    in_cluster(scenario)


def test_a_pod_recovers_when_the_annotation_goes(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(pod(annotations={FAULT_ANNOTATION: "image-pull-error"}))
        await world.after(5)
        await world.annotate("lone", FAULT_ANNOTATION, None)
        await world.after(1.5)
        found = await read(world)
        assert found.status.phase == "Running"
        assert conditions(found)["Ready"] == ("True", None)
        world.forget_requests()
        await world.after(3600)
        assert world.writes == []

    in_cluster(scenario)


def test_a_container_that_crashes_again_and_again(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(pod(annotations={FAULT_ANNOTATION: "crash-loop"}))
        await world.after(1.2)
        found = await read(world)
        assert found.status.phase == "Running"
        assert conditions(found)["Ready"] == ("False", "ContainersNotReady")
        await world.after(3)
        found = await read(world)
        reason, message = waiting(found)
        assert reason == "CrashLoopBackOff"
        assert message == f"back-off 10s restarting failed container=main pod=lone_default({found.uid})"
        container = (found.status.container_statuses or [])[0]
        assert container.restart_count == 1
        assert container.last_state is not None
        assert container.last_state.terminated is not None
        assert container.last_state.terminated.exit_code == 1
        assert container.last_state.terminated.reason == "Error"
        assert container.last_state.terminated.container_id == container.container_id
        await world.after(12)
        found = await read(world)
        assert (found.status.container_statuses or [])[0].restart_count == 2
        assert "back-off 20s" in (waiting(found)[1] or "")
        await world.after(3600)
        found = await read(world)
        assert "back-off 5m0s" in (waiting(found)[1] or "")
        told = await world.client.list(core_v1.Event, namespace="default")
        [back_off] = [event for event in told if event.reason == "BackOff"]
        assert back_off.count == (found.status.container_statuses or [])[0].restart_count

    in_cluster(scenario)


def test_a_running_pod_can_be_made_to_crash_and_recovers(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(pod())
        await world.after(2)
        await world.annotate("lone", FAULT_ANNOTATION, "crash-loop")
        await world.after(3)
        assert waiting(await read(world))[0] == "CrashLoopBackOff"
        await world.annotate("lone", FAULT_ANNOTATION, None)
        await world.after(0.1)
        found = await read(world)
        assert conditions(found)["Ready"] == ("True", None)
        container = (found.status.container_statuses or [])[0]
        assert container.restart_count == 2
        assert container.last_state is not None
        assert container.last_state.terminated is not None

    in_cluster(scenario)


def test_an_annotation_nobody_understands_is_told_of_once(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(pod(annotations={FAULT_ANNOTATION: "melt", READY_AFTER_ANNOTATION: "soon"}))
        await world.after(3)
        assert conditions(await read(world))["Ready"] == ("True", None)
        warnings = [message for reason, message in await world.events("lone") if reason == "InvalidSimulation"]
        assert warnings == [
            "annotation kubewright.dev/simulate: 'melt' is not simulated: use image-pull-error or crash-loop",
            "annotation kubewright.dev/ready-after: 'soon' is no duration: write it like 500ms, 5s or 1m30s",
        ]

    in_cluster(scenario)


def test_a_deleted_pod_stops_and_goes(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(pod())
        await world.after(2)
        await world.client.delete(core_v1.Pod, "lone", namespace="default")
        found = await read(world)
        assert found.metadata.deletion_grace_period_seconds == 30
        await world.after(1)
        assert await world.find(core_v1.Pod, "lone") is None
        assert ("Killing", "Stopping container main") in await world.events("lone")

    in_cluster(scenario)


def test_a_stopped_pod_that_finalizers_hold_stays_and_nobody_writes(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        held = pod()
        held.metadata.finalizers = ["example.com/hold"]
        await world.client.create(held)
        await world.after(2)
        await world.client.delete(core_v1.Pod, "lone", namespace="default")
        await world.after(5)
        found = await read(world)
        assert found.status.phase == "Succeeded"
        terminated = state(found).terminated
        assert terminated is not None
        assert (terminated.exit_code, terminated.reason) == (0, "Completed")
        assert conditions(found)["Ready"] == ("False", "PodCompleted")
        world.forget_requests()
        await world.after(3600)
        assert world.writes == []

        def release(obj: core_v1.Pod) -> None:
            obj.metadata.finalizers = None

        await world.client.edit(core_v1.Pod, "lone", release, namespace="default")
        assert await world.find(core_v1.Pod, "lone") is None

    in_cluster(scenario)


def test_a_pod_that_never_started_goes_at_once(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(pod(node_selector={"disk": "fast"}))
        await world.after(2)
        await world.client.delete(core_v1.Pod, "lone", namespace="default")
        assert await world.find(core_v1.Pod, "lone") is None

    in_cluster(scenario)


def test_init_containers_come_first(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(pod(init_containers=[core_v1.Container(name="setup", image="busybox")]))
        await world.after(0.5)
        found = await read(world)
        assert waiting(found) == ("PodInitializing", None)
        assert conditions(found)["Initialized"] == ("False", "ContainersNotInitialized")
        await world.after(1)
        found = await read(world)
        done = (found.status.init_container_statuses or [])[0]
        assert done.state is not None
        assert done.state.terminated is not None
        assert done.state.terminated.reason == "Completed"
        assert conditions(found)["Ready"] == ("True", None)

    in_cluster(scenario)


def test_readiness_gates_are_waited_for(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        gates = [core_v1.PodReadinessGate(condition_type="example.com/served")]
        await world.client.create(pod(readiness_gates=gates))
        await world.after(2)
        assert conditions(await read(world))["Ready"] == ("False", "ReadinessGatesNotReady")

        def serve(obj: core_v1.Pod) -> None:
            obj.status.conditions = [
                *(obj.status.conditions or ()),
                core_v1.PodCondition(type="example.com/served", status="True"),
            ]

        await world.client.edit(core_v1.Pod, "lone", serve, namespace="default", subresource="status")
        await world.after(0.1)
        found = conditions(await read(world))
        assert found["Ready"] == ("True", None)
        assert found["example.com/served"] == ("True", None)

    in_cluster(scenario)


def test_a_pod_that_fits_nowhere_waits_until_it_fits(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(pod(node_selector={"disk": "fast"}))
        await world.after(2)
        found = await read(world)
        assert conditions(found)["PodScheduled"] == ("False", "Unschedulable")
        assert await world.events("lone") == [
            (
                "FailedScheduling",
                "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
            )
        ]

        def label(node: core_v1.Node) -> None:
            node.metadata.labels = {**(node.metadata.labels or {}), "disk": "fast"}

        await world.client.edit(core_v1.Node, "kubewright", label)
        await world.after(2)
        assert conditions(await read(world))["Ready"] == ("True", None)

    in_cluster(scenario)


def test_a_gated_pod_is_scheduled_when_its_gates_are_open(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(pod(scheduling_gates=[core_v1.PodSchedulingGate(name="example.com/quota")]))
        await world.after(2)
        assert conditions(await read(world))["PodScheduled"] == ("False", "SchedulingGated")

    in_cluster(scenario)


def test_pods_of_other_schedulers_and_nodes_are_left_alone(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(pod("theirs", scheduler_name="mine"))
        await world.client.create(core_v1.Node(metadata=ObjectMeta(name="another")))
        await world.client.create(pod("elsewhere", node_name="another"))
        await world.after(60)
        assert (await read(world, "theirs")).spec.node_name is None
        assert (await read(world, "elsewhere")).status.phase == "Pending"

    in_cluster(scenario)


def test_pods_whose_node_does_not_exist_are_removed(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(pod("deleted", node_name="nowhere"))
        await world.client.create(pod("forgotten", node_name="nowhere"))
        await world.client.create(pod("lone"))
        await world.after(2)
        await world.client.delete(core_v1.Pod, "deleted", namespace="default")
        await world.after(1)
        assert await world.names(core_v1.Pod) == ["forgotten", "lone"]
        await world.after(60)
        assert await world.names(core_v1.Pod) == ["lone"]
        await world.client.delete(core_v1.Node, "kubewright")
        await world.after(60)
        assert await world.names(core_v1.Pod) == []

    in_cluster(scenario)


def test_the_node_looks_like_one(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        node = await world.client.get(core_v1.Node, "kubewright")
        assert {each.type: each.status for each in node.status.conditions} == {
            "MemoryPressure": "False",
            "DiskPressure": "False",
            "PIDPressure": "False",
            "Ready": "True",
        }
        lease = await world.client.get(coordination_v1.Lease, "kubewright", namespace="kube-node-lease")
        assert lease.spec.holder_identity == "kubewright"

    in_cluster(scenario)


def test_the_lease_is_renewed_only_if_asked_for(in_cluster: Any) -> None:
    async def renewals(world: Any) -> None:
        world.forget_requests()
        await world.after(35)

    assert len(in_cluster(renewals, simulation=Simulation(renew_lease_every=10)).writes) == 3
    assert in_cluster(renewals).writes == []


@pytest.mark.parametrize("count", [40])
def test_many_pods_at_once(in_cluster: Any, count: int) -> None:
    async def scenario(world: Any) -> None:
        for number in range(count):
            await world.client.create(pod(f"p{number}"))
        await world.after(2)
        phases = {each.status.phase for each in await world.client.list(core_v1.Pod, namespace="default")}
        assert phases == {"Running"}

    in_cluster(scenario)
