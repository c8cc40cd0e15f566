"""Answers: objects and lists in the form that the client asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from kubewright.devcluster.negotiation import Representation
from kubewright.devcluster.objects import Object, metadata_of
from kubewright.devcluster.statuses import StatusError, bad_request, status_body
from kubewright.devcluster.tables import table
from kubewright.schema.errors import invalid

if TYPE_CHECKING:
    from datetime import datetime

    from kubewright.devcluster.catalog import ServedResource

__all__ = ["Presenter"]

Include = Literal["Metadata", "Object", "None"]


def _include(query: Sequence[tuple[str, str]]) -> Include:
    value = dict(query).get("includeObject") or "Metadata"
    if value not in {"Metadata", "Object", "None"}:
        error = invalid("includeObject", value, "must be 'Metadata', 'Object', 'None', or empty")
        raise bad_request(f"Unable to convert to Table as requested: {error}")
    return cast("Include", value)


class Presenter:
    """Gives objects of one resource the form that one request asked for."""

    def __init__(
        self, resource: ServedResource, representation: Representation, query: Sequence[tuple[str, str]], now: datetime
    ) -> None:
        self._resource = resource
        self._form = representation.form
        self._api_version = f"meta.k8s.io/{representation.version}"
        self._include: Include = _include(query) if self._form == "Table" else "Metadata"
        self._now = now
        self._columns: Any = None

    @property
    def as_it_is(self) -> bool:
        """Whether objects go out as they are."""
        return not self._form

    def one(self, obj: Object, *, scale: bool = False) -> Object:
        """One object, or its Scale."""
        match self._form:
            case "":
                return obj
            case "PartialObjectMetadata":
                return self._partial(obj)
            case "Table":
                metadata = {"resourceVersion": metadata_of(obj).get("resourceVersion", "")}
                return self._table([obj], metadata, scales=scale)
            case _:
                raise StatusError(status_body(500, "", "content is not a list"))

    def many(self, objects: Object) -> Object:
        """A list."""
        metadata = {key: value for key, value in objects["metadata"].items() if value != ""}
        match self._form:
            case "":
                return objects
            case "PartialObjectMetadataList":
                items = [self._partial(item) for item in objects["items"]]
                kind = "PartialObjectMetadataList"
                return {"kind": kind, "apiVersion": self._api_version, "metadata": metadata, "items": items or None}
            case "Table":
                return self._table(objects["items"], metadata)
            case _:
                listed = "unstructured.UnstructuredList" if self._resource.custom else _go_list(self._resource)
                message = f"you requested PartialObjectMetadata, but the requested object is a list (*{listed})"
                raise StatusError(status_body(406, "NotAcceptable", message))

    def event(self, obj: Object) -> Object:
        """The object of a watch event: of tables only the first says which columns there are."""
        if self._form == "Table":
            return self._columns_once(self.one(obj), none=None)
        return self._partial(obj) if self._form else obj

    def _columns_once(self, table: Object, *, none: list[Any] | None) -> Object:
        if table["columnDefinitions"] == self._columns:
            return {**table, "columnDefinitions": none}
        self._columns = table["columnDefinitions"]
        return table

    def bookmark(self, metadata: Mapping[str, Any]) -> Object:
        info = self._resource.info
        obj: Object = {"kind": info.kind, "apiVersion": info.api_version, "metadata": dict(metadata)}
        if self._form == "Table":
            return self._columns_once(self._table([obj], {"resourceVersion": metadata["resourceVersion"]}), none=[])
        return self._partial(obj) if self._form else obj

    def _partial(self, obj: Object) -> Object:
        metadata = metadata_of(obj)
        return {"kind": "PartialObjectMetadata", "apiVersion": self._api_version, "metadata": metadata}

    def _table(self, objects: Sequence[Object], metadata: Mapping[str, Any], *, scales: bool = False) -> Object:
        return table(
            self._resource,
            objects,
            include=self._include,
            now=self._now,
            list_meta=metadata,
            api_version=self._api_version,
            scales=scales,
        )


def _go_list(resource: ServedResource) -> str:
    """The server's own name for the kind's lists."""
    return f"{resource.info.group.partition('.')[0] or 'core'}.{resource.listed_kind}"
