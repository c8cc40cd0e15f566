"""The paths that the OpenAPI documents list, in the form of OpenAPI v2.

Clients look here for which kind a path serves (``kubectl explain``), which query parameters a kind's PATCH knows
(``kubectl apply --dry-run=server`` and ``--validate``), and what goes in and comes out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kubewright.client.media_types import APPLY, JSON_PATCH, MERGE_PATCH, STRATEGIC
from kubewright.devcluster.openapi_schemas import META, PATCH, reference

if TYPE_CHECKING:
    from kubewright.devcluster.catalog import ServedResource, Subresource
    from kubewright.devcluster.objects import Object
    from kubewright.devcluster.openapi_schemas import Schemas

__all__ = ["paths_of"]

JSON_TYPES = ["application/json", "application/yaml"]
PATCH_TYPES = [JSON_PATCH, MERGE_PATCH, APPLY]

DRY_RUN = ("dryRun", "string", "All: do everything but keep nothing.")
FIELD_MANAGER = ("fieldManager", "string", "Who is recorded in managedFields as the author of this change.")
FIELD_VALIDATION = ("fieldValidation", "string", "Ignore, Warn or Strict: what to do about unknown or repeated fields.")
FORCE = ("force", "boolean", "Take over fields that other managers own; for server-side apply only.")
RESOURCE_VERSION = ("resourceVersion", "string", "How recent the answer has to be.")
LIST_PARAMETERS = (
    ("allowWatchBookmarks", "boolean", "Whether a watch may send BOOKMARK events."),
    ("continue", "string", "Where the previous page ended."),
    ("fieldSelector", "string", "Only objects whose fields match."),
    ("labelSelector", "string", "Only objects whose labels match."),
    ("limit", "integer", "The most objects to answer with."),
    RESOURCE_VERSION,
    ("resourceVersionMatch", "string", "Exact or NotOlderThan: how resourceVersion is meant."),
    ("timeoutSeconds", "integer", "When to end a watch."),
    ("watch", "boolean", "Answer with a stream of changes instead of a list."),
)
DELETE_PARAMETERS = (
    DRY_RUN,
    ("gracePeriodSeconds", "integer", "How long the object may take to end."),
    ("propagationPolicy", "string", "Orphan, Background or Foreground: what happens to dependents."),
)
WRITE_PARAMETERS = (DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION)

Parameter = tuple[str, str, str]


def paths_of(resource: ServedResource, schemas: Schemas) -> dict[str, Object]:
    """One path item for each path of a resource that answers to some verb."""
    info = resource.info
    root = f"/apis/{info.group}/{info.version}" if info.group else f"/api/{info.version}"
    place = f"{root}/namespaces/{{namespace}}" if info.namespaced else root
    single = f"{place}/{info.plural}/{{name}}"
    describe = _Operations(resource, schemas)
    paths = {f"{place}/{info.plural}": describe.collection(), single: describe.single()}
    if info.namespaced and "list" in resource.verbs:
        paths[f"{root}/{info.plural}"] = {"get": describe.listing()}
    for subresource in resource.subresources:
        paths[f"{single}/{subresource.name}"] = describe.subresource(subresource)
    return {path: item for path, item in paths.items() if set(item) - {"parameters"}}


class _Operations:
    """The operations on one resource."""

    def __init__(self, resource: ServedResource, schemas: Schemas) -> None:
        info = resource.info
        self._resource = resource
        self._schemas = schemas
        self._gvk = {"group": info.group, "version": info.version, "kind": info.kind}
        self._body = self._schema(info.group, info.version, info.kind)
        self._patch_types = PATCH_TYPES if not resource.definition_name else [*PATCH_TYPES, STRATEGIC]

    def _schema(self, group: str, version: str, kind: str) -> Object:
        name = self._schemas.name_of(group, version, kind)
        return reference(name) if name else {"type": "object"}

    def collection(self) -> Object:
        verbs = self._resource.verbs
        item: Object = {}
        if "list" in verbs:
            item["get"] = self.listing()
        if "create" in verbs:
            item["post"] = self._operation("post", self._body, body=self._body, query=WRITE_PARAMETERS)
        if "deletecollection" in verbs:
            item["delete"] = self._operation(
                "deletecollection", _status(), body=_delete_options(), query=(*LIST_PARAMETERS[1:8], *DELETE_PARAMETERS)
            )
        return self._with_path_parameters(item, named=False)

    def listing(self) -> Object:
        info = self._resource.info
        answer = self._schema(info.group, info.version, self._resource.listed_kind)
        return self._operation("list", answer, query=LIST_PARAMETERS)

    def single(self) -> Object:
        verbs = self._resource.verbs
        item = self._reading_and_writing(verbs, self._body, self._gvk)
        if "delete" in verbs:
            item["delete"] = self._operation("delete", _status(), body=_delete_options(), query=DELETE_PARAMETERS)
        return self._with_path_parameters(item, named=True)

    def subresource(self, subresource: Subresource) -> Object:
        gvk = {"group": subresource.group, "version": subresource.version, "kind": subresource.kind}
        body = self._schema(subresource.group, subresource.version, subresource.kind)
        item = self._reading_and_writing(subresource.verbs, body, gvk)
        if "create" in subresource.verbs:
            item["post"] = self._operation("post", body, body=body, query=WRITE_PARAMETERS, gvk=gvk)
        return self._with_path_parameters(item, named=True)

    def _reading_and_writing(self, verbs: Sequence[str], body: Object, gvk: Object) -> Object:
        item: Object = {}
        if "get" in verbs:
            item["get"] = self._operation("get", body, query=(RESOURCE_VERSION,), gvk=gvk)
        if "update" in verbs:
            item["put"] = self._operation("put", body, body=body, query=WRITE_PARAMETERS, gvk=gvk)
        if "patch" in verbs:
            item["patch"] = self._operation(
                "patch",
                body,
                body=reference(PATCH),
                query=(*WRITE_PARAMETERS, FORCE),
                consumes=self._patch_types,
                gvk=gvk,
            )
        return item

    def _operation(
        self,
        action: str,
        answer: Object,
        *,
        body: Object | None = None,
        query: Sequence[Parameter] = (),
        consumes: Sequence[str] = JSON_TYPES,
        gvk: Object | None = None,
    ) -> Object:
        parameters: list[dict[str, Any]] = []
        if body is not None:
            parameters.append(
                {"name": "body", "in": "body", "required": not action.startswith("delete"), "schema": body}
            )
        parameters += [
            {"uniqueItems": True, "type": kind, "description": text, "name": name, "in": "query"}
            for name, kind, text in query
        ]
        success = {"post": ("201", "Created")}.get(action, ("200", "OK"))
        return {
            "consumes": list(consumes),
            "produces": JSON_TYPES,
            "parameters": parameters,
            "responses": {
                success[0]: {"description": success[1], "schema": answer},
                "401": {"description": "Unauthorized"},
            },
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": gvk or self._gvk,
        }

    def _with_path_parameters(self, item: Object, *, named: bool) -> Object:
        info = self._resource.info
        names = {"name": f"name of the {info.kind}"} if named else {}
        if info.namespaced:
            names["namespace"] = f"namespace of the {info.kind}"
        parameters = [
            {"uniqueItems": True, "type": "string", "description": text, "name": name, "in": "path", "required": True}
            for name, text in names.items()
        ]
        return {**item, "parameters": parameters} if parameters else item


def _status() -> Object:
    return reference(f"{META}.Status")


def _delete_options() -> Object:
    return reference(f"{META}.DeleteOptions")
