"""Tables of the built-in kinds that `columns` leaves out: what ``kubectl get`` shows of each."""

from __future__ import annotations

import json
from typing import Any

from tests.conformance.kinds import show_table
from tests.conformance.registry import case
from tests.conformance.world import World

_CONTAINERS: list[dict[str, Any]] = [{"name": "c", "image": "i"}, {"name": "d", "image": "j"}]
_TEMPLATE: dict[str, Any] = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": _CONTAINERS}}
_RBAC = "rbac.authorization.k8s.io"

_CLUSTER_SCOPED: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "/api/v1/nodes",
        {
            "spec": {"unschedulable": True},
            "status": {
                "addresses": [{"type": "InternalIP", "address": "1.2.3.4"}],
                "nodeInfo": {
                    "kubeletVersion": "v1",
                    "osImage": "os",
                    "kernelVersion": "k",
                    "containerRuntimeVersion": "c://1",
                    "machineID": "",
                    "systemUUID": "",
                    "bootID": "",
                    "kubeProxyVersion": "",
                    "operatingSystem": "",
                    "architecture": "",
                },
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        },
    ),
    (
        "/api/v1/persistentvolumes",
        {
            "spec": {
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce", "ReadOnlyMany"],
                "hostPath": {"path": "/x"},
                "storageClassName": "s",
                "claimRef": {"namespace": "n", "name": "c"},
            }
        },
    ),
    (
        "/apis/storage.k8s.io/v1/storageclasses",
        {
            "provisioner": "p",
            "volumeBindingMode": "WaitForFirstConsumer",
            "allowVolumeExpansion": True,
            "metadata": {"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
        },
    ),
    (
        "/apis/storage.k8s.io/v1/volumeattachments",
        {"spec": {"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "v"}}},
    ),
    ("/apis/storage.k8s.io/v1/csinodes", {"spec": {"drivers": [{"name": "d", "nodeID": "n", "topologyKeys": None}]}}),
    ("/apis/scheduling.k8s.io/v1/priorityclasses", {"value": 7, "description": "d"}),
    ("/apis/node.k8s.io/v1/runtimeclasses", {"handler": "h"}),
    (
        "/apis/networking.k8s.io/v1/ingressclasses",
        {"spec": {"controller": "x.dev/c", "parameters": {"kind": "K", "name": "n", "apiGroup": "g.dev"}}},
    ),
    ("/apis/rbac.authorization.k8s.io/v1/clusterroles", {"rules": []}),
    (
        "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
        {
            "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": "x"},
            "subjects": [{"kind": "Group", "name": "g", "apiGroup": _RBAC}],
        },
    ),
    ("/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", {"webhooks": []}),
    ("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", {"webhooks": []}),
)

_NAMESPACED: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "/api/v1/namespaces/{ns}/events",
        {
            "involvedObject": {"kind": "Pod", "name": "p", "namespace": "{ns}", "fieldPath": "spec.x"},
            "reason": "R",
            "message": " M\n",
            "type": "Warning",
            "source": {"component": "c", "host": "h"},
            "count": 3,
        },
    ),
    (
        "/api/v1/namespaces/{ns}/endpoints",
        {
            "subsets": [
                {
                    "addresses": [{"ip": "1.2.3.4"}, {"ip": "1.2.3.5"}],
                    "ports": [{"name": "a", "port": 80}, {"port": 81, "name": "b"}],
                }
            ]
        },
    ),
    (
        "/api/v1/namespaces/{ns}/resourcequotas",
        {"spec": {"hard": {"pods": "1000", "requests.cpu": "1", "limits.memory": "1Gi"}}},
    ),
    ("/api/v1/namespaces/{ns}/limitranges", {"spec": {"limits": [{"type": "Container", "max": {"cpu": "1"}}]}}),
    ("/api/v1/namespaces/{ns}/podtemplates", {"template": _TEMPLATE}),
    (
        "/api/v1/namespaces/{ns}/replicationcontrollers",
        {"spec": {"replicas": 0, "selector": {"a": "b"}, "template": _TEMPLATE}},
    ),
    ("/api/v1/namespaces/{ns}/serviceaccounts", {}),
    (
        "/apis/apps/v1/namespaces/{ns}/controllerrevisions",
        {
            "revision": 3,
            "data": {},
            "metadata": {
                "ownerReferences": [
                    {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "s", "uid": "u", "controller": True}
                ]
            },
        },
    ),
    (
        "/apis/batch/v1/namespaces/{ns}/jobs",
        {
            "spec": {
                "parallelism": 0,
                "completions": 2,
                "manualSelector": True,  # as what is generated is another label since 1.27
                "selector": {"matchLabels": {"a": "b"}},
                "template": {
                    "metadata": {"labels": {"a": "b"}},
                    "spec": {
                        "containers": [{"name": "c", "image": "i"}, {"name": "d", "image": "j"}],
                        "restartPolicy": "Never",
                    },
                },
            }
        },
    ),
    (
        "/apis/autoscaling/v1/namespaces/{ns}/horizontalpodautoscalers",
        {
            "spec": {
                "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"},
                "minReplicas": 2,
                "maxReplicas": 5,
                "targetCPUUtilizationPercentage": 50,
            }
        },
    ),
    (
        "/apis/networking.k8s.io/v1/namespaces/{ns}/ingresses",
        {
            "spec": {
                "ingressClassName": "c",
                "tls": [{"hosts": ["h"], "secretName": "s"}],
                "rules": [
                    {
                        "host": "h.dev",
                        "http": {
                            "paths": [
                                {
                                    "path": "/",
                                    "pathType": "Prefix",
                                    "backend": {"service": {"name": "s", "port": {"number": 80}}},
                                }
                            ]
                        },
                    }
                ],
            }
        },
    ),
    (
        "/apis/networking.k8s.io/v1/namespaces/{ns}/networkpolicies",
        {"spec": {"podSelector": {"matchLabels": {"a": "b"}}}},
    ),
    ("/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles", {"rules": []}),
)


@case("list as a table", given="an object of each cluster-scoped kind", truth="1.20")
async def cluster_scoped(w: World) -> None:
    for path, body in _CLUSTER_SCOPED:
        plural = path.rpartition("/")[2]
        name = w.unique(plural)
        created = await w.create(path, {**body, "metadata": {**body.get("metadata", {}), "name": name}})
        assert created.status == 201, created.body
        if "status" in body:
            await w.merge(f"{path}/{name}/status", {"status": body["status"]})
        await show_table(w, plural, path, name=name)
        await w.delete(f"{path}/{name}")


@case("list as a table", given="an object of each namespaced kind", truth="1.20")
async def namespaced(w: World) -> None:
    for path, given in _NAMESPACED:
        body = json.loads(json.dumps(given).replace("{ns}", w.namespace))
        created = await w.create(path, {**body, "metadata": {**body.get("metadata", {}), "name": "a"}})
        assert created.status == 201, created.body
        if path.endswith("/resourcequotas"):  # as a real server's controller does at its leisure
            hard = given["spec"]["hard"]
            await w.merge(f"{path}/a/status", {"status": {"hard": hard, "used": dict.fromkeys(hard, "0")}})
        await show_table(w, path.rpartition("/")[2], path, name="a")
