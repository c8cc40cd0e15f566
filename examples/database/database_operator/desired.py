"""What a Database stands for: a StatefulSet and the headless Service that names its pods. Pure functions."""

from __future__ import annotations

from typing import NamedTuple

from database_operator.api.v1alpha1 import Database
from kubewright import LabelSelector, ObjectMeta
from kubewright.kinds import apps_v1, core_v1


class EngineFacts(NamedTuple):
    port: int
    data: str


ENGINES = {
    "postgres": EngineFacts(port=5432, data="/var/lib/postgresql/data"),
    "mysql": EngineFacts(port=3306, data="/var/lib/mysql"),
    "mariadb": EngineFacts(port=3306, data="/var/lib/mysql"),
}


def labels(db: Database) -> dict[str, str]:
    return {"app": db.name, "managed-by": "database-operator"}


def statefulset(db: Database) -> apps_v1.StatefulSet:
    engine = ENGINES[db.spec.engine]
    container = core_v1.Container(
        name="database",
        image=f"{db.spec.engine}:{db.spec.version}",
        ports=[core_v1.ContainerPort(name="db", container_port=engine.port)],
        volume_mounts=[core_v1.VolumeMount(name="data", mount_path=engine.data)],
    )
    claim = core_v1.PersistentVolumeClaim(
        metadata=ObjectMeta(name="data"),
        spec=core_v1.PersistentVolumeClaimSpec(
            access_modes=["ReadWriteOnce"],
            storage_class_name=db.spec.storage.storage_class_name,
            resources=core_v1.VolumeResourceRequirements(requests={"storage": db.spec.storage.size}),
        ),
    )
    return apps_v1.StatefulSet(
        metadata=ObjectMeta(name=db.name, labels=labels(db)),
        spec=apps_v1.StatefulSetSpec(
            replicas=db.spec.replicas,
            service_name=db.name,
            selector=LabelSelector(match_labels=labels(db)),
            template=core_v1.PodTemplateSpec(
                metadata=ObjectMeta(labels=labels(db)), spec=core_v1.PodSpec(containers=[container])
            ),
            volume_claim_templates=[claim],
        ),
    )


def service(db: Database) -> core_v1.Service:
    return core_v1.Service(
        metadata=ObjectMeta(name=db.name, labels=labels(db)),
        spec=core_v1.ServiceSpec(
            cluster_ip="None",
            selector=labels(db),
            ports=[core_v1.ServicePort(name="db", port=ENGINES[db.spec.engine].port, target_port="db")],
        ),
    )
