"""Objects that make little sense must not stop the cluster, nor keep it busy."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubewright.api import ObjectMeta
from kubewright.client import HttpRequest
from kubewright.devcluster.in_process import InProcessTransport
from kubewright.kinds import core_v1

TEMPLATE = {"metadata": {"labels": {"app": "odd"}}, "spec": {"containers": [{"name": "main", "image": "nginx"}]}}
SELECTOR = {"matchLabels": {"app": "odd"}}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}

ODD: dict[str, tuple[str, dict[str, Any]]] = {
    "a StatefulSet without a service": (
        "/apis/apps/v1/namespaces/default/statefulsets",
        {"spec": {"selector": SELECTOR, "template": TEMPLATE, "serviceName": ""}},
    ),
    "a StatefulSet with a nameless claim": (
        "/apis/apps/v1/namespaces/default/statefulsets",
        {"spec": {"selector": SELECTOR, "template": TEMPLATE, "volumeClaimTemplates": [{"spec": CLAIM}]}},
    ),
    "a StatefulSet whose pods are refused": (
        "/apis/apps/v1/namespaces/default/statefulsets",
        {
            "spec": {
                "selector": SELECTOR,
                "template": {**TEMPLATE, "spec": {"containers": [{"name": "main", "image": " "}], "nodeName": "x y"}},
            }
        },
    ),
    "a pod with a strange image": (
        "/api/v1/namespaces/default/pods",
        {"spec": {"containers": [{"name": "main", "image": "::/@"}]}},
    ),
    "a pod with a claim that is not there": (
        "/api/v1/namespaces/default/pods",
        {
            "spec": {
                "containers": [{"name": "main", "image": "nginx"}],
                "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "nothing"}}],
            }
        },
    ),
    "a claim of unreadable size": (
        "/api/v1/namespaces/default/persistentvolumeclaims",
        {"spec": {**CLAIM, "resources": {"requests": {"storage": "1e3"}}}},
    ),
    "a Deployment of strange proportions": (
        "/apis/apps/v1/namespaces/default/deployments",
        {
            "spec": {
                "selector": SELECTOR,
                "template": TEMPLATE,
                "strategy": {"rollingUpdate": {"maxSurge": "0%", "maxUnavailable": 1}},
            }
        },
    ),
    "a Service with a port that nothing has": (
        "/api/v1/namespaces/default/services",
        {"spec": {"selector": {"app": "odd"}, "ports": [{"port": 80, "targetPort": "nothing"}]}},
    ),
}


@pytest.mark.parametrize("what", ODD)
def test_an_odd_object_disturbs_nobody(in_cluster: Any, what: str) -> None:
    path, body = ODD[what]

    async def scenario(world: Any) -> None:
        answer = await InProcessTransport(world.server).request(
            HttpRequest(
                "POST",
                path,
                (),
                {"content-type": "application/json"},
                msgspec.json.encode({"metadata": {"name": "odd"}, **body}),
            )
        )
        if answer.status == 422:  # then it does not get this far
            return
        assert answer.status == 201, answer.body
        await world.after(5)
        await world.client.create(
            core_v1.Pod(
                metadata=ObjectMeta(name="normal", namespace="default"),
                spec=core_v1.PodSpec(containers=[core_v1.Container(name="main", image="nginx")]),
            )
        )
        await world.after(2)
        assert (await world.client.get(core_v1.Pod, "normal", namespace="default")).status.phase == "Running"
        await world.after(600)
        world.forget_requests()
        await world.after(600)
        assert len(world.writes) < 10, [(write.method, write.path) for write in world.writes]

    in_cluster(scenario, quiet=False)


def test_a_foreign_pod_in_the_way_is_told_of(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        container = core_v1.Container(name="main", image="nginx")
        await world.client.create(
            core_v1.Pod(
                metadata=ObjectMeta(name="odd-0", namespace="default"), spec=core_v1.PodSpec(containers=[container])
            )
        )
        request = HttpRequest(
            "POST",
            "/apis/apps/v1/namespaces/default/statefulsets",
            (),
            {"content-type": "application/json"},
            msgspec.json.encode(
                {
                    "metadata": {"name": "odd"},
                    "spec": {"serviceName": "odd", "selector": SELECTOR, "template": TEMPLATE},
                }
            ),
        )
        assert (await InProcessTransport(world.server).request(request)).status == 201
        await world.after(5)
        reasons = {reason for reason, _ in await world.events("odd")}
        assert reasons == {"FailedCreate"}
        await world.client.delete(core_v1.Pod, "odd-0", namespace="default")
        await world.after(60)
        pod = await world.client.get(core_v1.Pod, "odd-0", namespace="default")
        assert pod.status.phase == "Running"

    in_cluster(scenario, quiet=False)
