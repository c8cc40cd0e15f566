"""The scale of built-in kinds: who owns the replicas after it is written, as servers since 1.22 keep books of it."""

from __future__ import annotations

from typing import Any

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"


def deployment(**spec: Any) -> dict[str, Any]:
    labels = {"app": "a"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "a"},
        "spec": {"selector": {"matchLabels": labels}, "template": template, **spec},
    }


def scale(replicas: int) -> dict[str, Any]:
    return {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {"name": "a"},
        "spec": {"replicas": replicas},
    }


def owners_of_replicas(api: Any) -> list[tuple[str, str, str]]:
    entries = api.get(f"{DEPLOYMENTS}/a").body["metadata"]["managedFields"]
    return [
        (entry["manager"], entry["operation"], entry.get("subresource", ""))
        for entry in entries
        if "f:replicas" in entry["fieldsV1"].get("f:spec", {})
    ]


def test_an_apply_to_the_scale_takes_the_replicas_only_by_force(api: Any) -> None:
    api.patch(f"{DEPLOYMENTS}/a", deployment(replicas=1), "apply", fieldManager="owner")
    refused = api.patch(f"{DEPLOYMENTS}/a/scale", scale(3), "apply", fieldManager="scaler")
    assert refused.status == 409
    assert refused.message == 'Apply failed with 1 conflict: conflict with "owner": .spec.replicas'
    forced = api.patch(f"{DEPLOYMENTS}/a/scale", scale(3), "apply", fieldManager="scaler", force="true")
    assert (forced.status, forced.body["spec"]) == (200, {"replicas": 3})
    assert owners_of_replicas(api) == [("scaler", "Apply", "scale")]
    again = api.patch(f"{DEPLOYMENTS}/a", deployment(), "apply", fieldManager="owner")
    assert again.body["spec"]["replicas"] == 3


def test_who_scales_by_an_update_owns_the_replicas_through_the_scale(api: Any) -> None:
    api.post(DEPLOYMENTS, deployment(replicas=1), fieldManager="creator")
    api.put(f"{DEPLOYMENTS}/a/scale", scale(2), fieldManager="scaler")
    assert owners_of_replicas(api) == [("scaler", "Update", "scale")]
    refused = api.patch(f"{DEPLOYMENTS}/a/scale", scale(3), "apply", fieldManager="other")
    assert 'conflict with "scaler" with subresource "scale" using autoscaling/v1' in refused.message
