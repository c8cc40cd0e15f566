"""What becomes of objects when their owners go. End states, as the collector takes its own time."""

from __future__ import annotations

from typing import Any

from tests.conformance.kinds import CONFIG_MAPS, CORE, NAMESPACES, config_map, owned_by, show
from tests.conformance.registry import case
from tests.conformance.resources import WIDGETS, widget
from tests.conformance.world import Answer, World


async def _gone(w: World, name: str, at: str = CONFIG_MAPS) -> None:
    await w.eventually(f"{at}/{name}", status=404)


async def _state(w: World, label: str, *names: str) -> None:
    """Which objects are left, whose they are and what holds them."""
    left: dict[str, Any] = {}
    for name in names:
        found = await w.get(f"{CONFIG_MAPS}/{name}")
        metadata = found.body["metadata"]
        owners = [owner["name"] for owner in metadata.get("ownerReferences", [])]
        left[name] = (
            "gone"
            if found.status == 404
            else {
                "owners": owners,
                "finalizers": metadata.get("finalizers", []),
                "deleting": "deletionTimestamp" in metadata,
            }
        )
    w.transcript.add(label, left=left)


async def _family(w: World, *children: str, **reference: Any) -> Answer:
    """An owner and what belongs to it."""
    owner = await w.create(CONFIG_MAPS, config_map("owner"))
    for child in children:
        await w.create(CONFIG_MAPS, config_map(child, [owned_by(owner, **reference)]))
    return owner


@case("delete an owner", given="two dependents", body="Background", truth="1.20")
async def background(w: World) -> None:
    await _family(w, "a", "b")
    answer = await w.delete(f"{CONFIG_MAPS}/owner", {"propagationPolicy": "Background"})
    show(w, "delete", answer)
    await _gone(w, "a")
    await _gone(w, "b")
    await _state(w, "at last", "owner", "a", "b")


@case("delete an owner", given="a dependent and its own", body="no policy", truth="1.20")
async def grandchildren(w: World) -> None:
    await _family(w, "child")
    child = await w.get(f"{CONFIG_MAPS}/child")
    await w.create(CONFIG_MAPS, config_map("grandchild", [owned_by(child)]))
    show(w, "delete", await w.delete(f"{CONFIG_MAPS}/owner"))
    await _gone(w, "grandchild")
    await _state(w, "at last", "owner", "child", "grandchild")


@case("delete an owner", given="two dependents", body="Orphan", truth="1.20")
async def orphan(w: World) -> None:
    await _family(w, "a", "b")
    answer = await w.delete(f"{CONFIG_MAPS}/owner", {"propagationPolicy": "Orphan"})
    show(w, "delete", answer, without=["metadata.resourceVersion"])
    await _gone(w, "owner")
    await _state(w, "at last", "owner", "a", "b")


@case("delete an owner", given="two dependents", body="orphanDependents", truth="1.20")
async def orphan_as_of_old(w: World) -> None:
    await _family(w, "a")
    both = {"propagationPolicy": "Orphan", "orphanDependents": True}
    await w.delete(f"{CONFIG_MAPS}/owner", both, label="both ways")
    await w.delete(f"{CONFIG_MAPS}/owner", {"propagationPolicy": "Sideways"}, label="an unknown policy")
    await w.delete(f"{CONFIG_MAPS}/owner", {"orphanDependents": True})
    await _gone(w, "owner")
    await _state(w, "at last", "a")


@case("delete an owner", given="a blocking dependent with a finalizer", body="Foreground", truth="1.20")
async def foreground(w: World) -> None:
    owner = await _family(w)
    held = config_map("held", [owned_by(owner, blockOwnerDeletion=True)])
    held["metadata"]["finalizers"] = ["example.dev/held"]
    await w.create(CONFIG_MAPS, held)
    await w.create(CONFIG_MAPS, config_map("free", [owned_by(owner, blockOwnerDeletion=True)]))
    answer = await w.delete(f"{CONFIG_MAPS}/owner", {"propagationPolicy": "Foreground"})
    show(w, "delete", answer, without=["metadata.resourceVersion"])
    await _gone(w, "free")
    await w.marked(f"{CONFIG_MAPS}/held")
    await _state(w, "while one is held", "owner", "held", "free")
    await w.merge(f"{CONFIG_MAPS}/held", {"metadata": {"finalizers": None}})
    await _gone(w, "owner")
    await _state(w, "at last", "owner", "held", "free")


@case("delete an owner", given="a dependent with a finalizer that does not block", body="Foreground", truth="1.20")
async def foreground_unblocked(w: World) -> None:
    owner = await _family(w)
    held = config_map("held", [owned_by(owner)])
    held["metadata"]["finalizers"] = ["example.dev/held"]
    await w.create(CONFIG_MAPS, held)
    await w.delete(f"{CONFIG_MAPS}/owner", {"propagationPolicy": "Foreground"})
    await _gone(w, "owner")
    await w.marked(f"{CONFIG_MAPS}/held")
    await _state(w, "at last", "owner", "held")
    await w.merge(f"{CONFIG_MAPS}/held", {"metadata": {"finalizers": None}})


@case("delete an owner", given="no dependents", body="Foreground", truth="1.20")
async def foreground_alone(w: World) -> None:
    await _family(w)
    await w.delete(f"{CONFIG_MAPS}/owner", {"propagationPolicy": "Foreground"})
    await _gone(w, "owner")
    await _state(w, "at last", "owner")


@case("create", given="nothing", body="an owner that is not there", truth="1.20")
async def absent_owner(w: World) -> None:
    owner = await w.create(CONFIG_MAPS, config_map("owner"))
    reference = owned_by(owner)
    await w.delete(f"{CONFIG_MAPS}/owner")
    await w.create(CONFIG_MAPS, config_map("a", [reference]))
    await _gone(w, "a")
    await _state(w, "at last", "a")


@case("create", given="an owner of that name with another uid", body="the old uid", truth="1.20")
async def recreated_owner(w: World) -> None:
    owner = await w.create(CONFIG_MAPS, config_map("owner"))
    reference = owned_by(owner)
    await w.delete(f"{CONFIG_MAPS}/owner")
    await w.create(CONFIG_MAPS, config_map("owner"))
    await w.create(CONFIG_MAPS, config_map("a", [reference]))
    await _gone(w, "a")
    await _state(w, "at last", "owner", "a")


@case("delete an owner", given="a dependent with two owners", body="Background", truth="1.20")
async def two_owners(w: World) -> None:
    first = await w.create(CONFIG_MAPS, config_map("first"))
    second = await w.create(CONFIG_MAPS, config_map("second"))
    await w.create(CONFIG_MAPS, config_map("a", [owned_by(first), owned_by(second)]))
    await w.delete(f"{CONFIG_MAPS}/first", {"propagationPolicy": "Background"})
    await w.until(lambda: w.get(f"{CONFIG_MAPS}/a"), lambda found: len(found["metadata"]["ownerReferences"]) == 1)
    await _state(w, "one owner gone", "first", "second", "a")
    await w.delete(f"{CONFIG_MAPS}/second", {"propagationPolicy": "Background"})
    await _gone(w, "a")
    await _state(w, "at last", "first", "second", "a")


@case("create", given="an owner in another namespace", body="its name and uid", truth="1.20")
async def owner_elsewhere(w: World) -> None:
    name = w.unique("space")
    await w.create(NAMESPACES, {"metadata": {"name": name}})
    owner = await w.create(f"{NAMESPACES}/{name}/configmaps", config_map("owner"))
    await w.create(CONFIG_MAPS, config_map("a", [owned_by(owner)]))
    await _gone(w, "a")
    await _state(w, "at last", "a")
    w.transcript.add("the owner", status=(await w.get(f"{NAMESPACES}/{name}/configmaps/owner")).status)
    await w.delete(f"{NAMESPACES}/{name}")


@case("delete a cluster-scoped owner", given="a dependent in a namespace", body="Background", truth="1.20")
async def cluster_scoped_owner(w: World) -> None:
    name = w.unique("role")
    roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    owner = await w.create(roles, {"metadata": {"name": name}, "rules": []})
    await w.create(CONFIG_MAPS, config_map("a", [owned_by(owner)]))
    await w.delete(f"{roles}/{name}", {"propagationPolicy": "Background"})
    await _gone(w, "a")
    await _state(w, "at last", "a")


@case("create", given="nothing", body="owner references that are none")
async def wrong_references(w: World) -> None:
    good = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "u"}
    for label, owners in (
        ("nothing in it", [{"apiVersion": "", "kind": "", "name": "", "uid": ""}]),
        ("no uid", [{**good, "uid": ""}]),
        ("a wrong version", [{**good, "apiVersion": "a/b/c"}]),
        ("an event", [{**good, "kind": "Event"}]),
    ):
        await w.create(CONFIG_MAPS, config_map("a", owners), query={"dryRun": "All"}, label=label)


@case("deletecollection", given="owners with dependents", body="Orphan", truth="1.20")
async def orphan_collection(w: World) -> None:
    owner = await w.create(CONFIG_MAPS, {**config_map("owner"), "metadata": {"name": "owner", "labels": {"x": "y"}}})
    await w.create(CONFIG_MAPS, config_map("a", [owned_by(owner)]))
    await w.delete(CONFIG_MAPS, {"propagationPolicy": "Orphan"}, query={"labelSelector": "x=y"})
    await _gone(w, "owner")
    await _state(w, "at last", "owner", "a")


@case("delete an owner", given="a custom resource that owns a ConfigMap", body="Foreground", truth="1.20")
async def custom_owner(w: World) -> None:
    owner = await w.create(WIDGETS, widget("owner"))
    await w.create(CONFIG_MAPS, config_map("a", [owned_by(owner, blockOwnerDeletion=True, controller=True)]))
    await w.delete(f"{WIDGETS}/owner", {"propagationPolicy": "Foreground"})
    await _gone(w, "owner", WIDGETS)
    await _state(w, "at last", "a")


@case("delete an owner", given="a controlled dependent of another kind", body="Orphan", truth="1.20")
async def orphan_of_another_kind(w: World) -> None:
    secret = f"{CORE}/secrets"
    owner = await w.create(secret, {"metadata": {"name": "owner"}})
    await w.create(CONFIG_MAPS, config_map("a", [owned_by(owner, controller=True, blockOwnerDeletion=True)]))
    await w.delete(f"{secret}/owner", {"propagationPolicy": "Orphan"})
    await _gone(w, "owner", secret)
    await _state(w, "at last", "a")
