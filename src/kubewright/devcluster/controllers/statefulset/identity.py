"""What makes a pod of a StatefulSet this one and no other: its name, labels, host name and volumes."""

from __future__ import annotations

import re

from kubewright.api import ObjectMeta, convert, to_dict
from kubewright.devcluster.controllers.pods import pod_from_template
from kubewright.kinds import apps_v1, core_v1

__all__ = [
    "POD_INDEX_LABEL",
    "POD_NAME_LABEL",
    "REVISION_LABEL",
    "claim_for",
    "claim_name",
    "claims_for",
    "first_ordinal",
    "new_pod",
    "ordinal_of",
    "pod_name",
    "revision_of",
]

POD_NAME_LABEL = "statefulset.kubernetes.io/pod-name"
POD_INDEX_LABEL = "apps.kubernetes.io/pod-index"
REVISION_LABEL = "controller-revision-hash"

_NAME = re.compile(r"(.*)-(0|[1-9][0-9]{0,8})")


def pod_name(statefulset: apps_v1.StatefulSet, ordinal: int) -> str:
    return f"{statefulset.name}-{ordinal}"


def ordinal_of(statefulset: apps_v1.StatefulSet, pod: core_v1.Pod) -> int | None:
    """The pod's place; None for a pod that only looks like one of the set's."""
    match = _NAME.fullmatch(pod.name)
    return int(match[2]) if match and match[1] == statefulset.name else None


def first_ordinal(statefulset: apps_v1.StatefulSet) -> int:
    return (statefulset.spec.ordinals.start if statefulset.spec.ordinals else None) or 0


def revision_of(pod: core_v1.Pod) -> str | None:
    return (pod.metadata.labels or {}).get(REVISION_LABEL)


def claim_name(statefulset: apps_v1.StatefulSet, template: core_v1.PersistentVolumeClaim, ordinal: int) -> str:
    return f"{template.name}-{pod_name(statefulset, ordinal)}"


def claim_for(
    statefulset: apps_v1.StatefulSet, template: core_v1.PersistentVolumeClaim, ordinal: int
) -> core_v1.PersistentVolumeClaim:
    """The claim of one pod for one template, with the selector's labels besides its own."""
    selected = statefulset.spec.selector.match_labels or {}
    return core_v1.PersistentVolumeClaim(
        metadata=ObjectMeta(
            name=claim_name(statefulset, template, ordinal),
            namespace=statefulset.namespace,
            labels={**(template.metadata.labels or {}), **selected} or None,
            annotations=dict(template.metadata.annotations or {}) or None,
        ),
        spec=convert(to_dict(template.spec), core_v1.PersistentVolumeClaimSpec),
    )


def claims_for(statefulset: apps_v1.StatefulSet, ordinal: int) -> list[core_v1.PersistentVolumeClaim]:
    return [claim_for(statefulset, template, ordinal) for template in statefulset.spec.volume_claim_templates or ()]


def new_pod(
    statefulset: apps_v1.StatefulSet, template: core_v1.PodTemplateSpec, revision: str, ordinal: int
) -> core_v1.Pod:
    pod = pod_from_template(template, statefulset)
    name = pod_name(statefulset, ordinal)
    pod.metadata.name = name
    pod.metadata.generate_name = f"{statefulset.name}-"
    pod.metadata.labels = {
        **(pod.metadata.labels or {}),
        POD_INDEX_LABEL: str(ordinal),
        REVISION_LABEL: revision,
        POD_NAME_LABEL: name,
    }
    pod.spec.hostname = name
    pod.spec.subdomain = statefulset.spec.service_name
    pod.spec.volumes = _volumes(statefulset, pod, ordinal) or None
    return pod


def _volumes(statefulset: apps_v1.StatefulSet, pod: core_v1.Pod, ordinal: int) -> list[core_v1.Volume]:
    own = [
        core_v1.Volume(
            name=template.name,
            persistent_volume_claim=core_v1.PersistentVolumeClaimVolumeSource(
                claim_name=claim_name(statefulset, template, ordinal)
            ),
        )
        for template in statefulset.spec.volume_claim_templates or ()
    ]
    names = {volume.name for volume in own}
    return own + [volume for volume in pod.spec.volumes or () if volume.name not in names]
