"""update of objects, and of their status: preconditions, protected metadata, generation."""

from __future__ import annotations

from typing import Any

from tests.conformance.registry import case
from tests.conformance.resources import GROUP, WIDGETS, widget
from tests.conformance.world import World

CONFIG_MAPS = "/api/v1/namespaces/{ns}/configmaps"
FINALIZER = "example.com/hold"


def _with_metadata(obj: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**obj, "metadata": {**obj["metadata"], **more}}


@case("update", given="the object changed since it was read", body="the old resource version")
async def update_stale(w: World) -> None:
    old = await w.create(WIDGETS, widget("a"))
    await w.merge(f"{WIDGETS}/a", {"spec": {"size": 2}}, label="somebody else")
    await w.put(f"{WIDGETS}/a", old.body, label="update")


@case("update", given="an object", body="another spec")
async def update_spec(w: World) -> None:
    old = await w.create(WIDGETS, widget("a"), label="create")
    await w.put(f"{WIDGETS}/a", {**old.body, "spec": {"size": 9, "paused": True}}, label="update")


@case("update", given="an object", body="the same object")
async def update_same(w: World) -> None:
    old = await w.create(WIDGETS, widget("a"), label="create")
    await w.put(f"{WIDGETS}/a", old.body, label="update")
    await w.put(f"{WIDGETS}/a", old.body, label="update by another", query={"fieldManager": "other"})


@case("update", given="an object", body="labels only")
async def update_labels(w: World) -> None:
    old = await w.create(WIDGETS, widget("a"), label="create")
    await w.put(f"{WIDGETS}/a", _with_metadata(old.body, labels={"a": "b"}, annotations={"c": "d"}), label="update")


@case("update", given="an object", body="no resource version")
async def update_without_version(w: World) -> None:
    await w.create(WIDGETS, widget("a"))
    await w.put(f"{WIDGETS}/a", widget("a", size=2), label="update")


@case("update", given="an object", body='resource version "0"')
async def update_with_version_zero(w: World) -> None:
    await w.create(WIDGETS, widget("a"))
    await w.put(f"{WIDGETS}/a", _with_metadata(widget("a"), resourceVersion="0"), label="update")


@case("update", given="a built-in object", body="no resource version", truth=("1.36", "1.20"))
async def update_built_in_without_version(w: World) -> None:
    await w.create(CONFIG_MAPS, {"metadata": {"name": "a", "labels": {"a": "b"}}, "data": {"k": "v"}}, label="create")
    await w.put(f"{CONFIG_MAPS}/a", {"metadata": {"name": "a"}, "data": {"l": "w"}}, label="update")


@case("update", given="a built-in object that changed", body="the old resource version", truth=("1.36", "1.20"))
async def update_built_in_stale(w: World) -> None:
    old = await w.create(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"k": "v"}})
    await w.merge(f"{CONFIG_MAPS}/a", {"data": {"k": "w"}})
    await w.put(f"{CONFIG_MAPS}/a", old.body, label="update")


@case("update", given="an object", body="a resource version that is no number")
async def update_bad_version(w: World) -> None:
    await w.create(WIDGETS, widget("a"))
    await w.put(f"{WIDGETS}/a", _with_metadata(widget("a"), resourceVersion="new"), label="update")


@case("update", given="an object", body="another uid")
async def update_other_uid(w: World) -> None:
    old = await w.create(WIDGETS, widget("a"))
    await w.put(f"{WIDGETS}/a", _with_metadata(old.body, uid="abc"), label="update")


@case("update", given="nothing", body="an object")
async def update_missing(w: World) -> None:
    await w.put(f"{WIDGETS}/a", widget("a"), label="custom resource")
    await w.put(f"{CONFIG_MAPS}/a", {"metadata": {"name": "a"}}, label="config map")


@case("update", given="nothing", body="a Lease, which an update may create", truth="1.20")
async def update_creates(w: World) -> None:
    path = "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases/a"
    made = await w.put(path, {"metadata": {"name": "a"}, "spec": {"holderIdentity": "me"}}, label="update")
    await w.put(path, {**made.body, "spec": {"holderIdentity": "you"}}, label="again")


@case("update", given="an object", body="another name, namespace, or none")
async def update_misplaced(w: World) -> None:
    await w.create(WIDGETS, widget("a"))
    await w.put(f"{WIDGETS}/a", widget("b"), label="another name")
    await w.put(f"{WIDGETS}/a", _with_metadata(widget("a"), namespace="other"), label="another namespace")
    await w.put(f"{WIDGETS}/a", {**widget("a"), "metadata": {}}, label="no name")


@case("update", given="an object", body="metadata that only the server sets")
async def update_server_metadata(w: World) -> None:
    old = await w.create(WIDGETS, widget("a"), label="create")
    changed = _with_metadata(
        old.body,
        generation=77,
        creationTimestamp="2020-01-01T00:00:00Z",
        deletionTimestamp="2020-01-01T00:00:00Z",
        deletionGracePeriodSeconds=5,
        selfLink="/x",
    )
    await w.put(f"{WIDGETS}/a", changed, label="with deletion time")
    del changed["metadata"]["deletionTimestamp"], changed["metadata"]["deletionGracePeriodSeconds"]
    await w.put(f"{WIDGETS}/a", changed, label="without")


@case("update", given="an object with a status", body="another status, at the object")
async def update_ignores_status(w: World) -> None:
    await w.create(WIDGETS, widget("a"))
    old = await w.merge(f"{WIDGETS}/a/status", {"status": {"ready": 1}}, label="status")
    await w.put(f"{WIDGETS}/a", {**old.body, "status": {"ready": 5}}, label="update")


@case("update", given="an object", body="another kind or version")
async def update_other_kind(w: World) -> None:
    old = await w.create(WIDGETS, widget("a"))
    await w.put(f"{WIDGETS}/a", {**old.body, "kind": "Gadget"}, label="kind")
    other = {**old.body, "apiVersion": f"{GROUP}/v9"}
    await w.put(f"{WIDGETS}/a", other, label="version", query={"fieldValidation": "Ignore"})


@case("update", given="an object", body="an invalid spec")
async def update_invalid(w: World) -> None:
    old = await w.create(WIDGETS, widget("a"))
    await w.put(f"{WIDGETS}/a", {**old.body, "spec": {"size": 101}}, label="update")
    await w.get(f"{WIDGETS}/a", label="get")


@case("update", given="an object owned by several", body="fields of others, changed and removed")
async def update_takes_ownership(w: World) -> None:
    await w.create(WIDGETS, widget("a", paused=True, ratio=1.5), query={"fieldManager": "ann"}, label="create")
    now = await w.merge(f"{WIDGETS}/a", {"spec": {"label": "x"}}, query={"fieldManager": "bob"}, label="patch")
    spec = {"size": 2, "colour": "red", "paused": True, "label": "x"}
    await w.put(f"{WIDGETS}/a", {**now.body, "spec": spec}, query={"fieldManager": "cid"}, label="update")


@case("update", given="an object", body="managedFields of the caller's own")
async def update_managed_fields(w: World) -> None:
    old = await w.create(WIDGETS, widget("a"))
    entries = [{**entry, "manager": "renamed"} for entry in old["metadata"]["managedFields"]]
    now = await w.put(f"{WIDGETS}/a", _with_metadata(old.body, managedFields=entries), label="renamed")
    now = await w.put(f"{WIDGETS}/a", _with_metadata(now.body, managedFields=[]), label="empty")
    broken = [{"manager": "x", "operation": "Frob", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {}}]
    await w.put(f"{WIDGETS}/a", _with_metadata(now.body, managedFields=broken), label="broken")
    await w.get(f"{WIDGETS}/a", label="get")


@case("update", given="an object being deleted", body="finalizers added, deletionTimestamp removed, spec changed")
async def update_deleting(w: World) -> None:
    await w.create(WIDGETS, _with_metadata(widget("a"), finalizers=[FINALIZER]))
    await w.delete(f"{WIDGETS}/a", label="delete")
    now = await w.get(f"{WIDGETS}/a", label="get")
    added = _with_metadata(now.body, finalizers=[FINALIZER, "example.com/other"])
    await w.put(f"{WIDGETS}/a", added, label="another finalizer")
    kept = {key: value for key, value in now["metadata"].items() if key != "deletionTimestamp"}
    now = await w.put(f"{WIDGETS}/a", {**now.body, "metadata": kept}, label="no deletionTimestamp")
    now = await w.put(f"{WIDGETS}/a", {**now.body, "spec": {"size": 8}}, label="another spec")
    await w.put(f"{WIDGETS}/a", _with_metadata(now.body, finalizers=[]), label="no finalizers")
    await w.get(f"{WIDGETS}/a", label="get again")


# The status subresource


@case("update status", given="an object", body="spec, labels and status")
async def update_status(w: World) -> None:
    old = await w.create(WIDGETS, widget("a"), label="create")
    body = {**_with_metadata(old.body, labels={"a": "b"}, finalizers=[FINALIZER]), "spec": {"size": 9}}
    await w.put(f"{WIDGETS}/a/status", {**body, "status": {"ready": 2}}, label="update")
    await w.get(f"{WIDGETS}/a/status", label="get")


@case("update status", given="an object with a status", body="no status")
async def update_status_away(w: World) -> None:
    await w.create(WIDGETS, widget("a"))
    old = await w.merge(f"{WIDGETS}/a/status", {"status": {"ready": 1}}, label="status")
    rest = {key: value for key, value in old.body.items() if key != "status"}
    await w.put(f"{WIDGETS}/a/status", rest, label="update")


@case("update status", given="an object", body="an invalid status beside an invalid spec")
async def update_status_invalid(w: World) -> None:
    old = await w.create(WIDGETS, widget("a"))
    body = {**old.body, "spec": {"size": -1}, "status": {"ready": "x"}}
    await w.put(f"{WIDGETS}/a/status", body, label="update")


@case("update status", given="the object changed since it was read", body="the old resource version, or none")
async def update_status_stale(w: World) -> None:
    old = await w.create(WIDGETS, widget("a"))
    await w.merge(f"{WIDGETS}/a", {"spec": {"size": 2}})
    await w.put(f"{WIDGETS}/a/status", {**old.body, "status": {"ready": 2}}, label="old")
    await w.put(f"{WIDGETS}/a/status", {**widget("a"), "status": {"ready": 2}}, label="none")


@case("patch status", given="an object", body="spec and metadata")
async def patch_status_elsewhere(w: World) -> None:
    await w.create(WIDGETS, widget("a"), label="create")
    body = {"metadata": {"labels": {"a": "b"}, "annotations": {"a": "b"}}, "spec": {"size": 5}}
    await w.merge(f"{WIDGETS}/a/status", body, label="patch")


@case("create status", given="an object", body="an object")
async def create_status(w: World) -> None:
    await w.create(WIDGETS, widget("a"))
    await w.create(f"{WIDGETS}/a/status", widget("a"), label="create")
    await w.delete(f"{WIDGETS}/a/status", label="delete")
    await w.get(f"{WIDGETS}/a/nonsense", label="an unknown subresource")
    await w.get(f"{WIDGETS}/b/status", label="of a missing object")
