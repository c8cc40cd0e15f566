"""delete and deletecollection."""

from __future__ import annotations

from kubewright.devcluster.bodies import (
    BODY_TYPES,
    JSON,
    YAML,
    load_json,
    media_type,
    not_a_struct,
    unsupported,
)
from kubewright.devcluster.deletion import delete, delete_all, deleted_status
from kubewright.devcluster.objects import metadata_of
from kubewright.devcluster.options import DeleteOptions, list_options
from kubewright.devcluster.reading import list_objects
from kubewright.devcluster.statuses import bad_request
from kubewright.devcluster.verbs.call import Answer, Call
from kubewright.devcluster.yaml_bodies import load_yaml

_SCHEME = 'in scheme "pkg/apis/meta/internalversion/scheme/register.go:27"'

__all__ = ["delete_collection", "delete_one", "read_options"]


def delete_one(call: Call) -> Answer:
    """Deletes an object, or marks it for those whose finalizers it carries."""
    options = read_options(call)
    obj, gone = delete(call.registry, call.resource, call.namespace, call.name, options)
    if gone and not call.resource.returns_deleted:
        return call.plain(deleted_status(call.resource, obj))
    return call.answer(obj, 202 if options.begun_is_accepted and not gone else 200)


def delete_collection(call: Call) -> Answer:
    """Deletes what a list with the same selectors shows; answers with that list."""
    options = read_options(call)
    asked = list_options(call.request.query, watch=False)
    listed = list_objects(call.registry.store, call.resource, call.namespace, asked)
    names = [(metadata_of(item).get("namespace") or "", metadata_of(item)["name"]) for item in listed["items"]]
    delete_all(call.registry, call.resource, names, options)
    return Answer(200, call.presenter().many(listed), call.representation)


def read_options(call: Call) -> DeleteOptions:
    """From the body if there is one, else from the query."""
    if not call.request.body.strip():
        return DeleteOptions.from_query(call.request.query)
    found = media_type(call.request.headers) or JSON
    if found not in {JSON, YAML}:
        raise unsupported(BODY_TYPES)
    try:
        body = load_json(call.request.body)[0] if found == JSON else load_yaml(call.request.body)[0]
    except ValueError as error:
        raise bad_request(
            str(error) if found == YAML else f"couldn't get version/kind; json parse error: {error}"
        ) from error
    if not isinstance(body, dict):
        raise bad_request(f"couldn't get version/kind; json parse error: {not_a_struct(body)}")
    kind = body.get("kind") or "DeleteOptions"
    if kind != "DeleteOptions":
        version = body.get("apiVersion") or "meta.k8s.io/v1"
        raise bad_request(f'no kind "{kind}" is registered for version "{version}" {_SCHEME}')
    return DeleteOptions.from_body(body)
