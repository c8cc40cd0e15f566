"""How a pod's life looks in its status, as a real kubelet writes it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from hashlib import blake2b

import msgspec
from msgspec import Struct

from kubewright.api import whole_seconds
from kubewright.devcluster.controllers.kubelet.durations import format_duration
from kubewright.devcluster.controllers.kubelet.images import full_image_name, image_id, pull_error
from kubewright.devcluster.controllers.kubelet.life import Life, Stage, Termination, back_off
from kubewright.devcluster.controllers.settings import Simulation
from kubewright.kinds import core_v1

__all__ = ["Placement", "container_id", "pod_status"]


class Placement(Struct, frozen=True):
    """Where a pod is."""

    host_ip: str
    pod_ip: str


def pod_status(
    pod: core_v1.Pod, life: Life, placement: Placement, *, healthy: bool, now: datetime, simulation: Simulation
) -> core_v1.PodStatus:
    """The status to write; ``healthy``: what runs is ready too. Conditions that the kubelet does not own, and
    transition times, are kept from ``pod``.
    """
    before = pod.status
    names = [container.name for container in pod.spec.containers]
    has_ip = life.stage is not Stage.CREATING or life.has_run
    initialized = life.has_run or life.stage is not Stage.CREATING
    ready = life.stage is Stage.RUNNING and healthy
    return msgspec.structs.replace(
        before,
        phase=_phase(life),
        conditions=_conditions(pod, life, names, ready=ready, initialized=initialized, now=now),
        start_time=before.start_time or whole_seconds(now),
        host_ip=placement.host_ip,
        host_ips=[core_v1.HostIP(ip=placement.host_ip)],
        pod_ip=placement.pod_ip if has_ip else None,
        pod_ips=[core_v1.PodIP(ip=placement.pod_ip)] if has_ip else None,
        observed_generation=pod.metadata.generation,
        init_container_statuses=[
            _init_status(pod, container, life, initialized=initialized) for container in pod.spec.init_containers or ()
        ]
        or None,
        container_statuses=[
            _container_status(pod, container, life, ready=ready, simulation=simulation)
            for container in pod.spec.containers
        ],
    )


def _phase(life: Life) -> str:
    if life.stage is Stage.STOPPED:
        return "Succeeded"
    return "Running" if life.has_run else "Pending"


# conditions


def _conditions(
    pod: core_v1.Pod, life: Life, names: list[str], *, ready: bool, initialized: bool, now: datetime
) -> list[core_v1.PodCondition]:
    generation = pod.metadata.generation
    before = {condition.type: condition for condition in pod.status.conditions or ()}
    stopped = life.stage is Stage.STOPPED
    sandboxed = not stopped and (life.has_run or life.stage is not Stage.CREATING)
    unready = f"containers with unready status: [{' '.join(names)}]"
    containers = _verdict(ready, "PodCompleted" if stopped else "ContainersNotReady", "" if stopped else unready)
    gates = _failed_gates(pod, before)
    whole = _verdict(False, "ReadinessGatesNotReady", gates) if ready and gates else containers
    incomplete = f"containers with incomplete status: [{' '.join(c.name for c in pod.spec.init_containers or ())}]"
    has_inits = bool(pod.spec.init_containers)
    wanted = {
        "PodReadyToStartContainers": _verdict(sandboxed),
        "Initialized": _verdict(initialized or not has_inits, "ContainersNotInitialized", incomplete),
        "Ready": whole,
        "ContainersReady": containers,
        "PodScheduled": _verdict(True),
    }
    ours = [
        _condition(kind, verdict, before.get(kind), generation=generation, now=now) for kind, verdict in wanted.items()
    ]
    return ours + [condition for kind, condition in before.items() if kind not in wanted]


class _Verdict(Struct, frozen=True):
    status: str
    reason: str | None
    message: str | None


def _verdict(value: bool, reason: str = "", message: str = "") -> _Verdict:
    return _Verdict("True", None, None) if value else _Verdict("False", reason or None, message or None)


def _condition(
    kind: str, verdict: _Verdict, before: core_v1.PodCondition | None, *, generation: int | None, now: datetime
) -> core_v1.PodCondition:
    kept = before.last_transition_time if before is not None and before.status == verdict.status else None
    return core_v1.PodCondition(
        type=kind,
        status=verdict.status,
        reason=verdict.reason,
        message=verdict.message,
        last_transition_time=kept or whole_seconds(now),
        observed_generation=generation,
    )


def _failed_gates(pod: core_v1.Pod, conditions: dict[str, core_v1.PodCondition]) -> str:
    """What keeps a pod with readiness gates from being ready, in the kubelet's words; empty when nothing does."""
    complaints = []
    for gate in pod.spec.readiness_gates or ():
        found = conditions.get(gate.condition_type)
        if found is None:
            complaints.append(f'corresponding condition of pod readiness gate "{gate.condition_type}" does not exist.')
        elif found.status != "True":
            complaints.append(
                f'the status of pod readiness gate "{gate.condition_type}" is not "True", but {found.status}'
            )
    return ", ".join(complaints)


# containers


def container_id(pod: core_v1.Pod, container: str, start: int) -> str:
    """Looks like containerd's, and is the same for the same start of the same container."""
    seed = f"{pod.metadata.uid}/{container}/{start}".encode()
    return f"containerd://{blake2b(seed, digest_size=32).hexdigest()}"


def _container_status(
    pod: core_v1.Pod, container: core_v1.Container, life: Life, *, ready: bool, simulation: Simulation
) -> core_v1.ContainerStatus:
    image = container.image or ""
    running = life.stage is Stage.RUNNING or (life.stage is Stage.STOPPING and _runs(life))
    started = life.has_run
    return core_v1.ContainerStatus(
        name=container.name,
        image=full_image_name(image) if started else image,
        image_id=image_id(image) if started else "",
        container_id=container_id(pod, container.name, life.restarts) if started else None,
        state=_state(pod, container, life, simulation),
        last_state=core_v1.ContainerState(terminated=_last_termination(pod, container, life)),
        ready=ready,
        started=running,
        restart_count=life.restarts,
        resources=container.resources or core_v1.ResourceRequirements(),
        volume_mounts=_mounts(container.volume_mounts or ()) or None,
    )


def _runs(life: Life) -> bool:
    return life.has_run and (life.ended is None or life.ended.start < life.restarts)


def _state(
    pod: core_v1.Pod, container: core_v1.Container, life: Life, simulation: Simulation
) -> core_v1.ContainerState:
    image = container.image or ""
    match life.stage:
        case Stage.RUNNING:
            return _running(life)
        case Stage.STOPPING if _runs(life):
            return _running(life)
        case Stage.PULL_FAILED:
            return _waiting("ErrImagePull", pull_error(image))
        case Stage.PULL_BACK_OFF:
            return _waiting("ImagePullBackOff", f'Back-off pulling image "{image}"')
        case Stage.CRASH_BACK_OFF:
            seconds = format_duration(back_off(life.failures - 1, simulation))
            who = f"container={container.name} pod={pod.name}_{pod.namespace}({pod.uid})"
            return _waiting("CrashLoopBackOff", f"back-off {seconds} restarting failed {who}")
        case Stage.CRASHED | Stage.STOPPED | Stage.STOPPING if life.ended is not None:
            return core_v1.ContainerState(terminated=_terminated(pod, container, life.ended))
    return _waiting("PodInitializing" if pod.spec.init_containers else "ContainerCreating")


def _running(life: Life) -> core_v1.ContainerState:
    started = whole_seconds(life.started_at) if life.started_at else None
    return core_v1.ContainerState(running=core_v1.ContainerStateRunning(started_at=started))


def _waiting(reason: str, message: str | None = None) -> core_v1.ContainerState:
    return core_v1.ContainerState(waiting=core_v1.ContainerStateWaiting(reason=reason, message=message))


def _last_termination(
    pod: core_v1.Pod, container: core_v1.Container, life: Life
) -> core_v1.ContainerStateTerminated | None:
    """The end before the current state: not the one that the current state itself shows."""
    shown = life.stage in {Stage.CRASHED, Stage.STOPPED}
    if life.ended is None or (shown and life.ended.start == life.restarts):
        return None
    return _terminated(pod, container, life.ended)


def _terminated(pod: core_v1.Pod, container: core_v1.Container, ended: Termination) -> core_v1.ContainerStateTerminated:
    return core_v1.ContainerStateTerminated(
        exit_code=ended.exit_code,
        reason="Completed" if ended.exit_code == 0 else "Error",
        started_at=whole_seconds(ended.started_at),
        finished_at=whole_seconds(ended.finished_at),
        container_id=container_id(pod, container.name, ended.start),
    )


def _mounts(mounts: Iterable[core_v1.VolumeMount]) -> list[core_v1.VolumeMountStatus]:
    return [
        core_v1.VolumeMountStatus(
            name=mount.name,
            mount_path=mount.mount_path,
            read_only=mount.read_only,
            recursive_read_only="Disabled" if mount.read_only else None,
        )
        for mount in mounts
    ]


def _init_status(
    pod: core_v1.Pod, container: core_v1.Container, life: Life, *, initialized: bool
) -> core_v1.ContainerStatus:
    """Init containers succeed at once; those that restart always are sidecars, and run."""
    image = container.image or ""
    sidecar = container.restart_policy == "Always"
    state = _waiting("PodInitializing")
    began = life.started_at or pod.status.start_time
    if initialized and sidecar and life.stage is not Stage.STOPPED:
        state = core_v1.ContainerState(
            running=core_v1.ContainerStateRunning(started_at=whole_seconds(began) if began else None)
        )
    elif initialized and began is not None:
        state = core_v1.ContainerState(terminated=_terminated(pod, container, Termination(0, 0, began, began)))
    return core_v1.ContainerStatus(
        name=container.name,
        image=full_image_name(image) if initialized else image,
        image_id=image_id(image) if initialized else "",
        container_id=container_id(pod, container.name, 0) if initialized else None,
        state=state,
        last_state=core_v1.ContainerState(),
        ready=initialized,
        started=sidecar and initialized,
        restart_count=0,
        resources=container.resources or core_v1.ResourceRequirements(),
        volume_mounts=_mounts(container.volume_mounts or ()) or None,
    )
