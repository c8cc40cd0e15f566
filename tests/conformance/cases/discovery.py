"""Discovery: what a group version lists, and the version that objects are kept in."""

from __future__ import annotations

from tests.conformance.registry import case
from tests.conformance.resources import GROUP
from tests.conformance.world import World

_OLD = {
    "/api/v1": (
        "bindings componentstatuses configmaps endpoints events limitranges namespaces namespaces/status nodes "
        "persistentvolumeclaims persistentvolumes pods pods/eviction pods/log podtemplates replicationcontrollers "
        "replicationcontrollers/scale resourcequotas secrets serviceaccounts serviceaccounts/token services"
    ),
    "/apis/apps/v1": "controllerrevisions daemonsets deployments deployments/scale replicasets statefulsets",
    "/apis/events.k8s.io/v1": "events",
    "/apis/batch/v1": "jobs jobs/status",
    "/apis/rbac.authorization.k8s.io/v1": "clusterrolebindings clusterroles rolebindings roles",
    "/apis/networking.k8s.io/v1": "networkpolicies",
    "/apis/storage.k8s.io/v1": "csinodes storageclasses volumeattachments",
    "/apis/authentication.k8s.io/v1": "tokenreviews",
    "/apis/authorization.k8s.io/v1": "localsubjectaccessreviews selfsubjectaccessreviews",
}
"""Resources that the server of the time had, and keeps in the version that it still does."""


@case("read the resources of a version", given="built-in kinds", truth="1.20")
async def built_in_resources(w: World) -> None:
    for path, names in _OLD.items():
        answer = await w.get(path)
        found = {each["name"]: each for each in answer["resources"]}
        w.transcript.add(path, hashes={name: found[name].get("storageVersionHash") for name in names.split()})


@case("read the resources of a version", given="custom resources")
async def custom_resources(w: World) -> None:
    answer = await w.get(f"/apis/{GROUP}/v1")
    body = {**answer.body, "resources": sorted(answer["resources"], key=lambda each: str(each["name"]))}
    w.transcript.add_answer("list", answer.status, answer.headers, body)
