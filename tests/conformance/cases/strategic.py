"""Strategic merge patch: merge keys, and directives.

Of pod templates above all, which are whole pods that no controller touches.
"""

from __future__ import annotations

from typing import Any

from tests.conformance.registry import case
from tests.conformance.resources import WIDGETS, widget
from tests.conformance.world import World

CONFIG_MAPS = "/api/v1/namespaces/{ns}/configmaps"
TEMPLATES = "/api/v1/namespaces/{ns}/podtemplates"
PATH = f"{TEMPLATES}/a"
ACCOUNTS = "/api/v1/namespaces/{ns}/serviceaccounts"
_FIELD = {"apiVersion": "v1", "fieldPath": "metadata.name"}
_OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "7ff1e6b0-0000-4000-8000-000000000001"}


def _template(**spec: Any) -> dict[str, Any]:
    containers = spec.pop("containers", [_container("main", "main:1"), _container("side", "side:1")])
    return {
        "metadata": {"name": "a"},
        "template": {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": containers, **_POD, **spec}},
    }


_POD = {
    "dnsPolicy": "ClusterFirst",
    "restartPolicy": "Always",
    "schedulerName": "default-scheduler",
    "securityContext": {},
    "terminationGracePeriodSeconds": 30,
}


def _container(name: str, image: str, **more: Any) -> dict[str, Any]:
    """With all defaults, which the server of the strategic merge's truth does not know."""
    return {
        "name": name,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "resources": {},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        **more,
    }


def _spec(**spec: Any) -> dict[str, Any]:
    return {"template": {"spec": spec}}


@case("strategic merge patch", given="a list merged by name", body="an item changed, one added")
async def merge_by_key(w: World) -> None:
    await w.create(TEMPLATES, _template(), label="create")
    containers = [{"name": "side", "image": "side:2"}, _container("new", "new:1")]
    await w.strategic(PATH, _spec(containers=containers), label="patch")


@case("strategic merge patch", given="a list merged by name", body="$patch: delete of an item")
async def delete_item(w: World) -> None:
    await w.create(TEMPLATES, _template(), label="create")
    await w.strategic(PATH, _spec(containers=[{"name": "side", "$patch": "delete"}]), label="patch")
    await w.strategic(PATH, _spec(containers=[{"name": "none", "$patch": "delete"}]), label="of none")


@case("strategic merge patch", given="a list merged by name", body="$patch: replace of the list")
async def replace_list(w: World) -> None:
    await w.create(TEMPLATES, _template(), label="create")
    containers = [{"$patch": "replace"}, _container("only", "only:1")]
    await w.strategic(PATH, _spec(containers=containers), label="patch")


@case("strategic merge patch", given="a map", body="$patch: replace and $patch: delete", truth=("1.36", "1.20"))
async def replace_map(w: World) -> None:
    await w.create(CONFIG_MAPS, {"metadata": {"name": "a", "labels": {"x": "y"}}, "data": {"k": "v"}}, label="create")
    await w.strategic(f"{CONFIG_MAPS}/a", {"data": {"$patch": "replace", "l": "w"}}, label="replace")
    await w.strategic(f"{CONFIG_MAPS}/a", {"data": {"$patch": "delete"}}, label="delete")
    await w.strategic(f"{CONFIG_MAPS}/a", {"metadata": {"labels": {"x": None, "z": "z"}}}, label="null")


@case("strategic merge patch", given="an item with lists of its own", body="env and ports merged by key")
async def nested_lists(w: World) -> None:
    ports = [{"containerPort": 80, "name": "http"}, {"containerPort": 443, "name": "https"}]
    container = _container(
        "main",
        "main:1",
        env=[{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
        ports=[{**port, "protocol": "TCP"} for port in ports],
        args=["x", "y"],
    )
    await w.create(TEMPLATES, _template(containers=[container]), label="create")
    change = {
        "name": "main",
        "env": [{"name": "B", "value": "3"}, {"name": "C", "valueFrom": {"fieldRef": _FIELD}}],
        "ports": [{"containerPort": 80, "name": "web"}, {"containerPort": 443, "$patch": "delete"}],
        "args": ["z"],
    }
    await w.strategic(PATH, _spec(containers=[change]), label="patch")


@case("strategic merge patch", given="a list without a merge key", body="the list")
async def atomic_list(w: World) -> None:
    tolerations = [{"key": "a", "operator": "Exists"}, {"key": "b", "operator": "Exists"}]
    await w.create(TEMPLATES, _template(tolerations=tolerations), label="create")
    await w.strategic(PATH, _spec(tolerations=[{"key": "c", "operator": "Exists"}]), label="patch")


@case("strategic merge patch", given="volumes", body="$retainKeys")
async def retain_keys(w: World) -> None:
    volumes = [{"name": "v", "emptyDir": {}}, {"name": "w", "emptyDir": {}}]
    await w.create(TEMPLATES, _template(volumes=volumes), label="create")
    change = {"$retainKeys": ["name", "configMap"], "name": "v", "configMap": {"name": "c", "defaultMode": 420}}
    await w.strategic(PATH, _spec(volumes=[change]), label="patch")
    wrong = {"$retainKeys": ["name"], "name": "v", "secret": {"secretName": "s"}}
    await w.strategic(PATH, _spec(volumes=[wrong]), label="a key that is not retained")
    await w.strategic(PATH, _spec(volumes=[{"$retainKeys": "name", "name": "v"}]), label="no list")


@case("strategic merge patch", given="volumes", body="a second source, without $retainKeys", truth="1.20")
async def second_source(w: World) -> None:
    await w.create(TEMPLATES, _template(volumes=[{"name": "v", "emptyDir": {}}]))
    await w.strategic(
        PATH, _spec(volumes=[{"name": "v", "configMap": {"name": "c", "defaultMode": 420}}]), label="patch"
    )


@case("strategic merge patch", given="finalizers", body="$deleteFromPrimitiveList")
async def delete_from_primitive_list(w: World) -> None:
    finalizers = ["example.com/a", "example.com/b", "example.com/c"]
    await w.create(CONFIG_MAPS, {"metadata": {"name": "a", "finalizers": finalizers}}, label="create")
    path = f"{CONFIG_MAPS}/a"
    key = "$deleteFromPrimitiveList/finalizers"
    await w.strategic(path, {"metadata": {key: ["example.com/b", "example.com/z"]}}, label="delete")
    both = {key: ["example.com/a"], "finalizers": ["example.com/c", "example.com/d"]}
    await w.strategic(path, {"metadata": both}, label="delete and add")
    await w.strategic(path, {"metadata": {key: "example.com/c"}}, label="no list")
    await w.strategic(path, {"metadata": {"finalizers": None}}, label="none")


@case("strategic merge patch", given="a list merged by name", body="$setElementOrder")
async def set_element_order(w: World) -> None:
    await w.create(TEMPLATES, _template(containers=[_container(each, "i:1") for each in "abcd"]), label="create")
    order = "$setElementOrder/containers"
    names = [{"name": each} for each in "dcbae"]
    await w.strategic(PATH, _spec(**{order: names, "containers": [_container("e", "i:1")]}), label="all")
    await w.strategic(PATH, _spec(**{order: [{"name": "a"}, {"name": "d"}]}), label="some")
    wrong = {order: [{"name": "a"}], "containers": [{"name": "b", "image": "j"}]}
    await w.strategic(PATH, _spec(**wrong), label="an item that is not in the order")


@case("strategic merge patch", given="finalizers", body="$setElementOrder", truth=("1.36", "1.20"))
async def set_primitive_order(w: World) -> None:
    finalizers = [f"example.com/{each}" for each in "abc"]
    await w.create(CONFIG_MAPS, {"metadata": {"name": "a", "finalizers": finalizers}}, label="create")
    order = [f"example.com/{each}" for each in "cdab"]
    body = {"$setElementOrder/finalizers": order, "finalizers": ["example.com/d"]}
    await w.strategic(f"{CONFIG_MAPS}/a", {"metadata": body}, label="patch")
    await w.strategic(f"{CONFIG_MAPS}/a", {"metadata": {"finalizers": None}}, label="none")


@case("strategic merge patch", given="owner references, merged by uid", body="one changed, one added")
async def merge_owners(w: World) -> None:
    owners = [_OWNER, {**_OWNER, "name": "p", "uid": "7ff1e6b0-0000-4000-8000-000000000002"}]
    hold = {"finalizers": ["example.com/hold"]}  # the collector finds no such owners
    await w.create(CONFIG_MAPS, {"metadata": {"name": "a", "ownerReferences": owners, **hold}}, query={"dryRun": "All"})
    await w.create(CONFIG_MAPS, {"metadata": {"name": "a"}}, label="create")
    path = f"{CONFIG_MAPS}/a"
    dry = {"dryRun": "All"}
    await w.strategic(path, {"metadata": {"ownerReferences": owners}}, query=dry, label="add")
    gone = {"uid": _OWNER["uid"], "$patch": "delete"}
    await w.strategic(path, {"metadata": {"ownerReferences": [gone, owners[1]]}}, query=dry, label="delete and add")


@case("strategic merge patch", given="secrets and pull secrets, merged by name", body="some of each")
async def merge_references(w: World) -> None:
    body = {"metadata": {"name": "a"}, "secrets": [{"name": "s"}], "imagePullSecrets": [{"name": "p"}]}
    await w.create(ACCOUNTS, body, label="create")
    change = {"secrets": [{"name": "t"}], "imagePullSecrets": [{"name": "p", "$patch": "delete"}, {"name": "q"}]}
    await w.strategic(f"{ACCOUNTS}/a", change, label="patch")


@case("strategic merge patch", given="an object", body="an item without its merge key")
async def missing_key(w: World) -> None:
    await w.create(TEMPLATES, _template())
    await w.strategic(PATH, _spec(containers=[{"image": "x"}]), label="patch")
    await w.strategic(PATH, _spec(containers=["x"]), label="text")
    await w.strategic(PATH, _spec(containers={"name": "x"}), label="a map")


@case("strategic merge patch", given="an object", body="an unknown directive", truth=("1.36", "1.20"))
async def unknown_directive(w: World) -> None:
    await w.create(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"k": "v"}})
    await w.strategic(f"{CONFIG_MAPS}/a", {"data": {"$patch": "frob"}}, label="in a map")
    await w.strategic(f"{CONFIG_MAPS}/a", {"metadata": {"$setElementOrder/finalizers": "x"}}, label="no list")


@case("strategic merge patch", given="an object", body="text that is no JSON object")
async def unreadable(w: World) -> None:
    await w.create(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"k": "v"}})
    for text in ("{x", "[1]", "7", "null", ""):
        await w.strategic(f"{CONFIG_MAPS}/a", text, label=text)


@case("strategic merge patch", given="an object", body="nothing that changes it", truth=("1.36", "1.20"))
async def no_change(w: World) -> None:
    await w.create(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"k": "v"}}, label="create")
    await w.strategic(f"{CONFIG_MAPS}/a", {}, label="empty")
    await w.strategic(f"{CONFIG_MAPS}/a", {"data": {"k": "v"}}, query={"fieldManager": "other"}, label="same")


@case("strategic merge patch", given="the object changed", body="an old resource version", truth=("1.36", "1.20"))
async def stale(w: World) -> None:
    old = await w.create(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"k": "v"}})
    await w.merge(f"{CONFIG_MAPS}/a", {"data": {"k": "w"}})
    body = {"metadata": {"resourceVersion": old.version}, "data": {"k": "x"}}
    await w.strategic(f"{CONFIG_MAPS}/a", body, label="patch")


@case("strategic merge patch", given="an object", body="values of the wrong type")
async def wrong_types(w: World) -> None:
    await w.create(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"k": "v"}})
    bodies: list[dict[str, Any]] = [{"data": {"k": 7}}, {"data": "x"}, {"metadata": {"labels": []}}, {"metadata": "x"}]
    for body in bodies:
        await w.strategic(f"{CONFIG_MAPS}/a", body, label=str(body))


@case("strategic merge patch", given="a custom resource", body="a patch")
async def custom_resource(w: World) -> None:
    await w.create(WIDGETS, widget("a"))
    await w.strategic(f"{WIDGETS}/a", {"spec": {"size": 2}}, label="patch")
