"""What a server fills into lists and maps that are one unit is no reason to apply them again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kubewright import Context, Operator, Resource
from kubewright.api import convert, to_dict
from kubewright.client import MergePatch
from kubewright.kinds import apps_v1, batch_v1, core_v1, discovery_v1, networking_v1, rbac_v1
from tests.conformance.clients.servers import Server, eventually
from tests.conformance.operator.working import Gadget, World, try_out

pytestmark = pytest.mark.servers("embedded", "1.36")  # 1.20 is not the truth about server-side apply

RESOURCE: dict[str, Any] = {"resourceFieldRef": {"containerName": "main", "resource": "limits.cpu"}}
NAME: dict[str, Any] = {"fieldRef": {"fieldPath": "metadata.name"}}
FILES = [{"path": "name", **NAME}, {"path": "cpu", **RESOURCE}]


def pod(**token: int) -> dict[str, Any]:
    env = [{"name": "NAME", "valueFrom": NAME}, {"name": "CPU", "valueFrom": RESOURCE}]
    sources = [{"serviceAccountToken": {"path": "token", **token}}, {"downwardAPI": {"items": FILES}}]
    return {
        "restartPolicy": "Always",
        "containers": [{"name": "main", "image": "nginx:1", "env": env}],
        "volumes": [
            {"name": "all", "projected": {"sources": sources}},
            {"name": "self", "downwardAPI": {"items": FILES}},
        ],
    }


def template(**token: int) -> dict[str, Any]:
    return {"metadata": {"labels": {"app": "g"}}, "spec": pod(**token)}


def stateful_set(**token: int) -> apps_v1.StatefulSet:
    size = {"requests": {"storage": "1Gi"}}
    claims = [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": size}}]
    selector = {"matchLabels": {"app": "g"}}
    spec = {"replicas": 0, "serviceName": "g", "selector": selector, "template": template(**token)}
    return convert({"metadata": {"name": "g"}, "spec": {**spec, "volumeClaimTemplates": claims}}, apps_v1.StatefulSet)


def job_spec() -> dict[str, Any]:
    # our build of 1.36 does without defaults of pointers and enums, so a condition's status, of all these, is written out
    rules = [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]
    made = {**template(), "spec": {**pod(), "restartPolicy": "Never"}}
    return {"suspend": True, "podFailurePolicy": {"rules": rules}, "template": made}


def children() -> list[Resource]:
    ports = [{"port": 80}, {"port": 53, "protocol": "UDP"}]
    policy = {"podSelector": {}, "ingress": [{"ports": ports}], "egress": [{"ports": ports}]}
    subjects = [{"kind": "User", "name": "u"}, {"kind": "ServiceAccount", "name": "s", "namespace": "default"}]
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}
    named = {"metadata": {"name": "g"}}
    cron = {"schedule": "0 0 1 1 *", "suspend": True, "jobTemplate": {"spec": job_spec()}}
    slice_ = {"addressType": "IPv4", "endpoints": [{"addresses": ["10.1.2.3"]}], "ports": [{"port": 80}]}
    return [
        stateful_set(),
        convert({**named, "spec": job_spec()}, batch_v1.Job),
        convert({**named, "spec": cron}, batch_v1.CronJob),
        convert({**named, "spec": policy}, networking_v1.NetworkPolicy),
        convert({**named, "roleRef": role, "subjects": subjects}, rbac_v1.RoleBinding),
        convert({**named, **slice_}, discovery_v1.EndpointSlice),
        convert({**named, "template": template()}, core_v1.PodTemplate),
    ]


def with_zeros() -> list[Resource]:
    """With much that a server does not keep."""
    container = {"name": "main", "image": "nginx:1", "command": [], "stdin": False, "env": [{"name": "A", "value": ""}]}
    mounts = [{"name": "tmp", "mountPath": "/tmp", "readOnly": False, "subPath": ""}]
    made = {
        "hostNetwork": False,
        "nodeName": "",
        "nodeSelector": {},
        "tolerations": [],
        "containers": [{**container, "volumeMounts": mounts}],
        "volumes": [{"name": "tmp", "emptyDir": {}}],
    }
    labels = {"app": "g"}
    spec = {"replicas": 0, "serviceName": "", "minReadySeconds": 0, "selector": {"matchLabels": labels}}
    template = {"metadata": {"labels": labels, "annotations": {}}, "spec": made}
    ports = [{"port": 80, "name": ""}]
    return [
        convert({"metadata": {"name": "g", "labels": {}}, "spec": {**spec, "template": template}}, apps_v1.StatefulSet),
        convert(
            {"metadata": {"name": "g"}, "spec": {"ports": ports, "publishNotReadyAddresses": False}}, core_v1.Service
        ),
    ]


def new_operator(made: Sequence[Resource]) -> Operator:
    operator = Operator("gadgets")

    @operator.controller(Gadget, owns=[core_v1.Service, *(type(child) for child in children())])
    async def reconcile(gadget: Gadget, ctx: Context) -> None:
        for child in made:
            child.metadata.owner_references = None
            await ctx.apply(child)
        gadget.status.seen = gadget.spec.size

    return operator


def test_a_restart_over_what_servers_complete_writes_nothing(server: Server, namespace: str) -> None:
    async def test(here: World) -> None:
        await here.create()
        async with here.at_work(new_operator(children())) as work:
            await here.until(lambda gadget: gadget.status.seen == 1)
            await work.quiet()
        async with here.at_work(new_operator(children())) as work:
            await work.quiet()
            assert work.writes == []

    try_out(server, namespace, test)


def test_a_restart_writes_nothing_of_what_servers_leave_out_and_sets_right_who_puts_something_there(
    server: Server, namespace: str
) -> None:
    async def test(here: World) -> None:
        async def is_right() -> bool:
            found = await here.client.get(apps_v1.StatefulSet, "g", namespace=namespace)
            pods = found.spec.template.spec
            return pods is not None and not pods.host_network and not pods.node_name and not pods.tolerations

        await here.create()
        async with here.at_work(new_operator(with_zeros())) as work:
            await here.until(lambda gadget: gadget.status.seen == 1)
            await work.quiet()
        async with here.at_work(new_operator(with_zeros())) as work:
            await work.quiet()
            assert work.writes == []
        for change in ({"hostNetwork": True}, {"nodeName": "n"}, {"tolerations": [{"operator": "Exists"}]}):
            patch = MergePatch({"spec": {"template": {"spec": change}}})
            await here.client.patch(apps_v1.StatefulSet, "g", patch, namespace=namespace)
            assert not await is_right()
            async with here.at_work(new_operator(with_zeros())):
                await eventually(is_right)

    try_out(server, namespace, test)


def test_what_was_wanted_inside_and_is_no_more_is_taken_out(server: Server, namespace: str) -> None:
    async def test(here: World) -> None:
        async def seconds() -> object:
            found = await here.client.get(apps_v1.StatefulSet, "g", namespace=namespace)
            (source, _) = to_dict(found)["spec"]["template"]["spec"]["volumes"][0]["projected"]["sources"]
            return source["serviceAccountToken"].get("expirationSeconds", 3600)

        await here.create()
        async with here.at_work(new_operator([stateful_set(expirationSeconds=7200)])) as work:
            await here.until(lambda gadget: gadget.status.seen == 1)
            await work.quiet()
        assert await seconds() == 7200
        async with here.at_work(new_operator([stateful_set()])) as work:
            await work.quiet()
        assert await seconds() == 3600

    try_out(server, namespace, test)
