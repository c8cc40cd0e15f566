"""The operator: from a Database, make the world match."""

from __future__ import annotations

from database_operator import desired
from database_operator.api.v1alpha1 import Database
from kubewright import Context, Operator, Watch, owner_label
from kubewright.kinds import apps_v1, core_v1

operator = Operator("database-operator")

CANNOT_START = {
    "CrashLoopBackOff",
    "CreateContainerConfigError",
    "CreateContainerError",
    "ErrImagePull",
    "ImagePullBackOff",
    "InvalidImageName",
}


@operator.controller(
    Database,
    owns=[apps_v1.StatefulSet, core_v1.Service],
    watches=[Watch(core_v1.Pod, to=owner_label("app"))],  # a StatefulSet's status does not say why its pods can't start
    prune=[core_v1.PersistentVolumeClaim],  # holds data, so deleting it has to be declared
)
async def reconcile(db: Database, ctx: Context) -> None:
    # The complete set of what should exist for db: owner references are set, and what is no longer in it goes.
    statefulset, _ = await ctx.apply_all(desired.statefulset(db), desired.service(db))

    ready, wanted = statefulset.status.ready_replicas or 0, db.spec.replicas
    done = ready == wanted
    failure = None if done else why_pods_cannot_start(ctx.list(core_v1.Pod, labels=desired.labels(db)))

    db.status.ready_replicas = ready
    db.status.phase = "Running" if done else "Failed" if failure else "Pending"
    reason = "ReplicasReady" if done else "ReplicasPending"
    ctx.conditions.set("Available", done, reason=reason, message=f"{ready}/{wanted} replicas are ready")
    progress = "Complete" if done else "RollingOut", f"{ready}/{wanted} replicas are up to date and ready"
    reason, message = failure or progress
    ctx.conditions.set("Progressing", not done and not failure, reason=reason, message=message)
    # Returning is enough: status that changed is written, once.


def why_pods_cannot_start(pods: list[core_v1.Pod]) -> tuple[str, str] | None:
    """Reason and message of the first pod that waits for something it will not get by waiting."""
    for pod in sorted(pods, key=lambda pod: pod.name):
        for container in pod.status.container_statuses or []:
            waiting = container.state.waiting if container.state else None
            if waiting and waiting.reason in CANNOT_START:
                return waiting.reason, f"pod {pod.name}: {waiting.reason}: {waiting.message or 'no message'}"
    return None


@operator.finalizer(Database, name="apps.example.com/volumes")
async def cleanup(db: Database, ctx: Context) -> None:
    """Runs before a Database goes: a StatefulSet leaves its volume claims behind, and they cost money."""
    for claim in ctx.list(core_v1.PersistentVolumeClaim, labels=desired.labels(db)):
        await ctx.delete(claim)
        ctx.log.info("volume claim deleted", claim=claim.name)
