"""Which claims a pod uses."""

from __future__ import annotations

from kubewright.kinds import core_v1

__all__ = ["claims_of"]


def claims_of(pod: core_v1.Pod) -> list[str]:
    """Names of the volume claims that the pod mounts, those made for its ephemeral volumes included."""
    names = []
    for volume in pod.spec.volumes or ():
        if volume.persistent_volume_claim is not None:
            names.append(volume.persistent_volume_claim.claim_name)
        elif volume.ephemeral is not None:
            names.append(f"{pod.name}-{volume.name}")
    return names
