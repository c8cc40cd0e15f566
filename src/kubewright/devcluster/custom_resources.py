"""`CustomResources`: from a stored CustomResourceDefinition to a served kind, and back.

A real server does this with several controllers that follow one another. Here it happens within the request that
changed the definition, so a kind is served as soon as its definition was created; the definition's own history, as a
watch shows it, is the real one: accepted names, established; terminating, then gone when the last object is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kubewright.api import Column, ResourceInfo, Scale
from kubewright.devcluster.catalog import ServedResource, Subresource, version_priority
from kubewright.devcluster.conditions import condition, with_condition
from kubewright.devcluster.custom_strategy import CustomStrategy
from kubewright.devcluster.definition_strategy import CLEANUP, storage_version
from kubewright.devcluster.deletion import delete
from kubewright.devcluster.objects import Object, metadata_of, name_of, namespace_of
from kubewright.devcluster.options import DeleteOptions
from kubewright.devcluster.statuses import StatusError
from kubewright.devcluster.store import GroupResource
from kubewright.patch.apply import track_update
from kubewright.patch.shape import Shape
from kubewright.schema import Structural
from kubewright.schema.crd_definition import approval

if TYPE_CHECKING:
    from kubewright.devcluster.catalog import Catalog
    from kubewright.devcluster.registry import Registry
    from kubewright.devcluster.watching import Watches

__all__ = ["DEFINITIONS", "CustomResources", "served_versions"]

DEFINITIONS = GroupResource("apiextensions.k8s.io", "customresourcedefinitions")
_API_VERSION = "apiextensions.k8s.io/v1"
_MANAGER = "kube-apiserver"
_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
_VERBS_WHILE_TERMINATING = ("delete", "deletecollection", "get", "list", "watch")
_SUBRESOURCE_VERBS = ("get", "patch", "update")
_AGE = Column("Age", ".metadata.creationTimestamp", type="date", description="Age")


class CustomResources:
    """Keeps the catalog in step with the definitions in the store."""

    def __init__(self, registry: Registry, catalog: Catalog, watches: Watches) -> None:
        self._registry = registry
        self._store = registry.store
        self._catalog = catalog
        self._watches = watches
        self._seen = self._store.revision
        self._serving: dict[str, tuple[Any, bool]] = {}
        self._terminating: set[str] = set()
        self._news = False
        self._store.subscribe(self._hear, resource=DEFINITIONS)

    def _hear(self) -> None:
        self._news = True

    def settle(self) -> None:
        """Does what the writes since the last call make necessary; to be called after each."""
        while self._seen != self._store.revision:
            if not self._news and not self._terminating:
                self._seen = self._store.revision
                return
            self._news = False
            changes = self._store.changes(self._seen, resource=DEFINITIONS)
            self._seen = self._store.revision
            gone = [change.name for change in changes if change.type == "DELETED"]
            for name in dict.fromkeys([*(change.name for change in changes), *sorted(self._terminating)]):
                self._step(name)
            if gone:  # the names are free for those who wait for them
                for definition in self._store.list(DEFINITIONS):
                    self._step(name_of(definition))

    def _step(self, name: str) -> None:
        definition = self._store.get(DEFINITIONS, "", name)
        if definition is None:
            self._terminating.discard(name)
            self._stop_serving(name)
        elif metadata_of(definition).get("deletionTimestamp"):
            self._terminate(name, definition)
        else:
            definition = self._approve(name, self._accept_names(name, definition))
            if condition(definition, "NamesAccepted").get("status") == "True":
                self._establish(name, definition)
            if condition(definition, "Established").get("status") == "True":
                self._serve(name, definition, terminating=False)

    def _approve(self, name: str, definition: Object) -> Object:
        """Says whether a definition in a group of Kubernetes' own has its approval."""
        found = approval(definition)
        if found is None:
            return definition
        status, reason, message = found
        changed = with_condition(
            definition,
            "KubernetesAPIApprovalPolicyConformant",
            status,
            reason=reason,
            message=message,
            now=self._registry.now(),
        )
        return self._write_status(name, definition, changed)

    # Names

    def _accept_names(self, name: str, definition: Object) -> Object:
        accepted, problem = self._accepted_names(name, definition)
        reason, message = problem or ("NoConflicts", "no conflicts found")
        changed = {**definition, "status": {**(definition.get("status") or {}), "acceptedNames": accepted}}
        status = "False" if problem else "True"
        changed = with_condition(
            changed, "NamesAccepted", status, reason=reason, message=message, now=self._registry.now()
        )
        if condition(changed, "Established").get("status") != "True":
            reason, message = (
                ("NotAccepted", "not all names are accepted")
                if problem
                else ("Installing", "the initial names have been accepted")
            )
            changed = with_condition(
                changed, "Established", "False", reason=reason, message=message, now=self._registry.now()
            )
        return self._write_status(name, definition, changed)

    def _accepted_names(self, name: str, definition: Object) -> tuple[Object, tuple[str, str] | None]:
        """The names that are free, those accepted before for the others, and what is wrong with the last of these."""
        names = definition["spec"]["names"]
        before = (definition.get("status") or {}).get("acceptedNames") or {}
        plurals, kinds = self._taken_names(name, definition["spec"]["group"])
        accepted: Object = {"plural": before.get("plural") or "", "kind": before.get("kind") or ""}
        problem = None
        for key, taken in (
            ("plural", plurals),
            ("singular", plurals),
            ("shortNames", plurals),
            ("kind", kinds),
            ("listKind", kinds),
        ):
            wanted = names.get(key)
            if not wanted:
                continue
            conflicts = [each for each in (wanted if isinstance(wanted, list) else [wanted]) if each in taken]
            if conflicts:
                title = key[0].upper() + key[1:]
                texts = [f'"{each}" is already in use' for each in conflicts]
                problem = (f"{title}Conflict", texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]")
                if before.get(key):
                    accepted[key] = before[key]
            else:
                accepted[key] = wanted
        if names.get("categories"):
            accepted["categories"] = names["categories"]
        order = ("plural", "singular", "shortNames", "kind", "listKind", "categories")
        return {key: accepted[key] for key in order if key in accepted}, problem

    def _taken_names(self, name: str, group: str) -> tuple[set[str], set[str]]:
        """The resource names and kinds that other definitions of the group have."""
        plurals: set[str] = set()
        kinds: set[str] = set()
        for other in self._store.list(DEFINITIONS):
            if name_of(other) != name and other["spec"]["group"] == group:
                names = (other.get("status") or {}).get("acceptedNames") or {}
                plurals |= {names.get("plural") or "", names.get("singular") or "", *(names.get("shortNames") or [])}
                kinds |= {names.get("kind") or "", names.get("listKind") or ""}
        return plurals - {""}, kinds - {""}

    def _establish(self, name: str, definition: Object) -> None:
        if condition(definition, "Established").get("status") != "True":
            changed = with_condition(
                definition,
                "Established",
                "True",
                reason="InitialNamesAccepted",
                message="the initial names have been accepted",
                now=self._registry.now(),
            )
            self._serve(name, self._write_status(name, definition, changed), terminating=False)

    def _write_status(self, name: str, old: Object, new: Object) -> Object:
        if new == old:
            return old
        resource = self._catalog.find(DEFINITIONS.group, "v1", DEFINITIONS.plural)
        if resource is not None:
            new = track_update(
                old,
                new,
                manager=_MANAGER,
                shape=resource.shape,
                api_version=_API_VERSION,
                subresource="status",
                now=self._registry.now(),
            )
        return self._store.update(DEFINITIONS, "", name, new)

    # Serving

    def _serve(self, name: str, definition: Object, *, terminating: bool) -> None:
        spec = definition["spec"]
        if self._serving.get(name) == (spec, terminating):
            return
        changed = name in self._serving and self._serving[name][0] != spec
        if changed:  # versions may have gone
            self._catalog.remove(spec["group"], spec["names"]["plural"])
        self._serving[name] = (spec, terminating)
        self._catalog.add(*served_versions(definition, terminating=terminating))
        if changed:
            self._watches.end(GroupResource(spec["group"], spec["names"]["plural"]))

    def _stop_serving(self, name: str) -> None:
        if name in self._serving:
            spec, _ = self._serving.pop(name)
            self._catalog.remove(spec["group"], spec["names"]["plural"])
            self._watches.end(GroupResource(spec["group"], spec["names"]["plural"]))

    # Going

    def _terminate(self, name: str, definition: Object) -> None:
        if CLEANUP not in (metadata_of(definition).get("finalizers") or []):
            return
        self._terminating.add(name)
        resource = None
        if name in self._serving:
            self._serve(name, definition, terminating=True)
            resource = next(self._storage_resources(definition), None)
        if condition(definition, "Terminating").get("reason") == "InstanceDeletionPending":
            definition = self._write_status(
                name,
                definition,
                with_condition(
                    definition,
                    "Terminating",
                    "True",
                    reason="InstanceDeletionInProgress",
                    message="CustomResource deletion is in progress",
                    now=self._registry.now(),
                ),
            )
            self._delete_objects(resource)
        if resource is not None and self._store.list(resource.storage):
            return
        finalizers = [each for each in metadata_of(definition).get("finalizers") or [] if each != CLEANUP]
        if finalizers:
            metadata = {**metadata_of(definition), "finalizers": finalizers}
            self._store.update(DEFINITIONS, "", name, {**definition, "metadata": metadata})
        else:
            self._store.delete(DEFINITIONS, "", name)

    def _storage_resources(self, definition: Object) -> Iterator[ServedResource]:
        spec = definition["spec"]
        for version in spec["versions"]:
            found = self._catalog.find(spec["group"], version["name"], spec["names"]["plural"])
            if found is not None:
                yield found

    def _delete_objects(self, resource: ServedResource | None) -> None:
        if resource is not None:
            for obj in self._store.list(resource.storage):
                try:
                    delete(self._registry, resource, namespace_of(obj), name_of(obj), DeleteOptions())
                except StatusError:  # of a version that is gone: nobody can read it, so nothing waits for it
                    self._store.delete(resource.storage, namespace_of(obj), name_of(obj))


def served_versions(definition: Object, *, terminating: bool = False) -> list[ServedResource]:
    """The versions of a definition that are to be served, as the catalog holds them."""
    spec = definition["spec"]
    kept_as = {f"{spec['group']}/{version['name']}": _strategy(version) for version in spec["versions"]}
    shapes = {f"{spec['group']}/{version['name']}": Shape.of_resource(_schema(version)) for version in spec["versions"]}
    return [
        _served(definition, version, kept_as, shapes, terminating=terminating)
        for version in spec["versions"]
        if version.get("served")
    ]


def _schema(version: Object) -> Object:
    schema: Object = (version.get("schema") or {}).get("openAPIV3Schema") or {}
    return schema


def _strategy(version: Object) -> CustomStrategy:
    parts = version.get("subresources") or {}
    return CustomStrategy(Structural(_schema(version)), has_status="status" in parts, scale=_scale(parts.get("scale")))


def _served(
    definition: Object,
    version: Object,
    kept_as: Mapping[str, CustomStrategy],
    shapes: Mapping[str, Shape],
    *,
    terminating: bool,
) -> ServedResource:
    spec = definition["spec"]
    accepted = (definition.get("status") or {}).get("acceptedNames") or spec["names"]
    group, name, kind = spec["group"], version["name"], accepted["kind"]
    parts = version.get("subresources") or {}
    scale = _scale(parts.get("scale"))
    has_status = "status" in parts
    info = ResourceInfo(
        group=group,
        version=name,
        kind=kind,
        plural=accepted["plural"],
        singular=accepted.get("singular") or "",
        scope=spec["scope"],
        short_names=tuple(accepted.get("shortNames") or ()),
        categories=tuple(accepted.get("categories") or ()),
        columns=_columns(version.get("additionalPrinterColumns")),
        scale=scale,
        has_status=has_status,
    )
    subresources = []
    if has_status:
        subresources.append(Subresource("status", _SUBRESOURCE_VERBS, kind, group, name))
    if scale is not None:
        subresources.append(Subresource("scale", _SUBRESOURCE_VERBS, "Scale", "autoscaling", "v1"))
    stored = storage_version(definition)
    return ServedResource(
        info=info,
        verbs=_VERBS_WHILE_TERMINATING if terminating else _VERBS,
        schema=_schema(version),
        shape=shapes[f"{group}/{name}"],
        strategy=kept_as[f"{group}/{name}"],
        subresources=tuple(subresources),
        listed_kind=accepted.get("listKind") or "",
        selectable_fields=tuple(each["jsonPath"].removeprefix(".") for each in version.get("selectableFields") or ()),
        storage_version=name == stored,
        storage_api_version="" if name == stored else f"{group}/{stored}",
        unconditional_update=False,
        deprecation=_deprecation(version, spec["versions"], f"{group}/{name}", kind),
        kept_as=kept_as,
        shapes=shapes,
        read_again=(metadata_of(definition).get("generation") or 1) > 1,
    )


def _scale(declared: Any) -> Scale | None:
    if declared is None:
        return None
    return Scale(
        spec=declared["specReplicasPath"],
        status=declared["statusReplicasPath"],
        selector=declared.get("labelSelectorPath") or None,
    )


def _columns(declared: Any) -> tuple[Column, ...]:
    if not declared:
        return (_AGE,)
    return tuple(
        Column(
            each["name"],
            each["jsonPath"],
            type=each["type"],
            description=each.get("description"),
            format=each.get("format"),
            priority=each.get("priority") or 0,
        )
        for each in declared
    )


def _deprecation(version: Object, versions: Sequence[Object], api_version: str, kind: str) -> str:
    if not version.get("deprecated"):
        return ""
    if given := version.get("deprecationWarning"):
        return str(given)
    warning = f"{api_version} {kind} is deprecated"
    group, own = api_version.rpartition("/")[0], version_priority(version["name"])
    better = [each["name"] for each in versions if each.get("served") and not each.get("deprecated")]
    better = sorted((name for name in better if version_priority(name) < own), key=version_priority)
    return f"{warning}; use {group}/{better[0]} {kind}" if better else warning
