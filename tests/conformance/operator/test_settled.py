"""Settled means zero writes, also after a restart; and whatever drifts is set right again."""

from __future__ import annotations

import pytest

from kubewright import Conflict, Context, NotFound, Operator
from kubewright.api import convert
from kubewright.client import MergePatch
from kubewright.kinds import apps_v1, core_v1
from tests.conformance.clients.servers import Server, eventually
from tests.conformance.operator.working import Gadget, World, config_map, try_out

pytestmark = pytest.mark.servers("embedded", "1.36")  # 1.20 is not the truth about server-side apply


def service(name: str) -> core_v1.Service:
    """Two list maps of which one has a key that the server fills in."""
    ports = [{"name": "web", "port": 80, "targetPort": 8080}, {"name": "more", "port": 443, "protocol": "TCP"}]
    return convert(
        {"metadata": {"name": name, "labels": {"app": name}}, "spec": {"selector": {"app": name}, "ports": ports}},
        core_v1.Service,
    )


def deployment(name: str, *, cpu: str) -> apps_v1.Deployment:
    """Nested list maps, an atomic map, atomic lists, and much that the server adds."""
    container = {
        "name": "main",
        "image": "nginx:1",
        "args": ["-a", "-b"],
        "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
        "ports": [{"containerPort": 80}, {"containerPort": 81, "protocol": "UDP"}],
        "resources": {"requests": {"cpu": cpu, "memory": "64Mi"}},
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],
    }
    pod = {
        "containers": [container],
        "volumes": [{"name": "tmp", "emptyDir": {}}],
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "tolerations": [{"key": "a", "operator": "Exists"}],
    }
    spec = {
        "replicas": 0,
        "selector": {"matchLabels": {"app": name}},
        "template": {"metadata": {"labels": {"app": name}}, "spec": pod},
    }
    return convert({"metadata": {"name": name}, "spec": spec}, apps_v1.Deployment)


def new_operator(cpu: str = "500m") -> Operator:
    operator = Operator("gadgets")

    @operator.controller(Gadget, owns=[core_v1.ConfigMap, core_v1.Service, apps_v1.Deployment])
    async def reconcile(gadget: Gadget, ctx: Context) -> None:
        name = gadget.name
        await ctx.apply_all(config_map(name, a="b"), service(name), deployment(name, cpu=cpu))
        gadget.status.seen = gadget.spec.size
        ctx.conditions.set("Ready", True, reason="Fine")

    return operator


def test_a_restart_over_converged_objects_writes_nothing(server: Server, namespace: str) -> None:
    async def test(here: World) -> None:
        for name in ("g", "h", "i"):
            await here.create(name)
        async with here.at_work(new_operator()) as work:
            for name in ("g", "h", "i"):
                await here.until(lambda gadget: gadget.status.seen == 1, name)
            await work.quiet()
        async with here.at_work(new_operator()) as work:
            await work.quiet()
            assert work.writes == []
            reads = [sent for sent in work.sent.requests if sent.path.rpartition("/")[2] in {"g", "h", "i"}]
            # what a worker sees before another has learnt it is read again
            assert len(reads) <= 3 * 3

    try_out(server, namespace, test)


@pytest.mark.parametrize("cpu", ["1000m", "0.25", "1e3"])
def test_a_quantity_that_the_server_writes_in_its_own_way_is_not_sent_again(
    server: Server, namespace: str, cpu: str
) -> None:
    async def test(here: World) -> None:
        await here.create()
        async with here.at_work(new_operator(cpu)) as work:
            await here.until(lambda gadget: gadget.status.seen == 1)
            await work.quiet()
        async with here.at_work(new_operator(cpu)) as work:
            await work.quiet()
            assert work.writes == []
            await here.resize(2)
            await here.until(lambda gadget: gadget.status.seen == 2)
            await work.quiet()
            assert [line for line in work.writes if "gadgets" not in line] == []
        async with here.at_work(new_operator("750m")) as work:
            await work.quiet()
            assert [line for line in work.writes if "gadgets" not in line] == [f"PATCH {namespace}/deployments/g"]

    try_out(server, namespace, test)


@pytest.mark.parametrize(
    ("kind", "patch"),
    [
        (core_v1.ConfigMap, {"data": {"a": "changed"}}),
        (core_v1.ConfigMap, {"data": None}),
        (core_v1.ConfigMap, {"metadata": {"ownerReferences": None}}),
        (core_v1.Service, {"spec": {"ports": [{"name": "other", "port": 81, "protocol": "TCP"}]}}),
        (core_v1.Service, {"spec": {"selector": {"app": None, "b": "c"}}}),
        (apps_v1.Deployment, {"spec": {"replicas": 3}}),
    ],
)
def test_drift_is_set_right_with_a_memory_and_without(
    server: Server, namespace: str, kind: type[core_v1.ConfigMap], patch: dict[str, object]
) -> None:
    def wanted(found: object) -> bool:
        if isinstance(found, core_v1.ConfigMap):
            return found.data == {"a": "b"} and bool(found.metadata.owner_references)
        if isinstance(found, core_v1.Service):
            ports = [port.port for port in found.spec.ports or []]
            return {80, 443} <= set(ports) and (found.spec.selector or {}).get("app") == "g"
        return isinstance(found, apps_v1.Deployment) and found.spec.replicas == 0

    async def test(here: World) -> None:
        async def is_right() -> bool:
            return wanted(await here.client.get(kind, "g", namespace=namespace))

        await here.create()
        async with here.at_work(new_operator()) as work:
            await here.until(lambda gadget: gadget.status.seen == 1)
            await work.quiet()
            await here.client.patch(kind, "g", MergePatch(patch), namespace=namespace)
            if "metadata" in patch:  # nobody is woken by what nobody owns
                await here.resize(2)
            await eventually(is_right)
        await here.client.patch(kind, "g", MergePatch(patch), namespace=namespace)
        async with here.at_work(new_operator()) as work:
            await eventually(is_right)

    try_out(server, namespace, test)


def test_a_deleted_child_is_not_made_anew_from_an_old_view_and_is_from_a_new_one(
    server: Server, namespace: str
) -> None:
    operator, deleted, failures = Operator("gadgets"), list[str](), list[str]()

    async def test(here: World) -> None:
        @operator.controller(Gadget, owns=[core_v1.ConfigMap])
        async def reconcile(gadget: Gadget, ctx: Context) -> None:
            if gadget.spec.size == 2 and not deleted:  # by somebody else, and this run's cache does not know
                deleted.append("child")
                await here.client.delete(core_v1.ConfigMap, "child", namespace=namespace)
            try:
                await ctx.apply(config_map("child", size=str(gadget.spec.size)))
            except Conflict:
                failures.append("Conflict")
                raise

        await here.create()
        async with here.at_work(operator) as work:
            await eventually(lambda: here.is_there(core_v1.ConfigMap, "child"))
            await work.quiet(0.2)
            await here.resize(2)
            await eventually(lambda: _is(here, "2"))
            assert failures in (["Conflict"], [])  # the watch may have been faster
            assert work.said("reconcile failed") == []

    async def _is(here: World, size: str) -> bool:
        try:
            found = await here.client.get(core_v1.ConfigMap, "child", namespace=namespace)
        except NotFound:
            return False
        return found.data == {"size": size}

    try_out(server, namespace, test)
